//! Where the operands of a step come from, and how buffers cut them up.
//!
//! What passes buffers to the array of MAC work comes in tiles that share them ([`Staging`]). The tilings of
//! least traffic are known by search, and those of least time on the way, where each tile waits for a latency.
//! Of all that are nearly as fast as the fastest the one that moves least is taken. A byte counts by the time
//! that it takes on its way, so that what lives in a slow memory is not fetched again to spare a fast one; where
//! all operands come the same way every byte counts alike. Groups (heads of a batched
//! product, channel groups, steps of a recurrence) run one after the other, each with tiles of its own.
//!
//! Anything else streams past: pieces of what is read and of the result share the buffer.
//!
//! How many tiles a buffer forces is one number, and sets what is fetched again; into how many pieces an
//! operand is cut so that moving overlaps with computing is another ([`super::overlap`]).

use super::MemoryPlan;
use super::compressed::compressed_bytes;
use crate::cost::{
    Cost, Factor, Image, ROOMS, Results, Rows, Setting, StagedTiling, Staging, Tilings, bandwidth,
    latency, tilings,
};
use crate::evidence::Kind;
use crate::hardware::{Engine, Precision, Transfers};
use crate::model::{Gemm, OpKind, Operand, OperandRole, Work};
use crate::units::{Bytes, Quantity};

/// Bytes of an operand as it travels, and what they rest on.
pub(super) fn operand_bytes(
    operand: &Operand,
    work: &Work,
    precision: Precision,
    engine: &Engine,
) -> (Bytes, Kind) {
    compressed_bytes(operand, work, precision, engine)
        .unwrap_or_else(|| (plain_bytes(operand, work, precision), Kind::STRONGEST))
}

/// Bytes of an operand in the engine's number format: as stored, unless the network is converted.
pub(super) fn plain_bytes(operand: &Operand, work: &Work, precision: Precision) -> Bytes {
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

/// Bytes of a partial sum, and what they rest on.
pub(super) fn sum_bytes(cost: &Cost, engine: usize, setting: Setting<'_>) -> (f64, Kind) {
    let own = setting.profile.spec().engines[engine].partial_sum.as_ref();
    let accumulator = || (cost.precision.accumulator_bits() as f64 / 8.0, Kind::STRONGEST);
    own.map_or_else(accumulator, |own| (own.get().0, own.kind()))
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
    /// What its bytes rest on.
    pub(super) kind: Kind,
    /// Times that the engine goes through it from the start, one after the other.
    pub(super) repeats: f64,
    /// Pieces that it can be cut into at most.
    pub(super) cuts: f64,
}

impl Flow {
    /// What the count of its fetches rests on: the room of the buffer that keeps it, or does not.
    pub(super) fn room_kind(&self, setting: Setting<'_>) -> Kind {
        let room = |b: usize| setting.profile.spec().memories[b].room().kind();
        self.buffer.map_or(Kind::STRONGEST, room)
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

/// How an operand comes, or the results go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coming {
    /// Times that all of it comes.
    pub(super) times: f64,
    /// Bytes each time, over those of the operand: more where tiles share some.
    pub(super) grown: f64,
    /// Tiles that the buffer forces it into, each time.
    pub(super) tiles: f64,
}

impl Coming {
    const WHOLE: Self = Self { times: 1.0, grown: 1.0, tiles: 1.0 };
}

/// How everything comes and goes in a tiling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Order {
    data: Coming,
    filter: Coming,
    side: Coming,
    results: Coming,
}

impl Order {
    /// How an operand comes.
    pub(super) fn of(&self, flow: &Flow) -> Coming {
        match flow.role {
            OperandRole::Data => self.data,
            OperandRole::Filter => self.filter,
            OperandRole::Side => self.side,
        }
    }

    /// How results go: all but one time as partial sums that come back.
    pub(super) fn results(&self) -> Coming {
        self.results
    }

    fn in_tiles(tiling: &StagedTiling, data: f64) -> Self {
        let [data_tiles, filter_tiles, result_tiles] = tiling.tiles;
        let [data_times, filter_times] = tiling.comings;
        let grown = if data > 0.0 { tiling.input_bytes / data } else { 1.0 };
        Self {
            data: Coming { times: data_times, grown, tiles: data_tiles },
            filter: Coming { times: filter_times, grown: 1.0, tiles: filter_tiles },
            side: Coming::WHOLE,
            results: Coming { times: tiling.visits, grown: 1.0, tiles: result_tiles },
        }
    }
}

/// What of a step stays in a buffer, since the layer before or behind hands it on there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    /// The buffer.
    pub(super) buffer: usize,
    /// The operand that is there already.
    pub(super) input: Option<usize>,
    /// True where the result stays.
    pub(super) output: bool,
    /// Bytes of the buffer that are taken.
    pub(super) taken: f64,
    /// In how many pieces everything passes, once, where layers run row by row.
    pub(super) rows: Option<f64>,
}

