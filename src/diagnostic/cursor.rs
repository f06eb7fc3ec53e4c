//! The small words of RON: blanks and comments, names, strings, numbers.

use std::borrow::Cow;

/// Deeper than any file of ours, and shallower than the stack.
pub(super) const DEPTH_LIMIT: usize = 120;

/// A place in a text that moves over one word at a time. It never fails: what is no such word is
/// not moved over.
pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn space(&mut self) {
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

    /// Moves behind the last `#![…]`, and says where that ends.
    pub(super) fn attributes(&mut self) -> usize {
        let mut end = 0;
        self.space();
        while self.rest().starts_with("#!") {
            self.at += self.rest().find(']').map_or(self.rest().len(), |i| i + 1);
            end = self.at;
            self.space();
        }
        end
    }

    pub(super) fn identifier(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The name of a field with its colon, if one comes next.
    pub(super) fn field_name(&mut self) -> Option<&'a str> {
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

    /// A word of any kind: a string, a character, a name or a number.
    pub(super) fn key(&mut self) {
        match self.peek() {
            Some('r') if self.is_raw_string() => self.raw_string(),
            Some('\'') => self.character(),
            Some('"') => self.string(),
            Some(c) if c.is_alphabetic() || c == '_' => drop(self.identifier()),
            _ => self.number(),
        }
    }

    pub(super) fn string(&mut self) {
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

    pub(super) fn is_raw_string(&self) -> bool {
        let behind = self.rest().strip_prefix('r');
        behind.is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
    }

    pub(super) fn raw_string(&mut self) {
        self.bump();
        let hashes = self.rest().bytes().take_while(|&b| b == b'#').count();
        self.at += hashes + 1;
        let closing = format!("\"{}", "#".repeat(hashes));
        self.at += self.rest().find(&closing).map_or(self.rest().len(), |i| i + closing.len());
    }

    pub(super) fn character(&mut self) {
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

    pub(super) fn number(&mut self) {
        let rest = self.rest();
        let end = rest.find([',', ')', ']', '}', ':', ' ', '\n', '\t', '\r', '/']);
        self.at += end.unwrap_or(rest.len());
    }
}

/// A key as serde sees it.
pub(super) fn unquoted(key: &str) -> Cow<'_, str> {
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
