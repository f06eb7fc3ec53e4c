//! Comparisons summed up by board.

use super::case::{Quantity, Split};
use super::validation::Comparison;

/// Errors of one quantity over several comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Median of the absolute relative errors.
    pub median: f64,
    /// The largest of them.
    pub worst: f64,
    /// Measurements that lie in the 90 % interval of their prediction.
    pub covered: usize,
    /// Figures compared.
    pub figures: usize,
}

/// What figures are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Whole networks.
    Networks,
    /// Single layers.
    Layers,
}

impl Grain {
    /// That of a comparison.
    pub fn of(comparison: &Comparison) -> Self {
        if comparison.layer.is_some() { Self::Layers } else { Self::Networks }
    }

    /// In lower case, for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Networks => "networks",
            Self::Layers => "layers",
        }
    }
}

/// Errors of comparisons that belong together. Figures with a fault of their source are in none.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The profile that predicted; `None` over all of them.
    pub hardware: Option<String>,
    /// What the predictions were allowed to know; summaries never mix it.
    pub split: Split,
    /// What the figures are of; summaries never mix it either.
    pub grain: Grain,
    /// Errors of latency.
    pub latency: Option<Errors>,
    /// Errors of energy.
    pub energy: Option<Errors>,
}

impl Summary {
    fn of(hardware: Option<&str>, (split, grain): Kept, comparisons: &[Comparison]) -> Self {
        let part: Vec<&Comparison> = comparisons
            .iter()
            .filter(|c| kept(c) == (split, grain) && hardware.is_none_or(|h| h == c.hardware))
            .collect();
        Self {
            hardware: hardware.map(str::to_owned),
            split,
            grain,
            latency: errors_of(&part, Quantity::Latency),
            energy: errors_of(&part, Quantity::Energy),
        }
    }
}

/// What is kept apart.
type Kept = (Split, Grain);

fn kept(comparison: &Comparison) -> Kept {
    (comparison.split, Grain::of(comparison))
}

/// By profile, split and grain in the order they come, then over all profiles of a split and grain when
/// there are several.
pub fn summaries(comparisons: &[Comparison]) -> Vec<Summary> {
    let mut boards: Vec<(&str, Kept)> = Vec::new();
    let mut apart: Vec<Kept> = Vec::new();
    for c in comparisons {
        if !boards.contains(&(c.hardware.as_str(), kept(c))) {
            boards.push((&c.hardware, kept(c)));
        }
        if !apart.contains(&kept(c)) {
            apart.push(kept(c));
        }
    }
    let each = boards.iter().map(|&(h, kept)| Summary::of(Some(h), kept, comparisons));
    let several = apart.iter().filter(|&k| boards.iter().filter(|(_, of)| of == k).count() > 1);
    each.chain(several.map(|&kept| Summary::of(None, kept, comparisons))).collect()
}

/// Errors of one quantity over comparisons, without those whose source has a fault; `None` where none is
/// left.
pub fn errors_of(part: &[&Comparison], quantity: Quantity) -> Option<Errors> {
    let sound = |c: &&&Comparison| c.fault.is_none() && c.quantity == quantity.with_unit();
    let of: Vec<&&Comparison> = part.iter().filter(sound).collect();
    let mut sizes: Vec<f64> = of.iter().map(|c| c.relative_error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    Some(Errors {
        median: median(&sizes)?,
        worst: *sizes.last()?,
        covered: of.iter().filter(|c| c.covered()).count(),
        figures: of.len(),
    })
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(middle - 1)? + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Kind;
    use crate::uncertainty::Interval90;

    fn figure(hardware: &str, split: Split, measured: f64) -> Comparison {
        Comparison {
            id: "case/net".into(),
            case: "case".into(),
            hardware: hardware.into(),
            model: "net".into(),
            layer: None,
            place: "observations[0]".into(),
            macs: 1,
            printed_macs: None,
            fault: None,
            of: Quantity::Latency,
            quantity: "latency_s",
            kind: Kind::Measured,
            measured,
            predicted: 1.0,
            interval: Interval90 { low: 0.5, high: 2.0 },
            relative_error: 1.0 / measured - 1.0,
            split,
            coverage: 0.0,
            costed_share: 1.0,
            fits: true,
            captured: false,
            recorded_error: None,
            worse: false,
        }
    }

    #[test]
    fn a_summary_counts_what_lies_in_the_interval() {
        let figures = [0.8, 1.0, 4.0].map(|m| figure("a", Split::Uncalibrated, m));
        let all = summaries(&figures);
        assert_eq!(all.len(), 1, "one board needs no total");
        let latency = all[0].latency.unwrap();
        assert_eq!((latency.covered, latency.figures), (2, 3));
        assert!((latency.median - 0.25).abs() < 1e-12 && (latency.worst - 0.75).abs() < 1e-12);
        assert_eq!(all[0].energy, None);
    }

    #[test]
    fn layers_have_a_summary_of_their_own_and_faults_are_in_none() {
        let mut figures = [0.8, 4.0, 9.0].map(|m| figure("a", Split::Uncalibrated, m));
        figures[1].layer = Some("conv".into());
        figures[2].fault = Some("shifted windows".into());
        let all = summaries(&figures);
        let counts: Vec<_> = all.iter().map(|s| (s.grain, s.latency.unwrap().figures)).collect();
        assert_eq!(counts, [(Grain::Networks, 1), (Grain::Layers, 1)]);
    }

    #[test]
    fn the_middle_of_an_even_count_is_a_mean() {
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn what_was_fitted_is_never_summed_with_what_was_not() {
        let figures = [
            figure("a", Split::Uncalibrated, 2.0),
            figure("b", Split::Uncalibrated, 4.0),
            figure("b", Split::Fit, 1.0),
        ];
        let all = summaries(&figures);
        let named: Vec<_> = all.iter().map(|s| (s.hardware.as_deref(), s.split)).collect();
        let uncalibrated = Split::Uncalibrated;
        let expected = [
            (Some("a"), uncalibrated),
            (Some("b"), uncalibrated),
            (Some("b"), Split::Fit),
            (None, uncalibrated),
        ];
        assert_eq!(named, expected);
        assert_eq!(all[3].latency.unwrap().figures, 2);
    }
}
