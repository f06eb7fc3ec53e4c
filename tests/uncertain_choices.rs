//! What was chosen (states, corners, conditions) in how sure a figure is.

use crate::chips::{changed, chip_text, parsed, product};
use joulecast::cost::Setting;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::{Point, Profile};
use joulecast::mapping::{Network, plan};
use joulecast::model::ElementType;
use joulecast::sim::{Workload, run};
use joulecast::trace::{Cause, Deaf};
use joulecast::uncertainty::{Figure, Uncertainty, linearised, sampled, simulated};

/// Numbers without a spread of their own, so that each test sees the one it states.
const EXACT: &str = r#"sources: {"m": (kind: Measured, citation: "made up"), "shared": (kind: Measured, citation: "made up", common: "±20%")}"#;

/// The chip of the tests with numbers that are sure, and parts of its text replaced.
fn sure_with(changes: &[(&str, &str)], more: &str) -> Profile {
    let text = chip_text(r#"Lanes(macs: {Int8: "16 MAC/cycle @m"})"#, "", more);
    let text = changed(&text, &[("sources: {}", EXACT), ("\"25 degC\"", "\"25 degC ±0 K @m\"")]);
    let text = text.replace(" MHz\"", " MHz @m\"").replace("pJ\"", "pJ @m\"");
    let text = text.replace("pJ/B\"", "pJ/B @m\"").replace("B/cycle\"", "B/cycle @m\"");
    let text = text.replace("{\"rail\": \"1 V\"}", "{\"rail\": \"1 V @m\"}");
    parsed(&changed(&text.replace("1 GiB\"", "1 GiB @m\""), changes))
}

fn small() -> Network {
    product(1, 64, 64, ElementType::Int8)
}

/// Estimate, its linearised uncertainty and the energy's sampled interval at a point.
fn known(profile: &Profile, point: &Point) -> (Estimate, Uncertainty, f64) {
    let stacks = profile.stacks(None).unwrap();
    let (network, setting) = (small(), Setting { profile, point, stacks: &stacks });
    let drawn = sampled(&network, setting, 400, 3).unwrap()[&Figure::Energy].interval;
    let found = estimate(&plan(&network, setting), setting);
    (found, linearised(&network, setting), (drawn.high / drawn.low).ln() / (2.0 * 1.6449))
}

fn known_at_first(profile: &Profile) -> (Estimate, Uncertainty, f64) {
    known(profile, &profile.point(None).unwrap())
}

fn sigma(uncertainty: &Uncertainty) -> f64 {
    uncertainty.sigma[&Figure::Energy].up
}

fn chosen(profile: &Profile, state: (&str, &str)) -> Point {
    let states = [(state.0.to_owned(), state.1.to_owned())];
    profile.in_states(profile.point(None).unwrap(), &states).unwrap()
}

#[test]
fn the_spread_of_a_state_that_was_chosen_is_in_the_interval() {
    let profile = sure_with(
        &[],
        r#"loads: [(name: "modem", rail: "rail", states: [(name: "off", voltage: "1 V", dynamic: "0 W @m"),
            (name: "send", voltage: "1 V", dynamic: "1 W ±50% @m")])]"#,
    );
    let (_, off, _) = known_at_first(&profile);
    assert_eq!(sigma(&off), 0.0);
    let point = chosen(&profile, ("modem", "send"));
    let (_, sending, drawn) = known(&profile, &point);
    assert!((sigma(&sending) / 1.5f64.ln() - 1.0).abs() < 0.05, "{sending:?}");
    assert!((drawn / 1.5f64.ln() - 1.0).abs() < 0.15, "{drawn}");
    // A run is as unsure.
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let workload = Workload::single();
    let outcome = run(&plan(&small(), setting), &workload, setting, &mut Deaf).unwrap();
    let of_run = simulated(&small(), setting, &workload, &outcome);
    assert!((sigma(&of_run) / sigma(&sending) - 1.0).abs() < 1e-9, "{of_run:?}");
}

#[test]
fn a_domain_that_was_put_to_sleep_is_not_blamed_for_its_clock() {
    let with = |state: &str| {
        sure_with(
            &[(
                "domains: [",
                &format!(
                    r#"domains: [(name: "aside", rail: "rail", clock: "clock", nominal_voltage: "1 V", clock_tree: Energy("100 pJ/cycle ±50% @m"),
                        states: [(name: "nap", {state}), (name: "off", standing: Power("1 uW ±10% @m"))]), "#
                ),
            )],
            "",
        )
    };
    let profile = with("standing: Power(\"1 mW ±30% @m\"), wake_time: \"1 us ±90% @m\"");
    let (_, awake, _) = known_at_first(&profile);
    assert!(awake.energy_contributions.iter().any(|c| c.name == "domains.aside.clock_tree.Energy"));
    let point = chosen(&profile, ("aside", "nap"));
    let (_, asleep, drawn) = known(&profile, &point);
    let names: Vec<&str> = asleep.energy_contributions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["domains.aside.states.nap.standing.Power"]);
    assert!(sigma(&asleep) < 0.5 * sigma(&awake) && drawn < 0.5 * sigma(&awake), "{drawn}");
    // Where a share of the clock tree goes on, its spread counts.
    let gated = with("clock_share: \"10 % @m\"");
    let (_, gated, _) = known(&gated, &chosen(&gated, ("aside", "nap")));
    let names: Vec<&str> = gated.energy_contributions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["domains.aside.clock_tree.Energy"]);
}

