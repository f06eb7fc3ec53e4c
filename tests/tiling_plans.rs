//! Claims on tilings as plans use them, and on weights that travel compressed.

use crate::chips::{convolution, network, product};
use crate::mapping_laws::{Chip, double_buffered, image, layers, staged};
use crate::tiling_laws;
use joulecast::cost::{Results, Staging, search};
use joulecast::mapping::{Network, Plan};
use joulecast::model::{
    ElementType, Layout, ModelGraph, Op, Operator, Shape, Tensor, TensorRole, WeightStatistics,
};

/// Bytes that leave and reach the home.
fn moved(plan: &Plan) -> (f64, f64) {
    let home = plan.steps[0].traffic.iter().find(|t| t.channel == 1).unwrap();
    (home.read.0, home.write.0)
}

const SERIAL: &str = "transfers: Serial";

/// What the fastest of nearly equal tilings may move more than the best.
const NEAR: f64 = 1.1;

#[test]
fn a_plan_moves_what_the_search_found() {
    for (m, n, k) in [(64, 96, 200), (197, 64, 64), (1, 640, 128)] {
        for bytes in [64, 500, 4096, 20_000, 1 << 20] {
            for (engine, copies) in [(SERIAL, 1.0), ("transfers: DoubleBuffered", 2.0)] {
                let memories = staged(f64::from(bytes) / 1024.0, "m", "20 MB/s", "0 s");
                let chip = Chip { engine, ..double_buffered(&memories) };
                let (plan, _) = chip.run(&product(m, n, k, ElementType::Int8));
                let (read, written) = moved(&plan);
                // Sums that leave unfinished take four bytes.
                let alone = tiling_laws::product(m, n, k, bytes.into(), copies);
                let results = Results { sums: 4.0 * (m * n) as f64, ..alone.results };
                let found = search(&Staging { results, ..alone });
                let least = found.best().traffic;
                let range = least * (1.0 - 1e-12)..=least * NEAR;
                assert!(range.contains(&(read + written)), "{read} + {written}, {least}");
            }
        }
    }
}

#[test]
fn a_larger_buffer_never_moves_more() {
    for network in layers() {
        for engine in [SERIAL, "transfers: DoubleBuffered"] {
            let mut last = f64::INFINITY;
            for step in 0..=40 {
                let memories = staged(0.125 * 1.3f64.powi(step), "m", "20 MB/s", "0 s");
                let chip = Chip { engine, ..double_buffered(&memories) };
                let (read, written) = moved(&chip.run(&network).0);
                assert!(read + written <= last * NEAR, "{step}: {read} + {written}, {last}");
                last = last.min(read + written);
            }
        }
    }
}

/// Three operands that each fit half of a buffer do not fit it together.
#[test]
fn operands_that_share_a_buffer_share_its_room() {
    let network = product(128, 128, 128, ElementType::Int8);
    let once = 3.0 * 128.0 * 128.0;
    let total = |kibibytes| {
        let memories = staged(kibibytes, "m", "20 MB/s", "0 s");
        let (read, written) = moved(&double_buffered(&memories).run(&network).0);
        read + written
    };
    // Sums of 4 B for 128 x 128 results, or whole factors twice and results of 1 B.
    assert_eq!(total(80.0), once);
    assert!(total(32.0) > once && total(32.0) < 1.5 * once, "{}", total(32.0));
}

#[test]
fn rows_that_tiles_share_come_with_both() {
    // One channel in, many out: 64 rows of 64.
    let (input, filters, output): (&[u64], &[u64], &[u64]) =
        (&[1, 64, 64, 16], &[16, 3, 3, 16], &[1, 64, 64, 16]);
    let network = network(
        convolution(1, 1, false),
        &[(input, false), (filters, true)],
        output,
        ElementType::Int8,
    );
    let (image, weights) = (65_536.0, 2304.0);
    let read = |kibibytes| {
        let memories = staged(kibibytes, "m", "20 MB/s", "0 s");
        let chip = Chip { engine: SERIAL, ..double_buffered(&memories) };
        moved(&chip.run(&network).0).0 - weights
    };
    assert_eq!(read(1024.0), image);
    // The image fits no more: with sums inside a tile it comes in parts that share two rows each.
    let (some, more) = (read(60.0) / image, read(16.0) / image);
    assert!(some > 1.0 && some < 1.1, "{some}");
    assert!(more > some && more < 2.0, "{more}");
}

