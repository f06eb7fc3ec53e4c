//! The plan of a table: cycles and bytes are the tool's, energies those of the profile.
//!
//! Each row with cycles is a phase of its layer, with the tool's length ([`Stated`]) and what it says is waited
//! for. The datapath's energy is that of the network's work on the engine in the tool's cycles; nothing is
//! spent on starting operators, which the tool's cycles hold. Bytes out of a memory that is staged pass the
//! link to its buffer.

use super::levels::{Choices, Homes, homes};
use super::matching::{Matched, matched};
use super::{ImportError, ImportedLayer, ImportedTable};
use crate::cost::{Cost, Passes, Setting, access_energy, cost_in_cycles, runs_in};
use crate::diagnostic::nearest;
use crate::evidence::Kind;
use crate::hardware::Precision;
use crate::mapping::{
    MemoryInUse, Network, Phase, PhaseKind, Plan, Stated, Step, Transfer, Uncosted, memory_plan,
    plan,
};
use crate::model::{Layer, OpKind};
use crate::units::{Bytes, Cycles, Joules, MacsPerCycle};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files that a report names.
const SHOWN_FILES: usize = 3;

/// A table that is laid on a network and a profile: the rows of each layer, the memory of each level.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    table: ImportedTable,
    matches: Vec<Matched>,
    engine: usize,
    homes: Homes,
    notes: Vec<String>,
}

/// The plan of a table on a profile.
///
/// # Errors
/// As [`Imported::onto`].
pub fn plan_from(
    table: &ImportedTable,
    network: &Network,
    choices: &Choices,
    setting: Setting<'_>,
) -> Result<Plan, ImportError> {
    Ok(Imported::onto(table.clone(), network, choices, setting)?.plan(network, setting))
}

impl Imported {
    /// Lays a table on a network and on a profile.
    ///
    /// # Errors
    /// The table is not one of this network, has no cycles, or a level of it has no memory here.
    pub fn onto(
        table: ImportedTable,
        network: &Network,
        choices: &Choices,
        setting: Setting<'_>,
    ) -> Result<Self, ImportError> {
        if let Some(help) = table.lacks_cycles {
            let file = table.files.first().cloned().unwrap_or_default();
            return Err(ImportError::NoCycles { file, help });
        }
        let matches = matched(&table, network)?;
        let engine = engine(network, choices, setting)?;
        let mut notes = table.notes.clone();
        notes.push(said(&table, &matches, network));
        notes.extend(halved(&table, &matches, network));
        notes.extend(apart_from(&table, engine, setting));
        let homes = homes(&table, network, engine, choices, setting, &mut notes)?;
        Ok(Self { table, matches, engine, homes, notes })
    }

    /// The table.
    pub fn table(&self) -> &ImportedTable {
        &self.table
    }

    /// Which rows each layer has.
    pub fn matches(&self) -> &[Matched] {
        &self.matches
    }

    /// What a report has to say before any figure.
    pub fn caveat(&self) -> String {
        let (shown, others) = self.table.files.split_at(self.table.files.len().min(SHOWN_FILES));
        let more = match others.len() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        format!(
            "cycles and bytes are those of {} ({}{more}); time, power and energy are this profile's",
            self.table.tool,
            shown.join(", ")
        )
    }

