//! Where in a file the table is: its head, its delimiter, its decimal sign.

use super::super::table::calendar;
use super::super::table::head::{Labelled, Lines, Quantity, label, split, unit, value};
use super::super::{Options, ReadFault, TableOptions};

/// Delimiters that are tried, the least likely within a cell first.
const DELIMITERS: [u8; 3] = [b'\t', b';', b','];
/// Lines in which the head has to be where it is looked for.
const HEAD: usize = 1000;
/// Rows from which the decimal sign is told.
const ROWS: usize = 200;

/// A table, and what its columns say.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// What stands between cells.
    pub(super) delimiter: u8,
    /// Names as they stand in the file, or numbers from 1.
    pub(super) names: Vec<String>,
    /// Names and units.
    pub(super) labels: Vec<Labelled>,
    /// Lines before the first row.
    pub(super) head: usize,
    /// First rows.
    pub(super) rows: Vec<Vec<String>>,
}

/// The first table whose head says by itself what it is.
pub(super) fn by_itself(lines: &Lines) -> Option<Found> {
    (0..lines.count().min(HEAD)).find_map(|line| {
        let fits = |found: &Found| {
            let known = |l: &Labelled| {
                l.unit.is_some_and(|unit| matches!(unit.quantity, Quantity::Samples(_)))
            };
            let timed = found.named_time().is_some() || found.rising().is_some();
            timed && found.labels.iter().any(known)
        };
        DELIMITERS.iter().find_map(|delimiter| at(lines, line, *delimiter).filter(fits))
    })
}

/// The table that the options describe.
pub(super) fn as_told(lines: &Lines, options: &Options) -> Option<Found> {
    let told = &options.table;
    let given = told.delimiter.and_then(|sign| u8::try_from(sign).ok());
    let delimiters: Vec<u8> = given.map_or(DELIMITERS.to_vec(), |sign| vec![sign]);
    let skip = told.skip.map(|skip| usize::try_from(skip).unwrap_or(usize::MAX));
    if let Some(skip) = skip {
        let line = (skip..lines.count()).find(|k| !lines.text(*k).trim().is_empty())?;
        let widest = |found: &Found| found.names.len();
        let tables = delimiters.iter().filter_map(|delimiter| table(lines, line, *delimiter));
        return tables.max_by_key(widest);
    }
    let own = by_itself(lines).filter(|found| given.is_none_or(|sign| sign == found.delimiter));
    let fits = |found: &Found| found.has(told, options.rate.is_some());
    if let Some(own) = own.filter(fits) {
        return Some(own);
    }
    (0..lines.count().min(HEAD)).find_map(|line| {
        delimiters.iter().find_map(|delimiter| table(lines, line, *delimiter).filter(fits))
    })
}

/// A table that begins at a line, with names or without.
fn table(lines: &Lines, line: usize, delimiter: u8) -> Option<Found> {
    at(lines, line, delimiter).or_else(|| bare(lines, line, delimiter))
}

/// A table whose names stand on a line, and perhaps its units on the next.
fn at(lines: &Lines, line: usize, delimiter: u8) -> Option<Found> {
    let mut names = split(lines.text(line), delimiter);
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    if names.is_empty() || names.iter().any(|name| is_number(name)) {
        return None;
    }
    let mut labels: Vec<Labelled> = names.iter().map(|name| label(name)).collect();
    let mut head = line + 1;
    let units = split(lines.text(head), delimiter);
    let bracketed = |cell: &String| unit(cell.trim_matches(['(', ')', '[', ']']));
    let of_units = units.iter().all(|cell| cell.is_empty() || bracketed(cell).is_some());
    if of_units && units.len() >= names.len() && units.iter().any(|cell| !cell.is_empty()) {
        for (label, cell) in labels.iter_mut().zip(&units) {
            label.unit = label.unit.or(bracketed(cell));
        }
        head += 1;
    }
    let found = Found { delimiter, names, labels, head, rows: Vec::new() };
    found.with_rows(lines)
}

/// A table without names.
fn bare(lines: &Lines, line: usize, delimiter: u8) -> Option<Found> {
    let mut cells = split(lines.text(line), delimiter);
    while cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    if cells.is_empty() || !cells.iter().all(|cell| is_number(cell)) {
        return None;
    }
    let names: Vec<String> = (1..=cells.len()).map(|k| k.to_string()).collect();
    let label = |name: &String| Labelled { name: name.clone(), unit: None };
    let labels = names.iter().map(label).collect();
    Found { delimiter, names, labels, head: line, rows: Vec::new() }.with_rows(lines)
}

