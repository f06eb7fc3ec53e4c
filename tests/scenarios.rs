//! Scenario files: those that ship, and those that cannot be.

use joulecast::evidence::{FieldPath, Parameters};
use joulecast::sim::load::{Process, Tally};
use joulecast::sim::scenario::{
    End, Fidelity, PowerSource, Scenario, ScenarioSpec, Work, check, list, shipped_scenarios,
};
use joulecast::units::{Hertz, Seconds, SimTime, Watts};

/// A scenario that names two things that ship.
const SMALL: &str = r#"(
  schema: "joulecast.scenario/1",
  name: "small",
  description: "One network on one chip.",
  sources: {"guess": (kind: Assumed, citation: "for this test")},
  hardware: "edge_soc_example",
  operating_point: "balanced",
  duration: "1 min",
  seed: 4,
  workloads: [
    (name: "look", model: "vww_mobilenetv1_025", arrivals: Periodic(period: "100 ms"), deadline: "50 ms"),
  ],
  rest: {"npu": (state: "off", policy: Timeout("2 ms"))},
  background: {"modem": Steps(repeats: true, steps: [(state: "paging", lasts: "9 s"), (state: "connected", lasts: "1 s")])},
)"#;

fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = SMALL.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn said(changes: &[(&str, &str)]) -> String {
    Scenario::parse("small.ron", &changed(changes)).unwrap_err().to_string()
}

/// The place of the first occurrence of `what`, as messages show it.
fn place_of(text: &str, what: &str) -> String {
    let before = &text[..text.find(what).unwrap_or_else(|| panic!("{what}"))];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("small.ron:{line}:{column}")
}

