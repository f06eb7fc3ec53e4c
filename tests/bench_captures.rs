//! Captures of a bench as observations of a fit: what a person with a meter and two spare pins does.

use crate::command_line::{joulecast, json, number};
use crate::errors::{file, refused};
use joulecast::calibrate::Case;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// A board that is not what its profile says.
const BOARD: &str = "docs/example_board.ron";

/// A case of captures in its own folder.
pub fn case_of(observations: &str) -> String {
    format!(
        r#"(
  schema: "joulecast.case/1", id: "bench", board: "a board", runtime: (family: "X-CUBE-AI", version: "9.0.0"),
  hardware: "stm32l4r5", operating_point: "120mhz_1v8", software: "x-cube-ai", split: Fit, sources: {{}},
  tolerance: "2 %", meters: {{"ppk2": (gain: "±1%", clock: "±0.01%")}},
  observations: [{observations}],
)"#
    )
}

pub const CALIBRATION: &str = r#"(
  schema: "joulecast.calibration/1", name: "board", cases: ["case.ron"],
  fit: ["domains.core.clock_tree.*", "engines.cortex_m4.energy.*", "software.*.cycles_per_*"],
  noise: (latency: "±0.2%", energy: "±0.2%"),
)"#;

fn run(model: &str, period: &str, out: &Path) {
    let out = out.to_str().unwrap();
    let output = joulecast(&[
        "run",
        model,
        "--on",
        BOARD,
        "--software",
        "x-cube-ai",
        "--inferences",
        "12",
        "--period",
        period,
        "--idle",
        "waiting",
        "--out",
        out,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn record(run: &Path, meter: &[&str], out: &Path) {
    let mut arguments = vec!["capture", "record", run.to_str().unwrap(), "--voltage", "1.8 V"];
    arguments.extend(["--out", out.to_str().unwrap()]);
    arguments.extend(meter);
    let output = joulecast(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const OBSERVATIONS: &str = r#"
  (model: "kws_ds_cnn", rest: "waiting", capture: (file: "kws.csv", meter: "ppk2", voltage: "1.8 V", line: "D0",
    edges: High, layers: Marked(line: "D1", at: Changes))),
  (model: "ad_autoencoder", rest: "waiting", capture: (file: "ad.csv", meter: "ppk2", voltage: "1.8 V", line: "D0",
    edges: High)),"#;

/// Runs of the board, and a fit of its profile to what meters make of them.
#[test]
fn numbers_that_made_a_capture_come_back_through_a_meter() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    run("kws_ds_cnn", "83 ms", &at("kws"));
    run("ad_autoencoder", "41 ms", &at("ad"));
    file(place.path(), "case.ron", case_of(OBSERVATIONS).as_bytes());
    let calibration = file(place.path(), "c.ron", CALIBRATION.as_bytes());
    // Meters that are off by what their manual says.
    let meters = [
        ("100.4 %", "100.004 %"),
        ("99.1 %", "99.992 %"),
        ("101.3 %", "100.013 %"),
        ("99.8 %", "100 %"),
    ];
    for (seed, (gain, clock)) in meters.into_iter().enumerate() {
        let seed = seed.to_string();
        for name in ["kws", "ad"] {
            let meter = [
                "--noise", "60 uA", "--step", "0.2 uA", "--gain", gain, "--clock", clock, "--seed",
                &seed,
            ];
            record(&at(name), &meter, &at(&format!("{name}.csv")));
        }
        let d = json(&["calibrate", &calibration, "--json"]);
        let fit = &d["fits"][0];
        assert_eq!(fit["converged"], true, "{gain}");
        for (path, known, least, most) in [
            ("domains.core.clock_tree.Charge", 150e-12, 0.008, 0.013),
            ("engines.cortex_m4.energy.per_busy_cycle.Charge", 38e-12, 0.008, 0.03),
            ("software.x-cube-ai.cycles_per_mac.FullyConnected", 2.5, 0.0005, 0.1),
            ("software.x-cube-ai.cycles_per_operation.Pool", 4.0, 0.0005, 0.02),
        ] {
            let own = of(&fit["numbers"], "path", path);
            let (value, sigma) = (number(own, "/value"), number(own, "/sigma"));
            let off = (value / known).ln();
            assert!(
                off.abs() < 1.645 * sigma,
                "{path}: {value} ±{sigma}, not {known} (gain {gain})"
            );
            // The gain of one meter does not average out over what it measured.
            assert!((least..most).contains(&sigma), "{path}: ±{sigma}");
        }
        let clock_tree = of(&fit["numbers"], "path", "domains.core.clock_tree.Charge");
        assert!(
            number(clock_tree, "/meter_share") > 0.8 && number(clock_tree, "/prior_share") < 0.1
        );
        // Rates of two kinds show by their sum alone in layers that are alike, and that is told.
        let sums = fit["confused"].as_array().unwrap();
        assert!(sums.iter().any(|pair| pair["one"].as_str().unwrap().contains("PointwiseConv")));
        // All its layers are counted, and not their sum again.
        let whole = of(&fit["measurements"], "id", "bench/kws_ds_cnn");
        assert!(
            whole["fault"].as_str().unwrap().contains("layers")
                && number(whole, "/leverage") == 0.0
        );
    }
}

pub fn of<'a>(list: &'a Value, field: &str, value: &str) -> &'a Value {
    let list = list.as_array().unwrap();
    list.iter().find(|own| own[field] == value).unwrap_or_else(|| panic!("{value} in {list:?}"))
}

/// What comes of a capture is what made it: times and energies of layers, power at rest, mean power.
#[test]
fn figures_of_a_capture_are_those_of_the_run() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    run("kws_ds_cnn", "100 ms", &at("kws"));
    record(&at("kws"), &["--rate", "200 kHz"], &at("kws.csv"));
    let kws = OBSERVATIONS.split("\n  (model: \"ad_auto").next().unwrap();
    let duty = r#"(model: "kws_ds_cnn", period: "100 ms", rest: "waiting",
        capture: (file: "kws.csv", meter: "ppk2", voltage: "1.8 V"))"#;
    let case = file(place.path(), "case.ron", case_of(&format!("{kws} {duty}")).as_bytes());
    let d = json(&["validate", &case, "--on", BOARD, "--json"]);
    let rows = d["cases"].as_array().unwrap();
    // Of twelve layers eleven take time, each with two figures, beside those of the whole and the mean.
    assert_eq!(rows.len(), 2 * 12 + 2 + 1, "{rows:?}");
    for row in rows {
        let error = number(row, "/relative_error").abs();
        let measured = number(row, "/measured");
        let is_time = row["quantity"] == "latency_s";
        // A time is told to a sample of 5 us, and what an edge is off by, energy is too.
        let step = if is_time { 5e-6 / measured } else { 5e-6 * 0.045 / measured };
        let allowed = if row["quantity"] == "mean_power_w" { 1e-4 } else { 1.1 * step + 1e-4 };
        assert!(error < allowed, "{} {}: {error}", row["id"], row["quantity"]);
        assert_eq!(row["captured"], true);
    }
    let loaded = Case::load(&case).unwrap();
    let rest = loaded.idle[0].power.get().0;
    // Clock tree alone: 150 uA/MHz at 120 MHz and 1.8 V.
    assert!((rest / (150e-6 * 120.0 * 1.8) - 1.0).abs() < 1e-3, "{rest}");
    let figure = |quantity: &str| {
        let row = rows.iter().find(|row| row["quantity"] == quantity && row["layer"].is_null());
        number(row.unwrap(), "/predicted")
    };
    let (time, energy, mean) = (figure("latency_s"), figure("energy_j"), figure("mean_power_w"));
    let known = (energy + rest * (0.1 - time)) / 0.1;
    assert!((mean / known - 1.0).abs() < 1e-3, "{mean} {known}");
}

