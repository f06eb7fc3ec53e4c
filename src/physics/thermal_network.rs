//! The way of heat from a junction to ambient, as a ladder and as a sum of exponentials.
//!
//! Cauer: `C T' = -G (T - T_a) + P`. Foster: `Z(t) = sum R_k (1 - exp(-t / tau_k))`
//!
//! Symbols: `C` \[J/K\] heat capacities of the nodes, `G` \[W/K\] conductances between neighbours and
//! to ambient, `T_a` ambient, `P` \[W\] heat put into the first node, `Z` \[K/W\] rise of the first
//! node per watt after a step, `R_k` \[K/W\] and `tau_k` \[s\] its parts. From one to the other:
//! `S = C^(-1/2) G C^(-1/2) = Q diag(lambda) Q^T`, symmetric with positive `lambda`, then
//! `tau_k = 1 / lambda_k` and `R_k = Q_0k^2 / (C_0 lambda_k)`, exact (modal form of a linear
//! network; the ladders as in JEDEC JESD51-14). Valid for a linear network with heat from one
//! source. A Foster part has no temperature that could be measured, and two Foster forms are never
//! put one behind the other. Neglected: conductivity that changes with temperature, radiation.

use super::law_error::{LawError, positive};
use crate::units::{JoulesPerKelvin, Kelvins, KelvinsPerWatt, Seconds, Watts};
use nalgebra::{DMatrix, SymmetricEigen};

/// The most stages of a ladder, whose matrix has the square of them.
const MOST_STAGES: usize = 100;

/// One node of a ladder and its way outward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CauerStage {
    /// Resistance to the next node, from the last to ambient \[K/W\].
    pub resistance: KelvinsPerWatt,
    /// Heat capacity of the node \[J/K\].
    pub capacity: JoulesPerKelvin,
}

/// A ladder of nodes, from the junction to ambient.
#[derive(Debug, Clone, PartialEq)]
pub struct CauerLadder {
    stages: Vec<CauerStage>,
}

/// One exponential of a step response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FosterTerm {
    /// What it adds in the end \[K/W\]; may be negative between different blocks.
    pub resistance: KelvinsPerWatt,
    /// Time constant \[s\].
    pub time: Seconds,
}

/// A step response as a sum of exponentials.
#[derive(Debug, Clone, PartialEq)]
pub struct FosterForm {
    terms: Vec<FosterTerm>,
}

impl CauerLadder {
    /// A ladder of stages, the junction first.
    ///
    /// # Errors
    ///
    /// No stage at all or more than a hundred, a resistance or capacity that is not finite and above zero.
    pub fn new(stages: Vec<CauerStage>) -> Result<Self, LawError> {
        if stages.is_empty() {
            return Err(LawError::Empty("stage of a thermal ladder"));
        }
        if stages.len() > MOST_STAGES {
            let (what, count) = ("stages of a thermal ladder", stages.len());
            return Err(LawError::TooMany { what, count, limit: MOST_STAGES });
        }
        for (index, stage) in stages.iter().enumerate() {
            positive("thermal resistance", index + 1, stage.resistance.0)?;
            positive("heat capacity", index + 1, stage.capacity.0)?;
        }
        Ok(Self { stages })
    }

    /// The stages, the junction first.
    pub fn stages(&self) -> &[CauerStage] {
        &self.stages
    }

    /// Resistance from the junction to ambient.
    pub fn total_resistance(&self) -> KelvinsPerWatt {
        self.stages.iter().map(|stage| stage.resistance).sum()
    }

    /// Rise of the junction over ambient at a steady power.
    pub fn steady_rise(&self, power: Watts) -> Kelvins {
        self.total_resistance() * power
    }

    /// Rise of the junction per watt, `time` after a step from rest.
    ///
    /// # Errors
    ///
    /// As [`Self::to_foster`], which pays off for more than one time.
    pub fn step_response(&self, time: Seconds) -> Result<KelvinsPerWatt, LawError> {
        Ok(self.to_foster()?.step_response(time))
    }

    /// The same step response as a sum of exponentials, the slowest first.
    ///
    /// # Errors
    ///
    /// [`LawError::Unresolved`] when values lie so far apart that a rate does not come out as a
    /// positive number, or the parts do not add up to the total resistance within 1e-6.
    pub fn to_foster(&self) -> Result<FosterForm, LawError> {
        let symmetric = self.symmetric_rates();
        // Rates beyond the range of doubles would keep the iteration from ending.
        if !symmetric.iter().all(|entry| entry.is_finite()) {
            return Err(LawError::Unresolved);
        }
        let limit = self.stages.len().saturating_mul(100);
        let modes =
            SymmetricEigen::try_new(symmetric, f64::EPSILON, limit).ok_or(LawError::Unresolved)?;
        let first_capacity = self.stages.first().map_or(f64::NAN, |stage| stage.capacity.0);
        let shapes = modes.eigenvectors.row(0);
        let mut terms: Vec<FosterTerm> = modes
            .eigenvalues
            .iter()
            .zip(shapes.iter())
            .map(|(rate, shape)| FosterTerm {
                resistance: KelvinsPerWatt(shape * shape / (first_capacity * rate)),
                time: Seconds(1.0 / rate),
            })
            .collect();
        terms.sort_by(|a, b| b.time.0.total_cmp(&a.time.0));
        let foster = FosterForm::new(terms).map_err(|_| LawError::Unresolved)?;
        let share = foster.total_resistance() / self.total_resistance();
        if (share - 1.0).abs() < 1e-6 { Ok(foster) } else { Err(LawError::Unresolved) }
    }

