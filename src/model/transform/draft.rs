//! A graph laid out flat, to edit: steps can be put in, taken out and exchanged.

use crate::model::{Layout, ModelError, ModelGraph, Operator, Shape, Tensor, TensorId, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

/// A tensor of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At(usize);

/// An operator with what it reads and makes.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub operator: Operator,
    /// By port; `None` where an optional one is left out.
    pub inputs: Vec<Option<At>>,
    pub outputs: Vec<At>,
}

impl Step {
    pub fn input(&self, port: usize) -> Option<At> {
        self.inputs.get(port).copied().flatten()
    }

    /// Puts a tensor at a port, with gaps before it where they are needed.
    pub fn set_input(&mut self, port: usize, tensor: At) {
        if self.inputs.len() <= port {
            self.inputs.resize(port + 1, None);
        }
        if let Some(input) = self.inputs.get_mut(port) {
            *input = Some(tensor);
        }
    }

    pub fn output(&self) -> Option<At> {
        self.outputs.first().copied()
    }

    pub fn name(&self) -> &str {
        &self.operator.name
    }
}

/// The draft. Steps stand behind what they read.
#[derive(Debug)]
pub(super) struct Draft {
    pub layout: Layout,
    pub steps: Vec<Step>,
    pub outputs: Vec<At>,
    /// Stored tensors that no step reads: experts that a pass does not pick.
    pub idle: BTreeSet<At>,
    tensors: Vec<Tensor>,
    tensor_names: BTreeSet<String>,
    operator_names: BTreeSet<String>,
}

impl Draft {
    pub fn of(graph: &ModelGraph) -> Self {
        let places: BTreeMap<TensorId, At> =
            graph.tensors().enumerate().map(|(i, id)| (id, At(i))).collect();
        let at = |id: &TensorId| places.get(id).copied();
        let steps: Vec<_> = graph
            .operators()
            .map(|id| Step {
                operator: graph.operator(id).clone(),
                inputs: graph.inputs(id).iter().map(|t| t.as_ref().and_then(at)).collect(),
                outputs: graph.op_outputs(id).iter().filter_map(at).collect(),
            })
            .collect();
        let tensors: Vec<_> = graph.tensors().map(|id| graph.tensor(id).clone()).collect();
        let unread = graph.tensors().filter(|id| graph.consumers(*id).next().is_none());
        let idle = unread.filter(|id| graph.tensor(*id).role == TensorRole::Constant);
        Self {
            layout: graph.layout,
            idle: idle.filter_map(|id| at(&id)).collect(),
            outputs: graph.outputs().iter().filter_map(at).collect(),
            tensor_names: tensors.iter().map(|t| t.name.clone()).collect(),
            operator_names: steps.iter().map(|s| s.operator.name.clone()).collect(),
            tensors,
            steps,
        }
    }

    /// The graph: tensors that nothing touches any more are left out, but for what is handed in.
    pub fn into_graph(self, from: &ModelGraph) -> Result<ModelGraph, ModelError> {
        let mut graph = from.emptied();
        let touched = self.steps.iter().flat_map(|s| s.inputs.iter().flatten().chain(&s.outputs));
        let touched: BTreeSet<At> =
            touched.chain(&self.outputs).chain(&self.idle).copied().collect();
        let mut ids = BTreeMap::new();
        for (i, tensor) in self.tensors.into_iter().enumerate() {
            if touched.contains(&At(i)) || tensor.role.is_handed_in() {
                ids.insert(At(i), graph.add_tensor(tensor)?);
            }
        }
        let id = |at: &At| ids.get(at).copied();
        for step in self.steps {
            let inputs: Vec<_> = step.inputs.iter().map(|t| t.as_ref().and_then(id)).collect();
            let outputs: Vec<_> = step.outputs.iter().filter_map(id).collect();
            graph.add_operator(step.operator, &inputs, &outputs)?;
        }
        graph.set_outputs(self.outputs.iter().filter_map(id).collect());
        graph.sort()?;
        Ok(graph)
    }

    // An `At` is only made here, of a tensor that is never taken out again.

    pub fn tensor(&self, at: At) -> &Tensor {
        &self.tensors[at.0]
    }

    pub fn tensor_mut(&mut self, at: At) -> &mut Tensor {
        &mut self.tensors[at.0]
    }

    pub fn shape(&self, at: At) -> Option<&Shape> {
        self.tensor(at).shape.as_ref()
    }

    pub fn is_constant(&self, at: At) -> bool {
        self.tensor(at).role == TensorRole::Constant
    }

    /// All tensors.
    pub fn all(&self) -> impl ExactSizeIterator<Item = At> + use<> {
        (0..self.tensors.len()).map(At)
    }

    /// Adds a tensor; a name that is taken gets a number.
    pub fn add(&mut self, mut tensor: Tensor) -> At {
        tensor.name = free(&mut self.tensor_names, tensor.name);
        self.tensors.push(tensor);
        At(self.tensors.len() - 1)
    }

    /// Gives a tensor the name of another, which gets a new one ending in `suffix`.
    pub fn take_name(&mut self, to: At, from: At, suffix: &str) {
        let name = self.tensor(from).name.clone();
        let other = free(&mut self.tensor_names, format!("{name}/{suffix}"));
        let given = std::mem::replace(&mut self.tensor_mut(to).name, name);
        self.tensor_names.remove(&given);
        self.tensor_mut(from).name = other;
    }

    /// A name for a new operator; one that is taken gets a number.
    pub fn operator_name(&mut self, wanted: String) -> String {
        free(&mut self.operator_names, wanted)
    }

    /// The steps that read each tensor, a step once for each port.
    pub fn readers(&self) -> BTreeMap<At, Vec<usize>> {
        let mut readers: BTreeMap<At, Vec<usize>> = BTreeMap::new();
        for (i, step) in self.steps.iter().enumerate() {
            for at in step.inputs.iter().flatten() {
                readers.entry(*at).or_default().push(i);
            }
        }
        readers
    }

    /// The step that makes each tensor.
    pub fn makers(&self) -> BTreeMap<At, usize> {
        let steps = self.steps.iter().enumerate();
        steps.flat_map(|(i, step)| step.outputs.iter().map(move |at| (*at, i))).collect()
    }
}

fn free(taken: &mut BTreeSet<String>, wanted: String) -> String {
    let mut name = wanted.clone();
    let mut number = 2u64;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}#{number}");
        number += 1;
    }
    name
}
