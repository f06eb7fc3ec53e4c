//! Networks of families on the command line, and what their chips are measured on.

use crate::command_line::{joulecast, json, number};
use crate::errors::{file, refused};
use joulecast::calibrate::{Case, validate};
use joulecast::cost::Setting;
use joulecast::estimate::estimate;
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, load, read_ron, write_ron};

#[test]
fn a_network_of_a_family_stands_wherever_a_model_does() {
    let of = |model: &str| json(&["estimate", model, "--on", "gap8", "--json"]);
    let half = of("mobilenet_v1_int8(width=0.5, resolution=160)");
    let quarter = of("mobilenet_v1_int8(width=0.25, resolution=160)");
    assert!(number(&half, "/totals/latency_s") > 2.0 * number(&quarter, "/totals/latency_s"));
    let said = refused(&["inspect", "mobilenet_v1_int8(width=0.5"]);
    assert!(said.contains("a `)` is missing"), "{said}");
    let said = refused(&["inspect", "mobilenet_v1_int"]);
    assert!(said.contains("did you mean `mobilenet_v1_int8`?"), "{said}");
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("made.ron");
    let made = ["model", "generate", "ai8x_mnist", "--out", out.to_str().unwrap()];
    assert!(joulecast(&made).status.success());
    assert_eq!(load(out.to_str().unwrap(), &Bindings::default()).unwrap().name, "ai8x_mnist");
}

#[test]
fn zeros_of_data_are_kept_in_files_and_are_a_share() {
    let graph = load("alexnet_features_int16", &Bindings::default()).unwrap();
    let text = write_ron(&graph).unwrap();
    assert!(
        text.contains("input_zeros: Some(0.387)") || text.contains("input_zeros: 0.387"),
        "{text}"
    );
    assert_eq!(write_ron(&read_ron("a.ron", &text).unwrap()).unwrap(), text);
    let more = read_ron("a.ron", &text.replace("0.387", "1.387")).unwrap_err().to_string();
    assert!(more.contains("a share of zeros is from 0 to 1"), "{more}");
}

/// Energy of `CONV2` of AlexNet on a profile.
fn second(profile: &str) -> f64 {
    let profile = Profile::parse("p.ron", profile).unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let network =
        Network::of(&load("alexnet_features_int16", &Bindings::default()).unwrap()).unwrap();
    let plan = plan(&network, setting);
    let layer = plan.steps.iter().find(|step| step.name == "CONV2").unwrap();
    assert!(estimate(&plan, setting).energy.0 > 0.0);
    layer.cost.energy.0
}

#[test]
fn zeros_save_the_share_that_the_profile_says() {
    let text = crate::shipped::text_of("eyeriss");
    let gating = "        zero_data_saves: \"80 % ±15% @gating\",\n";
    assert!(text.contains(gating));
    let plain = second(&text.replace(gating, ""));
    // 38.7 % zeros, each of which saves four fifths.
    assert!((second(text) / plain - (1.0 - 0.387 * 0.8)).abs() < 1e-3);
    let all = text.replace("\"80 % ±15% @gating\"", "\"180 % @gating\"");
    let error = Profile::parse("p.ron", &all).unwrap_err().to_string();
    assert!(error.contains("zero_data_saves"), "{error}");
}

#[test]
fn a_word_that_is_read_whole_counts_for_windows_that_do_not_fill_it() {
    let text = crate::shipped::text_of("max78002");
    let reload = ", reload: \"1.1 pJ/B ±123% @reload\"";
    assert!(text.contains(reload));
    let text = &text.replace(reload, "");
    let word = ", word: \"9 B ±50% @word\"";
    assert!(text.contains(word));
    let energies = |text: &str| -> Vec<f64> {
        let profile = Profile::parse("p.ron", text).unwrap();
        let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        let network = Network::of(&load("ai8x_cifar10", &Bindings::default()).unwrap()).unwrap();
        let plan = plan(&network, setting);
        let of = |name: &str| plan.steps.iter().find(|s| s.name == name).unwrap().cost.energy.0;
        vec![of("conv1"), of("conv2")]
    };
    let (with, without) = (energies(text), energies(&text.replace(word, "")));
    // A window of nine points fills the word; one of a single point reads nine times as much.
    assert!((with[0] / without[0] - 1.0).abs() < 1e-12);
    let ratio = with[1] / without[1];
    let expected = (0.40 + 9.0 * 3.0) / (0.40 + 3.0);
    // Rectifying is in both.
    assert!(ratio < expected && ratio > 0.97 * expected, "{ratio} {expected}");
}

