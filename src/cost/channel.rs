//! What moving bytes through a memory, a cache or a link costs at an operating point.

use super::Setting;
use super::voltage::{dynamic_scale, rail_voltage};
use crate::evidence::Kind;
use crate::hardware::{Bandwidth, Delay};
use crate::physics::row_buffer::RowBuffer;
use crate::units::{Bytes, BytesPerSecond, Cycles, Joules, JoulesPerByte, Seconds};

/// Bandwidth of a channel, and what it rests on.
pub fn bandwidth(channel: usize, setting: Setting<'_>) -> (BytesPerSecond, Kind) {
    let unit = setting.profile.channel(channel, setting.point);
    let (clock, clock_kind) = setting.point.clocks[unit.domain];
    match unit.bandwidth {
        Bandwidth::PerSecond(rate) => (rate.get(), rate.kind()),
        Bandwidth::PerCycle(rate) => (rate.get() * clock, rate.kind().weaker(clock_kind)),
        Bandwidth::WaitStates(law) => {
            let (voltage, voltage_kind) = rail_voltage(unit.domain, setting);
            let cycles = Cycles(law.at(clock, voltage) as f64 + 1.0);
            let limits = law.range_at(voltage).map_or(Kind::STRONGEST, |range| {
                range.limits.iter().fold(range.voltage.kind(), |kind, l| kind.weaker(l.kind()))
            });
            let kind = law.width.kind().weaker(clock_kind).weaker(voltage_kind).weaker(limits);
            (law.width.get() / (cycles / clock), kind)
        }
    }
}

/// Time before the first byte of a transfer, and what it rests on.
pub fn latency(channel: usize, setting: Setting<'_>) -> (Seconds, Kind) {
    let unit = setting.profile.channel(channel, setting.point);
    match unit.latency {
        None => (Seconds::ZERO, Kind::STRONGEST),
        Some(Delay::Time(time)) => (time.get(), time.kind()),
        Some(Delay::Cycles(cycles)) => {
            let (clock, clock_kind) = setting.point.clocks[unit.domain];
            (cycles.get() / clock, cycles.kind().weaker(clock_kind))
        }
    }
}

/// Energy of bytes read and written, and what it rests on.
pub fn access_energy(
    channel: usize,
    read: Bytes,
    write: Bytes,
    setting: Setting<'_>,
) -> (Joules, Kind) {
    let unit = setting.profile.channel(channel, setting.point);
    let (scale, mut kind) = dynamic_scale(unit.domain, setting);
    let mut energy = Joules::ZERO;
    for (bytes, cost) in [(read, unit.read_energy), (write, unit.write_energy)] {
        if bytes.0 <= 0.0 {
            continue;
        }
        let access = cost.map_or(JoulesPerByte::ZERO, |c| c.get());
        kind = kind.weaker(cost.map_or(Kind::STRONGEST, |c| c.kind()));
        let each = match unit.rows {
            None => access,
            Some(rows) => {
                kind = kind.weaker(rows.hit.kind()).weaker(rows.activation.kind());
                kind = kind.weaker(rows.burst.kind());
                let (activation, burst) = (rows.activation.get(), rows.burst.get());
                RowBuffer { access, activation, burst }.per_byte(rows.hit.get().0)
            }
        };
        energy += each * bytes * scale;
    }
    (energy, kind)
}
