//! `plot`: pictures of a capture or a trace.

use super::fold::FoldTarget;
use super::inspect::picture;
use super::measurement::{CaptureArgument, WindowArguments, is_run, quantity};
use super::{Answer, CliError};
use crate::capture::{Carried, Measured, Rails};
use crate::diagnostic::nearest;
use crate::formats::csv;
use crate::report::plot::{
    self, COLUMNS, CapturePicture, FoldPicture, HistogramPicture, PlotError, PowerOptions, STEPS,
};
use crate::report::write_file_with;
use crate::trace::{
    Bounds, BucketSink, ComponentId, ComponentKind, LevelSink, Levels, Sink, Trace,
};
use crate::units::{Seconds, SimTime, Watts};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Pictures of captures and traces.
#[derive(Debug, Subcommand)]
pub(super) enum Plot {
    /// Power against time, with windows, digital lines and the lines of logs
    Power(Power),
    /// The profile of one inference, and its layers
    Fold(Fold),
    /// For how long power stays at which level
    Histogram(Power),
}

/// Arguments of `plot power` and `plot histogram`.
#[derive(Debug, Args)]
pub(super) struct Power {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    #[command(flatten)]
    picture: PictureArguments,
    /// Where to start, such as "2.5 s"; the start of the capture when left out
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Where to stop; the end of the capture when left out
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// One supply line alone
    #[arg(long, value_name = "NAME")]
    rail: Option<String>,
}

/// Arguments of `plot fold`.
#[derive(Debug, Args)]
pub(super) struct Fold {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    #[command(flatten)]
    picture: PictureArguments,
    #[command(flatten)]
    target: FoldTarget,
}

/// Where a picture goes, and how it looks.
#[derive(Debug, Args)]
struct PictureArguments {
    /// The picture, a .png or .svg file
    #[arg(long, value_name = "FILE", value_parser = picture)]
    out: PathBuf,
    /// Light text on dark paper
    #[arg(long)]
    dark: bool,
}

impl Plot {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::Power(power) => power.run(),
            Self::Fold(fold) => fold.run(),
            Self::Histogram(power) => power.histogram(),
        }
    }
}

impl PictureArguments {
    fn write(
        &self,
        what: &str,
        draw: impl Fn(&Path) -> Result<(), PlotError>,
    ) -> Result<Answer, CliError> {
        let out = &self.out;
        write_file_with(out, |staged| draw(staged).map_err(|error| CliError::from(error.at(out))))?;
        Ok(Answer::yes(format!("{what} is drawn in {}\n", out.display())))
    }
}

impl Power {
    fn run(&self) -> Result<Answer, CliError> {
        if is_run(&self.capture.capture) {
            let trace = csv::read_folder(&self.capture.capture)?;
            if trace.header.components.iter().any(|c| c.kind != ComponentKind::Measured) {
                return self.draw_run(trace);
            }
        }
        let measured = self.capture.measure(&self.windows)?;
        let chosen = self.chosen(&measured)?;
        if chosen.is_empty() && measured.summary.header.counters.is_empty() {
            return Err(PlotError::Nothing.into());
        }
        let bounds = self.bounds(&measured, COLUMNS)?;
        let (sums, members): (Vec<_>, Vec<_>) =
            chosen.into_iter().map(|line| (line.name, line.members)).unzip();
        let mut sink = BucketSink::new(bounds, members);
        self.tell(&measured, true, &mut sink)?;
        let bucketed = sink.finish();
        let picture = CapturePicture {
            title: title(&self.capture.capture),
            measured: &measured,
            sums,
            bucketed: &bucketed,
            is_whole: self.rail.is_none(),
            dark: self.picture.dark,
        };
        self.picture.write("power against time", |path| plot::capture(&picture, path))
    }

    /// One pass for the range of power, one for the time at each level.
    fn histogram(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        let main = self.chosen(&measured)?.into_iter().next().ok_or(PlotError::Nothing)?;
        let bounds = self.bounds(&measured, 1)?;
        let mut sink = BucketSink::new(bounds, vec![main.members.clone()]);
        self.tell(&measured, false, &mut sink)?;
        let bucketed = sink.finish();
        let whole = bucketed.sums.first().and_then(|of| of.first()).copied();
        let whole = whole.filter(|of| of.known > SimTime::ZERO).ok_or(PlotError::Nothing)?;
        let range = (bounds.from(), bounds.to());
        let levels = Levels::new(Watts(whole.least), Watts(whole.most), STEPS);
        let mut sink = LevelSink::new(levels, main.members, range, stretches(&measured));
        self.tell(&measured, false, &mut sink)?;
        let levels = sink.finish();
        let windows = measured.windows.windows.len();
        let found = if windows == 1 { "1 window".into() } else { format!("{windows} windows") };
        let picture = HistogramPicture {
            title: title(&self.capture.capture) + ": time by power",
            subtitle: vec![format!("{} from {} to {}, {found}", main.name, range.0, range.1)],
            levels: &levels,
            whole,
            dark: self.picture.dark,
        };
        self.picture.write("time by power", |path| plot::histogram(&picture, path))
    }

    /// The total and the supply lines, or the one that is asked for.
    fn chosen(&self, measured: &Measured) -> Result<Vec<Carried>, CliError> {
        let lines = measured.carried();
        Ok(match &self.rail {
            Some(name) => vec![self.find(name, &lines)?.clone()],
            None => with_total(measured.everything(), lines),
        })
    }

