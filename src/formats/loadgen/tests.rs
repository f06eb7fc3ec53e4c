use super::super::{Options, open};
use super::*;
use crate::trace::{Readings, SpanKind, Teller};

fn folder(detail: &str, summary: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let line = |second: u32, watts: f64| {
        format!(
            "Time,03-04-2024 10:00:{second:02}.000,Watts,{watts},Volts,230,Amps,0.1,PF,0.9,Mark,x\n"
        )
    };
    write("spl.txt", &(0..20).map(|s| line(s, f64::from(s))).collect::<String>());
    write("mlperf_log_detail.txt", detail);
    if let Some(summary) = summary {
        write("mlperf_log_summary.txt", summary);
    }
    folder
}

fn entry(key: &str, value: &str) -> String {
    format!(
        ":::MLLOG {{\"key\": \"{key}\", \"value\": {value}, \"time_ms\": 1.0, \"metadata\": {{\"is_error\": false}}}}\n"
    )
}

fn window(begin: &str, end: &str) -> String {
    entry("power_begin", &format!("\"03-04-2024 {begin}\""))
        + &entry("power_end", &format!("\"03-04-2024 {end}\""))
}

fn read_folder(folder: &tempfile::TempDir) -> Result<Readings, FormatError> {
    let opened = open(folder.path())?;
    assert_eq!(opened.format.name, "mlperf-inference");
    let mut readings = Readings::default();
    opened.read(&Options::default(), &mut readings)?;
    Ok(readings)
}

const SUMMARY: &str = "SUT name : S\nScenario : SingleStream\n90th percentile latency (ns) : 9\nResult is : INVALID\n * Processed at least 64 queries (7).\nQPS w/ loadgen overhead         : 131.72\nMean latency (ns)               : 2500000\n99.00 percentile latency (ns)   : 3000000\n";

#[test]
fn the_run_is_a_window_with_its_inferences() {
    let detail = window("10:00:02.250", "10:00:12.250")
        + &entry("effective_samples_per_query", "8")
        + &entry("generated_query_count", "1000")
        + &entry("result_query_count", "30");
    let readings = read_folder(&folder(&detail, Some(SUMMARY))).unwrap();
    let span = &readings.spans[0];
    assert_eq!(
        (span.kind, span.start.0, span.end.0),
        (SpanKind::Window, 3_250_000_000_000, 13_250_000_000_000)
    );
    assert_eq!(readings.layout.run.unwrap().inferences_per_window, Some(240));
    let marks: Vec<_> = readings.marks.iter().filter(|m| m.teller == Teller::Host).collect();
    assert_eq!((marks[0].name.as_str(), marks[1].name.as_str()), ("power_begin", "power_end"));
    let remarks = readings.layout.remarks.join("\n");
    for words in [
        "SingleStream",
        "QPS w/ loadgen overhead 131.72",
        "Mean latency 2.5 ms",
        "99.00 percentile latency 3 ms",
        "calls the run INVALID",
        "0.8 s",
    ] {
        assert!(remarks.contains(words), "{words}: {remarks}");
    }
}

#[test]
fn queries_made_in_advance_are_no_queries_done() {
    let detail = window("10:00:02.250", "10:00:12.250")
        + &entry("effective_samples_per_query", "100")
        + &entry("generated_query_count", "1");
    let run = |summary: &str| {
        let readings = read_folder(&folder(&detail, Some(summary))).unwrap();
        readings.layout.run.unwrap().inferences_per_window
    };
    assert_eq!(run("Scenario : SingleStream\n"), None);
    assert_eq!(run("Scenario : Offline\n"), Some(100));
}

#[test]
fn a_window_of_another_clock_is_left_out_and_one_that_is_cut_is_told() {
    let readings = read_folder(&folder(&window("08:00:02.0", "08:00:12.0"), None)).unwrap();
    assert!(readings.spans.is_empty());
    let remarks = readings.layout.remarks.join("\n");
    assert!(remarks.contains("outside of the samples"), "{remarks}");
    assert!(remarks.contains("mlperf_log_summary.txt is not there"), "{remarks}");
    let error = |detail: &str| read_folder(&folder(detail, None)).unwrap_err().to_string();
    assert!(error(&window("10:00:12.0", "10:00:02.0")).contains("time runs backwards"));
    assert!(error(&entry("power_end", "\"03-04-2024 10:00:02.0\"")).contains("power_begin before"));
    assert!(error(&entry("power_begin", "\"2024-03-04\"")).contains("expected `MM-DD-YYYY"));
    assert!(error(":::MLLOG {\"key\": \"power_begin\n").contains("not the JSON expected"));
    let none = read_folder(&folder("nothing\n", None)).unwrap();
    assert!(none.layout.remarks.iter().any(|r| r.contains("no power_begin")));
}
