//! Cycles of layers by what takes them, predicted and estimated.

use crate::cost::Setting;
use crate::mapping::import::{ImportError, ImportedLayer, ImportedTable};
use crate::mapping::{Network, Phase, PhaseKind, Plan, Step, transfer_time};
use crate::model::OpKind;
use crate::units::Cycles;
use std::collections::BTreeMap;

const NPU: &str = "npu";

/// Cycles of a layer by what takes them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BusyCycles {
    /// From its start to its end.
    pub total: Cycles,
    /// That the datapath (`npu`) and the port of each memory (`sram`, `dram`, `flash`) are at work.
    pub parts: BTreeMap<&'static str, Cycles>,
}

impl BusyCycles {
    /// Cycles of the datapath.
    pub fn npu(&self) -> Cycles {
        self.parts.get(NPU).copied().unwrap_or(Cycles::ZERO)
    }

    /// What takes longest.
    pub fn class(&self) -> &'static str {
        let most = self.parts.iter().max_by(|one, other| one.1.0.total_cmp(&other.1.0));
        most.map_or(NPU, |(class, _)| class)
    }

    fn add(&mut self, part: &'static str, cycles: Cycles) {
        *self.parts.entry(part).or_insert(Cycles::ZERO) += cycles;
    }
}

/// A layer, predicted and estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldLayer {
    /// Its name in the model.
    pub name: String,
    /// Its kind.
    pub kind: OpKind,
    /// As predicted, without starting the operator.
    pub predicted: BusyCycles,
    /// As the compiler estimates.
    pub estimated: BusyCycles,
}

impl HeldLayer {
    /// True where the same takes longest.
    pub fn is_of_one_class(&self) -> bool {
        self.predicted.class() == self.estimated.class()
    }
}

/// All layers that work is done for, in the order of the network.
pub(super) fn held_layers(
    plan: &Plan,
    network: &Network,
    table: &ImportedTable,
    setting: Setting<'_>,
) -> Result<Vec<HeldLayer>, ImportError> {
    let matches = table.matched(network)?;
    let steps = plan.steps.iter().filter(|step| step.kind != OpKind::View);
    let held = steps.map(|step| {
        let own = matches.iter().filter(|matched| matched.layer == step.layer);
        let rows = own.flat_map(|matched| &matched.rows);
        let mut estimated = BusyCycles::default();
        for row in rows.filter_map(|row| table.layers.get(*row)) {
            estimate(row, &mut estimated);
        }
        let (name, kind) = (step.name.clone(), step.kind);
        HeldLayer { name, kind, predicted: predicted(step, setting), estimated }
    });
    Ok(held.collect())
}

fn estimate(row: &ImportedLayer, busy: &mut BusyCycles) {
    busy.total += row.cycles();
    busy.add(NPU, row.compute);
    for (level, cycles) in &row.busy {
        busy.add(class(level), *cycles);
    }
}

/// Cycles of a step on the engine's clock.
fn predicted(step: &Step, setting: Setting<'_>) -> BusyCycles {
    let mut busy = BusyCycles::default();
    busy.add(NPU, Cycles::ZERO);
    for phase in step.phases.iter().filter(|phase| phase.kind != PhaseKind::Dispatch) {
        add_phase(phase, step.engine, setting, &mut busy);
    }
    busy
}

fn add_phase(phase: &Phase, engine: usize, setting: Setting<'_>, busy: &mut BusyCycles) {
    let (clock, _) = setting.point.clocks[setting.profile.links().engine_domain[engine]];
    busy.add(NPU, phase.compute);
    let mut longest = phase.compute;
    // What comes before the first results is a wait of the datapath to Vela, and no access of a memory.
    let waits = phase.kind == PhaseKind::Fill;
    for transfer in &phase.transfers {
        let (time, _) = transfer_time(transfer, setting);
        let own = clock * time;
        if !waits {
            busy.add(class(setting.profile.channel_name(transfer.channel)), own);
        }
        longest = longest.max(own);
    }
    if waits {
        busy.add(NPU, longest - phase.compute);
    }
    busy.total += longest;
}

/// What memories are called in a comparison: flash is flash, on the chip or off it.
fn class(memory: &str) -> &'static str {
    match memory {
        "sram" => "sram",
        "dram" => "dram",
        _ => "flash",
    }
}