/// Nothing fits four bytes: it is costed as single elements, and said so.
#[test]
fn what_fits_no_buffer_is_said() {
    let memories = staged(4.0 / 1024.0, "m", "20 MB/s", "1 us");
    let (plan, found) = double_buffered(&memories).run(&image());
    let said = plan.notes.iter().find(|note| note.contains("not even single elements of one"));
    assert!(said.is_some_and(|note| note.contains("unit")), "{:?}", plan.notes);
    assert!(found.latency.0.is_finite() && found.energy.0.is_finite());
    let memories = staged(1.0, "m", "20 MB/s", "1 us");
    let (plan, _) = double_buffered(&memories).run(&image());
    assert!(plan.notes.is_empty(), "{:?}", plan.notes);
}

/// A product of a row with 256 x 64 stored weights of which so much is known.
fn stored(encoded_bytes: Option<u64>, entropy_bits: Option<f64>, element: ElementType) -> Network {
    let mut graph = ModelGraph::new("one", Layout::ChannelsLast);
    let data = graph.add("in", &[1, 256], element, TensorRole::Input).unwrap();
    let shape = Some(Shape(vec![64, 256]));
    let statistics = entropy_bits.map(|entropy_bits| WeightStatistics {
        zeros: 0.0,
        entropy_bits,
        one_of_four: None,
        two_of_four: None,
        four_of_eight: None,
        zero_filters: 0,
    });
    let weights = Tensor {
        encoded_bytes,
        statistics,
        ..Tensor::new("weights", shape, element, TensorRole::Constant)
    };
    let weights = graph.add_tensor(weights).unwrap();
    let made = graph.add("out", &[1, 64], element, TensorRole::Activation).unwrap();
    let operator = Operator::new("one", "Test", Op::FullyConnected);
    graph.add_operator(operator, &[Some(data), Some(weights)], &[made]).unwrap();
    graph.set_outputs(vec![made]);
    Network::of(&graph).unwrap()
}

#[test]
fn weights_travel_as_small_as_is_known() {
    let memories = staged(1024.0, "m", "20 MB/s", "0 s");
    let run = |engine: &str, network: &Network| {
        let chip = Chip { engine, ..double_buffered(&memories) };
        let (plan, _) = chip.run(network);
        let said = plan.notes.iter().find(|note| note.contains("expands weights")).cloned();
        (moved(&plan).0 - 256.0, said)
    };
    let expands = r#"transfers: DoubleBuffered, decompresses: ()"#;
    let above = r#"transfers: DoubleBuffered, decompresses: (over_entropy: "1.25 x @a")"#;
    let int8 = ElementType::Int8;
    let (whole, entropy) = (16384.0, 16384.0 / 8.0 * 3.0);
    for (engine, stated, bits, expected, rule) in [
        ("transfers: DoubleBuffered", Some(9000), Some(3.0), whole, None),
        (expands, Some(9000), Some(3.0), 9000.0, Some("1 as a compiler encoded them")),
        // A compiler that made them larger is believed.
        (expands, Some(17000), Some(3.0), 17000.0, Some("1 as a compiler encoded them")),
        (expands, None, Some(3.0), entropy, Some("1 by the entropy of their values")),
        (above, None, Some(3.0), 1.25 * entropy, Some("1 by the entropy of their values")),
        (above, None, Some(7.5), whole, Some("1 by the entropy of their values")),
        (expands, None, None, whole, Some("1 uncompressed, since nothing is known")),
    ] {
        let (bytes, said) = run(engine, &stored(stated, bits, int8));
        assert!((bytes / expected - 1.0).abs() < 1e-9, "{bytes} {expected}");
        match rule {
            Some(rule) => {
                assert!(said.as_ref().is_some_and(|said| said.contains(rule)), "{said:?}")
            }
            None => assert_eq!(said, None),
        }
    }
    // Floats run as integers are other values.
    let converted = r#"transfers: DoubleBuffered, decompresses: (), runs_as: {Float32: Int8}"#;
    assert_eq!(run(converted, &stored(None, Some(3.0), ElementType::Float32)).0, whole);
}

#[test]
fn no_code_is_smaller_than_the_entropy() {
    let memories = staged(1024.0, "m", "20 MB/s", "0 s");
    let engine = r#"transfers: Serial, decompresses: (over_entropy: "0.9 x @m")"#;
    let said = Chip { engine, ..double_buffered(&memories) }.fault();
    assert!(said.contains("smaller than their entropy"), "{said}");
    assert!(said.contains("engines[0].decompresses.over_entropy"), "{said}");
}
