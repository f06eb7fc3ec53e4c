use super::super::opp_table::tables::big;
use super::super::opp_transition::{ChangeTime, OppTransitions, RailOrder, RailSlew};
use super::*;
use crate::units::{Farads, Ratio, VoltsPerSecond};
use proptest::prelude::*;

fn cost(time: f64, energy: f64) -> OppCost {
    OppCost { time: Seconds(time), energy: Joules(energy) }
}

fn free(points: usize) -> Vec<Vec<OppCost>> {
    vec![vec![OppCost::ZERO; points]; points]
}

fn scheduling(
    layers: &[Vec<OppCost>],
    changes: &[Vec<OppCost>],
    deadline: f64,
    slack: f64,
) -> OppScheduling {
    OppScheduling::new(layers, changes, None, (Seconds(deadline), Watts(slack))).unwrap()
}

/// Every schedule there is.
fn brute(scheduling: &OppScheduling) -> Option<f64> {
    let (points, layers) = (scheduling.points, scheduling.count());
    let mut best: Option<f64> = None;
    for number in 0..points.pow(layers as u32) {
        let schedule: Vec<usize> =
            (0..layers).map(|layer| number / points.pow(layer as u32) % points).collect();
        let (time, net) = scheduling.sum(&schedule);
        if scheduling.in_time(time) {
            best = Some(best.map_or(net, |best| best.min(net)));
        }
    }
    best.map(|net| scheduling.whole(net).0)
}

/// Two layers, two points: 1 s, 4 J or 2 s, 1 J; 1 s, 2 J or 2 s, 1 J. One second may be lost: the first
/// layer saves more with it.
#[test]
fn slack_goes_to_the_layer_that_saves_most_with_it() {
    let layers = [vec![cost(2.0, 1.0), cost(1.0, 4.0)], vec![cost(2.0, 1.0), cost(1.0, 2.0)]];
    let best = |deadline, slack| scheduling(&layers, &free(2), deadline, slack).best(100);
    let three = best(3.0, 0.0).unwrap();
    assert_eq!(
        (three.points.as_slice(), three.energy, three.time),
        ([0, 1].as_slice(), Joules(3.0), Seconds(3.0))
    );
    assert_eq!(three.bound, three.energy);
    assert_eq!(best(4.0, 0.0).unwrap().points, [0, 0]);
    assert_eq!(best(2.0, 0.0).unwrap().points, [1, 1]);
    let late = best(1.9, 0.0).unwrap_err();
    let what = "time of the fastest schedule (s)";
    assert_eq!(late, LawError::Beyond { what, value: 2.0, limit: 1.9 });
}

/// Half a watt in the slack, and running longer for less than that is worth it.
#[test]
fn slack_that_draws_is_run_into() {
    let layers = [vec![cost(2.0, 2.2), cost(1.0, 2.0)]];
    let best = |slack| scheduling(&layers, &free(2), 3.0, slack).best(100).unwrap();
    assert_eq!((best(0.0).points[0], best(0.0).energy), (1, Joules(2.0)));
    assert_eq!((best(0.5).points[0], best(0.5).energy), (0, Joules(2.7)));
}

/// Where a change costs more than it saves, neighbours stay at one point.
#[test]
fn changes_that_cost_more_than_they_save_are_not_made() {
    let layers = vec![vec![cost(2.0, 1.0), cost(1.0, 1.2)], vec![cost(2.0, 1.2), cost(1.0, 1.0)]];
    let changing = |energy| {
        let change = cost(0.0, energy);
        vec![vec![OppCost::ZERO, change], vec![change, OppCost::ZERO]]
    };
    let best = |energy| scheduling(&layers, &changing(energy), 10.0, 0.0).best(100).unwrap().points;
    assert_eq!(best(0.1), [0, 1]);
    assert_eq!(best(0.3)[0], best(0.3)[1]);
    let from = |start| {
        let terms = (Seconds(10.0), Watts(0.0));
        OppScheduling::new(&layers, &changing(0.3), Some(start), terms)
            .unwrap()
            .best(100)
            .unwrap()
            .points
    };
    assert_eq!((from(0), from(1)), (vec![0, 0], vec![1, 1]));
}

/// Time that a change takes counts against the deadline.
#[test]
fn a_change_that_takes_too_long_is_not_made() {
    let layers = vec![vec![cost(2.0, 1.0), cost(1.0, 3.0)], vec![cost(2.0, 1.0), cost(1.0, 3.0)]];
    let changes =
        |time| vec![vec![OppCost::ZERO, cost(time, 0.0)], vec![cost(time, 0.0), OppCost::ZERO]];
    let best = |time| scheduling(&layers, &changes(time), 3.2, 0.0).best(100).unwrap().energy;
    assert_eq!((best(0.1), best(0.3)), (Joules(4.0), Joules(6.0)));
}

