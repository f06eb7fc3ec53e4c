//! What every fuzz target asks: whatever the bytes, a graph that can be counted or an error.

use joulecast::model::{Bindings, import};

/// Reads the bytes as a file of this name.
pub fn read(name: &str, bytes: &[u8]) {
    match import::from_bytes(name, bytes, &Bindings::default()) {
        Ok(graph) => drop(graph.layers().expect("a graph that was read can be counted")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
