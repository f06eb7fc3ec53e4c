//! A run of a scenario: headline, streams, domains, engines, rails, where joules go.

mod heat;
mod supply;

use super::{
    charge, duration, grouped, identity, listed, percent, plain, shares, shortened, table,
    without_header,
};
use crate::evidence::Coverage;
use crate::report::scenario::{ScenarioRun, TimeIn};
use crate::sim::{DomainUse, Quantiles};
use crate::trace::{Cause, WINDOWS};
use crate::uncertainty::{Figure, Interval90};
use crate::units::{JouleSeconds, Joules, Quantity, Seconds, SimTime, Watts, engineering};
use comfy_table::{CellAlignment, Table};
use std::fmt::Write as _;

/// `run` of a scenario.
pub fn scenario_text(run: &ScenarioRun<'_>) -> String {
    let mut text = format!("{}\n", run.subject());
    for caveat in &run.caveats {
        let _ = writeln!(text, "! {caveat}");
    }
    for warning in &run.outlook.warnings {
        let _ = writeln!(text, "! {}: {}", warning.path, warning.message);
    }
    text.push_str(&headline(run));
    let _ = writeln!(text, "{}", streams(run));
    text.push_str(&intervals(run));
    text.push_str(&cascades(run));
    let _ = writeln!(text, "{}", domains(run));
    text.push_str(&changes(run));
    text.push_str(&blocks(run));
    text.push_str(&engines(run));
    let _ = writeln!(text, "{}", rails(run));
    text.push_str(&supply::sources(run));
    text.push_str(&supply::modes(run));
    text.push_str(&heat::heat(run));
    text.push_str(&joules(run));
    text.push_str(&evidence("time in service", &run.grounds.time));
    text.push_str(&evidence("energy", &run.grounds.energy));
    text.push_str(&movers(run));
    let _ = writeln!(text, "seed {}, {} events", run.seed, grouped(run.simulated.events));
    text
}

fn headline(run: &ScenarioRun<'_>) -> String {
    let (simulated, m) = (run.simulated, &run.simulated.metrics);
    let mut rows = plain(3, 1);
    let mut row = |name: &str, value: String, note: String| {
        rows.add_row(vec![name.to_owned(), value, note]);
    };
    let shown = |interval: Option<Interval90>, unit: &str| {
        interval.map_or_else(String::new, |i| {
            format!("90 %: {} to {}", engineering(i.low, unit), engineering(i.high, unit))
        })
    };
    let rate = run.per_second(simulated.inferences()).map_or_else(String::new, often);
    row(
        "inferences",
        grouped(simulated.inferences()),
        format!("{rate} in {}", duration(m.duration)),
    );
    let energy = run.energy_interval(m.energy);
    row("energy", m.energy.to_string(), shown(energy, Joules::UNIT));
    let mean = run.interval(Figure::MeanPower, m.mean.0);
    row("mean power", m.mean.to_string(), shown(mean, Watts::UNIT));
    let highest = WINDOWS.last().zip(m.window_peaks.last());
    let highest = highest
        .map(|(width, peak)| format!("highest mean over {}: {peak}", super::window_name(*width)));
    row("peak power", m.peak.to_string(), highest.unwrap_or_default());
    if let Some(each) = simulated.energy_per_inference() {
        let interval = run.interval(Figure::Energy, each.0);
        row("joule per inference", each.to_string(), shown(interval, Joules::UNIT));
    }
    if let Some(edp) = simulated.edp() {
        let interval = run.interval(Figure::Edp, edp.0);
        row("energy-delay product", edp.to_string(), shown(interval, JouleSeconds::UNIT));
    }
    if let Some(frugal) = simulated.inferences_per_second_and_watt() {
        let interval = run.interval(Figure::Energy, 1.0);
        let interval =
            interval.map(|of| Interval90 { low: frugal / of.high, high: frugal / of.low });
        row("in time a second and watt", engineering(frugal, "1/J"), shown(interval, "1/J"));
    }
    let latencies = run.quantiles(|own| own.served.latency.quantiles());
    if let Some(latency) = simulated.mean_latency() {
        let interval = run.interval(Figure::Latency, latency.0);
        row("latency, mean", latency.to_string(), shown(interval, Seconds::UNIT));
        row("latency p50 / p95 / p99", three(&latencies), String::new());
        let responses = run.quantiles(|own| own.served.response.quantiles());
        row("response, with waking and waiting", three(&responses), String::new());
    }
    if simulated.streams.iter().any(|own| own.has_deadline) {
        let misses = grouped(run.deadline_misses());
        row("deadlines missed", misses, "late, dropped or refused".to_owned());
    }
    for own in run.endurances() {
        let held = charge(own.charge.0);
        row(&format!("{} of {held} lasts", own.supply), duration(own.lasts), String::new());
    }
    without_header(&rows)
}

/// A rate as people say it.
fn often(rate: f64) -> String {
    match rate {
        r if r >= 0.1 => format!("{} a second", engineering(r, "").trim()),
        r => format!("{} an hour", engineering(r * 3600.0, "").trim()),
    }
}

