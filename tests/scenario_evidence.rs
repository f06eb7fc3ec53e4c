//! How sure the numbers of a run of a scenario are: what they rest on, and their intervals.

use crate::command_line::{joulecast, json, number};
use joulecast::cost::Setting;
use joulecast::estimate::estimate;
use joulecast::evidence::{Coverage, Kind};
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, Transform, apply, load};
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Grounds, Limits, Prepared, Simulated};
use joulecast::trace::Deaf;
use joulecast::uncertainty::{Contribution, Figure, ScenarioUncertainty, of_scenario};
use serde_json::Value;

fn scenario(text: &str) -> Scenario {
    let head = r#"(schema: "joulecast.scenario/1", name: "evidence", description: "For a test.","#;
    let text = format!("{head}\n{text})");
    Scenario::parse("evidence.ron", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn ran(scenario: &Scenario) -> (Simulated, Grounds) {
    let prepared = Prepared::new(scenario, Fidelity::Phase).unwrap();
    let simulated = prepared.run(1, Limits::default(), &mut Deaf).unwrap();
    let grounds = prepared.grounds(&simulated);
    (simulated, grounds)
}

fn share(of: &Coverage, kind: Kind) -> f64 {
    of.shares().find(|(own, _)| *own == kind).map_or(0.0, |(_, share)| share)
}

/// A detector that looks for two milliseconds, ten times a second, and a network behind it that it wakes at
/// each look, or never.
fn door(time: &str, prevalence: &str) -> Scenario {
    scenario(&format!(
        r#"sources: {{"meter": (kind: Measured, citation: "an oscilloscope"), "guess": (kind: Assumed, citation: "nobody")}},
          hardware: "edge_soc_example", duration: "10 s",
          cascades: [(name: "door", every: "100 ms", events: Prevalence("{prevalence} @meter"), stages: [
            (name: "motion", runs: Detector(time: "{time}", block: "camera_pipeline", state: "preview"),
             hit: "100 % ±0% @meter", false_alarm: "0 % @meter"),
            (name: "person", runs: Network(model: "vww_mobilenetv1_025"),
             hit: "100 % ±0% @meter", false_alarm: "0 % @meter")])]"#
    ))
}

#[test]
fn a_look_of_a_detector_rests_on_whoever_states_its_time() {
    let (_, measured) = ran(&door("2 ms ±1% @meter", "0 %"));
    assert_eq!(measured.time.share(), 1.0);
    // Ninety-nine looks before ten seconds are over.
    assert!((measured.time.total() - 0.198).abs() < 1e-9, "{}", measured.time.total());
    let (_, guessed) = ran(&door("2 ms ±50% @guess", "0 %"));
    assert_eq!(guessed.time.share(), 0.0);
    assert!((share(&guessed.time, Kind::Assumed) - 1.0).abs() < 1e-12);
    // The energy of a look is a power of the profile times that time: no better than the weaker.
    let known = |grounds: &Grounds| share(&grounds.energy, Kind::Assumed);
    assert!(known(&measured) > 0.5 && known(&guessed) >= known(&measured));
}

#[test]
fn time_in_service_is_split_by_streams() {
    let scenario = door("2 ms ±1% @meter", "100 %");
    let (simulated, grounds) = ran(&scenario);
    let busy = |stream: usize| simulated.streams[stream].served.busy.seconds().0;
    assert!(busy(0) > 0.19 && busy(1) > 1e-3);
    let looks = busy(0) / (busy(0) + busy(1));
    // No number of the example's engines is measured.
    assert!((share(&grounds.time, Kind::Measured) - looks).abs() < 1e-9);
    assert!((grounds.time.total() - busy(0) - busy(1)).abs() < 1e-9);
}

#[test]
fn every_joule_rests_on_something() {
    for name in ["wake_camera", "phone_day"] {
        let scenario = Scenario::load(name).unwrap();
        let prepared = Prepared::new(&scenario, Fidelity::Layer).unwrap();
        let limits = Limits { max_events: Some(20_000), ..Limits::default() };
        let simulated = prepared.run(1, limits, &mut Deaf).unwrap();
        let founded = prepared.grounds(&simulated).energy.total();
        let all = simulated.ledger.source.0;
        assert!((founded / all - 1.0).abs() < 1e-6, "{name}: {founded} J of {all} J");
    }
}

/// On the first TPU one sample of the autoencoder waits for weights from DRAM, whose pace is recalled, and
/// eight for its array as well, whose cycles the paper tells.
#[test]
fn a_batch_rests_on_its_own_plan() {
    let network = |samples: u64, setting: Setting<'_>| {
        let graph = load("ad_autoencoder", &Bindings::default()).unwrap();
        let graph = apply(&graph, &[Transform::Batch(samples)]).unwrap();
        let network = Network::executed(&graph, setting.profile.fuses(setting.stacks)).unwrap();
        estimate(&plan(&network, setting), setting).time_coverage
    };
    let scenario = scenario(
        r#"hardware: "tpu_v1", inferences: 16, workloads: [(name: "sounds", model: "ad_autoencoder",
          batch: (size: 8, timeout: "1 s"), arrivals: ClosedLoop(clients: 8, think: Fixed("0 s")))]"#,
    );
    let (simulated, grounds) = ran(&scenario);
    assert_eq!(simulated.streams[0].served.passes_of, [0, 0, 0, 0, 0, 0, 0, 2]);
    let setting = scenario.setting(&scenario.workloads[0].placed);
    let (one, eight) = (network(1, setting), network(8, setting));
    assert!(one.share() < 0.01 && eight.share() > 0.5, "{} {}", one.share(), eight.share());
    for (kind, share_of_it) in eight.shares() {
        assert!((share(&grounds.time, kind) - share_of_it).abs() < 1e-9, "{}", kind.name());
    }
}

