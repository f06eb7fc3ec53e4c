//! Captures of a case, read and put in the place of figures.

use super::files::{Files, Stretch, overlap, place};
use super::folded;
use super::likeness;
use super::marked::{LayerLine, LayerTold};
use super::problem::Problem;
use super::scatter::{Told, coarse};
use super::stretches::{between, periods};
use super::{CaptureObservation, Captured, FAR, LayerSource};
use crate::calibrate::bench::Bench;
use crate::calibrate::case::{Case, IdleObservation, LayerObservation, Observation, RestOf};
use crate::capture::{Expected, Measured, PowerSeries, Repeats, Request, median};
use crate::diagnostic::Fault;
use crate::estimate::{Estimate, estimate};
use crate::evidence::{Kind, Valued};
use crate::mapping::plan;
use crate::trace::LineId;
use crate::units::{Quantity, Seconds};
use std::path::Path;

/// Reads the captures of a case, whose paths are from a folder, and puts what they tell in the place of figures.
/// What is stated beside a capture stands.
pub(in crate::calibrate) fn take(case: &mut Case, folder: &Path) -> Vec<Fault> {
    if case.observations.iter().all(|own| own.capture.is_none()) {
        return Vec::new();
    }
    // What is wrong with the profile or the network is told where a prediction is asked for.
    let bench = Bench::of(case).ok();
    let files = Files::of(case, folder);
    let mut faults = Vec::new();
    for index in 0..case.observations.len() {
        let Some(observation) = case.observations.get(index) else { break };
        let Some(capture) = observation.capture.clone() else { continue };
        let predicted = bench.as_ref().and_then(|bench| {
            let network = bench.network(case, index, observation).ok()?;
            Some(estimate(&plan(&network, bench.setting()), bench.setting()))
        });
        let place = place(folder, &capture.file);
        let meter = case.meters.get(&capture.meter);
        let accuracy = meter.map(|meter| capture.accuracy(meter, place.clone()));
        let (predicted, busy) = (predicted.as_ref(), files.busy(index));
        let taking = Taking { capture: &capture, observation, predicted, folder, busy: &busy };
        let taken = match files.twice(index) {
            Some(problem) => Err(problem),
            None => taking.taken(),
        };
        match taken {
            Ok(mut taken) => {
                let captured = &mut taken.captured;
                (captured.accuracy, captured.place) = (accuracy, place);
                captured.made_up = files.made_up(index);
                captured.notes.extend(files.note(&capture.file, &capture.meter, index));
                taken.put_into(case, index, files.networks(index));
            }
            Err(problem) => faults.push(problem.fault(index)),
        }
    }
    faults
}

/// What one case takes of a file that another takes too, in words: of two cases no power between windows, and no mean
/// of all, is that of one of them.
pub(in crate::calibrate) fn takes_again(case: &Case, other: &Case) -> Option<String> {
    let taken = |case: &Case| -> Vec<(Captured, bool)> {
        let own = case.observations.iter();
        own.filter_map(|own| Some((own.captured.clone()?, own.rest.is_some()))).collect()
    };
    let (own, others) = (taken(case), taken(other));
    let pairs = own.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
    let mut again = pairs.filter(|((one, rests), (other, too))| {
        one.place == other.place && (*rests || *too || overlap(&one.windows, &other.windows))
    });
    again.next().map(|((one, _), _)| one.place.clone())
}

/// A capture that is being read.
struct Taking<'a> {
    capture: &'a CaptureObservation,
    observation: &'a Observation,
    /// What the profile says of the network, where it can.
    predicted: Option<&'a Estimate>,
    folder: &'a Path,
    /// When other networks run in the file.
    busy: &'a [Stretch],
}

/// What a capture tells.
#[derive(Debug, Default)]
struct Taken {
    latency: Option<Told>,
    energy: Option<Told>,
    mean_power: Option<Told>,
    rest: Option<Told>,
    layers: Vec<LayerTold>,
    captured: Captured,
}

/// Windows whose lengths differ by more than this share from the median are not those of one network.
const ALIKE: f64 = 0.2;

/// A share of an energy that is worth a word.
const WORTH: f64 = 0.01;

