//! Predictions against measurements, held to their recorded errors.

use joulecast::calibrate::{Case, shipped_cases, validate};
use joulecast::report::comparison_table;
use std::collections::BTreeMap;

#[test]
fn no_prediction_is_worse_than_its_recorded_error() {
    let mut figures = BTreeMap::new();
    for shipped in shipped_cases() {
        let case = Case::parse(shipped.path, shipped.text).unwrap();
        for c in validate(&case).unwrap() {
            let recorded = c.recorded_error.unwrap_or_else(|| panic!("{} is not recorded", c.id));
            assert!(
                !c.worse,
                "{} {}: {:+.3}, recorded {recorded:+.3}",
                c.id, c.quantity, c.relative_error
            );
            *figures.entry(c.hardware).or_insert(0) += 1;
        }
    }
    let expected = [("gap9", 8), ("stm32h7a3", 16), ("stm32l4r5", 40), ("stm32u575", 24)];
    assert_eq!(figures, expected.map(|(board, count)| (board.to_owned(), count)).into());
}

#[test]
fn a_case_is_called_as_its_file() {
    for shipped in shipped_cases() {
        let case = Case::parse(shipped.path, shipped.text).unwrap();
        assert_eq!(shipped.path, format!("validation/{}.ron", case.id));
        assert!(case.id.starts_with(&format!("{}/", case.hardware)), "{}", case.id);
    }
}

/// ST's run of ic in v1.1 is published over windows that lie on idle time.
#[test]
fn a_figure_known_to_be_wrong_is_in_no_case() {
    for shipped in shipped_cases() {
        assert!(!shipped.text.contains("7019"), "{}", shipped.path);
    }
}

#[test]
fn a_case_that_gets_worse_is_found() {
    let text = shipped_cases()[0].text.replace(
        "recorded_latency_error: \"",
        "recorded_latency_error: \"0.0001 % @tiny_v0_5\", model: \"x",
    );
    assert!(Case::parse("case.ron", &text).is_err(), "two models in one observation");
    let mut case = Case::parse("case.ron", shipped_cases()[0].text).unwrap();
    case.observations.truncate(1);
    let honest = validate(&case).unwrap();
    assert!(honest.iter().all(|c| !c.worse));
    let text = r#"(schema: "joulecast.case/1", id: "x", board: "b", runtime: "r", hardware: "stm32l4r5",
        operating_point: "120mhz_1v8", split: Uncalibrated, sources: {}, tolerance: "2 %",
        observations: [(model: "sww", latency: "1 ns", recorded_latency_error: "10 %")])"#;
    assert!(validate(&Case::parse("x.ron", text).unwrap()).unwrap()[0].worse);
}

#[test]
fn a_prediction_of_a_network_too_large_says_so() {
    let place = tempfile::tempdir().unwrap();
    let model = place.path().join("large.ron");
    let graph = r#"(schema: "joulecast.model/1", name: "large", tensors: [
        (name: "x", element: Int8, shape: [1, 4096], role: Input),
        (name: "w", element: Int8, shape: [4096, 4096], role: Constant),
        (name: "y", element: Int8, shape: [1, 4096]),
      ], operators: [(name: "fc", op: FullyConnected, inputs: ["x", "w"], outputs: ["y"])],
      outputs: ["y"])"#;
    std::fs::write(&model, graph).unwrap();
    let case = |model: &str| {
        let text = format!(
            r#"(schema: "joulecast.case/1", id: "x", board: "b", runtime: "r",
            hardware: "stm32l4r5", operating_point: "120mhz_1v8", split: Uncalibrated, sources: {{}},
            tolerance: "2 %", observations: [(model: {model:?}, latency: "1 s")])"#
        );
        comparison_table(&validate(&Case::parse("x.ron", &text).unwrap()).unwrap())
    };
    assert!(case(model.to_str().unwrap()).contains("DOES NOT FIT"));
    assert!(!case("kws_ds_cnn").contains("DOES NOT FIT"));
}

#[test]
fn the_table_of_all_cases_is_narrow_and_names_each_board_once() {
    let mut all = Vec::new();
    for shipped in shipped_cases() {
        all.extend(validate(&Case::parse(shipped.path, shipped.text).unwrap()).unwrap());
    }
    let text = comparison_table(&all);
    let widest = text.lines().map(|l| l.chars().count()).max().unwrap();
    assert!(widest <= 110, "{widest} columns");
    let (table, summary) = text.split_once("90 % interval\n").unwrap();
    for board in ["stm32l4r5", "stm32u575", "stm32h7a3", "gap9"] {
        assert_eq!(table.matches(board).count(), 1, "{board} in {table}");
        assert_eq!(summary.matches(board).count(), 1, "{board} in {summary}");
    }
    assert!(summary.contains(" all "), "{summary}");
}

#[test]
fn a_network_measured_in_one_quantity_has_no_other() {
    let text = r#"(schema: "joulecast.case/1", id: "mine", board: "b", runtime: "r", hardware: "stm32l4r5",
        operating_point: "120mhz_1v8", split: HoldOut, sources: {}, tolerance: "2 %",
        observations: [(model: "kws_ds_cnn", energy: "7 mJ"), (model: "ic_resnet8", latency: "1 s")])"#;
    let shown = comparison_table(&validate(&Case::parse("x.ron", text).unwrap()).unwrap());
    let row = |model: &str| shown.lines().find(|l| l.contains(model)).unwrap();
    let (kws, ic) = (row("kws_ds_cnn"), row("ic_resnet8"));
    assert!(kws.contains(" - ") && kws.contains("7.000 mJ") && kws.contains("mine"), "{shown}");
    assert!(ic.contains("1.000 s") && ic.trim_end().ends_with('-'), "{shown}");
    assert!(shown.contains("hold-out") && shown.contains("1 of 1"), "{shown}");
}
