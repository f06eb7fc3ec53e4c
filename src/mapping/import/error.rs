//! What can be wrong with another tool's table, or with laying it on a network.

use super::Tool;
use std::fmt;
use std::path::PathBuf;

/// Where in a file something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the caller named it.
    pub file: String,
    /// The line, from 1; none where the whole file is meant.
    pub line: Option<u64>,
    /// The column, from 1, with its header.
    pub column: Option<(usize, String)>,
}

impl Place {
    /// The whole of a file.
    pub(super) fn file(file: &str) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    /// A line of it.
    pub(super) fn line(file: &str, line: u64) -> Self {
        Self { line: Some(line), ..Self::file(file) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.column {
            Some((number, header)) => write!(f, ", column {number} ({header})"),
            None => Ok(()),
        }
    }
}

/// Why a table was not read, or is not a table of the network.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system gave no file.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A file, and what is wrong there.
    #[error("{}", shown(place, fault))]
    Table {
        /// Where.
        place: Box<Place>,
        /// What.
        fault: TableFault,
    },
    /// The table and the network are not of one model.
    #[error("{}", shown(place, fault))]
    Mismatch {
        /// The row that is off first.
        place: Box<Place>,
        /// What is off.
        fault: Mismatch,
    },
    /// A level of the table has no memory in the profile.
    #[error(
        "the profile has no memory for level `{level}` of {tool}\nhelp: say which it is, as --table-level {level}=NAME: {known}"
    )]
    NoMemory {
        /// The tool.
        tool: Tool,
        /// The level.
        level: String,
        /// Memories of the engine.
        known: String,
    },
    /// The caller names something that is not there.
    #[error("{what} `{name}` is not there\nhelp: {help}")]
    NoSuch {
        /// What was named.
        what: &'static str,
        /// Its name.
        name: String,
        /// The nearest, or all that there are.
        help: String,
    },
    /// Words of a level are of unknown width.
    #[error(
        "how wide a word of level `{level}` is does not stand in the table, and {why}\nhelp: say so, as --table-word {level}=BYTES"
    )]
    NoWidth {
        /// The level.
        level: String,
        /// Why the profile does not tell.
        why: String,
    },
    /// A width of a word that none has.
    #[error("a word of level `{level}` of {bytes} B: expected above 0 and up to 1 MiB")]
    Width {
        /// The level.
        level: String,
        /// What was given.
        bytes: f64,
    },
    /// No cost is given for a level.
    #[error("level `{level}` has no cost of a word")]
    NoCost {
        /// The level.
        level: String,
    },
    /// The table gives no cycles.
    #[error("{file} says how much is moved and not how long it takes\nhelp: give {help} too")]
    NoCycles {
        /// The file.
        file: String,
        /// The file that has them.
        help: &'static str,
    },
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TableFault {
    /// No reader knows it.
    #[error(
        "this is no table that is read here\nhelp: known are per-layer.csv with summary.csv of Vela, complete.json or a table of word accesses of ZigZag, and the reports of SCALE-Sim{}",
        if found.is_empty() { String::new() } else { format!("; this one starts with {found}") }
    )]
    Unknown {
        /// The first headers.
        found: String,
    },
    /// Not text, or too much of it.
    #[error("{0}")]
    NotText(&'static str),
    /// A folder without a table.
    #[error("there is no table of Vela, ZigZag or SCALE-Sim in this folder")]
    NoTable,
    /// Tables of two tools.
    #[error("tables of {first} and of {second} are given together\nhelp: give those of one tool")]
    TwoTools {
        /// One.
        first: Tool,
        /// The other.
        second: Tool,
    },
    /// Two files that say the same.
    #[error("this is a second {what}, besides {first}\nhelp: give the files of one run")]
    Second {
        /// What it is.
        what: &'static str,
        /// The first.
        first: String,
    },
    /// A column is not there.
    #[error(
        "there is no column `{wanted}`{}",
        near.as_ref().map_or(String::new(), |near| format!("\nhelp: is it `{near}`?"))
    )]
    NoColumn {
        /// Its header.
        wanted: &'static str,
        /// The header that is near.
        near: Option<String>,
    },
    /// A cell is no number, or none that this can be.
    #[error("`{text}` {reason}")]
    Number {
        /// The cell.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// A row ends before the header does.
    #[error(
        "this row has {cells} cells, and the header has {columns}\nhelp: is the file cut short?"
    )]
    Short {
        /// Cells of the row.
        cells: usize,
        /// Those of the header.
        columns: usize,
    },
    /// A row goes on behind the header.
    #[error("`{text}` stands behind the last of {columns} columns")]
    Surplus {
        /// What stands there.
        text: String,
        /// Columns of the header.
        columns: usize,
    },
    /// More than any network has.
    #[error("more than {most} {what}: this is no table of layers")]
    TooMany {
        /// Rows or columns.
        what: &'static str,
        /// The most that are read.
        most: usize,
    },
    /// Nothing below the header.
    #[error("there is no layer in this table")]
    NoRows,
    /// The file is not the JSON that it should be.
    #[error("{0}")]
    Json(String),
    /// Sums of rows are not what another file says.
    #[error(
        "the {what} of all rows are {sum}, and {stated_in} says {stated}\nhelp: is the file cut short, or of another run?"
    )]
    Sum {
        /// What is summed up.
        what: &'static str,
        /// The sum.
        sum: f64,
        /// What it should be.
        stated: f64,
        /// Where that stands.
        stated_in: String,
    },
    /// A row of one file has no partner in another.
    #[error("{what} `{name}` has no row in {other}")]
    NoPartner {
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
        /// The other file.
        other: String,
    },
}

/// What is off between a table and a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A row and the layer at its place are not one.
    #[error(
        "{row} is not layer {number} of {network}, {layer}{}",
        near.as_ref().map_or(String::new(), |near| format!("\nhelp: {near}"))
    )]
    Differs {
        /// The row, in words.
        row: String,
        /// The network.
        network: String,
        /// Place of the layer, from 1.
        number: usize,
        /// The layer, in words.
        layer: String,
        /// Where a layer like the row stands.
        near: Option<String>,
    },
    /// A row behind the last layer.
    #[error("{row} comes behind the last layer of {network}{}",
        near.as_ref().map_or(String::new(), |near| format!("\nhelp: {near}")))]
    Surplus {
        /// The row, in words.
        row: String,
        /// The network.
        network: String,
        /// Where a layer like the row stands.
        near: Option<String>,
    },
    /// A layer that no row is left for.
    #[error(
        "the table ends before layer {number} of {network}, {layer}\nhelp: is the file cut short, or of another model?"
    )]
    Missing {
        /// The network.
        network: String,
        /// Place of the layer, from 1.
        number: usize,
        /// The layer, in words.
        layer: String,
    },
    /// No layer has the name of a row in a table without order.
    #[error("no layer of {network} is called like {row}{}",
        near.as_ref().map_or(String::new(), |near| format!("\nhelp: {near}")))]
    NoName {
        /// The row, in words.
        row: String,
        /// The network.
        network: String,
        /// The nearest name.
        near: Option<String>,
    },
}

/// What is wrong, where, and what to do about it.
fn shown(place: &Place, fault: &impl fmt::Display) -> String {
    let said = fault.to_string();
    match said.split_once("\nhelp: ") {
        Some((message, help)) => format!("{message}\n --> {place}\n  = help: {help}"),
        None => format!("{said}\n --> {place}"),
    }
}

impl TableFault {
    /// The fault at a place.
    pub(super) fn at(self, place: Place) -> ImportError {
        ImportError::Table { place: Box::new(place), fault: self }
    }
}
