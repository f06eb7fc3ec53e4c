//! Where each field of a RON text stands: field path to bytes.
//!
//! `ron` reports the place of what it cannot parse; what is found later (a reference to nothing, a
//! voltage out of order) has only a field path. This scanner walks the text once, without
//! building values, and remembers the bytes of every value under the path that serde gives it.
//! It never fails: a text it cannot follow yields the part before.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Byte spans of the values of a RON text, by field path.
#[derive(Debug, Default)]
pub struct SpanIndex {
    values: BTreeMap<String, Range<usize>>,
}

impl SpanIndex {
    /// Walks `text`.
    pub fn of(text: &str) -> Self {
        let mut scanner = Scanner { index: Some(Self::default()), ..Scanner::new(text) };
        scanner.walk();
        scanner.index.unwrap_or_default()
    }

    /// The bytes of the value at `path` (`engines[0].clock`).
    pub fn value(&self, path: &str) -> Option<Range<usize>> {
        self.values.get(path).cloned()
    }

    /// The innermost value that byte `at` lies within, with its path.
    pub(super) fn around(&self, at: usize) -> Option<(&str, Range<usize>)> {
        let around = self.values.iter().filter(|(_, span)| span.start < at && at < span.end);
        around.max_by_key(|(_, span)| span.start).map(|(path, span)| (path.as_str(), span.clone()))
    }

    /// The last value that ends before byte `at` or there, with its path.
    pub(super) fn before(&self, at: usize) -> Option<(&str, Range<usize>)> {
        let before = self.values.iter().filter(|(_, span)| span.end <= at);
        before.max_by_key(|(_, span)| span.end).map(|(path, span)| (path.as_str(), span.clone()))
    }

    /// The bytes of the value at `path`, or of the nearest enclosing one that the text holds.
    pub fn value_or_enclosing(&self, path: &str) -> Option<Range<usize>> {
        let mut path = path;
        loop {
            if let Some(span) = self.value(path) {
                return Some(span);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// Deeper than any file of ours, and shallower than the stack.
const DEPTH_LIMIT: usize = 120;

/// Longer than any path of ours: no text may blow up by a long name above many values.
const PATH_LIMIT: usize = 1024;

/// More of them in one text are of one making.
const DUPLICATES_LISTED: usize = 20;

/// A name that one group or map has twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Duplicate {
    pub path: String,
    pub name: String,
    /// Where the first stands.
    pub first: usize,
    /// The bytes of the second name.
    pub second: Range<usize>,
}

/// The names that a group or map of `text` has twice. Takes time and memory in proportion to the
/// text, whatever stands in it: values are not remembered.
pub(super) fn duplicates(text: &str) -> Vec<Duplicate> {
    let mut scanner = Scanner::new(text);
    scanner.walk();
    scanner.duplicates
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    path: String,
    /// Filled when values are asked for.
    index: Option<SpanIndex>,
    duplicates: Vec<Duplicate>,
}

/// Names of one group or map, and where they stand.
type Seen<'a> = HashMap<Cow<'a, str>, usize>;

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, path: String::new(), index: None, duplicates: Vec::new() }
    }

    fn walk(&mut self) {
        self.attributes();
        self.value(0);
    }

