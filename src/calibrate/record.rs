//! Recorded errors brought up to date in the text of a case, whose comments and layout stay.

use super::case::Quantity;
use super::validation::Comparison;
use crate::diagnostic::{SpanIndex, patched, quoted};

/// The key of the source that recorded errors rest on.
const SOURCE: &str = "recorded";

/// The text of a case with the errors of its comparisons recorded; `None` where it is not the text that
/// they were made from.
pub fn recorded(text: &str, comparisons: &[Comparison]) -> Option<String> {
    let citation = format!("joulecast validate, version {}", env!("CARGO_PKG_VERSION"));
    let mut text = patched(text, &format!("sources.{SOURCE}.citation"), &quoted(&citation))?;
    for comparison in comparisons.iter().filter(|own| has_place(own)) {
        text = with_error(&text, comparison)?;
    }
    Some(text)
}

/// False for what the text holds no field for: layers that a capture told, and mean powers.
fn has_place(comparison: &Comparison) -> bool {
    let from_capture = comparison.captured && comparison.layer.is_some();
    !from_capture && comparison.of != Quantity::MeanPower
}

/// One error replaced, or put behind the measurement where none is recorded.
fn with_error(text: &str, comparison: &Comparison) -> Option<String> {
    let quantity = comparison.quantity.split_once('_')?.0;
    let error = quoted(&format!("{:.1} % @{SOURCE}", comparison.relative_error * 100.0));
    let field = format!("recorded_{quantity}_error");
    if let Some(patched) = patched(text, &format!("{}.{field}", comparison.place), &error) {
        return Some(patched);
    }
    let by = if comparison.captured { "capture" } else { quantity };
    let measured = format!("{}.{by}", comparison.place);
    let span = SpanIndex::of(text).value(&measured)?;
    let literal = text.get(span)?.to_owned();
    patched(text, &measured, &format!("{literal}, {field}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{Case, validate};

    const TEXT: &str = r#"( // kept
  schema: "joulecast.case/1", id: "x", board: "b", runtime: (family: "r", version: "1"), hardware: "stm32l4r5",
  operating_point: "120mhz_1v8", split: Uncalibrated, tolerance: "2 % @recorded",
  sources: {"recorded": (kind: Derived, citation: "old")},
  observations: [(model: "sww", latency: "1 s", energy: "1 mJ", recorded_latency_error: "0.1 %", // kept
    layers: [(layer: "LAYER", latency: "1 ms")])],
)"#;

    #[test]
    fn errors_are_recorded_where_they_are_missing_and_where_they_are_old() {
        let network = crate::model::load("sww", &crate::model::Bindings::default()).unwrap();
        let text = TEXT.replace("LAYER", &network.layers().unwrap()[0].name);
        let made = validate(&Case::parse("x.ron", &text).unwrap()).unwrap();
        let text = recorded(&text, &made).unwrap();
        assert_eq!(text.matches("kept").count(), 2);
        assert!(text.contains(env!("CARGO_PKG_VERSION")), "{text}");
        let again = validate(&Case::parse("x.ron", &text).unwrap()).unwrap();
        assert_eq!(again.len(), 3);
        for c in &again {
            let off = c.recorded_error.unwrap() - c.relative_error;
            assert!(off.abs() < 0.000_51, "{} {off}", c.id);
        }
        assert_eq!(recorded(&text, &again).unwrap(), text);
        assert_eq!(recorded("()", &again), None);
    }
}
