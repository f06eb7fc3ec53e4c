use super::super::overlap::{is_tidy, labels, says};
use super::super::scene::Shape;
use super::super::theme::{DARK, LIGHT};
use super::*;
use crate::calibrate::joint::Scales;
use crate::calibrate::{FittedNumber, FittedSight, Quantity};
use crate::uncertainty::Interval90;
use nalgebra::DMatrix;

/// Deterministic noise between -1 and 1.
fn noise(at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    2.0 * (mixed >> 11) as f64 / (1u64 << 53) as f64 - 1.0
}

fn number(at: usize, boards: usize) -> FittedNumber {
    let kinds = ["cycles_per_mac", "cycles_per_output", "a_very_long_name_of_a_kind_of_number"];
    FittedNumber {
        meter_share: 0.0,
        hardware: format!("boards/board_with_a_long_name_{}.ron", at % boards),
        version: (boards > 2).then(|| format!("a runtime with a long name 1.{}.0", at % 5)),
        name: format!("software.stack-1.{}.{}.Kind{at}", at % 2, kinds[at % 3]),
        written: "1.8 cycle/MAC".to_owned(),
        before: 1.8,
        factor: (0.5 * noise(at)).exp(),
        sigma_before: 0.7,
        sigma: 0.7 * noise(at + 9).abs(),
        prior_share: 0.9,
        told_by: None,
        effect: noise(at + 17).abs(),
    }
}

fn sight(at: usize, boards: usize, numbers: usize) -> FittedSight {
    let quantity = [Quantity::Latency, Quantity::Energy, Quantity::IdlePower][at % 3];
    let hardware = format!("boards/board_with_a_long_name_{}.ron", at / 3 % boards);
    let measured = 10f64.powf(-3.0 + 2.0 * noise(at / 3));
    let predicted = measured * (0.1 * noise(at + 3)).exp();
    let case = format!("board_with_a_long_name_{}/a-runtime-{}", at / 3 % boards, at % 4);
    FittedSight {
        fault: None,
        id: format!("{case}/mobilenet_v1_int8(width=1.0,resolution={})", at / 3),
        case,
        hardware,
        given: at % 7 != 3,
        quantity,
        measured,
        before: measured * (1.5 * noise(at + 5)).exp(),
        sigma_before: 0.4,
        predicted,
        interval: Interval90 { low: predicted * 0.9, high: predicted * 1.1 },
        pull: if at % 11 == 5 { 66.6 } else { 2.0 * noise(at + 7) },
        leverage: 0.5 * noise(at + 8).abs(),
        tells: (numbers > 0 && at % 7 != 3).then(|| (number(at % numbers, boards).name, 0.2)),
    }
}

fn report(numbers: usize, sights: usize, boards: usize) -> FitReport {
    FitReport {
        name: "a_fit".to_owned(),
        correlations: DMatrix::from_fn(numbers, numbers, |i, j| {
            if i == j { 1.0 } else { 0.99 * noise(i.min(j) * 31 + i.max(j)) }
        }),
        numbers: (0..numbers).map(|at| number(at, boards)).collect(),
        sights: (0..sights).map(|at| sight(at, boards, numbers)).collect(),
        unknowns: numbers,
        iterations: 5,
        converged: true,
        chi_squared_per_measurement: 1.0,
        scales: Scales::STATED,
        condition: None,
        confused: Vec::new(),
        weakest: None,
        contradictions: Vec::new(),
        strained: Vec::new(),
        idle: Vec::new(),
        untouched: Vec::new(),
    }
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    let sizes =
        [(0, 0, 1), (1, 1, 1), (1, 3, 1), (5, 40, 2), (13, 66, 1), (30, 90, 3), (50, 200, 70)];
    for (numbers, sights, boards) in sizes {
        for view in FitView::ALL {
            for theme in [&LIGHT, &DARK] {
                let (scene, size) = compose(view, &report(numbers, sights, boards), theme);
                is_tidy(&scene, size, &format!("{} of {numbers}, {sights}", view.name()));
                assert!(says(&scene, "a_fit"));
            }
        }
    }
}

#[test]
fn the_same_fit_is_the_same_picture() {
    for view in FitView::ALL {
        let twice = [(); 2].map(|()| compose(view, &report(90, 200, 4), &LIGHT).0.shapes);
        assert_eq!(twice[0], twice[1], "{}", view.name());
    }
}

#[test]
fn what_cannot_be_drawn_leaves_the_rest_as_it_is() {
    let mut odd = report(6, 12, 1);
    for (at, broken) in [f64::NAN, f64::INFINITY, 0.0, -1.0].into_iter().enumerate() {
        odd.sights[at].predicted = broken;
        odd.sights[at].pull = broken;
        odd.sights[at + 4].before = broken;
        odd.numbers[at].factor = broken;
        odd.numbers[at].sigma = broken.abs();
    }
    odd.sights[9].measured = 0.0;
    odd.correlations = DMatrix::from_element(6, 6, f64::NAN);
    for view in FitView::ALL {
        let (scene, size) = compose(view, &odd, &LIGHT);
        is_tidy(&scene, size, view.name());
    }
}

