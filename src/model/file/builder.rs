//! From the RON form to a graph, with all that is wrong in it.

use super::{ModelFile, OperatorEntry, SCHEMA, TensorEntry};
use crate::diagnostic::{Fault, nearest};
use crate::model::consistency::{empty_axis, empty_note, misfit_note};
use crate::model::graph::cycle_reason;
use crate::model::misfit::Misfit;
use crate::model::{ModelGraph, Operator, OperatorId, Tensor, TensorId, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

/// The graph, sorted; or all faults.
pub(super) fn build(file: ModelFile) -> Result<ModelGraph, Vec<Fault>> {
    let ModelFile { schema, name, layout, source, licence, origin, notes, .. } = file;
    let ModelFile { transforms, quality, tensors, operators, outputs, .. } = file;
    let mut graph = ModelGraph::new(name, layout);
    (graph.source, graph.licence) = (source, licence);
    graph.origin = origin;
    graph.notes = notes;
    graph.transforms = transforms;
    graph.quality = quality;
    let mut builder = Builder {
        noted: graph.notes.iter().cloned().collect(),
        graph,
        ids: BTreeMap::new(),
        uncountable: BTreeSet::new(),
        places: BTreeMap::new(),
        faults: Vec::new(),
    };
    if schema != SCHEMA {
        builder.fault("schema", format!("schema `{schema}` is not `{SCHEMA}`"));
    }
    builder.quality();
    for (i, entry) in tensors.into_iter().enumerate() {
        builder.tensor(i, entry);
    }
    let resolved = builder.operators(&operators);
    builder.outputs(&outputs, resolved);
    if resolved {
        builder.makers(&operators);
    }
    builder.order(&operators);
    builder.work();
    if builder.faults.is_empty() { Ok(builder.graph) } else { Err(builder.faults) }
}

struct Builder {
    graph: ModelGraph,
    noted: BTreeSet<String>,
    ids: BTreeMap<String, TensorId>,
    /// Tensors at fault, which nothing is to be counted from.
    uncountable: BTreeSet<TensorId>,
    /// Place in the file of each operator whose names all exist.
    places: BTreeMap<OperatorId, usize>,
    faults: Vec<Fault>,
}

impl Builder {
    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(path, message));
    }

    fn quality(&mut self) {
        let fault = self.graph.quality.as_ref().and_then(|quality| quality.check().err());
        if let Some(reason) = fault {
            self.fault("quality", reason);
        }
    }

    fn tensor(&mut self, i: usize, entry: TensorEntry) {
        let TensorEntry { name, element, shape, role, statistics, sparsity, encoded_bytes } = entry;
        if self.ids.contains_key(&name) {
            let message = format!("two tensors are called `{name}`");
            return self.fault(format!("tensors[{i}].name"), message);
        }
        if name.is_empty() {
            let help = "the empty name stands for an input left out";
            let fault = Fault::at(format!("tensors[{i}].name"), "a tensor needs a name");
            return self.faults.push(fault.with_help(help));
        }
        if sparsity.is_some_and(|s| !s.is_sound()) {
            let message = "zeros are a share from 0 to 1, and `keep` is 1 to `of`";
            self.fault(format!("tensors[{i}].sparsity"), message);
        }
        if statistics.is_some_and(|s| !s.is_sound()) {
            let message = "shares are 0 to 1, and a weight carries 0 to 64 bits";
            self.fault(format!("tensors[{i}].statistics"), message);
        }
        let tensor = Tensor {
            statistics,
            sparsity,
            encoded_bytes,
            ..Tensor::new(name.clone(), shape, element, role)
        };
        let fault = self.extent_fault(i, &tensor);
        let Ok(id) = self.graph.add_tensor(tensor) else { return };
        self.ids.insert(name, id);
        if let Some(fault) = fault {
            self.uncountable.insert(id);
            self.faults.push(fault);
        }
    }

    fn extent_fault(&self, i: usize, tensor: &Tensor) -> Option<Fault> {
        let (name, shape) = (&tensor.name, tensor.shape.as_ref()?);
        // What is stored or handed in is held by some machine; between, a what-if may be larger.
        let given = tensor.role != TensorRole::Activation;
        if let Some(reason) = shape.check_given().err().filter(|_| given) {
            let message = format!("tensor `{name}`: {reason}");
            return Some(Fault::at(format!("tensors[{i}].shape"), message));
        }
        if shape.elements().is_none() || tensor.bytes().is_none() {
            let message = format!("tensor `{name}` of {shape} is too large");
            return Some(Fault::at(format!("tensors[{i}].shape"), message));
        }
        let axis = empty_axis(tensor)?;
        // An importer says in a note what does not fit in a file, and then it stands.
        if self.noted.contains(&empty_note(tensor)?) {
            return None;
        }
        let message = format!("an extent of 0 leaves tensor `{name}` without elements");
        Some(Fault::at(format!("tensors[{i}].shape[{axis}]"), message))
    }

    /// Enters the operators; false when a name in one does not exist or is made twice, so that
    /// nothing can be said of tensors without a maker.
    fn operators(&mut self, entries: &[OperatorEntry]) -> bool {
        let (mut names, before) = (BTreeSet::new(), self.faults.len());
        let mut repeated = 0;
        for (i, entry) in entries.iter().enumerate() {
            if !names.insert(entry.name.as_str()) {
                let message = format!("two operators are called `{}`", entry.name);
                self.fault(format!("operators[{i}].name"), message);
                repeated += 1;
            }
            self.operator(i, entry);
        }
        self.faults.len() == before + repeated
    }

    fn operator(&mut self, i: usize, entry: &OperatorEntry) {
        let before = self.faults.len();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (port, name) in entry.inputs.iter().enumerate() {
            let place = || format!("operators[{i}].inputs[{port}]");
            inputs.push(if name.is_empty() { None } else { self.resolve(name, place) });
        }
        for (port, name) in entry.outputs.iter().enumerate() {
            let place = format!("operators[{i}].outputs[{port}]");
            let Some(id) = self.resolve(name, || place.clone()) else { continue };
            if self.graph.producer(id).is_some() || outputs.contains(&id) {
                self.fault(place, format!("`{name}` is made already, by this operator or another"));
            } else {
                outputs.push(id);
            }
        }
        if entry.live.is_some_and(|live| !live.is_sound()) {
            let message = "live products are at most those they are of, which are at least one";
            self.fault(format!("operators[{i}].live"), message);
        }
        if entry.input_zeros.is_some_and(|zeros| !(0.0..=1.0).contains(&zeros)) {
            let message = "a share of zeros is from 0 to 1";
            self.fault(format!("operators[{i}].input_zeros"), message);
        }
        let operator = Operator {
            name: entry.name.clone(),
            native: entry.native.clone(),
            op: entry.op.clone(),
            fused_activation: entry.activation.clone(),
            residual: entry.residual,
            live: entry.live,
            input_zeros: entry.input_zeros,
        };
        let Ok(id) = self.graph.add_operator(operator, &inputs, &outputs) else { return };
        if self.faults.len() == before {
            self.places.insert(id, i);
        }
    }

    fn resolve(&mut self, name: &str, path: impl Fn() -> String) -> Option<TensorId> {
        let found = self.ids.get(name).copied();
        if found.is_none() {
            let mut fault = Fault::at(path(), format!("no tensor is called `{name}`"));
            fault.help = nearest(name, self.ids.keys().map(String::as_str))
                .map(|n| format!("did you mean `{n}`?"));
            self.faults.push(fault);
        }
        found
    }

    fn outputs(&mut self, names: &[String], resolved: bool) {
        let mut outputs = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let place = || format!("outputs[{i}]");
            let Some(id) = self.resolve(name, place) else { continue };
            outputs.push(id);
            if resolved {
                self.made(id, place);
            }
        }
        self.graph.set_outputs(outputs);
    }

    fn makers(&mut self, entries: &[OperatorEntry]) {
        for (i, entry) in entries.iter().enumerate() {
            for (port, name) in entry.inputs.iter().enumerate() {
                let Some(id) = self.ids.get(name).copied() else { continue };
                self.made(id, || format!("operators[{i}].inputs[{port}]"));
            }
        }
    }

    /// An activation comes from somewhere.
    fn made(&mut self, id: TensorId, place: impl Fn() -> String) {
        let tensor = self.graph.tensor(id);
        if tensor.role == TensorRole::Activation && self.graph.producer(id).is_none() {
            let fault = Fault::at(place(), format!("no operator makes `{}`", tensor.name));
            let help = "make its role Input or Constant, or add the operator";
            self.faults.push(fault.with_help(help));
        }
    }

    /// Sorts the operators. A cycle is shown at the input that closes it.
    fn order(&mut self, entries: &[OperatorEntry]) {
        let Err(cycle) = self.graph.sorted() else {
            // Sorting succeeds where it just did.
            return drop(self.graph.sort());
        };
        let names = cycle.iter().map(|id| format!("`{}`", self.graph.operator(*id).name));
        let message = cycle_reason(names);
        let closing = cycle.first().zip(cycle.get(1).or(cycle.first())).and_then(|(id, maker)| {
            let i = *self.places.get(id)?;
            let made = self.graph.op_outputs(*maker);
            let reads = |name: &String| self.ids.get(name).is_some_and(|t| made.contains(t));
            let port = entries.get(i)?.inputs.iter().position(reads)?;
            Some(format!("operators[{i}].inputs[{port}]"))
        });
        self.fault(closing.unwrap_or_else(|| "operators".to_owned()), message);
    }

    /// Counts the work of every operator whose tensors are sound, and looks what does not fit.
    fn work(&mut self) {
        let mut places: Vec<_> = self.places.iter().map(|(id, i)| (*id, *i)).collect();
        places.sort_by_key(|(_, i)| *i);
        for (id, i) in places {
            let read = self.graph.inputs(id).into_iter().flatten();
            if read.chain(self.graph.op_outputs(id)).any(|t| self.uncountable.contains(&t)) {
                continue;
            }
            let operator = format!("operators[{i}]");
            for misfit in self.misfits(id) {
                self.fault(misfit.path(&operator), misfit.reason);
            }
        }
    }

    /// What does not fit and is not noted, and what cannot be counted, unless that is the same.
    fn misfits(&self, id: OperatorId) -> Vec<Misfit> {
        let name = &self.graph.operator(id).name;
        let mut misfits = self.graph.misfits(id);
        misfits.retain(|misfit| !self.noted.contains(&misfit_note(name, misfit)));
        if let Err(uncounted) = self.graph.layer(id)
            && misfits.iter().all(|misfit| misfit.part != uncounted.part)
        {
            misfits.push(uncounted);
        }
        misfits
    }
}