fn outlook(changes: &[(&str, &str)]) -> joulecast::sim::scenario::Outlook {
    let text = changed(changes);
    let scenario = Scenario::parse("small.ron", &text).unwrap_or_else(|e| panic!("{e}"));
    scenario.outlook().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_shipped_scenario_is_sound_and_goes_as_it_is_asked() {
    assert_eq!(list().len(), shipped_scenarios().len());
    for shipped in shipped_scenarios() {
        let (scenario, outlook) = check(shipped.name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.spec().name, shipped.name);
        assert!(outlook.warnings.is_empty(), "{}: {:?}", shipped.name, outlook.warnings);
        assert!(!outlook.streams.is_empty());
        // What is claimed of the world has a source, if only a reason.
        let mut unsourced = Vec::new();
        scenario.spec().clone().walk(&mut FieldPath::root(), &mut |path, number| {
            if number.is_statement() && number.source.is_none() && number.value != 0.0 {
                unsourced.push(path.to_string());
            }
        });
        assert!(unsourced.is_empty(), "{}: no source for {unsourced:?}", shipped.name);
    }
}

#[test]
fn a_day_of_use_is_what_its_file_says() {
    let scenario = Scenario::load("phone_day").unwrap();
    assert_eq!(scenario.end, End::After(SimTime(86_400_000_000_000_000)));
    assert_eq!(scenario.fidelity(), Fidelity::Layer);
    assert!(matches!(scenario.power, PowerSource::Battery { supply: 0, .. }));
    let loads = &scenario.profile().spec().loads;
    let display = loads.iter().position(|l| l.name == "display").unwrap();
    let shares = scenario.background[display].as_ref().unwrap().shares(3);
    // One and a half, three, and nineteen and a half hours of bright, dim and off.
    for (share, hours) in shares.iter().zip([1.5, 3.0, 19.5]) {
        assert!((share * 24.0 - hours).abs() < 1e-9, "{shares:?}");
    }
    let face = scenario.workloads.iter().find(|w| w.name == "face").unwrap();
    let a_day = face.process.mean_rate().unwrap().0 * 86_400.0;
    assert!((a_day - 80.4).abs() < 0.1, "{a_day} unlocks a day");
    // The keyword spotter leaves the large engines alone.
    let keyword = &scenario.outlook().unwrap().streams[0];
    let busy = |name: &str| {
        let engines = &scenario.profile().spec().engines;
        keyword.engines[engines.iter().position(|e| e.name == name).unwrap()]
    };
    assert!(busy("hub_core") > Seconds::ZERO && busy("npu") == Seconds::ZERO);
}

#[test]
fn a_cascade_wakes_as_often_as_its_closed_form_says() {
    let scenario = Scenario::load("wake_camera").unwrap();
    let wake = &scenario.cascades[0];
    assert!(matches!(wake.stages[0].work, Work::Detector { block: Some(_), .. }));
    let expected = scenario.outlook().unwrap().cascades[0].clone().unwrap();
    let mut tally = Tally::of(&wake.cascade);
    for look in scenario.looks(wake, scenario.seed()).unwrap() {
        let look = look.unwrap();
        if look.at > SimTime(86_400_000_000_000_000) {
            break;
        }
        tally.add(&look);
    }
    assert_eq!(tally.looks(), 864_000);
    // 48 visits a day, of which a day has 7 more or less; each is 150 looks.
    let wakes = tally.wakes_per_hour(wake.cascade.look_rate());
    assert!((wakes / expected.wakes_per_hour() - 1.0).abs() < 0.1, "{wakes} {expected:?}");
    let recall = tally.recall(2).unwrap();
    assert!((recall - 0.95 * 0.8 * 0.9).abs() < 0.03, "{recall}");
}

#[test]
fn arrivals_are_made_by_the_seed_and_the_name_alone() {
    let scenario = |text: &str| Scenario::parse("small.ron", text).unwrap();
    let poisson = [("Periodic(period: \"100 ms\")", "Poisson(rate: \"10 Hz @guess\")")];
    let other = (
        "workloads: [",
        "workloads: [(name: \"more\", model: \"kws_ds_cnn\", arrivals: BackToBack),",
    );
    let times = |scenario: &Scenario, seed| {
        let look = scenario.workloads.iter().find(|w| w.name == "look").unwrap();
        let mut source = scenario.arrivals(look, seed).unwrap();
        (0..20).map(|_| source.coming().unwrap().unwrap()).collect::<Vec<_>>()
    };
    let alone = scenario(&changed(&poisson));
    let beside = scenario(&changed(&[poisson[0], other]));
    assert_eq!(times(&alone, 4), times(&beside, 4));
    assert_ne!(times(&alone, 4), times(&alone, 5));
}

#[test]
fn a_request_is_due_a_deadline_after_it_came() {
    let scenario = Scenario::parse("small.ron", SMALL).unwrap();
    let request = scenario.workloads[0].request(3, SimTime(7));
    assert_eq!((request.number, request.due), (3, Some(SimTime(50_000_000_007))));
    assert_eq!(scenario.workloads[0].request(3, SimTime(u64::MAX - 1)).due, None);
}

#[test]
fn faults_of_every_kind_are_told_together_with_field_line_and_hint() {
    let changes = [
        ("scenario/1", "scenario/2"),
        ("operating_point: \"balanced\"", "operating_point: \"balance\""),
        ("duration: \"1 min\"", "duration: \"1 minute\""),
        ("vww_mobilenetv1_025", "vww_mobilenetv1_25"),
        ("period: \"100 ms\"", "period: \"0 s\""),
        ("deadline: \"50 ms\"", "deadline: \"50 mW\""),
        ("policy: Timeout(\"2 ms\")", "policy: Timeout(\"2 V @nobody\")"),
        ("lasts: \"9 s\"", "lasts: 9"),
    ];
    let (text, said) = (changed(&changes), said(&changes));
    for (message, field, place) in [
        (
            "schema `joulecast.scenario/2` is not `joulecast.scenario/1`",
            "schema",
            "\"joulecast.scenario/2",
        ),
        (
            "has no operating point `balance`; did you mean `balanced`?",
            "operating_point",
            "\"balance\"",
        ),
        ("unknown unit `minute`", "duration", "minute"),
        (
            "`vww_mobilenetv1_25`; did you mean `vww_mobilenetv1_025`?",
            "workloads[0].model",
            "\"vww_mobilenetv1_25",
        ),
        ("a period must be at least a picosecond", "workloads[0].arrivals.Periodic", "Periodic("),
        ("`mW` is not a unit of duration", "workloads[0].deadline", "mW"),
        ("`V` is not a unit of duration", "rest.npu.policy.Timeout", "V @nobody"),
        ("not the bare number 9", "background.modem.Steps.steps[0].lasts", "9)"),
    ] {
        assert!(said.contains(message), "{message}:\n{said}");
        assert!(said.contains(field), "{field}:\n{said}");
        let place = place_of(&text, place);
        assert!(said.contains(&place), "{message} is not at {place}:\n{said}");
    }
    assert!(said.contains("8 faults in small.ron"), "{said}");
}

#[test]
fn names_of_the_hardware_are_looked_up_with_the_nearest() {
    for (from, to, part) in [
        ("edge_soc_example", "edge_soc_exampel", "did you mean `edge_soc_example`?"),
        ("rest: {\"npu\"", "rest: {\"nppu\"", "the hardware has no domain `nppu`"),
        ("state: \"off\"", "state: \"of\"", "did you mean `off`?"),
        ("background: {\"modem\"", "background: {\"modm\"", "did you mean `modem`?"),
        ("(state: \"paging\"", "(state: \"pging\"", "did you mean `paging`?"),
        ("seed: 4,", "seed: 4, corner: \"FF_hto\",", "did you mean `FF_hot`?"),
        ("seed: 4,", "seed: 4, software: \"cpu_runtime\",", "did you mean `cpu-runtime`?"),
        ("seed: 4,", "seed: 4, states: {\"display\": \"brigt\"},", "did you mean `bright`?"),
        (
            "seed: 4,",
            "seed: 4, states: {\"modem\": \"off\"},",
            "goes through states and stays in one",
        ),
        ("seed: 4,", "seed: 4, supply: Battery(supply: \"batery\"),", "did you mean `battery`?"),
        (
            "seed: 4,",
            "seed: 4, supply: Battery(supply: \"battery\", charge: \"120 %\"),",
            "between 0 and 100 %",
        ),
        ("deadline:", "place: [(\"softmax*\", \"npux\")], deadline:", "did you mean `npu`?"),
        ("deadline:", "place: [(\"nothing*\", \"npu\")], deadline:", "has no layer `nothing*`"),
        ("deadline:", "place: [(\"softmax*\", \"npu\")], deadline:", "cannot be placed there"),
    ] {
        let said = said(&[(from, to)]);
        assert!(said.contains(part), "{to}:\n{said}");
        assert!(said.contains("small.ron:"), "{to}:\n{said}");
    }
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    let cascade = |events: &str, stages: &str| {
        format!(
            "cascades: [(name: \"c\", every: \"1 s\", events: {events}, stages: [{stages}])],\n  rest:"
        )
    };
    let stage = |name: &str, hit: &str| {
        format!(
            "(name: \"{name}\", runs: Detector(time: \"1 ms\"), hit: \"{hit}\", false_alarm: \"1 %\"),"
        )
    };
    let two = stage("a", "90 %") + &stage("b", "90 %");
    let arrivals = "Periodic(period: \"100 ms\")";
    for (from, to, part) in [
        (
            arrivals,
            "Periodic(period: \"1 s\", jitter: \"2 s\")",
            "a jitter must be at most the period",
        ),
        (arrivals, "Poisson(rate: \"0 Hz\")", "a mean rate must be above zero"),
        (arrivals, "ClosedLoop(clients: 0, think: Fixed(\"1 s\"))", "clients are 1 to 100000"),
        (arrivals, "Recorded(file: \"nowhere.csv\")", "cannot read nowhere.csv"),
        (
            arrivals,
            "Bursts(quiet_rate: \"0 Hz\", quiet_stay: \"1 s\", burst_rate: \"0 Hz\", burst_stay: \"1 s\")",
            "less than one request",
        ),
        (arrivals, "Periodic(perod: \"1 s\")", "did you mean `period`?"),
        (arrivals, "Poison(rate: \"1 Hz\")", "did you mean `Poisson`?"),
        ("duration: \"1 min\",", "", "needs a `duration` or a number of `inferences`"),
        ("seed: 4,", "seed: 4, inferences: 5,", "not both"),
        ("duration: \"1 min\"", "inferences: 0", "at least one inference"),
        ("duration: \"1 min\"", "duration: \"300 day\"", "213 days"),
        ("deadline: \"50 ms\"", "batch: (size: 0, timeout: \"1 ms\")", "at least one request"),
        ("deadline: \"50 ms\"", "queue: (limit: 0)", "nobody could wait"),
        ("deadline: \"50 ms\"", "queue: (refuse_late: true)", "nothing is late without"),
        ("deadline: \"50 ms\"", "deadline: \"0 s\"", "a deadline must be above zero"),
        ("deadline: \"50 ms\"", "inferences_each: 0", "at least one inference"),
        ("name: \"look\"", "name: \"\"", "a name is printable text"),
        ("Timeout(\"2 ms\")", "Predictive(weight: \"0 %\")", "a weight lies above 0"),
        (
            "Steps(repeats: true, steps: [(state: \"paging\", lasts: \"9 s\"), (state: \"connected\", lasts: \"1 s\")])",
            "Residencies(every: \"1 h\", shares: [(state: \"paging\", share: \"80 %\")])",
            "add up to 80 %, not to 100 %",
        ),
        ("rest:", &cascade("Prevalence(\"5 %\")", &stage("a", "90 %")), "two stages or more"),
        ("rest:", &cascade("Prevalence(\"500 %\")", &two), "a prevalence lies between"),
        (
            "rest:",
            &cascade("Process(arrivals: BackToBack, lasts: \"1 s\")", &two),
            "wait for no answer",
        ),
        (
            "rest:",
            &cascade("Prevalence(\"5 %\")", &(stage("a", "190 %") + &stage("a", "90 %"))),
            "2 faults",
        ),
    ] {
        let said = said(&[(from, to)]);
        assert!(said.contains(part), "{to}:\n{said}");
    }
}

#[test]
fn a_record_stands_beside_its_scenario() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("events.csv"), "time_s\n1\n2\n5\n").unwrap();
    let text = changed(&[(
        "Periodic(period: \"100 ms\")",
        "Recorded(file: \"events.csv\", repeat: \"10 s\")",
    )]);
    let file = place.path().join("small.ron");
    let scenario = Scenario::parse(file.to_str().unwrap(), &text).unwrap();
    let Process::Recorded(record) = &scenario.workloads[0].process else { panic!("no record") };
    assert_eq!((record.events(), record.mean_rate()), (3, Some(Hertz(0.3))));
    std::fs::write(place.path().join("events.csv"), "time_s\n1\n0.5\n").unwrap();
    let said = Scenario::parse(file.to_str().unwrap(), &text).unwrap_err().to_string();
    assert!(said.contains("0.500000000000 s comes before 1.000000000000 s of line 2"), "{said}");
    assert!(said.contains("workloads[0].arrivals.Recorded.file"), "{said}");
}

