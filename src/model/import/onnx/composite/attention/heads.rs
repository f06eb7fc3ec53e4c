//! How many heads of which extent queries, keys and values have, in each way to hand them over.

use super::{GROUPED, PLAIN, Packing};
use crate::model::Shape;
use crate::model::import::onnx::node::Node;

/// Queries, keys or values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub batch: u64,
    pub heads: u64,
    pub tokens: u64,
    /// Extent of one head.
    pub extent: u64,
    /// Heads stand side by side in the last axis, or on an axis of their own.
    pub flat: bool,
}

impl Heads {
    pub fn width(&self) -> u64 {
        self.heads.saturating_mul(self.extent)
    }

    pub fn shape(&self) -> Shape {
        match self.flat {
            true => Shape(vec![self.batch, self.tokens, self.width()]),
            false => Shape(vec![self.batch, self.heads, self.tokens, self.extent]),
        }
    }
}

/// Queries, keys and values; nothing where a shape is not known or has another rank.
pub(super) fn read(node: &Node<'_>, packing: Packing) -> Result<Option<[Heads; 3]>, String> {
    let given = |name: &str| u64::try_from(node.int(name, 0)).ok().filter(|n| *n > 0);
    let (all, shared) = match node.native {
        PLAIN => (given("q_num_heads"), given("kv_num_heads")),
        GROUPED => (given("num_heads"), given("kv_num_heads")),
        _ => (given("num_heads"), given("num_heads")),
    };
    if packing == Packing::Apart {
        let [queries, keys, values] = [(0, all), (1, shared), (2, shared)]
            .map(|(port, heads)| node.shape(port).map_or(Ok(None), |shape| apart(shape, heads)));
        let (queries, keys, values) = (queries?, keys?, values?);
        return Ok(queries.zip(keys).zip(values).map(|((q, k), v)| [q, k, v]));
    }
    let Some([batch, tokens, width]) = node.shape(0).map(|shape| &shape.0[..]) else {
        return Ok(None);
    };
    let (all, shared) = all.zip(shared).ok_or(MISSING)?;
    let extents = match packing {
        Packing::Projected => projected(node, all)?,
        _ => Some([together(*width, all, shared)?; 3]),
    };
    let of = |heads: u64, extent: u64| {
        let (batch, tokens) = (*batch, *tokens);
        Heads { batch, heads, tokens, extent, flat: true }
    };
    Ok(extents.map(|[q, k, v]| [of(all, q), of(shared, k), of(shared, v)]))
}

const MISSING: &str = "its numbers of heads are missing";

fn apart(shape: &Shape, heads: Option<u64>) -> Result<Option<Heads>, String> {
    Ok(match shape.0[..] {
        [batch, heads, tokens, extent] => Some(Heads { batch, heads, tokens, extent, flat: false }),
        [batch, tokens, width] => {
            let heads = heads.ok_or(MISSING)?;
            let extent = split(width, heads)?;
            Some(Heads { batch, heads, tokens, extent, flat: true })
        }
        _ => None,
    })
}

/// Extents of a head where one product makes all.
fn projected(node: &Node<'_>, heads: u64) -> Result<Option<[u64; 3]>, String> {
    let Some(weights) = node.shape(1) else { return Ok(None) };
    let sizes = node.ints("qkv_hidden_sizes").unwrap_or(&[]);
    let sizes: Vec<u64> = sizes.iter().filter_map(|n| u64::try_from(*n).ok()).collect();
    if let [queries, keys, values] = sizes[..] {
        return Ok(Some([split(queries, heads)?, split(keys, heads)?, split(values, heads)?]));
    }
    Ok(Some([split(split(weights.last(), 3)?, heads)?; 3]))
}

/// Extent of a head where those of queries, keys and values stand in one row.
fn together(width: u64, all: u64, shared: u64) -> Result<u64, String> {
    let heads = shared.checked_mul(2).and_then(|two| two.checked_add(all));
    split(width, heads.ok_or("too many heads")?)
}

fn split(width: u64, heads: u64) -> Result<u64, String> {
    let even = heads > 0 && width.is_multiple_of(heads);
    even.then(|| width / heads).ok_or_else(|| format!("{width} is not {heads} heads"))
}
