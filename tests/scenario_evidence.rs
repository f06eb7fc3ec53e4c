//! How sure the numbers of a run of a scenario are: what they rest on, and their intervals.

use joulecast::cost::Setting;
use joulecast::estimate::estimate;
use joulecast::evidence::{Coverage, Kind};
use joulecast::mapping::{Network, plan};
use joulecast::model::{Bindings, Transform, apply, load};
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Grounds, Limits, Prepared, Simulated};
use joulecast::trace::Deaf;

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
    // A hundred looks.
    assert!((measured.time.total() - 0.2).abs() < 1e-9, "{}", measured.time.total());
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
    assert!((share(&hosted.time, Kind::Datasheet) - host / hosted.time.total()).abs() < 1e-3);
    assert_eq!(share(&alone.time, Kind::Datasheet), 0.0);
}
