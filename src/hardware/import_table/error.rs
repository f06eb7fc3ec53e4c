//! What can be wrong with a table.

/// Why a table was not read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The bytes are not a table of text.
    #[error("{file}: {reason}")]
    NotText {
        /// The file as the caller named it.
        file: String,
        /// What they are.
        reason: String,
    },
    /// No block has the mode that blocks are to be in at first.
    #[error("no block of {file} has a mode `{mode}`{}", .near.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")))]
    NoSuchMode {
        /// The file as the caller named it.
        file: String,
        /// The mode.
        mode: String,
        /// The nearest that there is.
        near: Option<String>,
    },
    /// The table has faults, in the order of its lines.
    #[error("{}", listed(.file, .faults))]
    Faults {
        /// The file as the caller named it.
        file: String,
        /// All of them.
        faults: Vec<LocatedFault>,
    },
}

/// A fault with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFault {
    /// The line, from 1.
    pub line: u64,
    /// Letter and header of the column; none for a fault of the row.
    pub column: Option<(String, String)>,
    /// What is wrong there.
    pub fault: TableFault,
}

/// Each fault as those of a profile are shown: what is wrong, where, and what to do about it.
fn listed(file: &str, faults: &[LocatedFault]) -> String {
    let shown = faults.iter().map(|fault| {
        let column = fault.column.as_ref().map_or_else(String::new, |(letter, header)| {
            let header = if header.is_empty() { String::new() } else { format!(" ({header})") };
            format!(", column {letter}{header}")
        });
        let said = fault.fault.to_string();
        let (message, help) = match said.split_once("\nhelp: ") {
            Some((message, help)) => (message, format!("\n  = help: {help}")),
            None => (said.as_str(), String::new()),
        };
        format!("error: {message}\n --> {file}:{}{column}{help}", fault.line)
    });
    let mut text = shown.collect::<Vec<_>>().join("\n\n");
    if faults.len() > 1 {
        text.push_str(&format!("\n\n{} faults in {file}", faults.len()));
    }
    text
}

