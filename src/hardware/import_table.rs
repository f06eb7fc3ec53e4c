//! A table of block power, as a spreadsheet has it, read as state loads.
//!
//! One row is a block in a mode: voltage, dynamic power, leakage power, and the rail. Columns are known
//! by their names; units stand in the header (`dynamic [mW]`), in a row below it, or in the cells. An
//! empty block cell repeats the block above. Rows called total are held against the sum of the others.
//! What could not be read is reported together, each fault with its line and column.

mod cells;
mod columns;
mod error;
mod fragment;
mod header;
mod number;
mod onto;
mod plausible;
mod repeated;
mod rows;
mod seen;
mod totals;

pub use error::{LocatedFault, TableError, TableFault};
pub use fragment::{Terms, profile_fragment, profile_onto};
pub use totals::TotalCheck;

use crate::diagnostic::nearest;
use crate::units::{Celsius, Hertz, Volts, Watts};

/// A quantity of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<Q> {
    /// Number and unit, as a profile writes them.
    pub written: String,
    /// The quantity.
    pub value: Q,
}

/// A block in a mode.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMode {
    /// Name of the mode.
    pub name: String,
    /// Line of the file.
    pub line: u64,
    /// The voltage that the powers hold at.
    pub voltage: Reading<Volts>,
    /// Switching power.
    pub dynamic: Reading<Watts>,
    /// Leakage power.
    pub leakage: Option<Reading<Watts>>,
    /// Temperature that the leakage holds at.
    pub temperature: Option<Reading<Celsius>>,
    /// Clock that the dynamic power holds at.
    pub frequency: Option<Reading<Hertz>>,
}

/// A block with its modes, in the order of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// The rail that feeds it.
    pub rail: String,
    /// The cell that names the rail: line and column; none where an argument named it.
    pub rail_cell: Option<(u64, usize)>,
    /// The line that names it first.
    pub line: u64,
    /// Its modes.
    pub modes: Vec<BlockMode>,
}

/// A column whose name is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadColumn {
    /// Its letter.
    pub letter: String,
    /// Its header.
    pub header: String,
    /// A name near to its own, of a column that the table has not.
    pub near: Option<&'static str>,
    /// True where it has a unit of power.
    pub power: bool,
}

/// What a table says.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockTable {
    /// Its file, as the caller named it.
    pub file: String,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Columns that were not read.
    pub unread: Vec<UnreadColumn>,
    /// Rows that hold sums.
    pub totals: Vec<TotalCheck>,
    /// What was taken to be meant.
    pub notes: Vec<String>,
    headers: Vec<String>,
    /// Line and column of the unit of voltage.
    voltage_unit: (u64, usize),
}

impl BlockTable {
    /// Reads a table. `file` is what errors call it; `rail` feeds blocks whose row names none.
    ///
    /// # Errors
    /// It is no text, or has faults: all of them together.
    pub fn read(file: &str, bytes: &[u8], rail: Option<&str>) -> Result<Self, TableError> {
        let text = rows::decoded(file, bytes)?;
        let rows = rows::rows(&text);
        rows::bounded(file, &rows)?;
        cells::read(file, &rows, rail)
    }

    /// Rails that feed the blocks, each once, in the order of the table.
    pub fn rails(&self) -> Vec<&str> {
        let mut rails: Vec<&str> = Vec::new();
        for block in &self.blocks {
            if !rails.contains(&block.rail.as_str()) {
                rails.push(&block.rail);
            }
        }
        rails
    }

    /// Whether some block has the mode `wanted`.
    ///
    /// # Errors
    /// None has.
    pub fn has_mode(&self, wanted: &str) -> Result<(), TableError> {
        let modes = || self.blocks.iter().flat_map(|b| &b.modes).map(|mode| mode.name.as_str());
        if modes().any(|mode| mode == wanted) {
            return Ok(());
        }
        let near = nearest(wanted, modes()).map(str::to_owned);
        Err(TableError::NoSuchMode { file: self.file.clone(), mode: wanted.to_owned(), near })
    }

    /// What to look at: columns that were not read, what was taken to be meant, and sums that are not
    /// those of their rows; a line each.
    pub fn remarks(&self) -> Vec<String> {
        let unread = self.unread.iter().map(|UnreadColumn { letter, header, near, power }| {
            let said = match near {
                Some(near) => format!("; did you mean `{near}`?"),
                None if *power => "; it could be a power: dynamic or leakage?".to_owned(),
                None => String::new(),
            };
            format!("not read: column {letter} ({header}){said}")
        });
        let notes = self.notes.iter().map(|note| format!("note: {note}"));
        let totals = self.totals.iter().filter(|total| !total.agrees).map(|total| {
            let TotalCheck { line, of, stated, sum, .. } = total;
            let (stated, sum) = (*stated, *sum);
            let (more, off) = if sum > stated { ("less", sum - stated) } else { ("more", stated - sum) };
            format!(
                "TOTAL DIFFERS: line {line}: {of} is said to be {stated}, its rows add up to {sum}: {off} {more} than the rows"
            )
        });
        unread.chain(notes).chain(totals).collect()
    }

    /// Number of blocks in modes.
    pub fn modes(&self) -> usize {
        self.blocks.iter().map(|b| b.modes.len()).sum()
    }
}

/// A column as a spreadsheet letters it.
fn letter(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column;
    loop {
        letters.push(char::from(b'A' + (rest % 26) as u8));
        match (rest / 26).checked_sub(1) {
            Some(next) => rest = next,
            None => break,
        }
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests;