/// The folded profile tells only those layers apart between which power changes.
#[test]
fn layers_of_a_folded_profile_are_those_that_it_shows() {
    let place = tempfile::tempdir().unwrap();
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/example_capture.csv");
    let capture = capture.to_str().unwrap();
    let observation = format!(
        "(model: \"kws_ds_cnn\", capture: (file: {capture:?}, meter: \"ppk2\", voltage: \"1.8 V\", inferences: 20, layers: \
         Folded))"
    );
    let case =
        Case::load(&file(place.path(), "case.ron", case_of(&observation).as_bytes())).unwrap();
    let layers = &case.observations[0].layers;
    assert!((2..12).contains(&layers.len()), "{}", layers.len());
    let total: f64 = layers.iter().map(|own| own.latency.as_ref().unwrap().get().0).sum();
    // The script's first nine layers take 75.2 ms less what its windows leave, the period 74.8 ms.
    assert!((total - 74.8e-3).abs() < 0.3e-3, "{total}");
    assert!(layers.iter().any(|own| !own.with.is_empty()), "some edges are not seen");
    let notes = case.notes().join("\n");
    assert!(notes.contains("stretches of the 12 layers"), "{notes}");
    assert!(notes.contains("windows lie between falls"), "{notes}");
}

/// Samples at 1 kHz: stretches of milliseconds with current and levels of D0 and D1.
pub fn capture(stretches: &[(u64, f64, &str)]) -> String {
    let mut text = "Timestamp(ms),Current(uA),D0-D7\n".to_owned();
    let mut at = 0;
    for (long, current, lines) in stretches {
        for _ in 0..*long {
            let _ = writeln!(text, "{at},{current},{lines}000000");
            at += 1;
        }
    }
    text
}