/// All operands of a step.
pub(super) struct Flows {
    pub(super) inputs: Vec<Flow>,
    pub(super) output: Option<Flow>,
    /// How they come.
    pub(super) order: Order,
    /// Tilings of MAC work that passes buffers, the one of least traffic first.
    tilings: Option<Tilings>,
    /// The tiling of least time on the way, where it is another.
    quick: Option<StagedTiling>,
    /// True where not even the smallest tile fits.
    pub(super) overflows: bool,
    /// Bytes of a buffer that something else takes.
    taken: Option<(usize, f64)>,
}

/// Tilings that move at most so many times as much as the best are chosen from.
const NEAR: f64 = 1.1;

impl Flows {
    pub(super) fn of(
        work: &Work,
        cost: &Cost,
        engine: usize,
        memory: &MemoryPlan,
        kept: Option<&Kept>,
        setting: Setting<'_>,
    ) -> Self {
        let whole = Coming::WHOLE;
        let mut flows = Self {
            inputs: Vec::with_capacity(work.operands.len()),
            output: None,
            order: Order { data: whole, filter: whole, side: whole, results: whole },
            tilings: None,
            quick: None,
            overflows: false,
            taken: kept.map(|kept| (kept.buffer, kept.taken)),
        };
        if work.kind == OpKind::View {
            return flows;
        }
        let unit = &setting.profile.spec().engines[engine];
        let flow = |home: usize, role, (bytes, kind), elements: u64, repeats: u64| {
            let buffer = setting.profile.buffer_between(engine, home);
            let cuts = cuts(work, role, elements, repeats);
            let (constant, repeats) = (false, repeats as f64);
            Flow { role, constant, home, buffer, bytes, kind, repeats, cuts }
        };
        // What stays lives in the buffer.
        let stays = |flow: Flow, here: bool| match kept.filter(|_| here) {
            Some(kept) => Flow { home: kept.buffer, buffer: None, ..flow },
            None => flow,
        };
        for (place, operand) in work.operands.iter().enumerate() {
            let home = memory.home_of_operand(operand);
            let bytes = operand_bytes(operand, work, cost.precision, unit);
            let (role, elements, repeats) = (operand.role, operand.elements, operand.repeats);
            let here = kept.is_some_and(|kept| kept.input == Some(place));
            let constant = operand.constant;
            let own = home.map(|home| stays(flow(home, role, bytes, elements, repeats), here));
            flows.inputs.extend(own.map(|flow| Flow { constant, ..flow }));
        }
        let output = (output_bytes(work, cost.precision), Kind::STRONGEST);
        let results = work.output_elements;
        let here = kept.is_some_and(|kept| kept.output);
        let home = memory.home_of_result(work);
        let made = home.map(|home| flow(home, OperandRole::Side, output, results, 1));
        flows.output = made.map(|made| stays(made, here));
        match kept.and_then(|kept| kept.rows) {
            Some(rows) => flows.pass_in(rows),
            None => flows.cut(work, cost, engine, setting),
        }
        flows
    }

    /// The other tilings to choose from, by rising traffic.
    pub(super) fn others(&self) -> impl Iterator<Item = Order> {
        let data = self.of_role(OperandRole::Data).map_or(0.0, |flow| flow.bytes.0);
        let near = self.tilings.iter().flat_map(|tilings| tilings.near(NEAR));
        near.chain(&self.quick).map(move |tiling| Order::in_tiles(tiling, data))
    }

    fn of_role(&self, role: OperandRole) -> Option<&Flow> {
        self.inputs.iter().find(|flow| flow.role == role)
    }

    fn cut(&mut self, work: &Work, cost: &Cost, engine: usize, setting: Setting<'_>) {
        let all = || self.inputs.iter().chain(&self.output);
        if all().all(|flow| flow.buffer.is_none()) {
            let repeats = self.of_role(OperandRole::Filter).map_or(1.0, |flow| flow.repeats);
            self.order.filter.times = repeats;
            return;
        }
        let unit = &setting.profile.spec().engines[engine];
        let copies = match unit.transfers {
            Transfers::DoubleBuffered => 2.0,
            Transfers::Inline | Transfers::Serial => 1.0,
        };
        let Some(gemm) = work.gemm.map(|gemm| joined(gemm, work)) else {
            return self.stream(copies, setting);
        };
        let staging = self.staging(gemm, copies, (work, cost, engine), setting);
        let found = tilings(&staging);
        self.order = Order::in_tiles(found.best(), staging.input.bytes);
        self.overflows = !found.best().fits;
        self.tilings = Some(found);
        let wait = self.wait(setting) / unit.array.abreast() as f64;
        if wait > 0.0 {
            let quick = *tilings(&Staging { wait, ..staging }).best();
            let alike = |own: &StagedTiling| (own.tile, own.order) == (quick.tile, quick.order);
            self.quick = Some(quick).filter(|_| !alike(found.best()));
        }
    }

