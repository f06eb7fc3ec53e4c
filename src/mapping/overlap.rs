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
//! finest; of equals the smallest. The range only grows with the buffer, and `f_o` of either loop order only
//! falls, so a larger buffer is never slower.
//!
//! Assumed: a compiler that picks tiles well, and an engine that can start on the first piece of each
//! operand. Where that does not hold, an engine's transfers are `Serial`.

use super::plan::Transfer;
use super::traffic::{Sum, Sums};
use crate::cost::{Setting, bandwidth, latency};
use crate::evidence::Kind;
use crate::hardware::Transfers;
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
        for own in moved {
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

/// What moves in a step.
#[derive(Default)]
pub(super) struct Moves {
    /// From homes into buffers.
    pub(super) loads: Vec<Moved>,
    /// Between the engine and the memory next to it.
    pub(super) near: Vec<Transfer>,
    /// From buffers to homes.
    pub(super) stores: Vec<Moved>,
}

/// Pieces of an operand, and how long a step takes in them \[s\].
pub(super) struct Pace {
    pub(super) time: f64,
    pub(super) pieces: f64,
}

impl Moves {
    /// True when something passes a buffer.
    pub(super) fn is_staged(&self) -> bool {
        !self.loads.is_empty() || !self.stores.is_empty()
    }

    /// The pace of a step that computes for so long in at least so many pieces.
    pub(super) fn pace(
        &self,
        how: Transfers,
        compute: Seconds,
        forced: f64,
        setting: Setting<'_>,
    ) -> Pace {
        let moved = || self.loads.iter().chain(&self.stores);
        let mut ways: Vec<Way> = Vec::new();
        for own in moved() {
            if !ways.iter().any(|way| way.channel == own.channel) {
                ways.push(Way::of(own.channel, &self.near, setting));
            }
        }
        // The engine waits for channels beside it whatever the pieces are.
        let near = self.near.iter().map(|t| time_of(t, setting));
        let floor = near.fold(compute.0, f64::max);
        let finest = moved().map(|own| own.cuts).fold(1.0, f64::max);
        let mut time = |n: f64| step_time(how, (&self.loads, &self.stores), n, floor, &mut ways);
        let mut best = Pace { time: f64::INFINITY, pieces: forced };
        if how != Transfers::DoubleBuffered || forced >= finest {
            return Pace { time: time(forced), ..best };
        }
        for n in candidates(forced, finest) {
            let time = time(n);
            if time < best.time * (1.0 - 1e-12) {
                best = Pace { time, pieces: n };
            }
        }
        best
    }
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

/// `T(n)` of the module's law; for other transfers, with all of each operand before and behind, or none.
fn step_time(
    how: Transfers,
    (loads, stores): (&[Moved], &[Moved]),
    n: f64,
    floor: f64,
    ways: &mut [Way],
) -> f64 {
    for way in ways.iter_mut() {
        (way.fill, way.steady, way.drain) = (0.0, way.near, 0.0);
    }
    for (list, before) in [(loads, true), (stores, false)] {
        for own in list {
            let Some(way) = ways.iter_mut().find(|way| way.channel == own.channel) else {
                continue;
            };
            let cut = own.pieces(n);
            let of = |requests: f64, bytes: f64| requests * way.latency + bytes * way.per_byte;
            let whole = of(cut * own.fetches, own.bytes.0 * own.fetches);
            let end = match how {
                Transfers::Inline => 0.0,
                Transfers::DoubleBuffered => of(1.0, own.bytes.0 / cut),
                Transfers::Serial => whole,
            };
            way.steady += whole - end;
            if before {
                way.fill += end;
            } else {
                way.drain += end;
            }
        }
    }
    let longest = |least: f64, of: fn(&Way) -> f64| ways.iter().map(of).fold(least, f64::max);
    longest(0.0, |way| way.fill) + longest(floor, |way| way.steady) + longest(0.0, |way| way.drain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(channel: usize, bytes: f64, fetches: f64, cuts: f64) -> Moved {
        Moved {
            channel,
            written: false,
            bytes: Bytes(bytes),
            fetches,
            cuts,
            bytes_kind: Kind::STRONGEST,
            pieces_kind: Kind::STRONGEST,
        }
    }

    fn way(channel: usize, latency: f64, per_byte: f64, near: f64) -> Way {
        Way { channel, latency, per_byte, near, fill: 0.0, steady: near, drain: 0.0 }
    }

    #[test]
    fn the_law_adds_up_by_hand() {
        // 100 B and 60 B in at a byte a second and a second each, 40 B out; four pieces, the 60 B in three.
        let (loads, stores) =
            ([moved(0, 100.0, 1.0, 9.0), moved(0, 60.0, 2.0, 3.0)], [moved(0, 40.0, 1.0, 9.0)]);
        let fill = (1.0 + 25.0) + (1.0 + 20.0);
        let drain = 1.0 + 10.0;
        let steady = (3.0 + 75.0) + (5.0 + 100.0) + (3.0 + 30.0) + 7.0;
        for (compute, expected) in [(1000.0, fill + 1000.0 + drain), (5.0, fill + steady + drain)] {
            let (how, moved) = (Transfers::DoubleBuffered, (&loads[..], &stores[..]));
            let time = step_time(how, moved, 4.0, compute, &mut [way(0, 1.0, 1.0, 7.0)]);
            assert!((time - expected).abs() < 1e-9, "{time} {expected}");
        }
    }

    #[test]
    fn the_number_taken_is_near_the_best_of_all() {
        for latency in [0.0, 0.01, 0.3, 2.0, 40.0] {
            for compute in [1.0, 150.0, 260.0, 900.0] {
                for near in [0.0, 250.0] {
                    let (loads, stores) = (
                        [moved(0, 100.0, 1.0, 300.0), moved(1, 60.0, 2.0, 70.0)],
                        [moved(1, 40.0, 1.0, 500.0)],
                    );
                    let mut ways = [way(0, latency, 1.0, 0.0), way(1, latency / 3.0, 0.5, near)];
                    let (how, moved) = (Transfers::DoubleBuffered, (&loads[..], &stores[..]));
                    let mut time = |n: f64| step_time(how, moved, n, compute, &mut ways);
                    let best = (1..=500).map(|n| time(f64::from(n))).fold(f64::INFINITY, f64::min);
                    let found = candidates(1.0, 500.0).map(&mut time).fold(f64::INFINITY, f64::min);
                    assert!(found <= best * 1.03, "{latency} {compute}: {found} against {best}");
                }
            }
        }
    }

    #[test]
    fn candidates_of_a_larger_buffer_hold_those_of_a_smaller_one() {
        let of = |least: f64| candidates(least, 50.0).collect::<Vec<_>>();
        assert_eq!(of(1.0), [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 50.0]);
        assert_eq!(of(5.0), [6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 50.0]);
        assert!((1..50).all(|n| of(f64::from(n)).ends_with(&of(f64::from(n + 1)))));
    }
}
