//! Heat over time against a matrix exponential, HotSpot, a tight integration of leakage, and the
//! throttling laws written down elsewhere.

use crate::shared;
use joulecast::physics::leaking_network::{
    HeatEnd, LeakSource, LeakingNetwork, Segment, Surroundings,
};
use joulecast::physics::power_allocator::{AllocatorState, PowerAllocator};
use joulecast::physics::power_division::fastest_within;
use joulecast::physics::step_wise::{StepWise, StepWiseState};
use joulecast::physics::thermal_modes::{Crossing, ThermalModes};
use joulecast::physics::thermal_nodes::{ThermalJoin, ThermalNode, ThermalNodes};
use joulecast::physics::thermal_responses::{ResponseTerm, ThermalResponses};
use joulecast::units::{
    Celsius, JoulesPerKelvin, Kelvins, KelvinsPerWatt, PerKelvin, Seconds, Watts,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a file, each by its column names.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            headers.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
        })
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} in {row:?}"))
}

const PHONE: [(f64, f64); 3] = [(1.2, 0.015), (4.0, 0.9), (9.0, 22.0)];

/// Nodes one behind the other, as resistance to the next and capacity.
fn chain(stages: &[(f64, f64)]) -> ThermalModes {
    let last = stages.len() - 1;
    let node = |(i, (resistance, capacity)): (usize, &(f64, f64))| ThermalNode {
        capacity: JoulesPerKelvin(*capacity),
        to_air: (i == last).then_some(KelvinsPerWatt(*resistance)),
    };
    let join = |(i, (resistance, _)): (usize, &(f64, f64))| ThermalJoin {
        between: (i, i + 1),
        resistance: KelvinsPerWatt(*resistance),
    };
    let nodes = stages.iter().enumerate().map(node).collect();
    let joins = stages[..last].iter().enumerate().map(join).collect();
    ThermalModes::of_nodes(&ThermalNodes::new(nodes, joins).unwrap()).unwrap()
}

#[test]
fn every_node_of_a_chain_follows_the_matrix_exponential() {
    let name = "every_node_of_a_chain_follows_the_matrix_exponential";
    let Some(folder) = shared::folder(name) else { return };
    let trace = rows(&folder.join("oracles/thermal_rc/trace.csv"));
    let modes = chain(&PHONE);
    let (mut state, mut heat) = (modes.at_rest(), 0.0);
    for (i, row) in trace.iter().enumerate() {
        for (place, column) in ["T_die_C", "T_pkg_C", "T_board_C"].iter().enumerate() {
            let found = 25.0 + modes.rise(&state, place).0;
            assert!((found - number(row, column)).abs() < 1e-9, "{column}: {found} in {row:?}");
        }
        let Some(next) = trace.get(i + 1) else { break };
        let power = Watts(number(row, "p_die_W_from_t"));
        let length = Seconds(number(next, "t_s") - number(row, "t_s"));
        modes.advance(&mut state, &[power], length);
        heat += (power * length).0;
    }
    let summary = rows(&folder.join("oracles/thermal_rc/summary.csv"));
    let known = |key: &str| {
        let row = summary.iter().find(|row| row["quantity"] == key).unwrap();
        number(row, "value")
    };
    let rises = modes.rises(&state);
    let stored: f64 = rises.iter().zip(PHONE).map(|(rise, (_, c))| rise.0 * c).sum();
    assert!((heat / known("energy_in_J") - 1.0).abs() < 1e-8);
    assert!((stored / known("stored_heat_end_J") - 1.0).abs() < 1e-8);
    assert!(trace.len() > 20);
}

