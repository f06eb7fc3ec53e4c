//! Rails that feed themselves, round by round of regulators.

use super::Checker;
use std::collections::BTreeMap;

impl Checker<'_> {
    /// A round of regulators is one fault, with its rails in the order of the current and the operating
    /// points at which it closes.
    pub(super) fn rail_loops(&mut self) {
        let spec = self.spec;
        let mut rounds: BTreeMap<Vec<usize>, Vec<&str>> = BTreeMap::new();
        for point in &spec.operating_points {
            let in_use: Vec<usize> = (0..spec.regulators.len())
                .filter(|i| spec.regulators[*i].in_use_at(&point.name))
                .collect();
            for &first in &in_use {
                if let Some(round) = self.round(first, &in_use) {
                    // Each member finds the round; the one named first tells it.
                    if round.iter().all(|i| first <= *i) {
                        rounds.entry(round).or_default().push(&point.name);
                    }
                }
            }
        }
        for (round, points) in rounds {
            let mut rails: Vec<String> =
                round.iter().map(|i| format!("`{}`", spec.regulators[*i].input)).collect();
            rails.reverse();
            let path = format!("regulators[{}].input", round[0]);
            let last = format!("`{}`", spec.regulators[round[0]].output);
            // Upstream first: what the round ends on is where it began.
            let way = rails.into_iter().chain([last]).collect::<Vec<_>>().join(" feeds ");
            let at = points.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
            self.fault(path, format!("rails feed each other in a loop: {way} (at {at})"));
        }
    }

    /// The regulators met on the way upstream from the input of `first` until its own output comes.
    fn round(&self, first: usize, in_use: &[usize]) -> Option<Vec<usize>> {
        let goal = self.known(first)?.1;
        let mut round = vec![first];
        let mut rail = self.known(first)?.0;
        while rail != goal {
            if round.len() > in_use.len() {
                return None;
            }
            let feeds = |i: &&usize| self.known(**i).is_some_and(|(_, output)| output == rail);
            let next = *in_use.iter().find(feeds)?;
            rail = self.known(next)?.0;
            round.push(next);
        }
        Some(round)
    }

    /// Input and output of a regulator; none where the name of one has been reported.
    fn known(&self, regulator: usize) -> Option<(usize, usize)> {
        let (input, output) = *self.links.regulator_rails.get(regulator)?;
        let stated = self.spec.regulators.get(regulator)?;
        let is =
            |rail: usize, name: &str| self.spec.rails.get(rail).is_some_and(|r| r.name == name);
        (is(input, &stated.input) && is(output, &stated.output)).then_some((input, output))
    }
}
