//! How fast scenarios are simulated, into the metrics alone.

use joulecast::sim::scenario::{Fidelity, Scenario};
use joulecast::sim::{Limits, Prepared};
use joulecast::trace::Deaf;
use std::time::Instant;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for name in names {
        let scenario = Scenario::load(&name).unwrap_or_else(|e| panic!("{e}"));
        for fidelity in [Fidelity::Layer, Fidelity::Phase, Fidelity::Tile] {
            let prepared = Prepared::new(&scenario, fidelity).unwrap();
            let start = Instant::now();
            let done = prepared
                .run(scenario.seed(), Limits::default(), &mut Deaf)
                .unwrap_or_else(|e| panic!("{e}"));
            let time = start.elapsed().as_secs_f64();
            println!(
                "{name} {fidelity:?}: {} events in {time:.3} s = {:.2} M/s; load {:?} source {} inferences {} residual {:e} {:?}",
                done.events,
                done.events as f64 / time / 1e6,
                done.metrics.load_energy.0,
                done.ledger.source,
                done.inferences(),
                done.ledger.residuals().largest(),
                done.ending
            );
            for s in &done.streams {
                println!(
                    "   {} asked {} done {} refused {} dropped {} waited {} unf {} lat {} resp p99 {:?} late {:?}",
                    s.name,
                    s.served.asked,
                    s.served.done,
                    s.served.refused,
                    s.served.dropped,
                    s.served.waited,
                    s.unfinished,
                    s.served.latency.mean(),
                    s.served.response.longest(),
                    s.served.deadlines
                );
            }
            for d in &done.domains {
                if d.state.is_some() {
                    println!(
                        "   domain {} {:?} on {} rest {} wake {} wakes {} stayed {}",
                        d.name,
                        d.state,
                        d.residency.on,
                        d.residency.resting,
                        d.residency.waking,
                        d.residency.wakes,
                        d.residency.stayed
                    );
                }
            }
        }
    }
}
