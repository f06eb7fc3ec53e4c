//! Which stretch of a folded inference belongs to which layer.
//!
//! Layers run in the order of the model, each at a power of its own. With predicted durations known
//! up to a common factor and a spread, every way to cut the profile into the layers has a
//! probability: Gaussian samples about the mean of each stretch (the mean itself unknown within the
//! range of the profile), and log-normal durations about the predicted ones. The most probable way is
//! the assignment (Viterbi); the sum over all ways (forward and backward) gives each edge its
//! distribution, and so its confidence.

use super::change_points::Squares;
use super::fold::Folded;
use crate::estimate::Estimate;
use crate::units::{Joules, Seconds, Watts};
use std::ops::Range;

/// A layer to be found in the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Its name.
    pub name: String,
    /// How long it should take, up to a factor common to all layers.
    pub duration: Seconds,
}

impl Expected {
    /// The layers of a prediction.
    pub fn all(predicted: &Estimate) -> Vec<Self> {
        let layers = predicted.layers.iter();
        layers.map(|own| Self { name: own.name.clone(), duration: own.time }).collect()
    }
}

/// What is unknown about the predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssignOptions {
    /// Spread of a duration: the standard deviation of its logarithm.
    pub spread: f64,
}

impl Default for AssignOptions {
    fn default() -> Self {
        // Rates of kernels on one core differ by about this much from a common one.
        Self { spread: 0.5 }
    }
}

/// A layer, or a few that are too short to be told apart, in the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// Names, joined by ` + ` where several share the stretch.
    pub name: String,
    /// The layers within the list of expected ones.
    pub layers: Range<usize>,
    /// Its start within the inference.
    pub start: Seconds,
    /// Its end.
    pub end: Seconds,
    /// Mean power.
    pub mean: Watts,
    /// Its energy.
    pub energy: Joules,
    /// The standard deviation of its start over all ways to cut the profile.
    pub start_error: Seconds,
    /// The probability that its start lies within one bin of where it is put.
    pub confidence: f64,
}

/// Why there is no assignment.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AssignFault {
    /// Nothing to find.
    #[error("the model has no layer that takes time")]
    NoLayers,
    /// The profile is shorter than the list.
    #[error("{layers} groups of layers cannot be told apart in a profile of {bins} bins")]
    TooShort {
        /// Groups of layers.
        layers: usize,
        /// Bins.
        bins: usize,
    },
}

const ROUNDS: usize = 8;
/// Bins between two layers that belong to neither: the runtime goes from one to the next, and a sample
/// that holds the end of one and the start of the other.
const LONGEST_GAP: usize = 2;

/// Bins in which edges are sought; time goes with their square. An edge lies within a bin by the share
/// that each side has of it.
const MOST: usize = 2000;

/// A stretch shorter than this many bins cannot be told from its neighbours.
const SHORTEST: f64 = 2.0;

/// Assigns layers to the profile.
pub fn assign(
    folded: &Folded,
    layers: &[Expected],
    options: AssignOptions,
) -> Result<Vec<Assigned>, AssignFault> {
    let folded = &folded.in_bins(MOST);
    let bins = folded.power.len();
    let groups = grouped(layers, bins);
    if groups.is_empty() {
        return Err(AssignFault::NoLayers);
    }
    if groups.len() > bins {
        return Err(AssignFault::TooShort { layers: groups.len(), bins });
    }
    let mut ways = Ways::new(folded, &groups, options);
    let mut cuts = ways.most_probable();
    // Layers are not flat: how far they are from it is known once they are cut, and decides how they
    // are cut.
    for _ in 0..ROUNDS {
        ways.learn_noise(&cuts);
        let again = ways.most_probable();
        if again == cuts {
            break;
        }
        cuts = again;
    }
    let ends = ways.ends(&cuts);
    let edges = ways.edges();
    let starts = std::iter::once(0.0).chain(ends.iter().copied());
    Ok(groups
        .iter()
        .zip(starts.zip(&ends))
        .zip(&cuts)
        .enumerate()
        .map(|(number, ((group, (start, end)), cut))| {
            let (start_error, confidence) = match number.checked_sub(1) {
                Some(edge) => spread_of(edges.get(edge).map_or(&[], Vec::as_slice), cut.start),
                // The profile starts where the inference starts.
                None => (0.0, 1.0),
            };
            stretch(folded, group, (start, *end), start_error, confidence)
        })
        .collect())
}

