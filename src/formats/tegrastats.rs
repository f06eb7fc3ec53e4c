//! `tegrastats` of NVIDIA Jetson, of all generations: one line a reading, with power by rail,
//! loads and clocks of CPU cores and engines, and temperatures.
//!
//! A rail is `VDD_IN 4067/4067` in milliwatt, `VDD_IN 4962mW/4962mW` from JetPack 5 and with a
//! third figure from JetPack 7. The first figure is the reading; the second is the mean since the
//! program started and is left out, as are memory sizes. Lines have a stamp of whole seconds from
//! JetPack 5 on and none before. Lines of one second are spread evenly over it.
//!
//! Rails by module: Nano `POM_5V_IN` (all), `POM_5V_GPU`, `POM_5V_CPU`; TX1 and TX2 `VDD_IN` (all)
//! and `VDD_*`; AGX Xavier `GPU`, `CPU`, `SOC`, `CV`, `VDDRQ`, `SYS5V` without a total; Xavier NX,
//! Orin NX and Orin Nano `VDD_IN` (all), `VDD_CPU_GPU_CV`, `VDD_SOC`; AGX Orin `VDD_GPU_SOC`,
//! `VDD_CPU_CV`, `VIN_SYS_5V0` with `VDDQ_VDD2_1V8AO` behind it, without a total; Thor `VIN` (all),
//! `VDD_GPU`, `VDD_CPU_SOC_MSS`, `VIN_SYS_5V0`.

mod fields;
mod rails;
mod spread;

use super::feed::Held;
use super::stamps::{Picoseconds, unix_ns};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Channel, ChannelKind, Layout, Origin, SampleSink};
use crate::units::{Hertz, SimTime};
use fields::{Fields, What, is_reading};
use spread::{Spread, Survey as Seconds};
use std::collections::BTreeMap;

/// A log of tegrastats.
pub(super) const FORMAT: Format = Format {
    name: "tegrastats",
    title: "tegrastats of NVIDIA Jetson",
    shape: Shape::File { recognises: |head| head.lines().any(is_reading), read },
};

/// More channels than any module has.
const MOST_CHANNELS: usize = 512;

type Key = (String, What);