#[test]
fn a_deadline_that_nothing_can_hold_is_a_warning_with_both_times() {
    assert_eq!(outlook(&[]).warnings, []);
    let tight = [("deadline: \"50 ms\"", "deadline: \"10 us\"")];
    let found = outlook(&tight);
    let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
    let shown = warning.to_string();
    let latency = found.streams[0].latency;
    assert!(shown.contains(&format!("takes {latency} at `balanced`")), "{shown}");
    assert!(shown.contains("its deadline of 10.00 µs"), "{shown}");
    assert!(shown.contains(&place_of(&changed(&tight), "\"10 us\"")), "{shown}");
    assert!(shown.contains("workloads[0].deadline"), "{shown}");
    // A request of many inferences takes as many times as long.
    let many = outlook(&[("deadline:", "inferences_each: 1000, deadline:")]);
    assert!((many.streams[0].request / latency - 1000.0).abs() < 1e-9);
    assert!(many.warnings.iter().any(|w| w.path == "workloads[0].deadline"));
}

#[test]
fn a_rate_that_an_engine_cannot_serve_is_a_warning_with_its_shares() {
    let found = outlook(&[("period: \"100 ms\"", "period: \"100 us\"")]);
    let busiest = found.engines.iter().max_by(|a, b| a.share.0.total_cmp(&b.share.0)).unwrap();
    assert!(busiest.share.0 > 1.0, "{:?}", found.engines);
    let warning = found.warnings.iter().find(|w| w.message.contains(&busiest.engine)).unwrap();
    let percent = format!("{:.0} % of its time (`look`", busiest.share.0 * 100.0);
    assert!(warning.message.contains(&percent), "{warning}");
    assert_eq!(warning.path, "workloads[0].arrivals");
    // The closed form is rate times time.
    let stream = &found.streams[0];
    let sum: f64 = stream.engines.iter().map(|time| time.0).sum();
    assert!((sum / stream.latency.0 - 1.0).abs() < 1e-9);
    let shares: f64 = found.engines.iter().map(|e| e.share.0).sum();
    assert!((shares / (stream.latency.0 * 1e4) - 1.0).abs() < 1e-6);
}

