//! The tensors of a file by name, what is known of them, and their place in the graph.

use super::control_flow::Stated;
use super::external::Beside;
use super::proto;
use super::shapes::Output;
use super::value::{Value, check, element};
use crate::model::{Bindings, ModelError, ModelGraph, Shape, Tensor, TensorId, TensorRole};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

/// All tensors met so far. A constant enters the graph when a layer first reads it.
#[derive(Debug)]
pub(super) struct Environment<'a> {
    path: &'a str,
    bindings: &'a Bindings,
    entries: HashMap<&'a str, Entry>,
    declared: HashMap<&'a str, &'a proto::ValueInfo>,
    inputs: &'a [proto::ValueInfo],
    read: HashSet<&'a str>,
    external: Beside,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    id: Option<TensorId>,
}

/// What keeps declared dimensions from being a shape.
enum Open {
    /// A symbol without a value, named or made up.
    Symbol,
    /// No dimensions are given at all.
    Rank,
    /// The dimensions make no sense.
    Broken(String),
}

impl<'a> Environment<'a> {
    pub fn new(
        path: &'a str,
        folder: Option<&Path>,
        file: &'a proto::Graph,
        bindings: &'a Bindings,
    ) -> Result<Self, ModelError> {
        check_bindings(path, file, bindings)?;
        let declared = file.value_info.iter().chain(&file.outputs);
        let read = file
            .nodes
            .iter()
            .flat_map(|node| &node.inputs)
            .chain(file.outputs.iter().map(|o| &o.name));
        let mut environment = Self {
            path,
            bindings,
            entries: HashMap::new(),
            declared: declared.map(|info| (info.name.as_str(), info)).collect(),
            inputs: &file.inputs,
            read: read.map(String::as_str).collect(),
            external: Beside::new(folder),
        };
        for tensor in &file.initializers {
            let mut value = Value::stored(tensor).map_err(|e| environment.fault(e))?;
            value.weights = environment.external.weights(tensor, &value).map(Rc::new);
            environment.insert(&tensor.name, value).map_err(|e| environment.fault(e))?;
        }
        for sparse in &file.sparse_initializers {
            let name = sparse.values.as_ref().map_or("", |values| &values.name);
            let value = Value::sparse(sparse).map_err(|e| environment.fault(e))?;
            environment.insert(name, value).map_err(|e| environment.fault(e))?;
        }
        Ok(environment)
    }

    fn fault(&self, reason: String) -> ModelError {
        ModelError::Onnx { path: self.path.to_owned(), reason }
    }

    fn insert(&mut self, name: &'a str, value: Value) -> Result<(), String> {
        match self.entries.insert(name, Entry { value, id: None }) {
            Some(_) => Err(format!("two tensors are called `{name}`")),
            None => Ok(()),
        }
    }

    /// Puts the inputs into the graph: those that older files list beside the weights they stand
    /// for are constants instead.
    pub fn add_inputs(&mut self, graph: &mut ModelGraph) -> Result<(), ModelError> {
        let (mut unbound, mut seen) = (Vec::new(), BTreeSet::new());
        for info in self.inputs {
            if self.entries.contains_key(info.name.as_str()) {
                continue;
            }
            let shape = match self.resolve(info) {
                Ok(shape) => Some(shape),
                Err(Open::Rank) => None,
                Err(Open::Symbol) if !self.read.contains(info.name.as_str()) => None,
                Err(Open::Symbol) => {
                    for symbol in self.unbound(info) {
                        if seen.insert(symbol.clone()) {
                            unbound.push((symbol, info.name.clone()));
                        }
                    }
                    continue;
                }
                Err(Open::Broken(reason)) => {
                    return Err(self.fault(format!("input `{}`: {reason}", info.name)));
                }
            };
            let value = Value::made(declared_element(info), shape);
            let id = graph.add_tensor(tensor(&info.name, &value, TensorRole::Input))?;
            self.entries.insert(&info.name, Entry { value, id: Some(id) });
        }
        if unbound.is_empty() {
            return Ok(());
        }
        Err(ModelError::UnboundSymbol { path: self.path.to_owned(), symbols: unbound })
    }

    /// The symbols of a declaration that the user gave no value.
    fn unbound(&self, info: &proto::ValueInfo) -> Vec<String> {
        open(info).into_iter().filter(|symbol| !self.bindings.0.contains_key(symbol)).collect()
    }

    fn resolve(&self, info: &proto::ValueInfo) -> Result<Shape, Open> {
        let dims = dimensions(info).ok_or(Open::Rank)?;
        let mut shape = Shape::default();
        for (axis, dim) in dims.dims.iter().enumerate() {
            shape.0.push(match stated(dim) {
                Some(extent) => extent,
                None => self.bound(dim, &info.name, axis).ok_or(Open::Symbol)?,
            });
        }
        check(&shape).map_err(Open::Broken)?;
        Ok(shape)
    }

    /// The value the user gave to a symbol.
    fn bound(&self, dim: &proto::Dimension, tensor: &str, axis: usize) -> Option<u64> {
        self.bindings.0.get(&symbol(dim, tensor, axis)).copied()
    }

