//! Software stacks: something to run on, rates only where software decides them.

use super::{Checker, above_zero, names};
use crate::diagnostic::{Fault, nearest};
use crate::hardware::spec::{Array, SoftwareStack};

/// What is wrong with stack `i` whatever it runs on.
pub(in crate::hardware) fn stack_faults(i: usize, stack: &SoftwareStack) -> Vec<Fault> {
    let mut faults = Vec::new();
    if stack.runs_on.is_empty() {
        let message = "a stack runs on at least one engine or class of core";
        faults.push(Fault::at(format!("software[{i}].runs_on"), message));
    }
    for (kind, rate) in &stack.cycles_per_mac {
        faults.extend(above_zero(format!("software[{i}].cycles_per_mac.{kind}"), rate));
    }
    for (kind, cycles) in &stack.cycles_per_position {
        let path = format!("software[{i}].cycles_per_position.{kind}");
        if kind.is_mac_work() {
            faults.extend(above_zero(path, cycles));
        } else {
            faults.push(Fault::at(path, format!("{kind} is no MAC work: it has no positions")));
        }
    }
    if let Some(rate) = &stack.weight_stream {
        faults.extend(above_zero(format!("software[{i}].weight_stream"), rate));
    }
    if let Some(cycles) = &stack.start {
        faults.extend(above_zero(format!("software[{i}].start"), cycles));
    }
    for (precision, factor) in &stack.relative_cycles {
        faults.extend(above_zero(format!("software[{i}].relative_cycles.{precision}"), factor));
    }
    if let Some(blocks) = &stack.blocks {
        for (field, extent) in [("positions", blocks.positions), ("channels", blocks.channels)] {
            if extent == 0 {
                let path = format!("software[{i}].blocks.{field}");
                faults.push(Fault::at(path, "a block holds at least one result"));
            }
        }
    }
    if let Some(tile) = &stack.tile {
        let extents =
            [("positions", tile.positions), ("channels", tile.channels), ("depth", tile.depth)];
        for (field, _) in extents.into_iter().filter(|(_, extent)| *extent == 0) {
            let path = format!("software[{i}].tile.{field}");
            faults.push(Fault::at(path, "a tile has at least one in each direction"));
        }
    }
    faults
}

impl Checker<'_> {
    pub(super) fn software(&mut self) {
        let spec = self.spec;
        for (i, stack) in spec.software.iter().enumerate() {
            let engines = self.engines_of(i, stack);
            let mut driven = engines.iter().filter_map(|e| spec.engines.get(*e));
            if let Some(array) = driven.find(|e| !matches!(e.array, Array::Lanes(_))) {
                self.no_rates(i, stack, &array.name, array.array.name());
            }
            self.links.stack_engines.push(engines);
            self.faults.extend(stack_faults(i, stack));
        }
    }

    /// Engines that a stack runs on, by name or by class of core.
    fn engines_of(&mut self, i: usize, stack: &SoftwareStack) -> Vec<usize> {
        let spec = self.spec;
        let mut found = Vec::new();
        for (j, wanted) in stack.runs_on.iter().enumerate() {
            let matching = spec.engines.iter().enumerate();
            let matching = matching
                .filter(|(_, e)| e.name == *wanted || e.core.as_deref() == Some(wanted.as_str()));
            let before = found.len();
            found.extend(matching.map(|(index, _)| index));
            // A class of core that other profiles have is no fault as long as something runs.
            if found.len() == before && stack.runs_on.len() == 1 {
                let path = format!("software[{i}].runs_on[{j}]");
                let mut fault = Fault::at(path, format!("no engine or core is called `{wanted}`"));
                let cores = spec.engines.iter().filter_map(|e| e.core.as_deref());
                let known: Vec<&str> = names!(spec.engines).into_iter().chain(cores).collect();
                fault.help = match nearest(wanted, known.iter().copied()) {
                    Some(near) => Some(format!("did you mean `{near}`?")),
                    None => Some(format!("this profile has {}", known.join(", "))),
                };
                self.faults.push(fault);
            }
        }
        if found.is_empty() && stack.runs_on.len() > 1 {
            let message = format!("none of {} is here", stack.runs_on.join(", "));
            self.fault(format!("software[{i}].runs_on"), message);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An array's cycles follow from its shape.
    fn no_rates(&mut self, i: usize, stack: &SoftwareStack, engine: &str, array: &str) {
        for (field, rates) in [
            ("cycles_per_mac", stack.cycles_per_mac.len()),
            ("cycles_per_output", stack.cycles_per_output.len()),
            ("cycles_per_position", stack.cycles_per_position.len()),
            ("cycles_per_gathered", stack.cycles_per_gathered.len()),
            ("cycles_per_operation", stack.cycles_per_operation.len()),
            ("tile", usize::from(stack.tile.is_some())),
            ("weight_stream", usize::from(stack.weight_stream.is_some())),
        ] {
            if rates > 0 {
                let message = format!(
                    "the cycles of `{engine}` ({array}) follow from its shape: software only adds dispatch"
                );
                self.faults.push(Fault::at(format!("software[{i}].{field}"), message));
            }
        }
    }
}
