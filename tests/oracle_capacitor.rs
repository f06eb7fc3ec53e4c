//! Storage capacitors against numerical integration.

use crate::shared;
use joulecast::physics::capacitor::{Capacitor, Flow};
use joulecast::physics::capacitor_discharge::{LoadedCapacitor, least_capacitance};
use joulecast::units::{Amperes, Farads, Ohms, Seconds, Volts, Watts};
use std::path::Path;

/// A case of the file: what is given, by name, and a figure.
struct Case {
    name: String,
    inputs: String,
    quantity: String,
    value: f64,
}

impl Case {
    fn number(&self, name: &str) -> f64 {
        let found = self.inputs.split(' ').find_map(|part| part.strip_prefix(&format!("{name}=")));
        found
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("{name}: {}", self.inputs))
    }

    fn near(&self, found: f64) {
        let (name, value) = (&self.name, self.value);
        assert!((found / value - 1.0).abs() < 1e-9, "{name}: {found} against {value}");
    }
}

fn cases(folder: &Path) -> Vec<Case> {
    let file = folder.join("oracles/cap_closed_form/cases.csv");
    let mut reader = csv::Reader::from_path(file).unwrap();
    let case = |row: csv::StringRecord| Case {
        name: row[0].to_owned(),
        inputs: row[1].to_owned(),
        quantity: row[2].to_owned(),
        value: row[3].parse().unwrap(),
    };
    reader.records().map(|row| case(row.unwrap())).collect()
}

#[test]
fn charge_and_decay_take_the_time_of_the_integration() {
    let name = "charge_and_decay_take_the_time_of_the_integration";
    let Some(folder) = shared::folder(name) else { return };
    let mut held = 0;
    for case in cases(&folder).iter().filter(|case| case.inputs.contains("Rleak")) {
        let capacitor = Capacitor {
            capacitance: Farads(case.number("C")),
            leakage: Some(Ohms(case.number("Rleak"))),
        };
        let (from, power) = (Volts(case.number("v0")), Watts(case.number("P")));
        if case.quantity == "v_end_V" {
            let flow = Flow { power, current: Amperes::ZERO };
            case.near(capacitor.advance(from, flow, Seconds(case.number("T"))).0);
        } else {
            let flow = Flow { power, current: Amperes(case.number("Iq")) };
            let to = Volts(case.number("v1"));
            let time = capacitor.next_crossing(from, to, flow).unwrap();
            case.near(time.0);
            assert!((capacitor.advance(from, flow, time).0 / to.0 - 1.0).abs() < 1e-9);
        }
        held += 1;
    }
    assert_eq!(held, 6);
}

#[test]
fn a_load_through_a_series_resistance_takes_the_time_of_the_integration() {
    let name = "a_load_through_a_series_resistance_takes_the_time_of_the_integration";
    let Some(folder) = shared::folder(name) else { return };
    let mut held = 0;
    for case in cases(&folder).iter().filter(|case| case.inputs.contains("Voff_terminal")) {
        let bank = LoadedCapacitor {
            capacitance: Farads(case.number("C")),
            resistance: Ohms(case.number("ESR")),
        };
        let (load, off) = (Watts(case.number("P")), Volts(case.number("Voff_terminal")));
        let own = Volts(case.number("vc0"));
        let time = bank.next_crossing(own, off, load).unwrap();
        case.near(time.0);
        let end = bank.advance(own, load, time).unwrap();
        assert!((bank.terminal(end, load).unwrap().0 / off.0 - 1.0).abs() < 1e-9);
        held += 1;
    }
    assert_eq!(held, 3);
}

#[test]
fn the_least_capacitance_and_the_safe_start_of_a_task_are_known() {
    let name = "the_least_capacitance_and_the_safe_start_of_a_task_are_known";
    let Some(folder) = shared::folder(name) else { return };
    let mut held = 0;
    for case in cases(&folder) {
        if case.quantity == "C_min_F" {
            let step = (Watts(case.number("P")), Seconds(case.number("T")));
            let (start, off) = (Volts(case.number("Vstart")), Volts(case.number("Voff")));
            let least = least_capacitance(Ohms(case.number("ESR")), step, start, off);
            case.near(least.unwrap().0);
            held += 1;
        }
        if case.quantity == "V_safe_V" {
            let (_, list) = case.inputs.split_once("segs=").unwrap();
            let numbers: Vec<f64> = list
                .split(|c: char| "[](), ".contains(c))
                .filter_map(|number| number.parse().ok())
                .collect();
            let steps: Vec<_> = numbers.chunks(2).map(|s| (Watts(s[0]), Seconds(s[1]))).collect();
            assert_eq!(steps.len(), 5);
            let bank = LoadedCapacitor {
                capacitance: Farads(case.number("C")),
                resistance: Ohms(case.number("ESR")),
            };
            case.near(bank.safe_start(&steps, Volts(case.number("Voff"))).unwrap().0);
            held += 1;
        }
    }
    assert_eq!(held, 5);
}
