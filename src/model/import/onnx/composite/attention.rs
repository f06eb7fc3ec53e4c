//! `Attention` of the format itself, and the attention operators of ONNX Runtime.
//!
//! Queries of `g` heads that share keys are rows of one product: `[B, H, g Sq, D] x [B, H, D, Sk]`.
//! Heads are read where they stand, so that their rearrangement is a view. Counted: scaling of the
//! queries, both products, the mask and the softmax. A causal mask leaves the products whole, as
//! dense kernels do.

use super::{Makes, Part, Source, has_output};
use crate::model::import::onnx::node::Node;
use crate::model::{ElementFunction, Movement, Op, Shape};

const PLAIN: &str = "Attention";
const PACKED: &str = "com.microsoft::Attention";
const MULTI_HEAD: &str = "com.microsoft::MultiHeadAttention";
const GROUPED: &str = "com.microsoft::GroupQueryAttention";

pub(super) fn is_attention(native: &str) -> bool {
    [PLAIN, PACKED, MULTI_HEAD, GROUPED].contains(&native)
}

/// Which input ports play which part.
struct Ports {
    mask: Option<usize>,
    past: Option<[usize; 2]>,
    /// Keys and values so far, as outputs.
    present: Option<[usize; 2]>,
    /// Scores, as an output.
    scores: Option<usize>,
}

/// The extents of an attention operator.
pub(super) struct Attention {
    batch: u64,
    /// Heads of keys and values.
    heads: u64,
    /// Query heads on each.
    group: u64,
    /// Tokens that ask.
    rows: u64,
    /// Tokens whose keys are given.
    given: u64,
    /// Tokens before them.
    past: u64,
    /// Extent of a head of queries and keys, and of values.
    extent: u64,
    value_extent: u64,
    /// Heads stand side by side in the last axis, or on an axis of their own.
    flat: bool,
    /// Queries, keys and values come out of one product (with its depth), or one behind the other.
    packing: Packing,
    ports: Ports,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Apart,
    Projected,
    SideBySide,
}

impl Attention {
    /// Reads the extents; nothing where a shape is not known or the packing is not one of these.
    pub(super) fn new(node: &Node<'_>) -> Result<Option<Self>, String> {
        let Some(queries) = node.shape(0) else { return Ok(None) };
        let plain = node.native == PLAIN;
        let ports = ports(node);
        let packing = match node.native {
            PACKED => Packing::Projected,
            GROUPED if node.input(1).is_none() => Packing::SideBySide,
            _ => Packing::Apart,
        };
        if packing == Packing::Apart && node.input(1).is_none() {
            return Ok(None);
        }
        let heads = |name: &str| u64::try_from(node.int(name, 0)).ok().filter(|n| *n > 0);
        let (all, kv) = match node.native {
            PLAIN => (heads("q_num_heads"), heads("kv_num_heads")),
            GROUPED => (heads("num_heads"), heads("kv_num_heads")),
            _ => (heads("num_heads"), heads("num_heads")),
        };
        let extents = match (&queries.0[..], plain) {
            ([batch, heads, rows, extent], true) => {
                let Some(keys) = node.shape(1) else { return Ok(None) };
                let Some(values) = node.shape(2) else { return Ok(None) };
                let (kv, given) = (keys.extent(1), keys.extent(2));
                (*batch, *heads, kv, *rows, given, *extent, values.extent(3))
            }
            ([batch, rows, width], _) => {
                let (Some(all), Some(kv)) = (all, kv) else {
                    return Err("its numbers of heads are missing".into());
                };
                let Some((given, extent, value_extent)) =
                    flat_extents(node, packing, *rows, *width, all, kv)?
                else {
                    return Ok(None);
                };
                (*batch, all, kv, *rows, given, extent, value_extent)
            }
            _ => return Ok(None),
        };
        let (batch, all, heads, rows, given, extent, value_extent) = extents;
        if heads == 0 || !all.is_multiple_of(heads) {
            return Err(format!("{all} query heads do not share {heads} heads of keys"));
        }
        let past = match ports.past.map(|[keys, _]| node.shape(keys)) {
            Some(None) if node.input(ports.past.map_or(0, |p| p[0])).is_some() => return Ok(None),
            Some(Some(past)) => past.extent(past.rank().saturating_sub(2)),
            _ => 0,
        };
        let (group, flat) = (all / heads, queries.rank() == 3);
        Ok(Some(Self {
            batch,
            heads,
            group,
            rows,
            given,
            past,
            extent,
            value_extent,
            flat,
            packing,
            ports,
        }))
    }

