//! Accelerators and systems from two watts to seven hundred: what their makers and papers state, as behaviour of
//! the model.

use crate::chips::{at, changed, convolution, network as one_layer, parsed, product};
use crate::shipped::text_of;
use joulecast::estimate::{Bound, Estimate, estimate};
use joulecast::hardware::{Array, Precision, Profile};
use joulecast::mapping::{Network, Objective, plan};
use joulecast::model::{Bindings, ElementType, Transform, apply, load};

const LARGE: [&str; 6] =
    ["coral_edgetpu", "h100", "jetson_orin_agx", "jetson_xavier_nx", "rk3588", "tpu_v1"];

/// A shipped network in a format, in batches, fused.
fn in_format(model: &str, to: ElementType, batch: u64) -> Network {
    let graph = load(model, &Bindings::default()).unwrap();
    let format = Transform::Precision { to, weights_only: false, layers: None };
    let graph = apply(&graph, &[format, Transform::Batch(batch)]).unwrap();
    Network::executed(&graph, true).unwrap()
}

/// On the first engine that takes a layer, as runtimes do that hand an accelerator all it supports.
fn on(profile: &Profile, point: Option<&str>, network: &Network) -> Estimate {
    let mut network = network.clone();
    network.directions.objective = Objective::First;
    at(profile, point, |setting| estimate(&plan(&network, setting), setting))
}

/// Multiply-accumulates a second of an engine with everything full.
fn peak(hardware: &str, point: &str, engine: &str, format: Precision) -> f64 {
    let profile = Profile::load(hardware).unwrap();
    let spec = profile.spec();
    let unit = spec.engines.iter().find(|e| e.name == engine).unwrap();
    let domain = spec.domains.iter().find(|d| d.name == unit.domain).unwrap();
    let point = spec.operating_points.iter().find(|p| p.name == point).unwrap();
    let a_cycle = match &unit.array {
        Array::Systolic(array) => (array.rows * array.columns) as f64,
        Array::TensorTiles(tiles) => tiles.units as f64 * tiles.macs[&format].get().0,
        Array::Blocks(_) => panic!("{} makes blocks", unit.name),
        Array::FixedFunction(function) => {
            function.unrolled.values().map(|u| u.macs()).max().unwrap() as f64
        }
        Array::Lanes(lanes) => lanes.macs[&format].get().0,
    };
    a_cycle * point.clocks[&domain.clock].get().0
}

/// 92 TOPS; 1978.9 TOPS and 989.4 TFLOPS dense; 4 TOPS; 6 TOPS; 170 TOPS with two of four weights, 85 dense;
/// 105 in two DLA likewise; 22.6 TOPS in 8 SM at 1377 MHz.
#[test]
fn peaks_from_units_and_clocks_are_those_that_makers_state() {
    use Precision::{Float16, Int8};
    for (hardware, point, engine, format, stated, within) in [
        ("tpu_v1", "700mhz", "matrix_unit", Int8, 92e12, 0.01),
        ("h100", "boost_1830", "tensor_cores", Int8, 1978.9e12, 0.01),
        ("h100", "boost_1830", "tensor_cores", Float16, 989.4e12, 0.01),
        ("coral_edgetpu", "500mhz", "array", Int8, 4e12, 0.03),
        ("rk3588", "npu_three_cores", "npu_three", Int8, 6e12, 0.03),
        ("jetson_orin_agx", "maxn", "tensor_cores", Int8, 85e12, 0.01),
        ("jetson_orin_agx", "maxn_dla", "dla", Int8, 105e12 / 4.0, 0.01),
        (
            "jetson_xavier_nx",
            "15w_6core",
            "tensor_cores",
            Int8,
            22.6e12 * 6.0 / 8.0 * 1109.25 / 1377.0,
            0.01,
        ),
    ] {
        let found = 2.0 * peak(hardware, point, engine, format);
        assert!((found / stated - 1.0).abs() < within, "{hardware} {engine}: {found:e}");
    }
}

/// The paper's ridge stands at 1350 MAC for a byte of weights. Every weight is used once a sample, so it is also
/// the batch from which a layer is bound by the array.
#[test]
fn a_layer_of_tpu_v1_is_bound_by_weights_up_to_the_ridge_of_its_paper() {
    let profile = Profile::load("tpu_v1").unwrap();
    let weights = profile.spec().memories.iter().position(|m| m.name == "weight_memory").unwrap();
    let of = |batch: u64| on(&profile, None, &product(batch, 2048, 2048, ElementType::Int8));
    for (batch, bound) in [
        (1, Bound::Channel(weights)),
        (200, Bound::Channel(weights)),
        (1300, Bound::Channel(weights)),
        (1400, Bound::Compute),
        (4000, Bound::Compute),
    ] {
        assert_eq!(of(batch).layers[0].bound, bound, "{batch}");
    }
    // Below it a larger batch is nearly free, above it costs in proportion.
    assert!(of(1200).latency / of(300).latency < 1.05);
    assert!(of(8000).latency / of(2000).latency > 3.5);
}

