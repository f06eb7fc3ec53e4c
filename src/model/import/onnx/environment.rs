//! The tensors of a file by name, what is known of them, and their place in the graph.

use super::proto;
use super::shapes::Output;
use super::value::{Value, check, element};
use crate::model::{Bindings, ModelError, ModelGraph, Shape, Tensor, TensorId, TensorRole};
use std::collections::{BTreeSet, HashMap, HashSet};

/// All tensors met so far. A constant enters the graph when a layer first reads it.
#[derive(Debug)]
pub(super) struct Environment<'a> {
    path: &'a str,
    bindings: &'a Bindings,
    entries: HashMap<&'a str, Entry>,
    declared: HashMap<&'a str, &'a proto::ValueInfo>,
    inputs: &'a [proto::ValueInfo],
    read: HashSet<&'a str>,
    symbols: BTreeSet<&'a str>,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    id: Option<TensorId>,
}

/// What keeps declared dimensions from being a shape.
enum Open {
    /// A symbol without a value, named or made up.
    Symbol(String),
    /// No dimensions are given at all.
    Rank,
    /// The dimensions make no sense.
    Broken(String),
}

impl<'a> Environment<'a> {
    pub fn new(
        path: &'a str,
        file: &'a proto::Graph,
        bindings: &'a Bindings,
    ) -> Result<Self, ModelError> {
        let infos = || file.inputs.iter().chain(&file.value_info).chain(&file.outputs);
        let dims = infos().filter_map(dimensions).flat_map(|shape| &shape.dims);
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
            symbols: dims.map(|dim| dim.symbol.as_str()).filter(|s| !s.is_empty()).collect(),
        };
        for tensor in &file.initializers {
            let value = Value::stored(tensor).map_err(|e| environment.fault(e))?;
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
        for info in self.inputs {
            if self.entries.contains_key(info.name.as_str()) {
                continue;
            }
            let shape = match self.resolve(info) {
                Ok(shape) => Some(shape),
                Err(Open::Rank) => None,
                Err(Open::Symbol(_)) if !self.read.contains(info.name.as_str()) => None,
                Err(Open::Symbol(symbol)) => {
                    let (path, tensor) = (self.path.to_owned(), info.name.clone());
                    return Err(ModelError::UnboundSymbol { path, symbol, tensor });
                }
                Err(Open::Broken(reason)) => {
                    return Err(self.fault(format!("input `{}`: {reason}", info.name)));
                }
            };
            let value = Value::made(declared_element(info), shape);
            let id = graph.add_tensor(tensor(&info.name, &value, TensorRole::Input))?;
            self.entries.insert(&info.name, Entry { value, id: Some(id) });
        }
        Ok(())
    }

    fn resolve(&self, info: &proto::ValueInfo) -> Result<Shape, Open> {
        let dims = dimensions(info).ok_or(Open::Rank)?;
        let mut shape = Shape::default();
        for (axis, dim) in dims.dims.iter().enumerate() {
            let stated = dim.value.filter(|value| *value > 0);
            shape.0.push(match stated.and_then(|value| u64::try_from(value).ok()) {
                Some(extent) => extent,
                None => self.bound(dim, &info.name, axis).map_err(Open::Symbol)?,
            });
        }
        check(&shape).map_err(Open::Broken)?;
        Ok(shape)
    }

    /// The value the user gave to a symbol; one without a name is called by its tensor and axis.
    fn bound(&self, dim: &proto::Dimension, tensor: &str, axis: usize) -> Result<u64, String> {
        let made_up = || format!("{tensor}_dim{axis}");
        let symbol = Some(dim.symbol.clone()).filter(|s| !s.is_empty()).unwrap_or_else(made_up);
        self.bindings.0.get(&symbol).copied().ok_or(symbol)
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

    /// Takes over what the file itself says of a tensor whose shape was not found out.
    pub fn declared(&self, name: &str, output: &mut Output) {
        let Some(info) = self.declared.get(name).filter(|_| output.shape.is_none()) else { return };
        output.shape = self.resolve(info).ok();
        if info.kind.as_ref().is_some_and(|kind| kind.tensor.is_some()) {
            output.element = declared_element(info);
        }
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

    /// What the user's bindings did.
    pub fn notes(&self) -> Vec<String> {
        let note = |(symbol, value): (&String, &u64)| {
            let made_up = symbol.rsplit_once("_dim").map(|(tensor, _)| tensor);
            let of_input = |tensor: &str| self.inputs.iter().any(|info| info.name == tensor);
            if self.symbols.contains(symbol.as_str()) || made_up.is_some_and(of_input) {
                format!("dimension `{symbol}` is taken as {value}")
            } else {
                format!("`{symbol}` is bound to {value}, but no dimension is called that")
            }
        };
        self.bindings.0.iter().map(note).collect()
    }
}

fn dimensions(info: &proto::ValueInfo) -> Option<&proto::Dimensions> {
    info.kind.as_ref()?.tensor.as_ref()?.shape.as_ref()
}

fn declared_element(info: &proto::ValueInfo) -> crate::model::ElementType {
    let kind = info.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
    element(kind.map_or(0, |kind| kind.element))
}

fn tensor(name: &str, value: &Value, role: TensorRole) -> Tensor {
    Tensor { name: name.to_owned(), shape: value.shape.clone(), element: value.stored, role }
}
