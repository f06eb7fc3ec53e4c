//! What the reader is told of a file beside its layers.

use std::collections::BTreeMap;

/// Names listed in one note before the rest is only counted.
const NAMES_LISTED: usize = 8;

/// Things met while a file is read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Nodes that were folded into constants.
    pub folded: usize,
    functions: BTreeMap<String, String>,
    opaque: BTreeMap<String, usize>,
    control_flow: BTreeMap<String, usize>,
    containers: BTreeMap<String, usize>,
    unresolved: Vec<String>,
    more_unresolved: usize,
    branches: usize,
}

impl Notes {
    /// No notes yet; `functions` are those of the file whose bodies are not read, and why, and
    /// `branches` how many stand in the place of a condition that is known.
    pub fn new(functions: BTreeMap<String, String>, branches: usize) -> Self {
        Self { functions, branches, ..Self::default() }
    }

    pub fn opaque(&mut self, native: &str) {
        *self.opaque.entry(native.to_owned()).or_default() += 1;
    }

    pub fn control_flow(&mut self, native: &str) {
        *self.control_flow.entry(native.to_owned()).or_default() += 1;
    }

    pub fn container(&mut self, native: &str) {
        *self.containers.entry(native.to_owned()).or_default() += 1;
    }

    pub fn unresolved(&mut self, node: &str) {
        if self.unresolved.len() < NAMES_LISTED {
            self.unresolved.push(format!("`{node}`"));
        } else {
            self.more_unresolved += 1;
        }
    }

    /// One line for each kind of thing.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self.branches {
            0 => {}
            1 => lines.push("1 condition is known: its branch is read".to_owned()),
            n => lines.push(format!("{n} conditions are known: their branches are read")),
        }
        match self.folded {
            0 => {}
            1 => lines.push("1 constant node folded".to_owned()),
            n => lines.push(format!("{n} constant nodes folded")),
        }
        for (native, count) in &self.opaque {
            if let Some(reason) = self.functions.get(native) {
                lines.push(format!("function `{native}` ({count} calls) is not counted: {reason}"));
                continue;
            }
            lines.push(format!(
                "operator type `{native}` ({count} of them): its work is not known and not counted"
            ));
        }
        for (native, count) in &self.control_flow {
            lines.push(format!(
                "control flow `{native}` ({count} of them): its bodies are not read, nor counted"
            ));
        }
        for (native, count) in &self.containers {
            lines.push(format!(
                "operator type `{native}` ({count} of them): lists of tensors and tensors that may \
                 be missing are not followed, nor is work on them counted"
            ));
        }
        if !self.unresolved.is_empty() {
            let mut names = self.unresolved.join(", ");
            if self.more_unresolved > 0 {
                names.push_str(&format!(" and {} more", self.more_unresolved));
            }
            lines.push(format!("work not counted, since shapes are not known: {names}"));
        }
        lines
    }
}
