use super::super::{Head, recognised};
use super::crc::crc32c;
use super::*;
use crate::trace::{ChannelKind, Level, Origin, Readings};
use crate::units::SimTime;

/// Writes chunks, and links those of one tag and signal.
struct Writer {
    bytes: Vec<u8>,
    last: std::collections::BTreeMap<(u8, u16), usize>,
}

impl Writer {
    fn new() -> Self {
        Self { bytes: vec![0; 32], last: Default::default() }
    }

    fn seal(&mut self, at: usize) {
        let crc = crc32c(&self.bytes[at..at + 28]).to_le_bytes();
        self.bytes[at + 28..at + 32].copy_from_slice(&crc);
    }

    fn chunk(&mut self, tag: u8, meta: u16, payload: &[u8]) {
        let at = self.bytes.len();
        if let Some(before) = self.last.insert((tag, meta), at) {
            self.bytes[before..before + 8].copy_from_slice(&(at as u64).to_le_bytes());
            self.seal(before);
        }
        self.bytes.extend([0; 16]);
        self.bytes.extend([tag, 0]);
        self.bytes.extend(meta.to_le_bytes());
        self.bytes.extend((payload.len() as u32).to_le_bytes());
        self.bytes.extend([0; 8]);
        self.seal(at);
        if !payload.is_empty() {
            self.bytes.extend(payload);
            while self.bytes.len() % 8 != 4 {
                self.bytes.push(0);
            }
            self.bytes.extend(crc32c(payload).to_le_bytes());
        }
    }

    fn source(&mut self, id: u16, name: &str) {
        let mut payload = vec![0; 64];
        payload.extend(format!("{name}\0\x1fv\0\x1fm\0\x1f1\0\x1f0\0\x1f").as_bytes());
        self.chunk(0x01, id, &payload);
    }

    fn signal(&mut self, id: u16, source: u16, data_type: u32, rate: u32, name: &str, unit: &str) {
        let mut payload = Vec::from(source.to_le_bytes());
        payload.extend([0, 0]);
        for field in [data_type, rate, 4, 2, 4, 2, 10, 10] {
            payload.extend(field.to_le_bytes());
        }
        payload.extend([0; 92]);
        payload.extend(format!("{name}\0\x1f{unit}\0\x1f").as_bytes());
        self.chunk(0x02, id, &payload);
    }

    fn entries(&mut self, tag: u8, meta: u16, first: i64, count: u32, bits: u16, data: &[u8]) {
        let mut payload = Vec::from(first.to_le_bytes());
        payload.extend(count.to_le_bytes());
        payload.extend(bits.to_le_bytes());
        payload.extend([0; 2]);
        payload.extend(data);
        self.chunk(tag, meta, &payload);
    }

    fn floats(&mut self, id: u16, first: i64, values: &[f32]) {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.entries(0x22, id, first, values.len() as u32, 32, &data);
    }

    /// An index and the summary behind it, with these means.
    fn means(&mut self, id: u16, first: i64, means: &[f32]) {
        self.entries(0x23, 0x1000 | id, first, 1, 64, &[0; 8]);
        let data: Vec<u8> = means
            .iter()
            .flat_map(|mean| [*mean, 0.0, *mean, *mean])
            .flat_map(f32::to_le_bytes)
            .collect();
        self.entries(0x24, 0x1000 | id, first, means.len() as u32, 128, &data);
    }

    fn utc(&mut self, id: u16, sample: i64, seconds: i64) {
        self.entries(0x3a, id, sample, 1, 64, &(seconds << 30).to_le_bytes());
    }

    fn annotation(&mut self, id: u16, stamp: i64, kind: u8, text: &str) {
        let mut payload = Vec::from(stamp.to_le_bytes());
        payload.extend([1, 0, 0, 0, 0, 0, 0, 0, kind, 2, 0, 0]);
        payload.extend(f32::NAN.to_le_bytes());
        payload.extend((text.len() as u32 + 1).to_le_bytes());
        payload.extend(text.as_bytes());
        payload.push(0);
        self.chunk(0x32, id, &payload);
    }

    fn head(mut self, length: u64, version: u32) -> Vec<u8> {
        self.bytes[..16].copy_from_slice(b"jlsfmt\r\n \n \x1a  \xb2\x1c");
        self.bytes[16..24].copy_from_slice(&length.to_le_bytes());
        self.bytes[24..28].copy_from_slice(&version.to_le_bytes());
        self.seal(0);
        self.bytes
    }

