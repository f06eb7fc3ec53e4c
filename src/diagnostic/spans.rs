//! Where each field of a RON text stands: field path to bytes.
//!
//! `ron` reports the place of what it cannot parse; what is found later (a reference to nothing, a
//! voltage out of order) has only a field path. This scanner walks the text once, without
//! building values, and remembers the bytes of every value under the path that serde gives it.
//! It never fails: a text it cannot follow yields the part before.

use super::cursor::{Cursor, DEPTH_LIMIT, unquoted};
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

    /// True where `text` has a value at `path`; remembers none of a longer path.
    pub(super) fn has(text: &str, path: &str) -> bool {
        let index = Some(Self::default());
        let mut scanner = Scanner { index, longest: path.len(), ..Scanner::new(text) };
        scanner.walk();
        scanner.index.is_some_and(|index| index.value(path).is_some())
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
    cursor: Cursor<'a>,
    path: String,
    /// Filled when values are asked for.
    index: Option<SpanIndex>,
    /// Values of longer paths are not remembered.
    longest: usize,
    duplicates: Vec<Duplicate>,
}

/// Names of one group or map, and where they stand.
type Seen<'a> = HashMap<Cow<'a, str>, usize>;

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let cursor = Cursor { text, at: 0 };
        Self {
            cursor,
            path: String::new(),
            index: None,
            longest: PATH_LIMIT,
            duplicates: Vec::new(),
        }
    }

    fn walk(&mut self) {
        self.cursor.attributes();
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

    /// A value at the current path; records its bytes.
    fn value(&mut self, depth: usize) {
        self.cursor.space();
        let start = self.cursor.at;
        if depth > DEPTH_LIMIT {
            return;
        }
        match self.cursor.peek() {
            Some('(') => self.group(depth, None),
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('"') => self.cursor.string(),
            Some('\'') => self.cursor.character(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(depth),
            _ => self.cursor.number(),
        }
        if let Some(index) = &mut self.index
            && self.cursor.at > start
            && self.path.len() <= self.longest
        {
            index.values.insert(self.path.clone(), start..self.cursor.at);
        }
    }

    fn named(&mut self, depth: usize) {
        if self.cursor.is_raw_string() {
            return self.cursor.raw_string();
        }
        let word = self.cursor.identifier();
        let after = self.cursor.at;
        self.cursor.space();
        if self.cursor.peek() == Some('(') {
            let variant = (word != "Some").then_some(word);
            self.group(depth, variant);
        } else {
            self.cursor.at = after;
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
        self.cursor.bump();
        let (mut position, mut seen) = (0, Seen::new());
        while !self.cursor.eat(')') && self.cursor.at < self.cursor.text.len() {
            let (before, base) = (self.cursor.at, self.path.len());
            match self.cursor.field_name() {
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
            self.cursor.eat(',');
            position += 1;
            if self.cursor.at == before {
                return self.path.truncate(outer);
            }
        }
        self.path.truncate(outer);
    }

    fn push_field(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }

    fn list(&mut self, depth: usize) {
        self.cursor.bump();
        let mut position = 0;
        while !self.cursor.eat(']') && self.cursor.at < self.cursor.text.len() {
            let (before, base) = (self.cursor.at, self.path.len());
            self.path.push_str(&format!("[{position}]"));
            self.value(depth + 1);
            self.path.truncate(base);
            self.cursor.eat(',');
            position += 1;
            if self.cursor.at == before {
                return;
            }
        }
    }

    fn map(&mut self, depth: usize) {
        self.cursor.bump();
        let mut seen = Seen::new();
        while !self.cursor.eat('}') && self.cursor.at < self.cursor.text.len() {
            let (before, base) = (self.cursor.at, self.path.len());
            self.cursor.key();
            let bytes = before..self.cursor.at;
            let key = unquoted(self.cursor.text.get(bytes.clone()).unwrap_or(""));
            self.push_field(&key);
            if self.cursor.eat(':') {
                self.name(&mut seen, key, bytes);
                self.value(depth + 1);
            }
            self.path.truncate(base);
            self.cursor.eat(',');
            if self.cursor.at == before {
                return;
            }
        }
    }
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