    /// Everything passes once, in so many pieces.
    fn pass_in(&mut self, tiles: f64) {
        let all = Coming { tiles, ..Coming::WHOLE };
        self.order = Order { data: all, filter: Coming::WHOLE, side: all, results: all };
    }

    /// Bytes of a buffer that are free.
    fn room(&self, buffer: usize, setting: Setting<'_>) -> f64 {
        let capacity = setting.profile.spec().memories[buffer].room().get().si();
        let taken = self.taken.filter(|(own, _)| *own == buffer);
        capacity - taken.map_or(0.0, |(_, bytes)| bytes)
    }

    /// Pieces of everything that share a buffer: copies of what is read, and the result.
    fn stream(&mut self, copies: f64, setting: Setting<'_>) {
        let mut tiles = 1.0f64;
        for buffer in self.inputs.iter().chain(&self.output).filter_map(|flow| flow.buffer) {
            let read = self.inputs.iter().filter(|flow| flow.buffer == Some(buffer));
            let read: f64 = read.map(|flow| flow.bytes.0).sum();
            let made = self.output.iter().filter(|flow| flow.buffer == Some(buffer));
            let made: f64 = made.map(|flow| flow.bytes.0).sum();
            let room = self.room(buffer, setting);
            self.overflows |= room <= 0.0;
            tiles = tiles.max(((copies * read + made) / room.max(1.0)).ceil());
        }
        let all = Coming { tiles, ..Coming::WHOLE };
        self.order = Order { data: all, filter: all, side: all, results: all };
    }

    /// The longest latency on the way of an operand that is staged, as bytes that pass the slowest of the ways
    /// meanwhile.
    fn wait(&self, setting: Setting<'_>) -> f64 {
        let (mut longest, mut slowest) = (0.0f64, 0.0f64);
        for flow in self.inputs.iter().chain(&self.output) {
            let Some(buffer) = flow.buffer else { continue };
            let link = setting.profile.link_between(flow.home, buffer);
            let link = link.map(|link| setting.profile.link_channel(link));
            for channel in [Some(flow.home), Some(buffer), link].into_iter().flatten() {
                longest = longest.max(latency(channel, setting).0.si());
            }
            slowest = slowest.max(time_of_a_byte(flow, setting));
        }
        if longest > 0.0 { coarse(longest / slowest) } else { 0.0 }
    }

    /// The product as a search for tilings sees it.
    fn staging(
        &self,
        gemm: Gemm,
        copies: f64,
        (work, cost, engine): (&Work, &Cost, usize),
        setting: Setting<'_>,
    ) -> Staging {
        let (data, filter) = (self.of_role(OperandRole::Data), self.of_role(OperandRole::Filter));
        let sides = || self.inputs.iter().filter(|flow| flow.role == OperandRole::Side);
        let mut places = Rooms::default();
        let prices = Prices::of(self, setting);
        let groups = gemm.groups.max(1) as f64;
        let mut factor = |flow: Option<&Flow>, passes: f64| {
            let bytes = flow.map_or(0.0, |flow| flow.bytes.0);
            let rounds = flow.map_or(1.0, |flow| flow.repeats);
            let room = flow.and_then(|flow| places.place(flow.buffer, self, setting));
            let passes = if room.is_some() { 1.0 } else { passes.max(1.0) };
            let price = flow.map_or(1.0, |flow| prices.price(flow, setting));
            Factor { bytes, group: bytes / (groups / rounds).max(1.0), room, passes, rounds, price }
        };
        let input = factor(data, cost.passes.input);
        let weight = factor(filter, cost.passes.weight);
        let output = self.output.as_ref();
        let sums = work.output_elements as f64 * sum_bytes(cost, engine, setting).0;
        let results = Results {
            bytes: output.map_or(0.0, |flow| flow.bytes.0),
            sums,
            wide: cost.passes.output_written > 1.0 || cost.passes.output_read > 0.0,
            room: output.and_then(|flow| places.place(flow.buffer, self, setting)),
            price: output.map_or(1.0, |flow| prices.price(flow, setting)),
        };
        let beside = sides().find_map(|flow| flow.buffer);
        let bytes = sides().filter(|flow| flow.buffer.is_some()).map(|flow| flow.bytes.0);
        let each = bytes.sum::<f64>() / (gemm.n.max(1) as f64 * groups);
        let (rows, depth) = rows(work, gemm);
        Staging {
            groups: gemm.groups.max(1),
            rows,
            columns: gemm.n,
            depth,
            input,
            weight,
            results,
            beside: (each, places.place(beside, self, setting)),
            copies,
            wait: 0.0,
            rooms: places.bytes,
        }
    }
}

