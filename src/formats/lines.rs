//! Text logs, line by line, in bounded memory.

use super::{FormatError, Input, Place, ReadFault};
use std::io::{BufRead, BufReader, Read};

/// The longest line that a log may have \[bytes\].
const LONGEST: u64 = 256 * 1024;

/// One line of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The text, without its end and without a byte-order mark.
    pub(super) text: &'a str,
    /// False for a last line without an end: what is there may be the half of something.
    pub(super) whole: bool,
}

/// Goes through the lines of a file, from its start; a fault is placed at its line.
pub(super) fn each(
    input: &mut Input<'_>,
    mut take: impl FnMut(Line<'_>) -> Result<(), ReadFault>,
) -> Result<(), FormatError> {
    input.rewind()?;
    let file = input.name.clone();
    let fault = |number: u64, fault: ReadFault| FormatError::Unreadable {
        file: file.clone(),
        place: Place::Line(number),
        fault,
    };
    let mut reader = BufReader::new(&mut *input);
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        let read = (&mut reader).take(LONGEST + 1).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| FormatError::Read { file: file.clone(), source })?;
        if read == 0 {
            break;
        }
        number += 1;
        let whole = bytes.last() == Some(&b'\n');
        if read as u64 > LONGEST {
            let size = ReadFault::Size { what: "the line", size: read as u64, limit: LONGEST };
            return Err(fault(number, size));
        }
        let text = text(&bytes, whole).ok_or_else(|| fault(number, ReadFault::NotText))?;
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let text = text.trim_end_matches(['\n', '\r']);
        take(Line { number, text, whole }).map_err(|e| fault(number, e))?;
    }
    if number == 0 {
        return Err(input.fault(Place::Whole, ReadFault::Empty));
    }
    Ok(())
}

/// A line as text; of one that is cut, what is text of it.
fn text(bytes: &[u8], whole: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if !whole && error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()
        }
        Err(_) => None,
    }
}

/// A number, with a fault that names its column; what is not finite is none.
pub(super) fn number(text: &str, column: &str) -> Result<f64, ReadFault> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(ReadFault::Number { column: column.into(), text: shown(text) }),
    }
}

/// The start of a text, for messages.
pub(super) fn shown(text: &str) -> String {
    text.trim().chars().take(60).collect()
}

/// What to say of a last line without an end.
pub(super) const CUT: &str = "the last line has no end: it may be cut and is left out";

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, String, bool)>, FormatError> {
        let mut lines = Vec::new();
        each(&mut Input::of("log", bytes), |line| {
            lines.push((line.number, line.text.to_owned(), line.whole));
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn lines_are_numbered_and_a_cut_one_is_told() {
        let lines = all("\u{feff}a\r\n\nb".as_bytes()).unwrap();
        let expected =
            [(1, "a".to_owned(), true), (2, String::new(), true), (3, "b".to_owned(), false)];
        assert_eq!(lines, expected);
        assert_eq!(all(b"a\nb\xc3").unwrap()[1], (2, "b".to_owned(), false));
    }

    #[test]
    fn a_file_that_is_no_text_or_has_an_endless_line_is_one_error() {
        assert!(all(b"").unwrap_err().to_string().contains("empty"));
        assert_eq!(all(b"a\n\xff\n").unwrap_err().to_string(), "log:2: not UTF-8 text");
        let endless = vec![b'x'; LONGEST as usize + 2];
        assert!(all(&endless).unwrap_err().to_string().starts_with("log:1: the line would be"));
    }

    #[test]
    fn a_number_that_is_none_names_its_column() {
        assert_eq!(number(" 1.5 ", "Watts"), Ok(1.5));
        for text in ["", "x", "inf", "NaN"] {
            assert!(number(text, "Watts").is_err(), "{text}");
        }
    }
}
