//! Where the operands of a step come from, and how buffers cut them up.
//!
//! An operand larger than half of its buffer comes in tiles (the other half is for the next one). When
//! both factors of MAC work come in tiles, one of two loop orders is taken: the filters stay and the data
//! comes once for each tile of filters, or the data stays and the filters come once for each tile of data.
//! Whichever is faster is taken, and of equals the one that moves less.
//!
//! How many tiles a buffer forces is one number, and sets what is fetched again; into how many pieces an
//! operand is cut so that moving overlaps with computing is another ([`super::overlap`]).

use super::MemoryPlan;
use crate::cost::{Cost, Setting};
use crate::evidence::Kind;
use crate::hardware::Precision;
use crate::model::{OpKind, Operand, OperandRole, Work};
use crate::units::{Bytes, Quantity};

/// Bytes of an operand in the engine's number format: as stored, unless the network is converted.
pub(super) fn operand_bytes(operand: &Operand, work: &Work, precision: Precision) -> Bytes {
    Bytes(if Precision::of(work.element) == Some(precision) {
        operand.stored_bytes()
    } else {
        operand.converted_bytes(work.element, precision.bits())
    })
}

/// Bytes of the output, likewise.
fn output_bytes(work: &Work, precision: Precision) -> Bytes {
    Bytes(if Precision::of(work.element) == Some(precision) {
        work.output_bytes as f64
    } else {
        work.output_elements as f64 * precision.bits() as f64 / 8.0
    })
}

/// One operand on its way.
pub(super) struct Flow {
    pub(super) role: OperandRole,
    /// True when it is stored with the model.
    pub(super) constant: bool,
    /// The memory it lives in.
    pub(super) home: usize,
    /// The buffer it passes through.
    pub(super) buffer: Option<usize>,
    pub(super) bytes: Bytes,
    /// Times that the engine goes through it from the start, one after the other.
    pub(super) repeats: f64,
    /// Pieces that it can be cut into at most.
    pub(super) cuts: f64,
}

impl Flow {
    /// What the count of its fetches rests on: the room of the buffer that keeps it, or does not.
    pub(super) fn room_kind(&self, setting: Setting<'_>) -> Kind {
        let capacity = |b: usize| setting.profile.spec().memories[b].capacity.kind();
        self.buffer.map_or(Kind::STRONGEST, capacity)
    }

    /// True where it may come more than once: a factor of MAC work, or what is gone through again.
    pub(super) fn may_come_again(&self, work: &Work) -> bool {
        self.repeats > 1.0 || (work.gemm.is_some() && self.role != OperandRole::Side)
    }
}

/// Pieces that an operand can be cut into: the data of a product along its positions or along the sum,
/// filters along their channels or along the sum, anything else along the results.
fn cuts(work: &Work, role: OperandRole, elements: u64, repeats: u64) -> f64 {
    let along = |groups: u64, own: u64, sum: u64| groups as f64 * own.max(sum) as f64;
    let most = match (work.gemm, role) {
        (Some(g), OperandRole::Data) => along(g.groups, g.m, g.k),
        (Some(g), OperandRole::Filter) => along(g.groups, g.n, g.k) / repeats.max(1) as f64,
        _ => work.output_elements as f64,
    };
    most.min(elements as f64).max(1.0)
}

/// All operands of a step.
pub(super) struct Flows {
    pub(super) inputs: Vec<Flow>,
    pub(super) output: Option<Flow>,
    /// Tiles that the fullest buffer forces the step into.
    pub(super) tiles: f64,
    /// The loop order that moves least.
    pub(super) order: Order,
    /// The other, where there are two.
    pub(super) other: Option<Order>,
}

/// How often the factors of MAC work come from their homes in a loop order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Order {
    data: f64,
    filter: f64,
}