/// Five inferences of 57 ms.
fn five() -> Vec<(u64, f64, &'static str)> {
    let mut stretches = vec![(40, 9000.0, "00")];
    (0..5).for_each(|_| stretches.extend([(57, 20000.0, "10"), (83, 9000.0, "00")]));
    stretches
}

struct Bad<'a> {
    capture: &'a [(u64, f64, &'a str)],
    /// What stands in the capture of the case.
    fields: &'a str,
    /// What stands beside it.
    beside: &'a str,
    said: &'a [&'a str],
}

#[test]
fn captures_that_do_not_match_are_told_with_their_place() {
    let place = tempfile::tempdir().unwrap();
    let fine = five();
    let mut long = five();
    long.extend([(171, 20000.0, "10"), (50, 9000.0, "00")]);
    let layered: Vec<(u64, f64, &str)> = vec![
        (40, 9000.0, "00"),
        (20, 20000.0, "11"),
        (37, 20000.0, "10"),
        (50, 9000.0, "00"),
        (20, 20000.0, "11"),
        (37, 20000.0, "10"),
        (50, 9000.0, "00"),
    ];
    let mut twelves = vec![(40, 9000.0, "00")];
    for _ in 0..3 {
        let layers = [(4, 20000.0, "11"), (4, 20000.0, "10")];
        twelves.extend(layers.repeat(12));
        twelves.push((40, 9000.0, "00"));
    }
    let at = r#"voltage: "1.8 V", line: "D0", edges: High"#;
    let changing = format!("{at}, layers: Marked(line: \"D1\", at: Changes)");
    let no_line = r#"voltage: "1.8 V", line: "D8", edges: High"#;
    let still = r#"voltage: "1.8 V", line: "D5", edges: High"#;
    let marked = format!("{at}, layers: Marked(line: \"D1\", at: Rises)");
    let no_layers = format!("{at}, layers: Marked(line: \"D9\", at: Rises)");
    let cases = [
        Bad {
            capture: &fine,
            fields: no_line,
            beside: "",
            said: &["no digital line is called `D8`", "there are D0, D1", "capture.line"],
        },
        Bad {
            capture: &fine,
            fields: still,
            beside: "",
            said: &[
                "no inference is marked: line `D5` never changes",
                "D0 changes 10 times, D1, D2, D3, D4, D5, D6, D7 never",
                "`edges: Power`",
            ],
        },
        Bad {
            capture: &fine,
            fields: r#"line: "D0""#,
            beside: "",
            said: &["no power is known", "voltage: \"3.3 V\""],
        },
        Bad {
            capture: &long,
            fields: at,
            beside: "",
            said: &[
                "the 6 windows are not of one network",
                "window 6 lasts 171.0 ms (3.00 times that)",
                "warm_up",
            ],
        },
        Bad {
            capture: &layered,
            fields: &marked,
            beside: "",
            said: &[
                "line `D1` marks 1 layer in each window",
                "kws_ds_cnn executes 12 layers: conv_2d_0, ",
                "softmax_12",
                "capture.layers",
                "shorter than a sample of 1.000 ms leaves no mark: average_pool_2d_9,",
            ],
        },
        Bad {
            capture: &twelves,
            fields: &changing,
            beside: "",
            said: &[
                "line `D1` marks 24 layers in each window",
                "windows of 2 inferences are said by `inferences: 2`",
            ],
        },
        Bad {
            capture: &fine,
            fields: &no_layers,
            beside: "",
            said: &["no digital line is called `D9`", "capture.layers"],
        },
        Bad {
            capture: &fine,
            fields: r#"format: "ppk3", voltage: "1.8 V""#,
            beside: "",
            said: &["there is no format `ppk3`", "did you mean", "capture.format"],
        },
        Bad {
            capture: &fine,
            fields: at,
            beside: r#", period: "10 s", rest: "waiting""#,
            said: &["no whole period of 10.00 s"],
        },
        Bad {
            capture: &fine,
            fields: at,
            beside: r#", period: "10 ms""#,
            said: &["a mean power needs `rest` too", "observations[0].period"],
        },
        Bad {
            capture: &fine,
            fields: at,
            beside: r#", period: "0 ms", rest: "waiting""#,
            said: &["must be above zero"],
        },
        Bad {
            capture: &fine,
            fields: at,
            beside: r#", rest: "wating""#,
            said: &[
                "no domain has a state `wating`; did you mean `waiting`?",
                "observations[0].rest",
            ],
        },
        Bad {
            capture: &fine,
            fields: r#"voltage: "0 V", inferences: 0, settling: "-1 ms""#,
            beside: "",
            said: &[
                "voltage",
                "must be above zero",
                "one inference at least",
                "cannot be below zero",
            ],
        },
        Bad { capture: &fine, fields: at, beside: r#", rest: "waiting""#, said: &[] },
        Bad { capture: &fine, fields: at, beside: r#", rest: "on""#, said: &[] },
    ];
    let calibration = file(place.path(), "c.ron", CALIBRATION.as_bytes());
    for Bad { capture: stretches, fields, beside, said } in cases {
        file(place.path(), "kws.csv", capture(stretches).as_bytes());
        let observation = format!(
            "(model: \"kws_ds_cnn\", capture: (file: \"kws.csv\", meter: \"ppk2\", {fields}){beside})"
        );
        let case = file(place.path(), "case.ron", case_of(&observation).as_bytes());
        if said.is_empty() {
            assert!(joulecast(&["validate", &case]).status.success());
            assert!(joulecast(&["calibrate", &calibration]).status.success());
            continue;
        }
        for verb in [["validate", &case], ["calibrate", &calibration]] {
            let shown = refused(&verb);
            for part in said {
                assert!(shown.contains(part), "`{part}` in {shown}");
            }
            assert!(shown.contains("case.ron:") || shown.contains("of case `bench`"), "{shown}");
        }
    }
}

/// A table of another meter, with a line of a name.
#[test]
fn a_table_of_numbers_is_read_as_its_layout_says() {
    let place = tempfile::tempdir().unwrap();
    let mut text = "t;supply;trigger\n".to_owned();
    for k in 0..700 {
        let busy = k % 140 >= 40 && k % 140 < 97;
        let (current, level) = if busy { ("20,5", 1) } else { ("9,0", 0) };
        let _ = writeln!(
            text,
            "{};{current};{level}",
            format!("{:.3}", f64::from(k) / 1e3).replace('.', ",")
        );
    }
    file(place.path(), "smu.csv", text.as_bytes());
    let observation = r#"(model: "kws_ds_cnn", capture: (file: "smu.csv", meter: "ppk2", voltage: "1.8 V", format: "csv",
        table: (time_column: "t", time_unit: "s", columns: ["supply=mA", "trigger=level"]), line: "trigger", edges: High))"#;
    let case = file(place.path(), "case.ron", case_of(observation).as_bytes());
    let own = Case::load(&case).unwrap();
    let energy = own.observations[0].energy.as_ref().unwrap().get().0;
    assert!((energy / (20.5e-3 * 1.8 * 57e-3) - 1.0).abs() < 1e-6, "{energy}");
    let slip = case_of(&observation.replace("line: \"trigger\"", "line: \"triger\""));
    let shown = refused(&["validate", &file(place.path(), "case.ron", slip.as_bytes())]);
    assert!(shown.contains("did you mean `trigger`?"), "{shown}");
}

