//! The simulator of scenarios: what contention, queues, power states and fidelities do, against closed
//! forms.

use joulecast::estimate::estimate;
use joulecast::mapping::plan;
use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Limits, Prepared, Simulated};
use joulecast::trace::{Cause, Recorder, SpanKind, Trace};
use joulecast::units::Joules;

const FIDELITIES: [Fidelity; 3] = [Fidelity::Layer, Fidelity::Phase, Fidelity::Tile];

fn scenario(hardware: &str, rest: &str) -> Scenario {
    let head = format!(
        r#"schema: "joulecast.scenario/1", name: "test", description: "a test", hardware: "{hardware}","#
    );
    Scenario::parse("test.ron", &format!("({head}{rest})")).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario, fidelity: Fidelity) -> Simulated {
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    prepared.run(scenario.seed(), Limits::default(), &mut joulecast::trace::Deaf).unwrap()
}

fn traced(scenario: &Scenario, fidelity: Fidelity) -> (Simulated, Trace) {
    let mut recorder = Recorder::default();
    let prepared = Prepared::new(scenario, fidelity).unwrap();
    let done = prepared.run(scenario.seed(), Limits::default(), &mut recorder).unwrap();
    (done, recorder.into_trace())
}

fn close(a: f64, b: f64, relative: f64, what: &str) {
    assert!((a - b).abs() <= relative * b.abs(), "{what}: {a} against {b}");
}

#[test]
fn without_contention_all_fidelities_take_the_same_time_and_the_same_energy() {
    for (hardware, model) in [
        ("edge_soc_example", "vww_mobilenetv1_025"),
        ("edge_soc_example", "mobilenet_v2"),
        ("gap9", "ic_resnet8"),
        ("ethos_u55_256", "kws_ds_cnn"),
        ("stm32l4r5", "kws_ds_cnn"),
        ("eyeriss", "ic_resnet8"),
    ] {
        let scenario = scenario(
            hardware,
            &format!(
                r#"inferences: 3, workloads: [(name: "a", model: "{model}", arrivals: BackToBack)]"#
            ),
        );
        let [layer, phase, tile] = FIDELITIES.map(|fidelity| run(&scenario, fidelity));
        assert_eq!(phase.metrics.duration, layer.metrics.duration, "{model} on {hardware}");
        assert_eq!(phase.metrics.duration, tile.metrics.duration, "{model} on {hardware}");
        for other in [&layer, &tile] {
            let (found, expected) = (other.metrics.load_energy.0, phase.metrics.load_energy.0);
            close(found, expected, 1e-12, &format!("{model} on {hardware}"));
        }
        // Three inferences of the closed form.
        let placed = &scenario.workloads[0].placed;
        let setting = scenario.setting(placed);
        let expected = estimate(&plan(&placed.network, setting), setting);
        close(phase.metrics.load_energy.0, 3.0 * expected.load_energy.0, 1e-7, "closed form");
    }
}

#[test]
fn tiles_have_events_of_their_own() {
    let scenario = scenario(
        "gap9",
        r#"inferences: 1, workloads: [(name: "a", model: "mobilenet_v2", arrivals: BackToBack)]"#,
    );
    let [layer, phase, tile] = FIDELITIES.map(|fidelity| run(&scenario, fidelity).events);
    assert!(layer < phase && 2 * phase < tile, "{layer} {phase} {tile}");
}

/// Two networks on two engines that both work from DRAM.
fn contended(second: &str) -> Scenario {
    scenario(
        "edge_soc_example",
        &format!(
            r#"operating_point: "balanced", duration: "200 ms", workloads: [
                (name: "gpu", model: "mobilenet_v2", place: [("*", "gpu")], arrivals: BackToBack),
                {second}
            ]"#
        ),
    )
}

