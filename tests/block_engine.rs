//! Datapaths that make results block by block, and what moves beside them.

use crate::chips::{at, convolution, layer, network, parsed, product};
use joulecast::cost::cost;
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, Plan, plan};
use joulecast::model::{ElementType, Layer, Op, Pool, PoolFunction, WeightStatistics};

const ARRAY: &str = r#"Blocks(
  precision: Int8, micro_blocks: [(rows: 1, columns: 2, channels: 8)],
  largest: (rows: 32, columns: 64, channels: 128), channel_step: 16, window: (8, 8),
  by_channels: (held_channels: 32, channels: 32, cycles: "4 cycle"),
  by_points: (held_channels: 16, channels: 8, points: 4, cycles: "4 cycle"),
  depthwise: (held_channels: 1, points: 4, cycles: "4 cycle"),
  pool: (held_channels: 1, least_points: 4, cycles: "4 cycle"),
  unpacking: "4 cycle", turnaround: "2 cycle",
  buffers: Shared(banks: 24, bank_bytes: 1024, kept: 4, input_step: 4, sums_step: 8),
  brick: 16, way_out: (cycles: "0.5 cycle/element", record: "10 B", records_in_flight: "256 B"))"#;

/// An engine with such a datapath, activations in one memory and weights in a slower one.
fn chip(engine: &str) -> Profile {
    parsed(&format!(
        r#"(schema: "joulecast.profile/1", name: "test", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz"}}, voltages: {{"rail": "1 V"}})],
  rails: [(name: "rail")],
  domains: [(name: "domain", rail: "rail", clock: "clock", nominal_voltage: "1 V")],
  memories: [
    (name: "near", domain: "domain", capacity: "1 MiB", holds: [Activations], bandwidth: PerCycle("8 B/cycle"),
     latency: Cycles("32 cycle"), burst: "32 B", read_energy: "1 pJ/B", write_energy: "1 pJ/B"),
    (name: "far", domain: "domain", capacity: "1 MiB", holds: [Weights], bandwidth: PerCycle("1 B/cycle"),
     latency: Cycles("64 cycle"), read_energy: "10 pJ/B", write_energy: "10 pJ/B"),
  ],
  engines: [(name: "unit", domain: "domain", array: {ARRAY},
    energy: (per_mac: {{Int8: "0.3 pJ"}}, per_operation: {{Int8: "0.1 pJ"}}),
    supports: [Conv, StemConv, PointwiseConv, DepthwiseConv, FullyConnected, Pool, Elementwise, View],
    memories: ["near", "far"], transfers: DoubleBuffered, {engine})])"#
    ))
}

/// A layer amid a network: what it works on lies in bricks.
fn within(mut layer: Layer) -> Layer {
    layer.work.operands[0].handed_in = false;
    layer.work.handed_out = false;
    layer
}

fn square(size: u64, inputs: u64, outputs: u64) -> Layer {
    let op = convolution(1, 1, false);
    within(layer(
        op,
        &[(&[1, size, size, inputs], false), (&[outputs, 3, 3, inputs], true)],
        &[1, size, size, outputs],
    ))
}

fn of_layers(layers: Vec<Layer>) -> Network {
    let one = product(1, 8, 8, ElementType::Int8);
    Network { layers, ..one }
}

fn read(plan: &Plan, step: usize, channel: usize) -> f64 {
    let traffic = plan.steps[step].traffic.iter();
    traffic.filter(|t| t.channel == channel).map(|t| t.read.0).sum()
}

#[test]
fn input_comes_again_for_blocks_of_channels_and_weights_for_blocks_of_positions() {
    at(&chip(""), None, |setting| {
        let found = cost(&square(16, 32, 32).work, 0, setting).unwrap();
        // Blocks of 8 x 8 x 16 with 10 x 10 of input: four along the positions, two along the channels.
        assert_eq!(found.passes.weight, 4.0);
        assert_eq!(found.passes.input, (10 * 10 * 32 * 8) as f64 / (16 * 16 * 32) as f64);
        assert_eq!(found.passes.output_padded, 1.0);
        // Eight blocks of 32 x 2 micro-blocks in nine steps; the first input and the last results alone.
        let block = 4.0 * 32.0 * 9.0 * 2.0;
        let (fill, drain) = (32.0 + 10.0 * 10.0 * 32.0 / 8.0, 32.0 + 8.0 * 8.0 * 16.0 / 8.0);
        assert_eq!(found.compute.0, 8.0 * block + 512.0 + fill + drain);
        assert_eq!(found.peak.0, 128.0);
    });
}

