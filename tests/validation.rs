//! Predictions against measurements, held to their recorded errors.

use joulecast::calibrate::{Case, shipped_cases, validate};
use joulecast::report::comparison_table;

#[test]
fn no_prediction_is_worse_than_its_recorded_error() {
    let mut figures = 0;
    for shipped in shipped_cases() {
        let case = Case::parse(shipped.path, shipped.text).unwrap();
        for c in validate(&case).unwrap() {
            let recorded = c.recorded_error.unwrap_or_else(|| panic!("{} is not recorded", c.id));
            assert!(
                !c.worse,
                "{} {}: {:+.3}, recorded {recorded:+.3}",
                c.id, c.quantity, c.relative_error
            );
            figures += 1;
        }
    }
    assert_eq!(figures, 8);
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