    /// Enters a name, which the path already ends with.
    fn name(&mut self, seen: &mut Seen<'a>, name: Cow<'a, str>, bytes: Range<usize>) {
        let listed = self.duplicates.len() < DUPLICATES_LISTED;
        match seen.entry(name) {
            Entry::Vacant(free) => drop(free.insert(bytes.start)),
            Entry::Occupied(taken) if listed => {
                let (name, first) = (taken.key().to_string(), *taken.get());
                let path = self.path.clone();
                self.duplicates.push(Duplicate { path, name, first, second: bytes });
            }
            Entry::Occupied(_) => {}
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let mut skip = rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                skip += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                skip += block_comment(trimmed);
            } else {
                self.at += skip;
                return;
            }
            self.at += skip;
        }
    }

    fn attributes(&mut self) {
        self.space();
        while self.rest().starts_with("#!") {
            self.at += self.rest().find(']').map_or(self.rest().len(), |i| i + 1);
            self.space();
        }
    }

    fn identifier(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A value at the current path; records its bytes.
    fn value(&mut self, depth: usize) {
        self.space();
        let start = self.at;
        if depth > DEPTH_LIMIT {
            return;
        }
        match self.peek() {
            Some('(') => self.group(depth, None),
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('"') => self.string(),
            Some('\'') => self.character(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(depth),
            _ => self.number(),
        }
        if let Some(index) = &mut self.index
            && self.at > start
            && self.path.len() <= PATH_LIMIT
        {
            index.values.insert(self.path.clone(), start..self.at);
        }
    }

    fn named(&mut self, depth: usize) {
        if self.is_raw_string() {
            return self.raw_string();
        }
        let word = self.identifier();
        let after = self.at;
        self.space();
        if self.peek() == Some('(') {
            let variant = (word != "Some").then_some(word);
            self.group(depth, variant);
        } else {
            self.at = after;
        }
    }

    /// `(…)` with named fields or positions; a variant's name is part of its children's path.
    fn group(&mut self, depth: usize, variant: Option<&str>) {
        let outer = self.path.len();
        if let Some(name) = variant
            && outer > 0
        {
            self.path.push('.');
            self.path.push_str(name);
        }
        self.bump();
        let (mut position, mut seen) = (0, Seen::new());
        while !self.eat(')') && self.at < self.text.len() {
            let (before, base) = (self.at, self.path.len());
            match self.field_name() {
                Some(name) => {
                    self.push_field(name);
                    self.name(&mut seen, Cow::Borrowed(name), before..before + name.len());
                }
                // One unnamed value is a newtype or Some: the same path. More are a tuple.
                None if position > 0 => self.path.push_str(&format!("[{position}]")),
                None => {}
            }
            self.value(depth + 1);
            self.path.truncate(base);
            self.eat(',');
            position += 1;
            if self.at == before {
                return self.path.truncate(outer);
            }
        }
        self.path.truncate(outer);
    }

    fn field_name(&mut self) -> Option<&'a str> {
        self.space();
        let before = self.at;
        let name = self.identifier();
        self.space();
        if !name.is_empty() && self.peek() == Some(':') {
            self.bump();
            return Some(name);
        }
        self.at = before;
        None
    }

    fn push_field(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }

    fn list(&mut self, depth: usize) {
        self.bump();
        let mut position = 0;
        while !self.eat(']') && self.at < self.text.len() {
            let (before, base) = (self.at, self.path.len());
            self.path.push_str(&format!("[{position}]"));
            self.value(depth + 1);
            self.path.truncate(base);
            self.eat(',');
            position += 1;
            if self.at == before {
                return;
            }
        }
    }

    fn map(&mut self, depth: usize) {
        self.bump();
        let mut seen = Seen::new();
        while !self.eat('}') && self.at < self.text.len() {
            let (before, base) = (self.at, self.path.len());
            self.key();
            let bytes = before..self.at;
            let key = unquoted(self.text.get(bytes.clone()).unwrap_or(""));
            self.push_field(&key);
            if self.eat(':') {
                self.name(&mut seen, key, bytes);
                self.value(depth + 1);
            }
            self.path.truncate(base);
            self.eat(',');
            if self.at == before {
                return;
            }
        }
    }

    fn key(&mut self) {
        match self.peek() {
            Some('r') if self.is_raw_string() => self.raw_string(),
            Some('\'') => self.character(),
            Some('"') => self.string(),
            Some(c) if c.is_alphabetic() || c == '_' => drop(self.identifier()),
            _ => self.number(),
        }
    }

    fn string(&mut self) {
        self.bump();
        while let Some(c) = self.peek() {
            self.bump();
            match c {
                '\\' => self.bump(),
                '"' => return,
                _ => {}
            }
        }
    }

    fn is_raw_string(&self) -> bool {
        self.rest().starts_with("r\"") || self.rest().starts_with("r#")
    }

    fn raw_string(&mut self) {
        self.bump();
        let hashes = self.rest().bytes().take_while(|&b| b == b'#').count();
        self.at += hashes + 1;
        let closing = format!("\"{}", "#".repeat(hashes));
        self.at += self.rest().find(&closing).map_or(self.rest().len(), |i| i + closing.len());
    }

    fn character(&mut self) {
        self.bump();
        while let Some(c) = self.peek() {
            self.bump();
            match c {
                '\\' => self.bump(),
                '\'' => return,
                _ => {}
            }
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let end = rest.find([',', ')', ']', '}', ':', ' ', '\n', '\t', '\r', '/']);
        self.at += end.unwrap_or(rest.len());
    }
}

/// A key as serde sees it.
fn unquoted(key: &str) -> Cow<'_, str> {
    if key.contains('\\') || key.starts_with("r\"") || key.starts_with("r#") {
        // The escapes of JSON are not all those of RON.
        let name = ron::from_str(key).ok().or_else(|| serde_json::from_str(key).ok());
        return name.map_or(Cow::Borrowed(key), Cow::Owned);
    }
    Cow::Borrowed(key.trim_matches('"'))
}

/// Length of the (nesting) block comment that `text` starts with.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"#![enable(implicit_some)]
Profile( // a comment ( with [ brackets
  name: "x, (y)", /* nested /* comment */ */
  engines: [
    (clock: "120 MHz", kind: Systolic(rows: 12, dataflow: WeightStationary)),
    (clock: "1 GHz", rate: {Int8: "1 MAC/cycle", "odd key": 3}),
  ],
  input: Some("vdd"),
  raw: r"a"#;

    #[test]
    fn values_are_found_under_serdes_paths() {
        let index = SpanIndex::of(TEXT);
        let at = |path: &str| &TEXT[index.value(path).expect(path)];
        assert_eq!(at("name"), "\"x, (y)\"");
        assert_eq!(at("engines[1].clock"), "\"1 GHz\"");
        assert_eq!(at("engines[0].kind.Systolic.rows"), "12");
        assert_eq!(at("engines[0].kind.Systolic.dataflow"), "WeightStationary");
        assert_eq!(at("engines[1].rate.Int8"), "\"1 MAC/cycle\"");
        assert_eq!(at("engines[1].rate.odd key"), "3");
        assert_eq!(at("input"), "Some(\"vdd\")");
    }

    #[test]
    fn a_missing_field_falls_back_to_what_encloses_it() {
        let index = SpanIndex::of(TEXT);
        let span = index.value_or_enclosing("engines[1].domain").unwrap();
        assert!(TEXT[span].starts_with("(clock: \"1 GHz\""));
    }

    #[test]
    fn any_prefix_of_a_text_is_scanned_without_end() {
        for end in (0..TEXT.len()).filter(|&i| TEXT.is_char_boundary(i)) {
            SpanIndex::of(&TEXT[..end]);
        }
        SpanIndex::of(&"[".repeat(100_000));
        SpanIndex::of("(a:)],)}{,:::");
    }
}