/// MLP0, five layers of 2000 x 2000 by its table (20 M weights): 12.3 TOPS were counted at a batch of 200. An
/// upper bound without host and stalls lies above, and not by more than a quarter.
#[test]
fn multilayer_perceptrons_of_the_paper_reach_the_throughput_of_the_weight_memory() {
    let profile = Profile::load("tpu_v1").unwrap();
    for (width, batch, counted) in [(2000u64, 200u64, 12.3), (1118, 168, 9.7)] {
        let found = on(&profile, None, &product(batch, width, width, ElementType::Int8));
        let rate = 2e-12 * (batch * width * width) as f64 / found.latency.0;
        let ceiling = 2e-12 * 34e9 * batch as f64;
        assert!(rate < ceiling && rate > 0.8 * ceiling, "{width}: {rate} of {ceiling}");
        assert!(rate > counted && rate < 1.25 * counted, "{width}: {rate} against {counted}");
    }
}

/// CNN0 of the paper, layers of 3 x 3 on a plane of 19 x 19, batch 8: 86.0 of 92 TOPS were counted.
#[test]
fn convolutions_of_the_paper_are_bound_by_the_array() {
    let profile = Profile::load("tpu_v1").unwrap();
    let plane: &[u64] = &[8, 19, 19, 256];
    let inputs = [(plane, false), (&[256u64, 3, 3, 256][..], true)];
    let layer = one_layer(convolution(1, 1, false), &inputs, plane, ElementType::Int8);
    let found = on(&profile, None, &layer);
    let rate = 2e-12 * found.layers[0].macs as f64 / found.latency.0;
    assert_eq!(found.layers[0].bound, Bound::Compute);
    assert!(rate > 0.85 * 86.0 && rate < 92.0, "{rate}");
}

/// Poor proportionality: 28 W of 75 W are drawn with nothing to do, and a layer that waits for weights draws
/// little more.
#[test]
fn a_tpu_that_waits_for_weights_draws_most_of_what_a_busy_one_does() {
    let profile = Profile::load("tpu_v1").unwrap();
    let power =
        |batch| on(&profile, None, &product(batch, 2048, 2048, ElementType::Int8)).mean_power().0;
    let (waiting, busy) = (power(8), power(8000));
    assert!(waiting > 28.0 && waiting < busy && busy < 75.0, "{waiting} {busy}");
    assert!(waiting / busy > 0.5, "{waiting} {busy}");
}

/// Bytes over the link of Coral, and the time they take there.
fn streamed(profile: &Profile, network: &Network) -> (f64, f64) {
    let found = on(profile, None, network);
    let link = profile.link_channel(0);
    let traffic = found.layers.iter().flat_map(|layer| &layer.traffic);
    let over = traffic.filter(|level| level.channel == link);
    (over.map(|level| level.read.0 + level.write.0).sum(), found.latency.0)
}

#[test]
fn parameters_that_do_not_fit_stream_over_the_link_and_slow_the_edge_tpu_down() {
    let profile = Profile::load("coral_edgetpu").unwrap();
    let (small, large) = (
        in_format("mobilenet_v2", ElementType::Int8, 1),
        in_format("resnet50", ElementType::Int8, 1),
    );
    assert!(small.weight_bytes < 8 << 20 && large.weight_bytes > 8 << 20);
    assert_eq!(streamed(&profile, &small).0, 0.0);
    let (bytes, time) = streamed(&profile, &large);
    let weights = large.weight_bytes as f64;
    assert!(bytes < weights && bytes > weights - 8.0 * 1024.0 * 1024.0, "{bytes} of {weights}");
    assert!(time > bytes / 500e6, "faster than USB 3");
    let roomy =
        changed(text_of("coral_edgetpu"), &[("\"8 MiB ±0% @room\"", "\"32 MiB ±0% @room\"")]);
    let (none, fast) = streamed(&parsed(&roomy), &large);
    assert_eq!(none, 0.0);
    assert!(time > 5.0 * fast, "{time} {fast}");
}