    fn keys(&self) -> u64 {
        self.given.saturating_add(self.past)
    }

    fn cache(&self, extent: u64) -> Shape {
        Shape(vec![self.batch, self.heads, self.keys(), extent])
    }

    fn query_heads(&self) -> u64 {
        self.heads.saturating_mul(self.group)
    }

    fn result(&self) -> Shape {
        let (batch, rows, extent) = (self.batch, self.rows, self.value_extent);
        if self.flat {
            Shape(vec![batch, rows, self.query_heads().saturating_mul(extent)])
        } else {
            Shape(vec![batch, self.query_heads(), rows, extent])
        }
    }

    /// Shapes of the outputs, by port.
    pub(super) fn shapes(&self) -> Vec<Option<Shape>> {
        let mut shapes = vec![Some(self.result()), None, None, None];
        let mut put = |port: usize, shape: Shape| {
            if let Some(entry) = shapes.get_mut(port) {
                *entry = Some(shape);
            }
        };
        if let Some([keys, values]) = self.ports.present {
            put(keys, self.cache(self.extent));
            put(values, self.cache(self.value_extent));
        }
        if let Some(scores) = self.ports.scores {
            put(scores, Shape(vec![self.batch, self.query_heads(), self.rows, self.keys()]));
        }
        shapes
    }

    /// The layers it is.
    pub(super) fn parts(&self, node: &Node<'_>) -> Vec<Part> {
        let mut parts = Parts { list: Vec::new() };
        let view = Op::Movement(Movement::View);
        let [queries, keys, values] = self.operands(&mut parts);
        let grouped = self.group.saturating_mul(self.rows);
        let width = self.query_heads().saturating_mul(self.extent);
        let flat = if self.flat {
            Shape(vec![self.batch, self.rows, width])
        } else {
            Shape(vec![self.batch, self.query_heads(), self.rows, self.extent])
        };
        let bias =
            (node.native == MULTI_HEAD && node.input(3).is_some()).then_some(Source::Port(3));
        let [queries, keys, values] = match bias {
            None => [queries, keys, values],
            Some(_) => self.shifted(&mut parts, [queries, keys, values]),
        };
        let [queries, keys] = self.turned(&mut parts, node, [queries, keys]);
        let multiply = Op::Elementwise(ElementFunction::Multiply);
        let scaled = parts.inner("scale", multiply, &[queries], flat);
        let by_head = Shape(vec![self.batch, self.heads, grouped, self.extent]);
        let queries = parts.inner("queries", view.clone(), &[scaled], by_head);
        let keys = self.so_far(&mut parts, node, ("keys", keys, 0), self.extent);
        let values = self.so_far(&mut parts, node, ("values", values, 1), self.value_extent);
        let turned = Op::MatMul { transpose_a: false, transpose_b: true };
        let plain = Op::MatMul { transpose_a: false, transpose_b: false };
        let scores = |rows: u64, heads: u64| Shape(vec![self.batch, heads, rows, self.keys()]);
        let whole = scores(self.rows, self.query_heads());
        // The stored bias is read beside the product; its additions stand above.
        let factors: Vec<_> = [queries, keys].into_iter().chain(bias).collect();
        let mut at = parts.inner("scores", turned, &factors, scores(grouped, self.heads));
        let mask = self.ports.mask.filter(|port| node.input(*port).is_some()).map(Source::Port);
        let asked = self.ports.scores.filter(|port| has_output(node, *port));
        if self.group > 1 && (mask.is_some() || asked.is_some()) {
            at = parts.inner("heads", view.clone(), &[at], whole.clone());
        }
        if let Some(port) = asked {
            // The output itself is a view of the scores.
            parts.add("scores_out", view.clone(), &[at], Makes::Ports(vec![port]));
        }
        let current = if self.group > 1 && mask.is_none() && asked.is_none() {
            scores(grouped, self.heads)
        } else {
            whole
        };
        let causal = node.flag("is_causal", false) || node.flag("unidirectional", false);
        let masked = mask.is_some_and(|_| self.mask_fits(node, &current));
        if masked || mask.is_some() || causal || node.native == GROUPED {
            let operands: Vec<_> = std::iter::once(at).chain(mask.filter(|_| masked)).collect();
            let select = Op::Elementwise(ElementFunction::Select);
            at = parts.inner("mask", select, &operands, current.clone());
        }
        at = parts.inner("softmax", Op::Softmax, &[at], current.clone());
        if current.extent(1) != self.heads {
            at = parts.inner("rows", view.clone(), &[at], scores(grouped, self.heads));
        }
        let context = Shape(vec![self.batch, self.heads, grouped, self.value_extent]);
        let context = parts.inner("context", plain, &[at, values], context);
        parts.add("joined", view, &[context], Makes::Ports(vec![0]));
        parts.list
    }

