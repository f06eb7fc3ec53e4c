//! A power budget divided among those who ask for it.
//!
//! `granted_i = budget w_i r_i / sum w r`, at most `m_i`; what that leaves over goes to the others in
//! proportion to `m_i - granted_i`
//!
//! Symbols: `r_i` \[W\] what actor `i` asks for, `w_i` its weight, `m_i` \[W\] the most it can take. Where none
//! asks, the budget goes by `w_i m_i`, so that whoever wakes first finds a share. Source: the power
//! allocator of Linux (drivers/thermal/gov_power_allocator.c, `divvy_up_power`), which grants nothing to
//! anybody where none asks.

use crate::units::Watts;

/// Who asks for power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerRequest {
    /// What it would take now \[W\].
    pub asked: Watts,
    /// The most it can take \[W\].
    pub most: Watts,
    /// Its weight.
    pub weight: f64,
}

/// Divides a budget; `granted` gets an entry for each request.
pub fn divide(budget: Watts, requests: &[PowerRequest], granted: &mut Vec<Watts>) {
    granted.clear();
    let asked = |request: &PowerRequest| request.weight * request.asked.0;
    let could = |request: &PowerRequest| request.weight * request.most.0;
    let total: f64 = requests.iter().map(asked).sum();
    let idle = total <= 0.0;
    let total = if idle { requests.iter().map(could).sum() } else { total };
    let (mut surplus, mut room) = (0.0, 0.0);
    for request in requests {
        let part = if idle { could(request) } else { asked(request) };
        let share = if total > 0.0 { budget.0 * part / total } else { 0.0 };
        let grant = share.min(request.most.0);
        surplus += share - grant;
        room += request.most.0 - grant;
        granted.push(Watts(grant));
    }
    if surplus <= 0.0 || room <= 0.0 {
        return;
    }
    let given = surplus.min(room);
    for (grant, request) in granted.iter_mut().zip(requests) {
        grant.0 += (request.most.0 - grant.0) * given / room;
    }
}

/// The fastest point whose power fits what is granted, or the slowest where none does. Points stand
/// with their power, the slowest first.
pub fn fastest_within(granted: Watts, points: impl IntoIterator<Item = Watts>) -> usize {
    // What is granted to the last bit of a sum is granted.
    let fits = |power: &Watts| power.0 <= granted.0 + 1e-12;
    let points = points.into_iter().enumerate();
    points.filter(|(_, power)| fits(power)).map(|(point, _)| point).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(asked: f64, most: f64, weight: f64) -> PowerRequest {
        PowerRequest { asked: Watts(asked), most: Watts(most), weight }
    }

    fn divided(budget: f64, requests: &[PowerRequest]) -> Vec<f64> {
        let mut granted = Vec::new();
        divide(Watts(budget), requests, &mut granted);
        granted.into_iter().map(|watts| watts.0).collect()
    }

    #[test]
    fn a_budget_goes_by_what_is_asked_and_by_weight() {
        let two = [request(1.0, 4.0, 1.0), request(3.0, 4.0, 1.0)];
        assert_eq!(divided(2.0, &two), [0.5, 1.5]);
        let weighted = [request(1.0, 4.0, 2.0), request(2.0, 4.0, 1.0)];
        assert_eq!(divided(2.0, &weighted), [1.0, 1.0]);
    }

    #[test]
    fn what_one_cannot_take_goes_to_the_others_by_their_room() {
        // 4 W by 3 : 1 : 1 is 2.4, 0.8, 0.8; the first takes 1, and 1.4 W meet room of 1.2 and 2.2.
        let three = [request(3.0, 1.0, 1.0), request(1.0, 2.0, 1.0), request(1.0, 3.0, 1.0)];
        let granted = divided(4.0, &three);
        assert_eq!(granted[0], 1.0);
        assert!((granted[1] - (0.8 + 1.4 * 1.2 / 3.4)).abs() < 1e-15);
        assert!((granted[2] - (0.8 + 1.4 * 2.2 / 3.4)).abs() < 1e-15);
        assert_eq!(divided(60.0, &three), [1.0, 2.0, 3.0], "no more than all can take");
    }

    #[test]
    fn where_none_asks_all_find_a_share() {
        assert_eq!(divided(3.0, &[request(0.0, 4.0, 1.0), request(0.0, 2.0, 1.0)]), [2.0, 1.0]);
        assert_eq!(divided(3.0, &[]), Vec::<f64>::new());
        assert_eq!(divided(3.0, &[request(0.0, 0.0, 1.0)]), [0.0]);
    }

    #[test]
    fn the_fastest_point_within_a_grant_is_chosen() {
        let points = [1.0, 2.0, 2.0, 5.0].map(Watts);
        assert_eq!(fastest_within(Watts(2.0), points), 2);
        assert_eq!(fastest_within(Watts(9.0), points), 3);
        assert_eq!(fastest_within(Watts(0.5), points), 0, "it cannot be slower");
        assert_eq!(fastest_within(Watts(0.5), []), 0);
    }

    proptest! {
        #[test]
        fn all_of_a_budget_is_granted_and_none_gets_more_than_it_takes(
            budget in 0f64..20.0,
            drawn in prop::collection::vec((0.01f64..5.0, 0.01f64..5.0, 0.1f64..4.0), 1..6),
        ) {
            let requests: Vec<_> = drawn.into_iter().map(|(a, m, w)| request(a, m, w)).collect();
            let granted = divided(budget, &requests);
            let could: f64 = requests.iter().map(|request| request.most.0).sum();
            let given: f64 = granted.iter().sum();
            prop_assert!((given - budget.min(could)).abs() < 1e-9, "{given}");
            for (granted, request) in granted.iter().zip(&requests) {
                prop_assert!(*granted <= request.most.0 + 1e-9);
            }
        }
    }
}