/// Layers that are sought as one.
struct Group {
    name: String,
    layers: Range<usize>,
    /// Expected bins.
    bins: f64,
}

/// Joins layers that would be too short to see with the shorter of their neighbours.
fn grouped(layers: &[Expected], bins: usize) -> Vec<Group> {
    let total: f64 = layers.iter().map(|layer| layer.duration.0.max(0.0)).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut groups: Vec<Group> = layers
        .iter()
        .enumerate()
        .map(|(at, layer)| Group {
            name: layer.name.clone(),
            layers: at..at + 1,
            bins: layer.duration.0.max(0.0) / total * bins as f64,
        })
        .collect();
    while groups.len() > 1 {
        let shortest = groups.iter().enumerate().min_by(|a, b| a.1.bins.total_cmp(&b.1.bins));
        let Some((at, group)) = shortest else { break };
        if group.bins >= SHORTEST {
            break;
        }
        let before =
            at.checked_sub(1).and_then(|b| groups.get(b)).map_or(f64::INFINITY, |g| g.bins);
        let after = groups.get(at + 1).map_or(f64::INFINITY, |g| g.bins);
        let first = if before <= after { at - 1 } else { at };
        let second = groups.remove(first + 1);
        if let Some(first) = groups.get_mut(first) {
            first.name = format!("{} + {}", first.name, second.name);
            first.layers.end = second.layers.end;
            first.bins += second.bins;
        }
    }
    groups
}

/// All ways to cut the profile into the groups.
struct Ways<'a> {
    groups: &'a [Group],
    bins: usize,
    power: Vec<f64>,
    squares: Squares,
    /// The least noise that is believed.
    least: f64,
    /// Standard deviation of a bin about the level of its layer.
    flat: f64,
    /// The range of the profile.
    width: f64,
    /// Twice the variance of a bin about the level of its layer.
    twice_variance: f64,
    /// The logarithm of the width of what a level can be, in standard deviations.
    range: f64,
    spread: f64,
}

impl<'a> Ways<'a> {
    fn new(folded: &Folded, groups: &'a [Group], options: AssignOptions) -> Self {
        let power: Vec<f64> = folded.power.iter().map(|power| power.0).collect();
        let power = filled(&power);
        let squares = Squares::of(&power);
        // To begin with, all that the profile varies.
        let variance = squares.cost(0, power.len()) / power.len().max(1) as f64;
        let (low, high) = power
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
        let mut ways = Self {
            groups,
            bins: power.len(),
            power,
            squares,
            least: folded.noise().0.max((high - low) * 1e-6).max(f64::MIN_POSITIVE.sqrt()),
            flat: variance.sqrt(),
            width: high - low,
            twice_variance: 0.0,
            range: 0.0,
            spread: options.spread.max(1e-3),
        };
        ways.set_variance(variance);
        ways
    }

    fn set_variance(&mut self, variance: f64) {
        let variance = variance.max(self.least * self.least);
        self.twice_variance = 2.0 * variance;
        self.range = (self.width / variance.sqrt()).max(1.0).ln();
    }

    /// Takes the noise from what is left of the profile about the levels of its layers: the variance,
    /// times the number of bins over which it hangs together (1 + 2 sum of the autocorrelation).
    fn learn_noise(&mut self, cuts: &[Range<usize>]) {
        let mut left = Vec::with_capacity(self.bins);
        for cut in cuts {
            let bins = self.power.get(cut.clone()).unwrap_or_default();
            let mean = bins.iter().sum::<f64>() / bins.len().max(1) as f64;
            left.extend(bins.iter().map(|power| power - mean));
        }
        let total: f64 = left.iter().map(|l| l * l).sum();
        if total <= 0.0 {
            self.flat = 0.0;
            self.set_variance(0.0);
            return;
        }
        let mut together = 1.0;
        for lag in 1..left.len() / 2 {
            let later = left.get(lag..).unwrap_or_default();
            let likeness = left.iter().zip(later).map(|(a, b)| a * b).sum::<f64>() / total;
            if likeness <= 0.0 {
                break;
            }
            together += 2.0 * likeness;
        }
        let free = self.bins.saturating_sub(self.groups.len()).max(1) as f64;
        self.flat = (total / free).sqrt();
        self.set_variance(total / free * together);
    }

