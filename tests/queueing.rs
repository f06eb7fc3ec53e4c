//! The kernel against queueing theory, against Little's law, and against itself after a snapshot.
//!
//! `cargo bench --bench queueing` makes the same comparison over ten million arrivals.

use crate::one_station::{SERVICE_PS, Service, Setting, Simulation, simulate, theory};
use joulecast::sim::kernel::{Ending, Queue, Stops, drive};
use proptest::prelude::*;

/// Enough for standard errors of a percent or two.
const CUSTOMERS: u64 = 410_000;

#[test]
fn formulas_give_their_closed_forms_for_few_servers() {
    for load in [0.1, 0.5, 0.9] {
        assert!((theory::erlang_c(1, load) - load).abs() < 1e-15);
        assert!((theory::mmc_wait(1, load) - load / (1.0 - load)).abs() < 1e-14);
        // Two servers of utilisation r: 2 r^2 / (1 + r).
        assert!((theory::erlang_c(2, 2.0 * load) - 2.0 * load * load / (1.0 + load)).abs() < 1e-15);
        assert!((theory::erlang_b(1, load) - load / (1.0 + load)).abs() < 1e-15);
        assert!((theory::one_server_refuses(load, 0) - theory::erlang_b(1, load)).abs() < 1e-15);
    }
    // What priorities give to some they take from others.
    let load = [0.2, 0.3, 0.3];
    let conserved: f64 = theory::cobham(&load).iter().zip(load).map(|(w, r)| w * r).sum();
    assert!((conserved - 0.8 * 0.8 / 0.2).abs() < 1e-12);
}

#[test]
fn servers_with_exponential_service_keep_customers_waiting_as_erlang_says() {
    for (servers, utilisation) in [(1, 0.7), (4, 0.8), (16, 0.8)] {
        let load = utilisation * servers as f64;
        let (simulation, events) = simulate(&Setting::plain(servers, utilisation, CUSTOMERS));
        // Each comes and leaves; one comes when the doors are closed.
        assert_eq!(events, 2 * CUSTOMERS + 1);
        let seen = &simulation.seen[0];
        let (waits, share) = (seen.waits.estimate(), seen.had_to_wait.estimate());
        let expected = theory::erlang_c(servers, load);
        assert!(share.confirms(expected), "{servers}: {share:?} for {expected}");
        let expected = theory::mmc_wait(servers, load);
        assert!(waits.errors_from(expected).abs() < 3.0, "{servers}: {waits:?} for {expected}");
        assert!(waits.standard_error < 0.05 * expected, "{servers}: {waits:?} for {expected}");
        // One server as fast as all of them would be another matter: the test can tell.
        let one_fast = utilisation / (1.0 - utilisation) / servers as f64;
        assert!(servers == 1 || waits.errors_from(one_fast).abs() > 3.0, "{servers}: {waits:?}");
    }
}

#[test]
fn quantiles_of_the_wait_are_those_of_its_distribution() {
    let (servers, utilisation) = (4, 0.8);
    let load = utilisation * servers as f64;
    let (simulation, _) = simulate(&Setting::plain(servers, utilisation, CUSTOMERS));
    let seen = &simulation.seen[0];
    // P(wait > t) = C exp(-(c - load) t): where waiting is longer by a share, quantiles are too.
    let waits = seen.waits.estimate();
    let relative = waits.standard_error / waits.mean;
    for beyond in [0.5, 0.1, 0.05, 0.01] {
        let expected = (theory::erlang_c(servers, load) / beyond).ln() / (servers as f64 - load);
        let quantile = seen.quantiles.quantile(1.0 - beyond).unwrap().0 as f64 / SERVICE_PS;
        let off = (quantile / expected - 1.0).abs();
        assert!(off < 3.0 * relative + 0.001 && off < 0.08, "{beyond}: {quantile} for {expected}");
    }
}