    /// The plan at a setting: of the profile that it was laid on, or of one with other numbers.
    pub fn plan(&self, network: &Network, setting: Setting<'_>) -> Plan {
        let memory = memory_plan(network, self.engine, setting.profile);
        let mut plan = Plan {
            network: network.name.clone(),
            point: setting.point.clone(),
            steps: Vec::with_capacity(self.matches.len()),
            uncosted: Vec::new(),
            fallbacks: Vec::new(),
            costed_share: 1.0,
            fits: memory.fits,
            notes: self.notes.clone(),
            memory: vec![MemoryInUse { engines: vec![self.engine], plan: Arc::clone(&memory) }],
            passes: 1,
        };
        let mut costed = 0u64;
        let mut matches = self.matches.iter().peekable();
        for (index, layer) in network.layers.iter().enumerate() {
            let own = matches.next_if(|matched| matched.layer == index);
            match own.filter(|own| !self.rows(own).all(|row| row.apart)) {
                Some(own) => {
                    let (step, refused) = self.step(own, layer, setting);
                    plan.steps.push(step);
                    match refused {
                        Some(reason) if operations(layer) > 0 => plan.notes.push(format!(
                            "{} takes its time and no energy of the engine, which is not known: {reason}",
                            layer.name
                        )),
                        _ => costed = costed.saturating_add(operations(layer)),
                    }
                }
                None if own.is_none() && layer.work.kind == OpKind::View => {}
                None => plan.uncosted.push(self.uncosted(index, own.is_some(), network)),
            }
        }
        let all = network.operations();
        if all > 0 {
            plan.costed_share = costed as f64 / all as f64;
        }
        plan.notes.extend(memory.notes(setting.profile));
        plan.notes.extend(self.too_fast(&plan.steps, setting));
        plan
    }

    /// Says that the table is of an array with more multipliers than the engine has.
    fn too_fast(&self, steps: &[Step], setting: Setting<'_>) -> Option<String> {
        let fast = steps.iter().filter(|step| step.cost.occupancy() > 1.0 + 1e-9);
        let names: Vec<&str> = fast.map(|step| step.name.as_str()).collect();
        let engine = setting.profile.spec().engines.get(self.engine)?;
        (!names.is_empty()).then(|| {
            format!(
                "{} does more MACs a cycle in {} than {} can: is the table of a larger array?",
                self.table.tool,
                names.join(", "),
                engine.name
            )
        })
    }

    /// A layer that the table gives no cycles.
    fn uncosted(&self, index: usize, has_row: bool, network: &Network) -> Uncosted {
        let tool = self.table.tool;
        let reason = if has_row {
            format!("{tool} leaves it to the processor and gives no cycles")
        } else {
            format!("{tool} has no row for it")
        };
        let layer = network.layers.get(index);
        let own = layer.map_or(0, operations);
        let all = network.operations();
        Uncosted {
            layer: index,
            name: layer.map_or_else(String::new, |layer| layer.name.clone()),
            kind: layer.map_or(OpKind::Opaque, |layer| layer.work.kind),
            operations: own,
            share: if all > 0 { own as f64 / all as f64 } else { 0.0 },
            reasons: vec![reason],
        }
    }

    fn rows<'a>(&'a self, own: &'a Matched) -> impl Iterator<Item = &'a ImportedLayer> {
        own.rows.iter().filter_map(|row| self.table.layers.get(*row))
    }

    /// A layer, and why the engine's energy is not known, where it is not.
    fn step(&self, own: &Matched, layer: &Layer, setting: Setting<'_>) -> (Step, Option<String>) {
        let compute: Cycles = self.rows(own).map(|row| row.compute).sum();
        let (cost, refused) = match cost_in_cycles(&layer.work, self.engine, compute, setting) {
            Ok(cost) => (cost, None),
            Err(refusal) => (self.unknown(layer, compute, setting), Some(refusal.to_string())),
        };
        let mut phases: Vec<Phase> = Vec::new();
        for row in self.rows(own) {
            self.phases(row, &cost, compute, setting, &mut phases);
        }
        // Energy of a datapath that is never at work on its own belongs to the first phase.
        if compute.0 <= 0.0
            && let Some(first) = phases.first_mut()
        {
            first.energy = cost.energy;
        }
        let mut traffic: Vec<Transfer> = Vec::new();
        for transfer in phases.iter().flat_map(|phase| &phase.transfers) {
            add(&mut traffic, transfer);
        }
        let step = Step {
            layer: own.layer,
            name: layer.name.clone(),
            kind: layer.work.kind,
            macs: layer.work.macs,
            element_ops: layer.work.element_ops,
            engine: self.engine,
            keeps_result: false,
            cost,
            traffic,
            phases,
        };
        (step, refused)
    }

