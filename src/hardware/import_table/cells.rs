//! From rows to blocks in modes.

use super::columns::Role;
use super::header::Layout;
use super::number::{plain, split};
use super::plausible::doubt;
use super::repeated::{Repeated, Subject};
use super::rows::Row;
use super::seen::{Clash, Names, Seen};
use super::totals::{Stated, Sum, Totals, behind_total, is_total};
use super::{Block, BlockMode, BlockTable, LocatedFault, Reading, TableError, TableFault};
use crate::units::{Celsius, Hertz, Literal, Quantity, Volts, Watts};

/// Name of the mode of a table without modes.
const ONLY_MODE: &str = "on";

/// What stands in a cell that means none.
const NONE: [&str; 7] = ["", "-", "–", "—", "n/a", "N/A", "na"];

pub(super) fn read(file: &str, rows: &[Row], rail: Option<&str>) -> Result<BlockTable, TableError> {
    let mut faults = Vec::new();
    let Some(layout) = Layout::of(rows, rail, &mut faults) else {
        let fault = LocatedFault { line: 1, column: None, fault: TableFault::NoRows };
        return Err(TableError::Faults { file: file.to_owned(), faults: vec![fault] });
    };
    let mut reader = Reader {
        layout: &layout,
        rail,
        faults,
        blocks: Vec::new(),
        notes: Vec::new(),
        repeated: Repeated::default(),
        totals: Totals::default(),
        above: None,
        seen: Seen::default(),
        known: Names::of(rows.iter().skip(layout.first), &layout),
    };
    reader.general_notes(rows);
    // Without its columns no row says anything.
    let known = [Role::Block, Role::Voltage].iter().all(|r| layout.columns.get(*r).is_some());
    if known && reader.power_column().is_some() {
        rows.iter().skip(layout.first).for_each(|row| reader.row(row));
        reader.settle_zero_volts();
        if reader.blocks.is_empty() && reader.faults.is_empty() {
            let fault = TableFault::NoRows;
            reader.faults.push(LocatedFault { line: layout.line, column: None, fault });
        }
    }
    let Reader { mut faults, blocks, mut notes, repeated, totals, .. } = reader;
    notes.extend(repeated.told());
    if !faults.is_empty() {
        faults.sort_by_key(|f| f.line);
        return Err(TableError::Faults { file: file.to_owned(), faults });
    }
    Ok(BlockTable {
        file: file.to_owned(),
        blocks,
        unread: layout.columns.unread.iter().map(|c| layout.unread(*c)).collect(),
        totals: totals.checked(),
        notes,
        headers: layout.headers.iter().map(|h| h.text.clone()).collect(),
        voltage_unit: layout
            .columns
            .get(Role::Voltage)
            .map_or((layout.line, 0), |column| (layout.unit_line(column), column)),
    })
}

struct Reader<'a> {
    layout: &'a Layout,
    rail: Option<&'a str>,
    faults: Vec<LocatedFault>,
    blocks: Vec<Block>,
    notes: Vec<String>,
    repeated: Repeated,
    totals: Totals,
    /// Block of the row above.
    above: Option<String>,
    /// Blocks and modes of the rows above, whether those were at fault or not.
    seen: Seen,
    /// Modes and blocks of the table.
    known: Names,
}

/// Quantities of a row.
struct Quantities {
    voltage: Option<Reading<Volts>>,
    dynamic: Option<Reading<Watts>>,
    leakage: Option<Reading<Watts>>,
    total: Option<Reading<Watts>>,
    frequency: Option<Reading<Hertz>>,
    temperature: Option<Reading<Celsius>>,
}

