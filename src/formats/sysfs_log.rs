//! Logs of Linux sysfs: powercap (RAPL), hwmon (INA226, INA3221 and others), the older iio form
//! of INA3221, `power_supply`, thermal zones and cpufreq.
//!
//! There is no one program that writes such a log and no one layout. What is read is a CSV (cells
//! divided by commas, semicolons or tabs) whose head names the attributes:
//!
//! ```text
//! time_s,intel-rapl:0(package-0)/energy_uj,intel-rapl:0/max_energy_range_uj,hwmon2/in1_input
//! 1732961000.012,170348123456,262143328850,5040
//! ```
//!
//! - The first column is the time: `time`, `timestamp` or `t` with its unit, one of `_s`, `_ms`,
//!   `_us`, `_ns`, or the same in brackets; `--time-unit` says it where the name does not.
//! - Any other column is `DEVICE/ATTRIBUTE`, or an attribute alone. A name in round brackets
//!   behind the device is that of its rail (the `name` or `label` file). The unit follows from the
//!   attribute, as the kernel's documentation has it: `energy_uj` and `energyN_input` microjoule,
//!   `inN_input` millivolt, `currN_input` milliampere, `powerN_input` and `powerN_average`
//!   microwatt, `tempN_input` and `temp` of a thermal zone thousandths of a degree, `freqN_input`
//!   hertz, `in_voltageN_input` millivolt, `in_currentN_input` milliampere, `in_powerN_input`
//!   milliwatt, `power_now`, `current_now`, `voltage_now` in millionths, `scaling_cur_freq`
//!   kilohertz, `cur_freq` hertz. Columns that are none of these are left out and said.
//! - Inputs of one number on one device are one rail. On an INA3221 `in4_input` to `in6_input` are
//!   the drops over the shunts in microvolt, and `in7_input`, their sum, is left out. It is taken
//!   for one by its name, or by an input above 3 with no current above 3.
//! - Counters of energy give the mean power between two reads. One that falls has wrapped at
//!   `max_energy_range_uj`, where a column says that; how often is not known, so once. A range of 0
//!   is one that could not be read. Without a range the interval is a gap.
//! - A row's other readings hold until the next row.
//! - A time between 2001 and 2286, counted from 1970, is taken as that; any other is a clock of its
//!   own.
//!
//! A loop that writes such a log (as root, for the counters):
//!
//! ```sh
//! cd /sys/class/powercap
//! domains=$(ls -d intel-rapl:*)
//! head=time_ns
//! for d in $domains; do
//!     head="$head,$d($(cat $d/name))/energy_uj,$d/max_energy_range_uj"
//! done
//! echo "$head"
//! while sleep 0.1; do
//!     row=$(date +%s%N)
//!     for d in $domains; do
//!         row="$row,$(cat $d/energy_uj),$(cat $d/max_energy_range_uj)"
//!     done
//!     echo "$row"
//! done
//! ```

mod attribute;
mod columns;
mod counter;

use super::feed::{Feed, Pace, held, later};
use super::stamps::{Forward, Picoseconds, decimal, since, unix_ns};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines, stamps};
use crate::trace::{Layout, Origin, SampleSink};
use crate::units::SimTime;
use columns::{Columns, Use};
use counter::Oddities;

/// A log of sysfs attributes.
pub(super) const FORMAT: Format = Format {
    name: "sysfs-log",
    title: "Linux sysfs log: CSV with powercap, hwmon or iio attributes as its columns",
    shape: Shape::File { recognises: |head| Columns::are_in(head.first_line()), read },
};

/// Times that count from 1970, of the years 2001 to 2286; a clock since boot is far below.
const SINCE_1970: std::ops::Range<Picoseconds> =
    1_000_000_000 * stamps::SECOND..10_000_000_000 * stamps::SECOND;
const SECOND: SimTime = SimTime(1_000_000_000_000);

