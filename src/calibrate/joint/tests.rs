//! Short ways against long ones.

use super::local::Around;
use super::model::Fitting;
use super::*;
use crate::calibrate::Gathered;
use crate::calibrate::fit::{Model, Row, Rows};
use crate::calibrate::{Case, Quantity};
use crate::uncertainty::Z90;
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

fn joint_of(observations: &str, fit: &str, more: &str) -> Joint {
    let text = format!(
        r#"(schema: "joulecast.case/1", id: "c", board: "b", runtime: (family: "X-CUBE-AI", version: "9.0.0"),
        hardware: "stm32l4r5", operating_point: "120mhz_1v8", software: "x-cube-ai", split: Fit, sources: {{}},
        tolerance: "2 %", observations: [{observations}])"#
    );
    let case = Case::parse("case.ron", &text).unwrap();
    let text = format!(
        r#"(schema: "joulecast.calibration/1", name: "x", cases: ["c"], fit: ["{fit}"],
        noise: (latency: "±1%", energy: "±1%"){more})"#
    );
    let calibration = Calibration::parse("x.ron", &text).unwrap();
    Joint::of(&[case], &calibration).unwrap()
}

/// What the model is off by in the energy of an inference, it is off by in a mean power as far as that is of inferences.
#[test]
fn a_mean_power_has_the_discrepancies_of_its_inference_by_its_share_at_work() {
    let observation = |period: &str| {
        format!(
            r#"(model: "kws_ds_cnn", latency: "50 ms ±1%", energy: "2 mJ ±1%", mean_power: "30 mW ±1%", period: "{period}",
            rest: "waiting")"#
        )
    };
    let off = r#", discrepancy: [(of: Time, over: [Network], spread: "±5%"), (of: Power, over: [Network], spread: "±3%")]"#;
    let at = |period: &str| {
        let joint = joint_of(&observation(period), "software.*.cycles_per_*", off);
        let of = |quantity: Quantity| {
            let sight = joint.sights().iter().find(|own| own.quantity == quantity).unwrap();
            let weight = |of: Off| -> f64 {
                let is = |(at, _): &&(usize, f64)| joint.off[*at] == Some(of);
                sight.off.iter().filter(is).map(|own| own.1).sum()
            };
            (weight(Off::Time), weight(Off::Power))
        };
        let predicted = |quantity: Quantity| {
            let all = joint.prior_forecasts(|_| true);
            let own = all.iter().find(|own| joint.sights()[own.sight].quantity == quantity);
            own.unwrap().predicted
        };
        assert_eq!(of(Quantity::Latency), (1.0, 0.0));
        assert_eq!(of(Quantity::Energy), (1.0, 1.0));
        let [time, energy, mean] =
            [Quantity::Latency, Quantity::Energy, Quantity::MeanPower].map(predicted);
        (of(Quantity::MeanPower), time, energy, mean)
    };
    let ((time_share, power_share), time, energy, mean) = at("100 ms");
    // A period holds the inference, and rest for what is left of it.
    assert!((power_share - energy / (mean * 0.1)).abs() < 1e-9);
    assert!(power_share > 0.4 && power_share < 0.8, "{power_share}");
    let rest = (mean * 0.1 - energy) / (0.1 - time);
    let changes = (energy - rest * time) / (mean * 0.1);
    assert!((time_share - changes).abs() < 1e-3, "{time_share} {changes}");
    // Inferences without rest: their power, however long they take.
    let ((time_share, power_share), time, energy, mean) = at("10 ms");
    assert!((mean / (energy / time) - 1.0).abs() < 1e-9);
    assert!(time_share == 0.0 && (power_share - 1.0).abs() < 1e-9);
}

/// A cycle count that is known to a factor of three makes the time longer by more than shorter: the interval has the
/// quantiles that the model has there, and not those of a line through its middle.
#[test]
fn an_interval_is_as_long_as_the_model_says_to_each_side() {
    let fit = "software.x-cube-ai.cycles_per_mac.FullyConnected";
    let joint = joint_of(r#"(model: "ad_autoencoder", latency: "5 ms ±1%")"#, fit, "");
    let forecast = joint.prior_forecasts(|_| true).remove(0);
    let configuration = &joint.configurations[0];
    let (runs, number) = ([0], 0);
    assert_eq!(configuration.tuned.len(), 1);
    let around = Around::of(&joint, configuration, &runs, vec![0.0]);
    let own = around.local(0).unwrap();
    // Of one number the quantile is the figure where that number is at its own.
    let deviation =
        joint.prior_variance(&Row::of(configuration.tuned[number].unknowns.clone())).sqrt();
    let at = |sign: f64| {
        let logs = [sign * Z90 * deviation];
        joint.values(configuration, &runs, &logs)[0][0] - own.values[0]
    };
    let sides = (at(1.0) / Z90, -at(-1.0) / Z90);
    // Below, loads of weights from flash take as long, whatever the cycles.
    assert!(sides.0 > 1.8 * sides.1, "{sides:?}");
    for (found, known) in [(forecast.spread.up, sides.0), (forecast.spread.down, sides.1)] {
        // What the scatter adds.
        assert!(found > 0.999 * known && found < 1.01 * known, "{found} {known}");
    }
    assert!(forecast.spread.up > forecast.sigma && forecast.spread.down < 0.6 * forecast.sigma);
}
