//! Comparisons summed up by board.

use super::case::Split;
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

/// Errors of comparisons that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The profile that predicted; `None` over all of them.
    pub hardware: Option<String>,
    /// What the predictions were allowed to know; summaries never mix it.
    pub split: Split,
    /// Errors of latency.
    pub latency: Option<Errors>,
    /// Errors of energy.
    pub energy: Option<Errors>,
}

impl Summary {
    fn of(hardware: Option<&str>, split: Split, comparisons: &[Comparison]) -> Self {
        let part: Vec<&Comparison> = comparisons
            .iter()
            .filter(|c| c.split == split && hardware.is_none_or(|h| h == c.hardware))
            .collect();
        Self {
            hardware: hardware.map(str::to_owned),
            split,
            latency: errors(&part, "latency_s"),
            energy: errors(&part, "energy_j"),
        }
    }
}

/// By profile and split in the order they come, then over all profiles of a split when there are
/// several.
pub fn summaries(comparisons: &[Comparison]) -> Vec<Summary> {
    let mut boards: Vec<(&str, Split)> = Vec::new();
    let mut splits: Vec<Split> = Vec::new();
    for c in comparisons {
        if !boards.contains(&(c.hardware.as_str(), c.split)) {
            boards.push((&c.hardware, c.split));
        }
        if !splits.contains(&c.split) {
            splits.push(c.split);
        }
    }
    let each = boards.iter().map(|&(h, split)| Summary::of(Some(h), split, comparisons));
    let several = splits.iter().filter(|&s| boards.iter().filter(|(_, of)| of == s).count() > 1);
    each.chain(several.map(|&split| Summary::of(None, split, comparisons))).collect()
}

fn errors(part: &[&Comparison], quantity: &str) -> Option<Errors> {
    let of: Vec<&&Comparison> = part.iter().filter(|c| c.quantity == quantity).collect();
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
    use crate::uncertainty::Interval90;

    fn figure(hardware: &str, split: Split, measured: f64) -> Comparison {
        Comparison {
            id: "case/net".into(),
            case: "case".into(),
            hardware: hardware.into(),
            model: "net".into(),
            quantity: "latency_s",
            measured,
            predicted: 1.0,
            interval: Interval90 { low: 0.5, high: 2.0 },
            relative_error: 1.0 / measured - 1.0,
            split,
            coverage: 0.0,
            costed_share: 1.0,
            fits: true,
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
