//! Workloads and cascades out of a scenario.

use super::checked::named;
use super::hosts::host;
use super::networks::{placed, together};
use super::processes::process;
use super::read::{Reader, known};
use super::resolved::{StageWork, WakeCascade, Work, Workload};
use super::{
    CascadeSpec, DetectorSpec, Dropping, EventsSpec, QueueSpec, RunsSpec, ScenarioSpec, StageSpec,
    WorkloadSpec,
};
use crate::evidence::Condition;
use crate::hardware::{Point, Profile};
use crate::sim::load::{Admission, Cascade, Events, MicroBatch, Stage, WhenFull};
use crate::units::{Seconds, SimTime};

type Hardware<'a> = Option<&'a (Profile, Point)>;

pub(super) fn workloads(
    reader: &mut Reader,
    spec: &ScenarioSpec,
    hardware: Hardware<'_>,
) -> Vec<Workload> {
    let mut made = Vec::new();
    for (i, workload) in spec.workloads.iter().enumerate() {
        let path = format!("workloads[{i}]");
        made.extend(self::workload(reader, &path, workload, spec.software.as_deref(), hardware));
    }
    made
}

fn workload(
    reader: &mut Reader,
    path: &str,
    spec: &WorkloadSpec,
    software: Option<&str>,
    hardware: Hardware<'_>,
) -> Option<Workload> {
    // All of them are looked at before any is missing.
    let placed = placed(reader, path, &spec.network(), software, hardware);
    let batch = batch(reader, path, spec);
    let size = batch.as_ref().map_or(1, MicroBatch::size);
    let together = match &placed {
        Some(_) => together(reader, path, &spec.network(), software, hardware, size),
        None => None,
    };
    let process = process(reader, &format!("{path}.arrivals"), &spec.arrivals);
    let deadline = deadline(reader, format!("{path}.deadline"), spec.deadline.as_ref());
    let inferences_each = spec.inferences_each.unwrap_or(1);
    if inferences_each == 0 {
        reader.fault(format!("{path}.inferences_each"), "a request has at least one inference");
    }
    let admission = admission(reader, path, spec.queue.as_ref(), spec.deadline.as_ref());
    let host = host(reader, path, spec.host.as_ref(), hardware.map(|(profile, _)| profile));
    Some(Workload {
        name: spec.name.clone(),
        placed: placed?,
        together: together?,
        host: host?,
        process: process?,
        inferences_each,
        deadline: deadline?,
        priority: spec.priority,
        batch: batch?,
        admission,
    })
}

fn batch(reader: &mut Reader, path: &str, spec: &WorkloadSpec) -> Option<MicroBatch> {
    let Some(batch) = &spec.batch else { return Some(MicroBatch::SINGLE) };
    let timeout = SimTime::from_seconds(known(&batch.timeout)?);
    let timeout = reader.tried(format!("{path}.batch.timeout"), timeout)?;
    reader.tried(format!("{path}.batch.size"), MicroBatch::new(batch.size, timeout))
}

pub(super) fn admission(
    reader: &mut Reader,
    path: &str,
    queue: Option<&QueueSpec>,
    deadline: Option<&Condition<Seconds>>,
) -> Admission {
    let Some(queue) = queue else { return Admission::default() };
    if queue.limit == Some(0) {
        let message = "nobody could wait, and nothing would ever be served";
        reader.fault(format!("{path}.queue.limit"), message);
    }
    if queue.refuse_late && deadline.is_none() {
        let message = "nothing is late without a `deadline`";
        reader.fault(format!("{path}.queue.refuse_late"), message);
    }
    Admission {
        limit: queue.limit,
        when_full: match queue.when_full {
            Dropping::DropNewest => WhenFull::DropNewest,
            Dropping::DropOldest => WhenFull::DropOldest,
        },
        refuse_late: queue.refuse_late,
    }
}

/// Nothing where it was wrong, which has been told.
pub(super) fn deadline(
    reader: &mut Reader,
    path: String,
    deadline: Option<&Condition<Seconds>>,
) -> Option<Option<SimTime>> {
    let Some(deadline) = deadline else { return Some(None) };
    let time = reader.tried(path.clone(), SimTime::from_seconds(known(deadline)?))?;
    if time == SimTime::ZERO {
        reader.fault(path, "a deadline must be above zero");
    }
    Some(Some(time))
}