    /// `C^(-1/2) G C^(-1/2)` \[1/s\].
    fn symmetric_rates(&self) -> DMatrix<f64> {
        let stages = &self.stages;
        DMatrix::from_fn(stages.len(), stages.len(), |row, column| {
            let (Some(one), Some(other)) = (stages.get(row), stages.get(column)) else {
                return 0.0;
            };
            let scale = one.capacity.0.sqrt() * other.capacity.0.sqrt();
            let inward = |node: usize| {
                let stage = node.checked_sub(1).and_then(|before| stages.get(before));
                stage.map_or(0.0, |stage| 1.0 / stage.resistance.0)
            };
            match row.abs_diff(column) {
                0 => (1.0 / one.resistance.0 + inward(row)) / scale,
                1 => -inward(row.max(column)) / scale,
                _ => 0.0,
            }
        })
    }
}

impl FosterForm {
    /// A sum of exponentials.
    ///
    /// # Errors
    ///
    /// No term at all, a resistance that is not finite, a time constant that is not finite and above
    /// zero.
    pub fn new(terms: Vec<FosterTerm>) -> Result<Self, LawError> {
        if terms.is_empty() {
            return Err(LawError::Empty("term of a thermal response"));
        }
        for (index, term) in terms.iter().enumerate() {
            let (entry, value) = (index + 1, term.resistance.0);
            if !value.is_finite() {
                let (what, range) = ("thermal resistance", "finite");
                return Err(LawError::OutOfRange { what, entry, value, range });
            }
            positive("time constant", entry, term.time.0)?;
        }
        Ok(Self { terms })
    }

    /// The terms as given.
    pub fn terms(&self) -> &[FosterTerm] {
        &self.terms
    }

    /// Rise per watt in the end.
    pub fn total_resistance(&self) -> KelvinsPerWatt {
        self.terms.iter().map(|term| term.resistance).sum()
    }

    /// Rise over ambient at a steady power.
    pub fn steady_rise(&self, power: Watts) -> Kelvins {
        self.total_resistance() * power
    }

    /// Rise per watt, `time` after a step from rest.
    pub fn step_response(&self, time: Seconds) -> KelvinsPerWatt {
        self.terms.iter().map(|term| term.resistance * -(-(time / term.time)).exp_m1()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ladder(stages: &[(f64, f64)]) -> Result<CauerLadder, LawError> {
        let stage = |(resistance, capacity): &(f64, f64)| CauerStage {
            resistance: KelvinsPerWatt(*resistance),
            capacity: JoulesPerKelvin(*capacity),
        };
        CauerLadder::new(stages.iter().map(stage).collect())
    }

    #[test]
    fn one_node_is_one_exponential() {
        let node = ladder(&[(45.0, 0.02)]).unwrap();
        let foster = node.to_foster().unwrap();
        let [term] = foster.terms() else { panic!("{foster:?}") };
        assert!((term.time.0 - 0.9).abs() < 1e-12 && (term.resistance.0 - 45.0).abs() < 1e-12);
        let half = node.step_response(Seconds(0.9 * 2f64.ln())).unwrap();
        assert!((half.0 - 22.5).abs() < 1e-12);
        assert!((node.steady_rise(Watts(0.1)).0 - 4.5).abs() < 1e-12);
    }

    #[test]
    fn two_equal_nodes_split_by_the_golden_section() {
        // S = [[1, -1], [-1, 2]]: rates (3 -+ sqrt 5) / 2, total 2.
        let foster = ladder(&[(1.0, 1.0), (1.0, 1.0)]).unwrap().to_foster().unwrap();
        let slow = (3.0 - 5f64.sqrt()) / 2.0;
        assert!((foster.terms()[0].time.0 - 1.0 / slow).abs() < 1e-12);
        assert!((foster.terms()[1].time.0 - slow).abs() < 1e-12);
        assert!((foster.total_resistance().0 - 2.0).abs() < 1e-12);
    }

    #[test]
    fn at_first_only_the_junction_warms() {
        let chain = ladder(&[(1.2, 0.015), (4.0, 0.9), (9.0, 22.0)]).unwrap();
        let rise = chain.step_response(Seconds(1e-7)).unwrap();
        assert!((rise.0 / (1e-7 / 0.015) - 1.0).abs() < 1e-5, "{rise}");
        assert_eq!(chain.step_response(Seconds(0.0)).unwrap(), KelvinsPerWatt::ZERO);
    }

    #[test]
    fn what_makes_no_network_is_refused() {
        assert_eq!(ladder(&[]), Err(LawError::Empty("stage of a thermal ladder")));
        assert!(FosterForm::new(Vec::new()).is_err());
        assert!(matches!(ladder(&[(1.0, 1.0); 101]), Err(LawError::TooMany { count: 101, .. })));
        assert!(ladder(&[(1.0, 1.0); 100]).unwrap().to_foster().is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(ladder(&[(bad, 1.0)]).is_err() && ladder(&[(1.0, bad)]).is_err(), "{bad}");
        }
        let apart = ladder(&[(1e-300, 1e-300), (1.0, 1.0)]).unwrap();
        assert_eq!(apart.to_foster(), Err(LawError::Unresolved));
    }

    proptest! {
        #[test]
        fn the_parts_add_up_and_the_response_only_rises(
            stages in prop::collection::vec((0.1f64..20.0, 0.01f64..30.0), 1..6),
        ) {
            let chain = ladder(&stages).unwrap();
            let foster = chain.to_foster().unwrap();
            let total = chain.total_resistance().0;
            prop_assert!((foster.total_resistance().0 / total - 1.0).abs() < 1e-9);
            let mut before = KelvinsPerWatt::ZERO;
            for exponent in -5..=8 {
                let now = foster.step_response(Seconds(10f64.powi(exponent)));
                prop_assert!(now.0 >= before.0 * (1.0 - 1e-12) && now.0 <= total * (1.0 + 1e-9));
                before = now;
            }
        }
    }
}
