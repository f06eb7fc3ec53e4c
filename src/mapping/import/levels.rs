//! Which memory of the profile a level of a table is, and how wide its words are.
//!
//! What the caller says goes first. Otherwise a level that a tool names (`sram`, `dram`, a flash) is the first
//! of the engine's memories that is called so or of that sort, else one on or off the chip as the level is (for a
//! flash, the one that holds the weights).
//! ZigZag's levels have places from the datapath outwards. Where a document says what their memories are called,
//! the profile's of that name is taken; else the outermost of an operand is where the profile keeps it, the
//! next one inwards its buffer. A level that is read at least as often as there are
//! multiply-accumulates stands beside each multiplier and is no memory of the profile: its energy is the
//! engine's own.

use super::{Access, AccessUnit, ImportError, ImportedTable};
use crate::cost::Setting;
use crate::diagnostic::nearest;
use crate::hardware::{Bandwidth, Precision};
use crate::mapping::{MemoryPlan, Network, memory_plan};
use crate::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A word wider than that is none.
const WIDEST: f64 = 1_048_576.0;

/// Name of no memory, for a level that is to be left out.
const NONE: &str = "none";

/// What the caller says of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choices {
    /// The engine that it is of; the one that takes most of the network's multiply-accumulates when left
    /// out.
    pub engine: Option<String>,
    /// The memory that each level is, by the level's name; `none` for none.
    pub levels: BTreeMap<String, String>,
    /// Bytes of a word of each level.
    pub words: BTreeMap<String, f64>,
}

/// Where the accesses of a level go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Home {
    /// The memory; none for what the engine's own energy holds.
    pub(super) memory: Option<usize>,
    /// Bytes of a word that is read and of one that is written; none for as many as an element of the
    /// layer has.
    pub(super) word: Option<(f64, f64)>,
}

/// Homes of all levels of a table, by level and operand.
pub(super) type Homes = BTreeMap<(String, Option<String>), Home>;

/// Finds the homes of all levels.
pub(super) fn homes(
    table: &ImportedTable,
    network: &Network,
    engine: usize,
    choices: &Choices,
    setting: Setting<'_>,
    notes: &mut Vec<String>,
) -> Result<Homes, ImportError> {
    let accessed = accessed(table);
    known(&accessed, choices)?;
    let plan = memory_plan(network, engine, setting.profile);
    let finder = Finder { table, engine, choices, setting, plan, accessed: &accessed };
    let mut homes = Homes::new();
    for (key, (read, write)) in &accessed {
        let memory = finder.memory(key, *read)?;
        let word = match memory {
            Some(memory) => finder.word(key, memory)?,
            None => None,
        };
        notes.push(finder.said(key, memory, word, read + write));
        homes.insert(key.clone(), Home { memory, word });
    }
    Ok(homes)
}

type Key = (String, Option<String>);

/// Reads and writes by level and operand, of those that are accessed at all.
fn accessed(table: &ImportedTable) -> BTreeMap<Key, (f64, f64)> {
    let mut sums: BTreeMap<Key, (f64, f64)> = BTreeMap::new();
    for Access { level, operand, read, write, .. } in
        table.layers.iter().flat_map(|layer| &layer.accesses)
    {
        if read + write > 0.0 {
            let sum = sums.entry((level.clone(), operand.clone())).or_default();
            *sum = (sum.0 + read, sum.1 + write);
        }
    }
    sums
}

/// Levels that the caller names are there.
fn known(accessed: &BTreeMap<Key, (f64, f64)>, choices: &Choices) -> Result<(), ImportError> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (level, operand) in accessed.keys() {
        names.insert(level.clone());
        names.extend(operand.as_ref().map(|operand| format!("{level}.{operand}")));
    }
    for name in choices.levels.keys().chain(choices.words.keys()) {
        if !names.contains(name) {
            let near = nearest(name, names.iter().map(String::as_str));
            let all = || names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the table has accesses of {}", all()),
            };
            return Err(ImportError::NoSuch { what: "level", name: name.clone(), help });
        }
    }
    Ok(())
}

struct Finder<'a> {
    table: &'a ImportedTable,
    engine: usize,
    choices: &'a Choices,
    setting: Setting<'a>,
    plan: Arc<MemoryPlan>,
    accessed: &'a BTreeMap<Key, (f64, f64)>,
}

