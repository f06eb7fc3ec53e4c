//! Weights in files beside the model: found by name, never outside the model's folder.

use super::proto;
use super::value::Value;
use crate::model::ElementType;
use crate::model::weights::{Place, Weights};
use prost::bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// `TensorProto.DataLocation.EXTERNAL`.
pub(super) const EXTERNAL: i32 = 1;

/// Names listed in a note.
const NAMES_LISTED: usize = 4;

/// The folder of the model, and what was not found in it.
#[derive(Debug)]
pub(super) struct Beside {
    folder: Option<PathBuf>,
    absent: Cell<usize>,
    absent_files: RefCell<BTreeSet<String>>,
    outside: RefCell<BTreeSet<String>>,
    /// Tensors that the file beside the model does not hold as it is said to.
    unfit: RefCell<BTreeSet<String>>,
}

impl Beside {
    /// The files in a folder; of a model that comes from none, nothing is beside it.
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self {
            folder: folder.and_then(|folder| folder.canonicalize().ok()),
            absent: Cell::new(0),
            absent_files: RefCell::default(),
            outside: RefCell::default(),
            unfit: RefCell::default(),
        }
    }

    /// Where the numbers of a stored tensor are; nothing for scalars and what is not there.
    pub(super) fn weights(&self, tensor: &proto::Tensor, value: &Value) -> Option<Weights> {
        let shape = value.shape.clone().filter(|shape| shape.rank() >= 1)?;
        let place = if tensor.data_location == EXTERNAL {
            let bits = shape.elements()?.checked_mul(value.element.bits())?;
            self.place(tensor, bits.div_ceil(8))?
        } else {
            Place::Here(packed(tensor, value.element)?)
        };
        let (element, zero_points, zero_axis) = (value.element, Vec::new(), 0);
        Some(Weights { place, element, shape, zero_points, zero_axis })
    }

    fn place(&self, tensor: &proto::Tensor, bytes: u64) -> Option<Place> {
        let given = |key: &str| {
            let entry = tensor.external_data.iter().find(|entry| entry.key == key);
            entry.map(|entry| entry.value.as_str())
        };
        let location = given("location").unwrap_or("");
        let number = |key: &str| given(key).map(|text| text.parse::<u64>().ok());
        let inside = Path::new(location)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside || location.is_empty() {
            self.outside.borrow_mut().insert(shown(location));
            return None;
        }
        let found = self.folder.as_ref().and_then(|f| f.join(location).canonicalize().ok());
        let Some(path) = found else {
            self.absent.set(self.absent.get() + 1);
            self.absent_files.borrow_mut().insert(shown(location));
            return None;
        };
        // A link may lead out of the folder.
        if !self.folder.as_ref().is_some_and(|folder| path.starts_with(folder)) {
            self.outside.borrow_mut().insert(shown(location));
            return None;
        }
        let length = path.metadata().ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
        let offset = number("offset").unwrap_or(Some(0));
        let stated = number("length").unwrap_or(Some(bytes));
        let end = offset.and_then(|offset| offset.checked_add(bytes));
        if stated != Some(bytes) || end.zip(length).is_none_or(|(end, length)| end > length) {
            self.unfit.borrow_mut().insert(shown(&tensor.name));
            return None;
        }
        Some(Place::File { path, offset: offset? })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let (absent, outside) = (self.absent_files.borrow(), self.outside.borrow());
        if !absent.is_empty() {
            let tensors = match self.absent.get() {
                1 => "1 tensor is".to_owned(),
                many => format!("{many} tensors are"),
            };
            notes.push(format!(
                "{tensors} stored in {}, which is not beside the model: counted, without statistics",
                list(&absent)
            ));
        }
        let unfit = self.unfit.borrow();
        if !unfit.is_empty() {
            notes.push(format!(
                "the file beside the model does not hold {} as it is said to (no plain file, or \
                 another offset or length): counted, without statistics",
                list(&unfit)
            ));
        }
        if !outside.is_empty() {
            notes.push(format!(
                "weights are said to be in {}: files outside the model's folder are not read",
                list(&outside)
            ));
        }
        notes
    }
}

fn shown(location: &str) -> String {
    location.chars().take(80).collect()
}

fn list(names: &BTreeSet<String>) -> String {
    let listed: Vec<_> = names.iter().take(NAMES_LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMES_LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", listed.join(", "))
}

/// The elements of a tensor one behind the other, as the raw form has them.
fn packed(tensor: &proto::Tensor, element: ElementType) -> Option<Bytes> {
    if !tensor.raw_data.is_empty() {
        return Some(tensor.raw_data.clone());
    }
    // The narrower types stand one each in 32-bit integers.
    let narrow = |bytes: usize| {
        let of = |i: &i32| i.to_le_bytes().into_iter().take(bytes);
        Some(tensor.int32_data.iter().flat_map(of).collect::<Vec<u8>>().into())
    };
    match element {
        ElementType::Float32 => {
            let bytes: Vec<u8> = tensor.float_data.iter().flat_map(|f| f.to_le_bytes()).collect();
            Some(bytes.into())
        }
        ElementType::Int8
        | ElementType::UInt8
        | ElementType::Int4
        | ElementType::Float4
        | ElementType::Float8 => narrow(1),
        ElementType::Int16 | ElementType::UInt16 | ElementType::Float16 | ElementType::BFloat16 => {
            narrow(2)
        }
        _ => None,
    }
}