impl Taking<'_> {
    fn taken(&self) -> Result<Taken, Problem> {
        let request = self.capture.request(self.folder);
        let series = request.series().map_err(|error| Problem::unreadable(&error))?;
        if series.header.components.is_empty() {
            let message = "the capture has a current, or a voltage, alone: no power is known";
            let help = "`voltage: \"3.3 V\"` says what the board was supplied with";
            return Err(Problem::of("", message.to_owned()).with_help(help));
        }
        match self.observation.period.as_ref() {
            Some(period) => self.whole(&series, period.get()),
            None => self.windows(&request, &series),
        }
    }

    /// The mean power of all of it.
    fn whole(&self, series: &PowerSeries, period: Seconds) -> Result<Taken, Problem> {
        let Some(mean) = periods(series, period) else {
            let end = series.end.seconds();
            let message =
                format!("no whole period of {period} has a known power: the capture lasts {end}");
            return Err(Problem::of("", message));
        };
        Ok(Taken { mean_power: Some(mean), ..Taken::default() })
    }

    /// What its windows tell.
    fn windows(&self, request: &Request, series: &PowerSeries) -> Result<Taken, Problem> {
        let mut measured = request.measure().map_err(|error| Problem::unreadable(&error))?;
        self.line_is_there(&measured)?;
        if measured.inferences_per_window.is_none() {
            // One inference each: measured again with that, for the energy of each.
            let request = Request { inferences: Some(1), ..request.clone() };
            measured = request.measure().map_err(|error| Problem::unreadable(&error))?;
        }
        self.windows_are_alike(&measured)?;
        let sample =
            if request.is_run() { Seconds(0.0) } else { series.sample().unwrap_or_default() };
        // The start and the stop are each told to a sample: uniform, and of two of them the root of two.
        let resolution = Seconds(sample.0 / 6f64.sqrt());
        let mut taken = self.of_inference(&measured, resolution)?;
        if let Some(state) = &self.observation.rest {
            let settling = self.capture.settling.as_ref().map(Valued::get).unwrap_or_default();
            taken.rest = between(series, &measured, (settling, sample), self.busy);
            if taken.rest.is_none() {
                let message =
                    format!("no power is known between windows, where the board is in `{state}`");
                let help = "there is a gap from one window to the next, longer than twice what it takes to settle";
                return Err(Problem::of("", message).with_help(help));
            }
        }
        self.layers(&measured, series, resolution, &mut taken)?;
        Ok(taken)
    }

    fn line_is_there(&self, measured: &Measured) -> Result<(), Problem> {
        let lines = &measured.layout.lines;
        match &self.capture.line {
            Some(name) if !lines.contains(name) => Err(Problem::no_line("line", name, lines)),
            _ => Ok(()),
        }
    }

    /// There are windows, and they are of one network.
    fn windows_are_alike(&self, measured: &Measured) -> Result<(), Problem> {
        let lengths: Vec<f64> = measured.measured.iter().map(|window| window.length().0).collect();
        let Some(usual) = median(lengths.clone()) else {
            return Err(self.unmarked(measured));
        };
        let off = |(at, length): (usize, &f64)| {
            ((length / usual - 1.0).abs() > ALIKE).then(|| (at + 1, *length))
        };
        let off: Vec<(usize, f64)> = lengths.iter().enumerate().filter_map(off).collect();
        if off.is_empty() {
            return Ok(());
        }
        let shown = off.iter().take(SHOWN).map(|(at, length)| {
            format!("window {at} lasts {} ({:.2} times that)", Seconds(*length), length / usual)
        });
        let shown: Vec<String> = shown.collect();
        let more = match off.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(", and {more} more differ"),
        };
        let message = format!(
            "the {} windows are not of one network: half of them last {} or less, {}{more}",
            lengths.len(),
            Seconds(usual),
            shown.join(", ")
        );
        let help = "each window holds the same number of inferences of one network: `warm_up: N` leaves out the first, \
                    `edges` says how edges pair up, and other networks are observations of their own";
        Err(Problem::of("", message).with_help(help))
    }

    /// No inference is marked: which lines move, and how often.
    fn unmarked(&self, measured: &Measured) -> Problem {
        let changes = changes(measured);
        let named = self.capture.line.as_ref();
        let own = named.and_then(|name| changes.iter().find(|(line, _)| line == name));
        let remarks = match (own, measured.windows.remarks.as_slice()) {
            (Some((line, 0)), _) => format!("line `{line}` never changes"),
            (_, []) => "nothing in it tells of a start and a stop".to_owned(),
            (_, remarks) => remarks.join("; "),
        };
        let (moving, still): (Vec<_>, Vec<_>) = changes.iter().partition(|(_, count)| *count > 0);
        let times = |(line, count): &&(String, usize)| match count {
            1 => format!("{line} changes once"),
            count => format!("{line} changes {count} times"),
        };
        let mut lines: Vec<String> = moving.iter().map(times).collect();
        if !still.is_empty() {
            let still: Vec<&str> = still.iter().map(|(line, _)| line.as_str()).collect();
            lines.push(format!("{} never", still.join(", ")));
        }
        let lines = match lines.as_slice() {
            [] => "it has no digital line".to_owned(),
            lines => lines.join(", "),
        };
        let help = format!(
            "{lines}; `line` and `edges` say which edges mark inferences, `edges: Power` takes the stretches of high \
             power, and `period` takes the mean power of all of it"
        );
        Problem::of("", format!("no inference is marked: {remarks}")).with_help(help)
    }

    /// Time and energy of an inference.
    fn of_inference(&self, measured: &Measured, resolution: Seconds) -> Result<Taken, Problem> {
        let each = measured.inferences_per_window.unwrap_or(1).max(1) as f64;
        let times: Vec<f64> =
            measured.measured.iter().map(|window| window.length().0 / each).collect();
        let energies = measured.measured.iter().filter_map(|window| window.per_inference);
        let energies: Vec<f64> = energies.map(|energy| energy.0).collect();
        let resolution = resolution.0 / each;
        let latency = Told::of(&times, resolution);
        let least = latency.map_or(0.0, |own| coarse(&times, resolution) / own.value);
        let energy = Told::of(&energies, 0.0).map(|own| own.at_least(least));
        if energy.is_none() {
            let message = "no window has an energy above zero that is known throughout".to_owned();
            return Err(Problem::of("", message));
        }
        let windows = measured.measured.iter().map(|own| (own.window.start, own.window.stop));
        let mut captured = Captured { windows: windows.collect(), ..Captured::default() };
        captured.windows.sort_unstable();
        if self.capture.edges.is_none() {
            let remarks = measured.windows.remarks.iter();
            captured.notes.extend(remarks.map(|remark| format!("{}: {remark}", self.capture.file)));
        }
        captured.notes.extend(self.agreement(&energies));
        captured.notes.extend(latency.and_then(|own| self.far(own, each)));
        Ok(Taken { latency, energy, captured, ..Taken::default() })
    }

    /// What repeats say of their own agreement.
    fn agreement(&self, energies: &[f64]) -> Vec<String> {
        let of = format!("{} of {}", self.capture.file, self.observation.model);
        let Some(repeats) = Repeats::of(energies) else {
            return vec![format!(
                "{of} has a single window: how far repeats differ is not known, and the calibration's `noise` stands for it"
            )];
        };
        let mut notes = Vec::new();
        if repeats.drifts() && (repeats.drift * repeats.count as f64).abs() > WORTH * repeats.mean {
            notes.push(format!(
                "{of}: energy drifts by {:+.1} % from the first window to the last: let the board warm up (`warm_up: N`)",
                repeats.drift * repeats.count as f64 / repeats.mean * 100.0
            ));
        }
        let apart = |at: &&usize| {
            energies.get(**at).is_some_and(|own| (own / repeats.mean - 1.0).abs() > WORTH)
        };
        let far: Vec<String> =
            repeats.outliers.iter().filter(apart).map(|at| (at + 1).to_string()).collect();
        if !far.is_empty() {
            let shown = far.get(..SHOWN.min(far.len())).unwrap_or_default().join(", ");
            notes.push(format!(
                "{of}: {} of {} windows stand out in energy ({shown}), and are in the mean",
                far.len(),
                repeats.count
            ));
        }
        notes
    }

    /// A mark that is far from what is predicted.
    fn far(&self, marked: Told, each: f64) -> Option<String> {
        let predicted = self.predicted?.latency;
        let ratio = marked.value / predicted.0;
        if ratio < FAR && ratio > 1.0 / FAR {
            return None;
        }
        let (file, model) = (&self.capture.file, &self.observation.model);
        let marked = Seconds(marked.value);
        let help = if ratio >= FAR {
            format!(
                "does a mark hold {:.0} inferences (`inferences`)? is it another network, or another clock",
                ratio * each
            )
        } else {
            "is it another network, or another clock".to_owned()
        };
        Some(format!(
            "{file} marks {marked} for an inference of {model}, which is predicted to take {predicted}: {help}?"
        ))
    }

    fn layers(
        &self,
        measured: &Measured,
        series: &PowerSeries,
        resolution: Seconds,
        taken: &mut Taken,
    ) -> Result<(), Problem> {
        let (Some(source), Some(predicted)) = (&self.capture.layers, self.predicted) else {
            return Ok(());
        };
        let mut executed = Expected::all(predicted);
        executed.retain(|layer| layer.duration.0 > 0.0);
        let of = format!("{} of {}", self.capture.file, self.observation.model);
        taken.layers = match source {
            LayerSource::Marked { line, at } => {
                let (executed, model) = (&executed[..], self.observation.model.as_str());
                let sample = series.sample();
                let line =
                    LayerLine { measured, line, at: *at, executed, model, resolution, sample };
                let told = line.told()?;
                let unlike = likeness::note(&told, executed);
                taken.captured.notes.extend(unlike.map(|note| format!("{of}: {note}")));
                told
            }
            LayerSource::Folded => {
                let found = folded::told(series, measured, predicted)?;
                taken.captured.notes.push(format!("{of}: {}", found.note(executed.len())));
                found.layers
            }
        };
        Ok(())
    }
}

