//! Trees by hand, and random ones.

use super::*;
use crate::hardware::Profile;
use proptest::prelude::*;

/// A chip of rails, each with its voltage, and a domain on each, with or without a grid.
#[derive(Debug)]
struct Chip {
    rails: Vec<(f64, Option<f64>)>,
    regulators: Vec<(usize, usize, String)>,
    supply: Option<String>,
}

impl Chip {
    fn profile(&self) -> Profile {
        let voltages = self.rails.iter().enumerate();
        let voltages = voltages.map(|(i, (v, _))| format!(r#""r{i}": "{v} V""#));
        let rails = (0..self.rails.len()).map(|i| format!(r#"(name: "r{i}")"#));
        let domains = self.rails.iter().enumerate().map(|(i, (v, grid))| {
            let grid = grid.map_or(String::new(), |r| format!(r#", ir_drop: "{r} Ohm""#));
            format!(r#"(name: "d{i}", rail: "r{i}", clock: "c", nominal_voltage: "{v} V"{grid})"#)
        });
        let regulators = self.regulators.iter().map(|(input, output, kind)| {
            format!(r#"(name: "g{output}", input: "r{input}", output: "r{output}", {kind})"#)
        });
        let supply = self.supply.as_ref().map(|s| format!(r#"(name: "cell", rail: "r0", {s})"#));
        let list = |items: Vec<String>| items.join(", ");
        let text = format!(
            r#"(schema: "joulecast.profile/1", name: "tree", kind: Accelerator, description: "made up",
  sources: {{}}, temperature: "25 degC",
  operating_points: [(name: "only", clocks: {{"c": "1 MHz"}}, voltages: {{{}}})],
  rails: [{}], regulators: [{}], supplies: [{}], domains: [{}],
  memories: [(name: "ram", domain: "d0", capacity: "1 MiB", holds: [Weights, Activations], bandwidth: PerCycle("4 B/cycle"))],
  engines: [(name: "unit", domain: "d0", array: Lanes(macs: {{Int8: "1 MAC/cycle"}}), energy: (per_mac: {{Int8: "1 pJ"}}),
    supports: [Conv], memories: ["ram"], transfers: Inline)])"#,
            list(voltages.collect()),
            list(rails.collect()),
            list(regulators.collect()),
            supply.unwrap_or_default(),
            list(domains.collect()),
        );
        Profile::parse("tree.ron", &text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn tree(&self) -> SupplyTree {
        let profile = self.profile();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        SupplyTree::new(Setting { profile: &profile, point: &point, stacks: &stacks })
    }
}

/// Two rails, the second behind a regulator.
fn pair(input: f64, output: f64, kind: &str, supply: &str) -> SupplyTree {
    let supply = (!supply.is_empty()).then(|| supply.to_owned());
    let (rails, regulators) = (vec![(input, None), (output, None)], vec![(0, 1, kind.to_owned())]);
    Chip { rails, regulators, supply }.tree()
}

fn solved(tree: &SupplyTree, power: &[f64]) -> SupplyState {
    let power: Vec<Watts> = power.iter().map(|p| Watts(*p)).collect();
    let mut state = SupplyState::default();
    tree.solve(&power, &mut state);
    state
}

fn near(found: f64, known: f64) {
    assert!((found - known).abs() <= 1e-12 * known.abs().max(1e-3), "{found} against {known}");
}

#[test]
fn a_buck_takes_its_load_and_the_parts_of_its_loss() {
    let tree = pair(
        3.0,
        1.2,
        r#"kind: Buck(quiescent: "2 uA", switching_loss: "1 mW", skips_below: "20 mA", drop: "30 mV", resistance: "200 mOhm")"#,
        "",
    );
    let state = solved(&tree, &[0.3, 0.12]);
    // 6 uW + 1 mW + 0.03 V 0.1 A + 0.2 Ohm (0.1 A)^2
    near(state.regulator_loss[0].0, 6.006e-3);
    near(state.rail_current[1].0, 0.1);
    near(state.rail_current[0].0, 0.1 + 0.126006 / 3.0);
    near(state.source_power.0, 0.426006);
    assert_eq!(state.sources[0].inside, Watts::ZERO);
}

#[test]
fn a_linear_regulator_passes_its_current_until_it_drops_out() {
    let kind = r#"kind: Ldo(quiescent: "1 mA", dropout: "2 Ohm")"#;
    let state = solved(&pair(3.0, 1.8, kind, ""), &[0.0, 0.09]);
    near(state.rail_current[0].0, 0.051);
    assert_eq!(state.rail_voltage[1], Volts(1.8));
    // From 1.9 V, 1.8 V at 50 mA just hold. 0.0952 W need 1.8 V + 2 Ohm 52.9 mA: the output follows,
    // V^2 - 1.9 V + 2 Ohm 0.12 W = 0, so V = (1.9 + sqrt(3.61 - 0.96)) / 2.
    let tree = pair(1.9, 1.8, kind, "");
    near(solved(&tree, &[0.0, 0.09]).rail_voltage[1].0, 1.8);
    let state = solved(&tree, &[0.0, 0.12]);
    let output = 0.5 * (1.9 + 2.65f64.sqrt());
    near(state.rail_voltage[1].0, output);
    assert!(tree.follows_input(1, &state) && !tree.follows_input(0, &state));
    near(state.rail_current[0].0, 0.12 / output + 1e-3);
    let load = 0.12 / output;
    near(state.regulator_loss[0].0, 2.0 * load * load + 1.9e-3);
}

#[test]
fn a_load_switch_stands_in_series() {
    let kind = r#"kind: LoadSwitch(resistance: "100 mOhm", quiescent: "10 uA")"#;
    let state = solved(&pair(1.0, 1.0, kind, ""), &[0.0, 0.9]);
    near(state.rail_voltage[1].0, 0.9);
    near(state.rail_current[0].0, 1.0 + 1e-5);
    near(state.regulator_loss[0].0, 0.1 + 1e-5);
    near(state.source_power.0, 1.0 + 1e-5);
}

#[test]
fn a_battery_sags_and_its_regulator_draws_the_more() {
    // A battery of 4 V and 1 Ohm feeds 0.75 W through a lossless converter and 0.36 W beside it:
    // V^2 - 4 V + 1.11 = 0.
    let supply = r#"resistance: "1 Ohm", open_circuit: [(charge: "0 %", voltage: "3 V"), (charge: "100 %", voltage: "5 V")], charge: "50 %""#;
    let kind = r#"kind: Switching(efficiency: "100 %", quiescent: "0 A")"#;
    let tree = pair(3.7, 1.0, kind, supply);
    let state = solved(&tree, &[0.36, 0.75]);
    let voltage = 0.5 * (4.0 + (16.0f64 - 4.44).sqrt());
    near(state.rail_voltage[0].0, voltage);
    near(state.regulator_current[0].0, 0.75 / voltage);
    near(state.source_power.0, 1.11);
    let source = &state.sources[0];
    near(source.voltage.0, voltage);
    near(source.inside.0, source.current.0 * source.current.0);
    near(source.open_circuit.0 * source.current.0, source.power.0 + source.inside.0);
    assert_eq!(tree.open_circuit_at(0, 0.25), Some(Volts(3.5)));
    assert_eq!(tree.open_circuit_at(0, 2.0), Some(Volts(5.0)));
    // The battery empties.
    let (mut later, mut changed) = (state.clone(), Changed::default());
    later.sources[0].open_circuit = Volts(3.0);
    changed.mark(0);
    tree.solve_from(&mut changed, &[Watts(0.36), Watts(0.75)], &mut later);
    near(later.rail_voltage[0].0, 0.5 * (3.0 + (9.0f64 - 4.44).sqrt()));
}

#[test]
fn a_source_that_is_asked_for_more_than_it_has_collapses_and_says_so() {
    let supply = r#"resistance: "1 Ohm", follows: true"#;
    let kind = r#"kind: Switching(efficiency: "100 %", quiescent: "0 A")"#;
    let tree = pair(2.0, 1.0, kind, supply);
    assert!(!solved(&tree, &[0.0, 0.99]).is_collapsed());
    // At most V^2 / 4R is 1 W.
    let state = solved(&tree, &[0.0, 1.01]);
    assert_eq!(state.rail_collapsed, [true, false]);
    near(state.rail_voltage[0].0, 1.0);
    near(state.source_power.0, 1.0);
    let mut state = state;
    tree.solve(&[Watts::ZERO, Watts(0.5)], &mut state);
    assert!(!state.is_collapsed(), "it comes back where the load falls");
}

#[test]
fn a_supply_that_is_not_followed_keeps_its_voltage() {
    let kind = r#"kind: Switching(efficiency: "100 %", quiescent: "0 A")"#;
    let tree = pair(2.0, 1.0, kind, r#"resistance: "1 Ohm""#);
    let state = solved(&tree, &[0.0, 5.0]);
    assert_eq!((state.rail_voltage[0], state.source_power), (Volts(2.0), Watts(5.0)));
    near(tree.unfollowed_sag(0, state.rail_current[0]).0, 2.5);
}

#[test]
fn the_grid_of_a_domain_takes_its_share_between_rail_and_load() {
    let rails = vec![(1.0, Some(0.1)), (0.5, None)];
    let kind = r#"kind: Switching(efficiency: "80 %", quiescent: "0 A")"#.to_owned();
    let tree = Chip { rails, regulators: vec![(0, 1, kind)], supply: None }.tree();
    assert_eq!((tree.taps(), tree.rail_of(2)), (3, Some(0)));
    // 0.9 W through 0.1 Ohm stands at 0.9 V and takes 1 A; 0.4 W through the regulator another 0.5 A.
    let state = solved(&tree, &[0.0, 0.4, 0.9]);
    near(state.rail_current[0].0, 1.5);
    near(state.grid_loss[0].0, 0.1);
    near(state.rail_power[0].0, 0.9);
    near(tree.domain_voltage(0, 0, &state).unwrap().0, 0.9);
    assert_eq!(tree.domain_voltage(1, 1, &state), Some(Volts(0.5)));
    near(state.source_power.0, 0.9 + 0.1 + 0.5);
    assert!(solved(&tree, &[0.0, 0.0, 2.6]).is_collapsed(), "2.5 W are the most");
}

#[test]
fn a_regulator_goes_into_its_light_mode_below_one_load_and_out_above_another() {
    let kind = r#"kind: Switching(efficiency: "90 %", quiescent: "1 mA"),
        modes: [(name: "eco", kind: Switching(efficiency: "80 %", quiescent: "1 uA"),
                 enter_below: "10 mA", leave_above: "20 mA", wake_time: "5 us", wake_energy: "1 uJ")]"#;
    let tree = pair(2.0, 1.0, kind, "");
    let mut state = SupplyState::default();
    let mut at = |load: f64| {
        tree.solve(&[Watts::ZERO, Watts(load)], &mut state);
        (state.regulator_mode[0], state.source_power.0)
    };
    near(at(0.015).1, 0.015 / 0.9 + 2e-3);
    assert_eq!(at(0.015).0, 1, "between the two nothing changes");
    assert_eq!(at(0.009).0, 0);
    near(at(0.015).1, 0.015 / 0.8 + 2e-6);
    assert_eq!(at(0.015).0, 0);
    assert_eq!(at(0.021).0, 1);
    let change = tree.mode_change(0, 0, 1);
    near(change.time.0, 5e-6);
    near(change.energy.0, 1e-6);
    assert_eq!(tree.mode_change(0, 1, 0).time.0, 0.0);
    assert_eq!(tree.mode_change(0, 0, 7).time.0, 0.0);
    // While it wakes it is held.
    state.held_mode[0] = Some(0);
    tree.solve(&[Watts::ZERO, Watts(0.1)], &mut state);
    near(state.source_power.0, 0.1 / 0.8 + 2e-6);
    assert_eq!((state.regulator_mode[0], tree.wanted_mode(0, &state)), (0, Some(1)));
    tree.solve_afresh(&[Watts::ZERO, Watts(0.005)], &mut state);
    assert_eq!(state.regulator_mode[0], 0);
}

#[test]
fn a_table_over_input_voltages_settles_with_the_battery() {
    let kind = r#"kind: Table(points: [
        (load: "1 mA", input: "3 V", efficiency: "90 %"), (load: "1 A", input: "3 V", efficiency: "90 %"),
        (load: "1 mA", input: "4 V", efficiency: "80 %"), (load: "1 A", input: "4 V", efficiency: "80 %")])"#;
    let tree = pair(4.0, 1.0, kind, r#"resistance: "2 Ohm", follows: true"#);
    let state = solved(&tree, &[0.0, 0.5]);
    let (voltage, current) = (state.rail_voltage[0].0, state.rail_current[0].0);
    near(voltage, 4.0 - 2.0 * current);
    near(voltage * current, 0.5 / (0.9 - 0.1 * (voltage - 3.0)));
}

#[test]
fn what_changed_is_found_beyond_the_first_word_too() {
    let mut changed = Changed::default();
    for index in [300, 3, 64, 63, 3] {
        changed.mark(index);
    }
    let mut found = Vec::new();
    changed.drain(|index| found.push(index));
    assert_eq!(found, [3, 63, 64, 300]);
    assert!(changed.is_empty());
}

const KINDS: [&str; 7] = [
    r#"kind: Switching(efficiency: "88 %", quiescent: "30 uA")"#,
    r#"kind: Buck(quiescent: "12 uA", switching_loss: "2 mW", skips_below: "30 mA", drop: "25 mV", resistance: "60 mOhm")"#,
    r#"kind: Ldo(quiescent: "5 uA", ground_share: "0.5 %", dropout: "1.5 Ohm")"#,
    r#"kind: LoadSwitch(resistance: "80 mOhm", quiescent: "2 uA")"#,
    r#"kind: Table(quiescent: "1 uA", points: [(load: "1 mA", input: "1 V", efficiency: "70 %"), (load: "1 A", input: "1 V", efficiency: "92 %"), (load: "10 mA", input: "5 V", efficiency: "80 %")])"#,
    r#"kind: Buck(quiescent: "40 uA", switching_loss: "3 mW", drop: "25 mV", resistance: "60 mOhm"),
       modes: [(name: "eco", kind: Ldo(quiescent: "1 uA", dropout: "3 Ohm"), enter_below: "4 mA", leave_above: "9 mA"),
               (name: "mid", kind: Switching(efficiency: "80 %", quiescent: "5 uA"), enter_below: "30 mA", leave_above: "40 mA")]"#,
    r#"kind: Ldo()"#,
];

fn chips() -> impl Strategy<Value = Chip> {
    let grid = || prop::option::of(1e-3..0.2f64);
    let rail = (0..7usize, any::<prop::sample::Index>(), 0.3..0.98f64, grid());
    let supply = prop::option::of((0.0..0.5f64, any::<bool>()));
    (3.0..5.0f64, grid(), prop::collection::vec(rail, 0..9), supply).prop_map(
        |(first, grid, more, supply)| {
            let mut rails = vec![(first, grid)];
            let mut regulators = Vec::new();
            for (kind, parent, factor, grid) in more {
                let parent = parent.index(rails.len());
                let factor = if kind == 3 { 1.0 } else { factor };
                regulators.push((parent, rails.len(), KINDS[kind].to_owned()));
                rails.push((rails[parent].0 * factor, grid));
            }
            let supply =
                supply.map(|(r, follows)| format!(r#"resistance: "{r} Ohm", follows: {follows}"#));
            Chip { rails, regulators, supply }
        },
    )
}

/// Powers of taps as they change, one tap after another.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, f64)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0.0..1.0f64), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sources_give_what_loads_draw_and_losses_take(chip in chips(), changes in changes()) {
        let tree = chip.tree();
        let (mut power, mut state) = (vec![Watts::ZERO; tree.taps()], SupplyState::default());
        for (tap, share) in changes {
            let tap = tap.index(power.len());
            power[tap] = Watts(0.2 * share * share * share);
            tree.solve(&power, &mut state);
            prop_assume!(!state.is_collapsed());
            let loads: f64 = power.iter().map(|p| p.0).sum();
            let (given, taken) = (state.source_power.0, loads + state.loss().0);
            prop_assert!((given - taken).abs() <= 1e-12 * given.max(1e-9), "{given} {taken}");
            prop_assert!(state.regulator_loss.iter().all(|loss| loss.0 >= -1e-12 * given));
            let source = &state.sources[0];
            let sag = source.open_circuit.0 - source.voltage.0;
            if tree.unfollowed_sag(0, Amperes(1.0)).0 == 0.0 {
                let own = source.inside.0 - sag * source.current.0;
                prop_assert!(own.abs() <= 1e-12 * given.max(1.0), "{source:?}");
            }
        }
    }

    #[test]
    fn solving_from_what_changed_is_solving_all(chip in chips(), changes in changes()) {
        let tree = chip.tree();
        let mut power = vec![Watts(0.01); tree.taps()];
        let (mut whole, mut part) = (SupplyState::default(), SupplyState::default());
        tree.solve(&power, &mut part);
        whole.clone_from(&part);
        let mut changed = Changed::default();
        for (step, (tap, share)) in changes.into_iter().enumerate() {
            let tap = tap.index(power.len());
            power[tap] = Watts(share * share * share);
            changed.mark(tap);
            tree.solve(&power, &mut whole);
            // Several changes at once, at times.
            if step % 3 != 1 {
                tree.solve_from(&mut changed, &power, &mut part);
                prop_assert_eq!(&whole, &part);
            } else {
                whole.clone_from(&part);
            }
        }
    }
}

#[test]
fn a_rail_that_is_set_anew_is_solved_as_if_the_point_had_it_there() {
    // 12 V, 3 V behind a regulator of 80 %, and 1 V behind an LDO and a domain's grid on that.
    let chip = |middle: f64| {
        let rails = vec![(12.0, None), (middle, Some(0.5)), (1.0, None)];
        let switching = r#"kind: Switching(efficiency: "80 %", quiescent: "1 uA")"#;
        let linear = r#"kind: Ldo(quiescent: "10 uA", dropout: "0.1 Ohm")"#;
        let regulators = vec![(0, 1, switching.to_owned()), (1, 2, linear.to_owned())];
        Chip { rails, regulators, supply: None }.tree()
    };
    let (high, low) = (chip(3.0), chip(2.0));
    let power: Vec<Watts> = (0..high.taps()).map(|tap| Watts(1e-3 * (tap + 1) as f64)).collect();
    let expected = |tree: &SupplyTree| {
        let mut state = SupplyState::default();
        tree.solve(&power, &mut state);
        state
    };
    let mut state = expected(&high);
    let mut changed = Changed::default();
    assert!(high.set_rail_voltage(1, Volts(2.0), &mut state, &mut changed));
    high.solve_from(&mut changed, &power, &mut state);
    assert_eq!(state, expected(&low));
    assert!(state != expected(&high));
    assert!(high.set_rail_voltage(1, Volts(3.0), &mut state, &mut changed));
    high.solve_from(&mut changed, &power, &mut state);
    assert_eq!(state, expected(&high), "and back");
    assert!(!high.set_rail_voltage(0, Volts(2.0), &mut state, &mut changed), "a source is not set");
    assert!(!high.set_rail_voltage(1, Volts(0.0), &mut state, &mut changed));
    assert!(changed.is_empty());
}
