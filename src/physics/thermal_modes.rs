//! A thermal network of several heated places, stepped exactly by its modes.
//!
//! `z' = -lambda z + U P`, `T - T_a = U^T z`
//!
//! Symbols: `z` \[sqrt(J K)\] the state, a number a mode, `lambda` \[1/s\] the rates of decay, `P` \[W\] heat put into
//! each place, `T - T_a` \[K\] the rise of each place over ambient, `U` how much each mode is seen at each
//! place. A network of nodes (`C T' = -G (T - T_a) + P`) has
//! `C^(-1/2) G C^(-1/2) = Q diag(lambda) Q^T` and `U = Q^T C^(-1/2)`; responses fitted as sums of
//! exponentials have `R_k = U_k^T U_k / lambda_k` for each time constant. At constant power over `h`
//! `z(h) = z_inf + (z - z_inf) exp(-lambda h)`, `z_inf = U P / lambda`, exact for any `h`, and the mean over `h`
//! is `z_inf + (z - z_inf) (1 - exp(-lambda h)) / (lambda h)`. The same `U` takes heat in and gives
//! temperatures out: a network of resistances is reciprocal. Valid for a linear network. Neglected:
//! conductivity that changes with temperature, radiation, moving air.

use super::LawError;
use super::dense::{add_rows, combine, dot, transposed};
use super::exponential_sum::{Part, first_reached};
use super::phi_functions::phi_one;
use super::thermal_network::{CauerLadder, FosterForm};
use super::thermal_nodes::ThermalNodes;
use super::thermal_responses::ThermalResponses;
use crate::units::{Kelvins, KelvinsPerWatt, Seconds, Watts};
use serde::{Deserialize, Serialize};

/// A thermal network by its modes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThermalModes {
    places: usize,
    rates: Vec<f64>,
    /// `U`, its rows those of the modes.
    by_mode: Vec<f64>,
    /// The same, its rows those of the places.
    by_place: Vec<f64>,
}

/// What a thermal network holds at an instant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ThermalState {
    /// A number a mode \[sqrt(J K)\].
    pub(super) modes: Vec<f64>,
}

/// Which side a temperature comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Crossing {
    /// From below: it is reached when the temperature is not below the threshold.
    Upward,
    /// From above: it is reached when the temperature is not above the threshold.
    Downward,
}

impl ThermalModes {
    /// Modes from their rates and the rows of `U`.
    pub(super) fn of_rows(places: usize, rates: Vec<f64>, by_mode: Vec<f64>) -> Self {
        let by_place = transposed(&by_mode, places);
        Self { places, rates, by_mode, by_place }
    }

    /// The modes of a network of nodes.
    ///
    /// # Errors
    ///
    /// [`LawError::Unresolved`] when values lie too far apart for double precision.
    pub fn of_nodes(nodes: &ThermalNodes) -> Result<Self, LawError> {
        nodes.modes()
    }

    /// The modes of a ladder; its places are its stages, the junction first.
    ///
    /// # Errors
    ///
    /// As [`Self::of_nodes`].
    pub fn of_ladder(ladder: &CauerLadder) -> Result<Self, LawError> {
        ThermalNodes::of_ladder(ladder)?.modes()
    }

    /// The modes of a step response; its only place is the junction.
    ///
    /// # Errors
    ///
    /// [`LawError::NotPassive`] for a negative resistance.
    pub fn of_foster(form: &FosterForm) -> Result<Self, LawError> {
        Self::of_responses(&ThermalResponses::of_foster(form)?)
    }

    /// The modes of responses between several blocks.
    ///
    /// # Errors
    ///
    /// The responses are those of no network of resistances and capacities.
    pub fn of_responses(responses: &ThermalResponses) -> Result<Self, LawError> {
        responses.modes()
    }

