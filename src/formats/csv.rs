//! A trace as a folder of CSV files, for spreadsheets and pandas, that come back bit by bit.
//!
//! `power.csv` is a wide table with one row per instant at which anything changes, and one for the
//! end. Each value holds from its row to the next.
//!
//! ```text
//! # joulecast trace 1
//! # {"components":[{"name":"core","kind":"Engine","domain":"cpu","rail":"vdd"}],"rails":[…]}
//! time_s,core_w,total_w,vdd_v,vdd_a
//! 0.000000000000,0.012,0.012,1.2,0.01
//! 0.000250000000,0.012,0.012,1.2,0.01
//! ```
//!
//! The second line describes components and rails as JSON; `pandas.read_csv(file, skiprows=2)`
//! skips both. Times are exact picoseconds, numbers the shortest that read back as the same bits.
//! A cell is empty until its quantity has its first value, and zero is meant; after that, an empty
//! cell is an unknown value, a gap of a capture. Where the first value itself is unknown its one
//! cell holds `NaN`. `total_w` is the sum of the row for convenience, empty where a part of it is
//! unknown: reading does not ask for it. Counters stand behind the rails, their unit as suffix:
//! `_degc`, `_hz`, none for a share or a count.
//!
//! `spans.csv` has one row per span, in the order of the trace:
//!
//! ```text
//! kind,name,track,inference,start_s,end_s,duration_s
//! layer,conv1,core,0,0.000000000000,0.000250000000,0.000250000000
//! ```
//!
//! `inference` is empty for a span outside any, and `duration_s` is there for convenience.
//!
//! A trace with marks of a log or changes of digital lines has a table of each:
//!
//! ```text
//! teller,track,name,at_s,meter_s
//! host,dut,m-infer-start-10,219.700000000000,3.000000000000
//!
//! line,name,at_s,level
//! 0,timestamp,3.000000000000,low
//! ```
//!
//! `at_s` of a mark is told by the clock of its teller, the meter or a host. `meter_s` is the same
//! instant on the meter's clock, below zero before the trace and empty where no edges tie the two
//! clocks together; it is there for convenience.

mod cells;
mod edges;
mod layers;
mod marks;
mod power;
mod spans;
mod time;

pub(super) use edges::level_name;
pub use edges::{read_edges, write_edges};
pub use layers::{write_kinds, write_layers};
pub(super) use marks::teller_name;
pub use marks::{read_marks, write_marks};
pub use power::{PowerTable, read_power, write_power};
pub use spans::{read_spans, write_spans};

use super::FormatError;
use crate::trace::{Annotations, Header, Trace};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

/// Name of the table of power, voltage and current within a folder.
pub const POWER_FILE: &str = "power.csv";
/// Name of the table of spans within a folder.
pub const SPANS_FILE: &str = "spans.csv";

/// Name of the table of marks within a folder; there where there is a mark.
pub const MARKS_FILE: &str = "marks.csv";
/// Name of the table of changes of digital lines within a folder; there where there is one.
pub const EDGES_FILE: &str = "edges.csv";

/// Writes all files of a trace into an existing folder.
pub fn write_folder(trace: &Trace, folder: &Path) -> Result<(), FormatError> {
    write_file(&folder.join(POWER_FILE), |out| write_power(trace, out))?;
    write_annotations(&Annotations::of(trace), &trace.header, folder)
}

/// Starts `power.csv` in an existing folder, for a trace that streams by.
pub fn begin_power(
    header: &Header,
    folder: &Path,
) -> Result<PowerTable<BufWriter<File>>, FormatError> {
    let path = folder.join(POWER_FILE);
    let failed = |source| FormatError::Write { file: path.display().to_string(), source };
    PowerTable::begin(header, BufWriter::new(File::create(&path).map_err(failed)?))
}

/// Writes all files of a trace but `power.csv` into an existing folder.
pub fn write_annotations(
    annotations: &Annotations,
    header: &Header,
    folder: &Path,
) -> Result<(), FormatError> {
    let Annotations { edges, marks, spans } = annotations;
    write_file(&folder.join(SPANS_FILE), |out| write_spans(spans, out))?;
    write_some(&folder.join(MARKS_FILE), marks, |out| write_marks(marks, out))?;
    write_some(&folder.join(EDGES_FILE), edges, |out| write_edges(edges, &header.lines, out))
}

/// Writes a table that has rows; one without does not stay from an earlier trace.
fn write_some<T>(
    path: &Path,
    rows: &[T],
    content: impl FnOnce(&mut BufWriter<File>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    if !rows.is_empty() {
        return write_file(path, content);
    }
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(FormatError::Write { file: path.display().to_string(), source })
        }
        _ => Ok(()),
    }
}