    /// Logarithm of the probability of group `group` from bin `from` to `to`, up to a constant that
    /// is the same for all ways: the level is integrated out over the range it can have.
    fn score(&self, group: usize, from: usize, to: usize) -> f64 {
        let length = (to - from) as f64;
        let expected = self.groups.get(group).map_or(1.0, |group| group.bins.max(0.1));
        let off = (length / expected).ln() / self.spread;
        // The log-normal is a density over the length: its 1 / length counts.
        -self.squares.cost(from, to) / self.twice_variance
            - 0.5 * length.ln()
            - self.range
            - 0.5 * off * off
            - length.ln()
    }

    /// Logarithm of the probability of a gap: a few bins at a level of their own.
    fn gap(&self, from: usize, to: usize) -> f64 {
        if from == to {
            return 0.0;
        }
        let length = (to - from) as f64;
        -self.squares.cost(from, to) / self.twice_variance - 0.5 * length.ln() - self.range
    }

    /// What comes before a group that starts at each bin, over all gaps before it.
    fn with_gaps(&self, before: &[f64], join: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let of = |from: usize| {
            let ways: Vec<f64> = (0..=LONGEST_GAP.min(from))
                .map(|gap| {
                    let end = from - gap;
                    before.get(end).map_or(f64::NEG_INFINITY, |b| b + self.gap(end, from))
                })
                .collect();
            join(&ways)
        };
        (0..before.len()).map(of).collect()
    }

    /// For each group the best score, or the sum of probabilities, with its end at each bin.
    fn forward(&self, join: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
        let count = self.groups.len();
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(count);
        let mut terms = Vec::with_capacity(self.bins);
        for group in 0..count {
            let before = group.checked_sub(1).and_then(|before| rows.get(before));
            let before = before.map(|before| self.with_gaps(before, &join));
            let mut row = vec![f64::NEG_INFINITY; self.bins + 1];
            for (to, slot) in row.iter_mut().enumerate().take(self.bins + 1).skip(group + 1) {
                terms.clear();
                match &before {
                    None => terms.push(self.score(group, 0, to)),
                    Some(before) => {
                        let starts = before.iter().enumerate().take(to).skip(group);
                        terms.extend(starts.map(|(from, b)| b + self.score(group, from, to)));
                    }
                }
                *slot = join(&terms);
            }
            rows.push(row);
        }
        rows
    }