#[test]
fn slips_in_a_case_with_captures_are_told_with_the_nearest() {
    let place = tempfile::tempdir().unwrap();
    let said = |observation: &str| {
        let case = case_of(observation);
        refused(&["validate", &file(place.path(), "case.ron", case.as_bytes())])
    };
    let shown = said(r#"(model: "kws_ds_cnn", capture: (file: "kws.csv", meter: "ppk"))"#);
    assert!(
        shown.contains("`ppk` is no meter of this case") && shown.contains("did you mean `ppk2`?"),
        "{shown}"
    );
    let shown = said(r#"(model: "kws_ds_cnn", capture: (file: "nowhere.csv", meter: "ppk2"))"#);
    assert!(
        shown.contains("nowhere.csv: cannot be read") && shown.contains("capture.file"),
        "{shown}"
    );
    let shown = said(r#"(model: "kws_ds_cnn", capture: (file: "case.ron", meter: "ppk2"))"#);
    assert!(shown.contains("no instrument's format looks like this"), "{shown}");
    let shown =
        said(r#"(model: "kws_ds_cnn", capture: (file: "a.csv", meter: "ppk2", lines: "D0"))"#);
    assert!(shown.contains("lines") && shown.contains("case.ron:"), "{shown}");
    let shown = said(r#"(model: "kws_ds_cnn", mean_power: "3 mW ±1%")"#);
    assert!(shown.contains("a mean power needs `period` and `rest` too"), "{shown}");
    let shown = said(r#"(model: "kws_ds_cnn", latency: "50 ms ±1%", rest: "waiting")"#);
    assert!(shown.contains("a `rest` without `mean_power` or a `capture` says nothing"), "{shown}");
}

/// A mark that is far from any prediction is a word of warning, with both times.
#[test]
fn a_mark_of_another_order_is_warned_of() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "ten.csv", capture(&five()).as_bytes());
    let observation = r#"(model: "ad_autoencoder", capture: (file: "ten.csv", meter: "ppk2", voltage: "1.8 V", line: "D0",
        edges: High))"#;
    let case = file(place.path(), "case.ron", case_of(observation).as_bytes());
    let d = json(&["validate", &case, "--json"]);
    let note = d["notes"][0].as_str().unwrap();
    for part in [
        "marks 57.00 ms for an inference of ad_autoencoder",
        "predicted to take 5.05",
        "hold 11 inferences",
    ] {
        assert!(note.contains(part), "`{part}` in {note}");
    }
    let calibration = file(place.path(), "c.ron", CALIBRATION.as_bytes());
    let shown = joulecast(&["calibrate", &calibration]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("note: ten.csv marks 57.00 ms"), "{shown}");
}

/// Another network of as many layers is told by their times.
#[test]
fn marked_layers_of_another_network_are_warned_of() {
    let place = tempfile::tempdir().unwrap();
    let fitting = [10, 5, 9, 5, 9, 5, 9, 5, 9, 2, 2, 1];
    let notes = |layers: &[u64]| {
        let mut stretches = vec![(40, 9000.0, "00")];
        for _ in 0..4 {
            let levels = ["11", "10"].into_iter().cycle();
            stretches.extend(layers.iter().zip(levels).map(|(long, own)| (*long, 20000.0, own)));
            stretches.push((40, 9000.0, "00"));
        }
        file(place.path(), "kws.csv", capture(&stretches).as_bytes());
        let observation = r#"(model: "kws_ds_cnn", capture: (file: "kws.csv", meter: "ppk2", voltage: "1.8 V", line: "D0",
            edges: High, layers: Marked(line: "D1", at: Changes)))"#;
        let case = file(place.path(), "case.ron", case_of(observation).as_bytes());
        Case::load(&case).unwrap().notes().join("\n")
    };
    assert_eq!(notes(&fitting), "");
    let reversed: Vec<u64> = fitting.iter().rev().copied().collect();
    let said = notes(&reversed);
    for part in [
        "kws.csv of kws_ds_cnn: marked layers are hardly those of this network",
        "the ranks of the 12 layer times",
        "go together by -0.58, and those of random orders by up to 0.50",
        "softmax_12 takes 10.00 ms or 14 % of the layers, and is predicted to take 10.50 µs or 0 %",
    ] {
        assert!(said.contains(part), "`{part}` in {said}");
    }
}

