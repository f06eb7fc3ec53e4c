//! Claims on a chip with everything: two engines, staging, rails two regulators deep, leakage, memories
//! with background power, states with wake time and energy. It is the annotated profile of the docs.

use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Profile, Role, components};
use joulecast::mapping::{Network, Plan, plan};
use joulecast::model::{Bindings, load, read_ron};
use joulecast::sim::{Arrivals, Outcome, Workload, run};
use joulecast::trace::{Cause, Recorder, Trace};
use joulecast::units::{Joules, Seconds};

fn text() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/annotated_profile.ron");
    std::fs::read_to_string(path).unwrap()
}

fn with(changes: &[(&str, &str)]) -> Profile {
    let mut text = text();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    Profile::parse("annotated.ron", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn at<T>(profile: &Profile, use_it: impl FnOnce(Setting<'_>) -> T) -> T {
    let point = profile.point(None).unwrap();
    let stacks = profile.stacks(None).unwrap();
    use_it(Setting { profile, point: &point, stacks: &stacks })
}

fn network(name: &str) -> Network {
    Network::of(&load(name, &Bindings::default()).unwrap()).unwrap()
}

fn estimated(network: &Network, profile: &Profile) -> (Plan, Estimate) {
    at(profile, |setting| {
        let plan = plan(network, setting);
        let estimate = estimate(&plan, setting);
        (plan, estimate)
    })
}

fn simulated(network: &Network, profile: &Profile, workload: &Workload) -> (Outcome, Trace) {
    at(profile, |setting| {
        let mut recorder = Recorder::default();
        let outcome = run(&plan(network, setting), workload, setting, &mut recorder).unwrap();
        (outcome, recorder.into_trace())
    })
}

/// Bytes read from a memory over all layers.
fn read_bytes(estimate: &Estimate, memory: usize) -> f64 {
    let traffic = estimate.layers.iter().flat_map(|l| &l.traffic);
    traffic.filter(|level| level.channel == memory).map(|level| level.read.0).sum()
}

const BUFFER: usize = 0;
const LPDDR: usize = 1;

#[test]
fn what_the_accelerator_refuses_runs_on_the_host() {
    let (plan, _) = estimated(&network("kws_ds_cnn"), &with(&[]));
    assert!(plan.uncosted.is_empty());
    let engines: Vec<_> = plan.steps.iter().map(|s| (s.kind.to_string(), s.engine)).collect();
    for (kind, engine) in engines {
        assert_eq!(engine, usize::from(kind == "Pool" || kind == "Softmax"), "{kind}");
    }
}

#[test]
fn joules_agree_on_every_axis_through_two_regulators() {
    let profile = with(&[]);
    let period = Arrivals::Periodic(Seconds(0.005));
    for rest in [None, Some("gated".to_owned()), Some("on".to_owned())] {
        let workload = Workload { inferences: 3, arrivals: period, rest };
        let (outcome, trace) = simulated(&network("ic_resnet8"), &profile, &workload);
        let integral: f64 = trace.power.iter().map(|w| w.integral(trace.end)).sum();
        assert!((integral / outcome.ledger.source.0 - 1.0).abs() < 1e-9);
        assert_eq!(outcome.ledger.losses.len(), 2);
        let battery = outcome.metrics.header.rails.iter().position(|r| r.name == "battery");
        let given = outcome.metrics.by_rail[battery.unwrap()];
        assert!((given / outcome.ledger.source - 1.0).abs() < 1e-9, "the battery gives it all");
    }
}

#[test]
fn waking_takes_its_time_and_its_energy_and_rest_replaces_the_background() {
    let profile = with(&[]);
    let workload =
        Workload { inferences: 2, arrivals: Arrivals::Periodic(Seconds(0.1)), rest: None };
    let (outcome, trace) = simulated(&network("kws_ds_cnn"), &profile, &workload);
    let waking = outcome.response.mean() - outcome.latency.mean();
    assert!((waking.0 - 20e-6).abs() < 1e-12, "the slower of two domains");
    let wake = trace.header.components.iter().position(|c| c.name == "accelerator_rest").unwrap();
    let surge = trace.power[wake].at(joulecast::units::SimTime(1));
    assert!((surge - 1e-6 / 20e-6).abs() < 1e-9, "1 uJ over 20 us");
    assert!(outcome.ledger.of(&Cause::Transition).0 > 2e-6);
    // In retention the memory draws 300 uA at 1.8 V and no background; on, 25 mW.
    let lpddr = trace.header.components.iter().position(|c| c.name == "lpddr").unwrap();
    assert_eq!(trace.power[lpddr].at(joulecast::units::SimTime(50_000_000_000)), 0.0);
    let rest = trace.header.components.iter().position(|c| c.name == "dram_rest").unwrap();
    assert!(
        (trace.power[rest].at(joulecast::units::SimTime(50_000_000_000)) - 540e-6).abs() < 1e-12
    );
}

#[test]
fn leakage_grows_with_temperature_and_falls_with_voltage() {
    let leak = |profile: &Profile, point: &str| {
        let point = profile.point(Some(point)).unwrap();
        let stacks = profile.stacks(None).unwrap();
        let setting = Setting { profile, point: &point, stacks: &stacks };
        joulecast::cost::working_power(0, setting).leakage.power.0
    };
    let profile = with(&[]);
    // 2 mW at 25 degC, 20 K above it.
    assert!((leak(&profile, "nominal") - 2e-3 * (0.035f64 * 20.0).exp()).abs() < 1e-9);
    let slow = 2e-3 * (0.65 / 0.8) * (4.0 * (0.65 - 0.8) + 0.035 * 20.0f64).exp();
    assert!((leak(&profile, "slow") - slow).abs() < 1e-9);
}

/// A product reads its second factor alike whether it is stored or computed.
#[test]
fn a_computed_filter_moves_like_a_stored_one() {
    let model = |role: &str| {
        let text = format!(
            r#"(schema: "joulecast.model/1", name: "mm", tensors: [
                (name: "a", element: Int8, shape: [64, 512], role: Input),
                (name: "b", element: Int8, shape: [512, 4096], role: {role}),
                (name: "y", element: Int8, shape: [64, 4096])],
              operators: [(name: "mm", op: MatMul(transpose_a: false, transpose_b: false), inputs: ["a", "b"], outputs: ["y"])],
              outputs: ["y"])"#
        );
        Network::of(&read_ron("mm.ron", &text).unwrap()).unwrap()
    };
    let profile = with(&[]);
    let (_, stored) = estimated(&model("Constant"), &profile);
    let (_, computed) = estimated(&model("Input"), &profile);
    for memory in [BUFFER, LPDDR] {
        assert_eq!(read_bytes(&stored, memory), read_bytes(&computed, memory));
    }
    assert_eq!(stored.energy, computed.energy);
}

/// Picking four rows of a table reads four rows.
#[test]
fn a_lookup_reads_what_it_picks() {
    let text = r#"(schema: "joulecast.model/1", name: "lookup", tensors: [
        (name: "table", element: Int8, shape: [30000, 512], role: Constant),
        (name: "rows", element: Int32, shape: [4], role: Input),
        (name: "y", element: Int8, shape: [4, 512])],
      operators: [(name: "gather", op: Movement(Gather), inputs: ["table", "rows"], outputs: ["y"])],
      outputs: ["y"])"#;
    let network = Network::of(&read_ron("lookup.ron", text).unwrap()).unwrap();
    let (_, estimate) = estimated(&network, &with(&[]));
    assert_eq!(read_bytes(&estimate, LPDDR), 4.0 * 512.0 + 4.0 * 4.0);
}

