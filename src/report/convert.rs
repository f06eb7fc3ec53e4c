//! A capture, or the trace of a run, as a file of another kind.
//!
//! It is read twice: once for its windows, clocks and logs, once for its samples, which are written
//! as they come. The memory taken grows with edges, marks and spans, not with samples.

use super::folder::write_files_with;
use super::{FolderError, OutputFolder};
use crate::capture::{Electrical, Measured, Rails, WindowOptions};
use crate::formats::{
    FormatError, FrameSink, FrameWriter, Opened, Options, csv, parquet, perfetto, write_frames,
};
use crate::trace::{Annotations, Header, Layout, Mark, Sink, Span, SpanKind, Teller, Trace};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// What a trace can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A folder of tables: power, spans, marks, edges.
    Csv,
    /// A file for polars, DuckDB and pandas, with files of spans, marks and edges beside it.
    Parquet,
    /// A file for the Perfetto viewer.
    Perfetto,
}

impl Target {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Perfetto => "perfetto",
        }
    }

    /// The kind that a path stands for by its ending.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "perfetto-trace" | "pftrace" => Some(Self::Perfetto),
            _ => None,
        }
    }

    /// How a path of this kind ends.
    fn ending(self) -> &'static str {
        match self {
            Self::Csv => "the name of a folder",
            Self::Parquet => "a name that ends in .parquet",
            Self::Perfetto => "a name that ends in .perfetto-trace",
        }
    }

    /// Whether a path can be of this kind: a folder of tables may be called anything that is not
    /// of another.
    fn fits(self, path: &Path) -> bool {
        Self::of_path(path).map_or(self == Self::Csv, |kind| kind == self)
    }
}

/// What is converted.
#[derive(Debug)]
pub enum Source {
    /// The trace of a run.
    Run(Box<Trace>),
    /// The capture of an instrument.
    Capture {
        /// The capture.
        opened: Opened,
        /// What the user says about it.
        options: Options,
    },
}

/// Why nothing was converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The output would take the place of what is read.
    #[error("--out {} would be written over the capture {}\nhelp: name another place", out.display(), capture.display())]
    Over {
        /// The output.
        out: PathBuf,
        /// What is read.
        capture: PathBuf,
    },
    /// A name that is not one of the kind asked for.
    #[error("--out {}: {kind} is written to {expected}", out.display())]
    Ending {
        /// The output.
        out: PathBuf,
        /// The kind.
        kind: &'static str,
        /// How it has to end.
        expected: &'static str,
    },
    /// A kind that nothing tells.
    #[error("--out {} does not tell what to write\nhelp: --to csv, --to parquet or --to perfetto does, or a name that ends in .csv (a folder), .parquet or .perfetto-trace", out.display())]
    NoTarget {
        /// The output.
        out: PathBuf,
    },
    /// The capture, or what is written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The output.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// What the user says of the windows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// How they are found.
    pub windows: WindowOptions,
    /// Inferences in each, where no file says it.
    pub inferences: Option<u64>,
    /// Another file of the host's.
    pub log: Vec<Mark>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The kind.
    pub target: Target,
    /// Files, or the folder.
    pub files: Vec<PathBuf>,
    /// Instants at which a value changes.
    pub instants: u64,
    /// Spans, windows found by edges among them.
    pub spans: usize,
    /// Marks.
    pub marks: usize,
    /// Changes of digital lines.
    pub edges: usize,
    /// What a reader of the file should know.
    pub remarks: Vec<String>,
}

