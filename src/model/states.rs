//! The order in which a state is read and written, which no tensor between operators tells.

use super::operand::is_written_in_place;
use super::{ModelGraph, Movement, Op, OperatorId, TensorId, TensorRole};
use std::collections::BTreeMap;

impl ModelGraph {
    /// Pairs of places in the order of the operators, the first before the second: a read behind the
    /// write that it may see, a write behind the reads and the write before it.
    pub(super) fn state_order(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut uses: BTreeMap<TensorId, Uses> = BTreeMap::new();
        for (at, id) in self.operators().enumerate() {
            for (port, input) in self.inputs(id).into_iter().enumerate() {
                let Some(state) = input.filter(|t| self.tensor(*t).role == TensorRole::State)
                else {
                    continue;
                };
                let uses = uses.entry(state).or_default();
                if self.writes(id, port, state) {
                    pairs.extend(uses.reads.drain(..).chain(uses.write).map(|before| (before, at)));
                    uses.write = Some(at);
                } else {
                    pairs.extend(uses.write.map(|before| (before, at)));
                    uses.reads.push(at);
                }
            }
        }
        pairs.retain(|(before, after)| before != after);
        pairs
    }

    /// Whether an operator puts something new into the state at a port: rows of it, or all.
    fn writes(&self, id: OperatorId, port: usize, state: TensorId) -> bool {
        let op = &self.operator(id).op;
        let renewed = || {
            let made = self.op_outputs(id).first().and_then(|made| self.tensor(*made).bytes());
            port == 0
                && *op == Op::Movement(Movement::Scatter)
                && made == self.tensor(state).bytes()
        };
        is_written_in_place(op, port, TensorRole::State) || renewed()
    }
}

/// Who used a state last.
#[derive(Default)]
struct Uses {
    write: Option<usize>,
    /// Since that write.
    reads: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use crate::model::read_ron;

    /// A cache is written, then read; beside it stands a chain that would lower the peak if the write
    /// came last.
    const CACHED: &str = r#"(
  schema: "joulecast.model/1",
  name: "cached",
  tensors: [
    (name: "x", element: Int8, shape: [1, 8], role: Input),
    (name: "s", element: Int8, shape: [64, 8], role: State),
    (name: "wide", element: Int8, shape: [1, 4096]),
    (name: "row", element: Int8, shape: [1, 8]),
    (name: "written", element: Int8, shape: [1, 8]),
    (name: "seen", element: Int8, shape: [64, 8]),
    (name: "y", element: Int8, shape: [64, 8]),
  ],
  operators: [
    (name: "up", op: Movement(Broadcast), inputs: ["x"], outputs: ["wide"]),
    (name: "down", op: Movement(Slice), inputs: ["wide"], outputs: ["row"]),
    (name: "write", op: Movement(Scatter), inputs: ["row", "s"], outputs: ["written"]),
    (name: "read", op: Elementwise(Clip), inputs: ["s"], outputs: ["seen"]),
    (name: "take", op: Elementwise(Clip), inputs: ["seen"], outputs: ["y"]),
  ],
  outputs: ["y", "written"],
)"#;

    #[test]
    fn a_read_stays_behind_the_write_that_it_sees() {
        let graph = read_ron("cached.ron", CACHED).unwrap();
        assert_eq!(graph.state_order(), [(2, 3)]);
        let profile = graph.profile().unwrap();
        let order: Vec<_> = profile.layers.iter().map(|l| l.layer.name.as_str()).collect();
        let place = |name: &str| order.iter().position(|n| *n == name).unwrap();
        assert!(place("write") < place("read"), "{order:?}");
        // Listed behind the chain that makes its row, the write still comes before the read.
        let (chain, rest) = CACHED.split_once("    (name: \"up\"").unwrap();
        let (ups, others) = rest.split_once("    (name: \"write\"").unwrap();
        let moved = format!(
            "{chain}    (name: \"write\"{}",
            others.replacen(
                "  ],\n  outputs",
                &format!("    (name: \"up\"{ups}  ],\n  outputs"),
                1
            )
        );
        let sorted = read_ron("moved.ron", &moved).unwrap();
        let names: Vec<_> = sorted.operators().map(|id| sorted.operator(id).name.clone()).collect();
        let place = |name: &str| names.iter().position(|n| n == name).unwrap();
        assert!(place("write") < place("read"), "{names:?}");
    }
}
