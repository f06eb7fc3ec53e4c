//! Bad input: one clear message on stderr, exit code 2, nothing written.

use crate::command_line::joulecast;
use std::path::Path;

/// Runs a verb that must fail on its input, with an --out that must not appear.
pub fn refused(arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let mut all = arguments.to_vec();
    if arguments[0] == "run" {
        all.extend(["--out", out.to_str().unwrap()]);
    }
    let output = joulecast(&all);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(message.starts_with("error:"), "{message}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "something was left");
    message
}

pub fn file(place: &Path, name: &str, bytes: &[u8]) -> String {
    let path = place.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn profile_with(changes: &[(&str, &str)]) -> String {
    let mut text = crate::shipped::text_of("stm32l4r5").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn a_missing_file() {
    let said = refused(&["run", "nowhere/model.tflite", "--on", "stm32l4r5"]);
    assert!(said.contains("nowhere/model.tflite"), "{said}");
    let said = refused(&["run", "kws_ds_cnn", "--on", "nowhere/chip.ron"]);
    assert!(said.contains("nowhere/chip.ron"), "{said}");
}

#[test]
fn broken_model_files() {
    let place = tempfile::tempdir().unwrap();
    let truncated = file(place.path(), "cut.tflite", b"\x1c\0\0\0TFL3\x14\0\x20\0\x1c\0");
    assert!(refused(&["run", &truncated, "--on", "stm32l4r5"]).contains("not a sound TFLite file"));
    let noise: Vec<u8> =
        (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let random = file(place.path(), "noise.onnx", &noise);
    assert!(refused(&["run", &random, "--on", "stm32l4r5"]).contains("not a usable ONNX file"));
    let empty = file(place.path(), "empty.onnx", b"");
    assert!(refused(&["inspect", &empty]).contains("empty"));
    let binary = file(place.path(), "thing.bin", &noise);
    assert!(refused(&["inspect", &binary]).contains("neither TFLite"));
}

#[test]
fn names_that_do_not_exist_suggest_the_nearest() {
    let said = refused(&["run", "kws_ds_cnn", "--on", "stm32l4r"]);
    assert!(said.contains("did you mean `stm32l4r5`?"), "{said}");
    let said = refused(&["run", "kws_ds_cn", "--on", "stm32l4r5"]);
    assert!(said.contains("did you mean `kws_ds_cnn`?"), "{said}");
    let said = refused(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--opp", "120mhz"]);
    assert!(said.contains("did you mean `120mhz_1v8`?"), "{said}");
    let said = refused(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--software", "tflm"]);
    assert!(said.contains("any-runtime, reference-kernels"), "{said}");
    let said = refused(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--idle", "coma"]);
    assert!(said.contains("there are on, sleep, ") && said.contains(", stop2, "), "{said}");
}

#[test]
fn a_typo_in_a_profile_has_line_column_and_caret() {
    let place = tempfile::tempdir().unwrap();
    let text = profile_with(&[("clock_tree: Charge", "clock_tre: Charge")]);
    let path = file(place.path(), "chip.ron", text.as_bytes());
    let said = refused(&["run", "kws_ds_cnn", "--on", &path]);
    let line = text.lines().position(|l| l.contains("clock_tre:")).unwrap() + 1;
    assert!(said.contains(&format!("chip.ron:{line}:7")), "{said}");
    assert!(said.contains("^^^^^^^^^ domains[0].clock_tre"), "{said}");
    assert!(said.contains("did you mean `clock_tree`?"), "{said}");
}

#[test]
fn three_faults_of_one_profile_are_reported_together() {
    let place = tempfile::tempdir().unwrap();
    let text = profile_with(&[
        ("rail: \"vcore\"", "rail: \"vcor\""),
        ("capacity: \"640 KiB", "capacity: \"640 mA"),
        ("{\"hclk\": \"80 MHz", "{\"hclk\": \"0 MHz"),
        ("@hal_l4\"},", "@hal_l5\"},"),
    ]);
    let path = file(place.path(), "chip.ron", text.as_bytes());
    let said = refused(&["run", "kws_ds_cnn", "--on", &path]);
    for (path, message) in [
        ("domains[0].rail", "no rail is called `vcor`"),
        ("memories[0].capacity", "`mA` is not a unit of memory size"),
        ("operating_points[3].clocks.hclk", "a frequency must be above zero"),
        ("operating_points[0].clocks.hclk", "no source is called `hal_l5`"),
    ] {
        assert!(said.contains(message), "{message}:\n{said}");
        assert!(said.contains(path), "{path}:\n{said}");
    }
    assert!(said.contains("did you mean `vcore`?"), "{said}");
    assert!(said.contains("4 faults in"), "{said}");
}

#[test]
fn a_number_without_a_unit_shows_an_example() {
    let place = tempfile::tempdir().unwrap();
    for (bad, message) in [
        ("\"1.28\"", "a voltage needs a unit, for example \"1.28 V\""),
        ("1.28", "is a string with a unit, for example \"1.28 V\", not the bare number 1.28"),
        ("\"1.28 mA @hal_l4\"", "`mA` is not a unit of voltage, expected one like \"1.28 V\""),
        ("\"1.28 Vlt @hal_l4\"", "unknown unit `Vlt`"),
    ] {
        let text = profile_with(&[(
            "nominal_voltage: \"1.28 V @hal_l4\"",
            &format!("nominal_voltage: {bad}"),
        )]);
        let path = file(place.path(), "chip.ron", text.as_bytes());
        let said = refused(&["hardware", "check", &path]);
        let line = text.lines().position(|l| l.contains("nominal_voltage:")).unwrap() + 1;
        assert!(said.contains(message), "{message}:\n{said}");
        assert!(said.contains(&format!("chip.ron:{line}:")), "{said}");
    }
}

#[test]
fn a_profile_cut_anywhere_is_one_clear_error() {
    let place = tempfile::tempdir().unwrap();
    let text = crate::shipped::text_of("stm32l4r5");
    let body = text.rfind(')').unwrap();
    for end in (0..body).step_by(211).filter(|&i| text.is_char_boundary(i)) {
        let path = file(place.path(), "cut.ron", &text.as_bytes()[..end]);
        refused(&["hardware", "check", &path]);
    }
}

#[test]
fn bad_arguments() {
    refused(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--period", "250"]);
    refused(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--period", "-1 s"]);
    let output = joulecast(&["run", "kws_ds_cnn", "--on", "stm32l4r5", "--inferences", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(joulecast(&["fly"]).status.code(), Some(2));
}

#[test]
fn an_import_never_writes_over_a_model_of_another_kind() {
    let place = tempfile::tempdir().unwrap();
    let given = std::fs::read("models/mlperf_tiny/kws_ds_cnn.ron").unwrap();
    let kept = file(place.path(), "net.tflite", &given);
    let said = refused(&["model", "import", "kws_ds_cnn", "--out", &kept]);
    assert!(said.contains(".ron"), "{said}");
    assert_eq!(std::fs::read(&kept).unwrap(), given);
}

#[test]
fn a_case_that_names_what_is_not_there_says_which() {
    let place = tempfile::tempdir().unwrap();
    let text = joulecast::calibrate::shipped_cases()[0].text;
    let model = file(place.path(), "a.ron", text.replace("\"ic_resnet8", "\"ic_resnt8").as_bytes());
    let said = refused(&["validate", &model]);
    assert!(said.contains("ic_resnet8") && said.contains("observations[3].model"), "{said}");
    let point = file(place.path(), "b.ron", text.replace("120mhz_1v8", "120mhz_1v9").as_bytes());
    let said = refused(&["validate", &point]);
    assert!(said.contains("stm32l4r5/tflm-2.3.1") && said.contains("120mhz_1v8"), "{said}");
}

#[test]
fn a_component_cannot_take_the_name_of_the_total() {
    let mut text = crate::shipped::text_of("stm32l4r5").to_owned();
    assert!(text.contains("\"cortex_m4\""));
    text = text.replace("\"cortex_m4\"", "\"total\"");
    let place = tempfile::tempdir().unwrap();
    let said = refused(&["hardware", "check", &file(place.path(), "chip.ron", text.as_bytes())]);
    assert!(said.contains("would be called `total`"), "{said}");
}

#[test]
fn rates_of_software_for_an_array_are_refused() {
    let profile = driven_eyeriss("cycles_per_mac: {Conv: \"2 cycle/MAC @board\"}");
    let place = tempfile::tempdir().unwrap();
    let path = file(place.path(), "chip.ron", profile.as_bytes());
    let said = refused(&["hardware", "check", &path]);
    assert!(said.contains("software[0].cycles_per_mac"), "{said}");
}

/// Eyeriss under a driver.
pub fn driven_eyeriss(fields: &str) -> String {
    let text = crate::shipped::text_of("eyeriss");
    let driver =
        format!("software: [(name: \"driver\", runs_on: [\"pe_array\"], {fields})],\n  engines: [");
    assert_eq!(text.matches("engines: [").count(), 1);
    text.replace("engines: [", &driver)
}

#[test]
fn an_output_folder_of_somebody_else_is_not_touched() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("notes.txt"), "mine").unwrap();
    let output = joulecast(&[
        "run",
        "kws_ds_cnn",
        "--on",
        "stm32l4r5",
        "--out",
        place.path().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn numbers_out_of_this_world_are_bad_input_and_not_our_fault() {
    let place = tempfile::tempdir().unwrap();
    for (from, to) in [
        (
            "\n  package: (",
            "\n  software: [(name: \"any-runtime\", cycles_per_mac: {Conv: \"1e300 cycle/MAC\"})],\n  package: (",
        ),
        (
            "\n  package: (",
            "\n  software: [(name: \"any-runtime\", cycles_per_mac: {PointwiseConv: \"1e15 cycle/MAC\"})],\n  package: (",
        ),
        ("{\"hclk\": \"120 MHz", "{\"hclk\": \"1e-300 MHz"),
    ] {
        let path = file(place.path(), "chip.ron", profile_with(&[(from, to)]).as_bytes());
        refused(&["run", "ic_resnet8", "--on", &path]);
    }
}

/// Whatever a byte of a profile becomes, the answer is a result or one clear error.
#[test]
fn a_profile_with_any_byte_changed_never_panics() {
    use joulecast::cost::Setting;
    use joulecast::hardware::Profile;
    use joulecast::mapping::{Network, plan};
    use joulecast::model::{Bindings, load};
    let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
    let full = crate::chips::full_text();
    let shipped = joulecast::hardware::shipped_profiles().iter().map(|p| (p.text, 1009));
    for (which, (text, step)) in shipped.chain([(full.as_str(), 7)]).enumerate() {
        let mut bytes = text.as_bytes().to_vec();
        for (count, at) in (which % 7..bytes.len()).step_by(step).enumerate() {
            let kept = bytes[at];
            for replacement in *b"09-e\"( " {
                bytes[at] = replacement;
                let Ok(text) = std::str::from_utf8(&bytes) else { continue };
                let Ok(profile) = Profile::parse("mutated.ron", text) else { continue };
                // One point each, all of them in turn.
                let points = &profile.spec().operating_points;
                let point = profile.point(Some(&points[count % points.len()].name)).unwrap();
                let stacks = profile.stacks(None).unwrap();
                let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
                joulecast::estimate::estimate(&plan(&network, setting), setting);
            }
            bytes[at] = kept;
        }
    }
}
