//! The table of marks.

use super::super::{CsvFault, FormatError};
use super::MARKS_FILE;
use super::cells::{Row, Rows, write_failed, writer};
use super::time;
use crate::trace::{Mark, PlacedMark, Teller};
use crate::units::SimTime;
use std::io::{Read, Write};

const COLUMNS: [&str; 5] = ["teller", "track", "name", "at_s", "meter_s"];
const TELLERS: [(Teller, &str); 2] = [(Teller::Meter, "meter"), (Teller::Host, "host")];

/// The word for a teller.
pub(in super::super) fn teller_name(teller: Teller) -> &'static str {
    TELLERS.iter().find(|(other, _)| *other == teller).map_or("", |(_, name)| name)
}

/// Writes `marks.csv`.
pub fn write_marks(marks: &[PlacedMark], out: &mut impl Write) -> Result<(), FormatError> {
    let failed = |e| write_failed(MARKS_FILE, e);
    let mut table = writer(out);
    table.write_record(COLUMNS).map_err(failed)?;
    for placed in marks {
        let mark = &placed.mark;
        let at = time::to_text(mark.at);
        let meter = match (mark.teller, placed.at_ps) {
            (Teller::Meter, _) => at.clone(),
            (Teller::Host, Some(ps)) => signed(ps),
            (Teller::Host, None) => String::new(),
        };
        let cells = [teller_name(mark.teller), &mark.track, &mark.name, &at, &meter];
        table.write_record(cells).map_err(failed)?;
    }
    table.flush().map_err(|e| failed(e.into()))
}

fn signed(ps: i64) -> String {
    let size = time::to_text(SimTime(ps.unsigned_abs()));
    if ps < 0 { format!("-{size}") } else { size }
}

/// Reads `marks.csv`. `file` is what errors call it.
pub fn read_marks(file: &str, input: &mut impl Read) -> Result<Vec<Mark>, FormatError> {
    let mut rows = Rows::new(file, input, 0);
    rows.expect_columns(&COLUMNS.map(str::to_owned))?;
    let mut marks = Vec::new();
    while let Some(row) = rows.next()? {
        marks.push(mark(&row)?);
    }
    Ok(marks)
}

fn mark(row: &Row<'_>) -> Result<Mark, FormatError> {
    row.expect_cells(COLUMNS.len())?;
    let word = row.text(0);
    let teller = TELLERS.iter().find(|(_, name)| *name == word).map(|(teller, _)| *teller);
    let teller = teller.ok_or_else(|| {
        let (column, expected) = ("teller", "meter, host");
        row.fault(CsvFault::Word { column, text: word.to_owned(), expected })
    })?;
    let (track, name) = (row.text(1).to_owned(), row.text(2).to_owned());
    Ok(Mark { teller, at: row.time(3, "at_s")?, track, name })
}
