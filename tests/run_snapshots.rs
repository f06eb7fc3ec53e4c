//! Runs that are written down at a moment and taken up again, as they were or under other policies.

use joulecast::sim::scenario::{Fidelity, Scenario, shipped_scenarios};
use joulecast::sim::{Limits, Prepared, Ran, Simulated, Snapshot, Start};
use joulecast::trace::{Deaf, Recorder, Trace};
use joulecast::units::SimTime;

const SECOND: u64 = 1_000_000_000_000;

fn scenario(hardware: &str, rest: &str) -> Scenario {
    let head = format!(
        r#"schema: "joulecast.scenario/1", name: "test", description: "a test", hardware: "{hardware}","#
    );
    Scenario::parse("test.ron", &format!("({head}{rest})")).unwrap_or_else(|e| panic!("{e}"))
}

/// A shipped scenario that ends sooner.
fn shipped(name: &str, end: &str) -> Scenario {
    let shipped = shipped_scenarios().iter().find(|own| own.name == name).unwrap();
    let at = shipped.text.find("duration: ").unwrap();
    let tail = &shipped.text[at..];
    let line = &tail[..tail.find(',').unwrap()];
    let text = shipped.text.replacen(line, &format!("duration: \"{end}\""), 1);
    Scenario::parse("test.ron", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn whole(scenario: &Scenario, fidelity: Fidelity) -> (Simulated, Trace) {
    let mut recorder = Recorder::default();
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    let done = prepared.run(scenario.seed(), Limits::default(), &mut recorder).unwrap();
    (done, recorder.into_trace())
}

fn kept(scenario: &Scenario, fidelity: Fidelity, at: SimTime) -> (Simulated, Snapshot) {
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    let start = Start::Afresh(scenario.seed());
    let ran = prepared.run_from(start, Some(at), Limits::default(), &mut Deaf).unwrap();
    (ran.simulated, ran.snapshot.unwrap())
}

fn resumed(scenario: &Scenario, fidelity: Fidelity, snapshot: &Snapshot) -> (Ran, Trace) {
    let mut recorder = Recorder::default();
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    let start = Start::From(snapshot);
    let ran = prepared.run_from(start, None, Limits::default(), &mut recorder).unwrap();
    (ran, recorder.into_trace())
}

fn refused(scenario: &Scenario, snapshot: &Snapshot) -> String {
    let prepared = Prepared::new(scenario, Fidelity::Phase).unwrap();
    let start = Start::From(snapshot);
    let ran = prepared.run_from(start, None, Limits::default(), &mut Deaf);
    ran.unwrap_err().to_string()
}

fn goes_on_to_the_same_end(scenario: &Scenario, fidelity: Fidelity, moments: &[u64]) {
    let (expected, trace) = whole(scenario, fidelity);
    for at in moments.iter().map(|at| SimTime(*at)) {
        let (with, snapshot) = kept(scenario, fidelity, at);
        assert_eq!(with, expected, "a snapshot at {at} changes nothing");
        let text = snapshot.to_json();
        let read = Snapshot::from_json(&text).unwrap();
        assert_eq!(read.to_json(), text, "written again it is the same");
        let (ran, rest) = resumed(scenario, fidelity, &read);
        assert_eq!(ran.simulated, expected, "taken up at {at}");
        assert!(ran.changed.is_empty());
        // What the second trace holds is the end of the first.
        for (wave, all) in rest.power.iter().zip(&trace.power) {
            assert!(wave.at(SimTime(at.0 - 1)).is_nan(), "before {at} is unknown");
            assert_eq!(wave.at(at), all.at(at));
            let later = |points: &[(SimTime, f64)]| -> Vec<(SimTime, f64)> {
                points.iter().copied().filter(|(time, _)| *time > at).collect()
            };
            assert_eq!(later(wave.points()), later(all.points()), "after {at}");
        }
    }
}

#[test]
fn a_run_that_is_taken_up_ends_as_it_would_have() {
    // Between wakes, within a look, and long after quantiles went over to buckets.
    goes_on_to_the_same_end(
        &shipped("keyword_node", "20 s"),
        Fidelity::Layer,
        &[SECOND, 7 * SECOND + 12_345_678_901, 19 * SECOND],
    );
    goes_on_to_the_same_end(
        &shipped("wake_camera", "120 s"),
        Fidelity::Layer,
        &[SECOND / 3, 60 * SECOND + 77, 119 * SECOND],
    );
    goes_on_to_the_same_end(&shipped("phone_day", "2 h"), Fidelity::Layer, &[3000 * SECOND]);
}

#[test]
fn tiles_that_contend_go_on_where_they_were() {
    let scenario = scenario(
        "edge_soc_example",
        r#"duration: "60 ms", seed: 3, workloads: [
            (name: "a", model: "mobilenet_v2", arrivals: ClosedLoop(clients: 3, think: Exponential("1 ms")), priority: 2, batch: (size: 2, timeout: "1 ms")),
            (name: "b", model: "ic_resnet8", place: [("*", "dsp")], arrivals: Bursts(quiet_rate: "50 Hz", quiet_stay: "5 ms", burst_rate: "2 kHz", burst_stay: "3 ms"), queue: (limit: 5, when_full: DropOldest)),
        ]"#,
    );
    for fidelity in [Fidelity::Phase, Fidelity::Tile] {
        let ms = SECOND / 1000;
        goes_on_to_the_same_end(&scenario, fidelity, &[ms, 13 * ms + 771_001, 59 * ms + 3]);
    }
}

#[test]
fn batteries_rails_and_states_go_on_where_they_were() {
    let scenario = scenario(
        "edge_soc_example",
        r#"duration: "3 s", seed: 3,
        supply: Battery(supply: "battery", charge: "40 %"),
        workloads: [(name: "a", model: "vww_mobilenetv1_025", arrivals: Poisson(rate: "40 Hz"))],
        rest: {"npu": (state: "retention", policy: Predictive(weight: "50 %")), "gpu": (state: "off")}"#,
    );
    goes_on_to_the_same_end(&scenario, Fidelity::Phase, &[SECOND / 7, 2 * SECOND + 1]);
}

#[test]
fn arrivals_of_a_file_go_on_where_they_were() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("events.csv");
    std::fs::write(&file, "time_ms\n5\n100\n# a remark\n250\n251\n900\n").unwrap();
    let path = file.to_string_lossy().replace('\\', "/");
    let scenario = scenario(
        "stm32l4r5",
        &format!(
            r#"duration: "4 s", workloads: [(name: "a", model: "ad_autoencoder", arrivals: Recorded(file: "{path}", repeat: "1 s"))]"#
        ),
    );
    goes_on_to_the_same_end(&scenario, Fidelity::Phase, &[SECOND / 4 + 1, 2 * SECOND + 1]);
}

