//! A scenario before it runs.

use super::{listed, percent, plain, shortened, table, without_header};
use crate::sim::scenario::{Outlook, Scenario};
use crate::units::{Hertz, Seconds, engineering};
use std::fmt::Write as _;

/// `scenario list`.
pub fn scenario_list_table(rows: &[(&'static str, String, String)]) -> String {
    let mut out = plain(3, 3);
    for (name, hardware, description) in rows {
        out.add_row(vec![(*name).to_owned(), hardware.clone(), description.clone()]);
    }
    without_header(&out)
}

/// `scenario check`: what closed forms say, and what will not go as it is asked.
pub fn scenario_check_text(scenario: &Scenario, outlook: &Outlook) -> String {
    let mut text = format!(
        "{} on {} at {}: sound\n",
        scenario.spec().name,
        scenario.profile().spec().name,
        scenario.point().name
    );
    let mut streams = table(&["workload", "inferences", "latency alone", "request alone"], 1);
    for own in &outlook.streams {
        let rate = match (own.rate, own.rate_between) {
            (Some(rate), _) => often(rate),
            (None, Some((least, most))) => format!("{} to {}", often(least), often(most)),
            (None, None) => "-".to_owned(),
        };
        streams.add_row(vec![
            shortened(&own.name, 28),
            rate,
            own.latency.to_string(),
            own.request.to_string(),
        ]);
    }
    let _ = writeln!(text, "{streams}");
    for load in &outlook.engines {
        let by = load.by_stream.iter().filter(|(_, share)| share.0 > 0.0);
        let by = by.filter_map(|(at, share)| {
            Some(format!("{} {}", outlook.streams.get(*at)?.name, percent(share.0)))
        });
        let parts: Vec<_> = by.collect();
        let head =
            format!("engine {} is asked for {} of its time", load.engine, percent(load.share.0));
        text.push_str(&if parts.is_empty() { head + "\n" } else { listed(&head, &parts) });
    }
    for (wake, expected) in scenario.cascades.iter().zip(&outlook.cascades) {
        if let Some(expected) = expected {
            let last = expected.stages.last();
            let precision = last.and_then(|own| own.precision).map_or("-".to_owned(), percent);
            let recall = last.map_or("-".to_owned(), |own| percent(own.recall));
            let wakes = expected.wakes_per_hour();
            let _ = writeln!(
                text,
                "cascade {}: wakes {wakes:.1} times an hour; precision {precision}, recall {recall}",
                wake.name
            );
        }
    }
    if !outlook.rests.is_empty() {
        let headers = ["domain", "state", "on", "at rest", "wakes in", "for", "pays from"];
        let mut rests = table(&headers, 2);
        for own in &outlook.rests {
            rests.add_row(vec![
                own.domain.clone(),
                own.state.clone(),
                own.on.to_string(),
                own.rest.to_string(),
                own.wake_time.to_string(),
                own.cost.to_string(),
                own.break_even.map_or_else(|| "never".to_owned(), |time: Seconds| time.to_string()),
            ]);
        }
        let _ = writeln!(text, "{rests}");
    }
    let assumed = scenario.assumed();
    if !assumed.is_empty() {
        text.push_str(&listed("assumed", &assumed));
    }
    for warning in &outlook.warnings {
        let _ = writeln!(text, "{warning}");
    }
    text
}

/// A rate as people say it.
fn often(rate: Hertz) -> String {
    match rate.0 {
        r if r >= 0.1 => format!("{}/s", engineering(r, "").trim()),
        r => format!("{}/h", engineering(r * 3600.0, "").trim()),
    }
}
