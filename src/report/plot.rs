//! Pictures of a trace or of a network, as PNG or SVG.

mod addresses;
mod axis;
mod buckets;
mod called;
mod capture;
mod clip;
mod fit;
mod folded;
mod font;
mod frame;
mod held_out;
mod histogram;
mod legend;
mod live;
mod log_axis;
mod names;
#[cfg(test)]
mod overlap;
mod paint;
mod parity;
mod picture;
mod regions;
mod roofline;
mod scene;
mod sheet;
mod signs;
mod stack;
mod strip;
mod theme;

pub use addresses::MemoryPicture;
pub use capture::{COLUMNS, CapturePicture};
pub use fit::FitView;
pub use folded::FoldPicture;
pub use histogram::{HistogramPicture, STEPS};

use super::Roofs;
use crate::calibrate::{FitReport, Protocol, Scored};
use crate::model::ModelProfile;
use crate::trace::Trace;
use crate::units::SimTime;
use std::io;
use std::path::{Path, PathBuf};

/// Width and height of a picture in pixels.
pub const SIZE: (u32, u32) = (1600, 900);

/// What to write on a picture of power against time, and what to show of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PowerOptions {
    /// The headline.
    pub title: String,
    /// Lines below it, at most four.
    pub subtitle: Vec<String>,
    /// Where to start; nothing for the start of the trace.
    pub from: Option<SimTime>,
    /// Where to stop; nothing for the end of the trace.
    pub to: Option<SimTime>,
    /// Light text on dark paper.
    pub dark: bool,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The name of the file does not say which kind of picture it is.
    #[error("{}: a picture is a .png or .svg file", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// Nothing lies between the limits.
    #[error("from {from} to {to} there is nothing to draw: the trace goes from 0 s to {end}")]
    Range {
        /// The first instant asked for.
        from: SimTime,
        /// The last instant asked for.
        to: SimTime,
        /// The end of the trace.
        end: SimTime,
    },
    /// A capture without anything to draw.
    #[error(
        "neither power nor any counter is known to draw\nhelp: `--voltage 3.3V` gives the supply of a line that has a current alone"
    )]
    Nothing,
    /// The embedded font is broken.
    #[error("the embedded font cannot be used")]
    Font,
    /// The picture could not be drawn or encoded.
    #[error("{}: cannot be drawn: {reason}", path.display())]
    Draw {
        /// The file.
        path: PathBuf,
        /// What the drawing library said.
        reason: String,
    },
    /// The bytes did not go.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl PlotError {
    /// The same of the file that the reader asked for, where it was drawn under another name.
    #[must_use]
    pub fn at(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::Extension { .. } => Self::Extension { path },
            Self::Draw { reason, .. } => Self::Draw { path, reason },
            Self::Write { source, .. } => Self::Write { path, source },
            Self::Range { .. } | Self::Nothing | Self::Font => self,
        }
    }
}

/// Draws power against time: a stack of components with the total on top, layers behind it, what
/// went on above it. The extension of `path`, `.png` or `.svg`, decides on the kind of picture.
pub fn power(trace: &Trace, options: &PowerOptions, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    let (from, to) = range(trace, options)?;
    write(&picture::compose(trace, options, from, to), SIZE, path)
}

/// Draws the activations alive while each layer runs, in the order they run, with the peak, and the
/// file's own order where it differs. The extension of `path` decides on the kind of picture.
pub fn live(profile: &ModelProfile, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    write(&live::compose(profile, &theme::LIGHT), SIZE, path)
}

/// Draws where tensors live: a panel for each memory, layers from left to right, addresses upwards. The
/// extension of `path` decides on the kind of picture.
pub fn memory(picture: &MemoryPicture<'_>, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    write(&addresses::compose(picture, &theme::LIGHT), SIZE, path)
}

/// Draws roofs and the layers below them, a panel an engine. The extension of `path` decides on the kind of
/// picture.
pub fn roofline(roofs: &Roofs<'_>, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    let (scene, size) = roofline::compose(roofs, &theme::LIGHT);
    write(&scene, size, path)
}

/// Draws a capture: its power and counters in panels, windows and marks above, digital lines below.
/// The extension of `path` decides on the kind of picture.
pub fn capture(picture: &CapturePicture<'_>, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    if picture.bucketed.sums.is_empty() && picture.bucketed.counters.is_empty() {
        return Err(PlotError::Nothing);
    }
    let (scene, size) = capture::compose(picture);
    write(&scene, size, path)
}

/// Draws the profile of one inference with its standard error, and the layers assigned to it. The
/// extension of `path` decides on the kind of picture.
pub fn folded(picture: &FoldPicture<'_>, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    write(&folded::compose(picture), SIZE, path)
}

/// Draws for how long power stays at which level. The extension of `path` decides on the kind of
/// picture.
pub fn histogram(picture: &HistogramPicture<'_>, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    write(&histogram::compose(picture), SIZE, path)
}

/// Draws what a fit did to predictions and numbers. The extension of `path` decides on the kind of picture.
pub fn fit(view: FitView, report: &FitReport, dark: bool, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    let (scene, size) = fit::compose(view, report, themed(dark));
    write(&scene, size, path)
}

/// Draws predictions under a protocol against what was measured. The extension of `path` decides on the kind of
/// picture.
pub fn scatter(
    scored: &[Scored],
    protocol: Protocol,
    dark: bool,
    path: &Path,
) -> Result<(), PlotError> {
    let write = writer(path)?;
    let (scene, size) = held_out::scatter(scored, protocol, themed(dark));
    write(&scene, size, path)
}

/// Draws how many predictions are off by how much, by protocol. The extension of `path` decides on the kind of
/// picture.
pub fn errors(scored: &[Scored], dark: bool, path: &Path) -> Result<(), PlotError> {
    let write = writer(path)?;
    let (scene, size) = held_out::curves(scored, themed(dark));
    write(&scene, size, path)
}

fn themed(dark: bool) -> &'static theme::Theme {
    if dark { &theme::DARK } else { &theme::LIGHT }
}

type Writer = fn(&scene::Scene, (u32, u32), &Path) -> Result<(), PlotError>;

fn writer(path: &Path) -> Result<Writer, PlotError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let write: Writer = match extension.as_deref() {
        Some("png") => paint::write_png,
        Some("svg") => paint::write_svg,
        _ => return Err(PlotError::Extension { path: path.to_owned() }),
    };
    if font::ready() { Ok(write) } else { Err(PlotError::Font) }
}

/// The range to show, within the trace; all of an empty trace is a range too.
fn range(trace: &Trace, options: &PowerOptions) -> Result<(SimTime, SimTime), PlotError> {
    let from = options.from.unwrap_or(SimTime::ZERO);
    let to = options.to.unwrap_or(trace.end).min(trace.end);
    if from < to || (trace.end == SimTime::ZERO && options.from.is_none() && options.to.is_none()) {
        Ok((from, to))
    } else {
        Err(PlotError::Range { from, to: options.to.unwrap_or(trace.end), end: trace.end })
    }
}