/// A filter that does not fit half of the buffer comes once as long as the data does fit.
#[test]
fn a_smaller_buffer_never_moves_less() {
    let network = network("ic_resnet8");
    let mut before = 0.0;
    for capacity in ["256 KiB", "64 KiB", "16 KiB", "4 KiB"] {
        let profile = with(&[("capacity: \"256 KiB\"", &format!("capacity: \"{capacity}\""))]);
        let (_, estimate) = estimated(&network, &profile);
        let read = read_bytes(&estimate, LPDDR);
        assert!(read >= before, "{capacity}: {read} after {before}");
        before = read;
    }
}

#[test]
fn evidence_is_as_weak_as_what_the_energy_passed_through() {
    let sound = [("kind: Assumed, citation: \"invented", "kind: Measured, citation: \"invented")];
    let share = |changes: &[(&str, &str)]| {
        let all: Vec<_> = sound.iter().chain(changes).copied().collect();
        let mut text = text();
        for (from, to) in all {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        // Nor has the room of the buffer, which decides what comes again, or the runtime's rates.
        let text = text.replace("\"256 KiB\"", "\"256 KiB @example\"");
        let text = text.replace(" cycle/MAC\"", " cycle/MAC @example\"");
        let text = text.replace(" cycle/element\"", " cycle/element @example\"");
        let text = text.replace(" cycle/op\"", " cycle/op @example\"");
        let text = text.replace("1500 cycle\"", "1500 cycle @example\"");
        let guess = "\"guess\": (kind: Assumed, citation: \"a guess\"),\n    \"library\"";
        let text = text.replace("\"library\": (", &format!("{guess}: ("));
        let profile = Profile::parse("evidence.ron", &text).unwrap_or_else(|e| panic!("{e}"));
        let workload =
            Workload { inferences: 2, arrivals: Arrivals::Periodic(Seconds(1.0)), rest: None };
        let network = network("kws_ds_cnn");
        let (_, estimate) = estimated(&network, &profile);
        let (outcome, _) = simulated(&network, &profile, &workload);
        let run = outcome.energy_evidence(&estimate.energy_coverage);
        // What evidence is booked for is the energy that the source gave.
        assert!((run.total() / outcome.ledger.source.0 - 1.0).abs() < 1e-9);
        (estimate.energy_coverage.share(), run.share())
    };
    let (alone, run) = share(&[]);
    assert!(alone > 0.999 && run > 0.999, "{alone} {run}");
    // Everything passes the buck.
    assert_eq!(share(&[("\"90 % ±3% @example\"", "\"90 % ±3% @guess\"")]), (0.0, 0.0));
    // The LDO feeds the core rail only; the memory's share stays sound.
    let (alone, run) = share(&[("\"0.5 % ±50% @example\"", "\"0.5 % ±50% @guess\"")]);
    assert!((0.05..0.95).contains(&alone) && (0.05..0.95).contains(&run), "{alone} {run}");
    // A guessed sleep current is nothing to an inference and nearly all of a second of waiting.
    let (alone, run) =
        share(&[("Current(\"300 uA ±30% @example\")", "Current(\"300 uA ±30% @guess\")")]);
    assert!(alone > 0.999 && run < 0.5, "{alone} {run}");
}

#[test]
fn every_component_that_costs_appears_and_their_sum_is_the_whole() {
    let profile = with(&[]);
    let (_, estimate) = estimated(&network("vww_mobilenetv1_025"), &profile);
    let sum: Joules = estimate.by_component.iter().map(|c| c.energy).sum();
    assert!((sum / estimate.energy - 1.0).abs() < 1e-12);
    for (role, name) in components(&profile) {
        let found = estimate.by_component.iter().any(|c| c.role == role && c.energy.0 > 0.0);
        assert_eq!(found, !matches!(role, Role::Rest(_)), "{name}");
    }
}

#[test]
fn work_without_an_energy_is_refused_and_listed() {
    let profile = with(&[(
        "per_mac: {Int8: \"0.3 pJ ±30% @library\"}",
        "per_mac: {Int16: \"0.3 pJ ±30% @library\"}",
    )]);
    let (plan, _) = estimated(&network("kws_ds_cnn"), &profile);
    assert!(plan.steps.iter().all(|s| s.engine == 1 || s.macs == 0), "the host takes the MACs");
}

#[test]
fn an_assumed_dispatch_leaves_the_time_without_evidence() {
    let sound = ("kind: Assumed, citation: \"invented", "kind: Measured, citation: \"invented");
    let guessed = ("dispatch: \"2000 cycle ±50% @example\"", "dispatch: \"2000 cycle\"");
    let network = network("ad_autoencoder");
    let share = |changes: &[(&str, &str)]| {
        let (_, estimate) = estimated(&network, &with(changes));
        estimate.time_coverage.share()
    };
    assert!(share(&[sound]) > 0.99);
    assert!(share(&[sound, guessed]) < 0.9);
}

#[test]
fn an_engine_moves_nothing_through_a_buffer_it_does_not_reach() {
    let (_, estimate) = estimated(&network("kws_ds_cnn"), &with(&[]));
    for layer in estimate.layers.iter().filter(|l| l.engine == 1) {
        assert!(layer.traffic.iter().all(|level| level.channel == LPDDR), "{}", layer.name);
    }
}

/// Twelve heads that fit the buffer one by one come once each.
#[test]
fn heads_of_a_batched_product_are_fetched_once() {
    let text = r#"(schema: "joulecast.model/1", name: "heads", tensors: [
        (name: "q", element: Int8, shape: [12, 512, 64], role: Input),
        (name: "k", element: Int8, shape: [12, 64, 512], role: Input),
        (name: "s", element: Int8, shape: [12, 512, 512])],
      operators: [(name: "scores", op: MatMul(transpose_a: false, transpose_b: false), inputs: ["q", "k"], outputs: ["s"])],
      outputs: ["s"])"#;
    let network = Network::of(&read_ron("heads.ron", text).unwrap()).unwrap();
    let (_, estimate) = estimated(&network, &with(&[]));
    assert_eq!(read_bytes(&estimate, LPDDR), 2.0 * 12.0 * 512.0 * 64.0);
}

