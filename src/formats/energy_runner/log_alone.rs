//! The host's log alone, to be aligned with a capture of another instrument.

use super::super::{FormatError, Head, Input, Place, ReadFault};
use super::{LOG, log};
use crate::trace::{Layout, SampleSink};
use crate::units::SimTime;

/// True where the first lines are all stamped as the runner stamps them.
pub(super) fn recognises(head: &Head) -> bool {
    let mut first = head.lines().take(8).peekable();
    first.peek().is_some()
        && first.all(is_stamped)
        && head.lines().any(|line| line.contains(": m-"))
}

/// `00217.694 emon: …`
fn is_stamped(line: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    line.split_once(' ').is_some_and(|(stamp, rest)| {
        let stamp = stamp.split_once('.');
        rest.contains(": ")
            && stamp.is_some_and(|(s, ms)| s.len() == 5 && ms.len() == 3 && digits(s) && digits(ms))
    })
}

pub(super) fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    if input.size == 0 {
        return Err(input.fault(Place::Whole, ReadFault::Empty));
    }
    let log = log::read(input)?;
    if log.marks.is_empty() {
        let what = "a line `SSSSS.mmm source: m-…`".into();
        return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
    }
    let mut layout = Layout { format: LOG.name.into(), supply: log.supply, ..Layout::default() };
    layout.remarks = log.remarks;
    sink.begin(&layout);
    log.marks.into_iter().for_each(|mark| sink.mark(mark));
    sink.end(SimTime::ZERO);
    Ok(())
}
