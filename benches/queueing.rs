//! Ten million arrivals at stations of several kinds: waits as simulated, with their standard
//! errors by batch means, beside what theory says.

#[path = "../tests/one_station.rs"]
#[allow(dead_code)] // The tests use the rest of it.
mod one_station;

use one_station::{Estimate, Service, Setting, simulate, theory};
use std::time::Instant;

const ARRIVALS: u64 = 10_000_000;

fn line(name: &str, found: Estimate, expected: f64) {
    let Estimate { mean, standard_error } = found;
    let errors = found.errors_from(expected);
    println!("{name:34} {mean:10.6} {standard_error:10.6} {expected:10.6} {errors:+8.2}");
}

fn main() {
    println!("{:34} {:>10} {:>10} {:>10} {:>8}", "", "simulated", "std error", "theory", "errors");
    let (mut events, mut seed, start) = (0, 0, Instant::now());
    // Each with its own seed, so that rows do not share their luck.
    let mut run = |setting: &Setting| {
        seed += 1;
        let (simulation, taken) = simulate(&Setting { seed, ..setting.clone() });
        events += taken;
        simulation.seen
    };
    for (servers, utilisation) in [(1, 0.5), (1, 0.9), (2, 0.8), (4, 0.8), (16, 0.9)] {
        let load = utilisation * servers as f64;
        let seen = run(&Setting::plain(servers, utilisation, ARRIVALS));
        let name = format!("M/M/{servers} at {utilisation}");
        let expected = theory::mmc_wait(servers, load);
        line(&format!("{name}: wait"), seen[0].waits.estimate(), expected);
        let expected = theory::erlang_c(servers, load);
        line(&format!("{name}: share that waits"), seen[0].had_to_wait.estimate(), expected);
    }
    let fixed = Setting { service: Service::Fixed, ..Setting::plain(1, 0.8, ARRIVALS) };
    line("M/D/1 at 0.8: wait", run(&fixed)[0].waits.estimate(), theory::md1_wait(0.8));
    let load = vec![0.3, 0.3, 0.2];
    let expected = theory::cobham(&load);
    let classes = Setting { load, ..Setting::plain(1, 0.0, ARRIVALS) };
    for (class, seen) in run(&classes).iter().enumerate() {
        let name = format!("M/M/1 at 0.8: wait of class {class}");
        line(&name, seen.waits.estimate(), expected[class]);
    }
    let few = Setting { places: Some(4), ..Setting::plain(1, 0.9, ARRIVALS) };
    let expected = theory::one_server_refuses(0.9, 4);
    line("M/M/1/5 at 0.9: share refused", run(&few)[0].refused.estimate(), expected);
    let seconds = start.elapsed().as_secs_f64();
    println!("{events} events, {:.1} million a second", events as f64 / seconds / 1e6);
}
