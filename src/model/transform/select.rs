//! Which operators a name or a pattern means.

use super::Refusal;
use super::draft::{Draft, Step};
use crate::diagnostic::nearest;
use crate::model::name_fits;

/// How an operator is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// It is not.
    Not,
    /// With all, or by a pattern.
    Among,
    /// By its name.
    ByName,
}

/// How each step is meant. An operator that has the name itself is meant alone; otherwise the name
/// is a pattern. What matches nothing is refused.
pub(super) fn select(draft: &Draft, layers: Option<&str>) -> Result<Vec<Meant>, Refusal> {
    let Some(name) = layers else { return Ok(vec![Meant::Among; draft.steps.len()]) };
    let all = |meant: Meant, is: &dyn Fn(&Step) -> bool| -> Vec<Meant> {
        draft.steps.iter().map(|s| if is(s) { meant } else { Meant::Not }).collect()
    };
    let mut found = all(Meant::ByName, &|step| step.name() == name);
    if found.iter().all(|meant| *meant == Meant::Not) {
        found = all(Meant::Among, &|step| name_fits(name, step.name()));
    }
    if found.iter().all(|meant| *meant == Meant::Not) {
        let names = draft.steps.iter().map(Step::name);
        let nearest = nearest(name, names).map(str::to_owned);
        return Err(Refusal::NoLayer { name: name.to_owned(), nearest });
    }
    Ok(found)
}
