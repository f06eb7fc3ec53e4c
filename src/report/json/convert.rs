//! `convert`: what was written.

use crate::report::Converted;
use serde_json::{Value, json};

/// Files and what they hold.
pub fn converted(c: &Converted) -> Value {
    json!({
        "schema": "joulecast.convert/1",
        "kind": c.target.name(),
        "files": c.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "instants": c.instants,
        "spans": c.spans,
        "marks": c.marks,
        "edges": c.edges,
        "remarks": c.remarks,
    })
}
