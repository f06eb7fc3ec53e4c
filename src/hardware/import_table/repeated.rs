//! Notes that many rows give rise to, told once.

use std::collections::BTreeMap;

/// As many of one kind are told row by row.
const TOLD: usize = 3;

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// A total that is not the sum of its parts.
    Split,
    /// No dynamic power.
    NoDynamic,
    /// A mode at zero volt.
    ZeroVolts,
}

/// Notes by subject, with their lines.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    notes: BTreeMap<Subject, Vec<(u64, String)>>,
}

impl Repeated {
    pub(super) fn note(&mut self, subject: Subject, line: u64, note: String) {
        self.notes.entry(subject).or_default().push((line, note));
    }

    /// All notes; of a subject with many, the first, and in which lines the same holds.
    pub(super) fn told(self) -> Vec<String> {
        let mut told = Vec::new();
        for notes in self.notes.into_values() {
            match notes.as_slice() {
                [(line, first), rest @ ..] if notes.len() > TOLD => {
                    let (count, last) = (rest.len(), rest.last().map_or(*line, |(line, _)| *line));
                    told.push(format!(
                        "line {line}: {first}; likewise in {count} more rows, down to line {last}"
                    ));
                }
                few => told.extend(few.iter().map(|(line, note)| format!("line {line}: {note}"))),
            }
        }
        told
    }
}