#[test]
fn batches_that_make_requests_late_or_never_fill_are_warnings() {
    let said = |batch: &str| {
        let found = outlook(&[("deadline: \"50 ms\"", batch)]);
        found.warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>().join("\n")
    };
    let late = said("deadline: \"50 ms\", batch: (size: 4, timeout: \"50 ms\")");
    assert!(late.contains("waits the whole 50.00 ms"), "{late}");
    assert_eq!(said("deadline: \"50 ms\", batch: (size: 4, timeout: \"20 ms\")"), "");
    let never = said("batch: (size: 4, timeout: \"20 ms\"), queue: (limit: 3)");
    assert!(never.contains("a batch of 4 never fills where only 3 may wait"), "{never}");
    let seldom = outlook(&[("period: \"100 ms\"", "period: \"2 min\"")]);
    assert!(seldom.warnings[0].message.contains("30.0000 an hour"), "{:?}", seldom.warnings);
}

#[test]
fn rest_pays_from_the_break_even_time_of_the_profile_on() {
    let found = outlook(&[]);
    let [npu] = found.rests.as_slice() else { panic!("{:?}", found.rests) };
    assert_eq!((npu.domain.as_str(), npu.state.as_str()), ("npu", "off"));
    // 2 uJ of waking and 50 us of the power while on, over what is saved.
    assert!((npu.cost.0 - (2e-6 + 50e-6 * npu.on.0)).abs() < 1e-15, "{npu:?}");
    let time = npu.break_even.unwrap();
    assert!((time.0 * (npu.on - npu.rest).0 / npu.cost.0 - 1.0).abs() < 1e-12);
    assert!(Seconds(1e-4) < time && time < Seconds(1e-2), "{npu:?}");
    // A clock of the example's NPU costs 9 pJ at 800 MHz, and 3 % of the leakage is left.
    assert!(npu.on.0 > 7.2e-3 && npu.rest.0 < 0.03 * (npu.on.0 - 7.2e-3) + 1e-9, "{npu:?}");
}