fn at(quantiles: &Quantiles, share: f64) -> String {
    quantiles.quantile(share).map_or_else(|| "-".to_owned(), |time| time.seconds().to_string())
}

fn three(quantiles: &Quantiles) -> String {
    [0.5, 0.95, 0.99].map(|share| at(quantiles, share)).join(" / ")
}

fn streams(run: &ScenarioRun<'_>) -> Table {
    let headers = [
        "workload", "asked", "served", "lost", "left", "queue", "p50", "p95", "p99", "missed",
        "loads", "losses", "energy", "each",
    ];
    let mut rows = table(&headers, 1);
    for (stream, own) in run.simulated.streams.iter().enumerate() {
        let served = &own.served;
        let (load, loss) = run.simulated.load_and_loss_of(stream);
        let missed = match served.deadlines.missed_share() {
            Some(share) => percent(share),
            None => "-".to_owned(),
        };
        let responses = served.response.quantiles();
        let each = (served.inferences > 0).then(|| (load + loss) / served.inferences as f64);
        rows.add_row(vec![
            shortened(&own.name, 20),
            grouped(served.asked),
            grouped(served.done),
            grouped(served.refused.saturating_add(served.dropped)),
            grouped(own.unfinished),
            grouped(served.longest_queue),
            at(responses, 0.5),
            at(responses, 0.95),
            at(responses, 0.99),
            missed,
            load.to_string(),
            loss.to_string(),
            (load + loss).to_string(),
            each.map_or_else(|| "-".to_owned(), |each| each.to_string()),
        ]);
    }
    rows
}

/// How sure energy per inference and latency of each stream are.
fn intervals(run: &ScenarioRun<'_>) -> String {
    let shown = |i: Interval90, unit: &str| {
        format!("{} to {}", engineering(i.low, unit), engineering(i.high, unit))
    };
    let streams = run.simulated.streams.iter().enumerate();
    let parts = streams.filter_map(|(stream, own)| {
        let count = own.served.inferences;
        let each = (count > 0).then(|| run.simulated.energy_of(stream) / count as f64)?;
        let each = run.energy_interval_of(stream, each)?;
        let latency = own.served.latency.quantiles().quantile(0.95)?.seconds();
        let latency = run.latency_interval_of(stream, latency)?;
        let (each, latency) = (shown(each, Joules::UNIT), shown(latency, Seconds::UNIT));
        Some(format!("{} {each} each, p95 of the latency {latency}", own.name))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { listed("90 %", &parts) }
}

fn cascades(run: &ScenarioRun<'_>) -> String {
    let mut text = String::new();
    let closed = run.scenario.cascades.iter().zip(&run.outlook.cascades);
    for ((name, tally), (wake, expected)) in run.simulated.cascades.iter().zip(closed) {
        let wakes = tally.wakes_per_hour(wake.cascade.look_rate());
        let known = expected
            .as_ref()
            .map_or_else(String::new, |own| format!(" (closed form {:.1})", own.wakes_per_hour()));
        let last = wake.cascade.stages().len().saturating_sub(1);
        let share = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), percent);
        let _ = writeln!(
            text,
            "cascade {name}: {} looks, {} with an event; wakes {wakes:.1} times an hour{known}; precision {}, recall {}",
            grouped(tally.looks()),
            grouped(tally.events()),
            share(tally.precision(last)),
            share(tally.recall(last)),
        );
    }
    text
}

fn domains(run: &ScenarioRun<'_>) -> Table {
    let mut rows =
        table(&["domain", "on", "waking", "at rest", "in state", "wakes", "stayed on"], 1);
    if let Some(column) = rows.column_mut(4) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for (number, own) in run.simulated.domains.iter().enumerate() {
        let times = run.residency(number);
        let known = ["on", "entering", "waking"];
        let of = |state: &str| {
            let own = times.iter().find(|time| time.state == state);
            own.map_or_else(|| "-".to_owned(), |own| percent(own.share))
        };
        let rest = times.iter().find(|time| !known.contains(&time.state.as_str()));
        rows.add_row(vec![
            own.name.clone(),
            of("on"),
            of("waking"),
            rest.map_or_else(|| "-".to_owned(), |rest| percent(rest.share)),
            rest.map_or_else(String::new, |rest| rest.state.clone()),
            grouped(own.residency.wakes),
            grouped(own.residency.stayed),
        ]);
    }
    rows
}

/// What changes of state took beside times and energies of waking, and time at operating points.
fn changes(run: &ScenarioRun<'_>) -> String {
    let parts: Vec<String> = run.simulated.domains.iter().filter_map(change).collect();
    let mut text =
        if parts.is_empty() { String::new() } else { listed("changes of state", &parts) };
    if let Some(used) = &run.simulated.speeds {
        let points = run.operating_points();
        let of = |own: &TimeIn| format!("{} {}", own.state, percent(own.share));
        let heading = format!("operating points, {} changes", grouped(used.changes));
        text.push_str(&listed(&heading, &points.iter().map(of).collect::<Vec<_>>()));
    }
    text
}