/// True for a cell that is a number or a time under either decimal sign.
fn is_number(cell: &str) -> bool {
    let digit = cell.bytes().any(|byte| byte.is_ascii_digit());
    let number = || value(cell, b'.').is_some() || value(cell, b',').is_some();
    digit && (number() || calendar(cell).is_some())
}

impl Found {
    /// With the first rows; nothing where the first has another number of cells, or no number.
    fn with_rows(mut self, lines: &Lines) -> Option<Self> {
        let texts = (self.head..lines.count()).map(|k| lines.text(k));
        let texts = texts.filter(|text| !text.trim().is_empty()).take(ROWS);
        self.rows = texts.map(|text| split(text, self.delimiter)).collect();
        let first = self.rows.first()?;
        let surplus = first.get(self.names.len()..)?;
        let fits = surplus.iter().all(String::is_empty) && first.iter().any(|c| is_number(c));
        fits.then_some(self)
    }

    /// True where the columns that the options name are there.
    fn has(&self, told: &TableOptions, rate: bool) -> bool {
        let timed = match &told.time_column {
            Some(name) => self.find(name).is_some(),
            None => rate || self.time_column().is_some(),
        };
        let named = |column: &String| self.find(split_unit(column).0).is_some();
        timed && told.columns.iter().all(named)
    }

    /// The column of a name or a number from 1.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let exact = self.names.iter().position(|n| n == name);
        let bare = || self.labels.iter().position(|l| l.name == name);
        let loose = || {
            let name = name.to_lowercase();
            self.labels.iter().position(|l| l.name.to_lowercase() == name)
        };
        let number = || {
            let number: usize = name.parse().ok()?;
            number.checked_sub(1).filter(|k| *k < self.names.len())
        };
        exact.or_else(bare).or_else(loose).or_else(number)
    }

    /// The column of time: by its name, by its dates, or by its unit.
    pub(super) fn time_column(&self) -> Option<usize> {
        self.named_time().or_else(|| self.dated()).or_else(|| self.rising())
    }

    /// The first column that is called time.
    pub(super) fn named_time(&self) -> Option<usize> {
        self.labels.iter().position(Labelled::is_time)
    }

    /// The first column of a table, where its unit is one of time and its numbers only rise.
    pub(super) fn rising(&self) -> Option<usize> {
        let unit = self.labels.first()?.unit?;
        let at = |row: &Vec<String>| {
            let cell = row.first()?;
            value(cell, b'.').or_else(|| value(cell, b','))
        };
        let times: Option<Vec<f64>> = self.rows.iter().map(at).collect();
        let rises = times?.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
        (unit.quantity == Quantity::Time && rises && self.rows.len() > 2).then_some(0)
    }

    /// The first column of dates.
    pub(super) fn dated(&self) -> Option<usize> {
        self.rows.first()?.iter().position(|cell| calendar(cell).is_some())
    }

    /// The decimal sign: as told, or by the first rows.
    pub(super) fn point(
        &self,
        told: &TableOptions,
        remarks: &mut Vec<String>,
    ) -> Result<u8, ReadFault> {
        if let Some(sign) = told.decimal {
            let sign = Some(sign).filter(|sign| matches!(sign, '.' | ',')).ok_or_else(|| {
                let (what, found) = ("the decimal sign".into(), format!("`{sign}`"));
                ReadFault::Value { what, found, expected: "`.` or `,`" }
            })?;
            return Ok(sign as u8);
        }
        let cells = || self.rows.iter().flatten().filter(|cell| is_number(cell));
        let dated = |cell: &&String| calendar(cell).is_none();
        // Where both signs are in one number, the last is the decimal one.
        let last = cells().filter(dated).find_map(|cell| {
            let (dot, comma) = (cell.rfind('.')?, cell.rfind(',')?);
            Some(if comma > dot { b',' } else { b'.' })
        });
        let has = |sign: char| cells().filter(dated).any(|cell| cell.contains(sign));
        let point = last.unwrap_or(if has(',') && !has('.') { b',' } else { b'.' });
        if point == b',' {
            remarks.push("commas in numbers are taken as decimal signs".into());
        }
        Ok(point)
    }
}

/// `NAME=UNIT` or `NAME`.
pub(super) fn split_unit(column: &str) -> (&str, Option<&str>) {
    match column.rsplit_once('=') {
        Some((name, unit)) => (name, Some(unit)),
        None => (column, None),
    }
}