/// A capture that stops within a window, or has a gap, gives what is whole.
#[test]
fn what_a_capture_lacks_is_left_out_and_what_is_stated_stands() {
    let place = tempfile::tempdir().unwrap();
    let mut cut = five();
    cut.push((20, 20000.0, "10"));
    file(place.path(), "kws.csv", capture(&cut).as_bytes());
    let observation = r#"(model: "kws_ds_cnn", energy: "2 mJ ±1%", rest: "waiting", capture: (file: "kws.csv",
        meter: "ppk2", voltage: "1.8 V", line: "D0", edges: High, warm_up: 1))"#;
    let case = file(place.path(), "case.ron", case_of(observation).as_bytes());
    let case = Case::load(&case).unwrap();
    let own = &case.observations[0];
    assert_eq!(own.energy.as_ref().unwrap().get().0, 2e-3);
    assert!((own.latency.as_ref().unwrap().get().0 - 57e-3).abs() < 1e-12);
    let captured = own.captured.as_ref().unwrap();
    assert!(captured.latency && !captured.energy);
    assert!((case.idle[0].power.get().0 - 9e-3 * 1.8).abs() < 1e-9);
    let one = capture(&[(40, 9000.0, "00"), (57, 20000.0, "10"), (83, 9000.0, "00")]);
    file(place.path(), "kws.csv", one.as_bytes());
    let text = case_of(
        r#"(model: "kws_ds_cnn", capture: (file: "kws.csv", meter: "ppk2", voltage: "1.8 V", line: "D0", edges: High))"#,
    );
    let case = Case::load(&file(place.path(), "case.ron", text.as_bytes())).unwrap();
    assert!(case.notes()[0].contains("a single window"), "{:?}", case.notes());
}

