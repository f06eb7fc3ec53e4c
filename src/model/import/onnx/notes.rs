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
    unresolved: Listed,
    /// Outputs that no part of their operator makes.
    unmade: Listed,
    /// Attention that looks at a window of the tokens only.
    windowed: Listed,
    /// Filters that are read with different zero points.
    disputed: Listed,
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
        self.unresolved.add(node);
    }

    pub fn windowed(&mut self, node: &str) {
        self.windowed.add(node);
    }

    pub fn unmade(&mut self, output: &str) {
        self.unmade.add(output);
    }

    pub fn disputed(&mut self, filter: &str) {
        self.disputed.add(filter);
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
        for (listed, what) in [
            (&self.unresolved, "work not counted, since shapes are not known"),
            (&self.unmade, "outputs whose making is not counted"),
            (&self.windowed, "looks at a window of the tokens, and is counted over all of them"),
            (&self.disputed, "weights without statistics, read with different zero points"),
        ] {
            lines.extend(listed.text().map(|names| format!("{what}: {names}")));
        }
        lines
    }
}

/// The first names of a kind, and how many more there are.
#[derive(Debug, Default)]
struct Listed {
    names: Vec<String>,
    more: usize,
}

impl Listed {
    fn add(&mut self, name: &str) {
        if self.names.len() < NAMES_LISTED {
            self.names.push(format!("`{name}`"));
        } else {
            self.more += 1;
        }
    }

    fn text(&self) -> Option<String> {
        let names = self.names.join(", ");
        match (self.names.is_empty(), self.more) {
            (true, _) => None,
            (_, 0) => Some(names),
            (_, more) => Some(format!("{names} and {more} more")),
        }
    }
}
