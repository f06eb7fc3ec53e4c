//! What the work of a transformer depends on.

use crate::model::ElementType;
use std::collections::BTreeSet;

/// A transformer. Extents are at least 1, and key heads divide query heads.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Transformer {
    pub name: String,
    /// Type of weights, activations and cache.
    pub element: ElementType,
    /// Extent of a token between layers.
    pub hidden: u64,
    pub layers: u64,
    pub heads: Heads,
    /// Extent inside of a feed-forward layer that is no mixture.
    pub feed_forward: u64,
    pub experts: Option<Experts>,
    pub conventions: Conventions,
    pub stem: Stem,
    pub head: Head,
}

/// Attention heads.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Heads {
    pub query: u64,
    /// Heads of keys and values, each shared by a group of query heads.
    pub key: u64,
    /// Extent of one head.
    pub extent: u64,
    pub window: Option<Window>,
}

impl Heads {
    /// Query heads on one head of keys.
    pub fn group(&self) -> u64 {
        self.query / self.key.max(1)
    }
}

/// Attention to the last so many keys.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Window {
    pub keys: u64,
    /// Layers that attend to all keys all the same.
    pub full: BTreeSet<u64>,
}

/// A mixture of experts in place of the feed-forward layer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Experts {
    /// Stored experts of a layer.
    pub count: u64,
    /// Experts that each token picks.
    pub picked: u64,
    /// Extent inside of an expert.
    pub width: u64,
    /// Extent inside of an expert that all tokens pass, beside the picked ones.
    pub shared: Option<u64>,
    /// True where the shared expert has a gate, one number a token.
    pub shared_gate: bool,
    /// Layers with a feed-forward layer instead.
    pub dense: BTreeSet<u64>,
}

/// How the parts are put together.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Conventions {
    /// A token attends to itself and those before it, and there is a cache.
    pub causal: bool,
    /// Normalisations also subtract a mean and add a shift.
    pub shift: bool,
    pub order: Order,
    /// Extent of a head that is rotated by position; 0 for none.
    pub rotated: u64,
    /// Queries and keys are normalised by head.
    pub head_norm: bool,
    /// The feed-forward layer multiplies two products, one behind the activation.
    pub gated: bool,
    /// As the file calls it.
    pub activation: String,
    pub bias: Bias,
    /// Embeddings are multiplied by a number.
    pub scaled: bool,
}

/// Which products add a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct Bias {
    /// Queries, keys and values.
    pub queries: bool,
    /// The product behind attention.
    pub output: bool,
    pub feed_forward: bool,
    /// The language head.
    pub head: bool,
}

impl Bias {
    pub fn all(bias: bool) -> Self {
        Self { queries: bias, output: bias, feed_forward: bias, head: false }
    }
}

/// Where a layer normalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Order {
    /// Before attention and before the feed-forward layer.
    Before,
    /// Behind each residual sum.
    After,
    /// Before and behind both.
    Around,
    /// Attention and feed-forward side by side, each with its own.
    Parallel,
    /// Side by side behind one.
    ParallelShared,
}

/// How tokens come in.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) enum Stem {
    /// Rows of a table.
    Tokens {
        vocabulary: u64,
        /// Rows of a learned table of positions.
        positions: Option<u64>,
        /// Rows of a table of token types.
        segments: Option<u64>,
    },
    /// Square pieces of an image behind a class token, and behind one of distillation where there is
    /// such.
    Patches { image: u64, patch: u64, channels: u64, distilled: bool },
}

/// What stands behind the last layer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) enum Head {
    /// Scores of the vocabulary, of the last token alone; `tied` reads the embedding table.
    Language { tied: bool },
    /// A product of the first token.
    Pooler,
    /// Scores of so many classes, of the first token.
    Classes(u64),
}

impl Transformer {
    /// The mixture of a layer, if it has one.
    pub fn experts_of(&self, layer: u64) -> Option<&Experts> {
        self.experts.as_ref().filter(|experts| !experts.dense.contains(&layer))
    }

    /// Keys that a token of a layer attends to, of `keys` there are.
    pub fn attended(&self, layer: u64, keys: u64) -> u64 {
        let window = self.heads.window.as_ref().filter(|window| !window.full.contains(&layer));
        window.map_or(keys, |window| keys.min(window.keys))
    }
}
