//! Where each field of a RON text stands: field path to bytes.
//!
//! `ron` reports the place of what it cannot parse; what is found later (a reference to nothing, a
//! voltage out of order) has only a field path. This scanner walks the text once, without
//! building values, and remembers the bytes of every value under the path that serde gives it.
//! It never fails: a text it cannot follow yields the part before.

use std::collections::BTreeMap;
use std::ops::Range;

/// Byte spans of the values of a RON text, by field path.
#[derive(Debug, Default)]
pub struct SpanIndex {
    values: BTreeMap<String, Range<usize>>,
}

impl SpanIndex {
    /// Walks `text`.
    pub fn of(text: &str) -> Self {
        let mut scanner = Scanner { text, at: 0, path: String::new(), index: Self::default() };
        scanner.attributes();
        scanner.value(0);
        scanner.index
    }

    /// The bytes of the value at `path` (`engines[0].clock`).
    pub fn value(&self, path: &str) -> Option<Range<usize>> {
        self.values.get(path).cloned()
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

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    path: String,
    index: SpanIndex,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
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

    fn identifier(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        word
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
        if self.at > start {
            self.index.values.insert(self.path.clone(), start..self.at);
        }
    }

    fn named(&mut self, depth: usize) {
        if self.rest().starts_with("r\"") || self.rest().starts_with("r#") {
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
    fn group(&mut self, depth: usize, variant: Option<String>) {
        let outer = self.path.len();
        if let Some(name) = &variant
            && outer > 0
        {
            self.path.push('.');
            self.path.push_str(name);
        }
        self.bump();
        let mut position = 0;
        while !self.eat(')') && self.at < self.text.len() {
            let (before, base) = (self.at, self.path.len());
            match self.field_name() {
                Some(name) => self.push_field(&name),
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

    fn field_name(&mut self) -> Option<String> {
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
        while !self.eat('}') && self.at < self.text.len() {
            let (before, base) = (self.at, self.path.len());
            let key_start = self.at;
            self.key();
            let key = self.text.get(key_start..self.at).unwrap_or("").trim_matches('"').to_owned();
            self.push_field(&key);
            if self.eat(':') {
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
