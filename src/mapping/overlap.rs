//! Into how many pieces operands are cut, so that moving them overlaps with computing.
//!
//! With double buffering the first piece of every operand is loaded before anything is computed and the
//! last piece of the result is stored behind, and all the rest moves beside the engine:
//!
//! `T(n) = max_c fill_c(n) + max(C, max_c steady_c(n)) + max_c drain_c(n)`
//!
//! - `fill_c = sum_o t_c + B_o / (p_o BW_c)` over the operands that are loaded,
//!   `p_o = min(max(n, tiles_o), cuts_o)`
//! - `drain_c` likewise over the result
//! - `steady_c = near_c + sum_o (p_o f_o - 1) t_c + B_o (f_o - 1 / p_o) / BW_c` over both
//!
//! Symbols: `n` pieces of an operand, `C` \[s\] cycles of the engine, `B_o` \[B\] an operand, `f_o` how
//! often it comes and `tiles_o` in how many tiles the buffer forces it, `t_c` \[s\] latency and `BW_c` \[B/s\] bandwidth of channel `c`, `near_c` \[s\] what passes
//! between the engine and the memory next to it.
//!
//! An operand whose home says so ([`Memory::serial`](crate::hardware::Memory::serial)) moves whole before or
//! behind: its part of `fill_c` or `drain_c` is `f_o (tiles_o t_c + B_o / BW_c)`, and it has none of `steady_c`.
//!
//! A tiling ([`super::flows`]) settles `tiles_o` and `f_o`. Pieces may be finer: what stays in the buffer comes
//! in more and smaller requests then, and no byte of it comes twice. Taken is the number of least time
//! ([`super::pace`]) up to the finest cut, of eight in each octave.
//!
//! Units of an engine that work on tiles of their own (the multiprocessors of a GPU) ask for them side by side:
//! of so many requests each waits the part of a latency that comes on it.
//!
//! Assumed: a compiler that picks tiles well, and an engine that can start on the first piece of each
//! operand. Where that does not hold, an engine's transfers are `Serial`.

use super::ahead::Early;
use super::plan::Transfer;
use super::traffic::{Sum, Sums};
use crate::cost::Setting;
use crate::evidence::Kind;
use crate::units::Bytes;

/// One operand on its way from one memory into another.
pub(super) struct Moved {
    /// The channels that it passes: read from the first, written to the second, over the third.
    pub(super) channels: (usize, usize, Option<usize>),
    /// The operand, once.
    pub(super) bytes: Bytes,
    /// Times that it comes.
    pub(super) fetches: f64,
    /// Pieces that the buffer forces it into.
    pub(super) tiles: f64,
    /// Pieces that it can be cut into at most.
    pub(super) cuts: f64,
    /// Pieces that are asked for at a time, by units that work side by side.
    pub(super) abreast: f64,
    /// True where all of it moves before the engine computes, or behind.
    pub(super) alone: bool,
    /// What its bytes rest on.
    pub(super) bytes_kind: Kind,
    /// What its pieces rest on.
    pub(super) pieces_kind: Kind,
}

impl Moved {
    /// The channels that it passes, and whether it is written there.
    pub(super) fn over(&self) -> impl Iterator<Item = (usize, bool)> {
        let (from, to, link) = self.channels;
        [(from, false), (to, true)].into_iter().chain(link.map(|link| (link, false)))
    }
}

/// What is loaded before, or stored behind.
pub(super) struct Staged {
    /// All of it, by channel.
    pub(super) whole: Vec<Transfer>,
    /// Bytes and requests that make one piece of each operand, likewise.
    piece: Vec<(Bytes, f64)>,
    /// Pieces of the operand that is cut finest.
    pub(super) pieces: f64,
}

impl Staged {
    pub(super) fn of(moved: &[Moved], pieces: f64, setting: Setting<'_>) -> Self {
        let mut sums = Sums::default();
        let mut piece: Vec<(Bytes, f64)> = Vec::with_capacity(3);
        let mut finest = 1.0_f64;
        for own in moved {
            // Pieces of this operand where operands are cut into so many.
            let cut = pieces.max(own.tiles).min(own.cuts);
            if !own.alone {
                finest = finest.max(cut * own.fetches);
            }
            let bytes = own.bytes * own.fetches;
            let (requests, bytes_kind) = (cut * own.fetches / own.abreast, own.bytes_kind);
            let count_kind = own.pieces_kind.weaker(bytes_kind);
            let one = (own.bytes / cut, 1.0 / own.abreast);
            let first = if own.alone { (bytes, requests) } else { one };
            for (channel, written) in own.over() {
                let (read, write) =
                    if written { (Bytes::ZERO, bytes) } else { (bytes, Bytes::ZERO) };
                let place =
                    sums.add(Sum { channel, read, write, requests, bytes_kind, count_kind });
                match piece.get_mut(place) {
                    Some(sum) => {
                        sum.0 += first.0;
                        sum.1 += first.1;
                    }
                    None => piece.push(first),
                }
            }
        }
        Self { whole: sums.transfers(setting), piece, pieces: finest }
    }

    /// One piece of each operand.
    pub(super) fn piece(&self) -> Vec<Transfer> {
        self.parts(|all, piece, requests| all.part(piece / all.bytes(), requests))
    }

    /// The other pieces.
    pub(super) fn rest(&self) -> Vec<Transfer> {
        self.parts(|all, piece, requests| {
            all.part(1.0 - piece / all.bytes(), (all.requests - requests).max(0.0))
        })
    }

    fn parts(&self, part: impl Fn(&Transfer, Bytes, f64) -> Transfer) -> Vec<Transfer> {
        let mut parts = Vec::with_capacity(self.whole.len());
        for (all, (piece, requests)) in self.whole.iter().zip(&self.piece) {
            let part = part(all, *piece, *requests);
            if part.bytes().0 > 0.0 {
                parts.push(part);
            }
        }
        parts
    }
}

/// What moves in a step.
#[derive(Default)]
pub(super) struct Moves {
    /// From homes into buffers.
    pub(super) loads: Vec<Moved>,
    /// Between the engine and the memory next to it.
    pub(super) near: Vec<Transfer>,
    /// From buffers to homes.
    pub(super) stores: Vec<Moved>,
    /// Weights that may come ahead.
    pub(super) early: Option<Early>,
}

impl Moves {
    /// True when something passes a buffer.
    pub(super) fn is_staged(&self) -> bool {
        !self.loads.is_empty() || !self.stores.is_empty()
    }
}