#[test]
fn residuals_of_nothing_stand_on_the_line() {
    let mut exact = report(1, 3, 1);
    for sight in &mut exact.sights {
        (sight.given, sight.pull, sight.before, sight.predicted) =
            (true, 0.0, sight.measured, sight.measured);
    }
    let (scene, size) = compose(FitView::Residuals, &exact, &LIGHT);
    is_tidy(&scene, size, "zero");
    assert!(says(&scene, "3 of 3") && says(&scene, "0.00 σ"));
}

/// What is left out may have a fault, or say nothing new: the legend does not call both a fault.
#[test]
fn what_the_fit_was_not_given_is_in_the_legend_as_no_more_than_that() {
    for view in [FitView::Residuals, FitView::Predicted] {
        let (scene, _) = compose(view, &report(3, 12, 1), &LIGHT);
        assert!(labels(&scene).iter().any(|label| label.text == "not given to the fit"));
        assert!(!says(&scene, "fault"));
    }
}

#[test]
fn a_residual_beyond_the_axis_is_an_arrow_with_its_size() {
    let (scene, _) = compose(FitView::Residuals, &report(3, 12, 1), &LIGHT);
    assert!(says(&scene, "67"), "{:?}", labels(&scene));
}

#[test]
fn numbers_that_share_a_factor_are_one_row() {
    let mut shared = report(5, 9, 1);
    let (factor, sigma) = (shared.numbers[0].factor, shared.numbers[0].sigma);
    for at in 1..3 {
        (shared.numbers[at].factor, shared.numbers[at].sigma) = (factor, sigma);
        for other in 0..3 {
            (shared.correlations[(at, other)], shared.correlations[(other, at)]) = (1.0, 1.0);
        }
    }
    for view in [FitView::Numbers, FitView::Correlations] {
        let (scene, _) = compose(view, &shared, &LIGHT);
        assert!(says(&scene, "Kind0 +2") && !says(&scene, "Kind1"), "{}", view.name());
        assert!(says(&scene, "2 of the numbers share"), "{}", view.name());
    }
}

#[test]
fn where_there_are_many_the_picture_says_which_are_drawn() {
    let many = report(120, 300, 1);
    let (scene, _) = compose(FitView::Correlations, &many, &LIGHT);
    assert!(says(&scene, "40 of 120 factors are drawn"));
    let (scene, _) = compose(FitView::Numbers, &many, &LIGHT);
    assert!(says(&scene, "48 of 120 factors are drawn"));
    let (scene, _) = compose(FitView::Contributions, &many, &LIGHT);
    assert!(says(&scene, "the 40 that told most are drawn"));
    let (scene, _) = compose(FitView::Residuals, &many, &LIGHT);
    assert!(says(&scene, "all measurements of a case"));
}

#[test]
fn the_strongest_correlation_heads_the_list() {
    let mut two = report(3, 3, 1);
    two.correlations = DMatrix::identity(3, 3);
    (two.correlations[(0, 2)], two.correlations[(2, 0)]) = (-0.87, -0.87);
    let (scene, _) = compose(FitView::Correlations, &two, &LIGHT);
    assert!(says(&scene, "−0.87") && says(&scene, "−.87"));
    // A matrix of three: nine cells, of which two are blue and three are the diagonal.
    let blue = scene.shapes.iter().filter(|shape| match shape {
        Shape::Fill(area, ink) => area.width() > 30.0 && ink.rgb.2 > 150 && ink.rgb.0 < 60,
        _ => false,
    });
    assert_eq!(blue.count(), 3, "two cells and the swatch of the list");
}

#[test]
fn what_told_most_stands_first_and_what_told_nothing_nowhere() {
    let mut some = report(2, 3, 1);
    for (sight, share) in some.sights.iter_mut().zip([0.1, 0.9, 0.0]) {
        sight.given = true;
        sight.leverage = 0.0;
        sight.tells = (share > 0.0).then(|| ("software.stack-1.0.cycles.Kind0".to_owned(), share));
    }
    let (scene, _) = compose(FitView::Contributions, &some, &LIGHT);
    // √(1 + 0.9) and √(1 + 0.1).
    let heights: Vec<f64> = ["38 %", "4.9 %"]
        .iter()
        .filter_map(|text| labels(&scene).iter().find(|l| l.text.trim() == *text).map(|l| l.at.1))
        .collect();
    assert!(matches!(heights.as_slice(), [first, second] if first < second), "{heights:?}");
}