#[test]
fn fixed_service_halves_the_wait() {
    let service = Service::Fixed;
    let (simulation, _) = simulate(&Setting { service, ..Setting::plain(1, 0.7, CUSTOMERS) });
    let waits = simulation.seen[0].waits.estimate();
    assert!(waits.confirms(theory::md1_wait(0.7)), "{waits:?}");
    assert!(waits.errors_from(theory::mmc_wait(1, 0.7)).abs() > 10.0, "{waits:?}");
}

#[test]
fn each_class_waits_as_long_as_cobham_says() {
    let load = vec![0.3, 0.15, 0.3];
    let expected = theory::cobham(&load);
    let setting = Setting { load, ..Setting::plain(1, 0.0, CUSTOMERS) };
    let (simulation, _) = simulate(&setting);
    for (seen, expected) in simulation.seen.iter().zip(expected) {
        let waits = seen.waits.estimate();
        assert!(waits.errors_from(expected).abs() < 3.0, "{waits:?} for {expected}");
        assert!(waits.standard_error < 0.04 * expected, "{waits:?} for {expected}");
        assert!(waits.errors_from(3.0).abs() > 5.0, "as without priorities: {waits:?}");
    }
}

#[test]
fn a_line_with_few_places_refuses_the_share_that_theory_says() {
    let places = |places| Some(places);
    let few = Setting { places: places(4), ..Setting::plain(1, 0.9, CUSTOMERS) };
    let refused = simulate(&few).0.seen[0].refused.estimate();
    assert!(refused.confirms(theory::one_server_refuses(0.9, 4)), "{refused:?}");
    let none = Setting { places: places(0), ..Setting::plain(4, 0.8, CUSTOMERS) };
    let refused = simulate(&none).0.seen[0].refused.estimate();
    assert!(refused.confirms(theory::erlang_b(4, 3.2)), "{refused:?}");
}

fn setting() -> impl Strategy<Value = Setting> {
    let load = proptest::collection::vec(0.05..2.0f64, 1..4);
    let places = proptest::option::of(0..5usize);
    let fixed = any::<bool>();
    (1..4usize, fixed, load, places, any::<u64>()).prop_map(
        |(servers, fixed, load, places, seed)| {
            let service = if fixed { Service::Fixed } else { Service::Exponential };
            Setting { servers, service, load, places, customers: 100, seed }
        },
    )
}

type State = (Simulation, Queue<crate::one_station::Event>);

fn written(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

proptest! {
    /// Little's law to the picosecond: the number waiting, over time, is the sum of all waits.
    #[test]
    fn waiting_counted_by_customers_is_waiting_counted_by_time(setting in setting()) {
        let (simulation, _) = simulate(&setting);
        prop_assert_eq!(simulation.waited, simulation.waiting);
    }

    #[test]
    fn a_restored_run_goes_on_as_the_one_that_was_never_stopped(
        setting in setting(),
        cuts in proptest::collection::vec(0..400u64, 1..3),
    ) {
        let mut whole = Simulation::new(&setting).unwrap();
        let mut parts = whole.clone();
        let mut cuts = cuts;
        cuts.sort_unstable();
        for cut in cuts {
            let stops = Stops { max_events: Some(cut), ..Stops::default() };
            let stopped = drive(&mut whole.0, &mut whole.1, stops).unwrap();
            prop_assert_eq!(drive(&mut parts.0, &mut parts.1, stops).unwrap(), stopped);
            parts = serde_json::from_str(&written(&parts)).unwrap();
        }
        let never_stopped = {
            let mut fresh = Simulation::new(&setting).unwrap();
            prop_assert_eq!(drive(&mut fresh.0, &mut fresh.1, Stops::default()), Ok(Ending::Done));
            written(&fresh)
        };
        drive(&mut parts.0, &mut parts.1, Stops::default()).unwrap();
        prop_assert_eq!(written(&parts), never_stopped);
    }
}
