//! Step responses between several blocks, as fits and finite-element tools give them.
//!
//! `Z_ij(t) = sum_k R_k,ij (1 - exp(-t / tau_k))`
//!
//! Symbols: `Z_ij` \[K/W\] rise of block `i` per watt in block `j`, `tau_k` \[s\] time constants that all of
//! them share, `R_k` \[K/W\] a symmetric matrix for each. With `R_k = sum_m r_m v_m v_m^T`, its eigenvalues
//! and vectors, each `m` is a mode of rate `1 / tau_k` that is seen at the blocks by `sqrt(r_m / tau_k) v_m`
//! (Gilbert's realisation of a matrix of partial fractions, SIAM J. Control 1, 1963). A passive network
//! has no negative `r_m`; responses across blocks may have parts below zero. Neglected: what a fit with
//! time constants in common leaves over.

use super::law_error::{LawError, positive};
use super::thermal_modes::ThermalModes;
use super::thermal_network::FosterForm;
use crate::units::{KelvinsPerWatt, Seconds};
use nalgebra::{DMatrix, SymmetricEigen};

/// Parts below this share of the largest are rounding of the fit.
const ROUNDING: f64 = 1e-9;

/// The responses that decay with one time constant.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTerm {
    /// The time constant \[s\].
    pub time: Seconds,
    /// A row a block \[K/W\], symmetric.
    pub resistances: Vec<Vec<KelvinsPerWatt>>,
}

/// Step responses between blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct ThermalResponses {
    blocks: usize,
    terms: Vec<ResponseTerm>,
}

impl ThermalResponses {
    /// Responses between a number of blocks.
    ///
    /// # Errors
    ///
    /// No block or no term, more than a hundred of either, a time constant that is not above zero, a
    /// matrix that is not square over the blocks, not finite or not symmetric.
    pub fn new(blocks: usize, terms: Vec<ResponseTerm>) -> Result<Self, LawError> {
        if blocks == 0 || terms.is_empty() {
            return Err(LawError::Empty("block and time constant of thermal responses"));
        }
        for (what, count) in
            [("blocks of thermal responses", blocks), ("time constants", terms.len())]
        {
            if count > super::thermal_nodes::MOST_NODES {
                let limit = super::thermal_nodes::MOST_NODES;
                return Err(LawError::TooMany { what, count, limit });
            }
        }
        for (k, term) in terms.iter().enumerate() {
            positive("time constant", k + 1, term.time.0)?;
            let square = term.resistances.len() == blocks
                && term.resistances.iter().all(|row| row.len() == blocks);
            let number = |i: usize, j: usize| Some(term.resistances.get(i)?.get(j)?.0);
            let sound = |i: usize, j: usize| {
                number(i, j).is_some_and(f64::is_finite) && number(i, j) == number(j, i)
            };
            if !square || !(0..blocks).all(|i| (0..blocks).all(|j| sound(i, j))) {
                let (what, range) = ("the matrix of resistances", "finite, square and symmetric");
                let (entry, value) = (k + 1, term.resistances.len() as f64);
                return Err(LawError::OutOfRange { what, entry, value, range });
            }
        }
        Ok(Self { blocks, terms })
    }

    /// The response of one junction.
    ///
    /// # Errors
    ///
    /// None that the form itself has not had.
    pub fn of_foster(form: &FosterForm) -> Result<Self, LawError> {
        let terms = form
            .terms()
            .iter()
            .map(|term| ResponseTerm { time: term.time, resistances: vec![vec![term.resistance]] });
        Self::new(1, terms.collect())
    }