/// One product where all groups share their filter: the rows of a batch, one below the other.
fn joined(gemm: Gemm, work: &Work) -> Gemm {
    let filter = work.operands.iter().find(|operand| operand.role == OperandRole::Filter);
    let one = gemm.k.saturating_mul(gemm.n);
    let shared = filter.is_some_and(|own| own.repeats == 1 && own.elements <= one);
    if gemm.groups > 1 && shared && work.window.is_none() {
        let rows = gemm.m.saturating_mul(gemm.groups);
        return Gemm { groups: 1, m: rows, ..gemm };
    }
    gemm
}

/// What the rows of a product are, and in how many steps its depth comes: rows of an image and channels, where
/// windows reach over several input positions.
fn rows(work: &Work, gemm: Gemm) -> (Rows, u64) {
    let matrix = (Rows::Matrix(gemm.m), gemm.k);
    let Some(window) = work.window else { return matrix };
    let kernel = (window.kernel_height.max(1), window.kernel_width.max(1));
    let stride = (window.stride_height.max(1), window.stride_width.max(1));
    if (kernel, stride) == ((1, 1), (1, 1)) {
        return matrix;
    }
    let (samples, depth) = (window.batch.max(1), window.input_channels.max(1));
    let height = window.input_height.max(1);
    let data = work.operands.iter().find(|operand| operand.role == OperandRole::Data);
    let row = [samples, window.groups.max(1), depth, height];
    let row = row.into_iter().fold(1, u64::saturating_mul);
    let width = data.map_or(1, |data| data.elements.div_ceil(row)).max(1);
    let image = Image {
        samples,
        output: (window.output_height, window.output_width),
        input: (height, width),
        kernel,
        stride,
        dilation: window.dilation_height.max(1),
    };
    (Rows::Image(image), depth)
}

/// Buffers that operands pass, in the order that they are met.
#[derive(Default)]
struct Rooms {
    buffers: [Option<usize>; ROOMS],
    bytes: [f64; ROOMS],
}

impl Rooms {
    fn place(
        &mut self,
        buffer: Option<usize>,
        flows: &Flows,
        setting: Setting<'_>,
    ) -> Option<usize> {
        let buffer = buffer?;
        let known = |own: &Option<usize>| own.is_none_or(|own| own == buffer);
        let place = self.buffers.iter().position(known)?;
        if let (Some(own), Some(bytes)) = (self.buffers.get_mut(place), self.bytes.get_mut(place)) {
            *own = Some(buffer);
            *bytes = flows.room(buffer, setting).max(0.0);
        }
        Some(place)
    }
}

/// What a byte counts: its time on the slowest part of its way over that of the slowest operand. One where all
/// operands come from the same home.
struct Prices(Option<f64>);

impl Prices {
    fn of(flows: &Flows, setting: Setting<'_>) -> Self {
        let mut all = flows.inputs.iter().chain(&flows.output);
        let alike = |one: &Flow, other: &Flow| (one.home, one.buffer) == (other.home, other.buffer);
        let Some(first) = all.next() else { return Self(None) };
        if all.clone().all(|own| alike(first, own)) {
            return Self(None);
        }
        let slowest = all.map(|flow| time_of_a_byte(flow, setting));
        Self(Some(slowest.fold(time_of_a_byte(first, setting), f64::max)))
    }

    fn price(&self, flow: &Flow, setting: Setting<'_>) -> f64 {
        self.0.map_or(1.0, |slowest| coarse(time_of_a_byte(flow, setting) / slowest))
    }
}

/// The nearest of eight numbers in each octave: what weighs one move against another need not be exact, and a
/// plan does not change with each digit of a bandwidth.
fn coarse(ratio: f64) -> f64 {
    ((ratio.log2() * 8.0).round() / 8.0).exp2()
}

/// \[s/B\]
fn time_of_a_byte(flow: &Flow, setting: Setting<'_>) -> f64 {
    let profile = setting.profile;
    let link = flow.buffer.and_then(|buffer| profile.link_between(flow.home, buffer));
    let link = link.map(|link| bandwidth(profile.link_channel(link), setting).0.si());
    let home = bandwidth(flow.home, setting).0.si();
    1.0 / link.map_or(home, |link| link.min(home))
}