    fn close(mut self) -> Vec<u8> {
        self.chunk(0xff, 0, &[]);
        let length = self.bytes.len() as u64;
        self.head(length, 1 << 24)
    }
}

const F32: u32 = 0x2004;
const U1: u32 = 0x0103;
const U4: u32 = 0x0403;

fn readings(bytes: &[u8]) -> Result<Readings, FormatError> {
    let mut readings = Readings::default();
    read(&mut Input::of("c.jls", bytes), &Options::default(), &mut readings)?;
    Ok(readings)
}

fn small() -> Writer {
    let mut w = Writer::new();
    w.source(1, "js220");
    w.signal(1, 1, F32, 1000, "current", "mA");
    w.signal(2, 1, U1, 2000, "gpi[0]", "");
    w
}

#[test]
fn signals_of_their_own_rates_share_one_time() {
    let mut w = small();
    w.signal(3, 1, U4, 1000, "current_range", "");
    w.utc(1, 10, 86_400);
    w.floats(1, 10, &[1.0, f32::NAN]);
    w.floats(1, 12, &[3.0]);
    w.entries(0x22, 2, 20, 6, 1, &[0b11_0100]);
    w.entries(0x22, 3, 10, 3, 4, &[0x21, 0x05]);
    w.chunk(0x40, 0x2123, b"user");
    w.annotation(1, 12, 1, "run");
    w.annotation(1, 11, 2, "1a");
    w.annotation(1, 11, 3, "a level, no instant");
    let bytes = w.close();
    let head = Head::of(&mut Input::of("c", &bytes)).unwrap();
    assert_eq!(recognised(&head).map(|format| format.name), Some("joulescope-jls"));
    let read = readings(&bytes).unwrap();
    let values = read.series[0].values();
    assert_eq!((values[0], values[2], values[1].is_nan()), (1e-3, 3.0 * 1e-3, true));
    assert_eq!(read.series[0].blocks().count(), 1);
    assert_eq!(read.layout.channels[0].rail, "js220");
    assert_eq!(read.layout.channels[1].kind, ChannelKind::Other);
    assert_eq!(read.series[1].values(), [1.0, 2.0, 5.0]);
    let edges: Vec<_> = read.edges.iter().map(|e| (e.at.0 / 500_000_000, e.to)).collect();
    let expected = [(0, Level::Low), (2, Level::High), (3, Level::Low), (4, Level::High)];
    assert_eq!(edges, expected);
    let marks: Vec<_> =
        read.marks.iter().map(|m| (m.at.0 / 1_000_000_000, m.name.as_str())).collect();
    assert_eq!(marks, [(1, "1a"), (2, "run")]);
    let unix_ns = (1_514_764_800 + 86_400) * 1_000_000_000;
    assert_eq!(read.layout.origin, Origin::Wall { unix_ns, utc: true });
    assert_eq!(read.end, SimTime(3_000_000_000));
}

#[test]
fn means_stand_in_for_chunks_that_were_left_out_and_nothing_for_the_rest() {
    let mut w = small();
    w.floats(1, 0, &[1.0, 1.0]);
    w.entries(0x22, 2, 0, 2, 1, &[0b11]);
    w.means(2, 0, &[1.0, 1.0, 0.0]);
    w.means(1, 0, &[1.0, 5.0, 6.0]);
    w.floats(1, 6, &[7.0]);
    w.floats(1, 9, &[8.0]);
    let read = readings(&w.close()).unwrap();
    let segments: Vec<_> = read.series[0]
        .segments()
        .map(|(from, to, value)| (from.0 / 1_000_000_000, to.0 / 1_000_000_000, value * 1e3))
        .map(|(from, to, value)| (from, to, value.round()))
        .collect();
    let expected = [(0, 1, 1.0), (1, 2, 1.0), (2, 4, 5.0), (4, 6, 6.0), (6, 7, 7.0), (9, 10, 8.0)];
    assert_eq!(segments, expected);
    let edges: Vec<_> = read.edges.iter().map(|e| (e.at.0 / 500_000_000, e.to)).collect();
    assert_eq!(edges, [(0, Level::High), (4, Level::Low)]);
    assert!(
        read.layout.remarks[0].contains("6 samples were left out"),
        "{:?}",
        read.layout.remarks
    );
}