#[test]
fn a_policy_that_asks_for_a_break_even_time_where_there_is_none_is_a_warning() {
    let text = shipped_scenarios().iter().find(|s| s.name == "shared_npu").unwrap().text;
    let with = |policy: &str| {
        assert!(text.contains("\"big\": (state: \"off\", policy: Timeout(\"1 ms\"))"));
        let text = text.replacen("policy: Timeout(\"1 ms\")", policy, 1);
        let scenario = Scenario::parse("small.ron", &text).unwrap_or_else(|e| panic!("{e}"));
        scenario.outlook().unwrap()
    };
    // What the cores of this profile draw while they wait is part of the board.
    let plain = with("policy: Timeout(\"1 ms\")");
    let big = plain.rests.iter().find(|rest| rest.domain == "big").unwrap();
    assert_eq!((big.on, big.break_even), (Watts::ZERO, None));
    assert_eq!(plain.warnings, []);
    for policy in ["BreakEven", "Oracle", "Predictive(weight: \"50 %\")"] {
        let asked = with(&format!("policy: {policy}"));
        let [warning] = asked.warnings.as_slice() else { panic!("{:?}", asked.warnings) };
        assert!(warning.path == "rest.big" && warning.message.contains("no break-even time"));
    }
}

#[test]
fn a_network_that_runs_nowhere_is_an_error_with_its_name() {
    let text = changed(&[
        ("vww_mobilenetv1_025", "tinyllama_decode"),
        ("edge_soc_example", "stm32u585"),
        ("operating_point: \"balanced\",", ""),
        ("rest: {\"npu\": (state: \"off\", policy: Timeout(\"2 ms\"))},", ""),
    ]);
    let at = text.find("  background").unwrap();
    let text = format!("{})", &text[..at]);
    let scenario = Scenario::parse("small.ron", &text).unwrap_or_else(|e| panic!("{e}"));
    let said = scenario.outlook().unwrap_err().to_string();
    assert!(said.starts_with("look: nothing of `tinyllama_decode` takes time"), "{said}");
    assert!(said.contains("cortex_m33 does not run MatMul in Float16"), "{said}");
}

