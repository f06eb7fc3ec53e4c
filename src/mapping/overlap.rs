//! Into how many pieces operands are cut, so that moving them overlaps with computing.
//!
//! With double buffering the first piece of every operand is loaded before anything is computed and the
//! last piece of the result is stored behind, and all the rest moves beside the engine:
//!
//! `T(n) = max_c fill_c(n) + max(C, max_c steady_c(n)) + max_c drain_c(n)`
//!
//! - `fill_c = sum_o t_c + B_o / (p_o BW_c)` over the operands that are loaded, `p_o = min(n, cuts_o)`
//! - `drain_c` likewise over the result
//! - `steady_c = near_c + sum_o (p_o f_o - 1) t_c + B_o (f_o - 1 / p_o) / BW_c` over both
//!
//! Symbols: `n` pieces of an operand, `C` \[s\] cycles of the engine, `B_o` \[B\] an operand and `f_o` how
//! often it comes, `t_c` \[s\] latency and `BW_c` \[B/s\] bandwidth of channel `c`, `near_c` \[s\] what passes
//! between the engine and the memory next to it.
//!
//! A buffer forces a number of tiles ([`super::flows`]), which settles `f_o`. Pieces may be finer: what
//! stays in the buffer comes in more and smaller requests then, and no byte of it comes twice. Taken is the
//! number of least time from what is forced up to the finest cut, of 1, 2, 3, 4, 6, 8, 12, … and that
//! finest; of equals the smallest. The range only grows with the buffer, so a larger buffer is never slower.
//!
//! Assumed: a compiler that picks tiles well, and an engine that can start on the first piece of each
//! operand. Where that does not hold, an engine's transfers are `Serial`.

use super::plan::Transfer;
use super::traffic::{Sum, Sums};
use crate::cost::{Setting, bandwidth, latency};
use crate::evidence::Kind;
use crate::units::{Bytes, Quantity, Seconds};

/// One operand on its way over one channel.
pub(super) struct Moved {
    pub(super) channel: usize,
    /// True when it is written to the channel, false when it is read.
    pub(super) written: bool,
    /// The operand, once.
    pub(super) bytes: Bytes,
    /// Times that it comes.
    pub(super) fetches: f64,
    /// Pieces that it can be cut into at most.
    pub(super) cuts: f64,
    /// What its bytes rest on.
    pub(super) bytes_kind: Kind,
    /// What its pieces rest on.
    pub(super) pieces_kind: Kind,
}

impl Moved {
    fn pieces(&self, n: f64) -> f64 {
        n.min(self.cuts)
    }
}

/// What is loaded before, or stored behind.
pub(super) struct Staged {
    /// All of it, by channel.
    pub(super) whole: Vec<Transfer>,
    /// Share of the bytes and number of requests that make one piece of each operand.
    piece: Vec<(f64, f64)>,
}

impl Staged {
    pub(super) fn of(moved: &[Moved], pieces: f64, setting: Setting<'_>) -> Self {
        let (mut sums, mut first) = (Sums::default(), Vec::<(usize, Bytes, f64)>::new());
        for own in moved.iter().filter(|own| own.bytes.0 > 0.0) {
            let cut = own.pieces(pieces);
            let bytes = own.bytes * own.fetches;
            let (read, write) =
                if own.written { (Bytes::ZERO, bytes) } else { (bytes, Bytes::ZERO) };
            sums.add(Sum {
                channel: own.channel,
                read,
                write,
                requests: cut * own.fetches,
                bytes_kind: own.bytes_kind,
                count_kind: own.pieces_kind.weaker(own.bytes_kind),
            });
            match first.iter_mut().find(|(channel, ..)| *channel == own.channel) {
                Some((_, bytes, requests)) => {
                    *bytes += own.bytes / cut;
                    *requests += 1.0;
                }
                None => first.push((own.channel, own.bytes / cut, 1.0)),
            }
        }
        let whole = sums.transfers(setting);
        let piece = whole.iter().map(|all| {
            let own = first.iter().find(|(channel, ..)| *channel == all.channel);
            own.map_or((0.0, 0.0), |(_, bytes, requests)| (*bytes / all.bytes(), *requests))
        });
        Self { piece: piece.collect(), whole }
    }