    /// A simulated run: a stack of its components.
    fn draw_run(&self, mut trace: Trace) -> Result<Answer, CliError> {
        let mut subtitle = Vec::new();
        if let Some(rail) = &self.rail {
            let rails = trace.header.rails.iter().map(|rail| rail.name.as_str());
            known_rail(rail, &rails.collect::<Vec<_>>())?;
            let mut on_rail = trace.header.components.iter().map(|c| c.rail == *rail);
            trace.power.retain(|_| on_rail.next().unwrap_or(false));
            trace.header.components.retain(|component| component.rail == *rail);
            subtitle.push(format!("supply rail {rail} alone"));
        }
        let options = PowerOptions {
            title: title(&self.capture.capture),
            subtitle,
            from: instant("--from", self.from.as_deref())?,
            to: instant("--to", self.to.as_deref())?,
            dark: self.picture.dark,
        };
        self.picture.write("power against time", |path| plot::power(&trace, &options, path))
    }

    fn find<'a>(&self, name: &str, lines: &'a [Carried]) -> Result<&'a Carried, CliError> {
        let known: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        let at = known_rail(name, &known)?;
        lines.get(at).ok_or_else(|| no_rail(name, &known))
    }

    fn bounds(&self, measured: &Measured, count: usize) -> Result<Bounds, CliError> {
        let end = SimTime::from_seconds(measured.summary.duration).unwrap_or_default();
        let from = instant("--from", self.from.as_deref())?.unwrap_or(SimTime::ZERO);
        let asked = instant("--to", self.to.as_deref())?.unwrap_or(end);
        let bounds = Bounds::new(from, asked.min(end), count);
        bounds.ok_or_else(|| PlotError::Range { from, to: asked, end }.into())
    }

    /// One more pass over the capture.
    fn tell(
        &self,
        measured: &Measured,
        with_counters: bool,
        sink: &mut impl Sink,
    ) -> Result<(), CliError> {
        if is_run(&self.capture.capture) {
            csv::read_folder(&self.capture.capture)?.replay(sink);
            return Ok(());
        }
        let options = self.capture.options()?;
        // Counters are merged with power instant by instant, which takes longer.
        let mut rails = match with_counters && !measured.supply.counters.is_empty() {
            true => Rails::full(sink, options.voltage),
            false => Rails::power(sink, options.voltage),
        };
        self.capture.open()?.read(&options, &mut rails)?;
        Ok(())
    }
}

impl Fold {
    fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        let folded = super::fold::fold_windows(&self.capture, &measured)?;
        let layers = self.target.layers(&folded)?;
        let windows = measured.measured.len();
        let mut subtitle = vec![format!(
            "{} inferences of {windows} windows laid over each other",
            folded.inferences
        )];
        if let Some((model, on)) = self.target.names() {
            subtitle
                .push(format!("layers of {model} with durations in proportion to those on {on}"));
        }
        let picture = FoldPicture {
            title: title(&self.capture.capture) + ": one inference",
            subtitle,
            folded: &folded,
            layers: layers.as_deref(),
            dark: self.picture.dark,
        };
        self.picture.write("one inference", |path| plot::folded(&picture, path))
    }
}

/// The windows, in the order of time and none within another.
fn stretches(measured: &Measured) -> Vec<(SimTime, SimTime)> {
    let mut all: Vec<_> = measured.windows.windows.iter().map(|w| (w.start, w.stop)).collect();
    all.sort_unstable();
    let mut until = SimTime::ZERO;
    for stretch in &mut all {
        stretch.0 = stretch.0.max(until);
        until = until.max(stretch.1);
    }
    all.retain(|stretch| stretch.0 < stretch.1);
    all
}

/// The total, and the lines that are not all of it; nothing where no power is known.
fn with_total(everything: Vec<ComponentId>, mut lines: Vec<Carried>) -> Vec<Carried> {
    if everything.is_empty() {
        return Vec::new();
    }
    let is_all = |line: &Carried| everything.iter().all(|one| line.members.contains(one));
    let name = match lines.iter().position(is_all) {
        Some(at) => lines.remove(at).name,
        None => "total".to_owned(),
    };
    lines.insert(0, Carried { name, members: everything });
    lines
}

/// The capture's own name and its folder's, which often says what it is of.
fn title(path: &Path) -> String {
    let name = |part: std::path::Component<'_>| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    let mut parts: Vec<String> = path.components().rev().map_while(name).take(2).collect();
    parts.reverse();
    parts.join("/")
}

fn instant(argument: &'static str, text: Option<&str>) -> Result<Option<SimTime>, CliError> {
    let seconds = quantity::<Seconds>(argument, text)?;
    // What lies before the start is the start, what lies past the end of time its end.
    let instant = |s: Seconds| SimTime::from_seconds(Seconds(s.0.max(0.0)));
    Ok(seconds.map(|s| instant(s).unwrap_or(SimTime(u64::MAX))))
}

fn known_rail(name: &str, known: &[&str]) -> Result<usize, CliError> {
    known.iter().position(|rail| *rail == name).ok_or_else(|| no_rail(name, known))
}

fn no_rail(name: &str, known: &[&str]) -> CliError {
    CliError::NoRail {
        name: name.to_owned(),
        nearest: nearest(name, known.iter().copied()).map(str::to_owned),
        known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
    }
}
