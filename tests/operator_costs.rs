//! Every kind of operator on every kind of engine: a cost that is one, or a refusal that placement can
//! act on. And what holds for every datapath, whatever the shapes.

use crate::chips::{self, DATAPATHS, at, chip, chip_text, convolution, parsed, product};
use joulecast::cost::{Cost, Refusal, cost, systolic_cycles};
use joulecast::evidence::Kind;
use joulecast::hardware::{Dataflow, Profile};
use joulecast::mapping::{Directions, Homes, Network, Objective, plan};
use joulecast::model::{ElementType, Gemm, Live, Op, OpKind, Sparsity, Work};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const ALL_KINDS: [OpKind; 16] = [
    OpKind::Conv,
    OpKind::StemConv,
    OpKind::PointwiseConv,
    OpKind::DepthwiseConv,
    OpKind::TransposedConv,
    OpKind::FullyConnected,
    OpKind::MatMul,
    OpKind::Pool,
    OpKind::Elementwise,
    OpKind::Softmax,
    OpKind::Normalisation,
    OpKind::Reduce,
    OpKind::View,
    OpKind::Movement,
    OpKind::Convert,
    OpKind::Opaque,
];

static CHIPS: LazyLock<Vec<(&str, Profile)>> = LazyLock::new(|| {
    DATAPATHS.iter().map(|(name, array, more)| (*name, chip(array, more))).collect()
});

fn costed(work: &Work, profile: &Profile) -> Result<Cost, Refusal> {
    at(profile, None, |setting| cost(work, 0, setting))
}

/// A cost that is real: none of the work is free, and no engine beats its peak.
fn real(what: &str, work: &Work, cost: &Cost) {
    let cycles = cost.compute.0;
    assert!(cycles.is_finite() && cycles >= 0.0, "{what}: {cycles} cycles");
    assert!(cost.energy.0.is_finite() && cost.energy.0 >= 0.0, "{what}: {}", cost.energy);
    assert!(cost.macs <= work.macs, "{what}");
    if work.macs > 0 {
        assert!(cycles > 0.0 && cost.energy.0 > 0.0, "{what}: work for nothing");
        assert!(cost.array_macs >= cost.macs, "{what}: {} < {}", cost.array_macs, cost.macs);
        let share = cost.occupancy();
        assert!(share > 0.0 && share <= 1.0 + 1e-12, "{what}: utilisation {share}");
    } else if work.element_ops > 0 {
        assert!(cycles > 0.0 && cost.energy.0 > 0.0, "{what}: work for nothing");
    }
}

fn names_both(what: &str, kind: OpKind, refusal: &Refusal) {
    let said = refusal.to_string();
    assert!(said.contains("unit") && said.contains(&kind.to_string()), "{what}: {said}");
}

#[test]
fn every_kind_on_every_datapath_has_a_cost_or_a_refusal() {
    let layers = chips::of_every_kind();
    let seen: BTreeSet<_> = layers.iter().map(|(_, layer)| layer.work.kind).collect();
    assert_eq!(seen, BTreeSet::from(ALL_KINDS), "every kind occurs");
    let mut answers = (0, 0);
    for (datapath, profile) in CHIPS.iter() {
        for (name, layer) in &layers {
            let what = format!("{name} on {datapath}");
            match costed(&layer.work, profile) {
                Ok(cost) => {
                    real(&what, &layer.work, &cost);
                    answers.0 += 1;
                }
                Err(refusal) => {
                    names_both(&what, layer.work.kind, &refusal);
                    answers.1 += 1;
                }
            }
            let opaque = layer.work.kind == OpKind::Opaque;
            assert!(!opaque || costed(&layer.work, profile).is_err(), "{what}");
        }
    }
    assert!(answers.0 > 100 && answers.1 > 20, "{answers:?}");
}

