//! `convert`: what was written.

use super::grouped;
use crate::report::Converted;
use std::fmt::Write as _;

/// Where it is, what it holds, what a reader should know.
pub fn converted_text(c: &Converted) -> String {
    let files: Vec<_> = c.files.iter().map(|file| file.display().to_string()).collect();
    let mut text = format!("{}: {}\n", c.target.name(), files.join(", "));
    let counts = [
        (c.instants, "instant"),
        (c.spans as u64, "span"),
        (c.marks as u64, "mark"),
        (c.edges as u64, "edge"),
    ];
    let shown = counts.map(|(count, what)| {
        format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
    });
    let _ = writeln!(text, "{}", shown.join(", "));
    for remark in &c.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    text
}