/// A host whose cycles are measured takes its part of each pass.
#[test]
fn work_of_a_host_rests_on_its_cycles() {
    let with = |host: &str| {
        ran(&scenario(&format!(
            r#"sources: {{"counter": (kind: Measured, citation: "a cycle counter")}},
              hardware: "edge_soc_example", inferences: 2, workloads: [(name: "words", model: "kws_ds_cnn",
              {host} arrivals: BackToBack)]"#
        )))
        .1
    };
    let alone = with("");
    let hosted = with(r#"host: (engine: "cpu", before: "1248000 cycle @counter"),"#);
    // A millisecond at 1248 MHz, a clock of the device tree's, a pass.
    let host = 2.0 * 1e-3;
    assert!((hosted.time.total() - alone.time.total() - host).abs() < 1e-6);
    let known = |own: &Grounds| share(&own.time, Kind::Datasheet) * own.time.total();
    assert!((known(&hosted) - known(&alone) - host).abs() < 1e-9);
}

fn sure(scenario: &Scenario) -> (Simulated, ScenarioUncertainty) {
    let (simulated, _) = ran(scenario);
    let outlook = scenario.outlook().unwrap();
    let sure = of_scenario(scenario, &outlook, &simulated).unwrap();
    (simulated, sure)
}

fn effect(of: &[Contribution], name: &str) -> f64 {
    let found = of.iter().find(|own| own.name == name);
    found.unwrap_or_else(|| panic!("{name} in {of:#?}")).effect
}

/// Half of what a figure's logarithm rises and falls by.
fn swing(above: f64, below: f64) -> f64 {
    (above / below).ln() / 2.0
}

#[test]
fn the_time_of_a_detector_is_as_uncertain_as_it_is_stated() {
    let (_, loose) = sure(&door("2 ms ±50% @guess", "100 %"));
    let (_, tight) = sure(&door("2 ms ±0% @meter", "100 %"));
    let (look, network) = (loose.streams[0], loose.streams[1]);
    assert!((look.latency.up - 1.5f64.ln()).abs() < 1e-9, "{look:?}");
    assert!((look.latency.down - 1.5f64.ln()).abs() < 1e-9, "{look:?}");
    assert_eq!(tight.streams[0].latency.up, 0.0);
    // Power times time: what both are off by adds up.
    let known = tight.streams[0].energy.up;
    assert!((look.energy.up - known.hypot(1.5f64.ln())).abs() < 1e-3, "{look:?} {known}");
    // What the network takes has nothing to do with it.
    assert!((network.energy.up - tight.streams[1].energy.up).abs() < 1e-9);
    assert!((network.latency.up - tight.streams[1].latency.up).abs() < 1e-9);
    let name = "scenario cascades.door.stages.motion.runs.Detector.time";
    assert!(effect(&loose.headline.energy_contributions, name) > 0.0);
}

/// A chip that draws `P` all the time, and `e` more for each inference, spends `P T + e` on each that comes
/// every `T`. Two periods tell both.
#[test]
fn a_period_that_may_be_off_is_energy_of_idle_times() {
    let every = |period: &str| {
        scenario(&format!(
            r#"hardware: "stm32u585", duration: "60 s", workloads: [(name: "words", model: "kws_ds_cnn",
              arrivals: Periodic(period: "{period}"))]"#
        ))
    };
    let each = |run: &Simulated| run.energy_per_inference().unwrap().0;
    let (run, sure) = sure(&every("1 s ±20%"));
    let (half, _) = ran(&every("0.5 s"));
    let power = (each(&run) - each(&half)) / 0.5;
    let more = each(&run) - power;
    assert!(power > 0.0 && more > 0.0);
    let by_hand = swing(power * 1.2 + more, power / 1.2 + more);
    let name = "scenario workloads.words.arrivals.Periodic.period";
    let found = effect(&sure.headline.energy_contributions, name);
    assert!((found / by_hand - 1.0).abs() < 0.01, "{found} {by_hand}");
    // One stream is the whole run; an inference takes what it takes, whenever it comes.
    let latency = sure.headline.sigma[&Figure::Latency];
    assert!((sure.streams[0].latency.up - latency.up).abs() < 1e-9);
    assert!(sure.headline.latency_contributions.iter().all(|own| own.name != name));
}

