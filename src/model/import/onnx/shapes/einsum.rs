//! The shape of a product written as an equation of axis letters.

use super::Inferred;
use crate::model::Shape;
use crate::model::import::onnx::node::Node;
use std::collections::BTreeMap;

/// `Einsum` without an ellipsis.
pub(super) fn einsum(node: &Node<'_>) -> Inferred {
    let equation: String = node.text("equation").chars().filter(|c| !c.is_whitespace()).collect();
    let (terms, result) = match equation.split_once("->") {
        Some((terms, result)) => (terms, Some(result)),
        None => (equation.as_str(), None),
    };
    if equation.contains('.') {
        return Ok(None);
    }
    let mut extents = BTreeMap::new();
    let mut seen: BTreeMap<char, u32> = BTreeMap::new();
    for (port, term) in terms.split(',').enumerate() {
        let Some(shape) = node.shape(port) else { return Ok(None) };
        if term.chars().count() != shape.rank() {
            return Err(format!("term `{term}` of `{equation}` does not fit {shape}"));
        }
        for (letter, extent) in term.chars().zip(&shape.0) {
            let known = extents.entry(letter).or_insert(*extent);
            if *known == 1 {
                *known = *extent;
            }
            if *extent != 1 && *known != *extent {
                return Err(format!("axis `{letter}` of `{equation}` is {known} and {extent}"));
            }
            *seen.entry(letter).or_default() += 1;
        }
    }
    let once =
        || seen.iter().filter(|(_, count)| **count == 1).map(|(letter, _)| *letter).collect();
    let result: String = result.map_or_else(once, str::to_owned);
    let extent = |letter: char| {
        let unknown = || format!("axis `{letter}` of `{equation}` stands in no term");
        extents.get(&letter).copied().ok_or_else(unknown)
    };
    Ok(Some(Shape(result.chars().map(extent).collect::<Result<_, _>>()?)))
}