    /// The modes, at most as many as there are blocks for each time constant.
    ///
    /// # Errors
    ///
    /// [`LawError::NotPassive`] where a matrix has a negative eigenvalue; [`LawError::Unresolved`] where
    /// numbers leave the range of doubles.
    pub(super) fn modes(&self) -> Result<ThermalModes, LawError> {
        let (mut rates, mut by_mode) = (Vec::new(), Vec::new());
        let (mut times, blocks) = (self.terms.iter(), self.blocks);
        for (k, matrix) in self.matrices().enumerate() {
            let Some(time) = times.next().map(|term| term.time.0) else { break };
            let limit = blocks.saturating_mul(100);
            let found =
                SymmetricEigen::try_new(matrix, f64::EPSILON, limit).ok_or(LawError::Unresolved)?;
            let largest = found.eigenvalues.amax();
            for (value, vector) in found.eigenvalues.iter().zip(found.eigenvectors.column_iter()) {
                if *value < -ROUNDING * largest {
                    return Err(LawError::NotPassive { entry: k + 1 });
                }
                if *value > 0.0 {
                    let size = (value / time).sqrt();
                    rates.push(1.0 / time);
                    by_mode.extend(vector.iter().map(|entry| size * entry));
                }
            }
        }
        let finite = rates.iter().chain(&by_mode).all(|number| number.is_finite());
        if !finite || rates.is_empty() {
            return Err(LawError::Unresolved);
        }
        Ok(ThermalModes::of_rows(blocks, rates, by_mode))
    }

    fn matrices(&self) -> impl Iterator<Item = DMatrix<f64>> {
        self.terms.iter().map(|term| {
            let numbers = term.resistances.iter().flatten().map(|resistance| resistance.0);
            DMatrix::from_iterator(self.blocks, self.blocks, numbers)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Watts;

    fn term(time: f64, own: f64, across: f64, other: f64) -> ResponseTerm {
        let row = |a: f64, b: f64| vec![KelvinsPerWatt(a), KelvinsPerWatt(b)];
        ResponseTerm {
            time: Seconds(time),
            resistances: vec![row(own, across), row(across, other)],
        }
    }

    #[test]
    fn blocks_answer_as_the_terms_say() {
        let terms = vec![term(0.01, 0.5, -0.02, 0.3), term(20.0, 2.0, 1.9, 2.1)];
        let responses = ThermalResponses::new(2, terms).unwrap();
        let modes = ThermalModes::of_responses(&responses).unwrap();
        let part = |time: f64, tau: f64| -(-time / tau).exp_m1();
        for time in [0.003, 0.2, 50.0] {
            let known = |fast: f64, slow: f64| fast * part(time, 0.01) + slow * part(time, 20.0);
            let found = |i, j| modes.step_response(i, j, Seconds(time)).0;
            assert!((found(0, 0) - known(0.5, 2.0)).abs() < 1e-13);
            assert!((found(0, 1) - known(-0.02, 1.9)).abs() < 1e-13);
            assert!((found(1, 1) - known(0.3, 2.1)).abs() < 1e-13);
        }
        let mut state = modes.at_rest();
        modes.advance(&mut state, &[Watts(1.0), Watts(2.0)], Seconds(1e6));
        assert!((modes.rise(&state, 0).0 - (2.5 + 2.0 * 1.88)).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_passive_network_is_refused() {
        let made = |term| ThermalResponses::new(2, vec![term]);
        let active = made(term(1.0, 0.5, 0.9, 0.5)).unwrap();
        assert_eq!(ThermalModes::of_responses(&active), Err(LawError::NotPassive { entry: 1 }));
        assert!(made(term(0.0, 1.0, 0.0, 1.0)).is_err());
        assert!(made(term(1.0, f64::NAN, 0.0, 1.0)).is_err());
        let mut lopsided = term(1.0, 1.0, 0.1, 1.0);
        lopsided.resistances[0][1] = KelvinsPerWatt(0.2);
        assert!(made(lopsided).is_err());
        assert!(ThermalResponses::new(3, vec![term(1.0, 1.0, 0.1, 1.0)]).is_err());
        assert!(ThermalResponses::new(0, Vec::new()).is_err());
    }
}
