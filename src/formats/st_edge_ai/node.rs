//! One row of the table of nodes.

use super::super::{ReadFault, lines};

/// A node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Node {
    /// Its name, with its kind where it has no name of its own.
    pub(super) name: String,
    /// The table it is of, from 0.
    pub(super) inference: u64,
    /// The printed duration \[s\].
    pub(super) seconds: f64,
    /// The printed counts of cycles.
    pub(super) cycles: Vec<f64>,
}

impl Node {
    /// The duration stands before the first share, and the name behind the second.
    pub(super) fn of(row: &str) -> Result<Self, ReadFault> {
        let words: Vec<&str> = row.split_whitespace().collect();
        let head = || ReadFault::Head {
            expected: "`c_id m_id type dur % ...`".into(),
            found: lines::shown(row),
        };
        let share = words.iter().position(|word| word.ends_with('%')).ok_or_else(head)?;
        let (before, from) = words.split_at(share);
        let (duration, before) =
            before.split_last().filter(|(_, b)| b.len() > 2).ok_or_else(head)?;
        let kind = before.get(2..).unwrap_or_default().join(" ");
        let after: Vec<&str> =
            from.iter().copied().skip_while(|word| word.ends_with('%')).collect();
        let (cycles, name) = bracketed(&after)?;
        Ok(Self {
            name: if name.is_empty() { kind } else { name },
            inference: 0,
            seconds: grouped(duration, "dur (ms)")? * 1e-3,
            cycles,
        })
    }
}

/// The counts in square brackets, and what follows them.
fn bracketed(words: &[&str]) -> Result<(Vec<f64>, String), ReadFault> {
    let text = words.join(" ");
    let Some(inside) = text.strip_prefix('[') else { return Ok((Vec::new(), text)) };
    let missing = || ReadFault::Missing { what: "the `]` behind the cycles".into() };
    let (counts, name) = inside.split_once(']').ok_or_else(missing)?;
    let counts = counts.split_whitespace().map(|count| grouped(count, "CPU cycles"));
    Ok((counts.collect::<Result<_, _>>()?, name.trim().into()))
}

/// A number with commas between its thousands.
fn grouped(text: &str, column: &str) -> Result<f64, ReadFault> {
    lines::number(&text.replace(',', ""), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_generations_are_read() {
        let node =
            Node::of("3 - epoch (SW) 0.231 6.5% 9.3% [ 21,595 158,002 5,520 ] Block_4").unwrap();
        assert_eq!(node.name, "Block_4");
        assert!((node.seconds - 231e-6).abs() < 1e-15);
        assert_eq!(node.cycles, [21_595.0, 158_002.0, 5_520.0]);
        let node = Node::of("0 2 Conv2D (0x103) 1,012.345 12.3%").unwrap();
        assert_eq!((node.name.as_str(), node.cycles.len()), ("Conv2D (0x103)", 0));
        assert!((node.seconds - 1.012345).abs() < 1e-12);
    }

    #[test]
    fn a_row_that_is_cut_is_told() {
        for row in
            ["0 - epoch", "0 - epoch 0.1", "0 0.1 1%", "1 - e 0.1 1% 2% [ 1 2", "1 - e x 1% 2%"]
        {
            assert!(Node::of(row).is_err(), "{row}");
        }
    }
}