impl Flows {
    pub(super) fn of(
        work: &Work,
        cost: &Cost,
        engine: usize,
        memory: &MemoryPlan,
        setting: Setting<'_>,
    ) -> Self {
        let mut flows = Self {
            inputs: Vec::with_capacity(work.operands.len()),
            output: None,
            tiles: 1.0,
            order: Order { data: 1.0, filter: 1.0 },
            other: None,
        };
        if work.kind == OpKind::View {
            return flows;
        }
        let flow = |home: usize, role, bytes, elements: u64, repeats: u64| {
            let buffer = setting.profile.buffer_between(engine, home);
            let cuts = cuts(work, role, elements, repeats);
            let (constant, repeats) = (false, repeats as f64);
            Flow { role, constant, home, buffer, bytes, repeats, cuts }
        };
        for operand in &work.operands {
            let home = memory.home_of_operand(operand);
            let bytes = operand_bytes(operand, work, cost.precision);
            let (role, elements, repeats) = (operand.role, operand.elements, operand.repeats);
            let constant = operand.constant;
            let own = home.map(|home| flow(home, role, bytes, elements, repeats));
            flows.inputs.extend(own.map(|flow| Flow { constant, ..flow }));
        }
        let output = output_bytes(work, cost.precision);
        let results = work.output_elements;
        flows.output = memory
            .home_of_result(work)
            .map(|home| flow(home, OperandRole::Side, output, results, 1));
        flows.cut(work.gemm.map_or(1, |g| g.groups.max(1)), setting);
        flows
    }

    /// How often an operand comes from its home. One that is gone through again and again comes once
    /// if it stays in its buffer.
    pub(super) fn fetches(flow: &Flow, order: Order, setting: Setting<'_>) -> f64 {
        let fetches = match flow.role {
            OperandRole::Data => order.data,
            OperandRole::Filter => order.filter,
            OperandRole::Side => 1.0,
        };
        let stays = flow.buffer.is_some_and(|b| tiles(setting, b, flow.bytes) <= 1.0);
        if stays { fetches } else { fetches * flow.repeats }
    }

    /// Cuts the operands into tiles. Groups (heads of a batched product, channel groups, steps of a
    /// recurrence) run one after the other, so loop orders are chosen within one group. What is gone
    /// through again in each step is not cut by them.
    fn cut(&mut self, groups: u64, setting: Setting<'_>) {
        let tiles = |buffer: usize, bytes: Bytes| tiles(setting, buffer, bytes);
        let role = |role: OperandRole| {
            let of_role = self.inputs.iter().filter(|f| f.role == role);
            of_role.fold((1.0f64, 0.0), |(most, bytes), flow| {
                let own_groups = (groups as f64 / flow.repeats).max(1.0);
                let own = flow.buffer.map_or(1.0, |b| tiles(b, flow.bytes / own_groups));
                (most.max(own), bytes + flow.bytes.si() * flow.repeats)
            })
        };
        let (data_tiles, data) = role(OperandRole::Data);
        let (filter_tiles, filter) = role(OperandRole::Filter);
        if data_tiles > 1.0 && filter_tiles > 1.0 {
            let filters_stay = Order { data: filter_tiles, filter: 1.0 };
            let data_stays = Order { data: 1.0, filter: data_tiles };
            let (order, other) = if data * filter_tiles + filter <= data + filter * data_tiles {
                (filters_stay, data_stays)
            } else {
                (data_stays, filters_stay)
            };
            (self.order, self.other) = (order, Some(other));
        }
        let mut through: Vec<(usize, Bytes)> = Vec::new();
        for flow in self.inputs.iter().chain(&self.output) {
            let Some(buffer) = flow.buffer else { continue };
            match through.iter_mut().find(|(b, _)| *b == buffer) {
                Some((_, sum)) => *sum += flow.bytes,
                None => through.push((buffer, flow.bytes)),
            }
        }
        self.tiles = through.iter().map(|(b, bytes)| tiles(*b, *bytes)).fold(1.0, f64::max);
    }
}

/// Pieces that an operand is cut into to pass through half of a buffer.
fn tiles(setting: Setting<'_>, buffer: usize, bytes: Bytes) -> f64 {
    let capacity = setting.profile.spec().memories[buffer].capacity.get();
    (bytes / (capacity / 2.0)).ceil().max(1.0)
}