    /// Shapes of queries, keys and values where heads stand side by side.
    fn flat_shapes(&self) -> [Shape; 3] {
        let wide = |heads: u64, extent: u64| heads.saturating_mul(extent);
        let shape = |tokens: u64, width: u64| Shape(vec![self.batch, tokens, width]);
        [
            shape(self.rows, wide(self.query_heads(), self.extent)),
            shape(self.given, wide(self.heads, self.extent)),
            shape(self.given, wide(self.heads, self.value_extent)),
        ]
    }

    fn shifted(&self, parts: &mut Parts, operands: [Source; 3]) -> [Source; 3] {
        let [q, k, v] = self.flat_shapes();
        let [queries, keys, values] = operands;
        let add = || Op::Elementwise(ElementFunction::Add);
        [
            parts.inner("query_bias", add(), &[queries], q),
            parts.inner("key_bias", add(), &[keys], k),
            parts.inner("value_bias", add(), &[values], v),
        ]
    }

    /// Rotary position embedding of queries and new keys, where the operator does it.
    fn turned(&self, parts: &mut Parts, node: &Node<'_>, operands: [Source; 2]) -> [Source; 2] {
        if !node.flag("do_rotary", false) {
            return operands;
        }
        let [q, k, _] = self.flat_shapes();
        let [queries, keys] = operands;
        let turn = || Op::Elementwise(ElementFunction::Rotate);
        [
            parts.inner("query_rotary", turn(), &[queries], q),
            parts.inner("key_rotary", turn(), &[keys], k),
        ]
    }

    /// Queries, keys and values, cut apart where they come together.
    fn operands(&self, parts: &mut Parts) -> [Source; 3] {
        let widths = [
            self.query_heads().saturating_mul(self.extent),
            self.heads.saturating_mul(self.extent),
            self.heads.saturating_mul(self.value_extent),
        ];
        let whole = match self.packing {
            Packing::Apart => return [0, 1, 2].map(Source::Port),
            Packing::SideBySide => Source::Port(0),
            Packing::Projected => {
                let all = widths.iter().fold(0u64, |sum, w| sum.saturating_add(*w));
                let inputs = [0, 1, 2].map(Source::Port);
                let shape = Shape(vec![self.batch, self.rows, all]);
                let at = parts.inner("projection", Op::FullyConnected, &inputs, shape);
                if let Some(part) = parts.list.last_mut() {
                    part.turned = true;
                }
                at
            }
        };
        let names = ["query_part", "key_part", "value_part"];
        let mut cut = |index: usize| {
            let shape = Shape(vec![self.batch, self.rows, widths[index]]);
            parts.inner(names[index], Op::Movement(Movement::Slice), &[whole], shape)
        };
        [cut(0), cut(1), cut(2)]
    }

