use super::super::super::{Head, recognised};
use super::super::message::*;
use super::*;
use crate::trace::{ChannelKind, Origin, Readings, SpanKind};
use crate::units::SimTime;
use prost::Message;

fn trace(packets: &[TracePacket]) -> Vec<u8> {
    packets
        .iter()
        .flat_map(|packet| {
            let body = packet.encode_length_delimited_to_vec();
            std::iter::once(0x0a).chain(body)
        })
        .collect()
}

fn readings(bytes: &[u8]) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    read(&mut Input::of("t", bytes), &Options::default(), &mut readings)?;
    Ok(readings)
}

fn packet() -> TracePacket {
    TracePacket { sequence: Some(1), ..TracePacket::default() }
}

fn energies(readings: &[(u32, u64, u64)]) -> TracePacket {
    let energies = readings
        .iter()
        .map(|(index, ms, uws)| EnergyData {
            index: Some(*index),
            timestamp_ms: Some(*ms),
            energy_uws: Some(*uws),
        })
        .collect();
    TracePacket { power_rails: Some(PowerRails { descriptors: vec![], energies }), ..packet() }
}

fn described() -> TracePacket {
    let rail = RailDescriptor {
        index: Some(4),
        rail_name: Some("VDD_TPU".into()),
        subsys_name: Some("tpu".into()),
    };
    let power_rails = Some(PowerRails { descriptors: vec![rail], energies: vec![] });
    TracePacket { power_rails, ..packet() }
}

fn event(timestamp: u64, track_event: TrackEvent) -> TracePacket {
    TracePacket { timestamp: Some(timestamp), track_event: Some(track_event), ..packet() }
}

fn counter(uuid: u64, name: &str, unit: &str) -> TracePacket {
    let counter = Counter { unit_name: Some(unit.into()), ..Counter::default() };
    let track_descriptor = Some(TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.into()),
        counter: Some(counter),
        ..TrackDescriptor::default()
    });
    TracePacket { track_descriptor, ..packet() }
}

fn value(at: u64, uuid: u64, value: f64) -> TracePacket {
    let double_counter_value = Some(value);
    let (kind, track_uuid) = (Some(4), Some(uuid));
    event(at, TrackEvent { kind, track_uuid, double_counter_value, ..TrackEvent::default() })
}

#[test]
fn accumulated_energy_becomes_the_mean_power_between_two_readings() {
    let bytes = trace(&[
        energies(&[(4, 5000, 1_000_000)]),
        described(),
        energies(&[(4, 5100, 1_050_000), (4, 5100, 1_050_000), (4, 5300, 10), (4, 5400, 20_010)]),
    ]);
    let head = Head::of(&mut Input::of("t", &bytes)).unwrap();
    assert_eq!(recognised(&head).map(|format| format.name), Some("perfetto"));
    let read = readings(&bytes).unwrap();
    assert_eq!(read.layout.channels[0].name, "tpu/VDD_TPU");
    let segments: Vec<_> = read.series[0]
        .segments()
        .map(|(from, to, watt)| (from.0 / 1_000_000_000, to.0 / 1_000_000_000, watt))
        .collect();
    assert_eq!(segments, [(0, 100, 0.5), (300, 400, 0.2)]);
    assert_eq!(read.layout.origin, Origin::OwnClock(5.0));
    assert_eq!(read.layout.remarks.len(), 3, "{:?}", read.layout.remarks);
}

