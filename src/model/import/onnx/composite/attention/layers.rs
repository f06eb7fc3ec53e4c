//! The layers that attention is, one behind the other.

use super::heads::Heads;
use super::{Attention, Cache, GROUPED, Packing};
use crate::model::import::onnx::composite::{Makes, Part, Source, has_output};
use crate::model::import::onnx::node::Node;
use crate::model::{ElementFunction, Movement, Op, Shape};

/// The layers so far.
pub(super) struct Layers<'a> {
    attention: &'a Attention,
    node: &'a Node<'a>,
    parts: Vec<Part>,
}

const VIEW: Op = Op::Movement(Movement::View);

impl<'a> Layers<'a> {
    pub fn of(attention: &'a Attention, node: &'a Node<'a>) -> Vec<Part> {
        let mut layers = Self { attention, node, parts: Vec::new() };
        layers.all();
        layers.parts
    }

    fn add(&mut self, suffix: &'static str, op: Op, inputs: &[Source], makes: Makes) -> Source {
        self.parts.push(Part::new(suffix, op, inputs, makes));
        Source::Part(self.parts.len() - 1)
    }

    fn inner(&mut self, suffix: &'static str, op: Op, inputs: &[Source], shape: Shape) -> Source {
        self.add(suffix, op, inputs, Makes::Inner(shape))
    }

    /// A function of each element.
    fn each(
        &mut self,
        suffix: &'static str,
        function: ElementFunction,
        inputs: &[Source],
        shape: &Shape,
    ) -> Source {
        self.inner(suffix, Op::Elementwise(function), inputs, shape.clone())
    }

    /// An input of the operator, if it is given.
    fn given(&self, port: usize) -> Option<Source> {
        self.node.input(port).map(|_| Source::Port(port))
    }

    fn asked(&self, port: usize) -> Option<usize> {
        has_output(self.node, port).then_some(port)
    }

    fn all(&mut self) {
        let operands = self.operands();
        let operands = self.biased(operands);
        let [queries, keys, values] = self.rotated(operands);
        let queries = self.scaled(queries);
        let [keys, values] = self.so_far([keys, values]);
        let (scores, shape) = self.scores(queries, keys);
        let scores = self.capped(scores, &shape);
        let (scores, shape) = self.masked(scores, shape);
        let sink = self.attention.ports.sink.and_then(|port| self.given(port));
        let inputs: Vec<_> = std::iter::once(scores).chain(sink).collect();
        let shares = self.inner("softmax", Op::Softmax, &inputs, shape.clone());
        self.context(shares, &shape, values);
    }

    /// Queries, keys and values, cut apart where they come together.
    fn operands(&mut self) -> [Source; 3] {
        let Attention { queries, keys, values, packing, .. } = self.attention;
        let whole = match packing {
            Packing::Apart => return [0, 1, 2].map(Source::Port),
            Packing::SideBySide => Source::Port(0),
            Packing::Projected => {
                let widths = [queries, keys, values].map(Heads::width);
                let width = widths.into_iter().fold(0, u64::saturating_add);
                let inputs = [0, 1, 2].map(Source::Port);
                let shape = Shape(vec![queries.batch, queries.tokens, width]);
                let at = self.inner("projection", Op::FullyConnected, &inputs, shape);
                if let Some(part) = self.parts.last_mut() {
                    part.turned = true;
                }
                at
            }
        };
        [("query_part", queries), ("key_part", keys), ("value_part", values)].map(
            |(name, heads)| {
                self.inner(name, Op::Movement(Movement::Slice), &[whole], heads.shape())
            },
        )
    }

    /// Biases added; keys and values by head have theirs already.
    fn biased(&mut self, operands: [Source; 3]) -> [Source; 3] {
        if self.bias().is_none() {
            return operands;
        }
        let Attention { queries, keys, values, .. } = self.attention;
        let names = ["query_bias", "key_bias", "value_bias"];
        let mut heads = [queries, keys, values].into_iter();
        let mut names = names.into_iter();
        operands.map(|source| match (names.next(), heads.next()) {
            (Some(name), Some(heads)) if heads.flat => {
                self.each(name, ElementFunction::Add, &[source], &heads.shape())
            }
            _ => source,
        })
    }

