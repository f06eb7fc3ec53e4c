use super::super::{Head, recognised};
use super::*;
use crate::trace::{Block, ChannelKind, Origin, Readings, Series, SpanKind};
use crate::trace::{Channel, Layout, Mark, Span, Teller};
use crate::units::SimTime;
use proptest::prelude::*;

fn readings(text: &str) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    let mut input = Input::of("t.json", text.as_bytes());
    read(&mut input, &Options::default(), &mut readings)?;
    Ok(readings)
}

const EVENTS: &str = r#"
{"ph":"M","name":"thread_name","pid":1,"tid":"gpu","args":{"name":"stream 7"}},
{"ph":"X","name":"conv \"a\" ]}","cat":"layer","pid":1,"tid":"gpu","ts":1000.5,"dur":2.25,
 "args":{"inference":3,"shape":[1,{"a":[]}]}},
{"ph":"B","name":"run","pid":1,"tid":2,"ts":1000},
{"ph":"C","name":"power (mW)","pid":1,"ts":1000,"args":{"value":250}},
{"ph":"C","name":"power (mW)","pid":1,"ts":1001,"args":{"value":NaN}},
{"ph":"C","name":"power (mW)","pid":1,"ts":"1002","args":{"value":-Infinity}},
{"ph":"C","name":"mem","pid":1,"ts":1000,"args":{"used":1,"free":2}},
{"ph":"s","name":"flow","pid":1,"ts":900},
{"ph":"i","name":"go","pid":1,"tid":2,"ts":1001,"s":"t"},
{"ph":"E","pid":1,"tid":2,"ts":1004}"#;

fn expect(read: &Readings) {
    assert_eq!(read.layout.origin, Origin::OwnClock(1000.0 * 1e-6));
    let channels: Vec<_> = read.layout.channels.iter().map(|c| (c.name.as_str(), c.kind)).collect();
    let other = ChannelKind::Other;
    let power = ChannelKind::Power;
    assert_eq!(channels, [("mem.free", other), ("mem.used", other), ("power", power)]);
    let values = read.series[2].values();
    assert_eq!(values[0], 0.25);
    assert!(values[1].is_nan() && values[2].is_nan() && values.len() == 3);
    let spans: Vec<_> = read
        .spans
        .iter()
        .map(|s| (s.name.as_str(), s.track.as_str(), s.kind, s.inference, s.start.0, s.end.0))
        .collect();
    let layer = SpanKind::Layer;
    let expected = [
        ("conv \"a\" ]}", "stream 7", layer, Some(3), 500_000, 2_750_000),
        ("run", "1/2", SpanKind::Phase, None, 0, 4_000_000),
    ];
    assert_eq!(spans, expected);
    assert_eq!(read.marks[0].at, SimTime(1_000_000));
    assert_eq!(read.end, SimTime(4_000_000));
    assert_eq!(read.layout.remarks.len(), 1);
}

#[test]
fn an_array_may_lack_its_bracket_and_an_object_may_say_more() {
    let array = format!("[{EVENTS}\n]");
    let head = Head::of(&mut Input::of("t", array.as_bytes())).unwrap();
    assert_eq!(recognised(&head).map(|format| format.name), Some("chrome-json"));
    expect(&readings(&array).unwrap());
    expect(&readings(&format!("[{EVENTS},\n")).unwrap());
    expect(&readings(&format!("\u{feff} [{EVENTS}")).unwrap());
    let object = format!(
        r#"{{"displayTimeUnit": "ns", "n": -1.5e3, "otherData": {{"a": "]}}", "b": [NaN]}}, "traceEvents": [{EVENTS}], "more": 1}}"#
    );
    expect(&readings(&object).unwrap());
}

#[test]
fn what_is_wrong_is_one_error_that_names_its_line() {
    for (text, said) in [
        ("", "the file is empty"),
        ("[]", "there is no sample"),
        ("nonsense", "expected an array or an object"),
        ("{\"a\": 1}", "`traceEvents` is missing"),
        ("{\"traceEvents\": 1}", "`traceEvents` is no array"),
        ("{\"traceEvents\": [{\"ph\":\"i\",\"ts\":1}", "the file ends within traceEvents"),
        ("[\n{\"ph\":\"X\",\n\"ts\":1", ":3: not the JSON expected: the file ends within an event"),
        ("[\n{\"ph\":\"X\",\"ts\":{}}]", ":2: `{}` in ts is not a number"),
        ("[{\"ph\":\"X\",\"ts\":1,\"dur\":-1}]", "a duration in microseconds"),
        ("[{\"ph\":5}]", "not the JSON expected"),
        ("[{\"ph\":\"X\"}]", "`null` in ts"),
        ("[{\"ph\":\"i\",\"ts\":0},{\"ph\":\"i\",\"ts\":1e30}]", "213 days"),
        (
            "[{\"ph\":\"C\",\"ts\":2,\"args\":{\"W\":1}},\n{\"ph\":\"C\",\"ts\":1,\"args\":{\"W\":1}}]",
            ":2: time runs backwards: 0.000000000000 s after 0.000001000000 s",
        ),
        ("[1]", "expected an event, found `1`"),
    ] {
        let error = readings(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn every_cut_is_an_error_or_a_shorter_trace() {
    let whole = format!("[{EVENTS}\n]");
    for cut in 0..whole.len() {
        if let Some(text) = whole.get(..cut)
            && let Err(error) = readings(text)
        {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}

fn capture(times: &[u64], values: &[f64]) -> Readings {
    let mut readings = Readings::default();
    let mut starts: Vec<_> = times.iter().map(|at| SimTime(at * 1_000_000)).collect();
    starts.dedup();
    let values = &values[..starts.len()];
    let until = SimTime(starts.last().unwrap().0 + 1_000_000);
    let mut series = Series::default();
    series.push(&Block::each(&starts, until, values));
    readings.layout = Layout {
        format: CHROME_JSON.name.into(),
        channels: vec![Channel::new("soc", ChannelKind::Power, "soc")],
        ..Layout::default()
    };
    readings.series.push(series);
    readings.end = until;
    readings.marks.push(Mark {
        teller: Teller::Meter,
        at: SimTime::ZERO,
        track: "log".into(),
        name: "start".into(),
    });
    readings.spans.push(Span {
        kind: SpanKind::Layer,
        name: "conv".into(),
        track: "npu".into(),
        inference: Some(1),
        start: SimTime(0),
        end: until,
    });
    readings
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_it_was(
        mut times in prop::collection::vec(0u64..1_000_000, 1..50),
        values in prop::collection::vec(-1e3f64..1e3, 50),
    ) {
        times.push(0);
        times.sort_unstable();
        let mut values = values;
        values.resize(times.len(), 1.0);
        let first = capture(&times, &values);
        let mut bytes = Vec::new();
        write(&first, &mut bytes).unwrap();
        let again = readings(std::str::from_utf8(&bytes).unwrap()).unwrap();
        prop_assert_eq!(&again.layout, &first.layout);
        prop_assert_eq!((&again.spans, &again.marks), (&first.spans, &first.marks));
        prop_assert_eq!(again.end, first.end);
        // The JSON reader may be off by the last bit of a number.
        for (again, first) in again.series[0].segments().zip(first.series[0].segments()) {
            prop_assert_eq!((again.0, again.1), (first.0, first.1));
            prop_assert!((again.2 - first.2).abs() <= 1e-15 * first.2.abs());
        }
        prop_assert_eq!(again.series[0].values().len(), first.series[0].values().len());
    }
}