#[test]
fn an_image_of_few_channels_is_read_in_short_bursts_and_few_channels_are_stored_as_a_brick() {
    at(&chip(""), None, |setting| {
        let found = cost(&square(32, 3, 8).work, 0, setting).unwrap();
        assert_eq!(found.passes.output_padded, 2.0);
        // Eight bytes lie together, and take as long as 32.
        let plain = found.passes.input;
        assert!(plain >= 4.0, "{plain}");
        let mapped = cost(&square(32, 16, 8).work, 0, setting).unwrap();
        assert!(mapped.passes.input < 2.0, "{}", mapped.passes.input);
    });
}

#[test]
fn what_a_network_is_handed_and_hands_out_lies_as_it_is() {
    at(&chip(""), None, |setting| {
        let inner = cost(&square(32, 24, 24).work, 0, setting).unwrap().passes;
        let mut edge = square(32, 24, 24);
        edge.work.operands[0].handed_in = true;
        edge.work.handed_out = true;
        let outer = cost(&edge.work, 0, setting).unwrap().passes;
        // Bricks of 16 make 32 of 24 channels. As they are, 16 of a point come and go at once: half a burst.
        assert_eq!((inner.output_padded, outer.output_padded), (32.0 / 24.0, 2.0));
        let read = outer.input / inner.input;
        assert!((read - 2.0 * 24.0 / 32.0).abs() < 1e-9, "{read}");
    });
}

#[test]
fn a_pool_of_the_plane_goes_in_parts_of_the_window() {
    let pool = Op::Pool(Pool {
        function: PoolFunction::Average,
        kernel: vec![25, 5],
        strides: vec![1, 1],
        padding: joulecast::model::Padding::Valid,
        dilations: Vec::new(),
    });
    let layer = within(layer(pool, &[(&[1, 25, 5, 64], false)], &[1, 1, 1, 64]));
    at(&chip(""), None, |setting| {
        let found = cost(&layer.work, 0, setting).unwrap();
        // 8 x 6 of the input at once, four times; 125 points of four cycles on eight micro-blocks.
        let (fill, drain) = (32.0 + 8.0 * 5.0 * 64.0 / 8.0, 32.0 + 64.0 / 8.0);
        assert_eq!(found.compute.0, 125.0 * 4.0 * 8.0 + 32.0 + fill + drain);
    });
}

#[test]
fn weights_come_ahead_while_the_operator_before_leaves_their_memory_idle() {
    let layers = || of_layers(vec![square(16, 32, 32), square(16, 32, 32)]);
    let ahead = r#"ahead: (into: "near", kinds: [Conv]), in_flight: (),"#;
    let with = at(&chip(ahead), None, |setting| plan(&layers(), setting));
    let without = at(&chip(""), None, |setting| plan(&layers(), setting));
    let weights = 9.0 * 32.0 * 32.0;
    // Read in place they come once for each block of positions, with the records.
    assert_eq!(read(&without, 0, 1), 4.0 * weights);
    // Ahead they come once, all those of the second while the first runs.
    assert_eq!((read(&with, 0, 1), read(&with, 1, 1)), (2.0 * weights, 0.0));
    let near = |plan: &Plan| read(plan, 0, 0) + read(plan, 1, 0);
    assert_eq!(near(&with) - near(&without), 2.0 * 4.0 * weights);
}

/// A layer whose filters have such a share of groups of four with two zeros.
fn with_two_of_four(mut layer: Layer, share: f64) -> Layer {
    layer.work.operands[1].statistics = Some(WeightStatistics {
        zeros: 0.5,
        entropy_bits: 4.0,
        one_of_four: Some(0.0),
        two_of_four: Some(share),
        four_of_eight: None,
        zero_filters: 0,
    });
    layer
}