    /// The stored bias of all three.
    fn bias(&self) -> Option<Source> {
        self.attention.ports.bias.and_then(|port| self.given(port))
    }

    /// Rotary position embedding of queries and new keys, where the operator does it.
    fn rotated(&mut self, [queries, keys, values]: [Source; 3]) -> [Source; 3] {
        if !self.node.flag("do_rotary", false) {
            return [queries, keys, values];
        }
        let Attention { queries: q, keys: k, ports, .. } = self.attention;
        let tables: Vec<_> = ports.tables.iter().filter_map(|port| self.given(*port)).collect();
        let mut turn = |name, data, heads: &Heads| {
            let inputs: Vec<_> = std::iter::once(data).chain(tables.iter().copied()).collect();
            self.each(name, ElementFunction::Rotate, &inputs, &heads.shape())
        };
        [turn("query_rotary", queries, q), turn("key_rotary", keys, k), values]
    }

    /// Queries scaled, those that share keys as rows of one matrix.
    fn scaled(&mut self, queries: Source) -> Source {
        let heads = &self.attention.queries;
        let scaled = self.each("scale", ElementFunction::Multiply, &[queries], &heads.shape());
        self.inner("queries", VIEW, &[scaled], self.grouped(heads.extent))
    }

    /// Rows of all queries that share keys, by head of keys.
    fn grouped(&self, extent: u64) -> Shape {
        let Attention { queries, keys, group, .. } = self.attention;
        Shape(vec![queries.batch, keys.heads, group.saturating_mul(queries.tokens), extent])
    }

    /// Keys and values by head, behind those of earlier tokens.
    fn so_far(&mut self, [keys, values]: [Source; 2]) -> [Source; 2] {
        let [past_keys, past_values] = self.past();
        let Attention { keys: k, values: v, ports, .. } = self.attention;
        let present = match ports.present {
            Cache::Apart([keys, values]) => [self.asked(keys), self.asked(values)],
            Cache::Together(_) => [None, None],
        };
        let keys = self.cached("keys", k, [past_keys, Some(keys)], present[0]);
        let values = self.cached("values", v, [past_values, Some(values)], present[1]);
        if let Cache::Together(port) = ports.present
            && let Some(port) = self.asked(port)
        {
            let join = Op::Movement(Movement::Concatenate);
            self.add("present", join, &[keys, values], Makes::Ports(vec![port]));
        }
        [keys, values]
    }

    /// Keys and values of earlier tokens, where there are any.
    fn past(&mut self) -> [Option<Source>; 2] {
        let Attention { keys, values, ports, past, .. } = self.attention;
        match ports.past {
            _ if *past == 0 => [None, None],
            Cache::Apart([keys, values]) => [self.given(keys), self.given(values)],
            Cache::Together(port) => {
                let Some(whole) = self.given(port) else { return [None, None] };
                [("past_keys", keys), ("past_values", values)].map(|(name, heads)| {
                    let shape = self.attention.cache(heads, *past);
                    Some(self.inner(name, Op::Movement(Movement::Slice), &[whole], shape))
                })
            }
        }
    }

    fn cached(
        &mut self,
        name: &'static str,
        heads: &Heads,
        [past, new]: [Option<Source>; 2],
        present: Option<usize>,
    ) -> Source {
        let inputs: Vec<_> = past.into_iter().chain(new).collect();
        let op = match (past, present, &inputs[..]) {
            (None, None, [new]) if !heads.flat => return *new,
            (None, ..) => VIEW,
            // New rows go into the buffer that earlier ones stand in.
            (Some(_), ..) if self.attention.in_place => Op::Movement(Movement::Scatter),
            (Some(_), ..) => Op::Movement(Movement::Concatenate),
        };
        let makes = match present {
            Some(port) => Makes::Ports(vec![port]),
            None => Makes::Inner(self.attention.cache(heads, self.attention.tokens())),
        };
        self.add(name, op, &inputs, makes)
    }

