//! Short ways against long ones.

use super::local::Around;
use super::model::Fitting;
use super::*;
use crate::calibrate::Gathered;
use crate::calibrate::fit::{Model, Rows};
use std::path::Path;

fn joint() -> Joint {
    let text = r#"(schema: "joulecast.calibration/1", name: "x",
        cases: ["stm32l4r5/x-cube-ai-9.0", "stm32l4r5/tflm-2.3.1"],
        fit: ["software.*.cycles_per_*", "domains.*.clock_tree.*", "engines.*.energy.*"],
        shared: [(paths: ["software.*.cycles_per_*"], over: [Core], common: "±50%", each: "±20%")],
        discrepancy: [(of: Time, over: [Network], spread: "±5%"), (of: Power, over: [Network, Case], spread: "±3%")],
        noise: (latency: "±1%", energy: "±2%"))"#;
    let gathered = Gathered::parse("x.ron", text, Path::new("")).unwrap();
    Joint::of(&gathered.cases, &gathered.calibration).unwrap()
}

/// Deviations that differ, so that none is taken for another.
const SCALES: Scales = Scales { time: 1.3, power: 0.7 };

#[test]
fn predictions_go_together_as_their_rows_say() {
    let joint = joint();
    let mut given = joint.given(|at| at % 3 != 1);
    given.scales = SCALES;
    let mut fitting = Fitting::of(&given, false);
    let x = vec![0.0; joint.unknowns.len()];
    let (_, seen) = fitting.residuals(&x).unwrap();
    let rows = fitting.rows(&x, &seen).unwrap();
    let unknowns = SCALES.applied(&joint);
    let deviation = |unknown: usize| unknowns[unknown].prior.unwrap().deviation;
    let long = Rows(rows.0.iter().map(|row| row.scaled(deviation)).collect()).gram();
    let short = fitting.covariance().unwrap();
    assert!(long.nrows() > 8 && long.nrows() == short.nrows());
    let off = (&long - &short).abs().max();
    assert!(off < 1e-9 * long.abs().max(), "{off}");
}

#[test]
fn around_a_point_the_law_has_values_and_slopes() {
    let joint = joint();
    let configuration = &joint.configurations[0];
    let (_, runs) = joint.work(&vec![true; joint.sights.len()]).remove(0);
    let logs = vec![0.0; configuration.tuned.len()];
    let around = Around::of(&joint, configuration, &runs, logs.clone());
    let moved = |by: f64| -> Vec<f64> {
        (0..logs.len()).map(|at| by * (1.0 - 0.5 * (at % 5) as f64)).collect()
    };
    let there = moved(0.009);
    let exact = joint.values(configuration, &runs, &there);
    let near = around.near(&runs, &there).unwrap();
    for (exact, near) in exact.iter().flatten().zip(near.iter().flatten()) {
        assert!((exact - near).abs() < 5e-5, "{exact} {near}");
    }
    assert_eq!(around.near(&runs, &moved(0.2)), None);
    // Farther, as long as it gets the values right.
    let there = moved(0.06);
    let exact = joint.values(configuration, &runs, &there);
    let slopes = around.slopes_at(&runs, &there, &exact).unwrap();
    let anew = Around::of(&joint, configuration, &runs, there.clone());
    for (run, by_law) in runs.iter().zip(&slopes) {
        let (exact, before) = (anew.local(*run).unwrap(), around.local(*run).unwrap());
        let parts = exact.slopes.iter().zip(&by_law.slopes).zip(&before.slopes);
        for (exact, (by_law, before)) in parts.map(|((a, b), c)| (a, (b, c))) {
            for (figure, exact) in exact.iter().enumerate() {
                let (off, was) = (by_law[figure] - exact, before[figure] - exact);
                assert!(off.abs() < 0.003 + 0.2 * was.abs(), "{exact} {off} {was}");
            }
        }
    }
    let wrong: Vec<Vec<f64>> =
        exact.iter().map(|own| own.iter().map(|v| v + 0.1).collect()).collect();
    assert_eq!(around.slopes_at(&runs, &there, &wrong), None);
}
