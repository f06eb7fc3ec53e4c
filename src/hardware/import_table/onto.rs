//! A table held against the profile it is to extend.

use super::{Block, BlockTable, LocatedFault, Reading, TableError, TableFault, letter};
use crate::diagnostic::nearest;
use crate::hardware::Profile;
use crate::units::Volts;
use std::collections::BTreeSet;

/// A voltage this far from that of its rail is worth a word.
const FAR: f64 = 0.1;

impl BlockTable {
    /// Whether the blocks can be loads of `profile`: its rails feed them, or rails that come with them
    /// (`new_rails`), and nothing of theirs has a name that is taken. Voltages that differ from those of
    /// the rails are noted.
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
        if !faults.is_empty() {
            return Err(TableError::Faults { file: self.file.clone(), faults });
        }
        let mut notes: Vec<String> =
            self.blocks.iter().filter_map(|block| far(block, profile)).collect();
        notes.extend(self.new_rails(profile).into_iter().filter_map(|rail| {
            let voltage = &self.highest_voltage(rail)?.written;
            Some(format!("rail `{rail}` is new: an ideal supply at {voltage}, the highest stated, at every operating point"))
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
    let of_rail =
        profile.spec().operating_points.iter().filter_map(|p| p.voltages.get(&block.rail));
    let of_rail: Vec<f64> = of_rail.map(|v| v.get().0).collect();
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