/// What a first pass finds.
#[derive(Debug, Default)]
struct Survey {
    columns: Columns,
    forward: Forward,
    pace: Pace,
    rows: u64,
    oddities: Oddities,
    cut: bool,
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let survey = survey(input, options)?;
    let zero = survey.forward.first().unwrap_or_default();
    let enough = survey.rows > u64::from(survey.columns.only_counters());
    if survey.rows == 0 || !enough {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    sink.begin(&layout(&survey, zero));
    stream(input, &survey, zero, sink)
}

/// One row: its time and the cells of all columns.
fn row<'a>(text: &'a str, columns: &Columns) -> Result<(Picoseconds, Vec<&'a str>), ReadFault> {
    let cells: Vec<&str> = text.split(columns.divider).map(str::trim).collect();
    if cells.len() != columns.len() {
        return Err(ReadFault::Cells { expected: columns.len(), found: cells.len() });
    }
    let time = cells.first().copied().unwrap_or_default();
    let at = decimal(time, columns.time_power);
    let at = at.ok_or_else(|| ReadFault::Number {
        column: columns.time_name.clone(),
        text: lines::shown(time),
    })?;
    Ok((at, cells))
}

fn survey(input: &mut Input<'_>, options: &Options) -> Result<Survey, FormatError> {
    let mut survey = Survey::default();
    let mut counters = Vec::new();
    lines::each(input, |line| {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') || !line.whole {
            survey.cut |= !line.whole;
            return Ok(());
        }
        if survey.columns.is_empty() {
            survey.columns = Columns::of(text, options.table.time_unit.as_deref())?;
            counters = survey.columns.counters();
            return Ok(());
        }
        let (at, cells) = row(text, &survey.columns)?;
        survey.forward.take(at)?;
        survey.pace.take(at);
        survey.rows += 1;
        for (cell, usage) in cells.iter().skip(1).zip(&survey.columns.uses) {
            usage.check(cell)?;
        }
        for counter in &mut counters {
            counter.take(at, &cells, &mut survey.oddities)?;
        }
        Ok(())
    })?;
    Ok(survey)
}

fn layout(survey: &Survey, zero: Picoseconds) -> Layout {
    let mut layout = Layout {
        format: FORMAT.name.into(),
        channels: survey.columns.channels(),
        origin: Origin::OwnClock(zero as f64 * 1e-12),
        remarks: survey.columns.remarks(),
        ..Layout::default()
    };
    if SINCE_1970.contains(&zero) {
        layout.origin = Origin::Wall { unix_ns: unix_ns(zero), utc: true };
        layout
            .remarks
            .push("the time is taken as counted from 1970 UTC, as its size suggests".into());
    }
    layout.remarks.extend(survey.oddities.remarks());
    if survey.forward.equal > 0 {
        let equal = survey.forward.equal;
        layout
            .remarks
            .push(format!("{equal} rows have the time of the row before and weigh nothing"));
    }
    if survey.cut {
        layout.remarks.push(lines::CUT.into());
    }
    layout
}

fn stream(
    input: &mut Input<'_>,
    survey: &Survey,
    zero: Picoseconds,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let usual = survey.pace.usual().unwrap_or(SECOND);
    let mut feed = Feed::new(0, survey.columns.channels().len());
    let mut counters = survey.columns.counters();
    let mut ignored = Oddities::default();
    let mut before: Option<(SimTime, Vec<(usize, f64)>)> = None;
    let mut head = true;
    lines::each(input, |line| {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') || !line.whole || std::mem::take(&mut head) {
            return Ok(());
        }
        let (stamp, cells) = row(text, &survey.columns)?;
        let at = since(zero, stamp)?;
        for counter in &mut counters {
            if let Some((from, power)) = counter.take(stamp, &cells, &mut ignored)? {
                feed.sample(counter.channel, since(zero, from)?, at, power, sink);
            }
        }
        if let Some((start, readings)) = before.take() {
            let until = held(start, at, usual);
            readings.iter().for_each(|(channel, v)| feed.sample(*channel, start, until, *v, sink));
        }
        before = Some((at, readings(&cells, &survey.columns.uses)?));
        Ok(())
    })?;
    if let Some((start, readings)) = before {
        let until = later(start, usual);
        readings.iter().for_each(|(channel, v)| feed.sample(*channel, start, until, *v, sink));
    }
    let end = feed.finish(sink);
    sink.end(end);
    Ok(())
}

/// Readings that hold, with their channels.
fn readings(cells: &[&str], uses: &[Use]) -> Result<Vec<(usize, f64)>, ReadFault> {
    let mut readings = Vec::new();
    for (cell, usage) in cells.iter().skip(1).zip(uses) {
        if let Use::Reading { channel, name, scale } = usage {
            readings.push((*channel, columns::value(cell, name)? * scale));
        }
    }
    Ok(readings)
}

#[cfg(test)]
mod tests;
