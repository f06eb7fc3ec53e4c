//! Layers on sequences: products, normalisations, attention, recurrence.

use super::{Builder, Step};
use crate::model::{
    Cell, ElementFunction, ElementType, ModelError, Movement, Op, Recurrence, TensorId,
};

/// How the filters of a product are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct Stored {
    pub element: ElementType,
    /// Filters of fewer bits than are computed in carry scales: one for so many weights along the
    /// depth, or one for each output where nothing is stated.
    pub group: Option<u64>,
}

/// Queries that share keys and values.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Attention {
    /// Heads of keys and values.
    pub heads: u64,
    /// Query heads on each of them.
    pub group: u64,
    /// Extent of a head.
    pub extent: u64,
    /// Tokens that ask.
    pub rows: u64,
    /// True where a token may not see those behind it.
    pub masked: bool,
}

impl Builder {
    /// `[.., K]` to `[.., columns]`, filters `[columns, K]` of the type that is computed in.
    pub fn fully_connected(
        &mut self,
        name: &str,
        data: TensorId,
        columns: u64,
        bias: bool,
    ) -> Result<TensorId, ModelError> {
        let stored = Stored { element: self.element, group: None };
        self.linear(name, data, columns, bias, stored)
    }

    /// The same with filters stored in a type of their own.
    pub fn linear(
        &mut self,
        name: &str,
        data: TensorId,
        columns: u64,
        bias: bool,
        stored: Stored,
    ) -> Result<TensorId, ModelError> {
        let depth = self.shape(data).last();
        let weights = self.filters(name, &[columns], depth, stored)?;
        let bias = bias.then(|| self.bias(name, columns)).transpose()?;
        let inputs = [Some(data), Some(weights.0), bias, weights.1];
        let used = if weights.1.is_some() { 4 } else { 3 };
        let step = Step::new(name, "Linear", Op::FullyConnected);
        self.step(step, inputs.get(..used).unwrap_or(&inputs))
    }

    /// Filters `[outer.., depth]` and, where their type is not the one that is computed in, their
    /// scales `[outer.., groups]`.
    pub fn filters(
        &mut self,
        name: &str,
        outer: &[u64],
        depth: u64,
        stored: Stored,
    ) -> Result<(TensorId, Option<TensorId>), ModelError> {
        let extents = [outer, &[depth]].concat();
        let weights = self.constant_of(&format!("{name}.weight"), &extents, stored.element)?;
        if stored.element == self.element {
            return Ok((weights, None));
        }
        let groups = stored.group.filter(|group| *group > 0).map_or(1, |g| depth.div_ceil(g));
        let extents = [outer, &[groups]].concat();
        let scales = self.constant_of(&format!("{name}.scales"), &extents, ElementType::Float16)?;
        Ok((weights, Some(scales)))
    }

    /// A product with a filter that is there already.
    pub fn product_with(
        &mut self,
        name: &str,
        data: TensorId,
        weights: TensorId,
        bias: bool,
    ) -> Result<TensorId, ModelError> {
        let columns = self.shape(weights).extent(0);
        let bias = bias.then(|| self.bias(name, columns)).transpose()?;
        let step = Step::new(name, "Linear", Op::FullyConnected);
        self.step(step, &[Some(data), Some(weights), bias])
    }

    /// Rows of a stored table, as many as `shape` holds.
    pub fn picked(
        &mut self,
        name: &str,
        table: TensorId,
        indices: Option<TensorId>,
        shape: &[u64],
    ) -> Result<TensorId, ModelError> {
        let step = Step::new(name, "Embedding", Op::Movement(Movement::Gather));
        self.step_to(step, &[Some(table), indices], shape)
    }

    /// A normalisation over the innermost axis: scale, and shift where it has one.
    pub fn normalisation(
        &mut self,
        name: &str,
        data: TensorId,
        shift: bool,
    ) -> Result<TensorId, ModelError> {
        let extent = self.shape(data).last();
        let scale = self.constant(&format!("{name}.weight"), &[extent])?;
        let bias = shift.then(|| self.constant(&format!("{name}.bias"), &[extent])).transpose()?;
        let native = if shift { "LayerNorm" } else { "RMSNorm" };
        self.step(Step::new(name, native, Op::Normalisation), &[Some(data), Some(scale), bias])
    }

    /// Scores of `[batch, rows, heads * group * extent]` queries against `[batch, heads, keys,
    /// extent]` keys, softmax, and the sum of values: `[batch, rows, heads * group * extent]`.
    ///
    /// Query heads on the same keys are rows of one product, `[batch, heads, group * rows, extent]`:
    /// a head is read where it stands, so that its rearrangement is a view.
    pub fn attention(
        &mut self,
        name: &str,
        queries: TensorId,
        [keys, values]: [TensorId; 2],
        how: Attention,
    ) -> Result<TensorId, ModelError> {
        let flat = self.shape(queries);
        let rows = how.group.saturating_mul(how.rows);
        let by_head = [flat.extent(0), how.heads, rows, how.extent];
        let at = |part: &str| format!("{name}.{part}");
        let scaled = self.elements(&at("scale"), ElementFunction::Multiply, &[queries])?;
        let queries = self.view(&at("queries"), scaled, &by_head)?;
        let turned = Op::MatMul { transpose_a: false, transpose_b: true };
        let mut scores =
            self.step(Step::new(&at("scores"), "MatMul", turned), &[Some(queries), Some(keys)])?;
        if how.masked {
            scores = self.elements(&at("mask"), ElementFunction::Select, &[scores])?;
        }
        let shares =
            self.step(Step::new(&at("softmax"), "Softmax", Op::Softmax), &[Some(scores)])?;
        let plain = Op::MatMul { transpose_a: false, transpose_b: false };
        let context =
            self.step(Step::new(&at("context"), "MatMul", plain), &[Some(shares), Some(values)])?;
        self.view(&at("joined"), context, &flat.0)
    }

    /// A recurrent layer over `[steps, batch, features]`: the product of all inputs, then the steps.
    pub fn recurrent(
        &mut self,
        name: &str,
        data: TensorId,
        cell: Cell,
        hidden: u64,
    ) -> Result<TensorId, ModelError> {
        let columns = cell.gates().saturating_mul(hidden);
        let steps = self.shape(data).extent(0);
        let gates = self.fully_connected(&format!("{name}.input"), data, columns, true)?;
        let weights = self.constant(&format!("{name}.recurrent.weight"), &[columns, hidden])?;
        let recurrence = Op::Recurrence(Recurrence { cell, hidden, steps, directions: 1 });
        let step = Step::new(name, "Recurrence", recurrence);
        self.step(step, &[Some(gates), Some(weights)])
    }
}
