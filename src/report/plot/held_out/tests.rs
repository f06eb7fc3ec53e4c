use super::super::overlap::{is_tidy, labels, says};
use super::super::scene::Shape;
use super::super::theme::{DARK, LIGHT};
use super::*;
use crate::calibrate::Protocol;
use crate::uncertainty::Interval90;

fn scored(at: usize, protocol: Protocol, families: usize) -> Scored {
    let measured = 1e-4 * 1.02f64.powi((at * 37 % 500) as i32);
    let wave = (at as f64 * 0.7).sin();
    let predicted = measured * (0.3 * wave * wave * wave).exp();
    let family = at % families;
    Scored {
        id: format!("board_{family}/runtime-{}/network_with_a_name(width={at})", at % 3),
        family: format!("family_{family}"),
        hardware: format!("board_{family}"),
        of_layer: at % 10 == 9,
        quantity: if at.is_multiple_of(2) { Quantity::Latency } else { Quantity::Energy },
        measured,
        predicted,
        interval: Interval90 { low: predicted * 0.8, high: predicted * 1.2 },
        protocol,
        unexcited: 0.0,
        counts: at % 10 != 8,
    }
}

fn all(count: usize, families: usize) -> Vec<Scored> {
    let own = |protocol| (0..count).map(move |at| scored(at, protocol, families));
    Protocol::ALL.into_iter().flat_map(own).collect()
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    for (count, families) in [(0, 1), (1, 1), (2, 1), (30, 4), (120, 17), (300, 40)] {
        let scored = all(count, families);
        for theme in [&LIGHT, &DARK] {
            let (scene, size) = curves(&scored, theme);
            is_tidy(&scene, size, &format!("errors of {count}"));
            for protocol in Protocol::ALL {
                let (scene, size) = scatter(&scored, protocol, theme);
                is_tidy(&scene, size, &format!("{} of {count}", protocol.name()));
            }
        }
    }
}

#[test]
fn without_predictions_pictures_say_so() {
    assert!(says(&curves(&[], &LIGHT).0, "nothing was predicted"));
    assert!(says(&scatter(&[], Protocol::Row, &LIGHT).0, "nothing was predicted so"));
    // Layers and what nobody looked up are in no picture.
    let layers = [scored(9, Protocol::Row, 1), scored(8, Protocol::Row, 1)];
    assert!(says(&scatter(&layers, Protocol::Row, &LIGHT).0, "nothing was predicted so"));
}

#[test]
fn the_table_has_the_figures_and_the_marks_stand_at_half_and_at_nine_of_ten() {
    let scored = all(40, 1);
    let (scene, _) = curves(&scored[..40], &LIGHT);
    let missed = crate::calibrate::Missed::by(scored[..40].iter(), Quantity::Latency).unwrap();
    for share in [missed.median, missed.p90, missed.worst] {
        assert!(says(&scene, &percent(share)), "{share}");
    }
    assert!(labels(&scene).iter().any(|l| l.text == format!("{:.0} %", missed.coverage * 100.0)));
    // Marks of latency stand at half and at nine of ten of the height between the labels of the axis.
    let height =
        |text: &str| labels(&scene).iter().find(|l| l.text == text).map(|l| l.at.1).unwrap();
    // The errors across have no such labels.
    let whole = 2.0 * (height("25 %") - height("75 %"));
    let none = height("25 %") + whole / 4.0;
    let discs = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Disc(at, 5.2, _) => Some((none - at.1) / whole),
        _ => None,
    });
    let shares: Vec<f64> = discs.take(2).collect();
    assert!((shares[0] - 0.5).abs() < 0.02 && (shares[1] - 0.9).abs() < 0.02, "{shares:?}");
}

#[test]
fn marks_of_a_family_are_the_same_under_every_protocol() {
    let mut some = all(40, 4);
    // Under one protocol the first families have nothing.
    some.retain(|p| {
        p.protocol != Protocol::Network || p.family == "family_3" || p.family == "family_2"
    });
    let ink = |protocol| {
        let (scene, _) = scatter(&some, protocol, &LIGHT);
        let at = labels(&scene).iter().find(|l| l.text.starts_with("family_3")).map(|l| l.at);
        let (x, y) = at.unwrap();
        let near = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Polygon(points, ink) => points
                .iter()
                .all(|p| (p.0 - x).abs() < 40.0 && (p.1 - y).abs() < 20.0)
                .then_some(ink.rgb),
            _ => None,
        });
        near.collect::<Vec<_>>()
    };
    assert!(!ink(Protocol::Row).is_empty());
    assert_eq!(ink(Protocol::Row), ink(Protocol::Network));
}

#[test]
fn the_worst_are_named_and_no_more_than_two_of_a_board() {
    let mut some: Vec<Scored> = (0..60).map(|at| scored(at, Protocol::Row, 3)).collect();
    for (at, p) in some.iter_mut().enumerate() {
        // Of one board all are far off.
        p.predicted = p.measured * if p.hardware == "board_0" { 3.0 + at as f64 } else { 1.02 };
    }
    let all: Vec<&Scored> = some.iter().collect();
    let worst = scatter::worst(&all);
    let of = |board: &str| worst.iter().filter(|p| p.hardware == board).count();
    assert_eq!((of("board_0"), of("board_1"), of("board_2")), (2, 2, 1));
    assert_eq!(worst.first().map(|p| p.id.as_str()), some.get(57).map(|p| p.id.as_str()));
}

#[test]
fn marks_are_of_families_or_of_what_was_measured_on() {
    for (families, heading, other) in [(4, "family", "measured on"), (1, "measured on", "family")] {
        let (scene, _) = scatter(&all(40, families), Protocol::Row, &LIGHT);
        let is = |text: &str| labels(&scene).iter().any(|label| label.text == text);
        assert!(is(heading) && !is(other), "{families}");
    }
}