pub(super) fn cascades(
    reader: &mut Reader,
    spec: &ScenarioSpec,
    hardware: Hardware<'_>,
) -> Vec<WakeCascade> {
    let mut made = Vec::new();
    for (i, cascade) in spec.cascades.iter().enumerate() {
        let path = format!("cascades[{i}]");
        if cascade.stages.len() < 2 {
            let message = "a cascade has two stages or more: one that looks and one that it wakes";
            reader.fault(format!("{path}.stages"), message);
        }
        let rates = rates(reader, &path, cascade);
        let mut stages = Vec::new();
        for (j, stage) in cascade.stages.iter().enumerate() {
            let path = format!("{path}.stages[{j}]");
            stages.extend(self::stage(reader, &path, stage, spec.software.as_deref(), hardware));
        }
        let cascade = rates.filter(|_| stages.len() == cascade.stages.len());
        let name = spec.cascades[i].name.clone();
        made.extend(cascade.map(|cascade| WakeCascade { name, cascade, stages }));
    }
    made
}

pub(super) fn rates(reader: &mut Reader, path: &str, spec: &CascadeSpec) -> Option<Cascade> {
    let events = match &spec.events {
        EventsSpec::Prevalence(share) => known(share).map(Events::Prevalence),
        EventsSpec::Process(events) => {
            let at = format!("{path}.events.Process.arrivals");
            let process = process(reader, &at, &events.arrivals);
            let lasts = known(&events.lasts);
            process.zip(lasts).map(|(process, lasts)| Events::Process { process, lasts })
        }
    };
    if let EventsSpec::Process(events) = &spec.events
        && matches!(
            events.arrivals,
            super::ArrivalsSpec::BackToBack | super::ArrivalsSpec::ClosedLoop(_)
        )
    {
        let message = "events of the world wait for no answer";
        reader.fault(format!("{path}.events.Process.arrivals"), message);
    }
    let mut stages = Vec::new();
    for (j, stage) in spec.stages.iter().enumerate() {
        let (hit, alarm) = (known(&stage.hit)?, known(&stage.false_alarm)?);
        for (field, share) in [("hit", hit), ("false_alarm", alarm)] {
            if !(0.0..=1.0).contains(&share.0) {
                let at = format!("{path}.stages[{j}].{field}");
                reader.fault(at, "a share lies between 0 and 100 %");
                return None;
            }
        }
        stages.push(Stage { name: stage.name.clone(), hit, false_alarm: alarm });
    }
    if stages.is_empty() {
        return None;
    }
    reader.tried(format!("{path}.events"), Cascade::new(known(&spec.every)?, events?, stages))
}

fn stage(
    reader: &mut Reader,
    path: &str,
    spec: &StageSpec,
    software: Option<&str>,
    hardware: Hardware<'_>,
) -> Option<StageWork> {
    let deadline = deadline(reader, format!("{path}.deadline"), spec.deadline.as_ref());
    let work = match &spec.runs {
        RunsSpec::Network(network) => {
            let path = format!("{path}.runs.Network");
            let placed = placed(reader, &path, network, software, hardware);
            placed.map(|placed| Work::Network(Box::new(placed)))
        }
        RunsSpec::Detector(detector) => {
            self::detector(reader, &format!("{path}.runs.Detector"), detector, hardware)
        }
    };
    Some(StageWork { work: work?, deadline: deadline?, priority: spec.priority })
}

fn detector(
    reader: &mut Reader,
    path: &str,
    spec: &DetectorSpec,
    hardware: Hardware<'_>,
) -> Option<Work> {
    let time = known(&spec.time).map(SimTime::from_seconds);
    let time = time.and_then(|time| reader.tried(format!("{path}.time"), time));
    let kind = spec.time.kind();
    let (block, state) = match (&spec.block, &spec.state) {
        (None, None) => return Some(Work::Detector { time: time?, kind, block: None }),
        (Some(block), Some(state)) => (block, state),
        _ => {
            reader.fault(path, "a detector has both a `block` and its `state`, or neither");
            return None;
        }
    };
    let loads = &hardware?.0.spec().loads;
    let names = loads.iter().map(|l| l.name.as_str());
    let load = named(reader, format!("{path}.block"), "block", block, names)?;
    let states = loads[load].states.iter().map(|s| s.name.as_str());
    let state = named(reader, format!("{path}.state"), "state", state, states)?;
    Some(Work::Detector { time: time?, kind, block: Some((load, state)) })
}
