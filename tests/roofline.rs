//! Claims on the roofs of time and of energy, and the journey of `roofline` through the command line.

use crate::chips::{at, network, parsed, product};
use crate::command_line::{joulecast, json};
use joulecast::cost::Setting;
use joulecast::estimate::roofline::{Counted, LayerPoint, Roofline, Roofs, roofline};
use joulecast::estimate::{Bound, estimate};
use joulecast::evidence::Kind;
use joulecast::hardware::{Precision, Profile, shipped_profiles};
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, ElementFunction, ElementType, Op, load};
use joulecast::uncertainty::roof_bands;
use joulecast::units::Bytes;
use proptest::prelude::*;
use std::path::Path;

/// An engine of 16 MAC/cycle and 8 op/cycle at 100 MHz that reads weights from a flash and keeps activations
/// in an SRAM of 400 MB/s.
struct Chip<'a> {
    flash: &'a str,
    engine: &'a str,
    clock_tree: &'a str,
}

impl Default for Chip<'_> {
    fn default() -> Self {
        let flash = r#"bandwidth: PerSecond("100 MB/s ±20% @a")"#;
        Self { flash, engine: "transfers: Inline", clock_tree: r#"Energy("10 uW/MHz @m")"# }
    }
}

impl Chip<'_> {
    fn profile(&self) -> Profile {
        let Self { flash, engine, clock_tree } = self;
        parsed(&format!(
            r#"(schema: "joulecast.profile/1", name: "test", kind: Accelerator, description: "made up",
  sources: {{"m": (kind: Measured, citation: "m"), "a": (kind: Assumed, citation: "a")}},
  temperature: "25 degC @m", rails: [(name: "rail")],
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz @m"}}, voltages: {{"rail": "1 V @m"}})],
  domains: [(name: "core", rail: "rail", clock: "clock", nominal_voltage: "1 V @m", clock_tree: {clock_tree})],
  memories: [
    (name: "sram", domain: "core", capacity: "64 KiB @m", holds: [Activations], bandwidth: PerCycle("4 B/cycle @m"),
     read_energy: "1 pJ/B @m", write_energy: "1 pJ/B @m"),
    (name: "flash", domain: "core", capacity: "1 GiB @m", holds: [Weights], {flash}, read_energy: "10 pJ/B @m")],
  engines: [(name: "unit", domain: "core", array: Lanes(macs: {{Int8: "16 MAC/cycle @m"}}, operations: {{Int8: "8 op/cycle @m"}}),
    energy: (per_mac: {{Int8: "0.3 pJ @m"}}, per_operation: {{Int8: "0.1 pJ @m"}}),
    supports: [Conv, FullyConnected, Elementwise], memories: ["sram", "flash"], {engine})])"#
        ))
    }

    fn roofs(&self, network: &Network) -> Roofline {
        at(&self.profile(), None, |setting| roofs(network, setting))
    }
}

fn roofs(network: &Network, setting: Setting<'_>) -> Roofline {
    let plan = plan(network, setting);
    roofline(&plan, &estimate(&plan, setting), setting)
}

fn only<C: Counted>(roofs: &Roofs<C>) -> &LayerPoint<C> {
    assert_eq!(roofs.layers.len(), 1);
    &roofs.layers[0]
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} instead of {expected}");
}

#[test]
fn two_levels_by_hand() {
    // 4 x 50 results of 100 MACs: 5000 B of weights, 400 B in, 200 B out.
    let found = Chip::default().roofs(&product(4, 50, 100, ElementType::Int8));
    let engine = &found.engines[0];
    let [sram, flash] = engine.levels.as_slice() else { panic!("{:?}", engine.levels) };
    assert_eq!((sram.bandwidth.0, flash.bandwidth.0), (4e8, 1e8));
    assert_eq!((sram.kind, flash.kind), (Kind::Measured, Kind::Assumed));
    assert_eq!((flash.read, flash.written), (Bytes(5000.0), Bytes::ZERO));
    let compute = &engine.macs.compute[0];
    near(compute.peak.0, 1.6e9);
    near(compute.ridge(sram).0, 4.0);
    near(compute.ridge(flash).0, 16.0);
    let layer = only(&engine.macs);
    near(layer.point.intensity(0).unwrap().0, 20_000.0 / 600.0);
    near(layer.point.intensity(1).unwrap().0, 4.0);
    // 4 MAC/B x 100 MB/s, below the peak of 1.6 GMAC/s and the 13.3 GMAC/s of the SRAM.
    near(layer.point.attainable().0, 4e8);
    near(layer.point.attained().0, 4e8);
    assert_eq!(
        (layer.roof, layer.longest, layer.bound),
        (Bound::Channel(1), Bound::Channel(1), Bound::Channel(1))
    );
    let ridge = layer.ridge.unwrap();
    assert_eq!((ridge.level, ridge.distance), (1, 0.25));
    // 20 000 x 0.3 pJ, 5000 x 10 pJ, 600 x 1 pJ, and 1 mW for 50 us.
    near(layer.point.ideal_energy.0, 6e-9 + 50e-9 + 0.6e-9 + 50e-9);
    near(layer.point.load_energy.0, 106.6e-9);
    near(found.constant.power.0, 1e-3);
    // A byte of flash takes 10 pJ and a MAC 0.3 pJ.
    let balance = layer.balance.unwrap();
    assert_eq!(balance.level, 1);
    near(balance.distance, 4.0 * 0.3 / 10.0);
}