/// What is wrong with a row or a cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableFault {
    /// A column that is needed is not there.
    #[error("no column for the {what} is known here\nhelp: call it {accepted}{}", besides(.found, .near, .powers))]
    NoColumn {
        /// What it would hold.
        what: &'static str,
        /// Names it goes by.
        accepted: String,
        /// Headers of the table.
        found: String,
        /// The header that is near.
        near: Option<String>,
        /// Columns that are not read and have a unit of power, where a power is looked for.
        powers: Vec<String>,
    },
    /// Two columns say the same.
    #[error("this is a second column for the {what}, besides column {first}: leave one out")]
    TwoColumns {
        /// What they hold.
        what: &'static str,
        /// Letter and header of the first.
        first: String,
    },
    /// A column of quantities has no unit.
    #[error(
        "the {what} has no unit\nhelp: write it into the header, such as `{header} [{example}]`, or into a row below"
    )]
    NoUnit {
        /// What the column holds.
        what: &'static str,
        /// Its header.
        header: String,
        /// A unit that it could have.
        example: &'static str,
    },
    /// The unit is unknown, or of another dimension.
    #[error("{reason}")]
    Unit {
        /// In words.
        reason: String,
    },
    /// A cell is not a number.
    #[error("`{text}` is not a number")]
    NotANumber {
        /// The cell.
        text: String,
    },
    /// A number is written in a way that can be read as two.
    #[error("`{text}` {reason}")]
    Separator {
        /// The cell.
        text: String,
        /// Why.
        reason: &'static str,
    },
    /// A number is below zero.
    #[error("a {what} of {text} is below zero")]
    Negative {
        /// What it is.
        what: &'static str,
        /// The cell.
        text: String,
    },
    /// A mode without a voltage.
    #[error("`{block}` in mode `{mode}` has no voltage")]
    NoVoltage {
        /// The block.
        block: String,
        /// The mode.
        mode: String,
    },
    /// A mode with power at no voltage.
    #[error(
        "`{block}` in mode `{mode}` draws power at zero volt: powers need the voltage they hold at"
    )]
    ZeroVoltage {
        /// The block.
        block: String,
        /// The mode.
        mode: String,
    },
    /// A mode without power.
    #[error("`{block}` in mode `{mode}` has no power: write 0 where it draws none")]
    NoPower {
        /// The block.
        block: String,
        /// The mode.
        mode: String,
    },
    /// A row with numbers and no mode.
    #[error("a row of `{block}` has no mode{}", .total.as_ref().map_or(String::new(), |rest| format!("\nhelp: a sum is called `Total`, or `Total` and a mode of the table: it has none called `{rest}`")))]
    NoMode {
        /// The block.
        block: String,
        /// What stands behind `Total` in its name, where it starts so.
        total: Option<String>,
    },
    /// A row with numbers before any block.
    #[error("this row has no block, and no row above it has one")]
    NoBlock,
    /// A name with characters that cannot be printed.
    #[error("the name of the {what} has characters that cannot be printed")]
    NotPrintable {
        /// What it names.
        what: &'static str,
    },
    /// A block without a rail.
    #[error(
        "`{block}` has no rail\nhelp: write one into this cell, or give --rail NAME for blocks without"
    )]
    NoRail {
        /// The block.
        block: String,
    },
    /// A block on two rails.
    #[error(
        "`{block}` is on rail `{first}` in line {line} and on `{rail}` here\nhelp: a block has one rail: give its parts names of their own"
    )]
    TwoRails {
        /// The block.
        block: String,
        /// The rail above.
        first: String,
        /// The line above.
        line: u64,
        /// The rail here.
        rail: String,
    },
    /// A block is in the same mode in two rows.
    #[error("`{block}` in mode `{mode}` is in line {line} already")]
    Twice {
        /// The block.
        block: String,
        /// The mode.
        mode: String,
        /// The line of the first.
        line: u64,
    },
    /// A block, or a mode of one, is called like another but for capital letters.
    #[error(
        "the {what} `{name}` differs from `{first}` in line {line} in capital letters only\nhelp: write both the same way, or give one another name"
    )]
    OnlyCase {
        /// What it names.
        what: &'static str,
        /// The name here.
        name: String,
        /// The name above.
        first: String,
        /// The line above.
        line: u64,
    },
    /// A row has more cells than the header.
    #[error(
        "`{text}` stands in cell {cell} of a row, and the header has {columns}\nhelp: a comma within a cell makes two of it: put the cell in quotes"
    )]
    Surplus {
        /// What stands there.
        text: String,
        /// Which cell it is, from 1.
        cell: usize,
        /// Columns of the header.
        columns: usize,
    },
    /// A quantity that no block has.
    #[error("{what} of {text}: {reason}")]
    Implausible {
        /// What it is, with its article.
        what: String,
        /// The cell with its unit.
        text: String,
        /// Why, and what may be meant.
        reason: &'static str,
    },
    /// A voltage far from those of its rail.
    #[error(
        "`{block}` in mode `{mode}` is stated at {stated}, and {rail}\nhelp: is the unit of this column right?"
    )]
    FarVoltage {
        /// The block.
        block: String,
        /// The mode.
        mode: String,
        /// Its voltage, as written.
        stated: String,
        /// The rail with its voltages, in words.
        rail: String,
    },
    /// The profile has no such rail.
    #[error("profile `{profile}` has no rail `{rail}`\nhelp: {help}")]
    UnknownRail {
        /// The rail.
        rail: String,
        /// The profile.
        profile: String,
        /// The nearest of its rails, or all.
        help: String,
    },
    /// The profile has something of this name.
    #[error(
        "profile `{profile}` has something called `{block}` in a trace already\nhelp: give the block another name"
    )]
    NameTaken {
        /// The block.
        block: String,
        /// The profile.
        profile: String,
    },
    /// No row has a block.
    #[error("there is no row of a block below the header")]
    NoRows,
}

fn besides(headers: &str, near: &Option<String>, powers: &[String]) -> String {
    if let (None, [first, ..]) = (near, powers) {
        let verb = if powers.len() == 1 { "has" } else { "have" };
        let columns = powers.join(", ");
        return format!(
            "; {columns} {verb} a unit of power: which one is it? call it, for example, `dynamic {first}` or `leakage {first}`",
            first = first.trim_matches('`')
        );
    }
    match near {
        Some(near) => format!("; is it `{near}`?"),
        None if headers.is_empty() => String::new(),
        None => format!("; this table has {headers}"),
    }
}