/// Writes what was read from `input` to `out`; the kind is told by the path where `target` is none.
pub fn convert(
    source: &Source,
    input: &Path,
    told: &Told,
    target: Option<Target>,
    out: &Path,
) -> Result<Converted, ConvertError> {
    let known = target.or_else(|| Target::of_path(out));
    let target = known.ok_or_else(|| ConvertError::NoTarget { out: out.to_owned() })?;
    check(input, target, out)?;
    let material = Material::of(source, told)?;
    let (files, instants) = match target {
        Target::Csv => (vec![out.to_owned()], material.csv(out)?),
        Target::Parquet => {
            let mut files = vec![out.to_owned()];
            files.extend(parquet::files_beside(out));
            (files, material.parquet(out)?)
        }
        Target::Perfetto => (vec![out.to_owned()], material.perfetto(out)?),
    };
    let Annotations { edges, marks, spans } = &material.annotations;
    let (spans, marks, edges) = (spans.len(), marks.len(), edges.len());
    let remarks = material.remarks(target);
    Ok(Converted { target, files, instants, spans, marks, edges, remarks })
}

/// Whether `out` can be written, before any work.
fn check(input: &Path, target: Target, out: &Path) -> Result<(), ConvertError> {
    if !target.fits(out) {
        let (out, kind, expected) = (out.to_owned(), target.name(), target.ending());
        return Err(ConvertError::Ending { out, kind, expected });
    }
    let mut all = vec![out.to_owned()];
    if target == Target::Parquet {
        all.extend(parquet::files_beside(out));
    }
    if let Ok(read) = input.canonicalize() {
        for path in &all {
            // What is there and is the capture, holds it or is a part of it.
            if let Ok(there) = path.canonicalize()
                && (read.starts_with(&there) || there.starts_with(&read))
            {
                let (out, capture) = (path.clone(), input.to_owned());
                return Err(ConvertError::Over { out, capture });
            }
        }
    }
    if target == Target::Csv {
        return Ok(OutputFolder::check(out)?);
    }
    match all.into_iter().find(|path| path.is_dir()) {
        Some(path) => Err(FolderError::Foreign { path, found: "a folder".to_owned() }.into()),
        None => Ok(()),
    }
}

/// All that is known before the samples are written.
struct Material<'a> {
    source: &'a Source,
    header: Header,
    layout: Layout,
    annotations: Annotations,
    inferences_per_window: Option<u64>,
    lacks: Option<&'static str>,
    found: Vec<String>,
}

impl<'a> Material<'a> {
    fn of(source: &'a Source, told: &Told) -> Result<Self, FormatError> {
        let Told { windows, inferences, log } = told;
        let mut annotations = Annotations::default();
        let (measured, header) = match source {
            Source::Run(trace) => {
                annotations = Annotations::of(trace);
                let told = |mark: &Mark| Mark { teller: Teller::Host, ..mark.clone() };
                log.iter().map(told).for_each(|mark| annotations.mark(mark));
                let measured = Measured::of_trace(trace, windows, *inferences, log);
                (measured, trace.header.clone())
            }
            Source::Capture { opened, options } => {
                let kept = Some(&mut annotations);
                let measured =
                    Measured::read_and_keep(opened, options, windows, *inferences, log, kept)?;
                let header = measured.supply.header(&measured.layout);
                (measured, header)
            }
        };
        if let Some(matched) = &measured.windows.matched {
            annotations.place_host_marks(|host| matched.fit.on_meter_picoseconds(host));
        }
        if windows.overrules() {
            annotations.spans.retain(|span| span.kind != SpanKind::Window);
        }
        annotations.spans.extend(found_windows(&measured, windows, &annotations));
        let lacks = lacks(&measured, &header);
        Ok(Self {
            source,
            header,
            annotations,
            inferences_per_window: inferences.or(measured.inferences_per_window),
            lacks,
            found: measured.windows.remarks,
            layout: measured.layout,
        })
    }

    /// Writes every frame; how many there were.
    fn tell<W: FrameWriter>(&self, mut writer: W) -> Result<u64, FormatError> {
        match self.source {
            Source::Run(trace) => write_frames(trace, &mut writer),
            Source::Capture { opened, options } => {
                let mut sink = FrameSink::new(writer, &self.header);
                let mut rails = Rails::full(&mut sink, options.voltage);
                opened.read(options, &mut rails)?;
                let frames = sink.frames();
                sink.finish().map(|_| frames)
            }
        }
    }

