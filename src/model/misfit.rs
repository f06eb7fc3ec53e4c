//! What does not fit in an operator, and which part of it that concerns.

use super::ModelError;

/// A part of an operator, as a RON graph writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The input at a port.
    Input(usize),
    /// The output at a port.
    Output(usize),
    /// A field of what it computes, such as `Convolution.strides[0]`.
    Setting(String),
}

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    pub part: Part,
    pub reason: String,
}

impl Misfit {
    pub fn new(part: Part, reason: impl Into<String>) -> Self {
        Self { part, reason: reason.into() }
    }

    pub fn input(port: usize, reason: impl Into<String>) -> Self {
        Self::new(Part::Input(port), reason)
    }

    pub fn output(reason: impl Into<String>) -> Self {
        Self::new(Part::Output(0), reason)
    }

    /// The field path of the part, below that of its operator.
    pub fn path(&self, operator: &str) -> String {
        match &self.part {
            Part::Whole => operator.to_owned(),
            Part::Input(port) => format!("{operator}.inputs[{port}]"),
            Part::Output(port) => format!("{operator}.outputs[{port}]"),
            Part::Setting(field) => format!("{operator}.op.{field}"),
        }
    }

    /// The same as an error of the operator called `operator`.
    pub fn into_error(self, operator: &str) -> ModelError {
        ModelError::Graph { operator: operator.to_owned(), reason: self.reason }
    }
}