#[test]
fn two_instruments_are_put_side_by_side_by_utc() {
    let mut w = small();
    w.source(2, "other");
    w.signal(4, 2, F32, 10, "voltage", "V");
    w.utc(1, 0, 100);
    w.utc(4, 5, 101);
    w.floats(1, 0, &[1.0]);
    w.floats(4, 5, &[3.3]);
    let read = readings(&w.close()).unwrap();
    assert_eq!(read.layout.channels[1].name, "other.voltage");
    let start = read.series[1].blocks().next().map(|block| block.start());
    assert_eq!(start, Some(SimTime(1_000_000_000_000)));
}

#[test]
fn a_file_that_was_never_closed_is_read_as_far_as_it_goes() {
    let mut w = small();
    w.floats(1, 0, &[1.0, 2.0]);
    w.floats(1, 2, &[3.0, 4.0]);
    let bytes = w.head(0, 1 << 24);
    for cut in 32..bytes.len() {
        match readings(&bytes[..cut]) {
            Ok(read) => {
                assert_eq!(read.series[0].values().len(), 2, "{cut}");
                assert!(read.layout.remarks[0].contains("never closed"));
            }
            Err(error) => assert!(error.to_string().contains("no sample"), "{cut}: {error}"),
        }
    }
    assert_eq!(readings(&bytes).unwrap().series[0].values().len(), 4);
}

#[test]
fn a_closed_file_that_is_cut_or_changed_is_one_error() {
    let mut w = small();
    w.floats(1, 0, &[1.0, 2.0]);
    w.means(1, 0, &[1.5]);
    let bytes = w.close();
    for cut in 0..bytes.len() {
        assert!(readings(&bytes[..cut]).is_err(), "{cut}");
    }
    let mut passed = Vec::new();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        if readings(&bytes).is_ok() {
            passed.push(at);
        }
    }
    // Only the padding, and what is read where no chunk was left out: the index and its summary.
    assert!(passed.len() < 120, "{}: {passed:?}", passed.len());
}

#[test]
fn what_lies_is_one_error_that_says_where() {
    let mut versions = small();
    versions.floats(1, 0, &[1.0]);
    let length = versions.bytes.len() as u64;
    let cases: [(Vec<u8>, &str); 9] = [
        (versions.head(length, 2 << 24), "version 2 is not known; known: 1"),
        (
            {
                let mut w = small();
                w.chunk(0x55, 0, &[]);
                w.close()
            },
            "0x55",
        ),
        (
            {
                let mut w = small();
                w.floats(7, 0, &[1.0]);
                w.close()
            },
            "the definition of signal 7 is missing",
        ),
        (
            {
                let mut w = small();
                w.entries(0x22, 1, 0, 1000, 32, &[0; 8]);
                w.close()
            },
            "the entries of a chunk would be 4000 bytes, at most 8",
        ),
        (
            {
                let mut w = small();
                w.floats(1, 5, &[1.0, 2.0]);
                w.floats(1, 6, &[1.0]);
                w.close()
            },
            "time runs backwards",
        ),
        (
            {
                let mut w = small();
                w.signal(5, 1, F32, 1, "power", "A");
                w.close()
            },
            "`A` is no unit of power; expected W",
        ),
        (
            {
                let mut w = small();
                w.signal(5, 1, 0x0505, 1, "x", "");
                w.close()
            },
            "the data type of `x` is 0x00000505",
        ),
        (small().close(), "there is no sample"),
        (
            {
                let mut w = small();
                w.floats(1, 0, &[1.0]);
                w.floats(1, 1i64 << 60, &[1.0]);
                w.close()
            },
            "213 days",
        ),
    ];
    for (bytes, said) in cases {
        let error = readings(&bytes).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let head = Head::of(&mut Input::of("c", b"\xd3tagfmt \r\n \n  \x1a\x1c")).unwrap();
    let format = recognised(&head).unwrap();
    let Shape::File { read, .. } = format.shape else { panic!() };
    let mut sink = Readings::default();
    let error = read(&mut Input::of("c", b""), &Options::default(), &mut sink).unwrap_err();
    assert!(error.to_string().contains("opens version 1 and saves version 2"), "{error}");
}
