//! `nvidia-smi --query-gpu=timestamp,... --format=csv`: a row a reading and GPU.
//!
//! The head is `timestamp, power.draw [W]` and a cell `22.89 W`; with `nounits` the cell is bare.
//! `[N/A]`, `[Not Supported]` and the like are gaps. GPUs are told apart by `index`, else `uuid`,
//! else `pci.bus_id`; without any of them rows that share a stamp are one of each GPU, in turn.
//! The driver's `power.draw` is a mean of about one second on Ampere and later but for GA100
//! (ml-energy/zeus issue 45), and asked faster than it is renewed the last value comes again
//! (wookayin/gpustat issue 76).

mod columns;

use super::feed::{Held, Pace};
use super::stamps::{DateOrder, Forward, Picoseconds, calendar, since, unix_ns};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Channel, ChannelKind, Layout, Origin, SampleSink};
use crate::units::SimTime;
use columns::{Columns, Quantity};
use std::collections::BTreeMap;

/// A log of nvidia-smi.
pub(super) const FORMAT: Format = Format {
    name: "nvidia-smi",
    title: "nvidia-smi --query-gpu with --format=csv",
    shape: Shape::File {
        recognises: |head| Columns::are_in(head.first_line()),
        read: |input, _: &Options, sink| read(input, sink),
    },
};

/// More GPUs than any host has.
const MOST_GPUS: usize = 1024;
const SECOND: SimTime = SimTime(1_000_000_000_000);

/// What a first pass finds of one GPU.
#[derive(Debug, Default)]
struct Gpu {
    forward: Forward,
    pace: Pace,
    power: Option<f64>,
    readings: u64,
    repeats: u64,
}

/// What a first pass finds.
#[derive(Debug, Default)]
struct Survey {
    columns: Columns,
    gpus: Vec<(String, Gpu)>,
    numbers: BTreeMap<String, usize>,
    turns: Turns,
    cut: bool,
}

/// Numbers rows that share a stamp, where nothing else tells GPUs apart.
#[derive(Debug, Default, Clone)]
struct Turns {
    stamp: Option<Picoseconds>,
    turn: usize,
}

impl Turns {
    fn next(&mut self, stamp: Picoseconds) -> usize {
        self.turn = if self.stamp == Some(stamp) { self.turn + 1 } else { 0 };
        self.stamp = Some(stamp);
        self.turn
    }
}

/// One row.
struct Row<'a> {
    at: Picoseconds,
    gpu: Option<&'a str>,
    values: Vec<f64>,
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let survey = survey(input)?;
    let zero = survey.gpus.iter().filter_map(|(_, gpu)| gpu.forward.first()).min();
    let Some(zero) = zero else {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    };
    sink.begin(&layout(&survey, zero));
    stream(input, &survey, zero, sink)
}

fn survey(input: &mut Input<'_>) -> Result<Survey, FormatError> {
    let mut survey = Survey::default();
    lines::each(input, |line| {
        let text = line.text.trim();
        if text.is_empty() || !line.whole {
            survey.cut |= !line.whole;
            return Ok(());
        }
        if survey.columns.is_empty() {
            survey.columns = Columns::of(text)?;
            return Ok(());
        }
        // A script that starts the tool again writes the head again.
        if survey.columns.is_head(text) {
            return Ok(());
        }
        let row = row(text, &survey.columns)?;
        let name = gpu_name(&row, &mut survey.turns);
        let power = survey.columns.power().and_then(|column| row.values.get(column).copied());
        let known = survey.gpus.len();
        let number = *survey.numbers.entry(name.clone()).or_insert(known);
        if number == known {
            if known == MOST_GPUS {
                let expected = "at most 1024";
                let found = "more".into();
                return Err(ReadFault::Value {
                    what: "the number of GPUs".into(),
                    found,
                    expected,
                });
            }
            survey.gpus.push((name, Gpu::default()));
        }
        match survey.gpus.get_mut(number) {
            Some((_, gpu)) => gpu.take(row.at, power),
            None => Ok(()),
        }
    })?;
    Ok(survey)
}

impl Gpu {
    fn take(&mut self, at: Picoseconds, power: Option<f64>) -> Result<(), ReadFault> {
        self.forward.take(at)?;
        self.pace.take(at);
        if let Some(power) = power.filter(|power| !power.is_nan()) {
            self.readings += 1;
            self.repeats += u64::from(self.power.replace(power) == Some(power));
        }
        Ok(())
    }
}

