//! A table held against the profile it is to extend.

use super::{Block, BlockTable, LocatedFault, Reading, TableError, TableFault, letter};
use crate::diagnostic::nearest;
use crate::hardware::Profile;
use crate::units::Volts;
use std::collections::BTreeSet;

/// A voltage this far from that of its rail is worth a word.
const FAR: f64 = 0.1;

/// A voltage that differs from that of its rail by this factor is a slip.
const SLIP: f64 = 2.0;

/// Letters that are mistyped in one name.
const MISTYPED: usize = 2;

/// A longer name is not compared letter by letter.
const LONGEST_NAME: usize = 100;

impl BlockTable {
    /// Whether the blocks can be loads of `profile`: its rails feed them, or rails that come with them
    /// (`new_rails`), and nothing of theirs has a name that is taken. Voltages that differ from those of
    /// the rails are noted; those that differ by more than a factor of two are slips.
    ///
    /// # Errors
    /// All blocks that cannot.
    pub fn fits(&mut self, profile: &Profile, new_rails: bool) -> Result<(), TableError> {
        let mut faults = Vec::new();
        let taken = taken(profile);
        for block in &self.blocks {
            faults.extend(self.rail_fault(block, profile).filter(|_| !new_rails));
            if taken.contains(&block.name) {
                let (block_name, profile) = (block.name.clone(), profile.spec().name.clone());
                let fault = TableFault::NameTaken { block: block_name, profile };
                faults.push(LocatedFault { line: block.line, column: None, fault });
            }
        }
        faults.extend(self.slips(profile));
        if !faults.is_empty() {
            faults.sort_by_key(|fault| fault.line);
            return Err(TableError::Faults { file: self.file.clone(), faults });
        }
        let mut notes: Vec<String> =
            self.blocks.iter().filter_map(|block| far(block, profile)).collect();
        notes.extend(self.new_rails(profile).into_iter().filter_map(|rail| {
            let voltage = &self.highest_voltage(rail)?.written;
            let near = mistyped(rail, profile).map_or(String::new(), |near| {
                format!("; the profile has `{near}`: is that meant?")
            });
            Some(format!("rail `{rail}` is new: an ideal supply at {voltage}, the highest stated, at every operating point{near}"))
        }));
        self.notes.extend(notes);
        Ok(())
    }

    /// Rails of the table that the profile lacks.
    pub(super) fn new_rails(&self, profile: &Profile) -> Vec<&str> {
        let known = |rail: &&str| profile.spec().rails.iter().any(|r| r.name == *rail);
        self.rails().into_iter().filter(|rail| !known(rail)).collect()
    }

    /// The highest voltage that blocks on a rail state.
    pub(super) fn highest_voltage(&self, rail: &str) -> Option<&Reading<Volts>> {
        let blocks = self.blocks.iter().filter(|block| block.rail == rail);
        let voltages = blocks.flat_map(|block| &block.modes).map(|mode| &mode.voltage);
        voltages.reduce(|most, next| if next.value > most.value { next } else { most })
    }

    /// Voltages that differ from those of their rails by a factor: of each block the first, and of a table
    /// where all do so, one at the unit of the column.
    fn slips(&self, profile: &Profile) -> Vec<LocatedFault> {
        let (line, column) = self.voltage_unit;
        let label = (letter(column), self.headers.get(column).cloned().unwrap_or_default());
        let slips = self.blocks.iter().filter_map(|block| {
            let (mode, fault) = slip(block, profile)?;
            Some(LocatedFault { line: mode, column: Some(label.clone()), fault })
        });
        let mut slips: Vec<_> = slips.collect();
        let known = |block: &&Block| !voltages(block, profile).is_empty();
        if slips.len() > 1 && slips.len() == self.blocks.iter().filter(known).count() {
            slips.truncate(1);
            slips.iter_mut().for_each(|fault| fault.line = line);
        }
        slips
    }

