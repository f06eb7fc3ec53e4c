//! From sizes and rooms to homes.

use super::homes::Room;
use super::lacks::lacks;
use super::planned::{MemoryPlan, MemoryUse, Placed};
use super::sizes::Sizes;
use crate::model::{ALIGNMENT, Buffers, Edge, Kept, Used, keep};
use crate::units::Bytes;
use std::sync::Arc;

/// Places the tensors of a network.
pub(super) fn placed(buffers: &Arc<Buffers>, sizes: &Sizes, rooms: &[Room]) -> MemoryPlan {
    let mut memories: Vec<MemoryUse> =
        rooms.iter().map(|room| MemoryUse::empty(room.memory, room.capacity)).collect();
    let first = |holds: fn(&Room) -> bool| rooms.iter().find(|r| holds(r)).map(|r| r.memory);
    let sum = |of: &[usize]| of.iter().map(|at| u128::from(bytes_of(sizes, *at))).sum::<u128>();
    let mut plan = MemoryPlan {
        weights: first(|room| room.weights),
        activations: first(|room| room.activations),
        weight_bytes: Bytes(sum(&sizes.weights) as f64),
        peak_activation_bytes: Bytes(most_alive(sizes.used.iter()).0 as f64),
        fits: true,
        memories: Vec::new(),
        homes: vec![None; buffers.tensors().len()],
        bytes: sizes.bytes.clone(),
        homeless: Vec::new(),
        lacks: Vec::new(),
        buffers: Arc::clone(buffers),
    };
    place_activations(sizes, rooms, &mut memories, &mut plan);
    place_weights(sizes, rooms, &mut memories, &mut plan);
    plan.fits = plan.homeless.is_empty() && memories.iter().all(|m| m.overflow.is_empty());
    plan.memories = memories;
    plan.lacks = lacks(&plan);
    plan
}

fn bytes_of(sizes: &Sizes, buffer: usize) -> u64 {
    sizes.bytes.get(buffer).copied().unwrap_or(0)
}

fn set_home(plan: &mut MemoryPlan, buffer: usize, memory: usize) {
    if let Some(home) = plan.homes.get_mut(buffer) {
        *home = Some(memory);
    }
}

/// Most bytes alive at once, and the first step at which so many are.
fn most_alive<'a>(used: impl Iterator<Item = &'a Used>) -> (u128, Option<usize>) {
    let mut changes: Vec<(usize, bool, u64)> = Vec::new();
    for Used { block, .. } in used.filter(|own| own.block.bytes > 0) {
        changes.push((block.first, true, block.bytes));
        changes.push((block.last.saturating_add(1), false, block.bytes));
    }
    changes.sort_unstable();
    let (mut alive, mut most, mut at) = (0u128, 0, None);
    for (step, starts, bytes) in changes {
        let bytes = u128::from(bytes);
        alive = if starts { alive + bytes } else { alive.saturating_sub(bytes) };
        if alive > most {
            (most, at) = (alive, Some(step));
        }
    }
    (most, at)
}

