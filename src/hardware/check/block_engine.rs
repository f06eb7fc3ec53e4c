//! Datapaths that work by blocks: extents within bounds, buffers that hold something.

use super::Checker;
use crate::hardware::spec::{BlockBuffers, BlockEngine, SumOrder};

/// Most blocks that a choice may go through, by their columns and channels.
const MOST_BLOCKS: u64 = 1 << 18;

impl Checker<'_> {
    pub(super) fn block_engine(&mut self, path: &str, array: &BlockEngine) {
        if array.micro_blocks.is_empty() {
            let message = "a datapath that works by blocks has at least one micro-block";
            self.fault(format!("{path}.micro_blocks"), message);
        }
        for (i, micro) in array.micro_blocks.iter().enumerate() {
            self.shape(
                &format!("{path}.micro_blocks[{i}]"),
                (micro.rows, micro.columns, micro.channels),
            );
            for (j, unit) in micro.input_units.iter().enumerate() {
                let path = format!("{path}.micro_blocks[{i}].input_units[{j}]");
                self.shape(&path, (unit.rows, unit.columns, unit.channels));
            }
        }
        let most = &array.largest;
        self.shape(&format!("{path}.largest"), (most.rows, most.columns, most.channels));
        if most.columns.saturating_mul(most.channels) > MOST_BLOCKS {
            let message = format!("columns times channels are at most {MOST_BLOCKS}");
            self.fault(format!("{path}.largest"), message);
        }
        let sides = [
            ("channel_step", array.channel_step),
            ("window", array.window.0),
            ("window", array.window.1),
            ("brick", array.brick),
        ];
        let in_flight = array.blocks_in_flight.map(|blocks| ("blocks_in_flight", blocks));
        for (field, value) in sides.into_iter().chain(in_flight) {
            self.side(format!("{path}.{field}"), value);
        }
        for (precision, rate) in &array.rates {
            self.positive(format!("{path}.rates.{precision}"), rate);
        }
        self.orders(path, array);
        self.block_buffers(&format!("{path}.buffers"), &array.buffers);
        self.way_out(path, array);
    }

    fn shape(&mut self, path: &str, (rows, columns, channels): (u64, u64, u64)) {
        for (field, value) in [("rows", rows), ("columns", columns), ("channels", channels)] {
            self.side(format!("{path}.{field}"), value);
        }
    }

    fn orders(&mut self, path: &str, array: &BlockEngine) {
        let orders = [
            ("by_channels", Some(&array.by_channels)),
            ("by_points", array.by_points.as_ref()),
            ("depthwise", array.depthwise.as_ref()),
            ("pool", array.pool.as_ref()),
        ];
        for (name, order) in orders {
            if let Some(order) = order {
                self.order(&format!("{path}.{name}"), order);
            }
        }
        for (field, cycles) in [("unpacking", &array.unpacking), ("turnaround", &array.turnaround)]
        {
            if let Some(cycles) = cycles {
                self.not_negative(format!("{path}.{field}"), cycles);
            }
        }
    }

    fn order(&mut self, path: &str, order: &SumOrder) {
        let sides = [
            ("held_channels", order.held_channels),
            ("channels", order.channels),
            ("points", order.points),
        ];
        let part = order.part.map(|part| ("part", part));
        let judged = order.judged_by.as_ref();
        let judged = judged
            .iter()
            .flat_map(|j| [("judged_by.channels", j.channels), ("judged_by.points", j.points)]);
        for (field, value) in sides.into_iter().chain(part).chain(judged) {
            self.side(format!("{path}.{field}"), value);
        }
        if order.channels > order.held_channels {
            let message = "a step takes no more channels than lie beside the datapath";
            self.fault(format!("{path}.channels"), message);
        }
        self.positive(format!("{path}.cycles"), &order.cycles);
    }

    fn block_buffers(&mut self, path: &str, buffers: &BlockBuffers) {
        match buffers {
            BlockBuffers::Shared(shared) => {
                let sides = [
                    ("banks", shared.banks),
                    ("bank_bytes", shared.bank_bytes),
                    ("input_step", shared.input_step),
                    ("sums_step", shared.sums_step),
                ];
                for (field, value) in sides {
                    self.side(format!("{path}.Shared.{field}"), value);
                }
                if shared.kept >= shared.banks {
                    let message = "some banks are left for input and sums";
                    self.fault(format!("{path}.Shared.kept"), message);
                }
            }
            BlockBuffers::Apart(apart) => {
                let sides = [("input_bytes", apart.input_bytes), ("sums_bytes", apart.sums_bytes)];
                for (field, value) in sides {
                    self.side(format!("{path}.Apart.{field}"), value);
                }
            }
        }
    }

    fn way_out(&mut self, path: &str, array: &BlockEngine) {
        let way = &array.way_out;
        self.not_negative(format!("{path}.way_out.cycles"), &way.cycles);
        for (function, cycles) in &way.by_function {
            self.not_negative(format!("{path}.way_out.by_function.{function}"), cycles);
        }
        if let Some(record) = &way.record {
            self.not_negative(format!("{path}.way_out.record"), record);
        }
        if let Some(bytes) = &way.records_in_flight {
            self.positive(format!("{path}.way_out.records_in_flight"), bytes);
        }
        for (kind, sequence) in &array.sequences {
            self.positive(format!("{path}.sequences.{kind}.cycles"), &sequence.cycles);
        }
    }
}
