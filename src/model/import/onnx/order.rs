//! Nodes in an order in which each comes behind what it reads. The format asks for it, and not every
//! writer keeps to it.

use super::proto::{Graph, Node};
use std::collections::{BTreeSet, HashMap};

/// Names listed of a cycle.
const NAMES_LISTED: usize = 6;

/// Sorts the nodes where they are not, each as near to its place in the file as can be; true if
/// that changed anything. A cycle is an error that names nodes in it.
pub(super) fn sort(graph: &mut Graph) -> Result<bool, String> {
    let makers = makers(&graph.nodes);
    let reads = |node: &Node| -> BTreeSet<usize> {
        node.inputs.iter().filter_map(|name| makers.get(name.as_str()).copied()).collect()
    };
    let sorted =
        graph.nodes.iter().enumerate().all(|(at, node)| reads(node).iter().all(|m| *m < at));
    if sorted {
        return Ok(false);
    }
    let needs: Vec<BTreeSet<usize>> = graph.nodes.iter().map(reads).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (at, makers) in needs.iter().enumerate() {
        for maker in makers {
            if let Some(list) = readers.get_mut(*maker) {
                list.push(at);
            }
        }
    }
    let mut missing: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut ready: BTreeSet<usize> = (0..needs.len()).filter(|at| needs[*at].is_empty()).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for reader in readers.get(at).into_iter().flatten() {
            if let Some(left) = missing.get_mut(*reader) {
                *left -= 1;
                if *left == 0 {
                    ready.insert(*reader);
                }
            }
        }
    }
    if order.len() < needs.len() {
        return Err(cycle(&graph.nodes, &needs, &missing));
    }
    let mut nodes: Vec<_> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
    graph.nodes = order.iter().filter_map(|at| nodes.get_mut(*at)?.take()).collect();
    Ok(true)
}

/// The node that makes each tensor; of two, the first.
fn makers(nodes: &[Node]) -> HashMap<&str, usize> {
    let mut makers = HashMap::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            makers.entry(name.as_str()).or_insert(at);
        }
    }
    makers
}

/// Goes from one node that waits to one that it waits for, until one comes up again.
fn cycle(nodes: &[Node], needs: &[BTreeSet<usize>], missing: &[usize]) -> String {
    let waits = |at: &usize| missing.get(*at).is_some_and(|left| *left > 0);
    let mut next = (0..nodes.len()).find(|at| waits(at));
    let (mut path, mut seen) = (Vec::new(), HashMap::new());
    while let Some(at) = next {
        if let Some(start) = seen.insert(at, path.len()) {
            path.drain(..start);
            break;
        }
        path.push(at);
        next = needs.get(at).and_then(|makers| makers.iter().copied().find(|at| waits(at)));
    }
    let shown = |at: &usize| {
        let node = nodes.get(*at);
        let made = node.and_then(|n| n.outputs.first()).map_or("", String::as_str);
        let op_type = node.map_or("", |node| node.op_type.as_str());
        format!("{op_type} that makes `{}`", made.chars().take(80).collect::<String>())
    };
    let more = path.len().saturating_sub(NAMES_LISTED);
    let mut chain =
        path.iter().take(NAMES_LISTED).map(shown).collect::<Vec<_>>().join(" reads from ");
    if more > 0 {
        chain.push_str(&format!(" and so on through {more} more"));
    }
    format!("its graph has a cycle, each node reading from the next: {chain}")
}
