//! How long a step takes in so many pieces, and the number of least time.
//!
//! The law is that of [`super::overlap`]. With `n` the steady part of every channel rises, and fill and drain
//! fall. So up to the last number whose steady part is no longer than what the engine does anyway the time
//! falls, and beyond it the whole of each channel, `fill_c + steady_c + drain_c`, is a bound that rises: the
//! search ends where it reaches the best that was found. Without latencies the finest cut is the best.

use super::overlap::Moves;
use crate::cost::{Setting, bandwidth, latency};
use crate::hardware::Transfers;
use crate::units::{Quantity, Seconds};

/// Pieces of an operand, and how long a step takes in them \[s\].
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) time: f64,
    pub(super) pieces: f64,
}

/// The finest cut, where no channel has a latency that more pieces would wait for.
pub(super) fn without_waiting(moves: &Moves, setting: Setting<'_>) -> Option<f64> {
    let waits = |channel: usize| setting.profile.channel(channel, setting.point).latency.is_some();
    let mut known = None;
    let mut moved = moves.loads.iter().chain(&moves.stores);
    let any = moved.any(|own| {
        let new = known.replace(own.channels) != Some(own.channels);
        new && own.over().any(|(channel, _)| waits(channel))
    });
    (!any).then(|| finest(moves))
}

fn finest(moves: &Moves) -> f64 {
    moves.loads.iter().chain(&moves.stores).map(|own| own.cuts).fold(1.0, f64::max)
}

/// The pace of a step that computes for so long.
pub(super) fn pace(moves: &Moves, how: Transfers, compute: Seconds, setting: Setting<'_>) -> Pace {
    let mut law = Law::of(moves, how, compute, setting);
    let finest = finest(moves);
    if how == Transfers::DoubleBuffered && finest > 1.0 {
        return law.fastest(finest);
    }
    Pace { time: law.at(1.0).time, pieces: 1.0 }
}

/// A channel with its times within the three phases \[s\].
#[derive(Clone, Copy, Default)]
struct Way {
    channel: usize,
    latency: f64,
    per_byte: f64,
    near: f64,
    fill: f64,
    steady: f64,
    drain: f64,
}

/// An operand on one channel: times of one request and of all of its bytes once \[s\].
struct Leg {
    way: usize,
    wait: f64,
    moving: f64,
    fetches: f64,
    tiles: f64,
    cuts: f64,
    /// Shares of the operand in the largest piece and in the smallest.
    most: f64,
    least: f64,
    /// Before the engine computes, or behind.
    before: bool,
    /// With none of it beside.
    alone: bool,
}

/// Times of a step, as far as pieces change them.
struct Law {
    how: Transfers,
    /// What the engine and the channels beside it do anyway \[s\].
    floor: f64,
    ways: Vec<Way>,
    legs: Vec<Leg>,
}

/// A step in a number of pieces \[s\].
struct Times {
    time: f64,
    /// Longest steady part of a channel.
    steady: f64,
    /// Longest whole of a channel, below which no larger number gets.
    whole: f64,
}

impl Law {
    fn of(moves: &Moves, how: Transfers, compute: Seconds, setting: Setting<'_>) -> Self {
        let (ways, legs) = (Vec::with_capacity(4), Vec::with_capacity(12));
        let mut law = Self { how, floor: compute.0, ways, legs };
        for (list, before) in [(&moves.loads, true), (&moves.stores, false)] {
            for own in list {
                let (fetches, tiles, cuts) = (own.fetches, own.tiles, own.cuts);
                let (most, least) = (1.0 / tiles, 1.0 / cuts);
                for (channel, _) in own.over() {
                    let way = law.way(channel, setting);
                    let Way { latency, per_byte, .. } = law.ways[way];
                    let wait = latency / own.abreast;
                    let moving = own.bytes.0 * per_byte;
                    law.legs.push(Leg {
                        way,
                        wait,
                        moving,
                        fetches,
                        tiles,
                        cuts,
                        most,
                        least,
                        before,
                        alone: own.alone,
                    });
                }
            }
        }
        for beside in &moves.near {
            let way = law.way(beside.channel, setting);
            let own = &mut law.ways[way];
            own.near = beside.bytes().0 * own.per_byte + beside.requests * own.latency;
            law.floor = law.floor.max(own.near);
        }
        law
    }

    /// The place of a channel.
    fn way(&mut self, channel: usize, setting: Setting<'_>) -> usize {
        let known = self.ways.iter().position(|way| way.channel == channel);
        known.unwrap_or_else(|| {
            let latency = latency(channel, setting).0.0;
            let per_byte = 1.0 / bandwidth(channel, setting).0.si();
            self.ways.push(Way { channel, latency, per_byte, ..Way::default() });
            self.ways.len() - 1
        })
    }

