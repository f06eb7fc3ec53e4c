//! Layers that a second digital line marks.

use super::LayerMarks;
use super::problem::Problem;
use super::scatter::Told;
use crate::capture::{Expected, Measured, MeasuredWindow};
use crate::trace::{Edge, Level, LineId};
use crate::units::{Seconds, SimTime};

/// Figures of one layer, or of several that are told as one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerTold {
    pub layers: Vec<String>,
    pub latency: Option<Told>,
    pub energy: Option<Told>,
}

/// A line that marks layers.
pub(super) struct LayerLine<'a> {
    pub measured: &'a Measured,
    pub line: &'a str,
    pub at: LayerMarks,
    /// What the network executes, in this order, and how long it should take.
    pub executed: &'a [Expected],
    /// The network, for what is said.
    pub model: &'a str,
    /// Deviation of the time of an edge against another.
    pub resolution: Seconds,
    /// A sample of the meter, where it has one.
    pub sample: Option<Seconds>,
}

/// A stretch of a layer.
type Stretch = (SimTime, SimTime);

impl LayerLine<'_> {
    /// Times and energies of the layers, means over all inferences.
    pub(super) fn told(&self) -> Result<Vec<LayerTold>, Problem> {
        let edges = self.edges()?;
        let each = self.measured.inferences_per_window.unwrap_or(1).max(1);
        let found: Vec<Vec<Stretch>> =
            self.measured.measured.iter().map(|window| self.stretches(&edges, window)).collect();
        self.counts_match(&found, each)?;
        let mut times = vec![Vec::new(); self.executed.len()];
        let mut energies = times.clone();
        for (place, (from, to)) in
            found.iter().flat_map(|of| of.iter().enumerate().map(|(k, s)| (k, *s)))
        {
            let place = place % self.executed.len().max(1);
            if let Some(times) = times.get_mut(place) {
                times.push(to.since(from).seconds().0);
            }
            if let (Some(energies), Some(energy)) = (energies.get_mut(place), self.energy(from, to))
            {
                energies.push(energy);
            }
        }
        let all = self.executed.iter().zip(times).zip(energies);
        Ok(all.map(|((own, times), energies)| self.layer(&own.name, &times, &energies)).collect())
    }

    fn layer(&self, name: &str, times: &[f64], energies: &[f64]) -> LayerTold {
        let latency = Told::of(times, self.resolution.0);
        // What time is off by, energy is too.
        let least = latency.map_or(0.0, |latency| latency.sigma);
        let energy = Told::of(energies, 0.0).map(|own| own.at_least(least));
        LayerTold { layers: vec![name.to_owned()], latency, energy }
    }

    /// Energy of a stretch in which power is known throughout.
    fn energy(&self, from: SimTime, to: SimTime) -> Option<f64> {
        let counted = |at| self.measured.layout.counted_at(at);
        let (from, to) = (counted(from), counted(to));
        let (energy, known) = self.measured.summary.between(from, to)?;
        let whole = (to.since(from).seconds() - known).0 <= 0.0 && known.0 > 0.0;
        whole.then_some(energy.0)
    }

    /// The changes of the line, in the order of time.
    fn edges(&self) -> Result<Vec<Edge>, Problem> {
        let lines = &self.measured.layout.lines;
        let Some(line) = lines.iter().position(|name| name == self.line) else {
            return Err(Problem::no_line("layers", self.line, lines));
        };
        let own = |edge: &&Edge| edge.line == LineId(line);
        Ok(self.measured.summary.edges.iter().filter(own).copied().collect())
    }

    /// The layers within a window.
    fn stretches(&self, edges: &[Edge], window: &MeasuredWindow) -> Vec<Stretch> {
        let (start, stop) = (window.window.start, window.window.stop);
        // The first edge of a file only tells the level at its start.
        let within = edges.iter().skip_while(|edge| edge.at < start || edge.at == SimTime::ZERO);
        let within: Vec<&Edge> = within.take_while(|edge| edge.at <= stop).collect();
        let level = match self.at {
            LayerMarks::High | LayerMarks::Rises => Some(Level::High),
            LayerMarks::Low | LayerMarks::Falls => Some(Level::Low),
            LayerMarks::Changes => None,
        };
        let starts = within.iter().filter(|edge| level.is_none_or(|level| edge.to == level));
        let starts: Vec<SimTime> = starts.map(|edge| edge.at).filter(|at| *at < stop).collect();
        if matches!(self.at, LayerMarks::High | LayerMarks::Low) {
            let end = |from: SimTime| {
                let closes = |edge: &&&Edge| edge.at > from && Some(edge.to) != level;
                within.iter().find(closes).map_or(stop, |edge| edge.at)
            };
            return starts.iter().map(|from| (*from, end(*from))).collect();
        }
        let ends = starts.iter().skip(1).copied().chain([stop]);
        starts.iter().copied().zip(ends).collect()
    }

    /// Each inference has as many marks as the network has layers.
    fn counts_match(&self, found: &[Vec<Stretch>], each: u64) -> Result<(), Problem> {
        let layers = self.executed.len();
        let wanted = u64::try_from(layers).unwrap_or(u64::MAX).saturating_mul(each);
        let counts: Vec<u64> = found.iter().map(|of| of.len() as u64).collect();
        if counts.iter().all(|count| *count == wanted) {
            return Ok(());
        }
        let inferences = if each == 1 { String::new() } else { format!(" of {each} inferences") };
        let first = counts.first().copied().unwrap_or(0);
        let marks = if counts.iter().all(|count| *count == first) {
            let layers = if first == 1 { "layer" } else { "layers" };
            format!("line `{}` marks {first} {layers} in each window{inferences}", self.line)
        } else {
            let off = counts.iter().enumerate().filter(|(_, count)| **count != wanted);
            let shown: Vec<String> = off
                .clone()
                .take(SHOWN)
                .map(|(at, count)| format!("{count} in window {}", at + 1))
                .collect();
            let more = off.count().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("line `{}` marks {}{more}{inferences}", self.line, shown.join(", "))
        };
        let names: Vec<&str> = self.executed.iter().map(|own| own.name.as_str()).collect();
        let message =
            format!("{marks}, and {} executes {layers} layers: {}", self.model, names.join(", "));
        let most = counts.iter().copied().max().unwrap_or(0);
        Err(Problem::of("layers", message).with_help(self.help(most, wanted)))
    }

    /// What may be meant where windows have so many marks at most, and another number is wanted.
    fn help(&self, most: u64, wanted: u64) -> String {
        let mut help =
            "each layer starts with a mark, the first of them once the inference is marked; `inspect` lists the \
             network's layers, and a runtime that leaves some out needs the graph that it runs"
                .to_owned();
        let layers = u64::try_from(self.executed.len()).unwrap_or(u64::MAX).max(1);
        if most > wanted && most.is_multiple_of(layers) {
            help.push_str(&format!(
                "; windows of {} inferences are said by `inferences: {}`",
                most / layers,
                most / layers
            ));
        } else if most > wanted {
            help.push_str("; where a window holds several inferences, `inferences` says how many");
        }
        if most < wanted
            && let Some(sample) = self.sample
        {
            // The line may change twice, there and back, between two samples.
            let short = self.executed.iter().filter(|own| own.duration < sample);
            let short: Vec<&str> = short.map(|own| own.name.as_str()).collect();
            let which = match short.as_slice() {
                [] => "none is predicted to be".to_owned(),
                short => format!("{} should be", short.join(", ")),
            };
            help.push_str(&format!(
                "; a layer that is shorter than a sample of {sample} leaves no mark: {which}"
            ));
        }
        help
    }
}

/// Windows that a message names.
const SHOWN: usize = 5;