#[test]
fn a_meter_that_reads_nothing_is_refused() {
    let place = tempfile::tempdir().unwrap();
    run("ad_autoencoder", "41 ms", &place.path().join("ad"));
    let from = place.path().join("ad");
    let from = from.to_str().unwrap();
    let out = place.path().join("out.csv");
    let out = out.to_str().unwrap();
    for (flag, value, said) in [
        ("--rate", "0 Hz", "the rate of a meter is above zero"),
        ("--rate", "1 Hz", "before the first sample"),
        ("--rate", "1000 THz", "more than"),
        ("--rate", "fast", "--rate"),
        ("--noise", "1 V", "--noise"),
        ("--gain", "0 %", "the gain of a meter is above zero"),
    ] {
        let shown =
            refused(&["capture", "record", from, "--voltage", "1.8 V", "--out", out, flag, value]);
        assert!(shown.contains(said), "{value}: {shown}");
        assert!(!Path::new(out).exists());
    }
    let nowhere = place.path().join("nowhere");
    refused(&["capture", "record", nowhere.to_str().unwrap(), "--voltage", "1.8 V", "--out", out]);
}

/// Errors of a case with captures are recorded beside the capture.
#[test]
fn errors_are_recorded_beside_the_capture() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "kws.csv", capture(&five()).as_bytes());
    let observation = r#"(model: "kws_ds_cnn", capture: (file: "kws.csv", meter: "ppk2", voltage: "1.8 V", line: "D0", edges: High))"#;
    let text = case_of(observation)
        .replace("sources: {}", r#"sources: {"recorded": (kind: Derived, citation: "x")}"#);
    let case = file(place.path(), "case.ron", text.as_bytes());
    assert!(joulecast(&["validate", &case, "--record"]).status.success());
    let text = std::fs::read_to_string(&case).unwrap();
    assert!(text.contains("edges: High), recorded_"), "{text}");
    let d = json(&["validate", &case, "--json"]);
    let row = &d["cases"][0];
    assert!((number(row, "/relative_error") - number(row, "/recorded_error")).abs() < 6e-4);
}

/// Commands of the fenced `sh` blocks of a page.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect()
}