#[test]
fn engines_that_share_a_memory_slow_each_other_down_and_spend_no_joule_more_on_work() {
    let cpu =
        r#"(name: "cpu", model: "mobilenet_v2", place: [("*", "cpu")], arrivals: BackToBack)"#;
    for fidelity in FIDELITIES {
        let alone = run(&contended(""), fidelity);
        let both = run(&contended(cpu), fidelity);
        let latency = |done: &Simulated| done.streams[0].served.latency.mean().0;
        assert!(latency(&both) > 1.01 * latency(&alone), "{fidelity:?}");
        assert!(both.contended.iter().any(|time| time.seconds().0 > 0.0));
        assert!(alone.contended.iter().all(|time| time.seconds().0 == 0.0));
        assert!(both.ledger.residuals().hold());
    }
}

#[test]
fn a_run_that_is_cut_anywhere_keeps_the_identity_of_joules() {
    let cpu = r#"(name: "cpu", model: "resnet50", place: [("*", "cpu")], arrivals: BackToBack)"#;
    let scenario = contended(cpu);
    let prepared = Prepared::new(&scenario, Fidelity::Tile).unwrap();
    for most in [1, 2, 17, 101, 157] {
        let limits = Limits { max_events: Some(most), interrupt: None };
        let done = prepared.run(1, limits, &mut joulecast::trace::Deaf).unwrap();
        assert!(done.ending.is_incomplete());
        assert_eq!(done.events, most);
        // `run` itself fails where it does not hold.
        assert!(done.ledger.residuals().hold());
    }
}

#[test]
fn waiting_for_an_engine_is_that_of_pollaczek_and_khinchine() {
    let text = |rate: f64| {
        format!(
            r#"duration: "20000 s", seed: 4, fidelity: Layer, workloads: [
            (name: "a", model: "kws_ds_cnn", arrivals: Poisson(rate: "{rate} Hz"))]"#
        )
    };
    let alone = scenario("stm32l4r5", &text(1e-3));
    let service = run(&alone, Fidelity::Layer).streams[0].served.latency.mean().0;
    let busy = scenario("stm32l4r5", &text(0.7 / service));
    let done = run(&busy, Fidelity::Layer);
    let served = &done.streams[0].served;
    let waited = served.response.mean().0 - served.latency.mean().0;
    // ρ S / (2 (1 - ρ)) at ρ = 0.7.
    close(waited, 0.7 * service / 0.6, 0.04, "mean wait");
    assert!(served.done > 100_000);
}

#[test]
fn the_urgent_waits_for_one_layer_at_most_and_the_other_for_what_is_left() {
    let scenario = scenario(
        "stm32l4r5",
        r#"duration: "60 s", workloads: [
            (name: "slow", model: "ic_resnet8", arrivals: BackToBack),
            (name: "urgent", model: "kws_ds_cnn", arrivals: Periodic(period: "500 ms", offset: "17 ms"), priority: 1),
        ]"#,
    );
    let (done, trace) = traced(&scenario, Fidelity::Layer);
    let longest = trace.spans.iter().filter(|s| s.kind == SpanKind::Layer);
    let longest = longest.map(|s| s.end.since(s.start).seconds().0).fold(0.0, f64::max);
    let urgent = &done.streams[1].served;
    let alone = urgent.latency.mean().0;
    assert!(urgent.response.longest().0 <= longest + alone + 1e-9);
    assert!(urgent.response.longest().0 > alone, "it does wait");
    assert_eq!(urgent.asked, 120);
    // The engine is never idle: what the urgent one takes, the other lacks.
    close(done.engines[0].seconds().0, 60.0, 1e-9, "busy");
}

const NODE: &str = r#"duration: "10 s", workloads: [
    (name: "a", model: "ic_resnet8", arrivals: Periodic(period: "100 ms"))],"#;