    /// Start and end of each group in the most probable way; gaps lie between them.
    fn most_probable(&self) -> Vec<Range<usize>> {
        let most = |terms: &[f64]| terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rows = self.forward(most);
        let mut cuts = Vec::with_capacity(self.groups.len());
        let mut to = self.bins;
        for group in (1..self.groups.len()).rev() {
            let Some(before) = rows.get(group - 1) else { break };
            let gapped = self.with_gaps(before, most);
            let starts = gapped.iter().enumerate().take(to).skip(group);
            let from = starts
                .map(|(from, b)| (b + self.score(group, from, to), from))
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(group, |best| best.1);
            cuts.push(from..to);
            let gaps = (0..=LONGEST_GAP.min(from)).map(|gap| from - gap);
            to = gaps
                .map(|end| {
                    let score =
                        before.get(end).map_or(f64::NEG_INFINITY, |b| b + self.gap(end, from));
                    (score, end)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(from, |best| best.1);
        }
        cuts.push(0..to);
        cuts.reverse();
        cuts
    }

    /// Where each group ends, in bins and parts of one.
    fn ends(&self, cuts: &[Range<usize>]) -> Vec<f64> {
        let end = |(at, cut): (usize, &Range<usize>)| match cuts.get(at + 1) {
            None => self.bins as f64,
            Some(next) => self.edge(cut, next),
        };
        cuts.iter().enumerate().map(end).collect()
    }

    /// The edge between two stretches at levels a and b. A bin that holds the end of one and the start
    /// of the other has a value between, and tells how much of each. Where the runtime's own level d
    /// shows between them, the edge to it is found in the same way on both sides; the runtime's time goes
    /// to the layer whose level is nearer to its own, or by halves where the two are alike.
    fn edge(&self, before: &Range<usize>, after: &Range<usize>) -> f64 {
        let level = |cut: &Range<usize>| {
            let inner = (cut.start + 1).min(cut.end)..cut.end.saturating_sub(1).max(cut.start + 1);
            let bins = self.power.get(inner).filter(|bins| !bins.is_empty());
            let bins = bins.or(self.power.get(cut.clone())).unwrap_or_default();
            super::statistics::median(bins.to_vec()).unwrap_or(f64::NAN)
        };
        let (a, b) = (level(before), level(after));
        let from = before.end.saturating_sub(1).max(before.start + 1).min(before.end);
        let to = (after.start + 1).min(after.end.saturating_sub(1)).max(after.start);
        let zone = self.power.get(from..to).unwrap_or_default();
        let share =
            |value: &f64, of: f64, beside: f64| ((value - beside) / (of - beside)).clamp(0.0, 1.0);
        let outside = |value: f64| (value - a.max(b)).max(a.min(b) - value);
        let deepest = (0..zone.len())
            .max_by(|x, y| outside(zone[*x]).total_cmp(&outside(zone[*y])))
            .filter(|at| outside(zone[*at]) > 2.0 * self.flat);
        let alike = (a - b).abs() < 2.0 * self.flat;
        match deepest {
            Some(at) => {
                let d = zone[at];
                let ends: f64 = zone[..at].iter().map(|value| share(value, a, d)).sum();
                let starts: f64 = zone[at + 1..].iter().map(|value| share(value, b, d)).sum();
                let (ends, starts) = (from as f64 + ends, to as f64 - starts);
                if alike {
                    (ends + starts) / 2.0
                } else if (d - a).abs() < (d - b).abs() {
                    starts
                } else {
                    ends
                }
            }
            None if alike => (before.end + after.start) as f64 / 2.0,
            None => from as f64 + zone.iter().map(|value| share(value, a, b)).sum::<f64>(),
        }
    }

    /// The distribution over the bins of the start of each group but the first.
    fn edges(&self) -> Vec<Vec<f64>> {
        let count = self.groups.len();
        let forward = self.forward(log_sum);
        // The rest of the profile from each bin on, by the groups that are left.
        let mut after = vec![f64::NEG_INFINITY; self.bins + 1];
        if let Some(last) = after.last_mut() {
            *last = 0.0;
        }
        let mut edges = Vec::with_capacity(count.saturating_sub(1));
        for group in (1..count).rev() {
            let mut begun = vec![f64::NEG_INFINITY; self.bins + 1];
            let mut terms = Vec::with_capacity(self.bins);
            for (from, slot) in begun.iter_mut().enumerate().take(self.bins).skip(group) {
                terms.clear();
                let ends = after.iter().enumerate().skip(from + 1);
                terms.extend(
                    ends.filter(|(_, rest)| rest.is_finite())
                        .map(|(to, rest)| self.score(group, from, to) + rest),
                );
                *slot = log_sum(&terms);
            }
            let Some(row) = forward.get(group - 1) else { break };
            let before = self.with_gaps(row, log_sum);
            let joint: Vec<f64> = before.iter().zip(&begun).map(|(f, a)| f + a).collect();
            let total = log_sum(&joint);
            edges.push(joint.iter().map(|term| (term - total).exp()).collect());
            // What follows the end of the group before, over all gaps.
            after = (0..=self.bins)
                .map(|end| {
                    let ways: Vec<f64> = (end..=(end + LONGEST_GAP).min(self.bins))
                        .filter_map(|from| Some(begun.get(from)? + self.gap(end, from)))
                        .collect();
                    log_sum(&ways)
                })
                .collect();
        }
        edges.reverse();
        edges
    }
}

/// ln of the sum of exponentials.
fn log_sum(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// Standard deviation of an edge in bins, and the probability that it lies within one bin of `at`.
fn spread_of(distribution: &[f64], at: usize) -> (f64, f64) {
    let moment = |of: &dyn Fn(f64) -> f64| {
        distribution.iter().enumerate().map(|(bin, p)| p * of(bin as f64)).sum::<f64>()
    };
    let mean = moment(&|bin| bin);
    let variance = moment(&|bin| (bin - mean) * (bin - mean));
    let near = distribution.iter().enumerate().filter(|(bin, _)| bin.abs_diff(at) <= 1);
    (variance.max(0.0).sqrt(), near.map(|bin| bin.1).sum::<f64>().min(1.0))
}

/// Bins without a sample take the value of the one before.
fn filled(power: &[f64]) -> Vec<f64> {
    let first = power.iter().copied().find(|power| !power.is_nan()).unwrap_or(0.0);
    let mut last = first;
    let hold = power.iter().map(|power| {
        if !power.is_nan() {
            last = *power;
        }
        last
    });
    hold.collect()
}

/// The stretch between two edges, which may lie within bins.
fn stretch(
    folded: &Folded,
    group: &Group,
    (start, end): (f64, f64),
    start_error: f64,
    confidence: f64,
) -> Assigned {
    let (mut energy, mut known) = (0.0, 0.0);
    for (bin, power) in folded.power.iter().enumerate() {
        let within = (end.min(bin as f64 + 1.0) - start.max(bin as f64)).max(0.0);
        if within > 0.0 && !power.0.is_nan() {
            energy += power.0 * within;
            known += within;
        }
    }
    let mean = Watts(if known > 0.0 { energy / known } else { f64::NAN });
    let (from, to) = (folded.bin() * start, folded.bin() * end);
    Assigned {
        name: group.name.clone(),
        layers: group.layers.clone(),
        start: from,
        end: to,
        mean,
        energy: mean * (to - from),
        start_error: folded.bin() * start_error,
        confidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(layers: &[(usize, f64)], noise: f64) -> Folded {
        let mut seed = 1u32;
        let mut wobble = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(seed >> 8) / f64::from(1u32 << 24) - 0.5) * 2.0 * noise
        };
        let power: Vec<Watts> = layers
            .iter()
            .flat_map(|(bins, level)| std::iter::repeat_n(*level, *bins))
            .map(|level| Watts(level + wobble()))
            .collect();
        let bins = power.len();
        Folded {
            period: Seconds(bins as f64 * 1e-3),
            period_error: Seconds(0.0),
            error: vec![Watts(noise); bins],
            samples: vec![10; bins],
            power,
            inferences: 10,
            unexplained: 0.0,
        }
    }

    fn expected(durations: &[f64]) -> Vec<Expected> {
        let layer = |(at, duration): (usize, &f64)| Expected {
            name: format!("l{at}"),
            duration: Seconds(*duration),
        };
        durations.iter().enumerate().map(layer).collect()
    }

    #[test]
    fn layers_are_found_although_their_durations_are_half_known() {
        let folded = profile(&[(44, 40.5), (121, 42.0), (45, 35.7), (58, 42.3)], 0.1);
        // Predicted at another speed, and each wrong by up to 40 %.
        let layers = expected(&[10.0, 22.0, 12.0, 9.0]);
        let found = assign(&folded, &layers, AssignOptions::default()).unwrap();
        let starts: Vec<_> = found.iter().map(|f| (f.start.0 * 1e3).round() as u64).collect();
        assert_eq!(starts, [0, 44, 165, 210]);
        assert!(found.iter().all(|f| f.confidence > 0.98), "{found:?}");
        assert!((found[2].mean.0 - 35.7).abs() < 0.05);
        let total: f64 = found.iter().map(|f| f.energy.0).sum();
        assert!((total / folded.energy().0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_edge_between_two_of_the_same_power_is_said_to_be_unsure() {
        let folded = profile(&[(50, 42.0), (50, 42.0), (40, 36.0)], 0.1);
        let found = assign(&folded, &expected(&[1.0, 1.0, 0.8]), AssignOptions::default()).unwrap();
        assert!(found[1].confidence < 0.3, "{found:?}");
        assert!(found[1].start_error.0 > 5e-3);
        assert!(found[2].confidence > 0.95, "{found:?}");
    }

    #[test]
    fn layers_too_short_to_see_are_sought_together() {
        let folded = profile(&[(50, 42.0), (50, 36.0)], 0.1);
        let layers = expected(&[50.0, 0.1, 49.0, 0.1, 0.1]);
        let found = assign(&folded, &layers, AssignOptions::default()).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found.last().unwrap().layers.end, 5);
        assert!(assign(&folded, &[], AssignOptions::default()).is_err());
    }
}