#[test]
fn a_factor_that_a_source_shares_does_not_move_the_conditions_of_its_values() {
    let nominal = |stated: &str| {
        let stated = format!("nominal_voltage: \"1 V{stated}\"");
        let (_, found, drawn) =
            known_at_first(&sure_with(&[("nominal_voltage: \"1 V\"", &stated)], ""));
        (sigma(&found), drawn)
    };
    assert_eq!(nominal(" @m"), (0.0, 0.0));
    assert_eq!(nominal(" @shared"), (0.0, 0.0));
    // One that states a spread is off, by itself and with its source.
    let (linear, drawn) = nominal(" ±1% @shared");
    assert!(linear > 1.9 * 1.2f64.ln() && drawn > 1.5 * 1.2f64.ln(), "{linear} {drawn}");
}

/// A domain that leaks, for corners that heat it.
const LEAKS: (&str, &str) = (
    "nominal_voltage: \"1 V\"",
    "nominal_voltage: \"1 V\", leakage: (power: \"100 mW @m\", temperature: \"25 degC\", per_volt: \"3 1/V @m\", per_kelvin: \"0.03 1/K @m\")",
);

#[test]
fn the_factors_of_a_corner_are_as_unsure_as_they_say() {
    let at = |corner: &str, changes: &[(&str, &str)]| {
        let corners = format!(
            "corners: [(name: \"other\", dynamic: \"9 x ±90% @m\"), (name: \"C\", {corner})]"
        );
        let profile = sure_with(changes, &corners).at_corner("C", None).unwrap();
        known_at_first(&profile)
    };
    // One factor moves all that it scales together: engine and memory are off by the same.
    let (found, unsure, drawn) = at("dynamic: \"2 x ±50% @m\"", &[]);
    let (sure, none, _) = at("dynamic: \"2 x @m\"", &[]);
    assert_eq!((sigma(&none), found.energy), (0.0, sure.energy));
    assert!((sigma(&unsure) / 1.5f64.ln() - 1.0).abs() < 1e-9, "{unsure:?}");
    assert!((drawn / 1.5f64.ln() - 1.0).abs() < 0.15, "{drawn}");
    let names: Vec<&str> = unsure.energy_contributions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["corners.C.dynamic"]);
    // Time goes with the clock, energy with the square of the voltage.
    let (_, fast, _) = at("frequency: \"1.5 x ±50% @m\"", &[]);
    assert!((fast.sigma[&Figure::Latency].up / 1.5f64.ln() - 1.0).abs() < 1e-9, "{fast:?}");
    let (_, high, _) = at("voltage: \"1.1 x ±10% @m\"", &[]);
    assert!((sigma(&high) / (2.0 * 1.1f64.ln()) - 1.0).abs() < 1e-9, "{high:?}");
    let (_, leaking, _) = at("leakage: \"3 x ±50% @m\"", &[LEAKS]);
    assert!(sigma(&leaking) > 0.9 * 1.5f64.ln(), "{leaking:?}");
    // The corner's temperature stands for the junction's, with its spread and no other.
    let (_, hot, drawn) = at("temperature: \"85 degC ±10 K @m\"", &[LEAKS]);
    let names: Vec<&str> = hot.energy_contributions.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["corners.C.temperature"]);
    assert!(sigma(&hot) > 0.1 && (drawn / sigma(&hot) - 1.0).abs() < 0.15, "{hot:?} {drawn}");
}

#[test]
fn loads_of_a_table_that_a_spread_makes_one_leave_the_interval_a_number() {
    let profile = sure_with(
        &[
            ("\"rail\": \"1 V @m\"", "\"rail\": \"1 V @m\", \"in\": \"3 V @m\""),
            (
                "rails: [(name: \"rail\")],",
                r#"rails: [(name: "rail"), (name: "in")], regulators: [(name: "smps", input: "in", output: "rail", kind: Table(points: [
                    (load: "1 mA ±50% @m", efficiency: "80 % ±10% @m"), (load: "1.5 mA @m", efficiency: "90 % ±10% @m")]))],"#,
            ),
        ],
        "",
    );
    let (found, unsure, drawn) = known_at_first(&profile);
    let interval = unsure.interval(Figure::Energy, found.energy.0);
    assert!(interval.low > 0.7 * found.energy.0 && interval.high < 1.5 * found.energy.0);
    assert!(drawn.is_finite() && !unsure.energy_contributions.is_empty());
    for part in unsure.energy_contributions {
        assert!(part.effect.is_finite() && part.share.is_finite(), "{part:?}");
    }
}

#[test]
fn what_waking_takes_is_as_well_founded_as_the_time_that_it_takes() {
    let share = |kind: &str| {
        let time = format!("wake_time: \"100 us @{kind}\"");
        let profile = sure_with(
            &[
                (
                    EXACT,
                    "sources: {\"m\": (kind: Measured, citation: \"x\"), \"a\": (kind: Assumed, citation: \"x\")}",
                ),
                (
                    "nominal_voltage: \"1 V\"",
                    &format!(
                        "nominal_voltage: \"1 V\", clock_tree: Energy(\"10 pJ/cycle @m\"), states: [(name: \"off\", standing: Power(\"0 W @m\"), {time})]"
                    ),
                ),
            ],
            "",
        );
        let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        let plan = plan(&small(), setting);
        let found = estimate(&plan, setting);
        assert_eq!(found.energy_coverage.share(), 1.0);
        let outcome = run(&plan, &Workload::single(), setting, &mut Deaf).unwrap();
        let waking = outcome.ledger.of(&Cause::Transition) / outcome.metrics.energy;
        (outcome.energy_evidence(&found.energy_coverage).share(), waking)
    };
    assert_eq!(share("m").0, 1.0);
    let (sure, waking) = share("a");
    assert!(waking > 0.1 && (sure + waking - 1.0).abs() < 1e-9, "{sure} {waking}");
}
