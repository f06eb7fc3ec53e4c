//! The path of a field, spelled as serde spells it (`engines[0].energy_per_mac.Int8`).

use std::fmt;

/// A path that grows and shrinks while a structure is walked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    unspelled: bool,
}

impl FieldPath {
    /// The path of the whole.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path that stays empty, for a walk that asks for no names: writing them takes most of its time.
    pub fn unspelled() -> Self {
        Self { text: String::new(), unspelled: true }
    }

    /// Runs `inside` with a key appended as it prints.
    pub fn under(&mut self, key: &impl fmt::Display, inside: impl FnOnce(&mut Self)) {
        if self.unspelled {
            return inside(self);
        }
        self.within(&key.to_string(), inside);
    }

    /// Runs `inside` with `name` appended.
    pub fn within(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        if self.unspelled {
            return inside(self);
        }
        let length = self.text.len();
        if length > 0 {
            self.text.push('.');
        }
        self.text.push_str(name);
        inside(self);
        self.text.truncate(length);
    }

    /// Runs `inside` with `[index]` appended.
    pub fn at(&mut self, index: usize, inside: impl FnOnce(&mut Self)) {
        if self.unspelled {
            return inside(self);
        }
        let length = self.text.len();
        self.text.push_str(&format!("[{index}]"));
        inside(self);
        self.text.truncate(length);
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