fn change(own: &DomainUse) -> Option<String> {
    let spent = &own.transitions;
    let energy = |what: &str, energy: Joules| (energy.0 > 0.0).then(|| format!("{what} {energy}"));
    let peak = spent.inrush_current.map_or_else(String::new, |peak| format!(" at {peak}"));
    let loaded = format!("{} reloads of {}", grouped(spent.reloads), spent.reloaded);
    let parts: Vec<String> = [
        energy("entry", spent.entry),
        energy("inrush", spent.inrush).map(|inrush| inrush + &peak),
        energy("raising its rail", spent.rail),
        (spent.reloads > 0).then(|| format!("{loaded} {}", spent.reload)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("{} ({})", own.name, parts.join("; ")))
}

fn blocks(run: &ScenarioRun<'_>) -> String {
    let blocks = run.scenario.profile().spec().loads.iter().enumerate();
    let parts: Vec<String> = blocks
        .filter_map(|(number, own)| {
            let times = run.block_times(number);
            let spent = |time: &&TimeIn| time.time > Seconds::ZERO;
            let times: Vec<String> = times
                .iter()
                .filter(spent)
                .map(|time| format!("{} {}", time.state, percent(time.share)))
                .collect();
            (!times.is_empty()).then(|| format!("{} ({})", own.name, times.join("; ")))
        })
        .collect();
    if parts.is_empty() { String::new() } else { listed("blocks", &parts) }
}

fn engines(run: &ScenarioRun<'_>) -> String {
    let spec = run.scenario.profile().spec();
    let engines = spec.engines.iter().zip(&run.simulated.engines);
    let parts: Vec<String> = engines
        .filter(|(_, busy)| **busy > SimTime::ZERO)
        .map(|(engine, busy)| format!("{} {}", engine.name, percent(run.share(busy.seconds()))))
        .collect();
    let mut text = String::new();
    if !parts.is_empty() {
        text.push_str(&listed("engines busy", &parts));
    }
    let profile = run.scenario.profile();
    let contended = run.simulated.contended.iter().enumerate();
    let parts: Vec<String> = contended
        .filter(|(_, time)| **time > SimTime::ZERO)
        .map(|(channel, time)| {
            format!("{} {}", profile.channel_name(channel), percent(run.share(time.seconds())))
        })
        .collect();
    if !parts.is_empty() {
        text.push_str(&listed("asked for more than they give", &parts));
    }
    text
}

fn rails(run: &ScenarioRun<'_>) -> Table {
    let lasted = run.simulated.metrics.duration;
    let mut rows = table(&["rail", "fed by", "loads", "mean", "peak", "peak of loads"], 2);
    let header = &run.simulated.metrics.header.rails;
    for (rail, used) in header.iter().zip(&run.simulated.rails) {
        let mean = if lasted.0 > 0.0 { (used.charge / lasted).to_string() } else { String::new() };
        rows.add_row(vec![
            rail.name.clone(),
            if rail.is_source { "a source" } else { "a regulator" }.to_owned(),
            used.load_energy.to_string(),
            mean,
            used.peak_current.to_string(),
            used.peak_power.to_string(),
        ]);
    }
    rows
}

fn joules(run: &ScenarioRun<'_>) -> String {
    let (simulated, ledger) = (run.simulated, &run.simulated.ledger);
    let whole = simulated.metrics.energy;
    let streams = simulated.streams.iter().enumerate();
    let mut causes: Vec<(&str, Joules)> =
        streams.map(|(at, own)| (own.name.as_str(), simulated.energy_of(at))).collect();
    causes.push(("idle", ledger.of(&Cause::Idle)));
    causes.push(("transitions", ledger.of(&Cause::Transition)));
    let losses: Vec<(String, Joules)> =
        ledger.losses.iter().map(|(name, energy)| (format!("{name}_loss"), *energy)).collect();
    let losses = losses.iter().map(|(name, energy)| (name.as_str(), *energy));
    let parts = ledger.by_component.iter().map(|(name, energy)| (name.as_str(), *energy));
    let mut text = listed("joules by cause", &shares(causes.into_iter(), whole));
    text.push_str(&listed("joules by component", &shares(parts.chain(losses), whole)));
    let rails = ledger.by_rail.iter().map(|(name, energy)| (name.as_str(), *energy));
    text.push_str(&listed("joules by rail, at the loads", &shares(rails, whole)));
    text.push_str(&identity(ledger));
    text
}

fn evidence(what: &str, coverage: &Coverage) -> String {
    let kinds: Vec<_> = coverage
        .shares()
        .map(|(kind, share)| format!("{} {}", kind.name(), percent(share)))
        .collect();
    let share = percent(coverage.share());
    format!("{what} rests on evidence: {share} ({})\n", kinds.join(", "))
}

fn movers(run: &ScenarioRun<'_>) -> String {
    let all = run.uncertainty.iter().flat_map(|own| &own.energy_contributions).take(3);
    let parts: Vec<_> = all.map(|own| format!("{} ({})", own.name, percent(own.share))).collect();
    if parts.is_empty() { String::new() } else { listed("most uncertain in energy", &parts) }
}
