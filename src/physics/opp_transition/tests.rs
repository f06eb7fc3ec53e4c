use super::super::opp_table::tables::big;
use super::*;
use crate::units::Watts;
use proptest::prelude::*;

/// A rail of an RK806: 12.5 mV/us, behind 66 uF.
const RK806: RailSlew = RailSlew {
    slew: VoltsPerSecond(12_500.0),
    settle: Seconds(10e-6),
    capacitance: Farads(66e-6),
    efficiency: Ratio(0.88),
    recovered: Ratio(0.0),
};

fn transitions(rails: Vec<RailSlew>, order: RailOrder, halts: bool) -> OppTransitions {
    OppTransitions::new(rails, ChangeTime::Rails(order), Seconds(20e-6), halts).unwrap()
}

fn point(mhz: f64, voltages: &[f64]) -> OppPoint {
    OppPoint {
        frequency: Hertz(mhz * 1e6),
        capacity: Ratio(mhz * 1e-3),
        power: Watts(1.0),
        voltages: voltages.iter().map(|v| Volts(*v)).collect(),
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-12), "{found} {expected}");
}

/// 0.675 V to 1.000 V at 12.5 mV/us: 26 us, 10 us to settle, 20 us to relock.
#[test]
fn on_the_way_up_voltage_comes_before_frequency() {
    let table = big();
    let up = transitions(vec![RK806], RailOrder::Together, true)
        .between(table.at(0), table.at(6))
        .unwrap();
    near(up.rising.0, 36e-6);
    near(up.until_new_frequency().0, 56e-6);
    near(up.halted().0, 20e-6);
    near(up.at_lower().0, 36e-6);
    assert_eq!(up.falling, Seconds::ZERO);
    near(up.drawn().0, 0.5 * 66e-6 * (1.0 - 0.675 * 0.675) / 0.88);
}

#[test]
fn on_the_way_down_frequency_comes_first_and_work_goes_on_at_once() {
    let table = big();
    let down = transitions(vec![RK806], RailOrder::Together, false)
        .between(table.at(6), table.at(0))
        .unwrap();
    assert_eq!(down.rising, Seconds::ZERO);
    near(down.until_new_frequency().0, 20e-6);
    assert_eq!(down.halted(), Seconds::ZERO);
    near(down.at_lower().0, 20e-6);
    near(down.settled().0, 56e-6);
    // All that the capacitance held is burnt.
    assert_eq!(down.drawn(), Joules::ZERO);
    near(down.rails[0].lost().0, 0.5 * 66e-6 * (1.0 - 0.675 * 0.675));
}

/// On a plateau (Amlogic S922X, 100 to 1200 MHz at 0.731 V) only the clock changes.
#[test]
fn at_equal_voltage_only_the_clock_relocks() {
    let law = transitions(vec![RK806], RailOrder::InTurn, true);
    let change = law.between(&point(100.0, &[0.731]), &point(1200.0, &[0.731])).unwrap();
    assert_eq!((change.rising, change.falling), (Seconds::ZERO, Seconds::ZERO));
    assert_eq!((change.relock, change.drawn()), (Seconds(20e-6), Joules::ZERO));
    let none = law.between(&point(100.0, &[0.731]), &point(100.0, &[0.731])).unwrap();
    assert_eq!(none.settled(), Seconds::ZERO);
}

#[test]
fn several_rails_take_the_longest_or_the_sum() {
    let slow = RailSlew { slew: VoltsPerSecond(6250.0), ..RK806 };
    let (low, high) = (point(698.0, &[0.76875, 0.86875]), point(800.0, &[0.825, 0.925]));
    let rising =
        |order| transitions(vec![RK806, slow], order, true).between(&low, &high).unwrap().rising.0;
    near(rising(RailOrder::Together), 0.05625 / 6250.0 + 10e-6);
    near(rising(RailOrder::InTurn), 0.05625 / 12_500.0 + 0.05625 / 6250.0 + 20e-6);
}

/// Logic and memories of a GPU at most 10 mV apart (RK3588 boards): from 0.7 V to 0.75 V the first goes
/// 10 mV ahead, then each 20 mV past the other, the last 10 mV or the rest.
#[test]
fn coupled_rails_go_in_steps_within_their_spread() {
    let coupled = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(0.010) }];
    let (low, high) = (point(300.0, &[0.70, 0.70]), point(800.0, &[0.75, 0.75]));
    let table = OppTable::new(vec![low, high], coupled).unwrap();
    let law = transitions(vec![RK806, RK806], RailOrder::InTurn, true).coupled_as(&table);
    let up = law.between(table.at(0), table.at(1)).unwrap();
    // 10, 20, 20 mV by the one and 20, 20, 10 mV by the other.
    near(up.rising.0, 0.1 / 12_500.0 + 6.0 * 10e-6);
    let down = law.between(table.at(1), table.at(0)).unwrap();
    near(down.falling.0, up.rising.0);
    // Both ramps together need no steps.
    let law = transitions(vec![RK806, RK806], RailOrder::Together, true).coupled_as(&table);
    near(law.between(table.at(0), table.at(1)).unwrap().rising.0, 0.05 / 12_500.0 + 10e-6);
}