/// Half the clock takes twice the cycles' time where nothing comes over the link, and less power.
#[test]
fn an_edge_tpu_at_half_its_clock_takes_twice_as_long() {
    let profile = Profile::load("coral_edgetpu").unwrap();
    let network = in_format("mobilenet_v2", ElementType::Int8, 1);
    let (fast, slow) =
        (on(&profile, Some("500mhz"), &network), on(&profile, Some("250mhz"), &network));
    assert!((slow.latency / fast.latency - 2.0).abs() < 1e-9);
    assert!(slow.mean_power() < fast.mean_power() && slow.energy > fast.energy);
}

#[test]
fn what_sleeps_at_a_point_of_the_rk3588_does_no_work() {
    let profile = Profile::load("rk3588").unwrap();
    let network = in_format("resnet50", ElementType::Int8, 1);
    let engine = |name: &str| profile.spec().engines.iter().position(|e| e.name == name).unwrap();
    for (point, name) in [
        ("npu_one_core", "npu"),
        ("npu_three_cores", "npu_three"),
        ("gpu", "gpu"),
        ("cpu", "cpu"),
        ("cpu_little", "cpu_little"),
    ] {
        let found = on(&profile, Some(point), &network);
        assert!(found.layers.iter().any(|layer| layer.engine == engine(name)), "{point}");
        let first = engine(name);
        assert!(found.layers.iter().all(|layer| layer.engine >= first), "{point}");
    }
}

/// Three cores are faster than one and not three times as fast: what is fetched stays the same.
#[test]
fn three_cores_that_share_a_memory_are_less_than_three_times_as_fast() {
    let profile = Profile::load("rk3588").unwrap();
    let network = in_format("resnet50", ElementType::Int8, 1);
    let time = |point| on(&profile, Some(point), &network).latency.0;
    let gain = time("npu_one_core") / time("npu_three_cores");
    assert!(gain > 1.3 && gain < 3.0, "{gain}");
}

/// Wall power between what waits and the largest that was measured on the kits with all engines at work: 70.7 W
/// (Orin), 20.7 W (Xavier NX).
#[test]
fn power_modes_trade_time_for_power_and_stay_between_waiting_and_all_at_work() {
    let network = in_format("resnet50", ElementType::Int8, 8);
    for (hardware, fast, slow, waiting, most) in [
        ("jetson_orin_agx", "maxn", "50w", 15.0, 70.7),
        ("jetson_orin_agx", "maxn", "maxq_offline", 15.0, 70.7),
        ("jetson_xavier_nx", "20w_6core", "10w_4core", 4.4, 20.7),
        ("jetson_xavier_nx", "15w_6core", "10w_desktop", 4.4, 20.7),
    ] {
        let profile = Profile::load(hardware).unwrap();
        let (fast, slow) = (on(&profile, Some(fast), &network), on(&profile, Some(slow), &network));
        assert!(fast.latency < slow.latency, "{hardware}");
        let (high, low) = (fast.mean_power().0, slow.mean_power().0);
        assert!(waiting < low && low < high && high < most, "{hardware}: {low} {high}");
    }
}

/// A token needs every weight once: 2.2 GB over 3.35 TB/s.
#[test]
fn decoding_on_h100_is_bound_by_its_memory() {
    let profile = Profile::load("h100").unwrap();
    let network = in_format("tinyllama_decode", ElementType::Float16, 1);
    let found = on(&profile, None, &network);
    let least = network.weight_bytes as f64 / 3.35e12;
    assert!(found.latency.0 > least && found.latency.0 < 5.0 * least, "{}", found.latency.0);
}

/// A batch shares launches and weights.
#[test]
fn batches_make_an_image_cheaper_on_gpus() {
    for hardware in ["h100", "jetson_orin_agx", "jetson_xavier_nx"] {
        let profile = Profile::load(hardware).unwrap();
        let each = |batch: u64| {
            let found = on(&profile, None, &in_format("resnet50", ElementType::Int8, batch));
            (found.latency.0 / batch as f64, found.energy.0 / batch as f64)
        };
        let (one, many) = (each(1), each(32));
        assert!(many.0 < 0.9 * one.0 && many.1 < 0.9 * one.1, "{hardware}: {one:?} {many:?}");
    }
}

#[test]
fn every_large_chip_runs_all_of_every_reference_network() {
    for hardware in LARGE {
        let profile = Profile::load(hardware).unwrap();
        for model in ["resnet50", "mobilenet_v2", "vit_tiny", "yolov8n", "tinyllama_decode"] {
            let network = in_format(model, ElementType::Int8, 1);
            at(&profile, None, |setting| {
                let plan = plan(&network, setting);
                let found = estimate(&plan, setting);
                assert!(plan.uncosted.is_empty(), "{model} on {hardware}: {:?}", plan.uncosted);
                assert!(found.latency.0 > 0.0 && found.energy.0 > 0.0, "{model} on {hardware}");
            });
        }
    }
}
