//! Pictures of captures, from the command line.

use crate::command_line::joulecast;
use crate::shared::folder;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

/// A log of a board with three supply lines and temperatures, a line a second, with half a minute
/// missing.
fn log(path: &Path) {
    let mut text = String::new();
    for second in (0..60).chain(90..200u32) {
        let (busy, minute) = (second / 40 % 2 == 1, second / 60);
        let (engines, load) = if busy { (6000 + second, 95) } else { (2000 + second, 3) };
        let (heat, whole) = (40.0 + f64::from(second) / 20.0, engines + 2600);
        let _ = writeln!(
            text,
            "11-30-2026 10:{minute:02}:{:02} RAM 2448/7620MB CPU [7%@1510,9%@1510] GR3D_FREQ {load}% \
             CPU@{heat:.1}C GPU@{:.1}C VDD_IN {whole}mW/{whole}mW VDD_CPU_GPU_CV \
             {engines}mW/{engines}mW VDD_SOC 1100mW/1100mW",
            second % 60,
            heat - 1.5,
        );
    }
    std::fs::write(path, text).unwrap();
}

fn plot(place: &Path, arguments: &[&str]) -> (Output, String) {
    let out = place.join("picture.svg");
    let all = [&["plot"], arguments, &["--out", out.to_str().unwrap()]].concat();
    let output = joulecast(&all);
    (output, std::fs::read_to_string(out).unwrap_or_default())
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn supply_lines_and_temperatures_have_panels_of_their_own_and_a_gap_is_named() {
    let place = tempfile::tempdir().unwrap();
    let capture = place.path().join("board.txt");
    log(&capture);
    let capture = capture.to_str().unwrap();
    let (output, svg) = plot(place.path(), &["power", capture]);
    assert!(output.status.success(), "{}", words(&output));
    for text in ["VDD_IN", "VDD_SOC", "power (W)", "temperature", "°C", "not measured", "time (s)"]
    {
        assert!(svg.contains(text), "{text}");
    }
    let (output, svg) = plot(
        place.path(),
        &["power", capture, "--rail", "VDD_SOC", "--from", "10 s", "--to", "50 s"],
    );
    assert!(output.status.success(), "{}", words(&output));
    assert!(svg.contains("44.00 J") && !svg.contains("VDD_IN"), "40 s at 1.1 W");
    assert!(!svg.contains("not measured"));
}

#[test]
fn what_cannot_be_drawn_is_said_with_exit_code_2() {
    let place = tempfile::tempdir().unwrap();
    let capture = place.path().join("board.txt");
    log(&capture);
    let capture = capture.to_str().unwrap();
    for (more, word) in [
        (&["--rail", "VDD_SOCK"][..], "did you mean `VDD_SOC`?"),
        (&["--from", "9 mW"][..], "--from"),
        (&["--from", "900 s"][..], "there is nothing to draw"),
    ] {
        let (output, svg) = plot(place.path(), &[&["power", capture], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains(word), "{}", words(&output));
        assert!(svg.is_empty());
    }
    let output = joulecast(&["plot", "power", capture, "--out", "picture.pdf"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_run_is_drawn_as_its_components() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let run = run.to_str().unwrap();
    assert!(joulecast(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--out", run]).status.success());
    let (output, svg) = plot(place.path(), &["power", run, "--to", "20 ms", "--dark"]);
    assert!(output.status.success(), "{}", words(&output));
    for text in ["conv_2d_0", "cortex_m4", "20.00 ms"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn windows_of_a_benchmark_and_the_layers_of_its_fold_are_named() {
    let Some(shared) = folder("windows_of_a_benchmark_and_the_layers_of_its_fold_are_named") else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let capture = shared.join("captures/mlperf-l4r5-tflm-v0.5/kws");
    let capture = capture.to_str().unwrap();
    let (output, svg) = plot(place.path(), &["power", capture]);
    assert!(output.status.success(), "{}", words(&output));
    for text in ["window 5", "m-infer-start-100", "timestamp", "7.374 mJ", "11 edges"] {
        assert!(svg.contains(text), "{text}");
    }
    let (output, svg) = plot(place.path(), &["histogram", capture, "--from", "1 s"]);
    assert!(output.status.success(), "{}", words(&output));
    for text in ["inside windows", "outside windows", "share of time in a step (%)", "5 windows"] {
        assert!(svg.contains(text), "{text}");
    }
    let layers = ["--model", "kws_ds_cnn", "--on", "stm32l4r5"];
    let (output, svg) = plot(place.path(), &[&["fold", capture][..], &layers].concat());
    assert!(output.status.success(), "{}", words(&output));
    for text in ["conv_2d_0", "99 %", "standard error", "layers: energy"] {
        assert!(svg.contains(text), "{text}");
    }
}
