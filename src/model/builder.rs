//! Writing a graph operator by operator, with the shapes that follow from what was written before.
//!
//! What is built this way agrees with itself: [`Builder::finish`] holds it against the same checks as
//! a graph written by hand. Names are the caller's; one given twice is an error.

mod arrange;
mod image;
mod sequence;

pub(super) use image::{Filter, padded};
pub(super) use sequence::{Attention, Stored};

use super::infer::infer;
use super::{
    ElementType, Layout, ModelError, ModelGraph, Op, Operator, Shape, TensorId, TensorRole,
};

/// A graph in the making, all of whose activations are of one type.
pub(super) struct Builder {
    graph: ModelGraph,
    element: ElementType,
}

/// What an operator is called, and what it computes.
pub(super) struct Step<'a> {
    pub name: &'a str,
    /// What the described network calls it.
    pub native: &'a str,
    pub op: Op,
    /// An activation done on the way out.
    pub activation: Option<&'a str>,
    /// Share of zeros in the data, where it is known.
    pub input_zeros: Option<f64>,
}

impl<'a> Step<'a> {
    pub fn new(name: &'a str, native: &'a str, op: Op) -> Self {
        Self { name, native, op, activation: None, input_zeros: None }
    }

    pub fn with(mut self, activation: Option<&'a str>) -> Self {
        self.activation = activation;
        self
    }
}

impl Builder {
    /// An empty graph.
    pub fn new(name: &str, layout: Layout, element: ElementType) -> Self {
        Self { graph: ModelGraph::new(name, layout), element }
    }

    /// Type of the activations.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// A tensor handed in from outside.
    pub fn input(
        &mut self,
        name: &str,
        shape: &[u64],
        element: ElementType,
    ) -> Result<TensorId, ModelError> {
        self.graph.add(name, shape, element, TensorRole::Input)
    }

    /// A tensor of the type that is computed in, kept from one run to the next.
    pub fn state(&mut self, name: &str, shape: &[u64]) -> Result<TensorId, ModelError> {
        self.graph.add(name, shape, self.element, TensorRole::State)
    }

    /// A stored tensor of the type that is computed in.
    pub fn constant(&mut self, name: &str, shape: &[u64]) -> Result<TensorId, ModelError> {
        self.graph.add(name, shape, self.element, TensorRole::Constant)
    }

    /// A stored tensor of another type.
    pub fn constant_of(
        &mut self,
        name: &str,
        shape: &[u64],
        element: ElementType,
    ) -> Result<TensorId, ModelError> {
        self.graph.add(name, shape, element, TensorRole::Constant)
    }

    /// Shape of a tensor; every tensor of a builder has one.
    pub fn shape(&self, id: TensorId) -> Shape {
        self.graph.tensor(id).shape.clone().unwrap_or_default()
    }

    /// Adds an operator whose output follows from its inputs.
    pub fn step(
        &mut self,
        step: Step<'_>,
        inputs: &[Option<TensorId>],
    ) -> Result<TensorId, ModelError> {
        let shapes: Vec<_> = inputs
            .iter()
            .map(|id| id.and_then(|id| self.graph.tensor(id).shape.as_ref()))
            .collect();
        let known: Vec<_> = match step.op {
            // An operand left out of an element-wise function is none of it.
            Op::Elementwise(_) => shapes.into_iter().filter(Option::is_some).collect(),
            _ => shapes,
        };
        let at = |reason: String| ModelError::Graph { operator: step.name.to_owned(), reason };
        let made = infer(&step.op, self.graph.layout, &known).map_err(at)?;
        let made = made.ok_or_else(|| at("its output does not follow from its inputs".into()))?;
        self.step_to(step, inputs, &made.0)
    }

    /// Adds an operator with a stated output.
    pub fn step_to(
        &mut self,
        step: Step<'_>,
        inputs: &[Option<TensorId>],
        shape: &[u64],
    ) -> Result<TensorId, ModelError> {
        let output = self.graph.add(step.name, shape, self.element, TensorRole::Activation)?;
        let mut operator = Operator::new(step.name, step.native, step.op);
        operator.fused_activation = step.activation.map(str::to_owned);
        operator.input_zeros = step.input_zeros;
        self.graph.add_operator(operator, inputs, &[output])?;
        Ok(output)
    }

    /// The finished graph, for which shapes agree and all work is countable.
    pub fn finish(mut self, outputs: Vec<TensorId>) -> Result<ModelGraph, ModelError> {
        self.graph.set_outputs(outputs);
        self.graph.layers()?;
        for id in self.graph.operators() {
            if let Some(misfit) = self.graph.misfits(id).into_iter().next() {
                return Err(misfit.into_error(&self.graph.operator(id).name));
            }
        }
        Ok(self.graph)
    }
}