    fn csv(&self, out: &Path) -> Result<u64, ConvertError> {
        let folder = OutputFolder::begin(out)?;
        csv::write_annotations(&self.annotations, &self.header, folder.path())?;
        let instants = self.tell(csv::begin_power(&self.header, folder.path())?)?;
        folder.complete()?;
        Ok(instants)
    }

    fn perfetto(&self, out: &Path) -> Result<u64, ConvertError> {
        let mut instants = 0;
        write_files_with(&[out.to_owned()], |staged| {
            for path in staged {
                let file = BufWriter::new(create(path)?);
                let writer = perfetto::Writer::begin(&self.header, &self.annotations, file)?;
                instants = self.tell(writer)?;
            }
            Ok::<_, ConvertError>(())
        })?;
        Ok(instants)
    }

    fn parquet(&self, out: &Path) -> Result<u64, ConvertError> {
        let mut instants = 0;
        let [spans, marks, edges] = parquet::files_beside(out);
        // The file of power comes last: where it is, the others are.
        write_files_with(&[spans, marks, edges, out.to_owned()], |staged| {
            let [spans, marks, edges, power] = staged else { return Ok(()) };
            let about = parquet::About {
                header: &self.header,
                layout: &self.layout,
                inferences_per_window: self.inferences_per_window,
            };
            parquet::write_spans(&self.annotations.spans, &about, create(spans)?)?;
            parquet::write_marks(&self.annotations.marks, &about, create(marks)?)?;
            parquet::write_edges(&self.annotations.edges, &about, create(edges)?)?;
            let writer = parquet::PowerWriter::begin(&about, create(power)?)?;
            instants = self.tell(writer)?;
            Ok::<_, ConvertError>(())
        })?;
        Ok(instants)
    }

    fn remarks(&self, target: Target) -> Vec<String> {
        let mut remarks: Vec<String> = self.lacks.map(str::to_owned).into_iter().collect();
        if target == Target::Perfetto {
            let lost = [
                (
                    self.annotations.unplaced(),
                    "of a host whose clock no edges tie to the meter's are left out",
                ),
                (self.annotations.before_start(), "from before the trace are left out"),
            ];
            let lost = lost.iter().filter(|(count, _)| *count > 0);
            remarks.extend(lost.map(|(count, what)| format!("{count} marks {what}")));
        }
        remarks.extend(self.layout.remarks.iter().chain(&self.found).cloned());
        remarks
    }
}

fn create(path: &Path) -> Result<File, FolderError> {
    File::create(path).map_err(|source| FolderError::Io { path: path.to_owned(), source })
}

/// Windows that edges and the log tell of, as spans from where the energy is counted; none where
/// the capture states its own and the user does not overrule it.
fn found_windows(
    measured: &Measured,
    windows: &WindowOptions,
    annotations: &Annotations,
) -> Vec<Span> {
    let states = |span: &Span| matches!(span.kind, SpanKind::Window | SpanKind::Inference);
    if annotations.spans.iter().any(states) && !windows.overrules() {
        return Vec::new();
    }
    let span = |(number, window): (usize, &crate::capture::Window)| Span {
        kind: SpanKind::Window,
        name: if window.name.is_empty() {
            format!("window {}", number + 1)
        } else {
            window.name.clone()
        },
        track: "windows".to_owned(),
        inference: None,
        start: measured.layout.counted_at(window.start),
        end: measured.layout.counted_at(window.stop),
    };
    measured.windows.windows.iter().enumerate().map(span).collect()
}

/// What a capture without any power has instead.
fn lacks(measured: &Measured, header: &Header) -> Option<&'static str> {
    if !header.components.is_empty() {
        return None;
    }
    let current =
        |line: &crate::capture::SupplyLine| matches!(line.electrical, Electrical::CurrentAlone(_));
    Some(if measured.supply.lines.iter().any(current) {
        "no supply line has a power: the file holds the current alone, and --voltage makes power of it"
    } else if !header.rails.is_empty() {
        "no supply line has a power: the file holds the voltage alone"
    } else {
        "the capture has no supply line: the file holds what else there is"
    })
}