    /// What is known of each input of a node; the empty name is one left out.
    pub fn values(&self, names: &[String]) -> Result<Vec<Option<&Value>>, String> {
        let value = |name: &String| {
            if name.is_empty() {
                return Ok(None);
            }
            let entry = self.entries.get(name.as_str()).ok_or_else(|| {
                format!(
                    "it reads `{name}`, which is neither an input nor stored nor made before it"
                )
            })?;
            Ok(Some(&entry.value))
        };
        names.iter().map(value).collect()
    }

    /// Enters what a node makes.
    pub fn define(&mut self, names: &'a [String], values: Vec<Value>) -> Result<(), String> {
        for (name, value) in names.iter().zip(values).filter(|(name, _)| !name.is_empty()) {
            self.insert(name, value)?;
        }
        Ok(())
    }

    /// What the file itself says of the shape of a tensor.
    pub fn stated_shape(&self, name: &str) -> Option<Shape> {
        self.declared.get(name).and_then(|info| self.resolve(info).ok())
    }

    /// Takes over what the file itself says of a tensor whose shape was not found out.
    pub fn declared(&self, name: &str, output: &mut Output) {
        let Some(info) = self.declared.get(name).filter(|_| output.shape.is_none()) else { return };
        output.shape = self.resolve(info).ok();
        if info.kind.as_ref().is_some_and(|kind| kind.tensor.is_some()) {
            output.element = declared_element(info);
        }
    }

    /// Takes over what the bodies of control flow say of an output that nothing else is known of.
    pub fn stated(&self, stated: &[Stated<'_>], output: &mut Output) {
        let shape = |stated: &Stated<'_>| stated.shape(self.resolve(stated.info).ok()?);
        let mut shapes = stated.iter().map(shape);
        let (Some(first), Some(Some(found))) = (stated.first(), shapes.next()) else { return };
        let agree = shapes.all(|other| other.as_ref() == Some(&found));
        if output.shape.is_some() || !agree || check(&found).is_err() {
            return;
        }
        output.shape = Some(found);
        output.element = declared_element(first.info);
    }

    /// The place of a tensor in the graph; `None` for the empty name or one that does not exist.
    pub fn tensor(
        &mut self,
        graph: &mut ModelGraph,
        name: &str,
    ) -> Result<Option<TensorId>, ModelError> {
        let Some(entry) = self.entries.get_mut(name) else { return Ok(None) };
        if let Some(id) = entry.id {
            return Ok(Some(id));
        }
        let constant = entry.value.constant;
        let role = if constant { TensorRole::Constant } else { TensorRole::Activation };
        let id = graph.add_tensor(tensor(name, &entry.value, role))?;
        entry.id = Some(id);
        Ok(Some(id))
    }

    /// What the user's bindings did, and where weights were not found.
    pub fn notes(&self) -> Vec<String> {
        let note = |(symbol, value)| format!("dimension `{symbol}` is taken as {value}");
        self.bindings.0.iter().map(note).chain(self.external.notes()).collect()
    }
}

/// Refuses values for dimensions that are not open, and the value 0.
fn check_bindings(path: &str, file: &proto::Graph, bindings: &Bindings) -> Result<(), ModelError> {
    if bindings.0.is_empty() {
        return Ok(());
    }
    if let Some((symbol, _)) = bindings.0.iter().find(|(_, value)| **value == 0) {
        let reason = format!("dimension `{symbol}` is bound to 0, but is at least 1");
        return Err(ModelError::Onnx { path: path.to_owned(), reason });
    }
    let of_inputs: BTreeSet<_> = file.inputs.iter().flat_map(open).collect();
    let made = file.value_info.iter().chain(&file.outputs);
    let all: BTreeSet<_> = made.flat_map(open).chain(of_inputs.iter().cloned()).collect();
    // What inputs leave open decides all else in nearly all files.
    let known = if of_inputs.is_empty() { &all } else { &of_inputs };
    let known: Vec<_> = known.iter().cloned().collect();
    bindings.check(path, |symbol| all.contains(symbol), &known)
}

/// The symbols of the dimensions that a declaration leaves open.
fn open(info: &proto::ValueInfo) -> Vec<String> {
    let dims = dimensions(info).map_or(&[][..], |dims| &dims.dims).iter().enumerate();
    let open = dims.filter(|(_, dim)| stated(dim).is_none());
    open.map(|(axis, dim)| symbol(dim, &info.name, axis)).collect()
}

/// An extent that the file states.
fn stated(dim: &proto::Dimension) -> Option<u64> {
    dim.value.and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0)
}

/// What an open dimension is called; one without a name, by its tensor and axis.
fn symbol(dim: &proto::Dimension, tensor: &str, axis: usize) -> String {
    if dim.symbol.is_empty() { format!("{tensor}_dim{axis}") } else { dim.symbol.clone() }
}

fn dimensions(info: &proto::ValueInfo) -> Option<&proto::Dimensions> {
    info.kind.as_ref()?.tensor.as_ref()?.shape.as_ref()
}

fn declared_element(info: &proto::ValueInfo) -> crate::model::ElementType {
    let kind = info.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    element(kind.map_or(0, |kind| kind.element))
}

fn tensor(name: &str, value: &Value, role: TensorRole) -> Tensor {
    Tensor::new(name, value.shape.clone(), value.stored, role)
}