#[test]
fn weights_with_two_zeros_in_each_four_take_half_the_steps_where_the_compiler_looks_for_them() {
    let skips = |found| {
        format!(r#"skips: [(zeros: Structured(keep: 2, of: 4), gain: "100 %", found: {found})],"#)
    };
    let of = |engine: &str, layer: &Layer| {
        at(&chip(engine), None, |setting| {
            let found = cost(&layer.work, 0, setting).unwrap();
            (found.compute.0, found.macs)
        })
    };
    let macs = 16 * 16 * 9 * 32 * 32;
    let (dense, sparse) = (square(16, 32, 32), with_two_of_four(square(16, 32, 32), 1.0));
    let (all, every) = of("", &sparse);
    assert_eq!(every, macs);
    assert_eq!(of(&skips(true), &dense), (all, macs), "nothing is known of them");
    assert_eq!(of(&skips(false), &sparse), (all, macs), "nobody looked");
    // Eight blocks of 32 x 2 micro-blocks in nine steps of four cycles; the ends stay as they are.
    assert_eq!(of(&skips(true), &sparse), (all - 8.0 * 4.0 * 32.0 * 9.0 * 2.0 / 2.0, macs / 2));
    assert_eq!(of(&skips(true), &with_two_of_four(square(16, 32, 32), 0.999)), (all, macs));
    // Groups of one channel are zero but for it: shorter steps, and every product is made.
    let (one, image) = (square(32, 1, 16), of("", &square(32, 1, 16)));
    let (cycles, made) = of(&skips(true), &one);
    assert!(cycles < 0.7 * image.0 && made == image.1, "{cycles} {image:?}");
    let three = square(32, 3, 16);
    assert_eq!(of(&skips(true), &three), of("", &three));
}

#[test]
fn a_compiler_finds_structures_that_are_counted() {
    let text = |zeros: &str| {
        let skips = format!(r#"skips: [(zeros: {zeros}, gain: "100 %", found: true)],"#);
        Profile::parse("test.ron", &crate::chips::chip_text(ARRAY, &skips, ""))
    };
    assert!(text("Structured(keep: 4, of: 8)").is_ok());
    for zeros in ["Anywhere", "Structured(keep: 1, of: 2)"] {
        let said = text(zeros).unwrap_err().to_string();
        assert!(said.contains("2 of 4") && said.contains("found"), "{said}");
    }
}

#[test]
fn what_is_read_once_stays_at_home_where_moving_it_takes_longer_than_the_operator() {
    let one = |size: u64, kernel: u64, channels: u64| {
        let op = convolution(1, 1, false);
        let filter = [channels, kernel, kernel, channels];
        let plane = [1, size, size, channels];
        within(layer(op, &[(&plane, false), (&filter, true)], &plane))
    };
    let ahead = r#"ahead: (into: "near", kinds: [Conv, PointwiseConv]), in_flight: (),"#;
    let written = |layer: &Layer| {
        let found =
            at(&chip(ahead), None, |setting| plan(&of_layers(vec![layer.clone()]), setting));
        let near = found.steps[0].traffic.iter().find(|t| t.channel == 0).unwrap();
        near.write.0 - layer.work.output_bytes as f64
    };
    // One block of 4 x 4 positions: 4096 weights come in 4160 cycles, and 16 slices of channels are summed up in
    // fewer.
    let short = one(4, 1, 64);
    assert_eq!(written(&short), 0.0);
    // Over 16 x 16 positions they are read again and again.
    let long = one(16, 3, 64);
    assert_eq!(written(&long), 9.0 * 64.0 * 64.0);
    let stays = |layer: &Layer| {
        at(&chip(ahead), None, |setting| cost(&layer.work, 0, setting).unwrap().passes.weights_stay)
    };
    assert_eq!([stays(&short), stays(&long)], [true, false]);
}

#[test]
fn weights_that_find_no_idle_time_come_beside_their_own_operator() {
    let products = || {
        let one = |k: u64, n: u64| {
            let parts = [(&[1, k][..], false), (&[n, k][..], true)];
            network(Op::FullyConnected, &parts, &[1, n], ElementType::Int8).layers.remove(0)
        };
        of_layers(vec![one(512, 256), one(256, 256)])
    };
    let ahead = r#"ahead: (into: "near", kinds: [FullyConnected]), in_flight: (),"#;
    let found = at(&chip(ahead), None, |setting| plan(&products(), setting));
    // The first reads its weights all the time: nothing of the second comes meanwhile.
    assert_eq!((read(&found, 0, 1), read(&found, 1, 1)), (512.0 * 256.0, 256.0 * 256.0));
}

#[test]
fn a_stream_gets_no_more_than_its_bytes_in_flight_in_each_latency() {
    let wide = |bytes: &str| {
        let engine = format!(r#"in_flight: (weights: "{bytes}"),"#);
        let network = product(1, 256, 512, ElementType::Int8);
        at(&chip(&engine), None, |setting| {
            let found = plan(&network, setting);
            let far = found.steps[0].traffic.iter().find(|t| t.channel == 1).unwrap();
            (far.bytes().0, far.requests * 64.0 + far.bytes().0)
        })
    };
    let (bytes, cycles) = wide("16 B");
    assert!((cycles - bytes * 64.0 / 16.0).abs() < 1e-6, "{cycles}");
    let (bytes, cycles) = wide("4 KiB");
    assert_eq!(cycles, bytes + 64.0);
}

#[test]
fn a_datapath_by_blocks_says_what_is_wrong_with_it() {
    let broken = crate::chips::chip_text(
        &ARRAY
            .replace("micro_blocks: [(rows: 1, columns: 2, channels: 8)]", "micro_blocks: []")
            .replace("kept: 4", "kept: 24")
            .replace("held_channels: 32, channels: 32", "held_channels: 32, channels: 64"),
        r#"ahead: (into: "elsewhere", kinds: [Conv])"#,
        "",
    );
    let error = Profile::parse("test.ron", &broken).unwrap_err().to_string();
    for part in ["micro_blocks", "kept", "by_channels.channels", "no memory is called `elsewhere`"]
    {
        assert!(error.contains(part), "{part}: {error}");
    }
}
