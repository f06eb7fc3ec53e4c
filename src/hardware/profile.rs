//! A profile that has been read, checked and resolved.

use super::check::check;
use super::extends::extended;
use super::heat_links::HeatLinks;
use super::identity::Identity;
use super::shipped::{is_shipped, shipped};
use super::software_file::holds_software_alone;
use super::{
    Domain, HardwareError, OperatingPoint, Point, ProfileSpec, StateLoad, Transfers,
    shipped_profiles,
};
use crate::diagnostic::{Fault, Report, nearest, parse_ron};
use crate::evidence::{FieldPath, Kind, Parameter, Parameters};
use crate::units::{Hertz, Volts};
use std::borrow::Cow;
use std::path::Path;

/// Names of a profile as indices into its lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Links {
    /// Domain of each engine.
    pub engine_domain: Vec<usize>,
    /// Memories of each engine.
    pub engine_memories: Vec<Vec<usize>>,
    /// The memory that weights of each engine come into ahead of their operator.
    pub engine_ahead: Vec<Option<usize>>,
    /// Domain of each memory, then of each cache, then of each link.
    pub channel_domain: Vec<usize>,
    /// The buffer that each memory is staged through.
    pub memory_stage: Vec<Option<usize>>,
    /// The memory that each memory is said to be reloaded from.
    pub memory_reload: Vec<Option<usize>>,
    /// Engines that each cache serves.
    pub cache_engines: Vec<Vec<usize>>,
    /// Memories behind each cache.
    pub cache_backs: Vec<Vec<usize>>,
    /// Memories that each link joins.
    pub link_joins: Vec<(usize, usize)>,
    /// Rail of each domain.
    pub domain_rail: Vec<usize>,
    /// Where each domain draws: its rail, or behind all rails a place of its own where it has a power grid
    /// (`ir_drop`).
    pub domain_tap: Vec<usize>,
    /// Rail of each such place: of each rail itself, then of each domain with a grid.
    pub tap_rail: Vec<usize>,
    /// Rail of each state load.
    pub load_rail: Vec<usize>,
    /// Rail of each supply.
    pub supply_rail: Vec<usize>,
    /// Input and output rail of each regulator.
    pub regulator_rails: Vec<(usize, usize)>,
    /// Engines of each software stack.
    pub stack_engines: Vec<Vec<usize>>,
    /// What the package says of heat.
    pub heat: HeatLinks,
    /// Numbers that a fit says something of together, by their place in [`Profile::parameters`].
    pub posterior: Vec<usize>,
}

/// A parameter of a profile with its place in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterRecord {
    /// Field path (`engines[0].array.Lanes.macs.Int8`).
    pub path: String,
    /// The same with the names of list items in the place of their numbers
    /// (`engines.cpu.array.Lanes.macs.Int8`).
    pub name: String,
    /// Value, spread and source.
    pub parameter: Parameter,
}

/// File and text of the profile that `name` stands for: a path to a `.ron` file, or a shipped one.
///
/// # Errors
/// Nothing is called so, or the file cannot be read.
pub fn profile_text(name: &str) -> Result<(String, Cow<'static, str>), HardwareError> {
    let path = Path::new(name);
    if let Some(shipped) = shipped().find(|p| p.name == name) {
        return Ok((shipped.path.to_owned(), Cow::Borrowed(shipped.text)));
    }
    let is_path = path.components().count() > 1 || path.extension().is_some();
    if !is_path {
        return Err(HardwareError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, shipped_profiles().iter().map(|p| p.name)).map(str::to_owned),
        });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| HardwareError::Read { path: name.to_owned(), source })?;
    Ok((name.to_owned(), Cow::Owned(text)))
}

/// A chip and its board, sound in itself.
#[derive(Debug, Clone)]
pub struct Profile {
    spec: ProfileSpec,
    links: Links,
    corner: Option<String>,
    extends: Vec<String>,
    identity: Identity,
}

impl Profile {
    /// Reads the profile that `name` stands for: a path to a `.ron` file, or a shipped one.
    pub fn load(name: &str) -> Result<Self, HardwareError> {
        let (file, text) = profile_text(name)?;
        Self::parse(&file, &text)
    }

