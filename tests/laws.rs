//! Laws that every model of hardware must keep, on shipped profiles and on drawn ones.

use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Profile, shipped_profiles};
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, load};
use joulecast::sim::{Arrivals, Outcome, Workload, run};
use joulecast::trace::{
    Cause, ComponentId, Header, MetricsSink, RailId, Recorder, Sink, Span, Trace,
};
use joulecast::uncertainty::{Figure, linearised, sampled, simulated as simulated_uncertainty};
use joulecast::units::{Amperes, Seconds, SimTime, Volts, Watts};
use proptest::prelude::*;

pub fn network(name: &str) -> Network {
    Network::of(&load(name, &Bindings::default()).unwrap()).unwrap()
}

fn at<T>(profile: &Profile, point: Option<&str>, use_it: impl FnOnce(Setting<'_>) -> T) -> T {
    let point = profile.point(point).unwrap();
    let stacks = profile.stacks(None).unwrap();
    use_it(Setting { profile, point: &point, stacks: &stacks })
}

pub fn estimated(model: &str, hardware: &str, point: &str) -> Estimate {
    let profile = Profile::load(hardware).unwrap();
    at(&profile, Some(point), |setting| estimate(&plan(&network(model), setting), setting))
}

pub fn simulated(network: &Network, setting: Setting<'_>, workload: &Workload) -> (Outcome, Trace) {
    let mut recorder = Recorder::default();
    let outcome = run(&plan(network, setting), workload, setting, &mut recorder).unwrap();
    (outcome, recorder.into_trace())
}

/// Hardware made for one network runs none of another.
fn runs(network: &Network, setting: Setting<'_>) -> bool {
    plan(network, setting).steps.iter().any(|step| !step.phases.is_empty())
}

/// Every operator that the array takes is started, one that only renames data too.
#[test]
fn software_that_drives_an_array_adds_its_dispatch() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("chip.ron");
    let text = crate::errors::driven_eyeriss("dispatch: \"200000 cycles ±10% @board\"");
    std::fs::write(&path, text).unwrap();
    let bare = estimated("kws_ds_cnn", "eyeriss", "200mhz_1v0");
    let driven = estimated("kws_ds_cnn", path.to_str().unwrap(), "200mhz_1v0");
    let profile = Profile::load("eyeriss").unwrap();
    let layers = at(&profile, None, |setting| plan(&network("kws_ds_cnn"), setting).steps.len());
    let added = driven.latency.0 - bare.latency.0;
    assert!((added / (layers as f64 * 1e-3) - 1.0).abs() < 1e-9, "{added} s for {layers} layers");
}

/// A sink that counts what it is told of rails.
#[derive(Default)]
struct Told(usize);

impl Sink for Told {
    fn begin(&mut self, _: &Header) {}
    fn power(&mut self, _: SimTime, _: ComponentId, _: Watts) {}
    fn span(&mut self, _: Span) {}
    fn end(&mut self, _: SimTime) {}
    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {
        self.0 += 1;
    }
}

#[test]
fn requests_that_only_wait_change_no_rail() {
    let network = network("kws_ds_cnn");
    let profile = Profile::load("stm32l4r5").unwrap();
    at(&profile, None, |setting| {
        let plan = plan(&network, setting);
        let told = |inferences, period| {
            let arrivals = Arrivals::Periodic(Seconds(period));
            let workload = Workload { inferences, arrivals, rest: None };
            let mut sink = Told::default();
            let outcome = run(&plan, &workload, setting, &mut sink).unwrap();
            (sink.0, outcome)
        };
        let (one, alone) = told(1, 1e-9);
        let (two, _) = told(2, 1e-9);
        let (all, outcome) = told(1000, 1e-9);
        assert_eq!(all - one, 999 * (two - one));
        assert_eq!(outcome.waited, 999);
        // The last waits for all the others, less the time until it is asked for.
        let last = 1000.0 * alone.latency.mean().0 - 999e-9;
        assert!((outcome.response.longest().0 / last - 1.0).abs() < 1e-9);
    });
}

#[test]
fn no_window_of_a_year_long_run_exceeds_the_peak() {
    let profile = Profile::load("stm32l4r5").unwrap();
    at(&profile, None, |setting| {
        let arrivals = Arrivals::Periodic(Seconds(1e6));
        let workload = Workload { inferences: 10, arrivals, rest: Some("on".into()) };
        let (outcome, _) = simulated(&network("kws_ds_cnn"), setting, &workload);
        for peak in outcome.metrics.window_peaks {
            assert!(peak.0 <= outcome.metrics.peak.0 * (1.0 + 1e-12), "{peak}");
        }
    });
}