fn resting(rest: &str, priority: u32, end: &str) -> Scenario {
    scenario(
        "stm32l4r5",
        &format!(
            r#"duration: "{end}", seed: 5, workloads: [(name: "a", model: "ad_autoencoder", arrivals: Periodic(period: "1 s"), priority: {priority})], rest: {rest}"#
        ),
    )
}

const STOPS: &str = r#"{"core": (state: "stop2", policy: Timeout("100 ms"))}"#;

#[test]
fn a_what_if_branches_from_a_moment_and_differs_only_from_there_on() {
    let base = resting(STOPS, 0, "10 s");
    let (before, snapshot) = kept(&base, Fidelity::Phase, SimTime(5 * SECOND + SECOND / 2));
    let eager = resting(&STOPS.replace("100 ms", "1 ms"), 0, "10 s");
    let (ran, _) = resumed(&eager, Fidelity::Phase, &snapshot);
    let changed: Vec<_> = ran.changed.iter().map(|own| own.policy.as_str()).collect();
    assert_eq!(changed, ["rest of core"]);
    assert_eq!(ran.changed[0].was, "stop2, after 100.0 ms without work");
    assert_eq!(ran.changed[0].is, "stop2, after 1.000 ms without work");
    // Of the ten idle times the last four are shorter by 99 ms each on the way to rest.
    let on = |run: &Simulated| run.domains[0].residency.on;
    let (all, _) = whole(&eager, Fidelity::Phase);
    let saved = |run: &Simulated| on(&before).0 - on(run).0;
    assert_eq!(saved(&all) * 4, saved(&ran.simulated) * 10);
    assert_eq!(saved(&ran.simulated), 4 * 99_000_000_000);
    assert!(ran.simulated.ledger.source < before.ledger.source);
    assert!(ran.simulated.ledger.source > all.ledger.source);
}

#[test]
fn a_branch_may_last_longer_or_be_cut_short() {
    let base = resting(STOPS, 0, "4 s");
    let (_, snapshot) = kept(&base, Fidelity::Phase, SimTime(2 * SECOND));
    for end in ["3 s", "9 s"] {
        let other = resting(STOPS, 0, end);
        let (ran, _) = resumed(&other, Fidelity::Phase, &snapshot);
        assert_eq!(ran.changed[0].policy, "end");
        assert_eq!(ran.simulated, whole(&other, Fidelity::Phase).0, "{end}");
    }
    let said = refused(&resting(STOPS, 0, "2 s"), &snapshot);
    assert!(said.contains("is of 2.000") && said.contains("end at 2.000"), "{said}");
}

#[test]
fn what_cannot_be_taken_up_is_told_with_what_differs() {
    let base = resting(STOPS, 0, "4 s");
    let (_, snapshot) = kept(&base, Fidelity::Phase, SimTime(2 * SECOND + SECOND / 2));
    let other = scenario(
        "stm32l4r5",
        r#"duration: "4 s", workloads: [(name: "a", model: "kws_ds_cnn", arrivals: Periodic(period: "2 s"))]"#,
    );
    let said = refused(&other, &snapshot);
    assert!(said.contains("arrivals of a, work of a differ\nhelp: "), "{said}");
    let said = refused(&resting("{}", 0, "4 s"), &snapshot);
    assert!(said.contains("domain `core` is at rest"), "{said}");
    // Priorities may change.
    assert_eq!(resumed(&resting(STOPS, 3, "4 s"), Fidelity::Phase, &snapshot).0.changed.len(), 1);
}

#[test]
fn a_snapshot_that_was_edited_or_is_none_is_told() {
    let base = resting(STOPS, 0, "4 s");
    let (_, snapshot) = kept(&base, Fidelity::Phase, SimTime(2 * SECOND));
    let text = snapshot.to_json();
    let told = |text: &str| Snapshot::from_json(text).unwrap_err().to_string();
    assert!(told(&text.replacen("\"seed\":5", "\"seed\":6", 1)).contains("digest does not fit"));
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let said = told(&text.replacen(&version, "\"version\":\"0.1.0\"", 1));
    assert!(said.contains("written by version 0.1.0"), "{said}");
    assert!(told("{}").contains("no snapshot of a run"));
    assert!(told(&text[..text.len() / 2]).contains("no snapshot of a run"));
    assert!(told(&text.replacen("snapshot/1", "snapshot/7", 1)).contains("snapshot/7"));
}
