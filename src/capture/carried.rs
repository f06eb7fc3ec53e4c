//! What each supply line carries, as sums of the components of the trace.

use super::Measured;
use crate::trace::ComponentId;

/// A supply line, and the components whose power runs over it: its own, and those of the lines that
/// are measured within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The name of the line.
    pub name: String,
    /// The components.
    pub members: Vec<ComponentId>,
}

impl Measured {
    /// Every component, whose sum is the total.
    pub fn everything(&self) -> Vec<ComponentId> {
        (0..self.summary.header.components.len()).map(ComponentId).collect()
    }

    /// The supply lines whose power is known, in the order of the file; of a trace, its rails.
    pub fn carried(&self) -> Vec<Carried> {
        if self.supply.lines.is_empty() { self.by_rail() } else { self.by_line() }
    }

    fn by_line(&self) -> Vec<Carried> {
        let lines = &self.supply.lines;
        let powered: Vec<usize> =
            (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|l| l.has_power())).collect();
        let carried = |line: &usize| {
            // Lines within lines; one that is met again adds nothing.
            let (mut within, mut next) = (vec![*line], 0);
            while let Some(&at) = within.get(next) {
                for part in self.supply.parts(at) {
                    if !within.contains(&part) {
                        within.push(part);
                    }
                }
                next += 1;
            }
            let component = |at: &usize| powered.iter().position(|p| p == at).map(ComponentId);
            let members = within.iter().filter_map(component).collect();
            lines.get(*line).map(|line| Carried { name: line.name.clone(), members })
        };
        powered.iter().filter_map(carried).collect()
    }

    fn by_rail(&self) -> Vec<Carried> {
        let mut carried: Vec<Carried> = Vec::new();
        for (at, component) in self.summary.header.components.iter().enumerate() {
            match carried.iter_mut().find(|line| line.name == component.rail) {
                Some(line) => line.members.push(ComponentId(at)),
                None => carried
                    .push(Carried { name: component.rail.clone(), members: vec![ComponentId(at)] }),
            }
        }
        carried
    }
}