/// Sixty layers of 1 to 5 Mcycle on a big core of the RK3588, with what its rail and clock cost: no point
/// for all that keeps the deadline is better, and few labels come within their own bound of many.
#[test]
fn layers_on_a_big_core_cost_less_than_any_one_point() {
    let table = big();
    let rail = RailSlew {
        slew: VoltsPerSecond(12_500.0),
        capacitance: Farads(66e-6),
        efficiency: Ratio(0.88),
        ..RailSlew::IDEAL
    };
    let law = OppTransitions::new(
        vec![rail],
        ChangeTime::Rails(RailOrder::Together),
        Seconds(20e-6),
        true,
    )
    .unwrap();
    let changes: Vec<Vec<OppCost>> = law
        .all(&table)
        .unwrap()
        .iter()
        .map(|row| {
            let costs = row.iter().map(|c| OppCost { time: c.halted(), energy: c.drawn() });
            costs.collect()
        })
        .collect();
    // Some layers wait for memory: 0.2 to 1.4 ms whatever the clock.
    let layers: Vec<Vec<OppCost>> = (0..60u32)
        .map(|layer| {
            let cycles = f64::from(1 + layer * 7 % 5) * 1e6;
            let waits = 0.2e-3 * f64::from(1 + layer * 5 % 7);
            table
                .points()
                .iter()
                .map(|point| {
                    let time = Seconds(cycles / point.frequency.0 + waits);
                    OppCost { time, energy: (point.power + Watts(0.15)) * time }
                })
                .collect()
        })
        .collect();
    let at = |share: f64| {
        let fastest = scheduling(&layers, &changes, 1e3, 0.05).at_one_point(6).time;
        scheduling(&layers, &changes, fastest.0 * share, 0.05)
    };
    for share in [1.001, 1.05, 1.2, 1.4, 2.0] {
        let scheduling = at(share);
        let best = scheduling.best(OppScheduling::LABELS).unwrap();
        assert!(best.time.0 <= scheduling.deadline.0 * (1.0 + 1e-12));
        assert_eq!(best.bound, best.energy, "{share}: proven");
        for point in 0..7 {
            let one = scheduling.at_one_point(point);
            if scheduling.in_time(one.time.0) {
                assert!(best.energy.0 <= one.energy.0 * (1.0 + 1e-12));
            }
        }
        let few = scheduling.best(8).unwrap();
        assert!(few.bound <= best.energy * (1.0 + 1e-12) && best.energy <= few.energy);
    }
}

#[test]
fn what_makes_no_schedule_is_refused() {
    let new = |layers: &[Vec<OppCost>], points| {
        OppScheduling::new(layers, &free(points), None, (Seconds(1.0), Watts(0.0)))
    };
    let layer = vec![cost(1.0, 1.0); 2];
    assert_eq!(new(&[], 2), Err(LawError::Empty("layer")));
    assert_eq!(new(&[vec![]], 0), Err(LawError::Empty("operating point")));
    assert!(new(std::slice::from_ref(&layer), 2).is_ok());
    assert!(matches!(
        new(std::slice::from_ref(&layer), 3),
        Err(LawError::OutOfRange { entry: 1, .. })
    ));
    assert!(new(&[vec![cost(-1.0, 1.0), cost(1.0, 1.0)]], 2).is_err());
    assert!(new(&[vec![cost(1.0, f64::NAN), cost(1.0, 1.0)]], 2).is_err());
    let terms = (Seconds(1.0), Watts(0.0));
    assert!(OppScheduling::new(&[layer], &free(2), Some(2), terms).is_err());
}

proptest! {
    #[test]
    fn it_is_the_best_of_all_schedules(
        costs in prop::collection::vec(prop::collection::vec((0.1f64..2.0, 0.0f64..3.0), 3), 1..7),
        changes in prop::collection::vec((0.0f64..0.3, -0.05f64..0.5), 9),
        (tight, slack) in (0.9f64..2.5, 0.0f64..1.0),
        start in prop::option::of(0usize..3),
        most in prop::sample::select(vec![1usize, 3, 10_000]),
    ) {
        let layers: Vec<Vec<OppCost>> =
            costs.iter().map(|row| row.iter().map(|(t, e)| cost(*t, *e)).collect()).collect();
        let changes: Vec<Vec<OppCost>> = (0..3).map(|from| (0..3).map(|to| {
            if from == to { return OppCost::ZERO; }
            let (time, energy) = changes[from * 3 + to];
            cost(time, energy)
        }).collect()).collect();
        let least: f64 = costs.iter().map(|row| row.iter().fold(9.0, |t: f64, c| t.min(c.0))).sum();
        let terms = (Seconds(least * tight), Watts(slack));
        let scheduling = OppScheduling::new(&layers, &changes, start, terms).unwrap();
        match (brute(&scheduling), scheduling.best(most)) {
            (None, Err(error)) => prop_assert!(matches!(error, LawError::Beyond { .. }), "{error}"),
            (Some(best), Ok(found)) => {
                prop_assert!(scheduling.in_time(found.time.0));
                prop_assert!(found.bound.0 <= best + 1e-9 && best <= found.energy.0 + 1e-9,
                    "{} {best} {}", found.bound.0, found.energy.0);
                if most == 10_000 {
                    prop_assert!((found.energy.0 - best).abs() < 1e-9, "{} {best}", found.energy.0);
                    prop_assert_eq!(found.bound, found.energy);
                }
            }
            (best, found) => prop_assert!(false, "{best:?} {found:?}"),
        }
    }
}