impl Reader<'_> {
    /// The column of dynamic power: its own, or that of a power that is not split.
    fn power_column(&self) -> Option<(Role, usize)> {
        let of = |role| self.layout.columns.get(role).map(|column| (role, column));
        let unsplit = of(Role::Total).filter(|_| of(Role::Leakage).is_none());
        of(Role::Dynamic).or(unsplit)
    }

    fn general_notes(&mut self, rows: &[Row]) {
        let rows = rows.get(self.layout.first..).unwrap_or_default();
        let nameless = self.layout.headers.iter().enumerate().filter(|(_, h)| h.text.is_empty());
        let filled =
            nameless.filter(|(column, _)| rows.iter().any(|r| !r.cell(*column).is_empty()));
        self.notes.extend(filled.map(|(column, _)| {
            format!("column {} has no name and is not read", super::letter(column))
        }));
        if let Some((Role::Total, column)) = self.power_column() {
            let header = self.layout.headers.get(column).map_or("", |h| h.text.as_str());
            self.notes.push(format!(
                "column `{header}` is not split: all of it is taken as dynamic power"
            ));
        }
        let columns = self.layout.columns.of.values();
        let headers = columns.filter_map(|column| self.layout.headers.get(*column));
        let conditions = headers.filter_map(|header| {
            let condition = header.condition.as_ref()?;
            Some(format!("column `{}`: `{condition}` is not read", header.text))
        });
        self.notes.extend(conditions);
        if self.layout.columns.get(Role::Mode).is_none() {
            self.notes
                .push(format!("no column of modes: every block has the one mode `{ONLY_MODE}`"));
        }
    }

    fn text(&self, row: &Row, role: Role) -> String {
        self.layout.columns.get(role).map_or("", |column| row.cell(column)).to_owned()
    }

    fn row(&mut self, row: &Row) {
        let (named, mode) = (self.text(row, Role::Block), self.text(row, Role::Mode));
        self.surplus(row);
        if let Some((within, mode)) = self.sum_of(&named, &mode) {
            let Quantities { dynamic, leakage, total, .. } = self.quantities(row);
            self.totals.states(Stated {
                line: row.line,
                block: within,
                mode,
                dynamic,
                leakage,
                total,
            });
            return;
        }
        if !named.is_empty() {
            self.above = Some(named.clone());
        }
        for role in [Role::Block, Role::Mode, Role::Rail] {
            if self.text(row, role).chars().any(char::is_control) {
                self.fault(row, role, TableFault::NotPrintable { what: role.name() });
            }
        }
        let is_heading =
            row.cells.iter().filter(|c| !c.is_empty()).count() == usize::from(!named.is_empty());
        if is_heading {
            return;
        }
        let quantities = self.quantities(row);
        let Some(block) = self.above.clone() else {
            self.fault(row, Role::Block, TableFault::NoBlock);
            return;
        };
        let mode = match (self.layout.columns.get(Role::Mode), mode.is_empty()) {
            (None, _) => ONLY_MODE.to_owned(),
            (Some(_), true) => {
                let total = behind_total(&block).map(|(rest, _)| rest.to_owned());
                self.fault(row, Role::Mode, TableFault::NoMode { block, total });
                return;
            }
            (Some(_), false) => mode,
        };
        let first = self.is_first(row, &block, &mode);
        let rail = self.text(row, Role::Rail);
        let at = self.block(row, &block, &rail);
        if let Some(mode) = self.mode(row, &block, mode, quantities).filter(|_| first) {
            self.place(at, mode);
        }
    }

    /// Cells that no column is above.
    fn surplus(&mut self, row: &Row) {
        let columns = self.layout.headers.len();
        let beyond = row.cells.iter().enumerate().skip(columns).find(|(_, text)| !text.is_empty());
        if let Some((at, text)) = beyond {
            let fault = TableFault::Surplus { text: text.clone(), cell: at + 1, columns };
            self.faults.push(LocatedFault { line: row.line, column: None, fault });
        }
    }

    /// False for a row that says again, or in other letters, what one above says.
    fn is_first(&mut self, row: &Row, block: &str, mode: &str) -> bool {
        match self.seen.enter(block, mode, row.line) {
            None => true,
            Some(Clash::Twice { line }) => {
                let (block, mode) = (block.to_owned(), mode.to_owned());
                self.fault(row, Role::Mode, TableFault::Twice { block, mode, line });
                false
            }
            Some(Clash::Mode { first, line }) => {
                let fault =
                    TableFault::OnlyCase { what: "mode", name: mode.to_owned(), first, line };
                self.fault(row, Role::Mode, fault);
                false
            }
            Some(Clash::Block { first, line }) => {
                let fault =
                    TableFault::OnlyCase { what: "block", name: block.to_owned(), first, line };
                self.fault(row, Role::Block, fault);
                false
            }
        }
    }

    /// The block and the mode that a row of sums is of, each `None` for all; `None` for any other row.
    fn sum_of(&self, named: &str, mode: &str) -> Option<(Option<String>, Option<String>)> {
        let in_mode = || self.known.mode(mode).filter(|m| !m.is_empty() && !is_total(m));
        if is_total(named) {
            return Some((None, in_mode()));
        }
        if is_total(mode) {
            let block = Some(named.to_owned()).filter(|n| !n.is_empty());
            return Some((block.or(self.above.clone()), None));
        }
        let (rest, colon) = behind_total(named)?;
        if colon && !mode.is_empty() {
            return Some((None, in_mode()));
        }
        if !mode.is_empty() {
            return None;
        }
        match (self.known.has_mode(rest), self.known.block(rest)) {
            (true, _) => Some((None, self.known.mode(rest))),
            (false, Some(block)) => Some((Some(block), None)),
            (false, None) => colon.then_some((None, None)),
        }
    }

    /// The block of a row by its place, with its rail.
    fn block(&mut self, row: &Row, name: &str, rail: &str) -> Option<usize> {
        let column = self.layout.columns.get(Role::Rail);
        let cell = column.filter(|_| !rail.is_empty()).map(|column| (row.line, column));
        if let Some(at) = self.blocks.iter().position(|b| b.name == name) {
            let first = &self.blocks[at];
            if !rail.is_empty() && rail != first.rail && !first.rail.is_empty() {
                let fault = TableFault::TwoRails {
                    block: name.to_owned(),
                    first: first.rail.clone(),
                    line: first.line,
                    rail: rail.to_owned(),
                };
                self.fault(row, Role::Rail, fault);
            }
            return Some(at);
        }
        let rail = if rail.is_empty() { self.rail.unwrap_or("") } else { rail };
        if rail.is_empty() && column.is_some() {
            self.fault(row, Role::Rail, TableFault::NoRail { block: name.to_owned() });
        }
        self.blocks.push(Block {
            name: name.to_owned(),
            rail: rail.to_owned(),
            rail_cell: cell,
            line: row.line,
            modes: Vec::new(),
        });
        Some(self.blocks.len() - 1)
    }

    fn place(&mut self, at: Option<usize>, mode: BlockMode) {
        let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) else { return };
        self.totals.adds(&block.name, &mode);
        block.modes.push(mode);
    }

    fn mode(&mut self, row: &Row, block: &str, name: String, of: Quantities) -> Option<BlockMode> {
        let (power_role, power_column) = self.power_column()?;
        let stated = |column: usize| !is_none(row.cell(column));
        let (who, what) = (block.to_owned(), name.clone());
        let voltage_column = self.layout.columns.get(Role::Voltage)?;
        if of.voltage.is_none() && !stated(voltage_column) {
            self.fault(row, Role::Voltage, TableFault::NoVoltage { block: who, mode: what });
            return None;
        }
        let leakage_column = self.layout.columns.get(Role::Leakage);
        let has_dynamic = stated(power_column);
        let has_leakage = leakage_column.is_some_and(stated);
        if !has_dynamic && !has_leakage {
            self.fault(row, power_role, TableFault::NoPower { block: who, mode: what });
            return None;
        }
        let voltage = of.voltage?;
        let dynamic = if has_dynamic {
            of.dynamic?
        } else {
            let note = format!("`{block}` in `{name}` has no dynamic power: taken as 0 W");
            self.repeated.note(Subject::NoDynamic, row.line, note);
            Reading { written: "0 W".to_owned(), value: Watts::ZERO }
        };
        if has_leakage && of.leakage.is_none() {
            return None;
        }
        if power_role == Role::Dynamic {
            self.split(row, block, &name, (&dynamic, of.leakage.as_ref(), of.total.as_ref()));
        }
        let Quantities { leakage, temperature, frequency, .. } = of;
        let line = row.line;
        let mode = BlockMode { name, line, voltage, dynamic, leakage, temperature, frequency };
        self.plausible(row, power_role, &mode).then_some(mode)
    }

    /// Tells all quantities that no block has; true where there is none.
    fn plausible(&mut self, row: &Row, power: Role, mode: &BlockMode) -> bool {
        let doubtful = [
            self.doubtful(row, Role::Voltage, Some(&mode.voltage)),
            self.doubtful(row, power, Some(&mode.dynamic)),
            self.doubtful(row, Role::Leakage, mode.leakage.as_ref()),
            self.doubtful(row, Role::Temperature, mode.temperature.as_ref()),
        ];
        !doubtful.contains(&true)
    }

    /// Tells a quantity that no block has.
    fn doubtful<Q: Quantity>(&mut self, row: &Row, role: Role, of: Option<&Reading<Q>>) -> bool {
        let Some((of, reason)) = of.and_then(|of| Some((of, doubt(role, of.value.si())?))) else {
            return false;
        };
        let (what, text) = (format!("a {}", role.name()), of.written.clone());
        self.fault(row, role, TableFault::Implausible { what, text, reason });
        true
    }

    /// A total beside its parts is their sum.
    fn split(
        &mut self,
        row: &Row,
        block: &str,
        mode: &str,
        (dynamic, leakage, total): (
            &Reading<Watts>,
            Option<&Reading<Watts>>,
            Option<&Reading<Watts>>,
        ),
    ) {
        let Some(total) = total else { return };
        let sum = Sum::of(Some(dynamic)).and(Sum::of(leakage));
        if !sum.is(total) {
            let (stated, sum) = (&total.written, sum.power);
            let note =
                format!("`{block}` in `{mode}` has a total of {stated}, its parts add up to {sum}");
            self.repeated.note(Subject::Split, row.line, note);
        }
    }

    fn quantities(&mut self, row: &Row) -> Quantities {
        let power = self.power_column().map_or(Role::Dynamic, |(role, _)| role);
        Quantities {
            voltage: self.quantity(row, Role::Voltage),
            dynamic: self.quantity(row, power),
            leakage: self.quantity(row, Role::Leakage),
            total: if power == Role::Total { None } else { self.quantity(row, Role::Total) },
            frequency: self.quantity(row, Role::Frequency),
            temperature: self.quantity(row, Role::Temperature),
        }
    }

    /// A quantity of a row; `None` for an empty cell, and for one at fault.
    fn quantity<Q: Quantity>(&mut self, row: &Row, role: Role) -> Option<Reading<Q>> {
        let column = self.layout.columns.get(role)?;
        let cell = row.cell(column);
        if is_none(cell) {
            return None;
        }
        let Some((number, own_unit)) = split(cell) else {
            self.fault(row, role, TableFault::NotANumber { text: cell.to_owned() });
            return None;
        };
        let number = match plain(number, cell, self.layout.decimal) {
            Ok(number) => number,
            Err(fault) => {
                self.fault(row, role, fault);
                return None;
            }
        };
        let unit =
            if own_unit.is_empty() { self.layout.unit(role, column)? } else { role.unit(own_unit) };
        let negative = number.parse::<f64>().is_ok_and(|n| n < 0.0);
        if negative && role != Role::Temperature {
            self.fault(
                row,
                role,
                TableFault::Negative { what: role.name(), text: cell.to_owned() },
            );
            return None;
        }
        match parsed(role, &format!("{number} {unit}")) {
            Ok((written, si)) => Some(Reading { written, value: Q::from_si(si) }),
            Err(_) if number.parse::<f64>().is_err() => {
                self.fault(row, role, TableFault::NotANumber { text: cell.to_owned() });
                None
            }
            Err(reason) => {
                self.fault(row, role, TableFault::Unit { reason });
                None
            }
        }
    }

    /// A mode that draws nothing may stand at zero volt: any voltage says the same, and a profile wants
    /// one.
    fn settle_zero_volts(&mut self) {
        for block in &mut self.blocks {
            let positive = block.modes.iter().find(|m| m.voltage.value.0 > 0.0);
            let other = positive.map(|m| m.voltage.clone());
            for mode in block.modes.iter_mut().filter(|m| m.voltage.value.0 == 0.0) {
                let leakage = mode.leakage.as_ref().map_or(Watts::ZERO, |l| l.value);
                let draws = (mode.dynamic.value + leakage).0 > 0.0;
                match other.clone().filter(|_| !draws) {
                    Some(other) => {
                        let written = &other.written;
                        let note = format!(
                            "`{}` in `{}` is at 0 V and draws nothing: written at {written}",
                            block.name, mode.name
                        );
                        self.repeated.note(Subject::ZeroVolts, mode.line, note);
                        mode.voltage = other;
                    }
                    None => {
                        let fault = TableFault::ZeroVoltage {
                            block: block.name.clone(),
                            mode: mode.name.clone(),
                        };
                        let column = self.layout.columns.get(Role::Voltage).unwrap_or(0);
                        self.faults.push(self.layout.at(mode.line, column, fault));
                    }
                }
            }
        }
    }

    fn fault(&mut self, row: &Row, role: Role, fault: TableFault) {
        let located = match self.layout.columns.get(role) {
            Some(column) => self.layout.at(row.line, column, fault),
            None => LocatedFault { line: row.line, column: None, fault },
        };
        self.faults.push(located);
    }
}

fn is_none(cell: &str) -> bool {
    NONE.contains(&cell)
}

/// The literal of a quantity as a profile writes it, and its value in SI; or what is wrong.
pub(super) fn parsed(role: Role, text: &str) -> Result<(String, f64), String> {
    let literal = match role {
        Role::Voltage => Literal::parse_as::<Volts>(text),
        Role::Frequency => Literal::parse_as::<Hertz>(text),
        Role::Temperature => Literal::parse_as::<Celsius>(text),
        _ => Literal::parse_as::<Watts>(text),
    };
    // A spread or a source in a cell is no unit.
    literal.map_err(|e| e.message).and_then(|l| {
        let plain = l.spread.is_none() && l.source.is_none();
        if plain {
            Ok((l.written, l.value))
        } else {
            Err(format!("`{text}` is more than number and unit"))
        }
    })
}