/// How often each line changes: the first edge of one only tells its level at the start.
fn changes(measured: &Measured) -> Vec<(String, usize)> {
    let of = |line: usize| {
        let edges = measured.summary.edges.iter().filter(|edge| edge.line == LineId(line));
        edges.count().saturating_sub(1)
    };
    measured.layout.lines.iter().enumerate().map(|(at, name)| (name.clone(), of(at))).collect()
}

/// Windows that a message names.
const SHOWN: usize = 5;

/// Layers whose times add up to that of the inference within this share are all of it.
const ALL: f64 = 0.01;

impl Taken {
    /// Puts figures where the case states none.
    fn put_into(mut self, case: &mut Case, index: usize, others: Vec<String>) {
        let Some(observation) = case.observations.get_mut(index) else { return };
        let captured = &mut self.captured;
        captured.latency = put(&mut observation.latency, self.latency);
        captured.energy = put(&mut observation.energy, self.energy);
        captured.mean_power = put(&mut observation.mean_power, self.mean_power);
        let stated = |name: &String| {
            let mut own =
                observation.layers.iter().flat_map(|own| own.with.iter().chain([&own.layer]));
            own.any(|own| own == name)
        };
        // A layer is the case's or the capture's.
        self.layers.retain(|own| !own.layers.iter().any(stated));
        let layers: Vec<LayerObservation> = self.layers.iter().filter_map(layer).collect();
        captured.layers = layers.len();
        let whole = self.latency.map_or(f64::INFINITY, |own| own.value);
        let sum: f64 = self.layers.iter().filter_map(|own| Some(own.latency?.value)).sum();
        captured.layers_are_all = (sum / whole - 1.0).abs() < ALL;
        observation.layers.extend(layers);
        let rest = observation.rest.clone().zip(self.rest);
        let (accuracy, place) = (captured.accuracy.clone(), captured.place.clone());
        let file = observation.capture.as_ref().map_or(String::new(), |own| own.file.clone());
        let networks = std::iter::once(observation.model.clone()).chain(others).collect();
        observation.captured = Some(self.captured);
        // Stated, or taken from this file already.
        let of_file = |own: &RestOf| own.place == place;
        let is_known = |state: &str| {
            let mut own = case.idle.iter().filter(|own| own.state == state);
            own.any(|own| own.from.as_ref().is_none_or(of_file))
        };
        if let Some((state, told)) = rest.filter(|(state, _)| !is_known(state)) {
            let power = valued(told);
            let from = Some(RestOf { file, place, networks });
            case.idle.push(IdleObservation { state, power, accuracy, from });
        }
    }
}

fn layer(told: &LayerTold) -> Option<LayerObservation> {
    let mut names = told.layers.iter().cloned();
    Some(LayerObservation {
        layer: names.next()?,
        with: names.collect(),
        latency: told.latency.map(valued),
        energy: told.energy.map(valued),
        recorded_latency_error: None,
        recorded_energy_error: None,
    })
}

fn valued<Q: Quantity>(told: Told) -> Valued<Q> {
    Valued::measured(Q::from_si(told.value), told.sigma, Kind::Measured)
}

/// Puts a figure where none is stated, and says whether it did.
fn put<Q: Quantity>(place: &mut Option<Valued<Q>>, told: Option<Told>) -> bool {
    let free = place.is_none() && told.is_some();
    if free {
        *place = told.map(valued);
    }
    free
}