    /// Reads a profile from `text`, called `file` in errors. All faults beyond syntax are reported
    /// together. What it extends is looked for from the folder of `file`, and laid under it.
    pub fn parse(file: &str, text: &str) -> Result<Self, HardwareError> {
        let Some(merged) = extended(file, text)? else { return Ok(Self::read(file, text)?) };
        let read = Self::read(file, merged.text()).map_err(|report| report.traced(&merged))?;
        let extends = merged.files().iter().skip(1).map(|(file, _)| file.clone()).collect();
        Ok(Self { extends, ..read })
    }

    fn read(file: &str, text: &str) -> Result<Self, Box<Report>> {
        if holds_software_alone(text) {
            let name = Path::new(file).with_extension("");
            let name = format!("software/{}", name.file_name().unwrap_or_default().display());
            let own = if is_shipped(&name) { &name } else { file };
            let fault = Fault::at("software", "software stacks alone are no hardware profile");
            let help = format!("a profile of a chip takes them in by `extends: [\"{own}\"]`");
            return Err(Report::located(file, text, vec![fault.with_help(help)]));
        }
        let mut spec: ProfileSpec = parse_ron(file, text)?;
        let (links, faults) = check(&mut spec);
        if !faults.is_empty() {
            return Err(Report::located(file, text, faults));
        }
        let identity = Identity::new();
        Ok(Self { spec, links, corner: None, extends: Vec::new(), identity })
    }

    /// The files that this one extends, the one that lies highest first; none when it stands alone.
    pub fn extends(&self) -> &[String] {
        &self.extends
    }

    /// The profile as written, laid over what it extends.
    pub fn spec(&self) -> &ProfileSpec {
        &self.spec
    }

    /// The corner it stands at, if any.
    pub fn corner(&self) -> Option<&str> {
        self.corner.as_deref()
    }

    /// The profile to change: it is another one then.
    pub(super) fn spec_mut(&mut self) -> &mut ProfileSpec {
        self.identity = Identity::new();
        &mut self.spec
    }

    pub(super) fn set_corner(&mut self, name: &str) {
        self.corner = Some(name.to_owned());
    }

    /// Which profile it is.
    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its names as indices.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// The rail called `name`, by index.
    ///
    /// # Errors
    /// There is none.
    pub fn rail(&self, name: &str) -> Result<usize, HardwareError> {
        let names = self.spec.rails.iter().map(|rail| rail.name.as_str());
        names.clone().position(|own| own == name).ok_or_else(|| self.no_such("rail", name, names))
    }

    /// The operating point called `name`, or the first.
    pub fn point(&self, name: Option<&str>) -> Result<Point, HardwareError> {
        let point = self.operating_point(name)?;
        let (clocks, voltages) = self.clocks_and_voltages(point);
        let set_points = self.spec.memories.iter().map(|m| point.set_points.get(&m.name).cloned());
        let state = |load: &StateLoad| {
            let wanted = point.loads.get(&load.name).or(load.initial.as_ref());
            wanted.and_then(|w| load.states.iter().position(|s| s.name == *w)).unwrap_or(0)
        };
        let asleep = |domain: &Domain| {
            let wanted = point.asleep.get(&domain.name)?;
            domain.states.iter().position(|s| s.name == *wanted)
        };
        Ok(Point {
            name: point.name.clone(),
            set_points: set_points.collect(),
            heated: None,
            load_states: self.spec.loads.iter().map(state).collect(),
            asleep: self.spec.domains.iter().map(asleep).collect(),
            clocks,
            voltages,
            regulators: self.leaves_first(
                self.spec
                    .regulators
                    .iter()
                    .enumerate()
                    .filter(|(_, r)| r.in_use_at(&point.name))
                    .map(|(i, _)| i),
            ),
        })
    }

    fn operating_point(&self, name: Option<&str>) -> Result<&OperatingPoint, HardwareError> {
        let points = &self.spec.operating_points;
        let found = match name {
            None => points.first(),
            Some(name) => points.iter().find(|p| p.name == name),
        };
        found.ok_or_else(|| {
            let names = points.iter().map(|p| p.name.as_str());
            self.no_such("operating point", name.unwrap_or(""), names)
        })
    }

