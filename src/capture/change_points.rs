//! Where the level of a signal changes: optimal partitioning of a piecewise-constant mean.
//!
//! Minimises sum over pieces of the squared distance from their mean, plus a penalty for each change.
//! Exact, by dynamic programming with pruning (PELT: Killick, Fearnhead and Eckley, J. Am. Stat.
//! Assoc. 107, 2012); linear time where changes come often, quadratic at worst. With noise of standard
//! deviation s over n samples the penalty 2 s^2 ln n is the usual choice.

/// Where pieces end, and what the partition costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    /// The end of each piece, exclusive; the last is the length of the signal.
    pub ends: Vec<usize>,
    /// Squares about the means plus the penalties of all changes.
    pub cost: f64,
}

/// Sums that give the cost of any stretch at once.
#[derive(Debug, Clone)]
pub(super) struct Squares {
    sum: Vec<f64>,
    square: Vec<f64>,
}

impl Squares {
    pub(super) fn of(signal: &[f64]) -> Self {
        // About the mean, so that squares of a small noise on a large level keep their digits.
        let centre = signal.iter().sum::<f64>() / signal.len().max(1) as f64;
        let (mut sum, mut square) = (vec![0.0], vec![0.0]);
        let (mut s, mut q) = (0.0, 0.0);
        for value in signal {
            let apart = value - centre;
            s += apart;
            q += apart * apart;
            sum.push(s);
            square.push(q);
        }
        Self { sum, square }
    }

    /// Squares about the mean of samples from `from` to `to`, exclusive.
    pub(super) fn cost(&self, from: usize, to: usize) -> f64 {
        let at = |of: &[f64], at: usize| of.get(at).copied().unwrap_or(f64::NAN);
        let length = to.saturating_sub(from).max(1) as f64;
        let sum = at(&self.sum, to) - at(&self.sum, from);
        (at(&self.square, to) - at(&self.square, from) - sum * sum / length).max(0.0)
    }
}

/// The best partition with pieces of `shortest` samples at least.
pub fn change_points(signal: &[f64], penalty: f64, shortest: usize) -> Pieces {
    let (n, shortest) = (signal.len(), shortest.max(1));
    if n < shortest {
        return Pieces { ends: if n > 0 { vec![n] } else { Vec::new() }, cost: 0.0 };
    }
    let squares = Squares::of(signal);
    let mut best = vec![f64::INFINITY; n + 1];
    let mut from = vec![0usize; n + 1];
    best[0] = -penalty;
    // Starts of a last piece, each with the end from which it can be left out.
    let mut starts: Vec<(usize, usize)> = vec![(0, usize::MAX)];
    for to in shortest..=n {
        starts.retain(|(_, until)| *until > to);
        for (start, _) in &starts {
            let cost = best[*start] + squares.cost(*start, to) + penalty;
            if cost < best[to] {
                (best[to], from[to]) = (cost, *start);
            }
        }
        for (start, until) in &mut starts {
            // From here a piece is better begun anew; that can be done once it is long enough.
            if *until == usize::MAX && best[*start] + squares.cost(*start, to) > best[to] {
                *until = to + shortest;
            }
        }
        if to + 1 >= 2 * shortest {
            starts.push((to + 1 - shortest, usize::MAX));
        }
    }
    let mut ends = Vec::new();
    let mut at = n;
    while at > 0 {
        ends.push(at);
        at = from[at];
    }
    ends.reverse();
    Pieces { ends, cost: best[n] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Optimal partitioning without pruning.
    fn exhaustive(signal: &[f64], penalty: f64, shortest: usize) -> f64 {
        let squares = Squares::of(signal);
        let mut best = vec![f64::INFINITY; signal.len() + 1];
        best[0] = -penalty;
        for to in shortest..=signal.len() {
            for start in 0..=to - shortest {
                best[to] = best[to].min(best[start] + squares.cost(start, to) + penalty);
            }
        }
        best[signal.len()]
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let signal: Vec<f64> =
            [(5, 1.0), (7, 3.0), (4, 1.5)].iter().flat_map(|(n, v)| vec![*v; *n]).collect();
        assert_eq!(change_points(&signal, 0.1, 2).ends, [5, 12, 16]);
        assert_eq!(change_points(&[1.0; 9], 0.1, 2).ends, [9]);
        assert_eq!(change_points(&[1.0], 0.1, 2).ends, [1]);
        assert!(change_points(&[], 0.1, 2).ends.is_empty());
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            signal in proptest::collection::vec(0u8..6, 2..60),
            penalty in 0.1..20.0f64,
            shortest in 1usize..5,
        ) {
            let signal: Vec<f64> = signal.into_iter().map(f64::from).collect();
            prop_assume!(signal.len() >= shortest);
            let pieces = change_points(&signal, penalty, shortest);
            let expected = exhaustive(&signal, penalty, shortest);
            prop_assert!((pieces.cost - expected).abs() < 1e-9, "{} {}", pieces.cost, expected);
            let squares = Squares::of(&signal);
            let starts = std::iter::once(0).chain(pieces.ends.iter().copied());
            let told: f64 = starts.zip(&pieces.ends).map(|(a, b)| squares.cost(a, *b)).sum();
            let told = told + penalty * (pieces.ends.len() - 1) as f64;
            prop_assert!((told - expected).abs() < 1e-9);
        }
    }
}
