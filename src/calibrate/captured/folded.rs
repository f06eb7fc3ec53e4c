//! Layers that the folded profile of one inference shows.
//!
//! Which stretch is which layer is found from predicted durations, known up to a common factor and a wide spread.
//! Where power does not change between two layers, the edge between them is where the prediction puts it, and no
//! measurement: such layers are taken together, up to edges that the profile itself shows. Bins of the profile
//! hang together (drift, filters of the supply), so that no bin is an observation of its own.

use super::marked::LayerTold;
use super::problem::Problem;
use super::scatter::Told;
use crate::capture::{
    AssignOptions, Assigned, Expected, Folded, Measured, PowerSeries, assign, fold_measured,
};
use crate::estimate::Estimate;
use crate::units::Seconds;

/// Probability of an edge to lie within a bin of its place, from which on it counts as seen.
const SEEN: f64 = 0.9;

/// Deviation of a time that is told to a bin, in bins.
const WITHIN_BIN: f64 = 0.2887;

/// A stretch this many times longer or shorter than its share of the prediction is hardly the layer that it is taken
/// for: kernels have steps of their own within a layer, and what is sure of an edge is that it is there. On captures
/// of real boards stretches beyond were edges within layers.
const DOUBTFUL: f64 = 2.0;

/// Layers of a folded profile.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoldedLayers {
    /// What it shows.
    pub layers: Vec<LayerTold>,
    /// Stretches that were left out since they, or their neighbours, are hardly the layers they were taken for.
    doubtful: usize,
}

impl FoldedLayers {
    /// What was found, in words.
    pub(super) fn note(&self, executed: usize) -> String {
        let doubtful = match self.doubtful {
            0 => String::new(),
            count => format!(
                ", and {count} more that are left out: an edge is hardly that of the layer it was taken for"
            ),
        };
        format!(
            "the folded profile shows {} stretches of the {executed} layers, those without an edge between them as one{doubtful}",
            self.layers.len()
        )
    }
}

/// Layers of the folded profile.
pub(super) fn told(
    series: &PowerSeries,
    measured: &Measured,
    predicted: &Estimate,
) -> Result<FoldedLayers, Problem> {
    // An edge lies anywhere in the sample before the one that tells it: of windows of one inference, the last sample
    // holds some of what comes behind.
    let alone = measured.inferences_per_window == Some(1);
    let margin = series.sample().filter(|_| alone).unwrap_or_default();
    let folded = fold_measured(series, measured, margin)
        .map_err(|fault| Problem::of_error("layers", &fault.to_string()))?;
    let expected = Expected::all(predicted);
    let assigned = assign(&folded, &expected, AssignOptions::default())
        .map_err(|fault| Problem::of_error("layers", &fault.to_string()))?;
    Ok(told_of(&folded, &assigned, &expected))
}

/// Assigned stretches with those behind them that no edge parts from them.
fn groups(assigned: &[Assigned]) -> Vec<Vec<&Assigned>> {
    let mut groups: Vec<Vec<&Assigned>> = Vec::new();
    for own in assigned {
        match groups.last_mut() {
            Some(group) if own.confidence < SEEN => group.push(own),
            _ => groups.push(vec![own]),
        }
    }
    groups
}

fn told_of(folded: &Folded, assigned: &[Assigned], expected: &[Expected]) -> FoldedLayers {
    let groups = groups(assigned);
    if groups.len() < 2 {
        // One stretch is the network, and no part of it.
        return FoldedLayers { layers: Vec::new(), doubtful: 0 };
    }
    let bin = Seconds(folded.period.0 / folded.power.len().max(1) as f64);
    let sum = |layers: &[Expected]| layers.iter().map(|own| own.duration.0).sum::<f64>();
    let factor = folded.period.0 / sum(expected);
    let ends = groups.iter().skip(1).map(|next| start_error(next, bin));
    let ends = ends.chain([folded.period_error]);
    let told: Vec<Option<(LayerTold, bool)>> = groups
        .iter()
        .zip(ends)
        .map(|(group, end)| {
            let (first, last) = (group.first()?, group.last()?);
            let layers = expected.get(first.layers.start..last.layers.end)?;
            let start = if first.start.0 > 0.0 { start_error(group, bin) } else { Seconds(0.0) };
            let (time, off) = ((last.end - first.start).0, start.0.hypot(end.0));
            let energy: f64 = group.iter().map(|own| own.energy.0).sum();
            let latency = Told::of(&[time], 0.0)?.and(off / time);
            let energy = Told::of(&[energy], 0.0)?.and(off / time).and(noise(folded));
            let far = (time / (sum(layers) * factor)).ln().abs() > DOUBTFUL.ln();
            let layers = layers.iter().map(|layer| layer.name.clone()).collect();
            Some((LayerTold { layers, latency: Some(latency), energy: Some(energy) }, far))
        })
        .collect();
    let is_far = |at: usize| told.get(at).is_some_and(|own| own.as_ref().is_none_or(|own| own.1));
    let doubtful = |at: usize| is_far(at) || is_far(at + 1) || at > 0 && is_far(at - 1);
    let count = (0..told.len()).filter(|at| doubtful(*at)).count();
    let kept = (0..told.len()).filter(|at| !doubtful(*at));
    let layers = kept.filter_map(|at| told.get(at)?.clone()).map(|own| own.0).collect();
    FoldedLayers { layers, doubtful: count }
}