/// Energies of the engine for layers of a network on the MAX78002, with parts of its profile replaced \[J\].
fn on_max78002(model: &str, layers: &[&str], changes: &[(&str, &str)]) -> Vec<f64> {
    let mut text = crate::shipped::text_of("max78002").to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let profile = Profile::parse("p.ron", &text).unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let network = Network::of(&load(model, &Bindings::default()).unwrap()).unwrap();
    let plan = plan(&network, setting);
    let of = |name: &&str| plan.steps.iter().find(|s| s.name == **name).unwrap().cost.energy.0;
    layers.iter().map(of).collect()
}

const FREE_MACS: [(&str, &str); 2] = [
    ("per_mac: {Int8: \"0.40 pJ ±40% @mac40\"}", "per_mac: {Int8: \"0 pJ @mac40\"}"),
    ("per_operation: {Int8: \"0.04 pJ ±60% @mac40\"}", "per_operation: {Int8: \"0 pJ @mac40\"}"),
];

#[test]
fn input_channels_that_come_in_passes_change_every_word() {
    // Of cifar-10, conv12 sums 64 channels and conv14 128: 4.1 pJ a byte instead of 3.0.
    let without = [&FREE_MACS[..], &[(", reload: \"1.1 pJ/B ±123% @reload\"", "")]].concat();
    let layers = ["conv12", "conv14"];
    let with = on_max78002("ai8x_cifar10", &layers, &FREE_MACS);
    let without = on_max78002("ai8x_cifar10", &layers, &without);
    assert!((with[0] / without[0] - 1.0).abs() < 1e-12, "{with:?} {without:?}");
    assert!((with[1] / without[1] - 4.1 / 3.0).abs() < 1e-12, "{with:?} {without:?}");
}

#[test]
fn weights_of_fewer_bits_take_so_much_less_of_a_word() {
    // One network with 8, 4 and 2 bits in its first layers, the same with 8 in all but for its sums.
    let layers = ["conv1", "conv2", "conv3"];
    let narrow = on_max78002("ai8x_cifar100_simple", &layers, &FREE_MACS);
    let whole = on_max78002("ai8x_cifar100_residual", &layers, &FREE_MACS);
    let ratios: Vec<f64> = narrow.iter().zip(&whole).map(|(n, w)| n / w).collect();
    for (ratio, expected) in ratios.iter().zip([1.0, 0.5, 0.25]) {
        assert!((ratio - expected).abs() < 1e-12, "{ratios:?}");
    }
}

#[test]
fn a_reload_is_of_words_of_a_fixed_function() {
    let text = crate::shipped::text_of("max78002");
    let said = |old: &str, new: &str| {
        assert!(text.contains(old));
        Profile::parse("p.ron", &text.replace(old, new)).unwrap_err().to_string()
    };
    let bare = said(", word: \"9 B ±50% @word\"", "");
    assert!(bare.contains("operand_store.reload") && bare.contains("left out"), "{bare}");
    let negative = said("position_cycles: \"4 cycle", "position_cycles: \"-4 cycle");
    assert!(negative.contains("position_cycles"), "{negative}");
}

#[test]
fn errors_are_recorded_in_the_file_of_a_case() {
    let place = tempfile::tempdir().unwrap();
    let old = r#"( // kept
  schema: "joulecast.case/1", id: "mine", board: "b", runtime: (family: "r", version: "1"), hardware: "stm32l4r5",
  operating_point: "120mhz_1v8", split: Uncalibrated, tolerance: "2 % @recorded",
  sources: {"recorded": (kind: Derived, citation: "before")},
  observations: [(model: "sww", latency: "1 s", energy: "1 mJ", recorded_latency_error: "55 % @recorded")], // kept
)"#;
    let path = file(place.path(), "case.ron", old.as_bytes());
    assert!(joulecast(&["validate", &path, "--record"]).status.success());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("// kept").count(), 2);
    assert!(!text.contains("55 %") && !text.contains("before"), "{text}");
    let case = Case::parse(&path, &text).unwrap();
    for c in validate(&case).unwrap() {
        let off = c.recorded_error.unwrap() - c.relative_error;
        assert!(off.abs() < 0.000_51, "{} {off}", c.id);
    }
    let bare = text
        .replace("\"recorded\": (kind: Derived", "\"other\": (kind: Derived")
        .replace(" @recorded", "");
    let path = file(place.path(), "bare.ron", bare.as_bytes());
    assert!(refused(&["validate", &path, "--record"]).contains("no place to record errors in"));
}
