use super::super::log_tests::*;
use super::*;
use proptest::prelude::*;

const PROFILE: &str = "[\n  { \"count\" : 4 }\n, { \"name\" : \"/conv1/Conv + /relu/Relu\", \"timeMs\" : 8.0, \"averageMs\" : 2.0, \"medianMs\" : 1.9, \"percentage\" : 66.0 }\n, { \"name\" : \"/fc\", \"timeMs\" : 4.0, \"percentage\" : 34.0 }\n]\n";
const LATENCIES: &str =
    "{\n  \"/conv1/Conv + /relu/Relu\": [\n 0.5, 0.25 ], \"/fc\": [ 0.125, 1 ] }";

fn layers(text: &str) -> Vec<(String, u64, f64)> {
    let readings = read_text(&FORMAT, text).unwrap();
    let time = |span: &crate::trace::Span| span.end.since(span.start).seconds().0;
    readings.spans.iter().map(|s| (s.name.clone(), s.inference.unwrap(), time(s))).collect()
}

#[test]
fn a_profile_is_one_inference_of_means() {
    assert_eq!(name_of(PROFILE), Some("tensorrt"));
    let expected = [("/conv1/Conv + /relu/Relu".to_owned(), 0, 2e-3), ("/fc".to_owned(), 0, 1e-3)];
    assert_eq!(layers(PROFILE), expected);
    assert!(says(&read_text(&FORMAT, PROFILE).unwrap(), "means of 4 inferences"));
}

#[test]
fn lists_of_times_are_inferences_in_the_order_of_the_file() {
    assert_eq!(name_of(LATENCIES), Some("tensorrt"));
    let conv = || "/conv1/Conv + /relu/Relu".to_owned();
    let expected = [
        (conv(), 0, 0.5e-3),
        ("/fc".into(), 0, 0.125e-3),
        (conv(), 1, 0.25e-3),
        ("/fc".into(), 1, 1e-3),
    ];
    assert_eq!(layers(LATENCIES), expected);
}

#[test]
fn a_graph_has_no_times_and_says_so() {
    let graph = "{\"Layers\": [{\n  \"Name\": \"/conv1/Conv\"}]}";
    assert_eq!(name_of(graph), Some("tensorrt"));
    assert!(fault(&FORMAT, graph).contains("a graph has none"));
}

#[test]
fn what_is_wrong_is_told() {
    changes_do_not_panic(&FORMAT, PROFILE, &Options::default());
    changes_do_not_panic(&FORMAT, LATENCIES, &Options::default());
    assert!(fault(&FORMAT, "").contains("empty"));
    assert!(fault(&FORMAT, "[{\"count\": 1}]").contains("no sample"));
    assert!(
        fault(&FORMAT, "[{\"count\": 0}, {\"name\": \"a\", \"timeMs\": 1}]")
            .contains("expected a duration")
    );
    assert!(fault(&FORMAT, "[{\"name\": \"a\"}]").contains("averageMs of a is missing"));
    assert!(fault(&FORMAT, &PROFILE.replace("2.0", "-2.0")).contains("zero or more seconds"));
    assert!(
        fault(&FORMAT, &LATENCIES.replace(", 1 ]", " ]"))
            .contains("as many as the first layer has")
    );
    for cut in 0..LATENCIES.len() {
        assert!(read_text(&FORMAT, &LATENCIES[..cut]).is_err(), "{cut}");
    }
    for cut in 0..PROFILE.len() - 2 {
        assert!(read_text(&FORMAT, &PROFILE[..cut]).is_err(), "{cut}");
    }
    for text in [
        "{\"time\": [0, 1], \"power\": [1, 2]}",
        "{\"traceEvents\": [{}]}",
        "[{\"infer\": {}, \"power\": {}}]",
        "[]",
        "{}",
    ] {
        assert_ne!(name_of(text), Some("tensorrt"), "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in "(\\[|\\{|\\}|\\]|\"count\"|\"name\"|\"averageMs\"|\"/a\"|[:,0-9e-]){0,30}") {
        let _ = read_text(&FORMAT, &text);
    }
}