    /// `T(n)`; for other transfers than double-buffered ones with all of each operand before and behind, or
    /// none.
    fn at(&mut self, n: f64) -> Times {
        for way in &mut self.ways {
            (way.fill, way.steady, way.drain) = (0.0, way.near, 0.0);
        }
        let share = 1.0 / n;
        for leg in &self.legs {
            let Some(way) = self.ways.get_mut(leg.way) else { continue };
            let whole = leg.fetches * (n.max(leg.tiles).min(leg.cuts) * leg.wait + leg.moving);
            let end = match self.how {
                Transfers::Inline => 0.0,
                Transfers::DoubleBuffered if leg.alone => whole,
                Transfers::DoubleBuffered => {
                    leg.wait + leg.moving * share.min(leg.most).max(leg.least)
                }
                Transfers::Serial => whole,
            };
            way.steady += whole - end;
            if leg.before {
                way.fill += end;
            } else {
                way.drain += end;
            }
        }
        let (mut fill, mut steady, mut drain, mut whole) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        for way in &self.ways {
            fill = fill.max(way.fill);
            steady = steady.max(way.steady);
            drain = drain.max(way.drain);
            whole = whole.max(way.fill + way.steady + way.drain);
        }
        Times { time: fill + steady.max(self.floor) + drain, steady, whole }
    }

    /// The place of a number of pieces whose steady part is within the floor on every channel: all bytes,
    /// and no operand too small to be cut so often. 0 where none is known to be.
    fn surely_within_floor(&mut self) -> u32 {
        for way in &mut self.ways {
            (way.fill, way.steady) = (0.0, way.near);
        }
        for leg in self.legs.iter().filter(|leg| !leg.alone) {
            let Some(way) = self.ways.get_mut(leg.way) else { continue };
            // No more requests than those of `n` pieces and the forced ones.
            way.fill += leg.fetches * leg.wait;
            let forced = if leg.tiles > 1.0 { leg.tiles * leg.wait } else { 0.0 };
            way.steady += leg.fetches * (leg.moving + forced);
        }
        let numbers = self.ways.iter().map(|way| {
            let left = self.floor - way.steady;
            if left < 0.0 { 0.0 } else { left / way.fill }
        });
        let number = numbers.fold(f64::MAX, f64::min);
        if number < 1.0 { 0 } else { place(number.floor()).saturating_sub(1) }
    }