fn place_activations(
    sizes: &Sizes,
    rooms: &[Room],
    memories: &mut [MemoryUse],
    plan: &mut MemoryPlan,
) {
    let mut left: Vec<usize> = (0..sizes.used.len()).collect();
    let of = |left: &[usize]| -> Vec<Used> {
        left.iter().filter_map(|at| sizes.used.get(*at)).copied().collect()
    };
    let buffer = |at: usize| sizes.activations.get(at).copied();
    let edge = |at: usize| sizes.edges.get(at).copied().flatten();
    for (room, own) in rooms.iter().zip(memories.iter_mut()).filter(|(r, _)| r.takes_any()) {
        let (asked, others) = left.iter().partition::<Vec<_>, _>(|at| room.takes(edge(**at)));
        left = asked;
        let used = of(&left);
        // Everything in one memory has been placed already.
        let whole =
            left.len() == sizes.used.len() && sizes.all.packing.top <= u128::from(room.capacity);
        let kept = if whole { sizes.all.clone() } else { keep(&used, room.capacity) };
        let stays = stay(&kept, &used, own);
        for (at, placed) in stays {
            let Some(buffer) = left.get(at).and_then(|at| buffer(*at)) else { continue };
            set_home(plan, buffer, room.memory);
            // What has no bytes takes no place.
            if placed.bytes > 0 {
                own.activations.push(Placed { buffer, ..placed });
            }
        }
        let mut stays = kept.blocks.iter().copied().peekable();
        let mut spilled = Vec::new();
        for (at, own) in left.iter().enumerate() {
            if stays.next_if_eq(&at).is_none() {
                spilled.push(*own);
            }
        }
        own.spilled.extend(spilled.iter().filter_map(|at| buffer(*at)));
        left = spilled;
        left.extend(others);
        left.sort_unstable();
        own.activations.sort_by_key(|placed| (placed.offset, placed.lifetime, placed.buffer));
    }
    for passing in [None, Some(Edge::In), Some(Edge::Out)] {
        let own = left.iter().filter(|at| edge(**at) == passing).filter_map(|at| buffer(*at));
        overflow(own.collect(), rooms, memories, plan, |room| room.takes(passing));
    }
}

/// What stays in a memory, by place in the list that was asked for.
fn stay(kept: &Kept, used: &[Used], memory: &mut MemoryUse) -> Vec<(usize, Placed)> {
    let blocks = || kept.blocks.iter().filter_map(|at| used.get(*at));
    let (alive, at) = most_alive(blocks());
    memory.alive_bytes = saturated(alive);
    memory.peak_bytes = saturated(kept.packing.top);
    memory.peak_at = at;
    let placed = kept.blocks.iter().zip(blocks()).zip(&kept.packing.offsets);
    let placed = placed.map(|((at, own), offset)| {
        let lifetime = Some((own.block.first, own.block.last));
        let (offset, bytes) = (saturated(*offset), own.block.bytes);
        (*at, Placed { buffer: 0, offset, bytes, lifetime })
    });
    placed.collect()
}

fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Weights one behind the other, above the activations.
fn place_weights(sizes: &Sizes, rooms: &[Room], memories: &mut [MemoryUse], plan: &mut MemoryPlan) {
    let mut left = sizes.weights.clone();
    for (room, own) in rooms.iter().zip(memories.iter_mut()).filter(|(room, _)| room.weights) {
        let mut free = own.peak_bytes;
        let mut spilled = Vec::new();
        for buffer in left {
            let bytes = bytes_of(sizes, buffer);
            let offset = free.checked_next_multiple_of(ALIGNMENT);
            let end = offset.and_then(|offset| offset.checked_add(bytes));
            match offset.zip(end).filter(|(_, end)| bytes == 0 || *end <= room.capacity) {
                Some((offset, end)) => {
                    set_home(plan, buffer, room.memory);
                    if bytes > 0 {
                        free = end;
                        own.weight_bytes = own.weight_bytes.saturating_add(bytes);
                        own.weights.push(Placed { buffer, offset, bytes, lifetime: None });
                    }
                }
                None => spilled.push(buffer),
            }
        }
        own.spilled.extend(spilled.iter().copied());
        left = spilled;
    }
    overflow(left, rooms, memories, plan, |room| room.weights);
}

/// What has no room anywhere is counted as living in the largest memory that may hold it.
fn overflow(
    left: Vec<usize>,
    rooms: &[Room],
    memories: &mut [MemoryUse],
    plan: &mut MemoryPlan,
    holds: impl Fn(&Room) -> bool,
) {
    let sized = |at: &usize| plan.buffers.tensors().get(*at).is_some_and(|t| t.bytes > 0);
    let may_hold = rooms.iter().zip(memories).filter(|(room, _)| holds(room));
    match may_hold.max_by_key(|(room, _)| room.capacity) {
        Some((room, own)) => {
            for buffer in left {
                set_home(plan, buffer, room.memory);
                own.overflow.push(buffer);
            }
        }
        None => plan.homeless.extend(left.into_iter().filter(sized)),
    }
}
