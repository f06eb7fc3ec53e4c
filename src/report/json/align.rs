//! `capture align`: a host's log on the meter's clock.

use crate::capture::{HostRole, Measured};
use serde_json::{Value, json};

/// The fit and each event; `fit` is null where the two could not be brought together.
pub fn align(m: &Measured) -> Value {
    let matched = m.windows.matched.as_ref();
    let fit = matched.map(|matched| {
        let fit = &matched.fit;
        json!({
            "offset_s": fit.offset, "drift_ppm": fit.drift * 1e6, "stop_lag_s": fit.stop_lag,
            "rms_s": fit.rms, "worst_s": fit.worst, "edges": fit.edges,
        })
    });
    let events = matched.map(|matched| {
        let event = |(event, at, edge): (&crate::capture::HostEvent, f64, Option<f64>)| {
            let role = match event.role {
                HostRole::Pulse => "pulse",
                HostRole::Start => "start",
                HostRole::Done => "stop",
            };
            json!({
                "role": role, "inferences": event.inferences, "host_s": event.at.seconds(),
                "meter_s": at, "edge_s": edge, "apart_s": edge.map(|edge| edge - at),
            })
        };
        matched.rows().map(event).collect::<Vec<_>>()
    });
    json!({
        "schema": "joulecast.capture_align/1", "format": m.layout.format, "fit": fit,
        "events": events, "remarks": m.windows.remarks,
    })
}
