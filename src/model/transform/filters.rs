//! Stored filters in another number format, and what goes with them.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::parse::is_format;
use super::precision::{copy_as, is_scale};
use super::record::{Done, Fallback};
use super::select::Meant;
use crate::model::{ElementType, Op};
use std::collections::BTreeMap;

/// Only stored filters: they are converted on the way in, and what is computed in stays.
pub(super) fn convert_filters(
    draft: &mut Draft,
    to: ElementType,
    meant: &[Meant],
) -> Result<Done, Refusal> {
    let mut done = Done::default();
    let mut copies = BTreeMap::new();
    let mut changed = 0;
    let shared = read_elsewhere(draft, meant);
    let mut steps = std::mem::take(&mut draft.steps);
    for (step, meant) in steps.iter_mut().zip(meant) {
        if *meant == Meant::Not {
            continue;
        }
        let Some(filter) = stored_filter(draft, step) else {
            if *meant == Meant::ByName {
                return Err(Refusal::operator(step.name(), "it has no stored filters"));
            }
            continue;
        };
        if draft.tensor(filter).element == to {
            continue;
        }
        if let Some(other) = shared.get(&filter).filter(|_| *meant == Meant::Among) {
            let reason = format!("`{other}` reads its filters too, and as they are");
            done.kept.push(Fallback::new(step.name(), reason));
            continue;
        }
        let converted = copy_as(draft, &mut copies, filter, to);
        step.set_input(1, converted);
        changed += 1;
    }
    draft.steps = steps;
    let (one, many) = ("operator stores its filters", "operators store their filters");
    done.count(changed, &format!("{one} in {to}"), &format!("{many} in {to}"));
    let scales = drop_scales(draft);
    done.count(scales, "filter needs no scales any more", "filters need no scales any more");
    both_formats(draft, &copies, &mut done);
    if changed > 0 {
        done.changed.push("what is computed in stays as it was".to_owned());
    }
    Ok(done)
}

/// Constants that an operator reads which is not meant, or not as filters: in two formats they would
/// be stored twice.
fn read_elsewhere(draft: &Draft, meant: &[Meant]) -> BTreeMap<At, String> {
    let mut read = BTreeMap::new();
    for (step, meant) in draft.steps.iter().zip(meant) {
        let filter = stored_filter(draft, step).filter(|_| *meant != Meant::Not);
        for at in step.inputs.iter().flatten().filter(|at| Some(**at) != filter) {
            read.insert(*at, step.name().to_owned());
        }
    }
    read
}

/// Says which constants are stored in the old format and in the new.
pub(super) fn both_formats(
    draft: &Draft,
    copies: &BTreeMap<(At, ElementType), At>,
    done: &mut Done,
) {
    let read = draft.readers();
    let both = copies.iter().filter(|((from, _), copy)| {
        draft.is_constant(*from) && read.contains_key(from) && read.contains_key(copy)
    });
    let (one, many) =
        ("stored tensor is there in both formats", "stored tensors are there in both formats");
    done.count(both.count(), one, many);
}

/// Takes away the scales of filters that have more than 8 bits now.
pub(super) fn drop_scales(draft: &mut Draft) -> usize {
    let mut dropped = 0;
    let mut steps = std::mem::take(&mut draft.steps);
    for step in &mut steps {
        let Some(filter) = stored_filter(draft, step) else { continue };
        let element = draft.tensor(filter).element;
        let scaled = element.bits() <= 8;
        let op = step.operator.op.clone();
        let scales = |(port, at): &(usize, &mut Option<At>)| {
            is_scale(&op, *port) && at.is_some_and(|at| draft.is_constant(at))
        };
        let mut all = step.inputs.iter_mut().enumerate().filter(scales).peekable();
        if scaled || all.peek().is_none() {
            continue;
        }
        all.for_each(|(_, at)| *at = None);
        while step.inputs.last().is_some_and(Option::is_none) {
            step.inputs.pop();
        }
        dropped += 1;
    }
    draft.steps = steps;
    dropped
}

/// The stored filters of an operator of MAC work.
pub(super) fn stored_filter(draft: &Draft, step: &Step) -> Option<At> {
    let is_product = matches!(
        step.operator.op,
        Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. } | Op::Einsum(_)
    );
    let filter = step.input(1).filter(|_| is_product || is_recurrent(&step.operator.op))?;
    let stored = draft.is_constant(filter) && is_format(draft.tensor(filter).element);
    stored.then_some(filter)
}

fn is_recurrent(op: &Op) -> bool {
    matches!(op, Op::Recurrence(_))
}
