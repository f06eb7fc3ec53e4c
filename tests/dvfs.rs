//! Operating points that change while a scenario runs, against closed forms and runs that stay at one.

use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Limits, Prepared, Simulated, Snapshot, Start};
use joulecast::trace::{Deaf, Recorder};
use joulecast::units::SimTime;
use std::path::Path;

const MS: u64 = 1_000_000_000;
const SLOW: &str = "26mhz_3v0_smps";
const FAST: &str = "80mhz_3v0_smps";

fn read(folder: &Path, hardware: &str, point: &str, rest: &str) -> Result<Scenario, String> {
    let head = r#"schema: "joulecast.scenario/1", name: "dvfs", description: "a test","#;
    let text = format!("({head} hardware: \"{hardware}\", operating_point: \"{point}\", {rest})");
    let file = folder.join("test.ron").to_string_lossy().into_owned();
    Scenario::parse(&file, &text).map_err(|error| error.to_string())
}

fn scenario(hardware: &str, point: &str, rest: &str) -> Scenario {
    read(Path::new(""), hardware, point, rest).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, fidelity: Fidelity) -> Simulated {
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    prepared.run(scenario.seed(), Limits::default(), &mut Deaf).unwrap()
}

fn points(governor: &str) -> String {
    format!(r#"dvfs: (points: ["{FAST}", "{SLOW}"], governor: {governor})"#)
}

const WORK: &str = r#"inferences: 3, workloads: [(name: "a", model: "ad_autoencoder", arrivals: Periodic(period: "1 s"))], rest: {"core": (state: "stop2")},"#;

fn close(a: f64, b: f64, relative: f64, what: &str) {
    assert!((a - b).abs() <= relative * b.abs(), "{what}: {a} against {b}");
}

#[test]
fn a_governor_that_goes_elsewhere_at_once_runs_as_if_it_had_always_been_there() {
    for fidelity in [Fidelity::Layer, Fidelity::Phase, Fidelity::Tile] {
        for (start, governor, stays) in [
            (FAST, "Powersave", SLOW),
            (SLOW, "Performance", FAST),
            (FAST, &format!("Fixed(\"{SLOW}\")"), SLOW),
            (SLOW, "Powersave", SLOW),
        ] {
            let moved = scenario("stm32l4r5", start, &format!("{WORK} {}", points(governor)));
            let moved = run(&moved, fidelity);
            let stayed = run(&scenario("stm32l4r5", stays, WORK), fidelity);
            assert_eq!(moved.metrics.duration, stayed.metrics.duration, "{governor}");
            close(moved.ledger.source.0, stayed.ledger.source.0, 1e-12, governor);
            assert_eq!(moved.speeds.unwrap().changes, u64::from(start != stays));
            assert!(stayed.speeds.is_none());
        }
    }
}

/// A second of work at the slow clock, and nothing else for a long time.
fn one_task(hardware: &str, folder: &Path, start: &str, governor: &str) -> Simulated {
    let text = format!(
        r#"duration: "2 s", tasks: [(name: "t", engine: "cortex_m4", cycles: "26000000 cycle", arrivals: Periodic(period: "100 s"))],
        workloads: [(name: "a", model: "ad_autoencoder", arrivals: Periodic(period: "100 s", offset: "50 s"))], {}"#,
        points(governor)
    );
    run(&read(folder, hardware, start, &text).unwrap(), Fidelity::Phase)
}

fn response(done: &Simulated) -> f64 {
    done.streams.iter().find(|own| own.name == "t").unwrap().served.response.mean().0
}

#[test]
fn work_under_way_goes_on_at_the_new_speed() {
    let place = Path::new("");
    let slow = one_task("stm32l4r5", place, SLOW, "Powersave");
    let fast = one_task("stm32l4r5", place, SLOW, "Performance");
    close(response(&slow), 1.0, 1e-12, "26 million cycles at 26 MHz");
    close(response(&fast), 26.0 / 80.0, 1e-9, "the same at 80 MHz");
    // The first look sees an idle window and stays; the second one sees work and goes up. 2.6 million
    // cycles are done by then.
    let done = one_task("stm32l4r5", place, SLOW, r#"Ondemand(period: "100 ms")"#);
    close(response(&done), 0.1 + 23.4 / 80.0, 1e-9, "a tenth of a second slow, then fast");
    // It ends at 0.3925 s: the window up to 0.4 s was busy, that up to 0.5 s is not.
    let used = done.speeds.clone().unwrap();
    assert_eq!(used.changes, 2);
    assert_eq!(used.residency, [SimTime(1600 * MS), SimTime(400 * MS)]);
    // Dynamic energy is that of the cycles at either voltage.
    let engine = |done: &Simulated| done.ledger.by_component["cortex_m4"].0;
    let mixed = 0.1 * engine(&slow) + 0.9 * engine(&fast);
    close(engine(&done), mixed, 1e-9, "energy of the engine");
}

#[test]
fn schedutil_goes_up_when_tracked_utilisation_has_risen() {
    let done =
        one_task("stm32l4r5", Path::new(""), SLOW, r#"Schedutil(tick: "4 ms", rate_limit: "0 s")"#);
    // Utilisation rises to 26/80 (1 - 2^(-t / 32.768 ms)); a quarter more than it needs more than the slow clock
    // from four fifths of that on, 76.1 ms after the start: at the tick of 80 ms.
    close(response(&done), 0.08 + 23.92 / 80.0, 1e-9, "up at 80 ms");
}

#[test]
fn a_relock_halts_work_and_charging_a_rail_costs_what_it_stores() {
    let place = tempfile::tempdir().unwrap();
    let profile = |more: &str| {
        let text = format!(
            r#"(schema: "joulecast.profile/1", name: "relocks", extends: "stm32l4r5", kind: Microcontroller, description: "For a test.",
            sources: {{"test": (kind: Assumed, citation: "made up")}}, {more}"#
        );
        std::fs::write(place.path().join("relocks.ron"), text).unwrap();
    };
    let race = "RaceToIdle";
    let hardware = "relocks.ron";
    let go = || one_task(hardware, place.path(), SLOW, race);
    profile("speed_change: (relock: \"10 ms @test\", halts: true))");
    let halted = go();
    close(response(&halted), 0.01 + 26.0 / 80.0, 1e-9, "nothing runs for ten milliseconds");
    // A second one comes while the clock goes down after the first: it waits for the end of that relock, at
    // 30 ms, and of the next one.
    let two = format!(
        r#"duration: "100 ms", tasks: [
          (name: "a", engine: "cortex_m4", cycles: "800000 cycle", arrivals: Periodic(period: "1 s")),
          (name: "t", engine: "cortex_m4", cycles: "800000 cycle", arrivals: Periodic(period: "1 s", offset: "25 ms"))],
        workloads: [(name: "n", model: "ad_autoencoder", arrivals: Periodic(period: "100 s", offset: "50 s"))], {}"#,
        points(race)
    );
    let two = run(&read(place.path(), hardware, SLOW, &two).unwrap(), Fidelity::Phase);
    close(response(&two), 0.025, 1e-9, "asked for in the middle of a relock");
    profile("speed_change: (relock: \"10 ms @test\"))");
    close(response(&go()), 0.01 + 25.74 / 80.0, 1e-9, "it runs slowly for ten milliseconds");
    profile("speed_change: (latency: \"50 ms @test\"))");
    close(response(&go()), 0.05 + 24.7 / 80.0, 1e-9, "a stated latency");
    // From 1.00 V to 1.20 V at 1 V/s, and 1 mF behind it.
    profile(
        "regulators: [(name: \"smps_light\", slew: \"1 mV/ms @test\", output_capacitance: \"1 mF @test\")])",
    );
    let ramped = go();
    close(response(&ramped), 0.2 + 20.8 / 80.0, 1e-9, "the ramp takes two tenths of a second");
    let transition = ramped.ledger.of(&joulecast::trace::Cause::Transition).0;
    let stored = 0.5 * 1e-3 * (1.2f64.powi(2) - 1.0);
    close(transition, stored, 1e-9, "what the capacitance stores");
}

#[test]
fn a_run_between_points_can_be_taken_up_in_the_middle_of_anything() {
    let text = format!(
        r#"duration: "600 ms", seed: 7, workloads: [(name: "a", model: "ad_autoencoder", arrivals: Poisson(rate: "12 Hz ±0%"))],
        rest: {{"core": (state: "stop2")}}, {}"#,
        points(r#"Ondemand(period: "10 ms")"#)
    );
    let scenario = scenario("stm32l4r5", SLOW, &text);
    let prepared = Prepared::new(&scenario, Fidelity::Tile).unwrap();
    let mut recorder = Recorder::default();
    let whole = prepared.run(7, Limits::default(), &mut recorder).unwrap();
    assert!(whole.speeds.as_ref().unwrap().changes > 4, "{:?}", whole.speeds);
    for at in [3, 101, 222, 333, 599] {
        let keep = Some(SimTime(at * MS + 12_345));
        let ran = prepared.run_from(Start::Afresh(7), keep, Limits::default(), &mut Deaf).unwrap();
        assert_eq!(ran.simulated, whole);
        let snapshot = Snapshot::from_json(&ran.snapshot.unwrap().to_json()).unwrap();
        let start = Start::From(&snapshot);
        let again = prepared.run_from(start, None, Limits::default(), &mut Deaf).unwrap();
        assert_eq!(again.simulated, whole, "taken up at {at} ms");
    }
}

#[test]
fn joules_add_up_while_points_change_under_contention() {
    let text = r#"duration: "20 ms", workloads: [
        (name: "a", model: "mobilenet_v2", arrivals: BackToBack),
        (name: "b", model: "ic_resnet8", place: [("*", "dsp")], arrivals: Poisson(rate: "400 Hz ±0%"))],
        dvfs: (points: ["efficient", "balanced"], governor: SimpleOndemand(period: "1 ms"))"#;
    for fidelity in [Fidelity::Phase, Fidelity::Tile] {
        // A breach of the identity is an error of the run.
        let done = run(&scenario("edge_soc_example", "balanced", text), fidelity);
        assert!(done.ledger.residuals().largest() < 1e-9);
    }
}

#[test]
fn points_that_cannot_be_gone_between_are_told() {
    let said = |point: &str, dvfs: &str| {
        let text = format!("{WORK} dvfs: {dvfs}");
        read(Path::new(""), "stm32l4r5", point, &text).unwrap_err()
    };
    let unknown = said(FAST, r#"(points: ["80mhz_3v0_smp"], governor: Performance)"#);
    assert!(unknown.contains("did you mean") && unknown.contains("dvfs.points[0]"), "{unknown}");
    let elsewhere = said(FAST, &format!(r#"(points: ["{SLOW}"], governor: Performance)"#));
    assert!(elsewhere.contains("starts at `80mhz_3v0_smps`"), "{elsewhere}");
    let fed =
        said(FAST, &format!(r#"(points: ["{FAST}", "120mhz_3v0_smps"], governor: Powersave)"#));
    assert!(fed.contains("smps_light") && fed.contains("does not change regulators"), "{fed}");
    let period = said(FAST, &format!(r#"(points: ["{FAST}"], governor: Ondemand(period: "0 s"))"#));
    assert!(period.contains("dvfs.governor.Ondemand"), "{period}");
    let twice = said(FAST, &format!(r#"(points: ["{FAST}", "{FAST}"], governor: Powersave)"#));
    assert!(twice.contains("is there twice"), "{twice}");
}
