//! What a package may say of heat, and what it may not: each fault is named with its field and place.

use crate::chips::{changed, chip_text, parsed};
use crate::errors::{file, refused};
use joulecast::hardware::{CriticalAt, Profile, Throttle};
use joulecast::physics::power_allocator::AllocatorGains;
use joulecast::units::{Celsius, Kelvins, Seconds, Watts};

const NODES: &str = r#"package: (
    ambient: "25 degC",
    network: Nodes(
      nodes: [
        (name: "npu", capacity: "10 mJ/K"),
        (name: "rest", capacity: "20 mJ/K"),
        (name: "sink", capacity: "25 J/K", to_air: "5 K/W"),
      ],
      joins: [
        (between: ("npu", "sink"), resistance: "2 K/W"),
        (between: ("rest", "sink"), resistance: "1.5 K/W"),
        (between: ("npu", "rest"), resistance: "6 K/W"),
      ],
    ),
    heats: {"unit": "rest", "modem": "sink"},
    sensors: [
      (name: "near", node: "rest", lag: "50 ms", resolution: "0.5 K", period: "10 ms"),
      (name: "far", node: "sink"),
    ],
    throttling: [
      StepWise(sensor: "far", trip: "85 degC", hysteresis: "3 K", caps: ["unit"]),
      PowerAllocator(
        switch_on: "65 degC", target: "75 degC", sustainable: "4.5 W", poll: "50 ms",
        gain_over: "0.3 W/K", actors: [(caps: "clock", weight: "2 x")],
      ),
    ],
    critical: (temperature: "105 degC", node: "rest"),
    ceiling: "150 degC",
  ),
  loads: [(name: "modem", rail: "rail", states: [(name: "on", voltage: "1 V", dynamic: "1 W")])],"#;

const RESPONSES: &str = r#"package: (
    ambient: "25 degC",
    network: Responses(
      blocks: ["npu", "rest"],
      terms: [
        (time_constant: "0.5 ms", resistances: [["0.1 K/W"], ["0.002 K/W", "0.08 K/W"]]),
        (time_constant: "90 s", resistances: [["2.01 K/W"], ["2 K/W", "2.02 K/W"]]),
      ],
    ),
    heats: {"domain": "rest"},
  ),"#;

fn text(package: &str, changes: &[(&str, &str)]) -> String {
    let array = r#"Lanes(macs: {Int8: "16 MAC/cycle"})"#;
    changed(&chip_text(array, "", package), changes)
}

fn profile(package: &str) -> Profile {
    parsed(&text(package, &[]))
}

#[test]
fn a_package_states_places_sensors_and_what_acts_by_them() {
    let profile = profile(NODES);
    let package = profile.spec().package.as_ref().unwrap();
    let heat = &profile.links().heat;
    assert_eq!((&heat.domain_node[..], &heat.engine_node[..]), (&[0][..], &[1][..]));
    assert_eq!((&heat.load_node[..], &heat.sensor_node[..]), (&[2][..], &[1, 2][..]));
    assert_eq!(heat.throttle_sensor, [1, 0]);
    assert_eq!(heat.throttle_clocks, [["clock"], ["clock"]]);
    assert_eq!(heat.critical, Some(CriticalAt::Node(1)));
    let modes = package.modes().unwrap();
    // From the first node to the sink: 2 K/W beside 6 + 1.5; then 5 K/W.
    let own = 2.0 * 7.5 / 9.5 + 5.0;
    assert!((modes.steady_resistance(0, 0).0 - own).abs() < 1e-12);
    let lags = package.sensor_lags(heat);
    assert_eq!((lags[0].place, lags[0].time), (1, Seconds(0.05)));
    assert_eq!((lags[1].place, lags[1].time), (2, Seconds(0.0)));
    let near = &package.sensors[0];
    assert_eq!((near.lag(), near.period()), (Seconds(0.05), Some(Seconds(0.01))));
    assert_eq!(near.reading().resolution, Kelvins(0.5));
    assert_eq!(package.sensors[1].reading().of(Celsius(84.74)), Celsius(84.74));
    let [Throttle::StepWise(steps), Throttle::PowerAllocator(budget)] = &package.throttling[..]
    else {
        panic!()
    };
    assert_eq!((steps.poll(), budget.poll()), (Seconds(0.1), Seconds(0.05)));
    assert_eq!(steps.law(6).trip, Celsius(85.0));
    let law = budget.law();
    assert_eq!(law.sustainable, Watts(4.5));
    // What is left out follows from what is given.
    let AllocatorGains { over, under, integral, derivative } = law.gains;
    assert_eq!((over, under, derivative), (0.3, 0.6, 0.0));
    assert!((integral - 0.06).abs() < 1e-15);
    assert!(package.critical.as_ref().unwrap().law().is_reached(Celsius(105.0)));
    assert_eq!(package.ceiling(), Celsius(150.0));
}