#[test]
fn at_lower_voltage_the_same_cycles_cost_less() {
    // Large enough filters keep the array busy while its link, whose clock stays, moves the rest.
    let high = estimated("ic_resnet8", "eyeriss", "250mhz_1v17");
    let low = estimated("ic_resnet8", "eyeriss", "100mhz_0v82");
    assert!(low.energy < high.energy);
    assert!(low.latency > high.latency);
    // A network that waits for the link throughout takes as long, for less.
    let high = estimated("kws_ds_cnn", "eyeriss", "250mhz_1v17");
    let low = estimated("kws_ds_cnn", "eyeriss", "100mhz_0v82");
    assert!(low.energy < high.energy && low.latency >= high.latency);
}

#[test]
fn simulation_and_estimate_agree_on_time_and_energy() {
    let models = ["kws_ds_cnn", "ic_resnet8", "vww_mobilenetv1_025", "ad_autoencoder", "sww"];
    for shipped in shipped_profiles() {
        let hardware = shipped.name;
        let profile = Profile::load(hardware).unwrap();
        let points = profile.spec().operating_points.iter();
        for (model, point) in points.flat_map(|p| models.map(|m| (m, p.name.as_str()))) {
            let network = network(model);
            at(&profile, Some(point), |setting| {
                if !runs(&network, setting) {
                    return;
                }
                let expected = estimate(&plan(&network, setting), setting);
                let workload = Workload { rest: Some("on".to_owned()), ..Workload::single() };
                let (outcome, _) = simulated(&network, setting, &workload);
                // The simulator rounds each phase to a picosecond, and nothing else differs.
                let phases =
                    plan(&network, setting).steps.iter().map(|s| s.phases.len()).sum::<usize>();
                let limit = phases as f64 * 0.5e-12 / expected.latency.0 + 1e-12;
                for (what, ratio) in [
                    ("load energy", outcome.metrics.load_energy / expected.load_energy),
                    ("source energy", outcome.metrics.energy / expected.energy),
                    ("time", outcome.metrics.duration / expected.latency),
                ] {
                    let gap = (ratio - 1.0).abs();
                    assert!(
                        gap < limit,
                        "{what} of {model} on {hardware} at {point}: {gap:e} > {limit:e}"
                    );
                }
            });
        }
    }
}

#[test]
fn idle_and_transitions_have_their_own_joules() {
    let profile = Profile::load("stm32l4r5").unwrap();
    let workload = Workload {
        inferences: 4,
        arrivals: Arrivals::Periodic(Seconds(0.5)),
        rest: Some("stop2".into()),
    };
    at(&profile, None, |setting| {
        let (outcome, _) = simulated(&network("kws_ds_cnn"), setting, &workload);
        assert!((outcome.metrics.duration.0 - 2.0).abs() < 1e-12);
        assert!(outcome.ledger.of(&Cause::Idle).0 > 0.0);
        // 5 us at working power before each inference.
        let wake = outcome.ledger.of(&Cause::Transition).0;
        let working = 1.8 * 172e-12 * 120e6 * 5e-6 * 4.0;
        assert!((wake / working - 1.0).abs() < 1e-9, "{wake} {working}");
        let lying = 1.8 * 1.2e-6 * (2.0 - outcome.metrics.busy.0 - 4.0 * 5e-6);
        assert!((outcome.ledger.of(&Cause::Idle).0 / lying - 1.0).abs() < 1e-9);
    });
}

/// Idle power here has a spread of 20 %, an inference one of a factor of four: a run that mostly
/// sleeps is better known.
#[test]
fn the_interval_of_a_run_knows_its_idle_time() {
    let profile = Profile::load("stm32l4r5").unwrap();
    let network = network("kws_ds_cnn");
    let workload = |arrivals| Workload { inferences: 2, arrivals, rest: None };
    at(&profile, None, |setting| {
        let sigma = |w: &Workload| {
            let (outcome, _) = simulated(&network, setting, w);
            simulated_uncertainty(&network, setting, w, &outcome).sigma[&Figure::Energy].up
        };
        let busy = sigma(&workload(Arrivals::BackToBack));
        let lazy = sigma(&workload(Arrivals::Periodic(Seconds(60.0))));
        let alone = linearised(&network, setting).sigma[&Figure::Energy].up;
        assert!((busy / alone - 1.0).abs() < 1e-3, "{busy} {alone}");
        assert!((lazy - 1.2f64.ln()).abs() < 0.03, "{lazy}");
    });
}

#[test]
fn a_kept_trace_and_a_streamed_one_give_the_same_metrics() {
    let profile = Profile::load("eyeriss").unwrap();
    at(&profile, None, |setting| {
        let (outcome, trace) = simulated(&network("ic_resnet8"), setting, &Workload::single());
        let mut replayed = MetricsSink::default();
        trace.replay(&mut replayed);
        assert_eq!(outcome.metrics, replayed.finish());
    });
}

