//! The fit against bounded least squares of another library, on its own data and standard deviations.

use crate::shared;
use joulecast::calibrate::fit::{Fit, Limits, Loss, Model, Posterior, Row, Rows, Unknown, fit};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a file, each by its column names.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        headers.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} in {row:?}"))
}

/// Energy of layers: `c_mac MACs (V / V0)² + c_dram bytes + P_static (V / V0) t`, known within 2 % of what
/// is measured, as the oracle has it.
struct Energies {
    /// Factors of the three coefficients.
    factors: Vec<[f64; 3]>,
    measured: Vec<f64>,
}

impl Energies {
    fn of(data: &[BTreeMap<String, String>], points: &[&str]) -> Self {
        let own: Vec<_> = data.iter().filter(|row| points.contains(&row["op"].as_str())).collect();
        let factors = |row: &&BTreeMap<String, String>| {
            let scale = number(row, "v") / 0.8;
            let static_time = scale * number(row, "time_s");
            [number(row, "macs") * scale * scale, number(row, "dram_bytes"), static_time]
        };
        let measured = own.iter().map(|row| number(row, "energy_measured_J")).collect();
        Self { factors: own.iter().map(factors).collect(), measured }
    }
}

impl Model for Energies {
    type Seen = ();

    fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, ())> {
        let energy = |factors: &[f64; 3]| factors.iter().zip(x).map(|(f, x)| f * x.exp()).sum();
        let pairs = self.factors.iter().zip(&self.measured);
        let residual = |(f, e)| {
            let y: f64 = energy(f);
            (y - e) / (0.02 * e)
        };
        Some((pairs.map(residual).collect(), ()))
    }

    fn rows(&mut self, x: &[f64], (): &()) -> Option<Rows> {
        let pairs = self.factors.iter().zip(&self.measured);
        let row = |(factors, e): (&[f64; 3], &f64)| {
            let entry = |(at, f): (usize, &f64)| (at, f * x[at].exp() / (0.02 * e));
            Row::of(factors.iter().enumerate().map(entry))
        };
        Some(Rows(pairs.map(row).collect()))
    }
}

const NAMES: [&str; 3] = ["c_mac", "c_dram", "p_st"];

#[test]
fn estimates_and_errors_are_those_of_bounded_least_squares() {
    let name = "estimates_and_errors_are_those_of_bounded_least_squares";
    let Some(folder) = shared::folder(name) else { return };
    let folder = folder.join("oracles/calibration_fit");
    let data = rows(&folder.join("data.csv"));
    let fits = rows(&folder.join("fits.csv"));
    type Set = (&'static str, &'static [&'static str], Option<(f64, f64)>);
    let sets: [Set; 3] = [
        ("A_one_op", &["2"], None),
        ("B_three_ops", &["0", "1", "2"], None),
        ("C_one_op_prior_static_10pct", &["2"], Some((0.18, 0.10))),
    ];
    let mut compared = 0;
    for (set, points, prior) in sets {
        let mut energies = Energies::of(&data, points);
        let mut unknowns: Vec<Unknown> = NAMES.iter().map(|name| Unknown::free(*name)).collect();
        if let Some((value, deviation)) = prior {
            unknowns[2] = Unknown::with_prior("p_st", value.ln(), deviation);
        }
        let start = [1e-12f64, 1e-10, 0.1].map(f64::ln);
        let found: Fit =
            fit(&mut energies, &unknowns, &start, Loss::Squares, Limits::default()).unwrap();
        let posterior: Posterior = found.posterior(&unknowns).unwrap();
        for (at, parameter) in NAMES.iter().enumerate() {
            let known =
                fits.iter().find(|r| r["fit"] == set && r["parameter"] == *parameter).unwrap();
            let value = found.x[at].exp();
            let near = |own: f64, column: &str, tolerance: f64| {
                let known = number(known, column);
                let off = (own / known - 1.0).abs();
                assert!(off < tolerance, "{set} {parameter} {column}: {own} not {known}");
            };
            near(value, "estimate", 1e-6);
            near(value * posterior.deviation(at), "std_err", 1e-3);
            near(posterior.condition().unwrap(), "scaled_jacobian_condition", 1e-3);
            near(posterior.correlation(0, 2), "corr_mac_static", 1e-3);
            near(found.reduced_chi_squared(), "reduced_chi2", 1e-3);
            compared += 1;
        }
    }
    assert_eq!(compared, fits.len());
}
