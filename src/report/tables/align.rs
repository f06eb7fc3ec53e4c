//! `capture align`: a host's log on the meter's clock.

use super::{plain, table, without_header};
use crate::capture::{HostRole, Measured};
use crate::trace::Teller;
use crate::units::Seconds;
use std::fmt::Write as _;

/// How the clocks read on each other, and each event beside its edge.
pub fn align_text(m: &Measured) -> String {
    let Some(matched) = &m.windows.matched else { return no_fit(m) };
    let fit = &matched.fit;
    let mut facts = plain(2, 2);
    let mut row = |name: &str, value: String| {
        facts.add_row([name.to_owned(), value]);
    };
    let of = format!("{} of {} events", fit.edges, matched.events.len());
    row("edges matched", format!("{of}, {} edges in all", matched.edges.len()));
    row("meter time at host zero", format!("{:.6} s", fit.offset.0));
    row("host second on the meter", format!("{:+.1} ppm", fit.drift * 1e6));
    row("stop lines after start lines", fit.stop_lag.to_string());
    row("left by the fit", format!("{} root mean square, {} at most", fit.rms, fit.worst));
    let mut text = format!("{}\n{}", m.layout.format, without_header(&facts));
    let mut rows = table(&["event", "host", "on the meter", "edge", "apart"], 1);
    for (event, at, edge) in matched.rows() {
        let name = match (event.role, event.inferences) {
            (HostRole::Pulse, _) => "pulse".into(),
            (HostRole::Start, Some(count)) => format!("start of {count}"),
            (HostRole::Start, None) => "start".into(),
            (HostRole::Done, _) => "stop".to_owned(),
        };
        let seconds = |at: f64| format!("{at:.4} s");
        rows.add_row([
            name,
            seconds(event.at.seconds().0),
            seconds(at),
            edge.map_or("none".into(), seconds),
            edge.map_or_else(String::new, |edge| Seconds(edge - at).to_string()),
        ]);
    }
    let _ = writeln!(text, "\n{rows}");
    for remark in &m.windows.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    text
}

fn no_fit(m: &Measured) -> String {
    let host = m.summary.marks.iter().filter(|mark| mark.teller == Teller::Host).count();
    let mut text = format!(
        "no clock fit: {} edges of digital lines, {host} lines of a host's log\n",
        m.summary.edge_count
    );
    if host == 0 {
        text.push_str(
            "help: `--log FILE` names the host's log, `--start` and `--stop` its words\n",
        );
    }
    for remark in &m.windows.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    text
}