    /// Of each domain and of each rail, with what the number rests on.
    #[expect(clippy::type_complexity, reason = "the two lists of a point")]
    fn clocks_and_voltages(
        &self,
        point: &OperatingPoint,
    ) -> (Vec<(Hertz, Kind)>, Vec<(Volts, Kind)>) {
        let clocks = self.spec.domains.iter().filter_map(|d| point.clocks.get(&d.clock));
        let rails = self.spec.rails.iter();
        let voltages = rails.filter_map(|r| self.spec.rail_voltage(point, &r.name));
        (
            clocks.map(|v| (v.get(), v.kind())).collect(),
            voltages.map(|v| (v.get(), v.kind())).collect(),
        )
    }

    /// A point of a profile with other numbers as it is in this one: clocks and voltages are read anew,
    /// and what was chosen (states, set points, regulators) stays.
    ///
    /// # Errors
    /// This profile has no operating point of that name.
    pub fn repoint(&self, point: &Point) -> Result<Point, HardwareError> {
        let (clocks, voltages) = self.clocks_and_voltages(self.operating_point(Some(&point.name))?);
        Ok(Point {
            name: point.name.clone(),
            clocks,
            voltages,
            regulators: point.regulators.clone(),
            set_points: point.set_points.clone(),
            heated: point.heated.clone(),
            load_states: point.load_states.clone(),
            asleep: point.asleep.clone(),
        })
    }

    /// The point with other states, each given as a name and a state: of a block that runs no network, or
    /// of a domain, which then stays in it (`on` wakes one that the point puts to sleep).
    ///
    /// # Errors
    /// The profile has no such block or domain, or that no such state.
    pub fn in_states(
        &self,
        mut point: Point,
        states: &[(String, String)],
    ) -> Result<Point, HardwareError> {
        for (name, wanted) in states {
            let (loads, domains) = (&self.spec.loads, &self.spec.domains);
            if let Some(index) = loads.iter().position(|l| l.name == *name) {
                let known = loads[index].states.iter().map(|s| s.name.as_str());
                point.load_states[index] = state(name, known, wanted)?;
            } else if let Some(index) = domains.iter().position(|d| d.name == *name) {
                let known = domains[index].states.iter().map(|s| s.name.as_str());
                let state = state(name, ["on"].into_iter().chain(known), wanted)?;
                point.asleep[index] = state.checked_sub(1);
            } else {
                let names = loads.iter().map(|l| l.name.as_str());
                let names = names.chain(domains.iter().map(|d| d.name.as_str()));
                return Err(self.no_such("block that runs no network, or domain,", name, names));
            }
        }
        Ok(point)
    }

