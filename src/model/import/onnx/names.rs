//! Names of tensors, and fresh ones beside them for what stands in the place of other nodes.

use super::proto::Graph;
use std::collections::HashSet;

/// Names that are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// Numbers behind names given already.
    numbers: u64,
}

impl Names {
    /// All names of a graph and of the bodies inside of it.
    pub fn of(graph: &Graph) -> Self {
        let mut names = Self::default();
        names.add(graph);
        names
    }

    fn add(&mut self, graph: &Graph) {
        let given = graph.inputs.iter().map(|info| &info.name);
        let stored = graph.initializers.iter().map(|tensor| &tensor.name);
        let sparse =
            graph.sparse_initializers.iter().filter_map(|s| Some(&s.values.as_ref()?.name));
        let made = graph.nodes.iter().flat_map(|node| &node.outputs);
        self.taken.extend(given.chain(stored).chain(sparse).chain(made).cloned());
        for attribute in graph.nodes.iter().flat_map(|node| &node.attributes) {
            if let Some(body) = &attribute.graph {
                self.add(body);
            }
        }
    }

    /// The name if it is free, with a number behind it if not; it is taken from then on.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            self.numbers += 1;
            name = format!("{wanted}#{}", self.numbers);
        }
        name
    }
}