#[test]
fn clients_that_wait_have_bounds_of_their_rate() {
    let loops = "ClosedLoop(clients: 2, think: Fixed(\"1 s\"))";
    let found = outlook(&[("Periodic(period: \"100 ms\")", loops)]);
    let stream = &found.streams[0];
    let (least, most) = stream.rate_between.unwrap();
    // Two clients that think for a second, over an inference more or two.
    assert!((least.0 * (1.0 + 2.0 * stream.latency.0) - 2.0).abs() < 1e-9, "{least}");
    assert!((most.0 * (1.0 + stream.latency.0) - 2.0).abs() < 1e-9, "{most}");
    assert_eq!(stream.rate, None);
    let found = outlook(&[("Periodic(period: \"100 ms\")", "BackToBack")]);
    let (least, most) = found.streams[0].rate_between.unwrap();
    assert!(least == most && (most.0 * found.streams[0].latency.0 - 1.0).abs() < 1e-9);
    assert_eq!(found.warnings, []);
}

#[test]
fn what_stands_without_a_source_is_told_as_assumed() {
    let text = changed(&[("Periodic(period: \"100 ms\")", "Poisson(rate: \"10 Hz\")")]);
    let scenario = Scenario::parse("small.ron", &text).unwrap();
    assert_eq!(scenario.assumed(), ["workloads[0].arrivals.Poisson.rate"]);
    let sourced = changed(&[
        ("Periodic(period: \"100 ms\")", "Poisson(rate: \"10 Hz @count\")"),
        ("sources: {", "sources: {\"count\": (kind: Measured, citation: \"counted\"), "),
    ]);
    assert!(Scenario::parse("small.ron", &sourced).unwrap().assumed().is_empty());
}

#[test]
fn a_name_that_is_nothing_is_told_with_the_nearest() {
    let said = Scenario::load("phone_dya").unwrap_err().to_string();
    assert!(said.contains("did you mean `phone_day`?") && said.contains("keyword_node"), "{said}");
    assert!(Scenario::load("nowhere/x.ron").unwrap_err().to_string().contains("nowhere/x.ron"));
}

/// Every text cut short and every text with a byte changed is a scenario or an error in words.
#[test]
fn cut_and_changed_texts_are_a_scenario_or_an_error_in_words() {
    let told = |text: &str| {
        if let Err(report) = ScenarioSpec::parse("scenario.ron", text) {
            assert!(!report.faults().is_empty() && report.to_string().contains("scenario.ron"));
        }
    };
    for shipped in shipped_scenarios() {
        assert!(ScenarioSpec::parse(shipped.path, shipped.text).is_ok(), "{}", shipped.name);
        let text = shipped.text;
        for end in (0..text.len()).step_by(37).filter(|end| text.is_char_boundary(*end)) {
            told(&text[..end]);
        }
        for at in (0..text.len()).step_by(41) {
            let mut bytes = text.as_bytes().to_vec();
            for byte in [b'(', b'"', b'9', b'-', b'\0'] {
                bytes[at] = byte;
                if let Ok(text) = std::str::from_utf8(&bytes) {
                    told(text);
                }
            }
        }
    }
}

#[test]
fn the_example_of_the_page_is_a_scenario_and_the_page_names_those_that_ship() {
    let page = include_str!("../docs/scenarios.md");
    let example = page.split("```ron\n").nth(1).unwrap().split("```").next().unwrap();
    let scenario = Scenario::parse("docs/scenarios.md", example).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.outlook().unwrap().warnings, []);
    for shipped in shipped_scenarios() {
        assert!(page.contains(&format!("| `{}` |", shipped.name)), "{}", shipped.name);
    }
}
