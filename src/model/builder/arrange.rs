//! Layers that arrange elements or go over them one by one.

use super::{Builder, Step};
use crate::model::{ElementFunction, ModelError, Movement, Op, TensorId};

impl Builder {
    /// New extents over the same elements.
    pub fn view(
        &mut self,
        name: &str,
        data: TensorId,
        shape: &[u64],
    ) -> Result<TensorId, ModelError> {
        self.step_to(Step::new(name, "View", Op::Movement(Movement::View)), &[Some(data)], shape)
    }

    /// Tensors joined along an axis.
    pub fn joined(
        &mut self,
        name: &str,
        parts: &[TensorId],
        axis: usize,
    ) -> Result<TensorId, ModelError> {
        let mut shape = parts.first().map(|part| self.shape(*part)).unwrap_or_default();
        let sum =
            parts.iter().fold(0u64, |sum, part| sum.saturating_add(self.shape(*part).extent(axis)));
        if let Some(extent) = shape.0.get_mut(axis) {
            *extent = sum;
        }
        let step = Step::new(name, "Concat", Op::Movement(Movement::Concatenate));
        let parts: Vec<_> = parts.iter().copied().map(Some).collect();
        self.step_to(step, &parts, &shape.0)
    }

    /// A part of so much extent along an axis.
    pub fn part(
        &mut self,
        name: &str,
        data: TensorId,
        axis: usize,
        extent: u64,
    ) -> Result<TensorId, ModelError> {
        let mut shape = self.shape(data);
        if let Some(at) = shape.0.get_mut(axis) {
            *at = extent.min(*at);
        }
        let step = Step::new(name, "Slice", Op::Movement(Movement::Slice));
        self.step_to(step, &[Some(data)], &shape.0)
    }

    /// One function of the elements of one tensor, or of two that broadcast.
    pub fn elements(
        &mut self,
        name: &str,
        function: ElementFunction,
        operands: &[TensorId],
    ) -> Result<TensorId, ModelError> {
        let operands: Vec<_> = operands.iter().copied().map(Some).collect();
        let native = format!("{function:?}");
        self.step(Step::new(name, &native, Op::Elementwise(function)), &operands)
    }
}