/// What a first pass finds.
#[derive(Debug, Default)]
struct Survey {
    channels: Vec<Key>,
    numbers: BTreeMap<Key, usize>,
    rows: u64,
    stamped: bool,
    seconds: Seconds,
    others: u64,
    beyond: u64,
    cut: bool,
    means: bool,
    constant: bool,
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let survey = survey(input)?;
    if survey.rows == 0 {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    let (times, zero, said) = times(input, &survey, options)?;
    let origin = match zero {
        Some(zero) => Origin::Wall { unix_ns: unix_ns(zero), utc: false },
        None => Origin::FirstSample,
    };
    let mut layout = layout(&survey, origin);
    layout.remarks.extend(said);
    sink.begin(&layout);
    stream(input, &survey, times, sink)
}

fn survey(input: &mut Input<'_>) -> Result<Survey, FormatError> {
    let mut survey = Survey::default();
    lines::each(input, |line| {
        if !is_reading(line.text) || !line.whole {
            survey.cut |= !line.whole;
            survey.others += u64::from(line.whole && !line.text.trim().is_empty());
            return Ok(());
        }
        let fields = Fields::of(line.text)?;
        if survey.rows == 0 {
            survey.stamped = fields.stamp.is_some();
        }
        if survey.stamped {
            let missing = || ReadFault::Missing { what: "the time stamp of the line".into() };
            survey.seconds.take(fields.stamp.ok_or_else(missing)?)?;
        }
        survey.means |= fields.means;
        survey.constant |= fields.constant;
        for reading in fields.readings {
            let key = (reading.name, reading.what);
            if survey.numbers.contains_key(&key) {
            } else if survey.channels.len() < MOST_CHANNELS {
                survey.numbers.insert(key.clone(), survey.channels.len());
                survey.channels.push(key);
            } else {
                survey.beyond += 1;
            }
        }
        survey.rows += 1;
        Ok(())
    })?;
    Ok(survey)
}

/// How rows get their time, the stamp of time zero, and what to say of it.
fn times(
    input: &Input<'_>,
    survey: &Survey,
    options: &Options,
) -> Result<(Spread, Option<Picoseconds>, Vec<String>), FormatError> {
    let first = survey.seconds.first();
    let even = |rate: Hertz| {
        let period = (1e12 / rate.0).round();
        let last = period * survey.rows as f64;
        if period >= 1.0 && last < u64::MAX as f64 {
            return Ok(Spread::even(SimTime(period as u64)));
        }
        let fault = ReadFault::Value {
            what: "--rate".into(),
            found: format!("{} Hz", rate.0),
            expected: "a rate at which all rows are within 213 days",
        };
        Err(input.fault(Place::Whole, fault))
    };
    match (options.rate, first) {
        (Some(rate), _) => {
            let said = match first {
                Some(_) => format!(
                    "rows are {} s apart as --rate says; of the stamps only the first is used",
                    1.0 / rate.0
                ),
                None => format!(
                    "lines have no stamps: rows are {} s apart as --rate says",
                    1.0 / rate.0
                ),
            };
            Ok((even(rate)?, first, vec![said]))
        }
        (None, None) => {
            let said = "lines have no stamps: rows are taken as 1 s apart, the interval that tegrastats has unless told otherwise (--rate says another)";
            Ok((even(Hertz(1.0))?, None, vec![said.into()]))
        }
        (None, Some(_)) => {
            let (spread, zero) = survey.seconds.spread();
            let mut said =
                vec!["stamps are whole seconds: a time is known to one second".to_owned()];
            if survey.seconds.shared() {
                said.push("lines with one stamp are spread evenly over its second".into());
            }
            Ok((spread, Some(zero), said))
        }
    }
}

fn layout(survey: &Survey, origin: Origin) -> Layout {
    let rails: Vec<&str> = survey
        .channels
        .iter()
        .filter(|(_, what)| *what == What::Rail)
        .map(|(name, _)| name.as_str())
        .collect();
    let channels = survey.channels.iter().map(|(name, what)| match what {
        What::Rail => Channel {
            part_of: rails::fed_by(name, &rails).map(str::to_owned),
            ..Channel::new(name.clone(), ChannelKind::Power, name.clone())
        },
        What::Load => Channel::new(format!("{name} load"), ChannelKind::Share, ""),
        What::Clock => Channel::new(format!("{name} clock"), ChannelKind::Frequency, ""),
        What::Temperature => {
            Channel::new(format!("{name} temperature"), ChannelKind::Temperature, "")
        }
    });
    let mut layout = Layout {
        format: FORMAT.name.into(),
        channels: channels.collect(),
        origin,
        ..Layout::default()
    };
    let mut say = |true_of_it: bool, said: &str| {
        if true_of_it {
            layout.remarks.push(said.into());
        }
    };
    say(rails.is_empty(), "there is no rail in it: tegrastats shows power to root only");
    say(survey.means, "the figures behind a slash, means since the start, are left out");
    say(survey.constant, "PMIC shows a constant and no temperature: left out");
    say(survey.cut, lines::CUT);
    if !rails.is_empty() {
        layout.remarks.push(rails::remark(&rails));
    }
    if survey.others > 0 {
        let others = survey.others;
        layout.remarks.push(format!("{others} lines that are no readings are left out"));
    }
    if survey.beyond > 0 {
        let beyond = survey.beyond;
        layout
            .remarks
            .push(format!("{beyond} readings beyond {MOST_CHANNELS} channels are left out"));
    }
    layout
}

fn stream(
    input: &mut Input<'_>,
    survey: &Survey,
    mut spread: Spread,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let mut held = Held::new(0, survey.channels.len(), spread.usual());
    lines::each(input, |line| {
        if !line.whole || !is_reading(line.text) {
            return Ok(());
        }
        let fields = Fields::of(line.text)?;
        let mut row = vec![f64::NAN; survey.channels.len()];
        for reading in fields.readings {
            let number = survey.numbers.get(&(reading.name, reading.what));
            if let Some(value) = number.and_then(|number| row.get_mut(*number)) {
                *value = reading.value;
            }
        }
        spread.row(fields.stamp, row, &mut |at, row| held.row(at, row, sink));
        Ok(())
    })?;
    spread.finish(&mut |at, row| held.row(at, row, sink));
    let end = held.finish(sink);
    sink.end(end);
    Ok(())
}

#[cfg(test)]
mod tests;