    /// A cost without energy.
    fn unknown(&self, layer: &Layer, compute: Cycles, setting: Setting<'_>) -> Cost {
        let unit = setting.profile.spec().engines.get(self.engine);
        let own = || Precision::of(layer.work.element);
        let precision = unit.and_then(|unit| runs_in(unit, layer.work.element)).or_else(own);
        Cost {
            compute,
            dispatch: Cycles::ZERO,
            macs: layer.work.macs,
            array_macs: layer.work.macs,
            peak: MacsPerCycle::ZERO,
            precision: precision.unwrap_or(Precision::Int8),
            passes: Passes::ONCE,
            energy: Joules::ZERO,
            dispatch_energy: Joules::ZERO,
            time_kind: Kind::Derived,
            dispatch_kind: Kind::STRONGEST,
            energy_kind: Kind::Assumed,
        }
    }

    /// Phases of a row: one for each part of its cycles, with as much of its bytes.
    fn phases(
        &self,
        row: &ImportedLayer,
        cost: &Cost,
        compute: Cycles,
        setting: Setting<'_>,
        phases: &mut Vec<Phase>,
    ) {
        let all = row.cycles();
        let moved = self.moved(row, cost.precision, setting);
        for (kind, cycles) in &row.parts {
            let works = *kind == PhaseKind::Steady;
            let own = if works { row.compute } else { Cycles::ZERO };
            let share = if compute.0 > 0.0 { own / compute } else { 0.0 };
            let part = *cycles / all;
            phases.push(Phase {
                kind: *kind,
                compute: own,
                energy: cost.energy * share,
                transfers: moved.iter().map(|transfer| transfer.part(part, 0.0)).collect(),
                pieces: 1,
                stated: Some(Stated { cycles: *cycles, channel: self.waits_for(row, *kind) }),
            });
        }
    }

    /// The memory whose port takes longer than the datapath, or that is loaded from before.
    fn waits_for(&self, row: &ImportedLayer, kind: PhaseKind) -> Option<usize> {
        let memory = |level: &str| {
            let homes = self.homes.iter().filter(|((own, _), _)| own == level);
            homes.filter_map(|(_, home)| home.memory).next()
        };
        if kind != PhaseKind::Steady {
            // The outermost level: nothing else is loaded from or stored to.
            let levels = row.accesses.iter().rev().filter(|a| a.read + a.write > 0.0);
            return levels.filter_map(|access| memory(&access.level)).next();
        }
        let longest = row.busy.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        if *longest.1 > row.compute { memory(longest.0) } else { None }
    }

    /// What a row moves, by channel.
    fn moved(
        &self,
        row: &ImportedLayer,
        precision: Precision,
        setting: Setting<'_>,
    ) -> Vec<Transfer> {
        let mut sums: BTreeMap<usize, (Bytes, Bytes)> = BTreeMap::new();
        let mut sum = |channel: usize, read: Bytes, write: Bytes| {
            let own = sums.entry(channel).or_insert((Bytes::ZERO, Bytes::ZERO));
            *own = (own.0 + read, own.1 + write);
        };
        let profile = setting.profile;
        for access in &row.accesses {
            let key = (access.level.clone(), access.operand.clone());
            let Some(home) = self.homes.get(&key) else { continue };
            let Some(memory) = home.memory else { continue };
            let (read, write) = home.bytes(access.read, access.write, precision);
            sum(memory, read, write);
            let buffer = profile.buffer_between(self.engine, memory);
            if let Some(link) = buffer.and_then(|buffer| profile.link_between(memory, buffer)) {
                sum(profile.link_channel(link), read + write, Bytes::ZERO);
            }
        }
        let moved = sums.into_iter().filter(|(_, (read, write))| (*read + *write).0 > 0.0);
        let transfer = |(channel, (read, write))| {
            let (energy, kind) = access_energy(channel, read, write, setting);
            let energy_kind = kind.weaker(Kind::Derived);
            let (requests, count_kind) = (0.0, Kind::Derived);
            Transfer { channel, read, write, requests, energy, energy_kind, count_kind }
        };
        moved.map(transfer).collect()
    }
}