#[test]
fn blocks_of_a_fit_are_places_too() {
    let profile = profile(RESPONSES);
    let package = profile.spec().package.as_ref().unwrap();
    assert_eq!(profile.links().heat.engine_node, [1], "an engine goes with its domain");
    let modes = package.modes().unwrap();
    assert!((modes.steady_resistance(0, 1).0 - 2.002).abs() < 1e-12);
    assert!((modes.steady_resistance(1, 1).0 - 2.10).abs() < 1e-12);
}

#[test]
fn the_forms_of_old_are_one_place() {
    let foster = r#"package: (ambient: "25 degC", network: Foster([(resistance: "100 K/W", time_constant: "1 s")])),"#;
    let foster = profile(foster);
    let package = foster.spec().package.as_ref().unwrap();
    assert_eq!(package.node_names(), ["junction"]);
    assert!((package.modes().unwrap().steady_resistance(0, 0).0 - 100.0).abs() < 1e-12);
    assert_eq!(foster.links().heat.engine_node, [0]);
    let chain = Profile::load("edge_soc_example").unwrap();
    let package = chain.spec().package.as_ref().unwrap();
    assert_eq!(package.node_names(), ["die", "board", "case"]);
    assert!((package.modes().unwrap().steady_resistance(0, 0).0 - 14.2).abs() < 1e-9);
}

/// The line of `what` in a text, as messages show it.
fn line_of(text: &str, what: &str) -> String {
    let before = &text[..text.find(what).unwrap_or_else(|| panic!("{what}"))];
    format!("chip.ron:{}:", before.matches('\n').count() + 1)
}