    fn rail_fault(&self, block: &Block, profile: &Profile) -> Option<LocatedFault> {
        let rails: Vec<&str> = profile.spec().rails.iter().map(|r| r.name.as_str()).collect();
        if rails.contains(&block.rail.as_str()) {
            return None;
        }
        let help = match nearest(&block.rail, rails.iter().copied()) {
            Some(near) => {
                format!("did you mean `{near}`? --new-rails adds rails that are not there")
            }
            None => format!("it has {}; --new-rails adds the others", rails.join(", ")),
        };
        let (rail, profile) = (block.rail.clone(), profile.spec().name.clone());
        let (line, column) =
            block.rail_cell.map_or((block.line, None), |(line, column)| (line, Some(column)));
        let column = column.map(|c| (letter(c), self.headers.get(c).cloned().unwrap_or_default()));
        Some(LocatedFault { line, column, fault: TableFault::UnknownRail { rail, profile, help } })
    }
}

/// Names that a trace of the profile uses.
fn taken(profile: &Profile) -> BTreeSet<String> {
    let spec = profile.spec();
    let mut names = BTreeSet::from(["total".to_owned()]);
    names.extend(spec.engines.iter().map(|e| e.name.clone()));
    names.extend((0..profile.channels()).map(|c| profile.channel_name(c).to_owned()));
    names.extend(spec.loads.iter().map(|l| l.name.clone()));
    let parts = ["clock", "leakage", "rest"];
    let domains = spec.domains.iter().flat_map(|d| parts.map(|p| format!("{}_{p}", d.name)));
    names.extend(domains);
    names.extend(spec.regulators.iter().map(|r| format!("{}_loss", r.name)));
    names
}

/// A block whose voltage is not that of its rail at any operating point.
fn far(block: &Block, profile: &Profile) -> Option<String> {
    let of_rail = voltages(block, profile);
    if of_rail.is_empty() {
        return None;
    }
    let near = |v: f64| of_rail.iter().any(|rail| (v / rail - 1.0).abs() <= FAR);
    let mode = block.modes.iter().find(|m| !near(m.voltage.value.0))?;
    let (name, written, rail) = (&block.name, &mode.voltage.written, &block.rail);
    Some(format!(
        "line {}: `{name}` is stated at {written}, and rail `{rail}` is at another voltage at every operating point: its dynamic power goes with the square of the voltage",
        mode.line
    ))
}

/// The rail of the profile that differs from a new one by a slip or two of the keyboard. `vdd_radio` is
/// none of `vdd`.
fn mistyped<'a>(rail: &str, profile: &'a Profile) -> Option<&'a str> {
    let known = profile.spec().rails.iter().map(|r| r.name.as_str());
    let known = known.filter(|name| name.len() < LONGEST_NAME && rail.len() < LONGEST_NAME);
    let known = known.map(|name| (strsim::damerau_levenshtein(rail, name), name));
    let slips = rail.chars().count().min(2 * MISTYPED + 1) / 2;
    known.filter(|(slip, _)| *slip <= slips.min(MISTYPED)).min().map(|(_, name)| name)
}

/// Voltages of the rail of a block, at all operating points.
fn voltages(block: &Block, profile: &Profile) -> Vec<f64> {
    let spec = profile.spec();
    let points = spec.operating_points.iter();
    points.filter_map(|p| spec.rail_voltage(p, &block.rail)).map(|v| v.get().0).collect()
}

/// The first mode of a block whose voltage is off by a factor from that of its rail: its line, and what is
/// wrong.
fn slip(block: &Block, profile: &Profile) -> Option<(u64, TableFault)> {
    let of_rail = voltages(block, profile);
    let lowest = of_rail.iter().copied().reduce(f64::min)?;
    let highest = of_rail.iter().copied().reduce(f64::max)?;
    let near = |v: f64| of_rail.iter().any(|rail| v <= rail * SLIP && v * SLIP >= *rail);
    let mode = block.modes.iter().find(|m| !near(m.voltage.value.0))?;
    let (rail, profile) = (&block.rail, &profile.spec().name);
    let mut rail = format!("rail `{rail}` of profile `{profile}` is at {}", Volts(lowest));
    if highest > lowest {
        rail.push_str(&format!(" to {}", Volts(highest)));
    }
    let (block, stated) = (block.name.clone(), mode.voltage.written.clone());
    let fault = TableFault::FarVoltage { block, mode: mode.name.clone(), stated, rail };
    Some((mode.line, fault))
}