/// Reads all files of a trace from a folder.
pub fn read_folder(folder: &Path) -> Result<Trace, FormatError> {
    let open = |name: &str| {
        let path = folder.join(name);
        let label = path.display().to_string();
        match File::open(&path) {
            Ok(file) => Ok((label, BufReader::new(file))),
            Err(source) => Err(FormatError::Read { file: label, source }),
        }
    };
    let there = |name: &str| match folder.join(name).try_exists() {
        Ok(false) => Ok(None),
        _ => open(name).map(Some),
    };
    let (label, mut file) = open(POWER_FILE)?;
    let mut trace = read_power(&label, &mut file)?;
    let (label, mut file) = open(SPANS_FILE)?;
    trace.spans = read_spans(&label, &mut file)?;
    if let Some((label, mut file)) = there(MARKS_FILE)? {
        trace.marks = read_marks(&label, &mut file)?;
    }
    if let Some((label, mut file)) = there(EDGES_FILE)? {
        trace.edges = read_edges(&label, &mut file)?;
    }
    Ok(trace)
}

fn write_file(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let failed =
        |source: io::Error| FormatError::Write { file: path.display().to_string(), source };
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    content(&mut out).map_err(|error| match error {
        FormatError::Write { source, .. } => failed(source),
        other => other,
    })?;
    out.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::CsvFault;
    use crate::trace::{
        Component, ComponentId, ComponentKind, Header, Rail, RailId, Recorder, Sink, Span,
        SpanKind, Waveform,
    };
    use crate::units::{Amperes, SimTime, Volts, Watts};

    fn trace() -> Trace {
        let part = |name: &str, kind| Component {
            name: name.into(),
            kind,
            domain: "cpu".into(),
            rail: "vdd".into(),
        };
        let mut recorder = Recorder::default();
        recorder.begin(&Header {
            components: vec![
                part("core, \"fast\"", ComponentKind::Engine),
                part("ldo", ComponentKind::RegulatorLoss),
            ],
            rails: vec![Rail { name: "vdd".into(), is_source: true }],
            ..Header::default()
        });
        recorder.power(SimTime(0), ComponentId(0), Watts(0.1 + 0.2));
        recorder.rail(SimTime(0), RailId(0), Volts(1.2), Amperes(1e-9));
        recorder.power(SimTime(7), ComponentId(1), Watts(-5e-324));
        recorder.power(SimTime(1_000_000_000_001), ComponentId(0), Watts(0.0));
        recorder.span(Span {
            kind: SpanKind::Layer,
            name: "conv,1\n".into(),
            track: "core".into(),
            inference: Some(3),
            start: SimTime(7),
            end: SimTime(7),
        });
        recorder.end(SimTime(2_000_000_000_000));
        recorder.into_trace()
    }

    fn power_text(trace: &Trace) -> String {
        let mut bytes = Vec::new();
        write_power(trace, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn fault(result: Result<impl std::fmt::Debug, FormatError>) -> (u64, CsvFault) {
        match result.unwrap_err() {
            FormatError::Malformed { line, fault, .. } => (line, fault),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_table_is_what_the_docs_say() {
        let text = power_text(&trace());
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                r#"time_s,"core, ""fast""_w",ldo_w,total_w,vdd_v,vdd_a"#,
                "0.000000000000,0.30000000000000004,,0.30000000000000004,1.2,1e-9",
                "0.000000000007,0.30000000000000004,-5e-324,0.30000000000000004,1.2,1e-9",
                "1.000000000001,0,-5e-324,-5e-324,1.2,1e-9",
                "2.000000000000,0,-5e-324,-5e-324,1.2,1e-9",
            ]
        );
    }

    #[test]
    fn a_folder_brings_the_same_trace_back() {
        let folder = tempfile::tempdir().unwrap();
        write_folder(&trace(), folder.path()).unwrap();
        assert_eq!(read_folder(folder.path()).unwrap(), trace());
        let empty = Trace::default();
        write_folder(&empty, folder.path()).unwrap();
        assert_eq!(read_folder(folder.path()).unwrap(), empty);
        let gone = read_folder(&folder.path().join("gone")).unwrap_err();
        assert!(gone.to_string().contains("power.csv: cannot be read"), "{gone}");
    }

    #[test]
    fn each_fault_names_its_line() {
        let text = power_text(&trace());
        let after = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            fault(read_power("p", &mut text.replacen(from, to, 1).as_bytes()))
        };
        assert!(matches!(after("trace 1", "trace 2"), (1, CsvFault::Signature { .. })));
        assert!(matches!(after("{\"comp", "{comp"), (2, CsvFault::Header { .. })));
        assert!(matches!(
            after("\"ldo\"", "\"core, \\\"fast\\\"\""),
            (2, CsvFault::NameTwice { .. })
        ));
        assert!(matches!(after(",vdd_a", ",vdd_i"), (3, CsvFault::Column { number: 6, .. })));
        assert!(matches!(after(",vdd_a", ""), (3, CsvFault::Column { number: 6, .. })));
        assert!(matches!(after(",vdd_a", ",vdd_a,"), (3, CsvFault::Column { number: 7, .. })));
        assert!(matches!(after("0.000000000007", "-7"), (5, CsvFault::Time { .. })));
        assert!(matches!(after("0.000000000007", "0"), (5, CsvFault::Order { .. })));
        assert!(matches!(after(",-5e-324", ",1e999"), (5, CsvFault::Number { .. })));
        assert!(matches!(after("1,0,-5e-324", "1,0"), (6, CsvFault::Cells { found: 5, .. })));
        let columns_only: Vec<_> = text.lines().take(3).collect();
        let (_, no_rows) = fault(read_power("p", &mut columns_only.join("\n").as_bytes()));
        assert_eq!(no_rows, CsvFault::NoRows);
        let mut bytes = text.clone().into_bytes();
        let end = bytes.len() - 3;
        bytes[end] = 0xff;
        assert_eq!(fault(read_power("p", &mut bytes.as_slice())), (7, CsvFault::NotText));
        assert!(matches!(fault(read_power("p", &mut &b""[..])), (1, CsvFault::Signature { .. })));
    }

    #[test]
    fn an_empty_cell_behind_a_value_is_unknown_and_one_before_it_is_zero() {
        let text = power_text(&trace()).replacen("0,-5e-324,", "0,,", 1);
        let back = read_power("p", &mut text.as_bytes()).unwrap();
        assert!(back.power[1].at(SimTime(1_000_000_000_001)).is_nan());
        assert_eq!(back.power[1].at(SimTime(0)), 0.0);
        let mut early = trace();
        early.power[1] = Waveform::default();
        early.power[1].set(SimTime(7), f64::NAN);
        let text = power_text(&early);
        assert!(text.contains("7,0.30000000000000004,NaN,,1.2"), "{text}");
        assert!(text.contains("1.000000000001,0,,,1.2"), "{text}");
        let back = read_power("p", &mut text.as_bytes()).unwrap();
        assert_eq!(back.power[1].points().len(), 1);
        assert!(back.power[1].points()[0].1.is_nan());
    }

    #[test]
    fn each_fault_of_a_mark_and_of_an_edge_names_its_line() {
        let mark = |row: &str| {
            let text = format!("teller,track,name,at_s,meter_s\n{row}\n");
            fault(read_marks("m", &mut text.as_bytes()))
        };
        assert!(matches!(mark("moon,a,b,0,"), (2, CsvFault::Word { column: "teller", .. })));
        assert!(matches!(mark("host,a,b,-1,"), (2, CsvFault::Time { .. })));
        assert!(matches!(mark("host,a,b,1"), (2, CsvFault::Cells { found: 4, .. })));
        let edge = |row: &str| {
            let text = format!("line,name,at_s,level\n{row}\n");
            fault(read_edges("e", &mut text.as_bytes()))
        };
        assert!(matches!(edge("-1,a,0,low"), (2, CsvFault::Line { .. })));
        assert!(matches!(edge("0,a,0,half"), (2, CsvFault::Word { column: "level", .. })));
        assert!(matches!(edge("0,a,x,low"), (2, CsvFault::Time { .. })));
    }

    #[test]
    fn each_fault_of_a_span_names_its_line() {
        let rows = |row: &str| {
            let text = format!("kind,name,track,inference,start_s,end_s,duration_s\n{row}\n");
            fault(read_spans("s", &mut text.as_bytes()))
        };
        assert!(matches!(rows("nap,a,b,,0,1,1"), (2, CsvFault::Kind { .. })));
        assert!(matches!(rows("idle,a,b,x,0,1,1"), (2, CsvFault::Inference { .. })));
        assert!(matches!(rows("idle,a,b,,x,1,1"), (2, CsvFault::Time { .. })));
        assert!(matches!(rows("idle,a,b,,2,1,1"), (2, CsvFault::Backwards { .. })));
        assert!(matches!(rows("idle,a,b"), (2, CsvFault::Cells { found: 3, .. })));
        assert!(matches!(fault(read_spans("s", &mut &b""[..])), (1, CsvFault::NoRows)));
    }

    #[test]
    fn what_no_file_can_keep_is_not_written() {
        let mut bad = trace();
        bad.power[0].set(SimTime(1_500_000_000_000), f64::INFINITY);
        let error = write_power(&bad, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FormatError::NotFinite { .. }), "{error}");
        let mut late = trace();
        late.end = SimTime(5);
        let error = write_power(&late, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FormatError::PastEnd { at: SimTime(7), .. }), "{error}");
    }
}