#[test]
fn a_rest_that_would_last_no_time_is_not_taken() {
    let (profile, network) = (with(&[]), network("kws_ds_cnn"));
    let times = |arrivals| Workload { inferences: 20, arrivals, rest: None };
    let (single, _) = simulated(&network, &profile, &Workload::single());
    let (_, trace) = simulated(&network, &profile, &times(Arrivals::BackToBack));
    // A period that ends with the second inference: waking only delays the first.
    let spans = trace.spans.iter().filter(|s| s.kind == joulecast::trace::SpanKind::Inference);
    let first = spans.map(|s| s.end.since(s.start)).next().unwrap();
    let (outcome, _) = simulated(&network, &profile, &times(Arrivals::Periodic(first.seconds())));
    let wakes = |outcome: &Outcome| outcome.ledger.of(&Cause::Transition);
    assert!((wakes(&outcome) / wakes(&single) - 1.0).abs() < 1e-9, "it wakes once");
}

/// What only the first of many costs is uncertain for one and nothing to the many.
#[test]
fn the_interval_of_many_inferences_forgets_the_first_waking() {
    let profile =
        with(&[("wake_energy: \"1 uJ ±50% @example\"", "wake_energy: \"100 uJ ±900% @example\"")]);
    let network = network("kws_ds_cnn");
    at(&profile, |setting| {
        let sigma = |inferences| {
            let workload = Workload { inferences, arrivals: Arrivals::BackToBack, rest: None };
            let plan = plan(&network, setting);
            let outcome = run(&plan, &workload, setting, &mut Recorder::default()).unwrap();
            let known = joulecast::uncertainty::simulated(&network, setting, &workload, &outcome);
            known.sigma[&joulecast::uncertainty::Figure::Energy].up
        };
        let (one, many) = (sigma(1), sigma(1000));
        assert!(one > 1.0 && many < 0.4, "{one} {many}");
    });
}
