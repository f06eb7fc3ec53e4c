//! What holds for all governors.

use super::*;
use crate::physics::opp_table::tables::big;
use crate::units::{Cycles, Hertz, Ratio, Watts};
use proptest::prelude::*;

fn all() -> Vec<Governor> {
    let schedutil = Schedutil::new(Seconds(1e-3), Seconds(2e-3)).unwrap();
    let ondemand = |slope| Ondemand::new(Seconds(10e-3), Ratio(0.8), slope, 2).unwrap();
    vec![
        Governor::Performance,
        Governor::Powersave,
        Governor::Fixed(Fixed { frequency: Hertz(1500e6) }),
        Governor::Ondemand(ondemand(OndemandSlope::Range)),
        Governor::Ondemand(ondemand(OndemandSlope::DownDifferential(Ratio(0.1)))),
        Governor::Schedutil(schedutil),
        Governor::EnergyAware(EnergyAware::new(schedutil)),
        Governor::SimpleOndemand(SimpleOndemand::new(Seconds(50e-3), 90, 5).unwrap()),
        Governor::RaceToIdle(RaceToIdle),
        Governor::HullPace(HullPace::new(&big(), Watts(0.1)).unwrap()),
    ]
}

#[test]
fn each_says_when_it_looks() {
    let periods: Vec<Option<f64>> =
        all().iter().map(|governor| governor.sampling_period().map(|period| period.0)).collect();
    let expected = [
        None,
        None,
        None,
        Some(10e-3),
        Some(10e-3),
        Some(1e-3),
        Some(1e-3),
        Some(50e-3),
        None,
        None,
    ];
    assert_eq!(periods, expected);
    let state = GovernorState::default();
    for governor in all() {
        let next = governor.next_look(&state);
        let expected = match governor.sampling_period() {
            Some(period) => NextLook::After(period),
            None if matches!(governor, Governor::RaceToIdle(_) | Governor::HullPace(_)) => {
                NextLook::AtJobs
            }
            None => NextLook::Never,
        };
        assert_eq!(next, expected, "{governor:?}");
    }
}

#[test]
fn each_is_named_with_what_it_goes_by() {
    let named: Vec<String> = all().iter().map(Governor::to_string).collect();
    let expected = [
        "performance",
        "powersave",
        "fixed at 1.500 GHz",
        "ondemand each 10.00 ms, up above 80 %, 2 times more seldom at the fastest",
        "ondemand each 10.00 ms, up above 80 %, down to 10 % below, 2 times more seldom at the fastest",
        "schedutil each 1.000 ms, changes at least 2.000 ms apart",
        "energy-aware over schedutil each 1.000 ms, changes at least 2.000 ms apart",
        "simple_ondemand each 50.00 ms, up above 90 %, stays 5 % below",
        "race to idle",
        "hull-optimal pace",
    ];
    assert_eq!(named, expected);
}

#[test]
fn constant_governors_keep_to_their_point() {
    let at = (SimTime(0), Seconds(1e-3));
    let seen = Observed::window(at, Ratio(0.5), (3, Ratio(0.75)));
    let decide = |governor: Governor| governor.decide(&mut GovernorState::default(), &seen, &big());
    assert_eq!(decide(Governor::Performance), 6);
    assert_eq!(decide(Governor::Powersave), 0);
    assert_eq!(decide(Governor::Fixed(Fixed { frequency: Hertz(1416e6) })), 1);
    assert_eq!(decide(Governor::Fixed(Fixed { frequency: Hertz(9e9) })), 6);
}

#[test]
fn a_race_runs_at_full_speed_while_there_is_work() {
    let job = |work| Some(JobLeft { work: Cycles(work), time: None });
    let asked = |job| {
        let seen = Observed::job(SimTime(0), job, 3);
        Governor::RaceToIdle(RaceToIdle).decide(&mut GovernorState::default(), &seen, &big())
    };
    assert_eq!((asked(job(1e6)), asked(job(0.0)), asked(None)), (6, 0, 0));
}

/// The window that governors see is past: what they choose for a burst comes after its first window.
#[test]
fn what_is_to_come_changes_nothing() {
    for governor in all() {
        let mut states = [GovernorState::default(); 2];
        for tick in 0..50u64 {
            let mut chosen = [0; 2];
            for (run, state) in states.iter_mut().enumerate() {
                // The second run is idle from the thirtieth window on.
                let busy = if run == 1 && tick >= 30 { 0.0 } else { 0.9 };
                let at = (SimTime(tick * 10_000_000_000), Seconds(10e-3));
                let seen = Observed::window(at, Ratio(busy), (2, Ratio(0.67)));
                chosen[run] = governor.decide(state, &seen, &big());
            }
            assert!(tick >= 30 || chosen[0] == chosen[1], "{governor:?}");
        }
    }
}

proptest! {
    /// No governor goes above what is allowed or beyond the table, whatever it sees; and a state that is
    /// written down and read goes on as the one that was not.
    #[test]
    fn what_is_allowed_holds_and_a_state_can_be_written_down(
        windows in prop::collection::vec((0.0f64..=1.0, 0usize..9, 0usize..9, 0.0f64..0.02), 1..40),
        work in 0.0f64..3e7,
    ) {
        for governor in all() {
            let (mut state, mut read) = (GovernorState::default(), GovernorState::default());
            for (index, (busy, current, highest, window)) in windows.iter().copied().enumerate() {
                let at = (SimTime(index as u64 * 1_000_000_000), Seconds(window));
                let seen = Observed::window(at, Ratio(busy), (current, Ratio(0.8)));
                let job = Some(JobLeft { work: Cycles(work), time: Some(Seconds(window)) });
                let seen = Observed { highest, job, ..seen };
                let point = governor.decide(&mut state, &seen, &big());
                prop_assert!(point <= highest && point <= 6);
                prop_assert_eq!(governor.decide(&mut read, &seen, &big()), point);
                let text = serde_json::to_string(&read).unwrap();
                read = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(read, state);
            }
        }
    }
}