#[test]
fn one_level_alone_leaves_the_others_out() {
    let found = Chip::default().roofs(&product(4, 50, 100, ElementType::Int8)).at_level(0);
    let engine = &found.engines[0];
    assert_eq!(engine.levels.len(), 1);
    let layer = only(&engine.macs);
    // 33.3 MAC/B are right of the ridge at 4 MAC/B.
    assert_eq!(layer.roof, Bound::Compute);
    near(layer.point.attainable().0, 1.6e9);
    near(layer.point.share(), 0.25);
    assert!(found.clone().at_level(1).engines.is_empty(), "level 1 is gone");
}

#[test]
fn layers_without_macs_count_element_operations() {
    let shape: &[u64] = &[1, 10, 10, 8];
    let op = Op::Elementwise(ElementFunction::Add);
    let sum = network(op, &[(shape, false), (shape, false)], shape, ElementType::Int8);
    let found = Chip::default().roofs(&sum);
    let engine = &found.engines[0];
    assert!(engine.macs.layers.is_empty() && engine.macs.compute.is_empty());
    near(engine.operations.compute[0].peak.0, 8e8);
    let layer = only(&engine.operations);
    assert_eq!(layer.point.work.count(), 800);
    near(layer.point.intensity(0).unwrap().0, 800.0 / 2400.0);
    assert_eq!(layer.point.intensity(1), None, "no byte of weights");
    assert_eq!(layer.roof, Bound::Channel(0));
    near(layer.point.attainable().0, 4e8 / 3.0);
}

#[test]
fn a_roof_of_flash_falls_with_its_wait_states() {
    let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
    let profile = Profile::load("stm32l4r5").unwrap();
    at(&profile, Some("120mhz_1v8"), |setting| {
        let found = roofs(&network, setting);
        let levels = &found.engines[0].levels;
        let flash = levels.iter().find(|l| setting.profile.channel_name(l.channel) == "flash");
        // 8 B in a cycle and five wait states at 120 MHz.
        near(flash.unwrap().bandwidth.0, 8.0 * 120e6 / 6.0);
    });
}