fn rested(policy: &str) -> Simulated {
    let domains = ["cpu", "npu", "gpu", "dsp", "dram"];
    let states = ["cluster_off", "off", "off", "off", "self_refresh"];
    let rests = domains.iter().zip(states);
    let rests: String =
        rests.map(|(d, s)| format!(r#""{d}": (state: "{s}", policy: {policy}),"#)).collect();
    run(&scenario("edge_soc_example", &format!("{NODE} rest: {{ {rests} }}")), Fidelity::Layer)
}

#[test]
fn knowing_the_future_costs_least_and_waiting_longer_saves_less() {
    let never = run(&scenario("edge_soc_example", NODE), Fidelity::Layer).ledger.source.0;
    let of = |policy: &str| rested(policy).ledger.source.0;
    let (oracle, even) = (of("Oracle"), of("BreakEven"));
    let (at_once, late) = (of("Immediately"), of(r#"Timeout("90 ms")"#));
    assert!(oracle <= even * (1.0 + 1e-9) && oracle <= at_once * (1.0 + 1e-9), "{oracle} {even}");
    assert!(even < late && late < never, "{even} {late} {never}");
}

#[test]
fn every_waking_is_booked_with_its_energy_and_residencies_fill_the_run() {
    let done = rested("Immediately");
    let npu = done.domains.iter().find(|d| d.name == "npu").unwrap();
    assert!(npu.residency.wakes >= 100);
    for domain in &done.domains {
        let r = domain.residency;
        assert_eq!(r.on.0 + r.resting.0 + r.waking.0, 10_000_000_000_000, "{}", domain.name);
    }
    // 2 uJ each, and the power of the domains in the 50 us that it takes.
    let transition = done.ledger.by_cause[&Cause::Transition];
    assert!(transition > Joules(2e-6 * 100.0));
    close(npu.residency.waking.seconds().0, npu.residency.wakes as f64 * 50e-6, 1e-9, "waking");
    let gpu = done.domains.iter().find(|d| d.name == "gpu").unwrap();
    assert_eq!((gpu.residency.wakes, gpu.residency.on.0), (0, 0), "nothing needs it");
}

#[test]
fn a_domain_rests_between_layers_that_do_not_need_it() {
    let text = |rest: &str| {
        format!(
            r#"inferences: 2, workloads: [(name: "a", model: "vww_mobilenetv1_025", arrivals: BackToBack)],
               rest: {{ {rest} }}"#
        )
    };
    let gated = scenario("edge_soc_example", &text(r#""npu": (state: "clock_gated")"#));
    let open = scenario("edge_soc_example", &text(""));
    let (gated, trace) = traced(&gated, Fidelity::Phase);
    let open = run(&open, Fidelity::Phase);
    let npu = gated.domains.iter().find(|d| d.name == "npu").unwrap().residency;
    let layers = trace.spans.iter().filter(|s| s.kind == SpanKind::Layer && s.track == "npu");
    let at_work: f64 = layers.map(|s| s.end.since(s.start).seconds().0).sum();
    // On for its own layers, and for others' that move through its memory.
    let (on, resting) = (npu.on.seconds().0, npu.resting.seconds().0);
    assert!(on >= at_work * (1.0 - 1e-9) && resting > 0.0 && npu.wakes >= 2, "{npu:?} {at_work}");
    assert_eq!(gated.metrics.duration, open.metrics.duration, "it wakes at once");
    assert!(gated.ledger.source < open.ledger.source);
}

#[test]
fn requests_that_are_served_together_fetch_their_weights_once() {
    let text = |batch: &str| {
        format!(
            r#"inferences: 64, workloads: [(name: "a", model: "ic_resnet8",
               arrivals: ClosedLoop(clients: 8, think: Fixed("0 s")), {batch})]"#
        )
    };
    let single = run(&scenario("edge_soc_example", &text("")), Fidelity::Phase);
    let eight = r#"batch: (size: 8, timeout: "1 ms")"#;
    let together = run(&scenario("edge_soc_example", &text(eight)), Fidelity::Phase);
    assert_eq!((single.inferences(), together.inferences()), (64, 64));
    assert!(together.streams[0].served.passes <= 9);
    assert!(together.ledger.source < single.ledger.source);
    assert!(together.metrics.duration < single.metrics.duration);
}

#[test]
fn what_cannot_keep_up_is_a_result_with_its_figures() {
    let scenario = scenario(
        "stm32l4r5",
        r#"duration: "60 s", workloads: [(name: "a", model: "ic_resnet8",
           arrivals: Periodic(period: "100 ms"), deadline: "1 s", queue: (limit: 4))]"#,
    );
    let done = run(&scenario, Fidelity::Phase);
    let served = &done.streams[0].served;
    assert_eq!(served.asked, 600);
    assert!(served.refused > 300 && served.deadlines.lost == served.refused);
    assert_eq!(
        served.asked,
        served.done + served.refused + served.dropped + done.streams[0].unfinished
    );
    close(done.engines[0].seconds().0, 60.0, 0.02, "busy all the time");
    close(served.busy.seconds().0, 60.0, 0.02, "in service all the time");
}

#[test]
fn a_cascade_wakes_its_stages_as_often_as_its_rates_say() {
    let scenario = scenario(
        "edge_soc_example",
        r#"operating_point: "efficient", duration: "2000 s", seed: 9, fidelity: Layer, cascades: [(
            name: "door", every: "100 ms", events: Prevalence("10 %"), stages: [
              (name: "motion", runs: Detector(time: "2 ms", block: "camera_pipeline", state: "preview"), hit: "90 %", false_alarm: "5 %"),
              (name: "person", runs: Network(model: "vww_mobilenetv1_025"), hit: "80 %", false_alarm: "20 %"),
            ])]"#,
    );
    let done = run(&scenario, Fidelity::Layer);
    let [motion, person] = &done.streams[..] else { panic!() };
    // The one at the very end is beyond it.
    assert_eq!(motion.served.asked, 19_999);
    // 10 % x 0.9 + 90 % x 0.05 of the looks, within four standard deviations.
    let expected: f64 = 20_000.0 * 0.135;
    assert!((person.served.asked as f64 - expected).abs() < 4.0 * (expected * 0.865).sqrt());
    assert_eq!(person.served.done, person.served.asked - person.unfinished);
    // The block is at work for 2 ms of each 100 ms.
    let loads = &scenario.profile().spec().loads;
    let camera = loads.iter().position(|load| load.name == "camera_pipeline").unwrap();
    let state = loads[camera].states.iter().position(|s| s.name == "preview").unwrap();
    close(done.blocks[camera][state].seconds().0, 40.0, 1e-3, "time at work");
}