    /// The scores, and as how many rows they stand.
    fn scores(&mut self, queries: Source, keys: Source) -> (Source, Shape) {
        let product = Op::MatMul { transpose_a: false, transpose_b: true };
        // The stored bias is read beside the product; its additions stand above.
        let factors: Vec<_> = [queries, keys].into_iter().chain(self.bias()).collect();
        let grouped = self.grouped(self.attention.tokens());
        let mut at = self.inner("scores", product, &factors, grouped.clone());
        let asked = self.attention.ports.scores.and_then(|port| self.asked(port));
        let masked = self.attention.ports.masks.iter().any(|(_, port)| self.given(*port).is_some());
        let by_head = self.attention.group == 1 || masked || asked.is_some();
        if !by_head {
            return (at, grouped);
        }
        let whole = self.attention.scores();
        if self.attention.group > 1 {
            at = self.inner("heads", VIEW, &[at], whole.clone());
        }
        if let Some(port) = asked {
            // The output itself is a view of the scores.
            self.add("scores_out", VIEW, &[at], Makes::Ports(vec![port]));
        }
        (at, whole)
    }

    /// Scores kept within a bound: `c tanh(s / c)`.
    fn capped(&mut self, scores: Source, shape: &Shape) -> Source {
        let cap = self.node.attribute("softcap").map_or(0.0, |attribute| attribute.float);
        if cap == 0.0 {
            return scores;
        }
        let multiply = ElementFunction::Multiply;
        let reduced = self.each("softcap_in", multiply, &[scores], shape);
        let bent = self.each("softcap", ElementFunction::SmoothActivation, &[reduced], shape);
        self.each("softcap_out", multiply, &[bent], shape)
    }

    /// Masks selected by, and biases added. One that depends on the places alone needs no operand.
    fn masked(&mut self, scores: Source, shape: Shape) -> (Source, Shape) {
        let mut at = scores;
        let mut any = false;
        for (name, port) in self.attention.ports.masks {
            let Some(value) = self.node.input(*port) else { continue };
            let function = match value.element.is_float() {
                true => ElementFunction::Add,
                false => ElementFunction::Select,
            };
            let mask = self.mask(*port, &shape);
            at = self.each(name, function, &[at, mask], &shape);
            any = true;
        }
        let node = self.node;
        let causal = node.flag("is_causal", false) || node.flag("unidirectional", false);
        if !any && (causal || node.native == GROUPED) {
            at = self.each("mask", ElementFunction::Select, &[at], &shape);
        }
        (at, shape)
    }

    /// A mask as an operand of the scores: as it is, under other extents, or made of lengths.
    fn mask(&mut self, port: usize, scores: &Shape) -> Source {
        let given = Source::Port(port);
        let Some(mask) = self.node.shape(port).filter(|mask| !stretches(mask, scores)) else {
            return given;
        };
        let Heads { batch, tokens: rows, .. } = self.attention.queries;
        let tokens = self.attention.tokens();
        let a_sample = Shape(vec![batch, 1, 1, tokens]);
        let a_row = Shape(vec![batch, 1, rows, tokens]);
        let (op, shape) = match mask.elements() {
            held if held == a_sample.elements() => (Movement::View, a_sample),
            held if held == a_row.elements() => (Movement::View, a_row),
            held if mask.rank() == 4 && held > a_row.elements() => (Movement::Slice, a_row),
            _ => (Movement::Broadcast, a_sample),
        };
        self.inner("mask_operand", Op::Movement(op), &[given], shape)
    }

    /// Values weighted by their shares, heads where they were in the queries.
    fn context(&mut self, shares: Source, shape: &Shape, values: Source) {
        let rows = self.grouped(self.attention.tokens());
        let shares = match *shape == rows {
            true => shares,
            false => self.inner("rows", VIEW, &[shares], rows),
        };
        let product = Op::MatMul { transpose_a: false, transpose_b: false };
        let context = self.grouped(self.attention.values.extent);
        let context = self.inner("context", product, &[shares, values], context);
        self.add("joined", VIEW, &[context], Makes::Ports(vec![0]));
    }
}

/// Whether a mask broadcasts to the scores.
fn stretches(mask: &Shape, scores: &Shape) -> bool {
    let skipped = scores.rank().checked_sub(mask.rank());
    skipped.is_some_and(|skipped| {
        let mut aligned = mask.0.iter().zip(scores.0.iter().skip(skipped));
        aligned.all(|(own, all)| *own == 1 || own == all)
    })
}
