//! An operator of the file beside what is known of its inputs.

use super::proto::{self, Attribute};
use super::value::{Numbers, Value};
use crate::model::{ElementType, Shape};
use std::rc::Rc;

/// A node, for shape inference and folding.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Type of the operator; for a domain of its own, `domain::type`.
    pub native: &'a str,
    /// Version of the operator set it comes from.
    pub opset: i64,
    /// What is known of each input; `None` for an optional one left out.
    pub inputs: Vec<Option<&'a Value>>,
    /// How many outputs there are.
    pub outputs: usize,
    /// Their names; an empty one is left out.
    pub names: &'a [String],
    /// What the file states of the shape of its second output, which tells whether a cache of keys
    /// is handed on in its own buffer.
    pub stated_cache: Option<Shape>,
    attributes: &'a [Attribute],
}

impl<'a> Node<'a> {
    pub fn new(
        proto: &'a proto::Node,
        native: &'a str,
        opset: i64,
        inputs: Vec<Option<&'a Value>>,
    ) -> Self {
        let (names, attributes) = (&proto.outputs[..], &proto.attributes[..]);
        let (outputs, stated_cache) = (names.len(), None);
        Self { native, opset, inputs, outputs, names, stated_cache, attributes }
    }

    pub fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.attributes.iter().find(|a| a.name == name)
    }

    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |a| a.int)
    }

    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name, i64::from(default)) != 0
    }

    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|a| &a.ints[..])
    }

    pub fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.attribute(name).map(|a| &a.floats[..])
    }

    pub fn text(&self, name: &str) -> &'a str {
        self.attribute(name).and_then(|a| std::str::from_utf8(&a.text).ok()).unwrap_or("")
    }

    pub fn input(&self, port: usize) -> Option<&'a Value> {
        self.inputs.get(port).copied().flatten()
    }

    pub fn shape(&self, port: usize) -> Option<&'a Shape> {
        self.input(port)?.shape.as_ref()
    }

    pub fn numbers(&self, port: usize) -> Option<&'a Rc<Numbers>> {
        self.input(port)?.numbers.as_ref()
    }

    /// Integers that are an attribute in older versions and an input in newer ones.
    pub fn ints_of(&self, name: &str, port: usize) -> Setting<'a> {
        if let Some(ints) = self.ints(name) {
            return Setting::Known(ints);
        }
        match self.input(port) {
            None => Setting::Absent,
            Some(value) => match value.numbers.as_ref().and_then(|n| n.ints()) {
                Some(ints) => Setting::Known(ints),
                None => Setting::Unknown,
            },
        }
    }

    /// The type of an input; [`ElementType::Other`] when it is left out.
    pub fn element(&self, port: usize) -> ElementType {
        self.input(port).map_or(ElementType::Other, |v| v.element)
    }
}

/// A list that an operator may be given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Setting<'a> {
    /// Not given: the operator's default holds.
    Absent,
    /// Given, but only the running network knows it.
    Unknown,
    /// Given.
    Known(&'a [i64]),
}

/// An axis counted from the front, when it lies within `rank`.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let whole = rank as i64;
    let counted = if axis < 0 { axis.saturating_add(whole) } else { axis };
    if (0..whole).contains(&counted) {
        return Ok(counted as usize);
    }
    Err(format!("axis {axis} lies outside a tensor of {rank} dimensions"))
}