/// MACs and element operations of a layer.
fn operations(layer: &Layer) -> u64 {
    layer.work.macs.saturating_add(layer.work.element_ops)
}

fn add(traffic: &mut Vec<Transfer>, transfer: &Transfer) {
    match traffic.iter_mut().find(|own| own.channel == transfer.channel) {
        Some(own) => {
            own.read += transfer.read;
            own.write += transfer.write;
            own.energy += transfer.energy;
            own.energy_kind = own.energy_kind.weaker(transfer.energy_kind);
        }
        None => traffic.push(*transfer),
    }
}

/// The engine that the table is of.
fn engine(
    network: &Network,
    choices: &Choices,
    setting: Setting<'_>,
) -> Result<usize, ImportError> {
    let engines = &setting.profile.spec().engines;
    if let Some(name) = &choices.engine {
        let names = || engines.iter().map(|engine| engine.name.as_str());
        return names().position(|own| own == name).ok_or_else(|| {
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the profile has {}", names().collect::<Vec<_>>().join(", ")),
            };
            ImportError::NoSuch { what: "engine", name: name.clone(), help }
        });
    }
    let mut macs = vec![0u64; engines.len()];
    for step in &plan(network, setting).steps {
        if let Some(own) = macs.get_mut(step.engine) {
            *own = own.saturating_add(step.macs);
        }
    }
    let most = macs.iter().enumerate().rev().max_by_key(|(_, macs)| **macs);
    Ok(most.map_or(0, |(engine, _)| engine))
}

/// Which rows were taken for which layers.
fn said(table: &ImportedTable, matches: &[Matched], network: &Network) -> String {
    let pairs = matches.iter().map(|matched| {
        let name = network.layers.get(matched.layer).map_or("", |layer| layer.name.as_str());
        let line = |row: Option<&usize>| {
            let place = row.and_then(|row| table.layers.get(*row)).map(|row| &row.place);
            place.and_then(|place| place.line)
        };
        match (line(matched.rows.first()), line(matched.rows.last())) {
            (Some(first), Some(last)) if first == last => format!("{first} {name}"),
            (Some(first), Some(last)) => format!("{first}-{last} {name}"),
            _ => {
                let row = matched.rows.first().and_then(|row| table.layers.get(*row));
                match row.map_or("", |row| row.name.as_str()) {
                    own if own == name => name.to_owned(),
                    own => format!("{own} {name}"),
                }
            }
        }
    });
    let pairs: Vec<_> = pairs.collect();
    format!("rows of {} by layer: {}", table.tool, pairs.join(", "))
}

/// Says which convolutions have half of their multiply-accumulates in the table.
fn halved(table: &ImportedTable, matches: &[Matched], network: &Network) -> Option<String> {
    let own = matches.iter().filter(|matched| matched.halved);
    let names: Vec<&str> =
        own.filter_map(|m| Some(network.layers.get(m.layer)?.name.as_str())).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} counts half of the MACs of {}, stored two of four: energy goes by those of the network",
            table.tool,
            names.join(", ")
        )
    })
}

/// Says where the clock of the table is not that of the profile.
fn apart_from(table: &ImportedTable, engine: usize, setting: Setting<'_>) -> Option<String> {
    let domain = setting.profile.links().engine_domain.get(engine)?;
    let (own, clock) = (setting.point.clocks.get(*domain)?.0, table.clock?);
    let differs = (own / clock - 1.0).abs() > 1e-3;
    differs.then(|| {
        format!(
            "{} counted its cycles at {clock}, and the engine runs at {own}: where they wait for a memory there may be others",
            table.tool
        )
    })
}