#[test]
fn blocks_stepped_by_the_fitted_poles_warm_as_in_hotspot() {
    let name = "blocks_stepped_by_the_fitted_poles_warm_as_in_hotspot";
    let Some(folder) = shared::folder(name) else { return };
    let term = |row: &BTreeMap<String, String>| {
        let of = |column: &str| KelvinsPerWatt(number(row, column));
        let across = of("R_npu_rest_K_per_W");
        ResponseTerm {
            time: Seconds(number(row, "tau_s")),
            resistances: vec![
                vec![of("R_npu_npu_K_per_W"), across],
                vec![across, of("R_rest_rest_K_per_W")],
            ],
        }
    };
    let poles = rows(&folder.join("oracles/hotspot_step/foster5.csv"));
    let responses = ThermalResponses::new(2, poles.iter().map(term).collect()).unwrap();
    let modes = ThermalModes::of_responses(&responses).unwrap();
    let mut worst = 0f64;
    let known = rows(&folder.join("oracles/hotspot_step/zth.csv"));
    for row in &known {
        let heated = usize::from(row["heated_block"] == "rest");
        let mut power = [Watts(0.0), Watts(0.0)];
        power[heated] = Watts(1.0);
        let mut state = modes.settled(&power);
        if row["t_s"] != "inf" {
            // In two unequal steps, as a simulation would.
            let time = number(row, "t_s");
            state = modes.at_rest();
            modes.advance(&mut state, &power, Seconds(0.3 * time));
            modes.advance(&mut state, &power, Seconds(0.7 * time));
        }
        for (place, column) in ["Z_npu_K_per_W", "Z_rest_K_per_W"].iter().enumerate() {
            worst = worst.max((modes.rise(&state, place).0 - number(row, column)).abs());
        }
    }
    assert!(known.len() > 50 && worst < 5e-3, "{worst} K/W");
}

/// One node with the leakage of the reference: 2.5 or 1.2 W at 50 degC.
fn leaking(ambient: f64, resistance: f64, capacity: f64, growth: f64) -> LeakingNetwork {
    let source = LeakSource { place: 0, reference: Celsius(50.0), per_kelvin: PerKelvin(growth) };
    let around = Surroundings {
        ambient: Celsius(ambient),
        ceiling: Celsius(150.0),
        sources: vec![source],
        sensors: Vec::new(),
    };
    LeakingNetwork::new(chain(&[(resistance, capacity)]), around).unwrap()
}

#[test]
fn leakage_warms_its_node_as_integrated_tightly() {
    let name = "leakage_warms_its_node_as_integrated_tightly";
    let Some(folder) = shared::folder(name) else { return };
    let known = rows(&folder.join("oracles/leak_fixed_point/transient.csv"));
    let network = leaking(40.0, 2.2, 30.0, 0.017);
    // Steps of a second, and as long as the law lets them be.
    for (step, tolerance) in [(1.0, 1e-4), (f64::INFINITY, 5e-3)] {
        let (mut state, mut now, mut checked) = (network.at_rest(), 0.0, 0);
        for row in known.iter().filter(|row| row["case"] == "edge_module_C30") {
            let until = number(row, "t_s");
            while now < until {
                let duration = Seconds((until - now).min(step));
                let segment = Segment { power: &[Watts(18.0)], leakage: &[Watts(2.5)], duration };
                assert_eq!(network.advance(&mut state, segment), Ok(HeatEnd::Whole));
                now += duration.0;
            }
            let found = network.temperature(&mut state, 0).0;
            let off = (found - number(row, "T_C")).abs();
            assert!(off < tolerance, "{found} with steps of {step} s: {row:?}");
            checked += 1;
        }
        assert_eq!(checked, 8);
    }
}

#[test]
fn a_node_that_runs_away_reaches_a_ceiling_when_it_should() {
    let name = "a_node_that_runs_away_reaches_a_ceiling_when_it_should";
    let Some(folder) = shared::folder(name) else { return };
    let known = rows(&folder.join("oracles/leak_fixed_point/transient.csv"));
    let network = leaking(60.0, 8.0, 15.0, 0.025);
    let power = [Watts(12.0)];
    let segment = |duration| Segment { power: &power, leakage: &[Watts(1.2)], duration };
    let mut state = network.at_rest();
    let (mut now, mut told) = (0.0, 0);
    for row in known.iter().filter(|row| row["case"] == "runaway_C15") {
        while now < number(row, "t_s") {
            let end = network.advance(&mut state, segment(Seconds(1.0))).unwrap();
            told += u32::from(end == HeatEnd::RunningAway);
            now += 1.0;
        }
        let found = network.temperature(&mut state, 0).0;
        assert!((found - number(row, "T_C")).abs() < 1e-4, "{found}: {row:?}");
    }
    let row = known.iter().find(|row| row["case"] == "runaway_C15_time_to_150C").unwrap();
    let time = number(row, "t_s");
    let rest = segment(Seconds(1000.0));
    let threshold = Celsius(150.0 - 1e-9);
    let foreseen = network.next_crossing(&mut state, rest, 0, threshold, Crossing::Upward);
    let foreseen = now + foreseen.unwrap().unwrap().0;
    let end = network.advance(&mut state, rest).unwrap();
    let HeatEnd::Ceiling { after, place: 0 } = end else { panic!("{end:?}") };
    assert!((now + after.0 - time).abs() < 1e-3, "{} against {time}", now + after.0);
    assert!((foreseen - time).abs() < 1e-3, "{foreseen} against {time}");
    // From 107 degC on no temperature is steady; it is told a little behind that.
    assert!(told <= 60, "{told}");
}