/// One rail up and the other down, past each other: the one that rises may not before the other falls.
#[test]
fn coupled_rails_that_would_part_on_the_way_are_blocked() {
    let coupled = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(0.1) }];
    let (low, high) = (point(300.0, &[0.70, 0.80]), point(800.0, &[0.80, 0.70]));
    let table = OppTable::new(vec![low, high], coupled).unwrap();
    let swap = transitions(vec![RK806, RK806], RailOrder::InTurn, true).coupled_as(&table);
    assert!(swap.between(table.at(0), table.at(1)).is_ok(), "both at 0.80 V in between");
    let apart = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(0.1) }];
    let (low, high) = (point(300.0, &[0.70, 0.60]), point(800.0, &[0.80, 0.70]));
    let table = OppTable::new(vec![low, high], apart).unwrap();
    let law = transitions(vec![RK806, RK806], RailOrder::InTurn, true).coupled_as(&table);
    assert!(law.between(table.at(0), table.at(1)).is_ok(), "the second rises first");
    // The one would have to be 0.15 V above the other in between.
    let (low, high) = (point(300.0, &[0.70, 0.65]), point(800.0, &[0.80, 0.70]));
    let bound = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(0.1) }];
    let table = OppTable::new(vec![low.clone(), high], bound).unwrap();
    let law = transitions(vec![RK806, RK806], RailOrder::InTurn, true).coupled_as(&table);
    let falling = point(900.0, &[0.55, 0.65]);
    assert!(law.between(table.at(0), &falling).is_ok());
    assert_eq!(law.between(&falling, &point(950.0, &[0.80, 0.60])), Err(LawError::Blocked));
}

#[test]
fn a_stated_latency_stands_for_the_whole() {
    // RK3588: 40 us.
    let law =
        OppTransitions::new(vec![RK806], ChangeTime::Stated(Seconds(40e-6)), Seconds::ZERO, false)
            .unwrap();
    let table = big();
    let up = law.between(table.at(0), table.at(6)).unwrap();
    assert_eq!((up.until_new_frequency(), up.falling), (Seconds(40e-6), Seconds::ZERO));
    let down = law.between(table.at(6), table.at(0)).unwrap();
    assert_eq!((down.until_new_frequency(), down.settled()), (Seconds::ZERO, Seconds(40e-6)));
    assert_eq!(law.between(table.at(3), table.at(3)).unwrap().settled(), Seconds::ZERO);
}

#[test]
fn what_makes_no_transition_is_refused() {
    let new = |rail| {
        OppTransitions::new(vec![rail], ChangeTime::Rails(RailOrder::Together), Seconds(0.0), true)
    };
    assert!(new(RailSlew::IDEAL).is_ok());
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(new(RailSlew { slew: VoltsPerSecond(bad), ..RK806 }).is_err(), "{bad}");
        assert!(new(RailSlew { efficiency: Ratio(bad), ..RK806 }).is_err(), "{bad}");
    }
    assert!(new(RailSlew { efficiency: Ratio(1.01), ..RK806 }).is_err());
    assert!(new(RailSlew { recovered: Ratio(1.01), ..RK806 }).is_err());
    assert!(new(RailSlew { settle: Seconds(-1e-9), ..RK806 }).is_err());
    let law = new(RK806).unwrap();
    assert!(law.between(&point(1.0, &[0.7, 0.7]), &point(2.0, &[0.8, 0.8])).is_err());
}

proptest! {
    /// Two rails within their spread at both ends always get there in turn: in no less time than their ramps
    /// take, and with no more steps than the spread makes them.
    #[test]
    fn coupled_rails_always_arrive(
        low in 0.5f64..0.8, rise in 0.0f64..0.4,
        spread in 0.005f64..0.2, (before, after) in (-1.0f64..1.0, -1.0f64..1.0),
    ) {
        let coupled = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(spread) }];
        let ends = [
            point(300.0, &[low, low + spread * before]),
            point(800.0, &[low + rise, low + rise + spread * after]),
        ];
        let table = OppTable::new(ends.to_vec(), coupled).unwrap();
        let law = transitions(vec![RK806, RK806], RailOrder::InTurn, true).coupled_as(&table);
        let ramp = |rail: usize| (ends[1].voltages[rail] - ends[0].voltages[rail]).0;
        if ramp(1) >= 0.0 {
            let up = law.between(&ends[0], &ends[1]).unwrap();
            let down = law.between(&ends[1], &ends[0]).unwrap();
            let ramps = (ramp(0) + ramp(1)) / 12_500.0;
            let steps = (up.rising.0 - ramps) / 10e-6;
            prop_assert!((steps - steps.round()).abs() < 1e-6 && steps > -0.5, "{steps}");
            prop_assert!(steps <= (ramp(0) + ramp(1)) / spread + 3.0, "{steps}");
            prop_assert_eq!(up.falling, Seconds::ZERO);
            prop_assert_eq!(down.rising, Seconds::ZERO);
        }
    }

    /// What goes in is stored or burnt, and nothing is burnt below zero; there and back loses
    /// 1/2 C (V2^2 - V1^2) (1/eta - r).
    #[test]
    fn there_and_back_loses_what_efficiency_and_recovery_leave(
        low in 0.5f64..0.8, rise in 0.0f64..0.5, eta in 0.5f64..1.0, recovered in 0.0f64..1.0,
    ) {
        let rail = RailSlew { efficiency: Ratio(eta), recovered: Ratio(recovered), ..RK806 };
        let law = transitions(vec![rail], RailOrder::InTurn, true);
        let (one, other) = (point(300.0, &[low]), point(800.0, &[low + rise]));
        let up = law.between(&one, &other).unwrap();
        let down = law.between(&other, &one).unwrap();
        let swing = 0.5 * 66e-6 * ((low + rise) * (low + rise) - low * low);
        let lost = up.drawn() + down.drawn();
        prop_assert!((lost.0 - swing * (1.0 / eta - recovered)).abs() < 1e-15);
        prop_assert!((lost - up.rails[0].lost() - down.rails[0].lost()).0.abs() < 1e-15);
        prop_assert!(up.rails[0].lost().0 >= 0.0 && down.rails[0].lost().0 >= 0.0);
        prop_assert!((up.settled() - down.settled()).0.abs() < 1e-15);
    }
}
