//! What an operator does within its kind, where the kind alone says little.

use super::{ElementFunction, Movement, Op};
use serde::Serialize;
use std::fmt;

/// The function of an operator that goes element by element, or only moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Function {
    /// An element-wise one.
    Elementwise(ElementFunction),
    /// A rearrangement.
    Movement(Movement),
}

impl Function {
    /// That of an operator, if its kind has several.
    pub(super) fn of(op: &Op) -> Option<Self> {
        match op {
            Op::Elementwise(function) => Some(Self::Elementwise(*function)),
            Op::Movement(movement) => Some(Self::Movement(*movement)),
            _ => None,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Elementwise(function) => format!("{function:?}"),
            Self::Movement(movement) => format!("{movement:?}"),
        })
    }
}
