//! One layer: attention and feed-forward, with their normalisations and residual sums.

use super::activation::functions;
use super::architecture::Order;
use super::assembly::Assembly;
use crate::model::builder::{Attention, Step};
use crate::model::{ElementFunction as F, ModelError, Movement, Op, TensorId};

/// One half of a layer.
#[derive(Clone, Copy)]
enum Half {
    Attention,
    FeedForward,
}

impl Assembly<'_> {
    /// Layer `layer` on `[1, rows, hidden]`.
    pub(super) fn block(&mut self, layer: u64, x: TensorId) -> Result<TensorId, ModelError> {
        let at = |part: &str| format!("layers.{layer}.{part}");
        let order = self.of.conventions.order;
        match order {
            Order::Before | Order::After | Order::Around => {
                let x = self.half(layer, x, Half::Attention, "input_norm", "attention")?;
                self.half(layer, x, Half::FeedForward, "post_attention_norm", "feed_forward")
            }
            Order::Parallel | Order::ParallelShared => {
                let first = self.norm(&at("input_norm"), x)?;
                let second = match order {
                    Order::Parallel => self.norm(&at("post_attention_norm"), x)?,
                    _ => first,
                };
                let attention = self.part_of(layer, first, Half::Attention)?;
                let feed_forward = self.part_of(layer, second, Half::FeedForward)?;
                let both = [attention, feed_forward];
                let sum = self.builder.elements(&at("parallel_sum"), F::Add, &both)?;
                self.builder.elements(&at("residual"), F::Add, &[x, sum])
            }
        }
    }

    /// A half with its residual sum.
    fn half(
        &mut self,
        layer: u64,
        x: TensorId,
        half: Half,
        norm: &str,
        name: &str,
    ) -> Result<TensorId, ModelError> {
        let at = |part: &str| format!("layers.{layer}.{part}");
        let order = self.of.conventions.order;
        let before = if order == Order::After { x } else { self.norm(&at(norm), x)? };
        let mut made = self.part_of(layer, before, half)?;
        if order == Order::Around {
            made = self.norm(&at(&format!("{name}_output_norm")), made)?;
        }
        let sum = self.builder.elements(&at(&format!("{name}_residual")), F::Add, &[x, made])?;
        if order == Order::After { self.norm(&at(norm), sum) } else { Ok(sum) }
    }

    fn norm(&mut self, name: &str, x: TensorId) -> Result<TensorId, ModelError> {
        self.builder.normalisation(name, x, self.of.conventions.shift)
    }

    fn part_of(&mut self, layer: u64, x: TensorId, half: Half) -> Result<TensorId, ModelError> {
        match half {
            Half::Attention => self.attention(layer, x),
            Half::FeedForward => match self.of.experts_of(layer) {
                None => self.feed_forward(&format!("layers.{layer}"), x, self.of.feed_forward),
                Some(experts) => self.mixture(&format!("layers.{layer}"), x, experts),
            },
        }
    }

    fn attention(&mut self, layer: u64, x: TensorId) -> Result<TensorId, ModelError> {
        let at = |part: &str| format!("layers.{layer}.{part}");
        let (heads, conventions) = (&self.of.heads, &self.of.conventions);
        let (bias, rows) = (conventions.bias, self.rows);
        let (query, key) = (heads.query, heads.key);
        let q = self.linear(&at("q_proj"), x, query.saturating_mul(heads.extent), bias.queries)?;
        let k = self.linear(&at("k_proj"), x, key.saturating_mul(heads.extent), bias.queries)?;
        let v = self.linear(&at("v_proj"), x, key.saturating_mul(heads.extent), bias.queries)?;
        let q = self.placed(&at("q"), q, query)?;
        let k = self.placed(&at("k"), k, key)?;
        let keys = self.attended(&at("keys"), layer, k)?;
        let values = self.attended(&at("values"), layer, v)?;
        let masked = conventions.causal && rows > 1;
        let (group, extent) = (heads.group(), heads.extent);
        let how = Attention { heads: key, group, extent, rows, masked };
        let context = self.builder.attention(&at("attention"), q, [keys, values], how)?;
        self.linear(&at("o_proj"), context, self.of.hidden, bias.output)
    }

    pub(super) fn linear(
        &mut self,
        name: &str,
        x: TensorId,
        columns: u64,
        bias: bool,
    ) -> Result<TensorId, ModelError> {
        self.builder.linear(name, x, columns, bias, self.stored)
    }

    /// Queries or keys by head, normalised and rotated where the network does so.
    fn placed(&mut self, name: &str, x: TensorId, heads: u64) -> Result<TensorId, ModelError> {
        let conventions = &self.of.conventions;
        let (extent, rotated) = (self.of.heads.extent, conventions.rotated);
        if self.angles.is_none() && !conventions.head_norm {
            return Ok(x);
        }
        let flat = self.builder.shape(x);
        let at = |part: &str| format!("{name}.{part}");
        let by_head = [1, self.rows, heads, extent];
        let mut placed = self.builder.view(&at("heads"), x, &by_head)?;
        if conventions.head_norm {
            placed = self.builder.normalisation(&at("norm"), placed, conventions.shift)?;
        }
        if let Some([cosines, sines]) = self.angles {
            let builder = &mut self.builder;
            let whole = placed;
            if rotated < extent {
                placed = builder.part(&at("rotated_part"), whole, 3, rotated)?;
            }
            placed = builder.elements(&at("rotary"), F::Rotate, &[placed, cosines, sines])?;
            if rotated < extent {
                let rest = builder.part(&at("plain_part"), whole, 3, extent - rotated)?;
                placed = builder.joined(&at("parts"), &[placed, rest], 3)?;
            }
        }
        self.builder.view(&at("flat"), placed, &flat.0)
    }

    /// What attention reads, by head: the rows of a prefill themselves, or in a decode step the
    /// cache, in which the new row stands by then.
    fn attended(&mut self, name: &str, layer: u64, rows: TensorId) -> Result<TensorId, ModelError> {
        let cache = match self.of.conventions.causal {
            true => Some(self.cache(name, layer, rows)?),
            false => None,
        };
        match cache.filter(|_| self.cached.is_some()) {
            Some(cache) => Ok(cache),
            None => {
                let heads = &self.of.heads;
                let by_head = [1, heads.key, self.rows, heads.extent];
                self.builder.view(&format!("{name}.heads"), rows, &by_head)
            }
        }
    }

    /// The cache, into which the new rows are written: those that a later token can attend to.
    fn cache(&mut self, name: &str, layer: u64, rows: TensorId) -> Result<TensorId, ModelError> {
        let heads = &self.of.heads;
        let kept = self.of.attended(layer, self.cached.unwrap_or(self.rows));
        let cache = self.builder.state(name, &[1, heads.key, kept, heads.extent])?;
        let mut shape = self.builder.shape(rows);
        if let Some(written) = shape.0.get_mut(1) {
            *written = kept.min(self.rows);
        }
        let written = format!("{name}.write");
        let step = Step::new(&written, "CacheWrite", Op::Movement(Movement::Scatter));
        let write = self.builder.step_to(step, &[Some(rows), Some(cache)], &shape.0)?;
        self.results.push(write);
        Ok(cache)
    }

    /// The feed-forward layer of so much width inside.
    pub(super) fn feed_forward(
        &mut self,
        at: &str,
        x: TensorId,
        width: u64,
    ) -> Result<TensorId, ModelError> {
        let conventions = &self.of.conventions;
        let bias = conventions.bias.feed_forward;
        let inside = if conventions.gated {
            let gate = self.linear(&format!("{at}.gate_proj"), x, width, bias)?;
            let gate = self.activated(&format!("{at}.activation"), gate)?;
            let up = self.linear(&format!("{at}.up_proj"), x, width, bias)?;
            self.builder.elements(&format!("{at}.gated"), F::Multiply, &[gate, up])?
        } else {
            let up = self.linear(&format!("{at}.up_proj"), x, width, bias)?;
            self.activated(&format!("{at}.activation"), up)?
        };
        self.linear(&format!("{at}.down_proj"), inside, self.of.hidden, bias)
    }

    pub(super) fn activated(&mut self, name: &str, x: TensorId) -> Result<TensorId, ModelError> {
        let activation = &self.of.conventions.activation;
        let mut made = x;
        for (at, function) in functions(activation).into_iter().enumerate() {
            let name = if at == 0 { name.to_owned() } else { format!("{name}.{at}") };
            let step = Step::new(&name, activation, Op::Elementwise(function));
            made = self.builder.step(step, &[Some(made)])?;
        }
        Ok(made)
    }
}
