//! Members put into a group, map or list of a text, and taken out of it, in its layout.

use super::super::cursor::Cursor;
use super::super::tree::{Member, Parts};

/// `text` with `words` behind the last member of `parts`: on a line of their own where that one has its
/// own.
pub(super) fn inserted(text: &str, parts: &Parts, words: &str) -> String {
    let Some(last) = parts.members.last() else {
        return with(text, &[(parts.open.span.end, words)]);
    };
    let end = last.value.place.span.end;
    let comma = comma_behind(text, end);
    let behind = comma.unwrap_or(end);
    let Some(indent) = own_line(text, parts, last) else {
        return match comma {
            Some(at) => with(text, &[(at, &format!(" {words},"))]),
            None => with(text, &[(end, &format!(", {words}"))]),
        };
    };
    let line = text.get(behind..).unwrap_or("").split('\n').next().unwrap_or("");
    let rest = line.trim();
    let to_end = rest.is_empty() || rest.starts_with("//");
    let at = if to_end { behind + line.trim_end().len() } else { behind };
    let last = if to_end { "," } else { "" };
    let words = format!("\n{indent}{words}{last}");
    if comma.is_some() {
        with(text, &[(at, &words)])
    } else {
        with(text, &[(end, ","), (at, &words)])
    }
}

/// `text` without the member `key` of `parts`, if it has one, nor the line that it stood on alone.
pub(super) fn removed(text: &str, parts: &Parts, key: &str) -> String {
    let Some(place) = parts.members.iter().position(|m| m.key.as_deref() == Some(key)) else {
        return text.to_owned();
    };
    let Some(member) = parts.members.get(place) else { return text.to_owned() };
    let (mut start, end) = (start_of(member), member.value.place.span.end);
    let mut end = comma_behind(text, end).unwrap_or(end);
    let behind = text.get(end..).unwrap_or("");
    let line = behind.split('\n').next().unwrap_or("");
    match own_line(text, parts, member) {
        Some(indent) if line.trim().is_empty() && line.len() < behind.len() => {
            start -= indent.len();
            end += line.len() + 1;
        }
        _ => end += line.len() - line.trim_start().len(),
    }
    [text.get(..start).unwrap_or(""), text.get(end..).unwrap_or("")].concat()
}

fn start_of(member: &Member) -> usize {
    member.label.as_ref().unwrap_or(&member.value.place).span.start
}

/// What a member's line starts with, where nothing else stands before it.
fn own_line<'t>(text: &'t str, parts: &Parts, member: &Member) -> Option<&'t str> {
    let before = text.get(parts.open.span.end..start_of(member))?;
    let indent = before.rsplit_once('\n')?.1;
    indent.trim().is_empty().then_some(indent)
}

/// The byte behind the comma that follows, if one does.
fn comma_behind(text: &str, at: usize) -> Option<usize> {
    let mut cursor = Cursor { text, at };
    cursor.eat(',').then_some(cursor.at)
}

/// `text` with words put in at rising places.
fn with(text: &str, words: &[(usize, &str)]) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, words) in words {
        out.push_str(text.get(from..*at).unwrap_or(""));
        out.push_str(words);
        from = *at;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}