#[test]
fn cycles_of_a_host_and_rates_of_the_world_are_in_the_intervals() {
    let (run, sure) = sure(&scenario(
        r#"sources: {"counter": (kind: Measured, citation: "a cycle counter"), "street": (kind: Assumed, citation: "who knows")},
          hardware: "edge_soc_example", duration: "10 s", workloads: [(name: "words", model: "kws_ds_cnn",
          host: (engine: "cpu", before: "1248000 cycle ±20% @counter"), arrivals: Poisson(rate: "20 Hz ±50% @street"))]"#,
    ));
    let pass = run.streams[0].served.latency.mean().0;
    // A millisecond of the pass is the host's.
    let by_hand = swing(pass + 0.2e-3, pass - 1e-3 + 1e-3 / 1.2);
    let name = "scenario workloads.words.host.before";
    let found = effect(&sure.headline.latency_contributions, name);
    assert!((found / by_hand - 1.0).abs() < 1e-3, "{found} {by_hand}");
    // Who is asked for half again as often idles for less: a share of 1.5 at most.
    let name = "scenario workloads.words.arrivals.Poisson.rate";
    let found = effect(&sure.headline.energy_contributions, name);
    assert!(found < -0.2 && found > -(1.5f64.ln()), "{found}");
    assert!(sure.streams[0].energy.up < sure.headline.sigma[&Figure::Energy].up);
}

#[test]
fn streams_have_intervals_and_their_loads_and_losses_apart() {
    let text = joulecast::sim::scenario::scenario_text("shared_npu").unwrap().1;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("shared_npu.ron");
    std::fs::write(&path, text.replace("\"1 min\"", "\"1 s\"")).unwrap();
    let document = json(&["run", path.to_str().unwrap(), "--json"]);
    for own in document["workloads"].as_array().unwrap() {
        for figure in ["/j_per_inference", "/latency_s/p50", "/latency_s/p95", "/latency_s/p99"] {
            let value = number(own, figure);
            let low = number(own, &format!("{figure}_interval90/0"));
            let high = number(own, &format!("{figure}_interval90/1"));
            assert!(0.0 < low && low < value && value < high, "{figure}: {low} {value} {high}");
        }
        let of = |name: &str| number(own, name);
        let sum = of("/load_energy_j") + of("/loss_energy_j");
        assert!((sum / of("/energy_j") - 1.0).abs() < 1e-12);
        assert!(of("/load_energy_j") > 0.0 && of("/loss_energy_j") >= 0.0);
    }
    for what in ["energy", "time"] {
        let kinds = document["metrics"]["coverage"][format!("{what}_by_kind")].as_object().unwrap();
        let all: f64 = kinds.values().filter_map(Value::as_f64).sum();
        assert!((all - 1.0).abs() < 1e-9, "{what}");
        number(&document, &format!("/metrics/coverage/{what}"));
    }
}

/// Looks of a detector and tasks of a processor are no inferences, and do not end a run that is to last for
/// so many.
#[test]
fn looks_and_tasks_are_no_inferences() {
    let (run, _) = ran(&door("2 ms ±1% @meter", "100 %"));
    assert_eq!(run.streams[0].served.done, 99);
    assert_eq!((run.metrics.inferences, run.inferences()), (99, 99));
    let (run, _) = ran(&door("2 ms ±1% @meter", "0 %"));
    assert_eq!((run.metrics.inferences, run.streams[0].served.done), (0, 99));
    let (run, _) = ran(&scenario(
        r#"hardware: "edge_soc_example", inferences: 5, workloads: [(name: "words", model: "kws_ds_cnn",
          arrivals: Periodic(period: "100 ms"))],
          tasks: [(name: "radio", engine: "cpu", cycles: "12000 cycle", arrivals: Periodic(period: "10 ms"))]"#,
    ));
    assert_eq!((run.inferences(), run.metrics.inferences), (5, 5));
    assert!(run.streams[1].served.done > 30);
}

#[test]
fn a_layer_that_no_network_has_is_told_with_the_nearest() {
    let text = |layer: &str| {
        format!(
            r#"(schema: "joulecast.scenario/1", name: "x", description: "x", hardware: "edge_soc_example",
              inferences: 1, workloads: [(name: "words", model: "kws_ds_cnn", place: [("{layer}", "npu")],
              arrivals: BackToBack)])"#
        )
    };
    let known = &Scenario::parse("x.ron", &text("*conv*")).unwrap().workloads[0].placed.network;
    let name = known.layers[0].name.clone();
    let wrong = format!("{name}x");
    let said = Scenario::parse("x.ron", &text(&wrong)).unwrap_err().to_string();
    assert!(said.contains(&format!("network `kws_ds_cnn` has no layer `{wrong}`")), "{said}");
    assert!(said.contains(&format!("did you mean `{name}`?")), "{said}");
    assert!(said.contains("workloads[0].place[0]") && !said.contains("--place"), "{said}");
    // On the command line the option is told.
    let place = format!("{wrong}=npu");
    let output =
        joulecast(&["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--place", &place]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("--place") && said.contains(&format!("did you mean `{name}`?")),
        "{said}"
    );
}
