//! The row of column names, and the units below it.

use super::columns::{Columns, Header, Role};
use super::number::{Decimal, decimal_of, split};
use super::plausible::doubtful_unit;
use super::rows::Row;
use super::{LocatedFault, TableFault, UnreadColumn, letter};
use crate::diagnostic::nearest;
use crate::units::parse_unit;

/// Rows above the header that a title may take.
const TITLE_ROWS: usize = 20;

/// A shorter header is near to everything.
const SHORTEST: usize = 3;

/// A table whose columns are known.
pub(super) struct Layout {
    pub line: u64,
    pub headers: Vec<Header>,
    pub columns: Columns,
    /// Rows of data start here.
    pub first: usize,
    pub decimal: Decimal,
    units: Vec<Option<(String, u64)>>,
}

impl Layout {
    /// Finds header and units. What is wrong with them goes to `faults`.
    pub(super) fn of(
        rows: &[Row],
        rail: Option<&str>,
        faults: &mut Vec<LocatedFault>,
    ) -> Option<Self> {
        let known = |row: &Row| {
            let headers: Vec<_> = row.cells.iter().map(|c| Header::of(c)).collect();
            Columns::of(&headers).of.len()
        };
        // The row that knows most columns; of equals the first.
        let counted = rows.iter().take(TITLE_ROWS).enumerate().map(|(at, row)| (known(row), at));
        let (_, at) = counted.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let row = rows.get(at)?;
        let headers: Vec<_> = row.cells.iter().map(|c| Header::of(c)).collect();
        let columns = Columns::of(&headers);
        let units = headers.iter().map(|h| Some((h.unit.clone()?, row.line))).collect();
        let mut layout = Self {
            line: row.line,
            headers,
            columns,
            first: at + 1,
            decimal: Decimal::Point,
            units,
        };
        layout.units_row(rows);
        layout.decimal = decimal_of(layout.numeric(rows));
        layout.missing(rail, faults);
        layout.check_units(rows, faults);
        Some(layout)
    }

    /// Cells of columns of quantities.
    fn numeric<'a>(&'a self, rows: &'a [Row]) -> impl Iterator<Item = &'a str> {
        let columns: Vec<usize> = self.quantities().map(|(_, column)| column).collect();
        let rows = rows.iter().skip(self.first);
        rows.flat_map(move |row| columns.clone().into_iter().map(|c| row.cell(c)))
    }