#[test]
fn every_kind_of_shipped_networks_has_a_cost_or_a_refusal() {
    let names = ["kws_ds_cnn", "ic_resnet8", "ad_autoencoder", "vww_mobilenetv1_025", "sww"];
    for name in names {
        let graph = joulecast::model::load(name, &Default::default()).unwrap();
        for layer in Network::of(&graph).unwrap().layers {
            for (datapath, profile) in CHIPS.iter() {
                let what = format!("{} of {name} on {datapath}", layer.name);
                match costed(&layer.work, profile) {
                    Ok(cost) => real(&what, &layer.work, &cost),
                    Err(refusal) => names_both(&what, layer.work.kind, &refusal),
                }
            }
        }
    }
}

/// A number format that no engine here computes in, an engine without the kind, one without energy.
#[test]
fn each_reason_for_a_refusal_names_engine_and_kind() {
    let float = product(4, 5, 6, ElementType::Float32).layers.remove(0).work;
    for (datapath, profile) in CHIPS.iter() {
        let refusal = costed(&float, profile).unwrap_err();
        assert!(matches!(refusal, Refusal::NoPrecision { .. }), "{datapath}: {refusal}");
        names_both(datapath, OpKind::FullyConnected, &refusal);
    }
    let own = product(4, 5, 6, ElementType::Int8).layers.remove(0).work;
    for (datapath, array, more) in DATAPATHS {
        let text = chip_text(array, "", more);
        let unable = parsed(&text.replace("FullyConnected, MatMul, Pool", "Pool"));
        let refusal = costed(&own, &unable).unwrap_err();
        assert!(matches!(refusal, Refusal::Unsupported { .. }), "{datapath}: {refusal}");
        names_both(datapath, OpKind::FullyConnected, &refusal);
        let unpaid = parsed(&text.replace("per_mac: {Int8: \"0.3 pJ\", ", "per_mac: {"));
        let refusal = costed(&own, &unpaid).unwrap_err();
        assert!(matches!(refusal, Refusal::NoEnergy { .. }), "{datapath}: {refusal}");
        names_both(datapath, OpKind::FullyConnected, &refusal);
    }
    let image = [1, 9, 7, 4];
    let windowed = |side: u64, stride| {
        let (made, weights) =
            ([1, 9u64.div_ceil(stride), 7u64.div_ceil(stride), 4], [4, side, side, 4]);
        let inputs: [chips::Part<'_>; 2] = [(&image, false), (&weights, true)];
        chips::layer(convolution(stride, 1, false), &inputs, &made).work
    };
    let limited = parsed(&chip_text(
        DATAPATHS[0].1,
        "windows: (sizes: [(3, 3), (5, 5)], largest: (4, 4), largest_stride: 1)",
        "",
    ));
    assert!(costed(&windowed(3, 1), &limited).is_ok() && costed(&own, &limited).is_ok());
    for work in [windowed(2, 1), windowed(5, 1), windowed(3, 2)] {
        let refusal = costed(&work, &limited).unwrap_err();
        assert!(matches!(refusal, Refusal::NoWindow { .. }), "{refusal}");
        names_both("windows", OpKind::Conv, &refusal);
    }
    let unrated = chips::SOFTWARE.replace("FullyConnected: \"0.6 cycle/MAC\", ", "");
    let refusal = costed(&own, &chip(DATAPATHS[0].1, &unrated)).unwrap_err();
    assert!(matches!(refusal, Refusal::NoRate { .. }), "{refusal}");
    names_both("software", OpKind::FullyConnected, &refusal);
}

/// What one engine refuses, the next is asked for; what all refuse is listed with every reason.
#[test]
fn placement_acts_on_refusals() {
    let profile = chips::full_with(&[]);
    for (name, layer) in chips::of_every_kind() {
        let kind = layer.work.kind;
        let network = Network {
            name: name.to_owned(),
            layers: vec![layer],
            weight_bytes: 0,
            peak_activation_bytes: 0,
            transforms: Vec::new(),
            fused: None,
            quality: None,
            directions: Directions { objective: Objective::First, ..Directions::default() },
            alike: Vec::new(),
            homes: Homes::default(),
            parts: Vec::new(),
        };
        let plan = at(&profile, None, |setting| plan(&network, setting));
        if kind == OpKind::Opaque {
            assert!(plan.steps.is_empty());
            assert_eq!(plan.uncosted[0].reasons.len(), profile.spec().engines.len());
            continue;
        }
        let engine = &profile.spec().engines[plan.steps[0].engine].name;
        let expected = match kind {
            OpKind::Conv | OpKind::DepthwiseConv => "hardwired",
            OpKind::StemConv | OpKind::PointwiseConv | OpKind::TransposedConv => "npu",
            OpKind::Elementwise | OpKind::View => "npu",
            OpKind::MatMul | OpKind::FullyConnected => "tensor",
            _ => "cpu",
        };
        assert_eq!(engine, expected, "{name}");
    }
}

/// A step that takes half a cycle makes twice as many multiply-accumulates a cycle.
#[test]
fn cycles_of_a_step_are_part_of_the_peak() {
    let array = |cycles: &str| {
        format!(
            "FixedFunction(precision: Int8, unrolled: {{FullyConnected: (output_channels: 8, {cycles})}})"
        )
    };
    let full = product(4, 8, 6, ElementType::Int8).layers.remove(0).work;
    for (cycles, peak) in [("", 8.0), ("cycles: \"0.5 cycle\"", 16.0), ("cycles: \"2 cycle\"", 4.0)]
    {
        let cost = costed(&full, &chip(&array(cycles), "")).unwrap();
        assert_eq!(cost.peak.0, peak);
        assert_eq!(cost.occupancy(), 1.0);
    }
}

/// Rates in other formats: half the rate takes twice the cycles.
#[test]
fn cycles_go_with_the_rate_of_the_format() {
    for array in [
        "Systolic(rows: 8, columns: 12, dataflow: OutputStationary, precision: Int8, rates: {Int16: \"0.5 x\"})",
        "TensorTiles(units: 2, m: 8, n: 8, k: 8, macs: {Int8: \"64 MAC/cycle\", Int16: \"32 MAC/cycle\"})",
        "FixedFunction(precision: Int8, rates: {Int16: \"0.5 x\"}, unrolled: {FullyConnected: (output_channels: 8)})",
        "Lanes(macs: {Int8: \"8 MAC/cycle\", Int16: \"4 MAC/cycle\"}, vector: (along: Depth, elements: {Int8: 16, Int16: 16}))",
    ] {
        let profile = chip(array, "");
        let of = |element| {
            costed(&product(33, 17, 50, element).layers.remove(0).work, &profile).unwrap()
        };
        let (narrow, wide) = (of(ElementType::Int8), of(ElementType::Int16));
        assert!((wide.compute.0 / narrow.compute.0 - 2.0).abs() < 1e-12, "{array}");
        assert!((narrow.occupancy() / wide.occupancy() - 1.0).abs() < 1e-12, "{array}");
    }
}

#[test]
fn relative_cycles_hold_for_their_format_alone() {
    let lanes = "Lanes(macs: {Int8: \"8 MAC/cycle\", Int16: \"8 MAC/cycle\"})";
    let factor = chips::SOFTWARE
        .replace("name: \"kernels\"", "name: \"kernels\", relative_cycles: {Int16: \"1.4 x\"}");
    let (plain, with) = (chip(lanes, chips::SOFTWARE), chip(lanes, &factor));
    let cycles = |element, profile: &Profile| {
        costed(&product(9, 8, 7, element).layers.remove(0).work, profile).unwrap().compute.0
    };
    assert_eq!(cycles(ElementType::Int8, &plain), cycles(ElementType::Int8, &with));
    let ratio = cycles(ElementType::Int16, &with) / cycles(ElementType::Int16, &plain);
    assert!((ratio - 1.4).abs() < 1e-12, "{ratio}");
}

#[test]
fn an_efficiency_slows_its_kind_alone() {
    for (datapath, array, more) in DATAPATHS {
        let slowed = parsed(&chip_text(array, "efficiency: {FullyConnected: \"50 %\"}", more));
        let plain = chip(array, more);
        for (name, layer) in chips::of_every_kind() {
            let Ok(before) = costed(&layer.work, &plain) else { continue };
            let after = costed(&layer.work, &slowed).unwrap();
            let factor = if layer.work.kind == OpKind::FullyConnected { 2.0 } else { 1.0 };
            assert_eq!(after.compute.0, before.compute.0 * factor, "{name} on {datapath}");
            assert_eq!(after.energy, before.energy, "{name} on {datapath}");
        }
    }
}

/// Dead channels are neither computed nor paid for, and no datapath runs ahead of its peak on the rest.
#[test]
fn a_runtime_without_dead_channels_does_the_live_work_everywhere() {
    let layers = chips::of_every_kind().into_iter().filter(|(_, l)| l.work.gemm.is_some());
    for (name, layer) in layers {
        let gemm = layer.work.gemm.unwrap();
        let channels = gemm.groups * gemm.n;
        for alive in [1, channels / 3 + 1, channels] {
            let mut work = layer.work.clone();
            let of = channels * gemm.k;
            let live = Live { channels: alive, products: alive * gemm.k, of };
            work.live = Some(live);
            work.live_macs = work.macs * live.products / of;
            for (datapath, array, _) in DATAPATHS {
                let what = format!("{alive} live channels of {name} on {datapath}");
                let removes = "software: [(name: \"lean\", runs_on: [\"unit\"], removes_dead_channels: true)],";
                let lean = match DATAPATHS.iter().find(|d| d.0 == datapath).unwrap().2 {
                    "" if !array.starts_with("Lanes") => chip(array, removes),
                    _ => chip(
                        array,
                        &chips::SOFTWARE.replace(
                            "name: \"kernels\"",
                            "name: \"lean\", removes_dead_channels: true",
                        ),
                    ),
                };
                let Ok(cost) = costed(&work, &lean) else { continue };
                real(&what, &work, &cost);
                assert_eq!(cost.macs, work.live_macs, "{what}");
                let all = Work { live: None, live_macs: work.macs, ..work.clone() };
                let whole = costed(&all, &lean).unwrap();
                assert!(cost.compute.0 <= whole.compute.0 * (1.0 + 1e-12), "{what}");
                assert!(cost.energy.0 <= whole.energy.0 * (1.0 + 1e-12), "{what}");
            }
        }
    }
}

/// A depthwise window keeps its points apart from channels, however many of them live.
#[test]
fn live_channels_of_a_depthwise_convolution_unroll_like_channels() {
    let array = "FixedFunction(precision: Int8, unrolled: {DepthwiseConv: (output_channels: 4, input_channels: 8)})";
    let lean = "software: [(name: \"lean\", runs_on: [\"unit\"], removes_dead_channels: true)],";
    let of = |channels: u64| {
        let (plane, filter) = ([1, 9, 7, channels], [1, 3, 3, channels]);
        chips::layer(convolution(1, channels, false), &[(&plane, false), (&filter, true)], &plane)
            .work
    };
    let mut half = of(16);
    half.live = Some(Live { channels: 8, products: 8, of: 16 });
    half.live_macs = half.macs / 2;
    let profile = chip(array, lean);
    let (half, small) = (costed(&half, &profile).unwrap(), costed(&of(8), &profile).unwrap());
    assert_eq!(half.compute, small.compute);
    assert_eq!(half.compute.0, (2 * 9 * 9 * 7) as f64);
}

fn dense_and_sparse(m: u64, n: u64, k: u64, zeros: Sparsity) -> (Work, Work) {
    let (rows, filter) = ([m, k], [n, k]);
    let of = |zeros| {
        let inputs: [chips::Part<'_>; 2] = [(&rows, false), (&filter, true)];
        let op = Op::FullyConnected;
        chips::sparse_network(op, &inputs, &[m, n], ElementType::Int8, zeros).layers.remove(0).work
    };
    (of(None), of(Some(zeros)))
}

/// Half of the filters are zeros and 60 % of the channels are dead: a quarter of the live work is left.
#[test]
fn zeros_and_dead_channels_are_not_counted_twice() {
    let (_, mut work) = dense_and_sparse(4, 10, 64, Sparsity::Unstructured { zeros: 0.5 });
    work.live = Some(Live { channels: 4, products: 4 * 64, of: 10 * 64 });
    work.live_macs = 4 * 4 * 64;
    let skips = "skips: [(zeros: Anywhere, gain: \"100 %\")]";
    let lean =
        chips::SOFTWARE.replace("name: \"kernels\"", "name: \"lean\", removes_dead_channels: true");
    let profile = parsed(&chip_text(DATAPATHS[0].1, skips, &lean));
    let cost = costed(&work, &profile).unwrap();
    assert_eq!(cost.macs, 4 * 4 * 64 / 2);
    assert!(cost.compute.0 > 0.0);
}

static SKIPPING: LazyLock<Vec<(&str, Profile, Profile)>> = LazyLock::new(|| {
    let chip_of = |(name, array, more): &(&'static str, &'static str, &'static str)| {
        let skips = "skips: [(zeros: Structured(keep: 2, of: 4), gain: \"80 %\"), (zeros: Anywhere, gain: \"100 %\")]";
        (*name, chip(array, more), parsed(&chip_text(array, skips, more)))
    };
    DATAPATHS.iter().map(chip_of).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Longer loops never take less, on any datapath.
    #[test]
    fn cycles_and_energy_rise_with_every_extent(
        m in 1u64..200, n in 1u64..200, k in 1u64..200,
        more in 1u64..60, axis in 0usize..3,
    ) {
        let mut longer = [m, n, k];
        longer[axis] += more;
        let of = |[m, n, k]: [u64; 3]| product(m, n, k, ElementType::Int8).layers.remove(0).work;
        for (datapath, profile) in CHIPS.iter() {
            let short = costed(&of([m, n, k]), profile).unwrap();
            let long = costed(&of(longer), profile).unwrap();
            prop_assert!(long.compute.0 >= short.compute.0 * (1.0 - 1e-12), "{datapath}");
            prop_assert!(long.energy.0 >= short.energy.0 * (1.0 - 1e-12), "{datapath}");
            real(datapath, &of(longer), &long);
        }
    }

    /// Convolutions of any shape: utilisation stays within its bounds.
    #[test]
    fn no_convolution_runs_ahead_of_its_peak(
        size in 1u64..24, inputs in 1u64..40, outputs in 1u64..40, kernel in 1u64..6,
        depthwise in any::<bool>(), stride in 1u64..3,
    ) {
        let made = size.div_ceil(stride);
        let (groups, outputs) = if depthwise { (inputs, inputs) } else { (1, outputs) };
        let weights = [if depthwise { 1 } else { outputs }, kernel, kernel, inputs];
        let layer = chips::layer(
            convolution(stride, groups, false),
            &[(&[1, size, size, inputs], false), (&weights, true)],
            &[1, made, made, outputs],
        );
        for (datapath, profile) in CHIPS.iter() {
            match costed(&layer.work, profile) {
                Ok(cost) => real(datapath, &layer.work, &cost),
                Err(refusal) => names_both(datapath, layer.work.kind, &refusal),
            }
        }
    }

    /// Who stays and who streams are the two operands of one product.
    #[test]
    fn input_stationary_is_weight_stationary_with_the_operands_swapped(
        rows in 1u64..64, columns in 1u64..64, groups in 1u64..4,
        m in 1u64..500, n in 1u64..500, k in 1u64..500,
    ) {
        let inputs = systolic_cycles(Dataflow::InputStationary, rows, columns, Gemm { groups, m, n, k });
        let swapped = Gemm { groups, m: n, n: m, k };
        let weights = systolic_cycles(Dataflow::WeightStationary, rows, columns, swapped);
        prop_assert_eq!(inputs.cycles, weights.cycles);
        prop_assert_eq!(inputs.array_macs, weights.array_macs);
        prop_assert_eq!(inputs.passes.input, weights.passes.weight);
        prop_assert_eq!(inputs.passes.weight, weights.passes.input);
        prop_assert_eq!(inputs.passes.output_written, weights.passes.output_written);
        prop_assert_eq!(inputs.passes.output_read, weights.passes.output_read);
    }

    /// Leaving zeros out never costs more, and never more than the zeros are worth.
    #[test]
    fn skipping_zeros_never_costs_more(
        m in 1u64..60, n in 1u64..60, groups_of_four in 1u64..20, zeros in 0.0f64..0.95,
        structured in any::<bool>(),
    ) {
        let stored = if structured {
            Sparsity::Structured { keep: 2, of: 4 }
        } else {
            Sparsity::Unstructured { zeros }
        };
        let (dense, sparse) = dense_and_sparse(m, n, 4 * groups_of_four, stored);
        for (datapath, plain, skipping) in SKIPPING.iter() {
            let full = costed(&dense, plain).unwrap();
            // An engine without the feature does all of them.
            prop_assert_eq!(costed(&sparse, plain).unwrap().compute, full.compute, "{}", datapath);
            let less = costed(&sparse, skipping).unwrap();
            prop_assert!(less.compute.0 <= full.compute.0 && less.energy.0 <= full.energy.0, "{datapath}");
            prop_assert_eq!(less.macs, sparse.macs - sparse.skippable_macs);
            let share = less.macs as f64 / sparse.macs as f64;
            prop_assert!(less.compute.0 >= full.compute.0 * share * (1.0 - 1e-12), "{datapath}");
            real(datapath, &sparse, &less);
            prop_assert_eq!(costed(&dense, skipping).unwrap().compute, full.compute, "{}", datapath);
        }
    }
}

fn image(size: u64, batch: u64, kernel: u64, stride: u64) -> Work {
    let made = size.div_ceil(stride);
    let (data, made) = ([batch, size, size, 32], [batch, made, made, 32]);
    let inputs: [chips::Part<'_>; 2] = [(&data, false), (&[32, kernel, kernel, 32], true)];
    chips::layer(convolution(stride, 1, false), &inputs, &made).work
}

/// Nine points of a window are nine words at the edge of an array, in each fold, and one behind buffers
/// of lines.
#[test]
fn windows_enter_an_array_point_by_point() {
    for (dataflow, folds) in
        [("WeightStationary", 4.0), ("OutputStationary", 4.0), ("InputStationary", 1.0)]
    {
        let array = |more: &str| {
            chip(
                &format!(
                    "Systolic(rows: 32, columns: 8, dataflow: {dataflow}, precision: Int8, {more})"
                ),
                "",
            )
        };
        let (work, passes) = (image(16, 1, 3, 1), |work: &Work, profile: &Profile| {
            let passes = costed(work, profile).unwrap().passes;
            assert_eq!(passes.input, folds, "overlaps are no passes");
            passes.input * passes.windows
        });
        assert_eq!(passes(&work, &array("")), 9.0 * folds, "{dataflow}");
        assert_eq!(passes(&work, &array("reuses_windows: true")), folds, "{dataflow}");
        assert_eq!(passes(&image(16, 1, 1, 1), &array("")), folds, "{dataflow}");
        // Of a strided window fewer are read, and never fewer than there are.
        assert_eq!(passes(&image(16, 1, 3, 2), &array("")), 2.25 * folds, "{dataflow}");
    }
    let tiles =
        chip("TensorTiles(units: 1, m: 8, n: 8, k: 16, macs: {Int8: \"64 MAC/cycle\"})", "");
    let passes = costed(&image(16, 1, 3, 1), &tiles).unwrap().passes;
    assert_eq!((passes.input, passes.windows), (4.0, 9.0));
}

#[test]
fn samples_of_a_batch_share_no_rows_of_a_step() {
    let array = "FixedFunction(precision: Int8, unrolled: {Conv: (output_channels: 32, input_channels: 32, output_rows: 9)})";
    let cycles = |batch| costed(&image(16, batch, 3, 1), &chip(array, "")).unwrap().compute.0;
    assert_eq!(cycles(16), 16.0 * cycles(1));
}

/// Results that are made and dropped cost their products.
#[test]
fn dropped_results_take_energy_as_well_as_time() {
    let unrolled = |more: &str| {
        let array = format!(
            "FixedFunction(precision: Int8, unrolled: {{Conv: (output_channels: 8, input_channels: 8, {more})}})"
        );
        costed(&image(16, 1, 3, 2), &chip(&array, "")).unwrap()
    };
    let (kept, all) = (unrolled(""), unrolled("makes_all_positions: true"));
    assert_eq!(all.compute.0, 4.0 * kept.compute.0);
    assert!((all.energy / kept.energy - 4.0).abs() < 1e-12);
    assert_eq!(all.macs, kept.macs);
}

/// A larger step for strides is part of the peak.
#[test]
fn no_step_for_strides_runs_ahead_of_its_peak() {
    let array = "FixedFunction(precision: Int8, unrolled: {Conv: (output_channels: 32, input_channels: 32, window: 9, strided: (4, 4))})";
    let cost = costed(&image(16, 1, 3, 2), &chip(array, "")).unwrap();
    real("strided", &image(16, 1, 3, 2), &cost);
    assert_eq!(cost.occupancy(), 1.0);
}

#[test]
fn an_assumed_overhead_of_vectors_weakens_the_time() {
    let sources = "sources: {\"ds\": (kind: Datasheet, citation: \"d\")}";
    let of = |overhead: &str| {
        let array = format!(
            "Lanes(macs: {{Int8: \"8 MAC/cycle @ds\"}}, vector: (along: Depth, elements: {{Int8: 16}}, {overhead}))"
        );
        let text = chip_text(&array, "", "").replace("sources: {}", sources);
        costed(&product(4, 5, 64, ElementType::Int8).layers.remove(0).work, &parsed(&text))
            .unwrap()
            .time_kind
    };
    assert_eq!(of("overhead: \"9 cycle\""), Kind::Assumed);
    assert_eq!(of("overhead: \"9 cycle @ds\""), Kind::Datasheet);
}

/// Filters that a float layer stores in 4 bits stay so where it runs in 8; a layer of 8 bits that runs in 16
/// is converted whole.
#[test]
fn constants_that_a_layer_widens_as_it_reads_stay_narrow() {
    let bytes = |stored: ElementType, own: ElementType, bits: u64| {
        let mut work = product(4, 8, 16, own).layers.remove(0).work;
        let filter = work.operands.iter_mut().find(|o| o.constant).unwrap();
        filter.element = stored;
        filter.converted_bytes(own, bits)
    };
    assert_eq!(bytes(ElementType::Int4, ElementType::Float32, 8), 64.0);
    assert_eq!(bytes(ElementType::Float32, ElementType::Float32, 8), 128.0);
    assert_eq!(bytes(ElementType::Int8, ElementType::Int8, 16), 256.0);
    assert_eq!(bytes(ElementType::Int8, ElementType::Float32, 16), 128.0);
}