/// Each: what is put in the place of what, the message, the field, and where it stands.
const FAULTS: [(&str, &str, &str, &str, &str); 24] = [
    (
        ", to_air: \"5 K/W\"",
        "",
        "heat has no way from `npu` to the air",
        "package.network.Nodes.nodes[0].name",
        "\"npu\", capacity",
    ),
    (
        "\"5 K/W\"",
        "\"-5 K/W\"",
        "a thermal resistance cannot be below zero",
        "package.network.Nodes.nodes[2].to_air",
        "\"-5 K/W\"",
    ),
    (
        "\"2 K/W\"",
        "\"0 K/W\"",
        "a thermal resistance must be above zero",
        "package.network.Nodes.joins[0].resistance",
        "\"0 K/W\"",
    ),
    (
        "\"20 mJ/K\"",
        "\"0 mJ/K\"",
        "a heat capacity must be above zero",
        "package.network.Nodes.nodes[1].capacity",
        "\"0 mJ/K\"",
    ),
    (
        "(\"rest\", \"sink\")",
        "(\"rest\", \"sinc\")",
        "did you mean `sink`?",
        "package.network.Nodes.joins[1].between[1]",
        "\"sinc\"",
    ),
    (
        "(\"npu\", \"rest\")",
        "(\"npu\", \"npu\")",
        "heat does not go from `npu` to itself",
        "package.network.Nodes.joins[2].between",
        "(\"npu\", \"npu\")",
    ),
    (
        "name: \"rest\", capacity",
        "name: \"npu\", capacity",
        "`npu` is there twice",
        "package.network.Nodes.nodes[1].name",
        "\"npu\", capacity: \"20",
    ),
    (
        "\"unit\": \"rest\"",
        "\"unit\": \"res\"",
        "did you mean `rest`?",
        "package.heats.unit",
        "\"res\"",
    ),
    (
        "\"unit\": \"rest\"",
        "\"unt\": \"rest\"",
        "did you mean `unit`?",
        "package.heats.unt",
        "\"rest\", \"modem",
    ),
    (
        "node: \"rest\", lag",
        "node: \"best\", lag",
        "did you mean `rest`?",
        "package.sensors[0].node",
        "\"best\"",
    ),
    (
        "lag: \"50 ms\"",
        "lag: \"-50 ms\"",
        "a duration cannot be below zero",
        "package.sensors[0].lag",
        "\"-50 ms\"",
    ),
    (
        "resolution: \"0.5 K\"",
        "resolution: \"-0.5 K\"",
        "a temperature difference is not below zero",
        "package.sensors[0].resolution",
        "\"-0.5 K\"",
    ),
    (
        "period: \"10 ms\"",
        "period: \"0 ms\"",
        "a duration must be above zero",
        "package.sensors[0].period",
        "\"0 ms\"",
    ),
    (
        "name: \"far\"",
        "name: \"near\"",
        "`near` is there twice",
        "package.sensors[1].name",
        "\"near\", node: \"sink",
    ),
    (
        "sensor: \"far\"",
        "sensor: \"fat\"",
        "did you mean `far`?",
        "package.throttling[0].StepWise.sensor",
        "\"fat\"",
    ),
    (
        "trip: \"85 degC\"",
        "trip: \"20 degC\"",
        "a trip of 20.00 °C is not above the air of 25.00 °C",
        "package.throttling[0].StepWise.trip",
        "\"20 degC\"",
    ),
    (
        "hysteresis: \"3 K\"",
        "hysteresis: \"-3 K\"",
        "a temperature difference is not below zero",
        "package.throttling[0].StepWise.hysteresis",
        "\"-3 K\"",
    ),
    (
        "hysteresis: \"3 K\"",
        "hysteresis: \"60 K\"",
        "no clock would ever go up again",
        "package.throttling[0].StepWise.hysteresis",
        "\"60 K\"",
    ),
    (
        "caps: [\"unit\"]",
        "caps: [\"unit\", \"clock\"]",
        "clock `clock` is capped here already",
        "package.throttling[0].StepWise.caps[1]",
        "\"clock\"]),",
    ),
    (
        "caps: [\"unit\"]",
        "caps: []",
        "it caps at least one clock",
        "package.throttling[0].StepWise.caps",
        "[]),",
    ),
    (
        "target: \"75 degC\"",
        "target: \"65 degC\"",
        "a target lies above the 65.00 °C it switches on at",
        "package.throttling[1].PowerAllocator.target",
        "\"65 degC\", sustainable",
    ),
    (
        "caps: \"clock\"",
        "caps: \"clok\"",
        "did you mean `clock`?",
        "package.throttling[1].PowerAllocator.actors[0].caps",
        "\"clok\"",
    ),
    (
        "temperature: \"105 degC\"",
        "temperature: \"80 degC\"",
        "it shuts down before throttling at 85.00 °C can help",
        "package.critical.temperature",
        "\"80 degC\"",
    ),
    (
        "node: \"rest\"),\n    ceiling",
        "sensor: \"fare\"),\n    ceiling",
        "did you mean `far`?",
        "package.critical.sensor",
        "\"fare\"",
    ),
];

#[test]
fn each_fault_of_a_package_is_named_with_its_field_and_place() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, message, field, place) in FAULTS {
        let text = text(NODES, &[(from, to)]);
        let path = file(folder.path(), "chip.ron", text.as_bytes());
        let said = refused(&["hardware", "check", &path]);
        assert!(said.contains(message), "{to}: {message}\n{said}");
        assert!(said.contains(&format!(" {field}\n")), "{to}: {field}\n{said}");
        let place = line_of(&text, place);
        assert!(said.contains(&place), "{to}: {place}\n{said}");
    }
}

#[test]
fn responses_that_are_no_network_are_refused() {
    let cases = [
        ("\"2 K/W\"", "\"2.5 K/W\"", "those of no passive network"),
        ("[[\"2.01 K/W\"], ", "[", "a row for each of the 2 blocks"),
        ("\"90 s\"", "\"0 s\"", "a duration must be above zero"),
        ("\"0.08 K/W\"", "\"0 K/W\"", "a thermal resistance must be above zero"),
        ("blocks: [\"npu\", \"rest\"]", "blocks: [\"npu\", \"npu\"]", "`npu` is there twice"),
    ];
    for (from, to, message) in cases {
        let refused = Profile::parse("chip.ron", &text(RESPONSES, &[(from, to)])).unwrap_err();
        assert!(refused.to_string().contains(message), "{to}: {refused}");
    }
}

#[test]
fn throttling_without_a_sensor_is_refused() {
    let start = NODES.find("    sensors: [").unwrap();
    let end = NODES.find("    throttling").unwrap();
    let package = format!("{}{}", &NODES[..start], &NODES[end..]);
    let refused = Profile::parse("chip.ron", &text(&package, &[])).unwrap_err().to_string();
    assert!(refused.contains("`sensors` has none"), "{refused}");
    assert!(refused.contains("this profile has none"), "{refused}");
}
