//! Thermal networks and leakage against a matrix exponential, HotSpot and 30-digit arithmetic.

use crate::shared;
use joulecast::physics::leakage::Leakage;
use joulecast::physics::leakage_fixed_point::{LeakageFixedPoint, SteadyTemperature};
use joulecast::physics::thermal_network::{CauerLadder, CauerStage, FosterForm, FosterTerm};
use joulecast::units::{
    Celsius, JoulesPerKelvin, KelvinsPerWatt, PerKelvin, PerVolt, Seconds, Volts, Watts,
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

#[test]
fn a_three_node_ladder_has_the_time_constants_of_the_matrix_exponential() {
    let name = "a_three_node_ladder_has_the_time_constants_of_the_matrix_exponential";
    let Some(folder) = shared::folder(name) else { return };
    let known: BTreeMap<String, f64> = rows(&folder.join("oracles/thermal_rc/summary.csv"))
        .iter()
        .map(|row| (row["quantity"].clone(), number(row, "value")))
        .collect();
    let stage = |resistance, capacity| CauerStage {
        resistance: KelvinsPerWatt(resistance),
        capacity: JoulesPerKelvin(capacity),
    };
    let chain =
        CauerLadder::new(vec![stage(1.2, 0.015), stage(4.0, 0.9), stage(9.0, 22.0)]).unwrap();
    let foster = chain.to_foster().unwrap();
    assert_eq!(foster.terms().len(), 3);
    // Nine digits are written.
    let near = |found: f64, key: &str| {
        assert!((found / known[key] - 1.0).abs() < 1e-8, "{key}: {found} against {}", known[key]);
    };
    for (index, term) in foster.terms().iter().enumerate() {
        near(term.time.0, &format!("tau_{index}_s"));
        near(term.resistance.0, &format!("R_foster_{index}_K_per_W"));
    }
    near(chain.total_resistance().0, "R_dc_total_K_per_W");
}

#[test]
fn a_ladder_stepped_by_superposition_follows_the_traced_die() {
    let name = "a_ladder_stepped_by_superposition_follows_the_traced_die";
    let Some(folder) = shared::folder(name) else { return };
    let trace = rows(&folder.join("oracles/thermal_rc/trace.csv"));
    let stage = |resistance, capacity| CauerStage {
        resistance: KelvinsPerWatt(resistance),
        capacity: JoulesPerKelvin(capacity),
    };
    let foster = CauerLadder::new(vec![stage(1.2, 0.015), stage(4.0, 0.9), stage(9.0, 22.0)])
        .unwrap()
        .to_foster()
        .unwrap();
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let (mut power, mut checked) = (0.0, 0);
    for row in &trace {
        let now = number(row, "t_s");
        let die: f64 = steps
            .iter()
            .map(|(start, change)| foster.step_response(Seconds(now - start)).0 * change)
            .sum();
        let known = number(row, "T_die_C");
        assert!((25.0 + die - known).abs() < 1e-9, "at {now} s: {} against {known}", 25.0 + die);
        let next = number(row, "p_die_W_from_t");
        steps.push((now, next - power));
        power = next;
        checked += 1;
    }
    assert!(checked > 20);
}

#[test]
fn the_fitted_poles_reproduce_the_step_responses_of_hotspot() {
    let name = "the_fitted_poles_reproduce_the_step_responses_of_hotspot";
    let Some(folder) = shared::folder(name) else { return };
    let poles = rows(&folder.join("oracles/hotspot_step/foster5.csv"));
    let form = |column: &str| {
        let term = |row| FosterTerm {
            resistance: KelvinsPerWatt(number(row, column)),
            time: Seconds(number(row, "tau_s")),
        };
        FosterForm::new(poles.iter().map(term).collect()).unwrap()
    };
    let own = [form("R_npu_npu_K_per_W"), form("R_rest_rest_K_per_W")];
    let across = form("R_npu_rest_K_per_W");
    let mut checked = 0;
    for row in rows(&folder.join("oracles/hotspot_step/zth.csv")) {
        let (npu, rest) = match row["heated_block"].as_str() {
            "npu" => (&own[0], &across),
            "rest" => (&across, &own[1]),
            other => panic!("{other}"),
        };
        for (form, column) in [(npu, "Z_npu_K_per_W"), (rest, "Z_rest_K_per_W")] {
            let found = match row["t_s"].as_str() {
                "inf" => form.total_resistance(),
                _ => form.step_response(Seconds(number(&row, "t_s"))),
            };
            let known = number(&row, column);
            assert!((found.0 - known).abs() < 5e-3, "{row:?}: {found}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn leakage_settles_or_runs_away_as_in_thirty_digits() {
    let Some(folder) = shared::folder("leakage_settles_or_runs_away_as_in_thirty_digits") else {
        return;
    };
    let cases = rows(&folder.join("oracles/leak_fixed_point/fixed_points.csv"));
    for row in &cases {
        let of = |column: &str| number(row, column);
        let law = LeakageFixedPoint {
            ambient: Celsius(of("Tamb_C")),
            resistance: KelvinsPerWatt(of("theta_K_per_W")),
            leakage: Leakage {
                power: Watts(of("Pleak0_W")),
                voltage: Volts(of("V0")),
                temperature: Celsius(of("T0_C")),
                per_volt: PerVolt(of("kV_per_V")),
                per_kelvin: PerKelvin(of("betaT_per_K")),
            },
            voltage: Volts(of("V")),
        };
        let near = |found: f64, column: &str| {
            assert!((found - of(column)).abs() < 1e-9, "{}: {found}", row["case"]);
        };
        near(law.largest_power().0, "Pdyn_max_W");
        near(law.critical_temperature().0, "T_critical_C");
        match law.steady(Watts(of("Pdyn_W"))) {
            SteadyTemperature::Settles(junction) => {
                assert_eq!(row["has_fixed_point"], "True", "{row:?}");
                near(junction.0, "T_stable_C");
                near(law.loop_gain(junction), "loop_gain");
            }
            SteadyTemperature::RunsAway => {
                assert_eq!(row["has_fixed_point"], "False", "{row:?}");
            }
        }
    }
    assert_eq!(cases.len(), 6);
}