    /// Keys or values by head, behind those of earlier tokens.
    fn so_far(
        &self,
        parts: &mut Parts,
        node: &Node<'_>,
        (name, new, which): (&'static str, Source, usize),
        extent: u64,
    ) -> Source {
        let past = self.ports.past.map(|ports| ports[which]);
        let past = past.filter(|port| self.past > 0 && node.input(*port).is_some());
        let present = self.ports.present.map(|ports| ports[which]);
        let present = present.filter(|port| has_output(node, *port));
        if !self.flat && past.is_none() && present.is_none() {
            return new;
        }
        let (op, inputs) = match past {
            // One tensor holds both in turn: half of it is read for each.
            Some(port) => (Movement::Concatenate, vec![Source::Port(port), new]),
            None => (Movement::View, vec![new]),
        };
        let makes = match present {
            Some(port) => Makes::Ports(vec![port]),
            None => Makes::Inner(self.cache(extent)),
        };
        parts.add(name, Op::Movement(op), &inputs, makes)
    }

    /// Whether the mask broadcasts to the scores, so that it can stand as an operand.
    fn mask_fits(&self, node: &Node<'_>, scores: &Shape) -> bool {
        let Some(mask) = self.ports.mask.and_then(|port| node.shape(port)) else { return false };
        let skipped = scores.rank().checked_sub(mask.rank());
        skipped.is_some_and(|skipped| {
            let aligned = mask.0.iter().zip(scores.0.iter().skip(skipped));
            aligned.into_iter().all(|(own, all)| *own == 1 || own == all)
        })
    }
}

struct Parts {
    list: Vec<Part>,
}

impl Parts {
    fn add(&mut self, suffix: &'static str, op: Op, inputs: &[Source], makes: Makes) -> Source {
        self.list.push(Part::new(suffix, op, inputs, makes));
        Source::Part(self.list.len() - 1)
    }

    fn inner(&mut self, suffix: &'static str, op: Op, inputs: &[Source], shape: Shape) -> Source {
        self.add(suffix, op, inputs, Makes::Inner(shape))
    }
}

fn ports(node: &Node<'_>) -> Ports {
    let (mask, past, present, scores) = match node.native {
        PLAIN => (Some(3), Some([4, 5]), Some([1, 2]), Some(3)),
        MULTI_HEAD => (Some(5), Some([6, 7]), Some([1, 2]), Some(3)),
        GROUPED => (Some(10), Some([3, 4]), Some([1, 2]), None),
        _ => (Some(5), None, None, None),
    };
    Ports { mask, past, present, scores }
}

/// Tokens given, and the extents of a head of keys and of values, where heads stand side by side.
fn flat_extents(
    node: &Node<'_>,
    packing: Packing,
    rows: u64,
    width: u64,
    all: u64,
    kv: u64,
) -> Result<Option<(u64, u64, u64)>, String> {
    let split = |width: u64, heads: u64| {
        let even = heads > 0 && width.is_multiple_of(heads);
        even.then(|| width / heads).ok_or_else(|| format!("{width} is not {heads} heads"))
    };
    match packing {
        Packing::Projected => {
            let Some(weights) = node.shape(1) else { return Ok(None) };
            let sizes = node.ints("qkv_hidden_sizes").unwrap_or(&[]);
            let sizes: Vec<u64> = sizes.iter().filter_map(|n| u64::try_from(*n).ok()).collect();
            if let [queries, _, values] = sizes[..] {
                return Ok(Some((rows, split(queries, all)?, split(values, all)?)));
            }
            let extent = split(split(weights.last(), 3)?, all)?;
            Ok(Some((rows, extent, extent)))
        }
        Packing::SideBySide => {
            let heads = kv.checked_mul(2).and_then(|two| two.checked_add(all));
            let extent = split(width, heads.ok_or("too many heads")?)?;
            Ok(Some((rows, extent, extent)))
        }
        Packing::Apart => {
            let extent = split(width, all)?;
            let (Some(keys), Some(values)) = (node.shape(1), node.shape(2)) else {
                return Ok(None);
            };
            Ok(match (&keys.0[..], &values.0[..]) {
                ([_, given, _], [_, _, width]) => Some((*given, extent, split(*width, kv)?)),
                // Keys and values by head, as a cache hands them over.
                ([_, _, given, _], [_, _, _, value]) => Some((*given, extent, *value)),
                _ => None,
            })
        }
    }
}