    /// How many places there are that take heat and have a temperature.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The rates of decay \[1/s\], a number a mode.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    pub(super) fn by_mode(&self) -> &[f64] {
        &self.by_mode
    }

    /// How much each mode is seen at a place.
    pub(super) fn shape(&self, place: usize) -> &[f64] {
        let count = self.rates.len();
        self.by_place.get(place * count..(place + 1) * count).unwrap_or(&[])
    }

    /// Everything at the temperature of the air.
    pub fn at_rest(&self) -> ThermalState {
        ThermalState { modes: vec![0.0; self.rates.len()] }
    }

    /// The state that a constant power ends in.
    pub fn settled(&self, power: &[Watts]) -> ThermalState {
        let steady = |(k, rate): (usize, &f64)| self.input(k, power) / rate;
        ThermalState { modes: self.rates.iter().enumerate().map(steady).collect() }
    }

    /// Rise of one place per watt in another, in the end; zero for a place that there is not.
    pub fn steady_resistance(&self, heated: usize, seen: usize) -> KelvinsPerWatt {
        let shapes = self.shape(heated).iter().zip(self.shape(seen));
        KelvinsPerWatt(shapes.zip(&self.rates).map(|((a, b), rate)| a * b / rate).sum())
    }

    /// How fast one place warms per watt in another in the first instant \[K/J\].
    pub fn first_pace(&self, heated: usize, seen: usize) -> f64 {
        dot(self.shape(heated), self.shape(seen))
    }

    /// Rise of one place per watt in another, `time` after a step from rest.
    pub fn step_response(&self, heated: usize, seen: usize, time: Seconds) -> KelvinsPerWatt {
        let shapes = self.shape(heated).iter().zip(self.shape(seen));
        let part = |((a, b), rate): ((&f64, &f64), &f64)| a * b / rate * -(-rate * time.0).exp_m1();
        KelvinsPerWatt(shapes.zip(&self.rates).map(part).sum())
    }

    /// Heat of the places into the modes.
    pub(super) fn drive(&self, power: impl Iterator<Item = f64>, out: &mut [f64]) {
        add_rows(&self.by_place, power, out);
    }

    /// Heat that comes into a mode.
    fn input(&self, mode: usize, power: &[Watts]) -> f64 {
        let row = self.by_mode.get(mode * self.places..).unwrap_or(&[]);
        row.iter().zip(power).map(|(shape, power)| shape * power.0).sum()
    }

    /// Goes on by `duration` at a power into each place; places beyond the list get none.
    pub fn advance(&self, state: &mut ThermalState, power: &[Watts], duration: Seconds) {
        for (k, (z, rate)) in state.modes.iter_mut().zip(&self.rates).enumerate() {
            let steady = self.input(k, power) / rate;
            *z += (steady - *z) * -(-rate * duration.0).exp_m1();
        }
    }

    /// Rise of a place over the air; zero for a place that there is not.
    pub fn rise(&self, state: &ThermalState, place: usize) -> Kelvins {
        Kelvins(dot(self.shape(place), &state.modes))
    }

    /// Rise of every place over the air.
    pub fn rises(&self, state: &ThermalState) -> Vec<Kelvins> {
        let mut rises = vec![0.0; self.places];
        combine(&self.by_mode, &state.modes, &mut rises);
        rises.into_iter().map(Kelvins).collect()
    }

    /// Mean rise of a place over the next `duration` at a power into each place.
    pub fn mean_rise(
        &self,
        state: &ThermalState,
        place: usize,
        power: &[Watts],
        duration: Seconds,
    ) -> Kelvins {
        let modes = self.shape(place).iter().zip(&state.modes).zip(&self.rates).enumerate();
        let mean = |(k, ((shape, z), rate)): (usize, ((&f64, &f64), &f64))| {
            let steady = self.input(k, power) / rate;
            shape * (steady + (z - steady) * phi_one(-rate * duration.0))
        };
        Kelvins(modes.map(mean).sum())
    }

    /// The first time within `horizon` at which a place reaches a rise over the air at a constant
    /// power, zero when it has. Nothing when it does not; a rise that is touched to within rounding and
    /// not passed is not reached.
    pub fn next_crossing(
        &self,
        state: &ThermalState,
        place: usize,
        power: &[Watts],
        threshold: Kelvins,
        from: Crossing,
        horizon: Seconds,
    ) -> Option<Seconds> {
        let sign = from.sign();
        let mut constant = -threshold.0 * sign;
        let mut parts = Vec::with_capacity(self.rates.len());
        let modes = self.shape(place).iter().zip(&state.modes).zip(&self.rates);
        for (k, ((shape, z), &rate)) in modes.enumerate() {
            let steady = self.input(k, power) / rate;
            constant += sign * shape * steady;
            parts.push(Part { amplitude: sign * shape * (z - steady), rate });
        }
        first_reached(constant, &parts, horizon.0).map(Seconds)
    }
}

impl Crossing {
    /// One upward, minus one downward.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Upward => 1.0,
            Self::Downward => -1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::thermal_network::CauerStage;
    use super::*;
    use crate::units::JoulesPerKelvin;
    use proptest::prelude::*;

    fn ladder(stages: &[(f64, f64)]) -> ThermalModes {
        let stage = |(resistance, capacity): &(f64, f64)| CauerStage {
            resistance: KelvinsPerWatt(*resistance),
            capacity: JoulesPerKelvin(*capacity),
        };
        let ladder = CauerLadder::new(stages.iter().map(stage).collect()).unwrap();
        ThermalModes::of_ladder(&ladder).unwrap()
    }

    fn phone() -> ThermalModes {
        ladder(&[(1.2, 0.015), (4.0, 0.9), (9.0, 22.0)])
    }

    #[test]
    fn a_step_from_rest_is_the_response_of_the_ladder() {
        let modes = phone();
        for time in [1e-4, 0.02, 3.0, 500.0] {
            let mut state = modes.at_rest();
            modes.advance(&mut state, &[Watts(2.0)], Seconds(time));
            let response = modes.step_response(0, 0, Seconds(time)).0;
            assert!((modes.rise(&state, 0).0 - 2.0 * response).abs() < 1e-12);
        }
        let settled = modes.settled(&[Watts(2.0)]);
        assert!((modes.rise(&settled, 0).0 - 28.4).abs() < 1e-12);
        assert!((modes.rise(&settled, 2).0 - 18.0).abs() < 1e-12);
        assert_eq!(modes.rise(&settled, 3), Kelvins(0.0), "there is no fourth place");
    }