fn row<'a>(text: &'a str, columns: &Columns) -> Result<Row<'a>, ReadFault> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    if cells.len() != columns.len() {
        return Err(ReadFault::Cells { expected: columns.len(), found: cells.len() });
    }
    let stamp = cells.get(columns.stamp).copied().unwrap_or_default();
    let at = stamp.split_once(' ');
    let at = at.and_then(|(date, time)| calendar(date, time, DateOrder::YearFirst));
    let at = at.ok_or_else(|| ReadFault::Value {
        what: "timestamp".into(),
        found: lines::shown(stamp),
        expected: "`YYYY/MM/DD HH:MM:SS.mmm`",
    })?;
    let gpu = columns.gpu.and_then(|column| cells.get(column).copied());
    Ok(Row { at, gpu, values: columns.values(&cells)? })
}

fn gpu_name(row: &Row<'_>, turns: &mut Turns) -> String {
    match row.gpu {
        Some(name) if name.bytes().all(|b| b.is_ascii_digit()) => format!("gpu{name}"),
        Some(name) => name.into(),
        None => format!("gpu{}", turns.next(row.at)),
    }
}

fn layout(survey: &Survey, zero: Picoseconds) -> Layout {
    let mut layout = Layout {
        format: FORMAT.name.into(),
        origin: Origin::Wall { unix_ns: unix_ns(zero), utc: false },
        ..Layout::default()
    };
    let module = survey.columns.quantities().any(|q| q.of_module);
    for (gpu, found) in &survey.gpus {
        let channels = survey.columns.quantities().map(|quantity| channel(gpu, quantity, module));
        layout.channels.extend(channels);
        if found.repeats > 0 {
            layout.remarks.push(format!(
                "{} of {} readings of {gpu}'s power repeat the one before: the driver gives its last value again until it is renewed",
                found.repeats, found.readings
            ));
        }
        if found.forward.equal > 0 {
            let equal = found.forward.equal;
            layout.remarks.push(format!(
                "{equal} rows of {gpu} have the stamp of its row before and weigh nothing"
            ));
        }
    }
    if survey.columns.power().is_some() {
        layout.remarks.push("power.draw is a mean of about one second on Ampere and later but for GA100: what is shorter is smeared and late".into());
    }
    if survey.columns.gpu.is_none() && survey.gpus.len() > 1 {
        layout.remarks.push(
            "no column tells GPUs apart: rows with one stamp are taken as one of each, in turn"
                .into(),
        );
    }
    let left_out = survey.columns.left_out();
    if !left_out.is_empty() {
        layout.remarks.push(format!("left out, as no readings: {}", left_out.join(", ")));
    }
    if survey.cut {
        layout.remarks.push(lines::CUT.into());
    }
    layout
}

fn channel(gpu: &str, quantity: &Quantity, module: bool) -> Channel {
    let whole = format!("{gpu} module");
    let name = format!("{gpu} {}", quantity.name);
    match quantity.kind {
        ChannelKind::Power if quantity.of_module => Channel::new(name, quantity.kind, whole),
        ChannelKind::Power => {
            Channel { part_of: module.then_some(whole), ..Channel::new(name, quantity.kind, gpu) }
        }
        _ => Channel::new(name, quantity.kind, ""),
    }
}

fn stream(
    input: &mut Input<'_>,
    survey: &Survey,
    zero: Picoseconds,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let channels = survey.columns.quantities().count();
    let usual = |gpu: &Gpu| gpu.pace.usual().unwrap_or(SECOND);
    let mut gpus: Vec<Held> = survey
        .gpus
        .iter()
        .enumerate()
        .map(|(number, (_, gpu))| Held::new(number * channels, channels, usual(gpu)))
        .collect();
    let mut turns = Turns::default();
    let mut head = true;
    lines::each(input, |line| {
        let text = line.text.trim();
        if text.is_empty() || !line.whole {
            return Ok(());
        }
        if std::mem::take(&mut head) || survey.columns.is_head(text) {
            return Ok(());
        }
        let row = row(text, &survey.columns)?;
        let number = survey.numbers.get(&gpu_name(&row, &mut turns));
        if let Some(held) = number.and_then(|number| gpus.get_mut(*number)) {
            held.row(since(zero, row.at)?, &row.values, sink);
        }
        Ok(())
    })?;
    let end = gpus.into_iter().map(|held| held.finish(sink)).max().unwrap_or_default();
    sink.end(end);
    Ok(())
}

#[cfg(test)]
mod tests;
