//! Slips of syntax that a parser stumbles over later, and in other words.

use super::SpanIndex;
use super::cursor::{Cursor, unquoted};
use std::ops::Range;

/// A slip, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub message: String,
    pub help: Option<String>,
    pub span: Range<usize>,
    /// Field path of the value that it is in, where one is known.
    pub path: Option<String>,
}

/// The slip behind a fault of syntax that the parser found at byte `at`.
pub(super) fn slip(text: &str, at: usize) -> Option<Slip> {
    comment(text, at).or_else(|| quoted_name(text, at)).or_else(|| unclosed_slip(text, at))
}

/// `#` in front of a comment.
fn comment(text: &str, at: usize) -> Option<Slip> {
    let rest = text.get(at..)?;
    let at = at + (rest.len() - rest.trim_start().len());
    let message = "a comment starts with `//`, not with `#`".to_owned();
    let here = rest.trim_start().starts_with('#');
    here.then(|| Slip { message, help: None, span: at..at + 1, path: None })
}

/// The name of a field in quotes, as JSON has it.
fn quoted_name(text: &str, at: usize) -> Option<Slip> {
    let mut cursor = Cursor { text, at };
    cursor.space();
    let start = cursor.at;
    if cursor.peek() != Some('"') {
        return None;
    }
    cursor.string();
    let end = cursor.at;
    cursor.space();
    let name = unquoted(text.get(start..end)?);
    if cursor.peek() != Some(':') {
        return None;
    }
    let message = format!("the name of a field stands without quotes: `{name}`");
    Some(Slip { message, help: None, span: start..end, path: None })
}

/// A bracket that opens before byte `at` and is not closed.
fn unclosed_slip(text: &str, at: usize) -> Option<Slip> {
    let (open, bracket, end) = unclosed(text)?;
    if open > at {
        return None;
    }
    let index = SpanIndex::of(text);
    let path = index.around(open + 1).map(|(path, _)| path.to_owned());
    let message = format!("the `{bracket}` that opens here is not closed");
    let span = open..open + 1;
    Some(Slip { message, help: Some(found_instead(text, bracket, end)), span, path })
}

/// The same as a help to another fault.
pub(super) fn unclosed_help(text: &str, at: usize) -> Option<String> {
    let (open, bracket, _) = unclosed(text).filter(|(open, ..)| *open <= at)?;
    let (line, column) = place(text, open);
    Some(format!("the `{bracket}` that opens at {line}:{column} is not closed"))
}

fn found_instead(text: &str, bracket: char, end: usize) -> String {
    let closing = closing_of(bracket);
    let (line, column) = place(text, end);
    match text.get(end..).and_then(|rest| rest.chars().next()) {
        Some(found) if found != closing => {
            format!("`{closing}` is missing before the `{found}` at {line}:{column}")
        }
        Some(_) => format!(
            "the `{closing}` at {line}:{column} stands further left and seems to close a bracket around it"
        ),
        None => format!("`{closing}` is missing before the end of the text"),
    }
}

/// Line and column from 1, in characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let column = before.get(start..).map_or(0, |line| line.chars().count()) + 1;
    (before.matches('\n').count() + 1, column)
}

fn closing_of(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// The first bracket that is not closed, and where that shows: at a bracket of another kind, at one that
/// stands further left than the line that opens it, or at the end of the text.
fn unclosed(text: &str) -> Option<(usize, char, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut outdented = None;
    loop {
        cursor.space();
        let at = cursor.at;
        match cursor.peek() {
            None => break,
            Some(bracket @ ('(' | '[' | '{')) => {
                open.push((at, bracket));
                cursor.bump();
            }
            Some(closing @ (')' | ']' | '}')) => {
                let (start, bracket) = open.pop()?;
                if closing_of(bracket) != closing {
                    return Some((start, bracket, at));
                }
                if outdented.is_none() && is_outdented(text, start, at) {
                    outdented = Some((start, bracket, at));
                }
                cursor.bump();
            }
            Some('r') if cursor.is_raw_string() => cursor.raw_string(),
            Some('"') => {
                cursor.string();
                // A quote is missing somewhere, and brackets say nothing.
                let ends = text.get(at + 1..cursor.at).is_some_and(|t| t.ends_with('"'));
                if !ends {
                    return None;
                }
            }
            Some('\'') => cursor.character(),
            Some(c) if c.is_alphabetic() || c == '_' => drop(cursor.identifier()),
            Some(_) => cursor.bump(),
        }
    }
    let (first, bracket) = open.first().copied()?;
    Some(outdented.unwrap_or((first, bracket, text.len())))
}

/// True where a closing bracket starts a line further left than the line of the one it closes.
fn is_outdented(text: &str, open: usize, close: usize) -> bool {
    let indent = |at: usize| {
        let start = text.get(..at)?.rfind('\n').map_or(0, |i| i + 1);
        let line = text.get(start..)?;
        Some((start, line.chars().take_while(|c| *c == ' ' || *c == '\t').count()))
    };
    let (Some((open_line, opened)), Some((close_line, closed))) = (indent(open), indent(close))
    else {
        return false;
    };
    close_line > open_line && close == close_line + closed && closed < opened
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, String)> {
        let (open, bracket, end) = unclosed(text)?;
        let rest = text[open..].lines().next().unwrap_or("");
        Some((rest, found_instead(text, bracket, end)))
    }

    #[test]
    fn the_bracket_that_is_not_closed_is_found_and_not_the_outermost() {
        let list = "(\n  corners: [\n    (name: \"TT\",\n    (name: \"FF\"),\n  ],\n)";
        let help = "`)` is missing before the `]` at 5:3".to_owned();
        assert_eq!(found(list), Some(("(name: \"TT\",", help)));
        let names = "(\n  supports: [Conv, // ]\n  name: \"]\",\n)";
        let help = "`]` is missing before the `)` at 4:1".to_owned();
        assert_eq!(found(names), Some(("[Conv, // ]", help)));
        let (place, help) = found("(\n  a: (\n    b: 1,\n  c: 2,\n)\n").unwrap();
        assert_eq!(place, "(");
        assert!(help.contains("at 5:1 stands further left"), "{help}");
        assert_eq!(unclosed("(\n  a: (\n    b: 1,\n  c: 2,\n)\n").unwrap().0, 7);
        assert_eq!(found("(a: [1]").unwrap().1, "`)` is missing before the end of the text");
    }

    #[test]
    fn closed_brackets_are_no_slip_whatever_they_hold() {
        for text in ["(a: \"(\", b: r#\"[\"#, c: '(', /* { */ d: {1: [2]}) // (", "", "())"] {
            assert_eq!(unclosed(text), None, "{text}");
        }
    }
}