impl Finder<'_> {
    /// What the caller says of a level, of this operand or of all.
    fn chosen<'b, T>(&self, of: &'b BTreeMap<String, T>, (level, operand): &Key) -> Option<&'b T> {
        let own = operand.as_ref().and_then(|operand| of.get(&format!("{level}.{operand}")));
        own.or_else(|| of.get(level))
    }

    /// Memories that the engine works from.
    fn reached(&self) -> &[usize] {
        self.setting.profile.links().engine_memories.get(self.engine).map_or(&[], Vec::as_slice)
    }

    fn name(&self, memory: usize) -> &str {
        self.setting.profile.channel_name(memory)
    }

    fn memory(&self, key: &Key, read: f64) -> Result<Option<usize>, ImportError> {
        if let Some(name) = self.chosen(&self.choices.levels, key) {
            return self.named(name);
        }
        if let Some(same) = self.called_alike(key) {
            return Ok(Some(same));
        }
        let (level, operand) = key;
        let places = operand.as_deref().and_then(|own| level.strip_prefix(own));
        let found = match places.and_then(|place| place.parse::<usize>().ok()) {
            Some(place) => match self.placed(operand.as_deref().unwrap_or(""), place, read) {
                Placed::Inside => return Ok(None),
                Placed::At(memory) => memory,
            },
            None => self.of_sort(level),
        };
        let missing = || {
            let known: Vec<&str> = self.reached().iter().map(|m| self.name(*m)).collect();
            let (tool, level) = (self.table.tool, level.clone());
            ImportError::NoMemory { tool, level, known: known.join(", ") }
        };
        found.map(Some).ok_or_else(missing)
    }

    /// The memory of the engine that the tool calls by the same name.
    fn called_alike(&self, key: &Key) -> Option<usize> {
        let wanted = self.access(key)?.memory.as_ref()?;
        let same = |memory: &&usize| self.name(**memory).eq_ignore_ascii_case(wanted);
        self.reached().iter().find(same).copied()
    }

    /// The memory of this name.
    fn named(&self, name: &str) -> Result<Option<usize>, ImportError> {
        if name == NONE {
            return Ok(None);
        }
        let memories = &self.setting.profile.spec().memories;
        let names = || memories.iter().map(|m| m.name.as_str());
        let found = names().position(|own| own == name);
        found.map(Some).ok_or_else(|| {
            let all = names().collect::<Vec<_>>().join(", ");
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the profile has {all}"),
            };
            ImportError::NoSuch { what: "memory", name: name.to_owned(), help }
        })
    }

    /// The memory at a place from the datapath outwards.
    fn placed(&self, operand: &str, place: usize, read: f64) -> Placed {
        let macs: f64 = self.table.layers.iter().map(|l| l.macs.unwrap_or(0) as f64).sum();
        if macs > 0.0 && read >= macs {
            return Placed::Inside;
        }
        let home = if operand == "W" { self.plan.weights } else { self.plan.activations };
        let own = self.accessed.keys().filter(|(_, o)| o.as_deref() == Some(operand));
        let places = own.filter_map(|(level, o)| level.strip_prefix(o.as_deref()?)?.parse().ok());
        let outermost = places.max().unwrap_or(place);
        let buffer = |home| self.setting.profile.buffer_between(self.engine, home);
        Placed::At(match outermost - place.min(outermost) {
            0 => home,
            1 => home.and_then(buffer),
            _ => None,
        })
    }

    /// The memory of a sort that a tool names.
    fn of_sort(&self, level: &str) -> Option<usize> {
        let words: &[&str] = match level {
            "sram" => &["sram", "tcm", "buffer", "glb", "spm", "scratch"],
            "dram" => &["dram", "ddr", "hbm"],
            _ => &["flash", "rom", "mram", "xip"],
        };
        let reached = self.reached();
        let called = |exact: bool| {
            move |memory: &&usize| {
                let name = self.name(**memory).to_lowercase();
                if exact { name == level } else { words.iter().any(|word| name.contains(word)) }
            }
        };
        let spec = self.setting.profile.spec();
        let off_chip = |memory: usize| {
            let domain = self.setting.profile.links().channel_domain.get(memory).copied();
            domain.and_then(|d| spec.domains.get(d)).is_some_and(|domain| domain.off_chip)
        };
        // `dram` is in no name of an SRAM, and `sram` in none of a DRAM.
        let outside = matches!(level, "dram" | "off_chip_flash");
        let of_sort = |memory: &&usize| called(false)(memory) && off_chip(**memory) == outside;
        let at_place = |memory: &&usize| off_chip(**memory) == outside;
        let found = reached.iter().find(called(true)).or_else(|| reached.iter().find(of_sort));
        let found = found.or_else(|| reached.iter().find(called(false))).copied();
        found.or_else(|| match level {
            // Where there is no flash, weights are where the profile keeps them.
            "on_chip_flash" | "off_chip_flash" => self.plan.weights.filter(|m| at_place(&m)),
            _ => reached.iter().find(at_place).copied(),
        })
    }

    /// Bytes of a word of a level in a memory.
    fn word(&self, key: &Key, memory: usize) -> Result<Option<(f64, f64)>, ImportError> {
        let level = || key.0.clone();
        if let Some(bytes) = self.chosen(&self.choices.words, key).copied() {
            if !(bytes > 0.0 && bytes <= WIDEST) {
                return Err(ImportError::Width { level: level(), bytes });
            }
            return Ok(Some((bytes, bytes)));
        }
        if let Some((read, write)) = self.access(key).and_then(|access| access.word) {
            let widest = read.max(write);
            if widest > WIDEST {
                return Err(ImportError::Width { level: level(), bytes: widest });
            }
            return Ok(Some((read, write)));
        }
        let both = |bytes: f64| Ok(Some((bytes, bytes)));
        match self.unit(key) {
            AccessUnit::Bytes => both(1.0),
            AccessUnit::Elements => Ok(None),
            AccessUnit::PortWords => {
                let channel = self.setting.profile.channel(memory, self.setting.point);
                match channel.bandwidth {
                    Bandwidth::PerCycle(rate) => both(rate.get().0),
                    Bandwidth::WaitStates(law) => both(law.width.get().0),
                    Bandwidth::PerSecond(_) => {
                        let name = self.name(memory);
                        let why = format!("memory {name} states no bytes a cycle");
                        Err(ImportError::NoWidth { level: level(), why })
                    }
                }
            }
        }
    }

    /// The first access of a level, which is like all others but for its counts.
    fn access(&self, key: &Key) -> Option<&Access> {
        let mut all = self.table.layers.iter().flat_map(|layer| &layer.accesses);
        all.find(|access| access.level == key.0 && access.operand == key.1)
    }

    fn unit(&self, key: &Key) -> AccessUnit {
        self.access(key).map_or(AccessUnit::Bytes, |access| access.unit)
    }

    /// What a level was taken to be, in words.
    fn said(
        &self,
        key: &Key,
        memory: Option<usize>,
        word: Option<(f64, f64)>,
        count: f64,
    ) -> String {
        let (level, operand) = key;
        let level = match operand {
            Some(operand) if !level.starts_with(operand) => format!("{level}.{operand}"),
            _ => level.clone(),
        };
        let Some(memory) = memory else {
            return format!(
                "level {level} ({count} accesses) is no memory here: its energy is the engine's own, or --table-level {level}=NAME"
            );
        };
        let width = match (self.unit(key), word) {
            (AccessUnit::Bytes, _) => String::new(),
            (_, Some((read, write))) if read == write => format!(", {read} B a word"),
            (_, Some((read, write))) => format!(", {read} B a word read and {write} B written"),
            (_, None) => ", a word as wide as an element".to_owned(),
        };
        format!("level {level} of {} is memory {}{width}", self.table.tool, self.name(memory))
    }
}

/// Where a level without a name is.
enum Placed {
    /// Beside the multipliers.
    Inside,
    /// In a memory, if the profile has one there.
    At(Option<usize>),
}

impl Home {
    /// Bytes of so many reads and writes of a layer in this number format.
    pub(super) fn bytes(&self, read: f64, write: f64, precision: Precision) -> (Bytes, Bytes) {
        let element = precision.bits() as f64 / 8.0;
        let (of_read, of_write) = self.word.unwrap_or((element, element));
        (Bytes(read * of_read), Bytes(write * of_write))
    }
}