#[test]
fn blocks_go_through_their_states_for_their_shares() {
    let scenario = scenario(
        "edge_soc_example",
        r#"duration: "100 s", workloads: [(name: "a", model: "kws_ds_cnn", arrivals: Periodic(period: "10 s"))],
        background: {"modem": Residencies(every: "10 s", shares: [
            (state: "paging", share: "90 % ±0%"), (state: "transmit", share: "10 % ±0%")])}"#,
    );
    let done = run(&scenario, Fidelity::Layer);
    let loads = &scenario.profile().spec().loads;
    let modem = loads.iter().position(|load| load.name == "modem").unwrap();
    let times = |name: &str| {
        let state = loads[modem].states.iter().position(|s| s.name == name).unwrap();
        done.blocks[modem][state].seconds().0
    };
    close(times("paging"), 90.0, 1e-9, "paging");
    close(times("transmit"), 10.0, 1e-9, "transmit");
    // 4.3 mW and 900.3 mW at the rail, whatever the voltage does to the leak.
    let energy = done.ledger.by_component["modem"].0;
    close(energy, 90.0 * 4.3e-3 + 10.0 * 0.9003, 1e-6, "modem");
}

#[test]
fn the_seed_decides_everything() {
    let of = |seed: u64| {
        let text = format!(
            r#"duration: "30 s", seed: {seed}, workloads: [
                (name: "a", model: "kws_ds_cnn", arrivals: Poisson(rate: "5 Hz")),
                (name: "b", model: "ad_autoencoder", arrivals: Bursts(quiet_rate: "0.1 Hz", quiet_stay: "5 s", burst_rate: "20 Hz", burst_stay: "1 s"))]"#
        );
        traced(&scenario("stm32l4r5", &text), Fidelity::Layer)
    };
    let (one, other) = (of(1), of(1));
    assert_eq!(one.0, other.0);
    assert_eq!(one.1, other.1);
    assert_ne!(one.0.metrics.energy, of(2).0.metrics.energy);
}