fn start_error(group: &[&Assigned], bin: Seconds) -> Seconds {
    let own = group.first().map_or(0.0, |first| first.start_error.0);
    Seconds(own.hypot(bin.0 * WITHIN_BIN))
}

/// Relative standard error of a bin. As bins hang together, it is not divided by the root of their number.
fn noise(folded: &Folded) -> f64 {
    let known = folded.power.iter().zip(&folded.error).filter(|(power, _)| power.0 > 0.0);
    let relative = known.map(|(power, error)| error.0 / power.0).filter(|own| own.is_finite());
    let (sum, count) = relative.fold((0.0, 0u32), |(sum, n), own| (sum + own * own, n + 1));
    if count == 0 { 0.0 } else { (sum / f64::from(count)).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Joules, Watts};

    fn stretch(at: usize, start: f64, end: f64, confidence: f64) -> Assigned {
        Assigned {
            name: format!("l{at}"),
            layers: at..at + 1,
            start: Seconds(start),
            end: Seconds(end),
            mean: Watts(1.0),
            energy: Joules(end - start),
            start_error: Seconds(0.01),
            confidence,
        }
    }

    #[test]
    fn layers_without_an_edge_between_them_are_told_as_one() {
        let folded = Folded {
            period: Seconds(6.0),
            period_error: Seconds(0.0),
            power: vec![Watts(1.0); 600],
            error: vec![Watts(0.01); 600],
            samples: vec![9; 600],
            inferences: 9,
            unexplained: 0.0,
        };
        let expected: Vec<Expected> =
            (0..3).map(|at| Expected { name: format!("l{at}"), duration: Seconds(1.0) }).collect();
        let assigned =
            [stretch(0, 0.0, 1.0, 1.0), stretch(1, 1.0, 3.0, 0.95), stretch(2, 3.0, 6.0, 0.4)];
        let told = told_of(&folded, &assigned, &expected).layers;
        let names: Vec<_> = told.iter().map(|own| own.layers.join("+")).collect();
        assert_eq!(names, ["l0", "l1+l2"]);
        let both = &told[1];
        assert!((both.latency.unwrap().value - 5.0).abs() < 1e-12);
        let edge = 0.01f64.hypot(0.01 * WITHIN_BIN);
        assert!((both.latency.unwrap().sigma - edge / 5.0).abs() < 1e-9);
        assert!((both.energy.unwrap().sigma - (edge / 5.0).hypot(0.01)).abs() < 1e-9);
    }

    #[test]
    fn a_stretch_that_is_hardly_its_layer_is_left_out_with_its_neighbours() {
        let folded = Folded {
            period: Seconds(30.0),
            period_error: Seconds(0.0),
            power: vec![Watts(1.0); 300],
            error: vec![Watts(0.0); 300],
            samples: vec![9; 300],
            inferences: 9,
            unexplained: 0.0,
        };
        let expected: Vec<Expected> =
            (0..3).map(|at| Expected { name: format!("l{at}"), duration: Seconds(1.0) }).collect();
        let assigned =
            [stretch(0, 0.0, 15.0, 1.0), stretch(1, 15.0, 29.5, 1.0), stretch(2, 29.5, 30.0, 1.0)];
        let told = told_of(&folded, &assigned, &expected);
        let names: Vec<_> = told.layers.iter().map(|own| own.layers.join("+")).collect();
        assert_eq!(names, ["l0"]);
        assert!(told.note(3).contains("2 more that are left out"), "{}", told.note(3));
    }
}