    /// Regulators ordered so that each stands behind those that draw from its output.
    fn leaves_first(&self, regulators: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut waiting: Vec<usize> = regulators.collect();
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let drawn_from = |r: usize| {
                let output = self.links.regulator_rails[r].1;
                waiting.iter().any(|w| self.links.regulator_rails[*w].0 == output)
            };
            let (leaves, rest): (Vec<_>, Vec<_>) = waiting.iter().partition(|r| !drawn_from(**r));
            if leaves.is_empty() {
                break; // A rail loop, which checking excludes.
            }
            ordered.extend(leaves);
            waiting = rest;
        }
        ordered
    }

    /// For each engine the index of its software stack: the one called `name` where it fits, else
    /// the engine's first.
    pub fn stacks(&self, name: Option<&str>) -> Result<Vec<Option<usize>>, HardwareError> {
        let software = &self.spec.software;
        if let Some(name) = name
            && !software.iter().any(|s| s.name == name)
        {
            return Err(self.no_such("software", name, software.iter().map(|s| s.name.as_str())));
        }
        let of_engine = |engine: usize| {
            let mut candidates =
                (0..software.len()).filter(|s| self.links.stack_engines[*s].contains(&engine));
            let wanted = candidates.clone().find(|s| Some(software[*s].name.as_str()) == name);
            wanted.or_else(|| candidates.next())
        };
        Ok((0..self.spec.engines.len()).map(of_engine).collect())
    }

    /// True when the stack of a programmable engine fuses operators.
    pub fn fuses(&self, stacks: &[Option<usize>]) -> bool {
        let mut used = stacks.iter().flatten();
        used.any(|s| self.spec.software.get(*s).is_some_and(|s| s.fuses))
    }

    pub(super) fn no_such<'a>(
        &self,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> HardwareError {
        HardwareError::NoSuch {
            profile: self.spec.name.clone(),
            what,
            name: name.to_owned(),
            nearest: nearest(name, known.clone()).map(str::to_owned),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }

    /// Every number of the profile, in a fixed order.
    pub fn parameters(&self) -> Vec<ParameterRecord> {
        let mut records = Vec::new();
        self.spec.clone().walk(&mut FieldPath::root(), &mut |path, parameter| {
            let path = path.to_string();
            let name = self.spec.named_path(&path);
            records.push(ParameterRecord { path, name, parameter: parameter.clone() });
        });
        records
    }

    /// A profile with every number passed through `change`, which sees its index in
    /// [`Profile::parameters`] and its value in SI. At a corner, what its factors scaled goes with them,
    /// and its temperature is the junction's.
    pub fn perturbed(&self, change: impl FnMut(usize, f64) -> f64) -> Self {
        let mut copy = self.clone();
        copy.move_from(self, &self.values(), change);
        copy
    }

    /// The values of [`Profile::parameters`].
    pub(super) fn values(&self) -> Vec<f64> {
        let mut values = Vec::new();
        self.spec.clone().walk(&mut FieldPath::unspelled(), &mut |_, parameter| {
            values.push(parameter.value);
        });
        values
    }

    /// Makes a copy of the profile `before`, whatever was done to its numbers, that profile with every
    /// number passed through `change`; `values` are those of `before`.
    pub(super) fn move_from(
        &mut self,
        before: &Self,
        values: &[f64],
        mut change: impl FnMut(usize, f64) -> f64,
    ) {
        let mut moved = Vec::new();
        self.visit(values, |index, parameter, before| {
            parameter.value = change(index, before);
            if parameter.value.to_bits() != before.to_bits() {
                moved.push((index, parameter.value));
            }
        });
        if self.corner.is_some() {
            self.follow_corner(before);
            moved.clear();
            self.visit(values, |index, parameter, before| {
                if parameter.value.to_bits() != before.to_bits() {
                    moved.push((index, parameter.value));
                }
            });
        }
        self.identity = before.identity.moved(moved);
    }

    /// Goes through all numbers with their places and with values of before.
    fn visit(&mut self, before: &[f64], mut each: impl FnMut(usize, &mut Parameter, f64)) {
        let mut numbers = before.iter().enumerate();
        self.spec.walk(&mut FieldPath::unspelled(), &mut |_, parameter| {
            if let Some((index, before)) = numbers.next() {
                each(index, parameter, *before);
            }
        });
    }

    /// The profile with an engine whose transfers go on beside its work.
    pub fn double_buffered(&self, engine: usize) -> Self {
        let mut copy = self.clone();
        if let Some(engine) = copy.spec_mut().engines.get_mut(engine) {
            engine.transfers = Transfers::DoubleBuffered;
        }
        copy
    }

    /// Share of the profile's numbers that rest on evidence. A condition without a source of its own is
    /// part of the number that it is stated for.
    pub fn sourced_share(&self) -> f64 {
        let records = self.parameters();
        let kinds: Vec<Kind> = records
            .iter()
            .filter(|r| r.parameter.is_statement())
            .map(|r| r.parameter.kind)
            .collect();
        let sound = kinds.iter().filter(|k| k.is_evidence()).count();
        if kinds.is_empty() { 0.0 } else { sound as f64 / kinds.len() as f64 }
    }
}

/// The number of a state among those of a block.
fn state<'a>(
    block: &str,
    mut known: impl Iterator<Item = &'a str> + Clone,
    wanted: &str,
) -> Result<usize, HardwareError> {
    let names = known.clone();
    known.position(|s| s == wanted).ok_or_else(|| HardwareError::NoState {
        block: block.to_owned(),
        state: wanted.to_owned(),
        nearest: nearest(wanted, names.clone()).map(str::to_owned),
        known: names.collect::<Vec<_>>().join(", "),
    })
}