    #[test]
    fn the_ladder_and_its_foster_form_have_one_junction() {
        let stages = [(1.2, 0.015), (4.0, 0.9), (9.0, 22.0)].map(|(r, c)| CauerStage {
            resistance: KelvinsPerWatt(r),
            capacity: JoulesPerKelvin(c),
        });
        let chain = CauerLadder::new(stages.to_vec()).unwrap();
        let foster = ThermalModes::of_foster(&chain.to_foster().unwrap()).unwrap();
        let (mut one, mut other) = (phone().at_rest(), foster.at_rest());
        for (power, time) in [(3.0, 0.01), (0.2, 1.0), (5.0, 40.0), (0.0, 7.0)] {
            phone().advance(&mut one, &[Watts(power)], Seconds(time));
            foster.advance(&mut other, &[Watts(power)], Seconds(time));
            let apart = phone().rise(&one, 0).0 - foster.rise(&other, 0).0;
            assert!(apart.abs() < 1e-10, "{apart}");
        }
    }

    #[test]
    fn a_die_that_cools_into_its_package_crosses_once_upward_and_once_downward() {
        // A burst warms the die; behind it the package comes up while the die goes down.
        let modes = phone();
        let mut state = modes.at_rest();
        modes.advance(&mut state, &[Watts(30.0)], Seconds(0.05));
        let (rise, idle) = (modes.rise(&state, 1), [Watts(0.0)]);
        let found = modes
            .next_crossing(&state, 1, &idle, rise + Kelvins(0.3), Crossing::Upward, Seconds(1e4))
            .unwrap();
        let mut later = state.clone();
        modes.advance(&mut later, &idle, found);
        assert!((modes.rise(&later, 1).0 - rise.0 - 0.3).abs() < 1e-11);
        let down = modes
            .next_crossing(&later, 1, &idle, Kelvins(0.1), Crossing::Downward, Seconds(1e4))
            .unwrap();
        modes.advance(&mut later, &idle, down);
        assert!((modes.rise(&later, 1).0 - 0.1).abs() < 1e-11);
        let never = modes.next_crossing(
            &state,
            1,
            &idle,
            rise + Kelvins(3.0),
            Crossing::Upward,
            Seconds(1e4),
        );
        assert_eq!(never, None);
    }

    #[test]
    fn the_mean_over_a_segment_is_what_heat_leaves_by() {
        // All heat leaves by the last resistance: its mean times the time is heat in less heat stored.
        let modes = phone();
        let mut state = modes.at_rest();
        modes.advance(&mut state, &[Watts(4.0)], Seconds(3.0));
        let stored = |s: &ThermalState| {
            [0.015, 0.9, 22.0].iter().enumerate().map(|(i, c)| c * modes.rise(s, i).0).sum::<f64>()
        };
        let (power, time) = ([Watts(1.5), Watts(0.0), Watts(0.25)], Seconds(17.0));
        let mean = modes.mean_rise(&state, 2, &power, time);
        let before = stored(&state);
        modes.advance(&mut state, &power, time);
        let left = 1.75 * time.0 - (stored(&state) - before);
        assert!((mean.0 / 9.0 * time.0 - left).abs() < 1e-11, "{left}");
    }

    proptest! {
        #[test]
        fn a_segment_cut_in_two_ends_where_it_did(
            stages in prop::collection::vec((0.1f64..20.0, 0.01f64..30.0), 1..6),
            power in prop::collection::vec(-1f64..5.0, 6),
            first in 1e-5f64..50.0,
            share in 0f64..1.0,
        ) {
            let modes = ladder(&stages);
            let power: Vec<_> = power.into_iter().map(Watts).collect();
            let mut whole = modes.at_rest();
            modes.advance(&mut whole, &power[..1], Seconds(first));
            let mut cut = whole.clone();
            modes.advance(&mut whole, &power, Seconds(first));
            modes.advance(&mut cut, &power, Seconds(first * share));
            modes.advance(&mut cut, &power, Seconds(first * (1.0 - share)));
            for (one, other) in modes.rises(&whole).iter().zip(modes.rises(&cut)) {
                prop_assert!((one.0 - other.0).abs() <= 1e-12 * (1.0 + one.0.abs()));
            }
        }

        #[test]
        fn what_is_written_down_goes_on_with_the_same_bits(power in 0f64..9.0, time in 1e-6f64..9.0) {
            let modes = phone();
            let mut state = modes.at_rest();
            modes.advance(&mut state, &[Watts(power)], Seconds(time));
            let text = serde_json::to_string(&state).unwrap();
            let again: ThermalState = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again, state);
        }
    }
}