/// The page on calibration, word for word, in a folder of its own; and the figures that it prints are those that come.
#[test]
fn the_page_on_calibration_does_what_it_says() {
    let place = tempfile::tempdir().unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    std::fs::create_dir(place.path().join("docs")).unwrap();
    for name in ["board", "case", "case_marks", "case_new", "calibration", "calibration_marks"] {
        let name = format!("example_{name}.ron");
        std::fs::copy(docs.join(&name), place.path().join("docs").join(&name)).unwrap();
    }
    let page = std::fs::read_to_string(docs.join("calibrate.md")).unwrap();
    let folder = Path::new(env!("CARGO_BIN_EXE_joulecast")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let shown = |command: &str| {
        let mut shell = std::process::Command::new("bash");
        let output = shell.args(["-c", command]).current_dir(place.path()).env("PATH", &path);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for command in commands(&page) {
        shown(command);
    }
    let parsed = |command: &str| serde_json::from_str::<Value>(&shown(command)).unwrap();
    let fit = parsed("joulecast calibrate docs/example_calibration.ron --json");
    for (number_of, unit, digits, spread) in [
        ("domains.core.clock_tree.Charge", 1e-12, 1, 1),
        ("engines.cortex_m4.energy.per_busy_cycle.Charge", 1e-12, 2, 1),
        ("software.x-cube-ai.cycles_per_mac.FullyConnected", 1.0, 3, 1),
        ("software.x-cube-ai.cycles_per_mac.PointwiseConv", 1.0, 3, 0),
        ("software.x-cube-ai.cycles_per_mac.DepthwiseConv", 1.0, 3, 0),
    ] {
        let own = of(&fit["fits"][0]["numbers"], "path", number_of);
        let (value, sigma) = (number(own, "/value") / unit, number(own, "/sigma").exp_m1() * 100.0);
        let row = format!("| {value:.digits$} ± {sigma:.spread$} % |");
        assert!(page.contains(&row), "{number_of}: the page has no `{row}`");
    }
    let rows = parsed("joulecast validate docs/example_case_new.ron --on out/my_board.ron --json");
    for (row, digits) in [(0, (96.0, 97.0)), (1, (3.9e-3, 4e-3)), (2, (35e-3, 36e-3))] {
        let measured = number(&rows["cases"][row], "/measured") * if row == 0 { 1e3 } else { 1.0 };
        assert!((digits.0..digits.1).contains(&measured), "{measured}");
        assert_eq!(rows["cases"][row]["covered"], true);
        let error = format!("{:+.1} % |", number(&rows["cases"][row], "/relative_error") * 100.0);
        let start = ["| time |", "| energy |", "| mean power, one in 250 ms |"][row];
        let line = page.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(line.ends_with(&error), "`{line}` is not {error}");
    }
}

/// Energy runs of a real board: the figures that their publisher computed from the same files.
#[test]
fn a_capture_of_a_real_board_gives_the_published_figures() {
    let Some(shared) =
        crate::shared::folder("a_capture_of_a_real_board_gives_the_published_figures")
    else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let folder = shared.join("captures/mlperf-l4r5-xcubeai9-v1.2").canonicalize().unwrap();
    let observation = |model: &str, part: &str| {
        let file = folder.join(part);
        format!("(model: \"{model}\", capture: (file: {file:?}, meter: \"ppk2\", layers: Folded)),")
    };
    let observations = observation("ic_resnet8", "ic") + &observation("kws_ds_cnn", "kws");
    let case =
        Case::load(&file(place.path(), "case.ron", case_of(&observations).as_bytes())).unwrap();
    let published = [(164.962059e-3, 6919.375e-6), (43.149946e-3, 1820.454e-6)];
    for (own, (time, energy)) in case.observations.iter().zip(published) {
        let latency = own.latency.as_ref().unwrap();
        assert!((latency.get().0 / time - 1.0).abs() < 1e-3, "{}: {}", own.model, latency.get().0);
        // A mean of windows where the publisher has their median.
        let found = own.energy.as_ref().unwrap();
        assert!((found.get().0 / energy - 1.0).abs() < 1e-3, "{}: {}", own.model, found.get().0);
    }
    // Layers of one shape take one time where the profile shows both of them.
    let layers = &case.observations[0].layers;
    let time = |name: &str| {
        let own = layers.iter().find(|own| own.layer == name && own.with.is_empty());
        own.and_then(|own| own.latency.as_ref()).unwrap().get().0
    };
    assert!((time("conv_2d_5") / time("conv_2d_9") - 1.0).abs() < 0.02);
}
