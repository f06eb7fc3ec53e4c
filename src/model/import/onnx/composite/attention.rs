//! `Attention` of the format itself, and the attention operators of ONNX Runtime.
//!
//! Queries of `g` heads that share keys are rows of one product: `[B, H, g Sq, D] x [B, H, D, Sk]`.
//! Heads are read where they stand, so that their rearrangement is a view. Counted: scaling of the
//! queries, both products, caps, masks and the softmax. A causal mask leaves the products whole, as
//! dense kernels do.

mod heads;
mod layers;

use super::Part;
use crate::model::Shape;
use crate::model::import::onnx::node::Node;
use heads::Heads;

const PLAIN: &str = "Attention";
const PACKED: &str = "com.microsoft::Attention";
const MULTI_HEAD: &str = "com.microsoft::MultiHeadAttention";
const GROUPED: &str = "com.microsoft::GroupQueryAttention";

pub(super) fn is_attention(native: &str) -> bool {
    [PLAIN, PACKED, MULTI_HEAD, GROUPED].contains(&native)
}

/// Ports of keys and values of other tokens.
#[derive(Clone, Copy)]
enum Cache {
    Apart([usize; 2]),
    /// One behind the other in one tensor.
    Together(usize),
}

impl Cache {
    fn first(self) -> usize {
        match self {
            Self::Apart([port, _]) | Self::Together(port) => port,
        }
    }
}

/// Which ports play which part.
struct Ports {
    /// What is laid over the scores, and what its layer is called.
    masks: &'static [(&'static str, usize)],
    /// Keys and values of earlier tokens.
    past: Cache,
    /// Keys and values so far, as outputs.
    present: Cache,
    /// Scores, as an output.
    scores: Option<usize>,
    /// Biases of queries, keys and values.
    bias: Option<usize>,
    /// Cosines, sines and places of tokens.
    tables: &'static [usize],
    /// A score of nothing for each head.
    sink: Option<usize>,
}

impl Ports {
    fn of(native: &str) -> Self {
        let common = Self {
            masks: &[("mask", 3), ("lengths", 6)],
            past: Cache::Apart([4, 5]),
            present: Cache::Apart([1, 2]),
            scores: Some(3),
            bias: None,
            tables: &[],
            sink: None,
        };
        match native {
            PACKED => Self {
                masks: &[("mask", 3), ("bias", 5)],
                past: Cache::Together(4),
                present: Cache::Together(1),
                scores: None,
                ..common
            },
            MULTI_HEAD => Self {
                masks: &[("padding_mask", 4), ("mask", 5)],
                past: Cache::Apart([6, 7]),
                bias: Some(3),
                ..common
            },
            GROUPED => Self {
                masks: &[("bias", 10)],
                past: Cache::Apart([3, 4]),
                scores: None,
                tables: &[7, 8, 9],
                sink: Some(11),
                ..common
            },
            _ => common,
        }
    }
}

/// How queries, keys and values come in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Apart,
    /// Out of one product.
    Projected,
    /// One behind the other in each row.
    SideBySide,
}

/// The extents of an attention operator.
pub(super) struct Attention {
    queries: Heads,
    keys: Heads,
    values: Heads,
    /// Query heads on each head of keys.
    group: u64,
    /// Tokens before those whose keys are given; of a shared buffer, all that it holds.
    past: u64,
    /// True where earlier tokens and new ones stand in one buffer, which is handed on.
    in_place: bool,
    packing: Packing,
    ports: Ports,
}

impl Attention {
    /// Reads the extents; nothing where a shape is not known or the packing is not one of these.
    pub(super) fn new(node: &Node<'_>) -> Result<Option<Self>, String> {
        let ports = Ports::of(node.native);
        let packing = match node.native {
            PACKED => Packing::Projected,
            GROUPED if node.input(1).is_none() => Packing::SideBySide,
            _ => Packing::Apart,
        };
        let Some([queries, keys, values]) = heads::read(node, packing)? else { return Ok(None) };
        let (all, shared) = (queries.heads, keys.heads);
        if shared == 0 || values.heads != shared || !all.is_multiple_of(shared) {
            let of_values = values.heads;
            return Err(format!(
                "{all} query heads do not share {shared} heads of keys and {of_values} of values"
            ));
        }
        if queries.extent != keys.extent {
            let (of_queries, of_keys) = (queries.extent, keys.extent);
            return Err(format!("heads of {of_queries} and keys of {of_keys} do not multiply"));
        }
        let port = ports.past.first();
        let past = match (node.input(port), node.shape(port)) {
            (Some(_), None) => return Ok(None),
            (_, Some(past)) => past.extent(past.rank().saturating_sub(2)),
            (None, None) => 0,
        };
        let stated = node.stated_cache.as_ref().map(|shape| shape.extent(2));
        let in_place = node.native == GROUPED && past > 0 && stated == Some(past);
        let group = all / shared;
        Ok(Some(Self { queries, keys, values, group, past, in_place, packing, ports }))
    }

    /// Tokens that are looked at.
    fn tokens(&self) -> u64 {
        if self.in_place { self.past } else { self.keys.tokens.saturating_add(self.past) }
    }

    /// Keys or values of so many tokens.
    fn cache(&self, of: &Heads, tokens: u64) -> Shape {
        Shape(vec![of.batch, of.heads, tokens, of.extent])
    }

    /// Scores of each query head.
    fn scores(&self) -> Shape {
        let Heads { batch, heads, tokens, .. } = self.queries;
        Shape(vec![batch, heads, tokens, self.tokens()])
    }

    /// Shapes of the outputs, by port.
    pub(super) fn shapes(&self) -> Vec<Option<Shape>> {
        let result = Heads { extent: self.values.extent, ..self.queries };
        let mut shapes = vec![Some(result.shape()), None, None, None];
        let mut put = |port: usize, shape: Shape| {
            if let Some(entry) = shapes.get_mut(port) {
                *entry = Some(shape);
            }
        };
        let [keys, values] =
            [&self.keys, &self.values].map(|heads| self.cache(heads, self.tokens()));
        match self.ports.present {
            Cache::Apart(ports) => {
                put(ports[0], keys);
                put(ports[1], values);
            }
            Cache::Together(port) => put(port, Shape([&[2], &keys.0[..]].concat())),
        }
        if let Some(port) = self.ports.scores {
            put(port, self.scores());
        }
        shapes
    }

    /// The layers it is.
    pub(super) fn parts(&self, node: &Node<'_>) -> Vec<Part> {
        layers::Layers::of(self, node)
    }
}
