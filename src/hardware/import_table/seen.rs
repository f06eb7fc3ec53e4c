//! Names of a table: which there are, and which of them say the same twice.

use super::columns::Role;
use super::header::Layout;
use super::rows::Row;
use super::totals::{behind_total, is_total};
use std::collections::BTreeMap;

/// Modes and blocks of a table in lower case, each with how it is written first.
#[derive(Debug, Default)]
pub(super) struct Names {
    modes: BTreeMap<String, String>,
    blocks: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row>, layout: &Layout) -> Self {
        let mut names = Self::default();
        let column = |role| layout.columns.get(role);
        let (mode, block) = (column(Role::Mode), column(Role::Block));
        for row in rows {
            let text = |column: Option<usize>| column.map_or("", |c| row.cell(c));
            for (known, name) in [(&mut names.modes, text(mode)), (&mut names.blocks, text(block))]
            {
                if !name.is_empty() && !is_total(name) && behind_total(name).is_none() {
                    known.entry(name.to_lowercase()).or_insert_with(|| name.to_owned());
                }
            }
        }
        names
    }

    pub(super) fn has_mode(&self, name: &str) -> bool {
        self.modes.contains_key(&name.to_lowercase())
    }

    /// The mode as the table writes it first; `name` itself where it has none such.
    pub(super) fn mode(&self, name: &str) -> Option<String> {
        let known = self.modes.get(&name.to_lowercase());
        Some(known.cloned().unwrap_or_else(|| name.to_owned()))
    }

    pub(super) fn block(&self, name: &str) -> Option<String> {
        self.blocks.get(&name.to_lowercase()).cloned()
    }
}

/// What a row has in common with one above.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// Block and mode.
    Twice { line: u64 },
    /// The mode of its block, but for capital letters.
    Mode { first: String, line: u64 },
    /// The block, but for capital letters.
    Block { first: String, line: u64 },
}

/// Blocks and modes of the rows above, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct Seen {
    blocks: BTreeMap<String, (String, u64)>,
    modes: BTreeMap<(String, String), (String, u64)>,
}

impl Seen {
    pub(super) fn enter(&mut self, block: &str, mode: &str, line: u64) -> Option<Clash> {
        let (lower, mode_lower) = (block.to_lowercase(), mode.to_lowercase());
        let (first, at) =
            self.blocks.entry(lower.clone()).or_insert_with(|| (block.to_owned(), line)).clone();
        if first != block {
            return Some(Clash::Block { first, line: at });
        }
        let (first, at) = self
            .modes
            .entry((lower, mode_lower))
            .or_insert_with(|| (mode.to_owned(), line))
            .clone();
        match (at == line, first == mode) {
            (true, _) => None,
            (false, true) => Some(Clash::Twice { line: at }),
            (false, false) => Some(Clash::Mode { first, line: at }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_say_the_same_twice_are_known_whatever_their_letters() {
        let mut seen = Seen::default();
        assert_eq!(seen.enter("modem", "rx", 2), None);
        assert_eq!(seen.enter("modem", "tx", 3), None);
        assert_eq!(seen.enter("modem", "rx", 4), Some(Clash::Twice { line: 2 }));
        let first = "tx".to_owned();
        assert_eq!(seen.enter("modem", "TX", 5), Some(Clash::Mode { first, line: 3 }));
        let first = "modem".to_owned();
        assert_eq!(seen.enter("Modem", "rx", 6), Some(Clash::Block { first, line: 2 }));
        assert_eq!(seen.enter("lcd", "RX", 7), None, "of another block");
    }
}