#[test]
fn what_the_host_does_takes_its_time_and_its_energy_beside_the_network() {
    let text = |host: &str| {
        format!(
            r#"inferences: 2, workloads: [(name: "a", model: "ic_resnet8", place: [("*conv*", "npu")],
               arrivals: BackToBack, {host})]"#
        )
    };
    let bare = scenario("edge_soc_example", &text(""));
    let host = r#"host: (engine: "cpu", before: "200000 cycle ±0%", each_layer: "3000 cycle ±0%", after: "50000 cycle ±0%")"#;
    let hosted = scenario("edge_soc_example", &text(host));
    let placed = &hosted.workloads[0].placed;
    let plan = plan(&placed.network, hosted.setting(placed));
    let spec = hosted.profile().spec();
    let cpu = spec.engines.iter().position(|engine| engine.name == "cpu").unwrap();
    let steps = plan.steps.iter().filter(|step| !step.phases.is_empty());
    let others = steps.filter(|step| step.engine != cpu).count() as f64;
    let clock = hosted.point().clocks[hosted.profile().links().engine_domain[cpu]].0.0;
    let more = (250_000.0 + 3000.0 * others) / clock;
    let (bare, hosted) = (run(&bare, Fidelity::Phase), run(&hosted, Fidelity::Phase));
    let latency = |done: &Simulated| done.streams[0].served.latency.mean().0;
    close(latency(&hosted) - latency(&bare), more, 1e-6, "what the host takes");
    assert_eq!(hosted.streams[0].layers.last().map(String::as_str), Some("host"));
    // 844 pJ a busy cycle at 1.0 V, at the voltage of the point, and what stands meanwhile.
    let layer = hosted.streams[0].layers.len() - 1;
    let host = hosted.ledger.by_cause[&Cause::Layer { workload: 0, layer }].0;
    assert!(host > 2.0 * more * clock * 400e-12 && host < 2.0 * more * 2.0, "{host}");
}

#[test]
fn a_task_takes_its_engine_from_networks_that_are_less_urgent() {
    let text = |tasks: &str| {
        format!(
            r#"duration: "20 s", workloads: [(name: "a", model: "kws_ds_cnn", arrivals: Periodic(period: "100 ms"))],
               tasks: [{tasks}]"#
        )
    };
    // 120 MHz: a tenth of the processor in pieces of a millisecond.
    let radio = r#"(name: "radio", engine: "cortex_m4", cycles: "120000 cycle ±0%",
        arrivals: Periodic(period: "10 ms"), priority: 1)"#;
    let bare = run(&scenario("stm32l4r5", &text("")), Fidelity::Layer);
    let busy = run(&scenario("stm32l4r5", &text(radio)), Fidelity::Layer);
    let latency = |done: &Simulated| done.streams[0].served.latency.mean().0;
    // What it gets is nine tenths; layers are not broken off, so that it is less than that for few.
    let slower = latency(&busy) / latency(&bare);
    assert!((1.03..1.13).contains(&slower), "{slower}");
    assert_eq!(busy.streams[1].served.done, 2000);
    close(busy.engines[0].seconds().0 - bare.engines[0].seconds().0, 2.0, 1e-6, "busy");
}

#[test]
fn a_domain_that_is_asleep_at_the_point_rests_throughout() {
    let scenario = scenario(
        "rk3588",
        r#"operating_point: "npu_one_core", duration: "1 s",
           workloads: [(name: "a", model: "ic_resnet8", arrivals: Periodic(period: "100 ms"))]"#,
    );
    let done = run(&scenario, Fidelity::Layer);
    let gpu = done.domains.iter().find(|d| d.name == "gpu").unwrap();
    assert!(gpu.stays && gpu.state.is_some());
    assert_eq!((gpu.residency.resting.0, gpu.residency.on.0), (1_000_000_000_000, 0));
}