#[test]
fn the_linearised_interval_matches_the_sampled_one_where_spreads_are_small() {
    // All spreads a tenth as wide: curvature is then negligible.
    let profile = Profile::load("eyeriss").unwrap();
    let text = crate::shipped::text_of("eyeriss");
    let narrow = text
        .replace("±20%", "±2%")
        .replace("±30%", "±3%")
        .replace("±40%", "±4%")
        .replace("±50%", "±5%");
    let narrow = Profile::parse("narrow.ron", &narrow).unwrap();
    assert_eq!(narrow.parameters().len(), profile.parameters().len());
    let network = network("kws_ds_cnn");
    at(&narrow, None, |setting| {
        let linear = linearised(&network, setting);
        let drawn = sampled(&network, setting, 4000, 7).unwrap();
        let expected = estimate(&plan(&network, setting), setting);
        for figure in Figure::ALL {
            let s = drawn[&figure].interval;
            let l = linear.interval(figure, figure.of(&expected));
            let width = (l.high / l.low).ln() / (s.high / s.low).ln();
            assert!((width - 1.0).abs() < 0.06, "{figure:?}: {width}");
        }
    });
}

#[test]
fn a_common_factor_widens_what_independent_errors_would_average_out() {
    let text = crate::shipped::text_of("stm32l4r5");
    let profile = Profile::parse("with.ron", text).unwrap();
    let alone =
        "sources: {\n\"runtime\": (kind: Assumed, citation: \"the same, nothing in common\"),";
    let without = text.replacen("sources: {", alone, 1);
    let without = Profile::parse("without.ron", &without).unwrap();
    let network = network("vww_mobilenetv1_025");
    let sigma = |p: &Profile| at(p, None, |s| linearised(&network, s).sigma[&Figure::Latency].up);
    let (with, without) = (sigma(&profile), sigma(&without));
    // The factor is common to all cycles, so it adds in quadrature with elasticity one.
    let common = 2.12f64.ln();
    assert!((with * with - without * without - common * common).abs() < 0.02, "{with} {without}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the numbers of a profile and whatever the load: the sums of joules are one number.
    /// (`run` itself fails when they are not; the trace is summed once more here.)
    #[test]
    fn the_identity_of_joules_holds(
        factors in proptest::collection::vec(0.2..5.0f64, 64),
        model in 0usize..3,
        hardware in 0..shipped_profiles().len(),
        inferences in 1u64..4,
        period in proptest::option::of(0.001..2.0f64),
        stop in any::<bool>(),
    ) {
        let name = shipped_profiles()[hardware].name;
        let profile = Profile::load(name).unwrap();
        let profile = profile.perturbed(|i, v| v * factors[i % factors.len()]);
        let network = network(["ad_autoencoder", "kws_ds_cnn", "sww"][model]);
        let rest = (stop && name == "stm32l4r5").then(|| "stop2".to_owned());
        let arrivals = period.map_or(Arrivals::BackToBack, |p| Arrivals::Periodic(Seconds(p)));
        let workload = Workload { inferences, arrivals, rest };
        at(&profile, None, |setting| {
            if !runs(&network, setting) {
                return Ok(());
            }
            let (outcome, trace) = simulated(&network, setting, &workload);
            let integral: f64 = trace.power.iter().map(|w| w.integral(trace.end)).sum();
            let causes: f64 = outcome.ledger.by_cause.keys().map(|c| outcome.ledger.of(c).0).sum();
            // Drawn voltages may leave a regulator unable to give what is asked.
            let source = outcome.ledger.source.0 + outcome.ledger.unmet.0;
            prop_assert!((integral / source - 1.0).abs() < 1e-9);
            prop_assert!((causes / source - 1.0).abs() < 1e-9);
            prop_assert_eq!(outcome.metrics.inferences, inferences);
            Ok(())
        })?;
    }

    /// Whatever costs time or energy, more of it never makes the whole cheaper.
    #[test]
    fn energy_never_falls_when_a_cost_rises(index in 0usize..1000, factor in 1.0..4.0f64) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/annotated_profile.ron");
        let profile = Profile::load(path).unwrap();
        let costs = ["clock_tree", "leakage.power", "_energy", "background", "per_mac", "per_operation",
            "per_busy_cycle", "operand_store", "dispatch", "cycles_per_", "quiescent", "ground_share"];
        let records = profile.parameters();
        let of_cost = |path: &str| costs.iter().any(|c| path.contains(c)) && !path.contains("states");
        let costly: Vec<usize> =
            (0..records.len()).filter(|i| of_cost(&records[*i].path)).collect();
        prop_assert!(costly.len() > 30, "{}", costly.len());
        let index = costly[index % costly.len()];
        let raised = profile.perturbed(|i, v| if i == index { v * factor } else { v });
        let network = network("kws_ds_cnn");
        let energy = |p: &Profile| at(p, None, |s| estimate(&plan(&network, s), s).energy.0);
        prop_assert!(energy(&raised) >= energy(&profile) * (1.0 - 1e-12), "{}", records[index].path);
    }
}
