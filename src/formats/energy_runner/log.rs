//! `log.txt`: `SSSSS.mmm source: text` on the clock of the host.

use super::super::{FormatError, Input};
use super::LARGEST_TEXT;
use crate::trace::{Mark, Teller};
use crate::units::{Seconds, SimTime, Volts};

/// What the log says.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// What the meter and the device answered.
    pub(super) marks: Vec<Mark>,
    /// The supply voltage that was set.
    pub(super) supply: Option<Volts>,
    /// What a user should know.
    pub(super) remarks: Vec<String>,
}

pub(super) fn read(input: &mut Input<'_>) -> Result<Log, FormatError> {
    let text = input.text(LARGEST_TEXT)?;
    let mut log = Log::default();
    for line in text.lines() {
        // Lines of other kinds stand between; they carry no time.
        if let Some(mark) = mark(line) {
            log.take_in(mark);
        }
    }
    Ok(log)
}

/// An answer of the meter or the device; the runner's own echoes are left out.
fn mark(line: &str) -> Option<Mark> {
    let (stamp, rest) = line.split_once(' ')?;
    let at = SimTime::from_seconds(Seconds(stamp.parse().ok()?)).ok()?;
    let (source, said) = rest.split_once(": ")?;
    let (track, said) = match said.strip_prefix("[dut]: ") {
        Some(said) => ("dut", said),
        None => (source, said),
    };
    let answers = !matches!(track, "parser" | "sequencer" | "session");
    let name = said.trim();
    (answers && name.starts_with("m-")).then(|| Mark {
        teller: Teller::Host,
        at,
        track: track.into(),
        name: name.into(),
    })
}

impl Log {
    fn take_in(&mut self, mark: Mark) {
        if let Some(millivolts) = bracketed(&mark.name, "m-voltage-mv[") {
            self.supply = millivolts.parse().ok().map(|mv: f64| Volts(mv * 1e-3));
        }
        if let Some(dropped) = bracketed(&mark.name, "m-[Dropped ")
            && !dropped.starts_with("0 ")
        {
            self.remarks.push(format!("the meter dropped {dropped}"));
        }
        self.marks.push(mark);
    }
}

fn bracketed<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_suffix(']')
}