    fn quantities(&self) -> impl Iterator<Item = (Role, usize)> + '_ {
        let all = self.columns.of.iter().map(|(role, column)| (*role, *column));
        all.filter(|(role, _)| role.example().is_some())
    }

    /// A row below the header that has units and no number.
    fn units_row(&mut self, rows: &[Row]) {
        let Some(row) = rows.get(self.first) else { return };
        let cells: Vec<(usize, String)> = self
            .quantities()
            .map(|(role, column)| {
                let cell = row.cell(column).trim_matches(['[', ']', '(', ')']).trim();
                (column, role.unit(cell))
            })
            .collect();
        let is_unit = |text: &String| !text.is_empty() && parse_unit(text).is_ok();
        let numbers = self.quantities().any(|(_, column)| split(row.cell(column)).is_some());
        if numbers || !cells.iter().any(|(_, text)| is_unit(text)) {
            return;
        }
        for (column, text) in cells.into_iter().filter(|(_, text)| !text.is_empty()) {
            if let Some(unit) = self.units.get_mut(column) {
                *unit = Some((text, row.line));
            }
        }
        self.first += 1;
    }

    fn missing(&self, rail: Option<&str>, faults: &mut Vec<LocatedFault>) {
        let headers = self.headers.iter().map(|h| h.text.as_str()).filter(|t| !t.is_empty());
        let found = headers.map(|h| format!("`{h}`")).collect::<Vec<_>>().join(", ");
        let mut miss = |role: Role, extra: &str| {
            let names = role.names().iter().take(4).copied().collect::<Vec<_>>();
            let accepted = format!("{}{extra}", names.join(", "));
            let unread = self.columns.unread.iter().map(|column| self.unread(*column));
            let near =
                unread.into_iter().find(|c| c.near.is_some_and(|n| role.names().contains(&n)));
            let near = near.map(|column| column.header);
            let (what, found) = (role.name(), found.clone());
            let powers = if role == Role::Dynamic { self.unread_powers() } else { Vec::new() };
            let fault = TableFault::NoColumn { what, accepted, found, near, powers };
            faults.push(LocatedFault { line: self.line, column: None, fault });
        };
        let has = |role| self.columns.get(role).is_some();
        if !has(Role::Block) {
            miss(Role::Block, "");
        }
        if !has(Role::Rail) && rail.is_none() {
            miss(Role::Rail, ", or give --rail NAME");
        }
        if !has(Role::Voltage) {
            miss(Role::Voltage, "");
        }
        // A total by itself is taken as dynamic.
        if !has(Role::Dynamic) && (has(Role::Leakage) || !has(Role::Total)) {
            miss(Role::Dynamic, "");
        }
        for (role, first, column) in &self.columns.second {
            let fault = TableFault::TwoColumns { what: role.name(), first: self.label(*first) };
            faults.push(self.at(self.line, *column, fault));
        }
    }

    /// Headers of columns that are not read and have a unit of power.
    fn unread_powers(&self) -> Vec<String> {
        let unread = self.columns.unread.iter().map(|column| self.unread(*column));
        unread.filter(|c| c.power).map(|c| format!("`{}`", c.header)).collect()
    }

    fn check_units(&self, rows: &[Row], faults: &mut Vec<LocatedFault>) {
        for (role, column) in self.quantities() {
            let Some(example) = role.example() else { continue };
            if let Some((unit, line)) = self.units.get(column).and_then(Option::as_ref) {
                if let Some(reason) = wrong_unit(role, &role.unit(unit)) {
                    faults.push(self.at(*line, column, TableFault::Unit { reason }));
                }
                continue;
            }
            let bare = |row: &Row| split(row.cell(column)).is_some_and(|(_, unit)| unit.is_empty());
            if rows.iter().skip(self.first).any(bare) {
                let header = self.headers.get(column).map_or("", |h| h.text.as_str()).to_owned();
                let fault = TableFault::NoUnit { what: role.name(), header, example };
                faults.push(self.at(self.line, column, fault));
            }
        }
    }

    /// Where the unit of a column stands, or its header.
    pub(super) fn unit_line(&self, column: usize) -> u64 {
        self.units.get(column).and_then(Option::as_ref).map_or(self.line, |(_, line)| *line)
    }

    /// The unit of a column of quantities; `None` where it has none, or one that is at fault.
    pub(super) fn unit(&self, role: Role, column: usize) -> Option<String> {
        let (unit, _) = self.units.get(column)?.as_ref()?;
        Some(role.unit(unit)).filter(|unit| wrong_unit(role, unit).is_none())
    }

    /// A fault at a cell.
    pub(super) fn at(&self, line: u64, column: usize, fault: TableFault) -> LocatedFault {
        let header = self.headers.get(column).map_or("", |h| h.text.as_str()).to_owned();
        LocatedFault { line, column: Some((letter(column), header)), fault }
    }

    /// A column that has no role, with a name near to its own that is free.
    pub(super) fn unread(&self, column: usize) -> UnreadColumn {
        let (name, text) = self
            .headers
            .get(column)
            .map_or(("", ""), |header| (header.name.as_str(), header.text.as_str()));
        let free = Role::ALL.into_iter().filter(|role| self.columns.get(*role).is_none());
        // `Owner` is near to `power`, and nobody mistypes the first letter of a header.
        let long = name.chars().count() >= SHORTEST;
        let alike = |known: &&str| long && known.chars().next() == name.chars().next();
        let near = nearest(name, free.flat_map(Role::names).copied().filter(alike));
        let unit = self.units.get(column).and_then(Option::as_ref).map_or("", |(unit, _)| unit);
        let power = !unit.is_empty() && wrong_unit(Role::Dynamic, unit).is_none();
        UnreadColumn { letter: letter(column), header: text.to_owned(), near, power }
    }

    fn label(&self, column: usize) -> String {
        let header = self.headers.get(column).map_or("", |h| h.text.as_str());
        format!("{} ({header})", letter(column))
    }
}

/// What is wrong with a unit of a column.
pub(super) fn wrong_unit(role: Role, unit: &str) -> Option<String> {
    match super::cells::parsed(role, &format!("1 {unit}")) {
        Ok((_, si)) => doubtful_unit(role, unit, si),
        Err(reason) => Some(reason),
    }
}