/// MHz and volts of four cores at 416 uW/MHz/V^2 each.
const POINTS: [(f64, f64); 7] = [
    (1200.0, 0.675),
    (1416.0, 0.725),
    (1608.0, 0.7625),
    (1800.0, 0.85),
    (2016.0, 0.925),
    (2208.0, 0.9875),
    (2400.0, 1.0),
];

fn point_power(point: usize) -> Watts {
    let (clock, voltage) = POINTS[point];
    Watts(4.0 * 416e-6 * clock * voltage * voltage)
}

/// Ten minutes under a controller that is polled every 100 ms, held against what is written down.
/// Returns cycles and changes of the point.
fn throttled(known: &Path, mut poll: impl FnMut(Celsius) -> (usize, f64)) -> (f64, usize) {
    let known: BTreeMap<i64, BTreeMap<String, String>> = rows(known)
        .into_iter()
        .map(|row| ((number(&row, "t_s") * 10.0).round() as i64, row))
        .collect();
    let modes = chain(&PHONE);
    let (mut state, mut cycles, mut checked) = (modes.at_rest(), 0.0, 0);
    let (mut before, mut changes) = (None, 0);
    for tick in 0..6000 {
        let die = 45.0 + modes.rise(&state, 0).0;
        let (point, granted) = poll(Celsius(die));
        changes += usize::from(before.is_some_and(|before| before != point));
        let row = known.get(&tick);
        // The first eighty changes are all written down.
        assert!(row.is_some() || before == Some(point) || changes > 80, "at {tick}");
        if let Some(row) = row {
            assert_eq!(POINTS[point].0, number(row, "f_MHz_from_t"), "{row:?}");
            let off = (die - number(row, "T_die_C_at_t")).abs();
            assert!(off < 1e-8, "{die}: {row:?}");
            assert!((granted - number(row, "granted_W")).abs() < 1e-8, "{granted}: {row:?}");
            checked += 1;
        }
        before = Some(point);
        modes.advance(&mut state, &[point_power(point)], Seconds(0.1));
        cycles += POINTS[point].0 * 1e5;
    }
    let last = number(&known[&6000], "T_die_C_at_t");
    assert!((45.0 + modes.rise(&state, 0).0 - last).abs() < 1e-8);
    assert_eq!(checked, known.len() - 1);
    (cycles, changes)
}

#[test]
fn step_wise_throttling_takes_the_points_of_the_reference() {
    let name = "step_wise_throttling_takes_the_points_of_the_reference";
    let Some(folder) = shared::folder(name) else { return };
    let law = StepWise { trip: Celsius(85.0), hysteresis: Kelvins(3.0), deepest: 6 };
    let mut state = StepWiseState::default();
    let (cycles, changes) = throttled(&folder.join("oracles/throttle_ipa/hysteresis.csv"), |die| {
        law.poll(&mut state, die);
        (state.cap(POINTS.len()), 0.0)
    });
    assert!((cycles / 1.27864e12 - 1.0).abs() < 1e-5, "{cycles}");
    assert_eq!(changes, 8);
}

#[test]
fn the_power_allocator_takes_the_points_of_the_reference() {
    let name = "the_power_allocator_takes_the_points_of_the_reference";
    let Some(folder) = shared::folder(name) else { return };
    let sustainable = point_power(0) + Watts(0.3);
    let law = PowerAllocator::new(Celsius(65.0), Celsius(75.0), sustainable, Seconds(0.1));
    let (mut state, most) = (AllocatorState::default(), point_power(6));
    let points = || (0..POINTS.len()).map(point_power);
    let (cycles, changes) =
        throttled(&folder.join("oracles/throttle_ipa/pid_allocator.csv"), |die| {
            let budget = law.poll(&mut state, die, most);
            let granted = budget.unwrap_or(most);
            (fastest_within(granted, points()), granted.0)
        });
    assert!((cycles / 1.07845e12 - 1.0).abs() < 1e-5, "{cycles}");
    assert_eq!(changes, 3888);
}