#[test]
fn counters_hold_to_the_next_and_clocks_are_brought_to_boot_time() {
    let clock =
        |id, timestamp| Clock { id: Some(id), timestamp: Some(timestamp), ..Clock::default() };
    let own = Clock { is_incremental: Some(true), unit_ns: Some(1000), ..clock(64, 0) };
    let clocks = vec![clock(6, 1000), clock(1, 2000), clock(3, 500), own];
    let snapshot = TracePacket { clock_snapshot: Some(ClockSnapshot { clocks }), ..packet() };
    let on = |clock, packet| TracePacket { timestamp_clock_id: Some(clock), ..packet };
    let bytes = trace(&[
        snapshot,
        counter(7, "soc", "mW"),
        value(1000, 7, 5.0),
        on(64, value(2, 7, 6.0)),
        on(64, value(3, 7, 7.0)),
        on(3, value(6500, 7, 8.0)),
        on(99, value(0, 7, 9.0)),
        value(8000, 7, 1.0),
    ]);
    let read = readings(&bytes).unwrap();
    let segments: Vec<_> = read.series[0].segments().map(|(from, to, _)| (from.0, to.0)).collect();
    let ns = |from: u64, to: u64| (from * 1000, to * 1000);
    assert_eq!(segments, [ns(0, 2000), ns(2000, 5000), ns(5000, 6000), ns(6000, 7000)]);
    assert_eq!(read.series[0].values()[0], 5e-3);
    assert_eq!(read.layout.channels[0].kind, ChannelKind::Power);
    assert_eq!(read.layout.origin, Origin::Wall { unix_ns: 2000, utc: true });
    assert!(read.layout.remarks[0].starts_with("1 events on a clock"));
}

#[test]
fn slices_nest_and_names_may_be_interned() {
    let interned = Interned { iid: Some(3), name: Some("conv".into()) };
    let data = InternedData { event_names: vec![interned], ..InternedData::default() };
    let names = TracePacket { interned_data: Some(data), ..packet() };
    let begin = |at, name_iid: Option<u64>, name: Option<&str>| {
        let (kind, track_uuid, name) = (Some(1), Some(9), name.map(str::to_owned));
        event(at, TrackEvent { kind, track_uuid, name_iid, name, ..TrackEvent::default() })
    };
    let end = |at| {
        let (kind, track_uuid) = (Some(2), Some(9));
        event(at, TrackEvent { kind, track_uuid, ..TrackEvent::default() })
    };
    let instant = TrackEvent { kind: Some(3), name: Some("go".into()), ..TrackEvent::default() };
    let bytes = trace(&[
        end(5),
        names,
        begin(10, None, Some("run")),
        begin(11, Some(3), None),
        event(12, instant),
        end(14),
    ]);
    let read = readings(&bytes).unwrap();
    let spans: Vec<_> =
        read.spans.iter().map(|s| (s.name.as_str(), s.start.0 / 1000, s.end.0 / 1000)).collect();
    assert_eq!(spans, [("conv", 6, 9), ("run", 5, 9)]);
    assert_eq!(read.spans[0].kind, SpanKind::Phase);
    assert_eq!(read.marks[0].at, SimTime(7000));
    assert_eq!(read.layout.remarks.len(), 2);
}

#[test]
fn what_is_no_trace_is_one_error_that_says_where() {
    let whole = trace(&[described(), energies(&[(4, 1, 1)]), energies(&[(4, 2, 5)])]);
    for cut in 0..whole.len() {
        if let Err(error) = readings(&whole[..cut]) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    let backwards = trace(&[energies(&[(4, 2, 1), (4, 1, 2)])]);
    let long = trace(&[value(0, 1, 0.0), value(u64::MAX, 1, 0.0)]);
    for (bytes, said) in [
        (vec![], "the file is empty"),
        (vec![0x0a, 0x05, 1], "ends within a packet: 1 of 5"),
        (b"\x0a\xff\xff\xff\xff\x0f".to_vec(), "a packet would be"),
        (b"\x12\x00".to_vec(), "expected a packet of a trace, found `12`"),
        (b"\x0a\x02\x40\xff".to_vec(), "the fields of a Perfetto packet"),
        (trace(&[packet()]), "no sample"),
        (backwards, "time runs backwards: 0.000000000000 s after 0.001000000000 s"),
        (long, "213 days"),
    ] {
        let error = readings(&bytes).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert!(!packets::recognised(b"\n\nTime,Power\n1,2\n"));
    assert!(!packets::recognised(b"\n[device 1]\n"));
}
