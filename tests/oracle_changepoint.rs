//! Change points of a noisy signal against an exact reference.

use crate::shared::folder;
use joulecast::capture::change_points;

#[test]
fn break_points_and_cost_are_those_of_the_reference() {
    let Some(shared) = folder("break_points_and_cost_are_those_of_the_reference") else { return };
    let folder = shared.join("oracles/changepoint");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let signal: Vec<f64> = read("signal.csv")
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap().1.trim().parse().unwrap())
        .collect();
    assert_eq!(signal.len(), 440);
    let table = read("breakpoints.csv");
    // The penalties are these multiples of s^2 ln n; the table rounds them, and a cost holds seven.
    let (multiples, deviation) = ([1.0, 2.0, 3.0, 6.0], 0.08f64);
    assert_eq!(table.lines().skip(1).count(), multiples.len());
    for (line, multiple) in table.lines().skip(1).zip(multiples) {
        let cells: Vec<&str> = line.split(',').collect();
        let ends: Vec<usize> =
            cells[1].split_whitespace().map(|end| end.parse().unwrap()).collect();
        let written: f64 = cells[0].parse().unwrap();
        let penalty = multiple * deviation.powi(2) * (signal.len() as f64).ln();
        assert!((penalty - written).abs() < 6e-10, "{penalty} {written}");
        let told = change_points(&signal, penalty, 2);
        assert_eq!(told.ends, ends, "penalty {penalty}");
        let cost: f64 = cells[2].trim().parse().unwrap();
        assert!((told.cost - cost).abs() < 1e-9, "penalty {penalty}: {} {cost}", told.cost);
    }
}