    /// One piece of each operand.
    pub(super) fn piece(&self) -> Vec<Transfer> {
        let parts = self.whole.iter().zip(&self.piece);
        let parts = parts.map(|(all, (share, requests))| all.part(*share, *requests));
        parts.filter(|part| part.bytes().0 > 0.0).collect()
    }

    /// The other pieces.
    pub(super) fn rest(&self) -> Vec<Transfer> {
        let parts = self.whole.iter().zip(&self.piece);
        let parts = parts.map(|(all, (share, requests))| {
            all.part(1.0 - share, (all.requests - requests).max(0.0))
        });
        parts.filter(|part| part.bytes().0 > 0.0).collect()
    }
}

/// A channel with its times within the three phases.
struct Way {
    channel: usize,
    latency: f64,
    per_byte: f64,
    near: f64,
    fill: f64,
    steady: f64,
    drain: f64,
}

/// The pieces of least time for a step that computes for so long.
pub(super) fn pieces(
    loads: &[Moved],
    stores: &[Moved],
    near: &[Transfer],
    compute: Seconds,
    forced: f64,
    setting: Setting<'_>,
) -> f64 {
    let moved = || loads.iter().chain(stores).filter(|own| own.bytes.0 > 0.0);
    let finest = moved().map(|own| own.cuts).fold(1.0, f64::max);
    if forced >= finest {
        return forced;
    }
    let mut ways: Vec<Way> = Vec::new();
    for own in moved() {
        if !ways.iter().any(|way| way.channel == own.channel) {
            ways.push(Way::of(own.channel, near, setting));
        }
    }
    // The engine waits for channels beside it whatever the pieces are.
    let floor = near.iter().map(|t| time_of(t, setting)).fold(compute.0, f64::max);
    let mut best = (f64::INFINITY, forced);
    for n in candidates(forced, finest) {
        let time = step_time(loads, stores, n, floor, &mut ways);
        if time < best.0 * (1.0 - 1e-12) {
            best = (time, n);
        }
    }
    best.1
}

/// 1, 2, 3, 4, 6, 8, 12, … from `least` on and below `finest`, and that.
fn candidates(least: f64, finest: f64) -> impl Iterator<Item = f64> {
    let powers = std::iter::successors(Some(1.0), |power: &f64| Some(power * 2.0));
    let grid = powers.flat_map(|power| [power, power * 1.5]).filter(|n| *n != 1.5);
    let below = grid.take_while(move |n| *n < finest).filter(move |n| *n >= least);
    below.chain([finest])
}

fn time_of(transfer: &Transfer, setting: Setting<'_>) -> f64 {
    let moving = transfer.bytes() / bandwidth(transfer.channel, setting).0;
    (moving + latency(transfer.channel, setting).0 * transfer.requests).0
}

impl Way {
    fn of(channel: usize, near: &[Transfer], setting: Setting<'_>) -> Self {
        let near = near.iter().find(|t| t.channel == channel).map_or(0.0, |t| time_of(t, setting));
        let latency = latency(channel, setting).0.0;
        let per_byte = 1.0 / bandwidth(channel, setting).0.si();
        Self { channel, latency, per_byte, near, fill: 0.0, steady: near, drain: 0.0 }
    }
}

/// `T(n)` of the module's law.
fn step_time(loads: &[Moved], stores: &[Moved], n: f64, floor: f64, ways: &mut [Way]) -> f64 {
    for way in ways.iter_mut() {
        (way.fill, way.steady, way.drain) = (0.0, way.near, 0.0);
    }
    for (list, before) in [(loads, true), (stores, false)] {
        for own in list {
            let Some(way) = ways.iter_mut().find(|way| way.channel == own.channel) else {
                continue;
            };
            let cut = own.pieces(n);
            let piece = own.bytes.0 / cut;
            let end = way.latency + piece * way.per_byte;
            if before {
                way.fill += end;
            } else {
                way.drain += end;
            }
            let others = own.bytes.0 * own.fetches - piece;
            way.steady += (cut * own.fetches - 1.0) * way.latency + others * way.per_byte;
        }
    }
    let longest = |least: f64, of: fn(&Way) -> f64| ways.iter().map(of).fold(least, f64::max);
    longest(0.0, |way| way.fill) + longest(floor, |way| way.steady) + longest(0.0, |way| way.drain)
}
