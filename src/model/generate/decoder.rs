//! TinyLlama 1.1B, one token decoded at a context of 1024 keys: the Llama architecture in the size of
//! Zhang et al., arXiv:2401.02385. The context and the 16-bit floats are ours.

use super::described;
use crate::model::builder::Stored;
use crate::model::transformer::{
    Bias, Conventions, Head, Heads, Order, Stem, Transformer, assemble,
};
use crate::model::{ElementType, ModelError, ModelGraph, Pass};

/// Keys that the token attends to.
const CONTEXT: u64 = 1024;

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let element = ElementType::Float16;
    let transformer = Transformer {
        name: name.to_owned(),
        element,
        hidden: 2048,
        layers: 22,
        heads: Heads { query: 32, key: 4, extent: 64, window: None },
        feed_forward: 5632,
        experts: None,
        conventions: Conventions {
            causal: true,
            shift: false,
            order: Order::Before,
            rotated: 64,
            head_norm: false,
            gated: true,
            activation: "silu".to_owned(),
            bias: Bias::all(false),
            scaled: false,
        },
        stem: Stem::Tokens { vocabulary: 32_000, positions: None, segments: None },
        head: Head::Language { tied: false },
    };
    let graph = assemble(&transformer, Pass::Decode(CONTEXT), Stored { element, group: None })?;
    Ok(described(
        graph,
        "Zhang et al., TinyLlama: An Open-Source Small Language Model, arXiv:2401.02385, table 1 (22 \
         layers, 2048 wide, 5632 inside, 32 heads on 4 of keys, vocabulary 32000)",
        "Apache-2.0 (TinyLlama)",
    ))
}
