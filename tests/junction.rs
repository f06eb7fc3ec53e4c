//! Where the junction settles, whatever it is that leaks.

use crate::chips::{changed, chip_text, parsed, product};
use joulecast::cost::Setting;
use joulecast::estimate::{estimate, junction};
use joulecast::mapping::plan;
use joulecast::model::ElementType;
use joulecast::physics::leakage_fixed_point::SteadyTemperature;

/// The junction of the chip of the tests with a second domain and a load, in these states.
fn settles(domain: &str, load: &str, states: &[(&str, &str)]) -> SteadyTemperature {
    let more = format!(
        r#"loads: [{load}],
        package: (ambient: "25 degC", network: Foster([(resistance: "100 K/W", time_constant: "1 s")]))"#
    );
    let text = chip_text(r#"Lanes(macs: {Int8: "16 MAC/cycle"})"#, "", &more);
    let text = changed(&text, &[("domains: [", &format!("domains: [{domain}"))]);
    let profile = parsed(&text);
    let states: Vec<_> = states.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let point = profile.in_states(profile.point(None).unwrap(), &states).unwrap();
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let plan = plan(&product(1, 64, 64, ElementType::Int8), setting);
    junction(&estimate(&plan, setting), setting).unwrap().steady
}

fn degrees(steady: SteadyTemperature) -> f64 {
    match steady {
        SteadyTemperature::Settles(at) => at.0,
        SteadyTemperature::RunsAway => panic!("it runs away"),
    }
}

fn law(power: &str) -> String {
    format!(
        r#"power: "{power}", temperature: "25 degC", per_volt: "3 1/V", per_kelvin: "0.035 1/K""#
    )
}

fn domain(power: &str, states: &str) -> String {
    format!(
        r#"(name: "aside", rail: "rail", clock: "clock", nominal_voltage: "1 V", leakage: ({}), states: [{states}]), "#,
        law(power)
    )
}

#[test]
fn leakage_heats_the_junction_the_same_in_a_domain_a_load_and_a_sleeper() {
    let gated = r#"(name: "gated", leakage_share: "100 %")"#;
    let load = |power: &str, off_chip: bool| {
        format!(
            r#"(name: "block", rail: "rail", off_chip: {off_chip}, states: [(name: "off", voltage: "1 V", dynamic: "0 W"),
                (name: "on", voltage: "1 V", dynamic: "0 W", leakage: Growing({}))])"#,
            law(power)
        )
    };
    let all = |power: &str| {
        [
            settles(&domain(power, gated), "", &[]),
            settles(&domain(power, gated), "", &[("aside", "gated")]),
            settles("", &load(power, false), &[("block", "on")]),
        ]
    };
    assert_eq!(all("300 mW"), [SteadyTemperature::RunsAway; 3]);
    let [awake, asleep, block] = all("50 mW").map(degrees);
    assert!((asleep - awake).abs() < 1e-6 && (block - awake).abs() < 1e-6, "{asleep} {block}");
    // 50 mW alone would be 5 K.
    assert!(awake > 25.0 + 5.5, "{awake}");
    // A tenth is left of it behind a switch.
    let tenth = r#"(name: "gated", leakage_share: "10 %")"#;
    let asleep = degrees(settles(&domain("300 mW", tenth), "", &[("aside", "gated")]));
    let small = degrees(settles(&domain("30 mW", gated), "", &[]));
    assert!((asleep - small).abs() < 1e-6, "{asleep} {small}");
    // Neither a state without leakage nor what is off the chip heats it.
    let none = degrees(settles("", "", &[]));
    let off = degrees(settles("", &load("300 mW", false), &[]));
    let outside = degrees(settles("", &load("300 mW", true), &[("block", "on")]));
    assert!((off - none).abs() < 1e-9 && (outside - none).abs() < 1e-9, "{off} {outside} {none}");
}
