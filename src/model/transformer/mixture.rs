//! A mixture of experts: a router picks some of them for each token.
//!
//! How many different experts a pass touches depends on its tokens. With `k` of `E` picked uniformly
//! and independently by `N` tokens it is `E (1 - (1 - k/E)^N)` on average, which is `k` for one token;
//! that number, rounded, is read. The `N k` picks are spread over them as evenly as whole tokens
//! allow, so that the multiply-accumulates are exact. Real routers pick less evenly and touch fewer.
//!
//! An untouched expert is stored and not read: its filters are constants of the graph that no
//! operator has for an input.

use super::architecture::Experts;
use super::assembly::Assembly;
use crate::model::builder::Step;
use crate::model::{ElementFunction as F, ModelError, Movement, Op, Reduction, TensorId};

impl Experts {
    /// Different experts that a pass of `tokens` touches.
    pub(super) fn touched(&self, tokens: u64) -> u64 {
        let (count, picked) = (self.count as f64, self.picked as f64);
        let missed = (tokens as f64 * (-picked / count).ln_1p()).exp();
        let most = self.count.min(tokens.saturating_mul(self.picked));
        ((count * (1.0 - missed)).round() as u64).clamp(self.picked.min(most), most)
    }

    /// Groups of touched experts with the tokens of each: as even as whole tokens allow.
    pub(super) fn spread(&self, tokens: u64) -> Vec<(u64, u64)> {
        let (touched, picks) = (self.touched(tokens).max(1), tokens.saturating_mul(self.picked));
        let (each, more) = (picks / touched, picks % touched);
        let groups = [(touched - more, each), (more, each.saturating_add(1))];
        groups.into_iter().filter(|(experts, _)| *experts > 0).collect()
    }
}

impl Assembly<'_> {
    /// The mixture on `[1, rows, hidden]`.
    pub(super) fn mixture(
        &mut self,
        at: &str,
        x: TensorId,
        experts: &Experts,
    ) -> Result<TensorId, ModelError> {
        let (hidden, rows) = (self.of.hidden, self.rows);
        let picks = rows.saturating_mul(experts.picked);
        let shares = self.routed(at, x, experts)?;
        let dispatch = format!("{at}.dispatch");
        let step = Step::new(&dispatch, "Dispatch", Op::Movement(Movement::Gather));
        let sent = self.builder.step_to(step, &[Some(x)], &[1, picks, hidden])?;
        let mut made = Vec::new();
        let groups = experts.spread(rows);
        for (index, (count, each)) in groups.iter().enumerate() {
            let name = format!("{at}.experts.{index}");
            let own = count.saturating_mul(*each);
            let own = if groups.len() == 1 {
                sent
            } else {
                self.builder.part(&format!("{name}.tokens"), sent, 1, own)?
            };
            let shape = [*count, *each, hidden];
            let own = self.builder.view(&format!("{name}.by_expert"), own, &shape)?;
            let out = self.expert_group(&name, own, *count, experts.width)?;
            let flat = [1, count.saturating_mul(*each), hidden];
            made.push(self.builder.view(&format!("{name}.flat"), out, &flat)?);
        }
        let made = match made[..] {
            [one] => one,
            _ => self.builder.joined(&format!("{at}.experts"), &made, 1)?,
        };
        self.idle(at, experts)?;
        let weighted = format!("{at}.weighted");
        let weighted = self.builder.elements(&weighted, F::Multiply, &[made, shares])?;
        let combine = format!("{at}.combine");
        let step = Step::new(&combine, "Combine", Op::Reduce(Reduction::Sum));
        let sum = self.builder.step_to(step, &[Some(weighted)], &[1, rows, hidden])?;
        self.beside(at, x, sum, experts)
    }

    /// The share of each pick, `[1, picks, 1]`.
    fn routed(&mut self, at: &str, x: TensorId, experts: &Experts) -> Result<TensorId, ModelError> {
        let router = format!("{at}.router");
        let scores = self.builder.fully_connected(&router, x, experts.count, false)?;
        let softmax = format!("{at}.router.softmax");
        let step = Step::new(&softmax, "Softmax", Op::Softmax);
        let shares = self.builder.step(step, &[Some(scores)])?;
        let top = format!("{at}.router.top");
        let step = Step::new(&top, "TopK", Op::Reduce(Reduction::Extremum));
        let picks = self.rows.saturating_mul(experts.picked);
        self.builder.step_to(step, &[Some(shares)], &[1, picks, 1])
    }

    /// `[count, each, hidden]` through as many experts.
    fn expert_group(
        &mut self,
        name: &str,
        x: TensorId,
        count: u64,
        width: u64,
    ) -> Result<TensorId, ModelError> {
        let hidden = self.of.hidden;
        let at = |part: &str| format!("{name}.{part}");
        let up = self.by_expert(&at("up_proj"), x, [count, width, hidden])?;
        let inside = if self.of.conventions.gated {
            let gate = self.by_expert(&at("gate_proj"), x, [count, width, hidden])?;
            let gate = self.activated(&at("activation"), gate)?;
            self.builder.elements(&at("gated"), F::Multiply, &[gate, up])?
        } else {
            self.activated(&at("activation"), up)?
        };
        self.by_expert(&at("down_proj"), inside, [count, hidden, width])
    }

    fn by_expert(
        &mut self,
        name: &str,
        x: TensorId,
        [count, columns, depth]: [u64; 3],
    ) -> Result<TensorId, ModelError> {
        let (weights, scales) =
            self.builder.filters(name, &[count, columns], depth, self.stored)?;
        let op = Op::MatMul { transpose_a: false, transpose_b: true };
        let inputs = [Some(x), Some(weights), None, scales];
        let used = if scales.is_some() { 4 } else { 2 };
        self.builder.step(Step::new(name, "Experts", op), inputs.get(..used).unwrap_or(&inputs))
    }

    /// The filters of the experts that no token picks.
    fn idle(&mut self, at: &str, experts: &Experts) -> Result<(), ModelError> {
        let (hidden, width) = (self.of.hidden, experts.width);
        let idle = experts.count - experts.touched(self.rows).min(experts.count);
        let parts = [
            ("gate_proj", width, hidden),
            ("up_proj", width, hidden),
            ("down_proj", hidden, width),
        ];
        let used = if self.of.conventions.gated { &parts[..] } else { &parts[1..] };
        for (part, columns, depth) in used.iter().filter(|_| idle > 0) {
            let name = format!("{at}.experts.idle.{part}");
            self.builder.filters(&name, &[idle, *columns], *depth, self.stored)?;
        }
        Ok(())
    }

    /// The expert that all tokens pass.
    fn beside(
        &mut self,
        at: &str,
        x: TensorId,
        sum: TensorId,
        experts: &Experts,
    ) -> Result<TensorId, ModelError> {
        let Some(width) = experts.shared else { return Ok(sum) };
        let name = format!("{at}.shared_expert");
        let mut shared = self.feed_forward(&name, x, width)?;
        if experts.shared_gate {
            let gate = self.builder.fully_connected(&format!("{name}.gate"), x, 1, false)?;
            let open = format!("{name}.gate.sigmoid");
            let open = self.builder.elements(&open, F::SmoothActivation, &[gate])?;
            let gated = format!("{name}.gated_sum");
            shared = self.builder.elements(&gated, F::Multiply, &[shared, open])?;
        }
        self.builder.elements(&format!("{name}.add"), F::Add, &[sum, shared])
    }
}