    fn fastest(&mut self, finest: f64) -> Pace {
        let last = place(finest);
        let mut low = place(1.0).max(self.surely_within_floor()).min(last);
        let mut within = |place: u32| self.at(number(place, finest)).steady <= self.floor;
        // Up to the last number within the floor, where that is not near.
        if low + 2 < last && within(low + 2) {
            let mut high = last;
            low += 2;
            while low < high {
                let middle = (low + high).div_ceil(2);
                if within(middle) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
        }
        let mut best = Pace { time: f64::INFINITY, pieces: finest };
        for index in low..=last {
            let pieces = number(index, finest);
            let found = self.at(pieces);
            if found.time < best.time {
                best = Pace { time: found.time, pieces };
            }
            if found.whole >= best.time {
                break;
            }
        }
        best
    }
}

/// Numbers of pieces in their order below `finest`, eight in each octave, and that: 1 to 16, 18, 20, … 32,
/// 36, 40, …
fn number(place: u32, finest: f64) -> f64 {
    let octave = place.saturating_sub(8) / 8;
    let number = f64::from(place - 8 * octave) * 2.0f64.powi(octave as i32);
    number.min(finest)
}

/// The place of the first number that is not below `least`.
fn place(least: f64) -> u32 {
    let whole = least.ceil().max(1.0) as u64;
    let octave = whole.ilog2().saturating_sub(3);
    8 * octave + whole.div_ceil(1 << octave) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands of (way, request, bytes, fetches, tiles, cuts, before) on ways with so much beside.
    fn law(floor: f64, near: &[f64], legs: &[(usize, f64, f64, f64, f64, f64, bool)]) -> Law {
        let legs = legs.iter().map(|&(way, wait, moving, fetches, tiles, cuts, before)| Leg {
            way,
            wait,
            moving,
            fetches,
            tiles,
            cuts,
            most: 1.0 / tiles,
            least: 1.0 / cuts,
            before,
            alone: false,
        });
        Law {
            how: Transfers::DoubleBuffered,
            floor: near.iter().fold(floor, |most, own| most.max(*own)),
            ways: near.iter().map(|near| Way { near: *near, ..Way::default() }).collect(),
            legs: legs.collect(),
        }
    }

    #[test]
    fn the_law_adds_up_by_hand() {
        // 100 s and 60 s in, a second a request, 40 s out; four pieces, the second in three, twice, and the
        // last in no fewer than five.
        let legs = [
            (0, 1.0, 100.0, 1.0, 1.0, 9.0, true),
            (0, 1.0, 60.0, 2.0, 2.0, 3.0, true),
            (0, 1.0, 40.0, 1.0, 5.0, 9.0, false),
        ];
        let fill = (1.0 + 25.0) + (1.0 + 20.0);
        let drain = 1.0 + 8.0;
        let steady = (3.0 + 75.0) + (5.0 + 100.0) + (4.0 + 32.0) + 7.0;
        for (floor, expected) in [(1000.0, fill + 1000.0 + drain), (8.0, fill + steady + drain)] {
            let found = law(floor, &[7.0], &legs).at(4.0);
            assert!((found.time - expected).abs() < 1e-9, "{} {expected}", found.time);
            assert!((found.whole - (fill + steady + drain)).abs() < 1e-9);
        }
        let serial = Law { how: Transfers::Serial, ..law(1000.0, &[7.0], &legs) }.at(4.0).time;
        assert!((serial - (104.0 + 126.0 + 1000.0 + 45.0)).abs() < 1e-9, "{serial}");
        let inline = Law { how: Transfers::Inline, ..law(8.0, &[7.0], &legs) }.at(4.0).time;
        assert!((inline - (104.0 + 126.0 + 45.0 + 7.0)).abs() < 1e-9, "{inline}");
    }

    #[test]
    fn what_moves_alone_is_in_no_steady_part() {
        let legs = [
            (0, 1.0, 100.0, 1.0, 2.0, 2.0, true),
            (0, 1.0, 60.0, 1.0, 1.0, 6.0, true),
            (0, 1.0, 40.0, 1.0, 1.0, 1.0, false),
        ];
        let mut law = law(50.0, &[0.0], &legs);
        law.legs[0].alone = true;
        law.legs[2].alone = true;
        // The first in its two tiles and the first sixth of the second; the rest of that is within the work.
        let found = law.at(6.0);
        assert!((found.time - ((2.0 + 100.0) + (1.0 + 10.0) + 55.0 + 41.0)).abs() < 1e-9);
        assert!((found.steady - (5.0 + 50.0)).abs() < 1e-9);
        // More work hides the second, and nothing of the others.
        law.floor = 70.0;
        assert!((law.at(6.0).time - (102.0 + 11.0 + 70.0 + 41.0)).abs() < 1e-9);
        assert!(law.surely_within_floor() >= place(4.0));
    }

    #[test]
    fn the_search_finds_the_best_of_its_numbers_and_nearly_that_of_all() {
        let mut tried = 0;
        for wait in [0.0, 0.01, 0.3, 2.0, 40.0] {
            for floor in [1.0, 90.0, 150.0, 260.0, 900.0] {
                for near in [0.0, 110.0, 250.0] {
                    for tiles in [1.0, 5.0, 40.0] {
                        let legs = [
                            (0, wait, 100.0, 1.0, tiles, 300.0, true),
                            (1, wait / 3.0, 30.0, 2.0, 1.0, 70.0, true),
                            (1, wait / 3.0, 20.0, 1.0, tiles * 2.0, 500.0, false),
                        ];
                        let mut law = law(floor, &[0.0, near], &legs);
                        let found = law.fastest(500.0);
                        let numbers = (1..=place(500.0)).map(|index| number(index, 500.0));
                        let grid = numbers.map(|n| law.at(n).time).fold(f64::INFINITY, f64::min);
                        assert!(found.time <= grid * (1.0 + 1e-12), "{} {grid}", found.time);
                        let all = (1..=500).map(|n| law.at(f64::from(n)).time);
                        let all = all.fold(f64::INFINITY, f64::min);
                        assert!(found.time <= all * 1.03, "{wait} {floor}: {} {all}", found.time);
                        assert_eq!(law.at(found.pieces).time, found.time);
                        tried += 1;
                    }
                }
            }
        }
        assert_eq!(tried, 225);
    }

    #[test]
    fn numbers_of_a_larger_buffer_hold_those_of_a_smaller_one() {
        let of = |least: f64| -> Vec<f64> {
            (place(least)..=place(50.0)).map(|place| number(place, 50.0)).collect()
        };
        assert_eq!(
            of(13.0),
            [
                13.0, 14.0, 15.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0, 30.0, 32.0, 36.0, 40.0,
                44.0, 48.0, 50.0
            ]
        );
        assert_eq!(of(33.0), [36.0, 40.0, 44.0, 48.0, 50.0]);
        assert_eq!(of(1.0).len(), 12 + 17);
        assert!((1..50).all(|n| of(f64::from(n)).ends_with(&of(f64::from(n + 1)))));
        for large in [1e6, 1e18, f64::MAX] {
            let found = number(place(large), large);
            assert!(found <= large && (large > 1e19 || found >= large / 1.13), "{large}: {found}");
        }
    }
}