/// Every shipped profile with some networks on it.
fn shipped(mut see: impl FnMut(&Network, Setting<'_>, &Roofline)) {
    for model in ["kws_ds_cnn", "ad_autoencoder", "vww_mobilenetv1_025", "mobilenet_v2", "lstm_kws"]
    {
        let network = Network::of(&load(model, &Bindings::default()).unwrap()).unwrap();
        for shipped in shipped_profiles() {
            let profile = Profile::load(shipped.name).unwrap();
            // Layers at work at once have no time of their own.
            if crate::profiles::is_for_one_network(&profile) {
                continue;
            }
            at(&profile, None, |setting| see(&network, setting, &roofs(&network, setting)));
        }
    }
}

/// What has to hold of every layer: the lost parts make up the time, and no roof is exceeded.
fn sound<C: Counted>(roofs: &Roofs<C>) -> usize {
    for layer in &roofs.layers {
        let point = &layer.point;
        assert!(point.share() > 0.0 && point.share() <= 1.0 + 1e-9, "{layer:?}");
        assert!(point.energy_share() > 0.0 && point.energy_share() <= 1.0 + 1e-9, "{layer:?}");
        let lost: f64 = layer.lost.parts().iter().map(|(_, time)| time.0).sum();
        assert!(
            (point.ideal_time.0 + lost - point.time.0).abs() <= 1e-9 * point.time.0,
            "{layer:?}"
        );
        assert!(
            layer.lost.parts().iter().all(|(_, time)| time.0 > -1e-12 * point.time.0),
            "{layer:?}"
        );
    }
    roofs.layers.len()
}

#[test]
fn no_shipped_layer_is_above_its_roofs() {
    let mut seen = 0;
    shipped(|_, _, found| {
        for engine in &found.engines {
            seen += sound(&engine.macs) + sound(&engine.operations);
        }
    });
    assert!(seen > 1000, "{seen}");
}

/// Layers whose longest part is not what the estimate says binds, each with a reason.
fn differ<C: Counted>(roofs: &Roofs<C>) -> usize {
    let other = roofs.layers.iter().filter(|layer| layer.longest != layer.bound);
    let why = |layer: &LayerPoint<C>| {
        let lost = layer.lost;
        let apart = lost.dispatch + lost.latency + lost.serial;
        assert!(apart.0 > 0.0, "nothing runs apart: {layer:?}");
    };
    other.inspect(|layer| why(layer)).count()
}

#[test]
fn what_binds_is_what_the_estimate_says_unless_something_runs_apart() {
    let (mut all, mut differing) = (0, 0);
    shipped(|_, _, found| {
        for engine in &found.engines {
            all += engine.macs.layers.len() + engine.operations.layers.len();
            differing += differ(&engine.macs) + differ(&engine.operations);
        }
    });
    assert!(differing > 0 && differing * 2 < all, "{differing} of {all}");
}

#[test]
fn all_layers_as_one_take_the_sum_of_their_least_times() {
    let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
    let profile = Profile::load("stm32l4r5").unwrap();
    at(&profile, None, |setting| {
        let plan = plan(&network, setting);
        let estimate = estimate(&plan, setting);
        let found = roofline(&plan, &estimate, setting);
        let engine = &found.engines[0];
        let (macs, others) = (engine.macs.whole().unwrap(), engine.operations.whole().unwrap());
        assert_eq!(macs.work.count(), network.macs());
        near(macs.time.0 + others.time.0 + engine.moving.time.0, estimate.latency.0);
        near(macs.energy.0 + others.energy.0 + engine.moving.energy.0, estimate.energy.0);
        assert_eq!(engine.macs.compute[0].precision, Precision::Int8);
    });
}

#[test]
fn bands_are_those_of_the_numbers_that_roofs_rest_on() {
    let network = product(4, 50, 100, ElementType::Int8);
    at(&Chip::default().profile(), None, |setting| {
        let found = roofs(&network, setting);
        let bands = roof_bands(&network, &found, setting);
        let [sram, flash] = bands.engines[0].levels.as_slice() else { panic!() };
        assert_eq!((sram.low, sram.high), (4e8, 4e8), "exact");
        // The 5 % and 95 % quantiles of a log-normal of ±20 %.
        near(flash.high / 1e8, 1.2f64.powf(1.644_853_626_951_472_2));
        near(1e8 / flash.low, 1.2f64.powf(1.644_853_626_951_472_2));
        let peak = bands.engines[0].macs.peaks[0];
        assert_eq!((peak.low, peak.high), (1.6e9, 1.6e9));
        let energy = &bands.engines[0].macs.energy;
        assert_eq!(energy.len(), 2);
        // Far right the bandwidth of the flash is no matter; far left constant power waits for it.
        let width = |at: Option<&(f64, joulecast::uncertainty::Interval90)>| {
            at.map(|(_, i)| i.high / i.low)
        };
        near(width(energy[1].points.last()).unwrap(), 1.0);
        assert!(width(energy[1].points.first()).unwrap() > 1.05);
    });
}

proptest! {
    #[test]
    fn attained_is_never_above_attainable_and_equal_where_nothing_else_limits(
        (m, n, k) in (1u64..40, 1u64..300, 1u64..300),
        bandwidth in 1.0..5000.0f64,
        latency in 0.0..100.0f64,
        dispatch in 0u32..5000,
        how in prop::sample::select(vec!["Inline", "DoubleBuffered", "Serial"]),
    ) {
        let network = product(m, n, k, ElementType::Int8);
        let flash = format!(r#"bandwidth: PerSecond("{bandwidth:.3} MB/s @m"), latency: Time("{latency:.3} us @m")"#);
        let engine = format!(r#"transfers: {how}, dispatch: "{dispatch} cycle @m""#);
        let found = Chip { flash: &flash, engine: &engine, ..Chip::default() }.roofs(&network);
        sound(&found.engines[0].macs);
        // Compute and bandwidth alone.
        let flash = format!(r#"bandwidth: PerSecond("{bandwidth:.3} MB/s @m")"#);
        let found = Chip { flash: &flash, ..Chip::default() }.roofs(&network);
        let layer = only(&found.engines[0].macs);
        prop_assert!((layer.point.share() - 1.0).abs() < 1e-9, "{:?}", layer);
        prop_assert!(layer.roof == layer.bound && layer.longest == layer.bound);
        prop_assert!((layer.point.energy_share() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_same_figures_as_json() {
    let d = json(&["roofline", "kws_ds_cnn", "--on", "stm32l4r5", "--json"]);
    assert_eq!(d["schema"], "joulecast.roofline/1");
    let engine = &d["engines"][0];
    assert_eq!((&engine["name"], &engine["macs"]["counts"]), (&"cortex_m4".into(), &"MAC".into()));
    assert_eq!(engine["operations"]["counts"], "op");
    let layers = engine["macs"]["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 10);
    for layer in layers {
        let share = layer["share_of_attainable"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{layer}");
        assert!(layer["levels"]["flash"]["intensity_per_byte"].as_f64().unwrap() > 0.0);
        assert_eq!(layer["bound_by"], layer["longest_by_itself"]);
    }
    let flash = engine["levels"].as_array().unwrap().iter().find(|l| l["name"] == "flash").unwrap();
    let band = &flash["bandwidth_bytes_per_s_interval90"];
    assert!(band[0].as_f64() < flash["bandwidth_bytes_per_s"].as_f64());
    assert_eq!(flash["bandwidth_rests_on"], "recalled");
    let one = json(&["roofline", "kws_ds_cnn", "--on", "stm32l4r5", "--json", "--level", "flash"]);
    assert_eq!(one["level"], "flash");
    assert_eq!(one["engines"][0]["levels"].as_array().unwrap().len(), 1);
}

#[test]
fn tables_name_the_roofs_and_what_binds() {
    let text = |more: &[&str]| {
        let arguments = [&["roofline", "kws_ds_cnn", "--on", "stm32l4r5"], more].concat();
        let output = joulecast(&arguments);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let time = text(&[]);
    for part in ["Int8 peak", "120.0 MMAC/s", "flash", "ridge", "by element operations", "all 10"] {
        assert!(time.contains(part), "{part} in\n{time}");
    }
    let energy = text(&["--energy"]);
    for part in ["MAC/J", "at the", "constant power", "racing to idle"] {
        assert!(energy.contains(part), "{part} in\n{energy}");
    }
}

fn drawn(path: &Path, more: &[&str]) -> Vec<u8> {
    let arguments =
        [&["roofline", "kws_ds_cnn", "--on", "stm32l4r5", "--out", path.to_str().unwrap()], more];
    let output = joulecast(&arguments.concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(path).unwrap()
}

#[test]
fn pictures_are_the_same_each_time_and_say_what_they_show() {
    let place = tempfile::tempdir().unwrap();
    for name in ["roof.png", "roof.svg"] {
        let path = place.path().join(name);
        for more in [&[][..], &["--energy"]] {
            assert_eq!(drawn(&path, more), drawn(&path, more), "{name}");
        }
    }
    let svg = String::from_utf8(drawn(&place.path().join("roof.svg"), &[])).unwrap();
    for part in [
        "kws_ds_cnn on stm32l4r5",
        "any-runtime",
        "flash 160.0 MB/s",
        "(recalled)",
        "indicative",
        "conv_2d_0",
        "ridge",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(&drawn(&place.path().join("roof.png"), &[])[..8], b"\x89PNG\r\n\x1a\n");
    let names: Vec<_> =
        std::fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn what_cannot_be_done_is_told_and_nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let below = file.join("roof.png");
    let (pdf, svg) = (place.path().join("roof.pdf"), place.path().join("roof.svg"));
    let [below, pdf, svg] = [&below, &pdf, &svg].map(|path| path.to_str().unwrap());
    for (more, said) in [
        (vec!["--level", "flsh", "--out", svg], "did you mean `flash`?"),
        (vec!["--level", "dram", "--out", svg], "bytes pass sram, flash, art_data"),
        (vec!["--out", pdf], ".png or .svg"),
        (vec!["--out", below], "cannot write"),
    ] {
        let output =
            joulecast(&[&["roofline", "kws_ds_cnn", "--on", "stm32l4r5"], &more[..]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {error}");
        assert!(error.contains(said), "{more:?}: {error}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}
