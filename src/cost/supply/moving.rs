//! Rails whose voltage depends on their current, and the step from a rail to what feeds it.

use super::{Feed, SupplyState, SupplyTree};
use crate::physics::series_drop::behind;
use crate::units::{Amperes, Ohms, Volts, Watts};

/// Most steps to a voltage that the currents agree with. Two are enough where loads draw constant power
/// or constant current; a table over input voltages, or one regulator in dropout behind another, take more.
const STEPS: usize = 60;

/// Steps below this are rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl SupplyTree {
    /// Input current and loss of a regulator at an input voltage, its output settled first where it can
    /// follow the input. Returns the part of the current that is the same at any input voltage.
    pub(super) fn convert(
        &self,
        regulator: usize,
        input: Volts,
        power: &[Watts],
        state: &mut SupplyState,
    ) -> Amperes {
        let node = &self.regulators[regulator];
        let held = if self.rails[node.output].moves {
            self.follow(regulator, input, power, state)
        } else {
            self.choose_mode(regulator, state.rail_current[node.output], state);
            true
        };
        let (output, load) = (state.rail_voltage[node.output], state.rail_current[node.output]);
        let Some(mode) = node.modes.get(state.regulator_mode[regulator]) else {
            return Amperes::ZERO;
        };
        let own = mode.law.input_current(input, output, load);
        let wake = state.wake_power[regulator];
        let current = if wake.0 == 0.0 { own } else { own + wake / input };
        state.regulator_current[regulator] = current;
        state.regulator_loss[regulator] = input * current - output * load;
        if held { mode.law.constant_part(own) } else { Amperes::ZERO }
    }

    fn choose_mode(&self, regulator: usize, load: Amperes, state: &mut SupplyState) {
        let node = &self.regulators[regulator];
        if node.modes.len() > 1 {
            let full = node.modes.len() - 1;
            let present = state.regulator_mode[regulator];
            state.regulator_mode[regulator] = match state.held_mode[regulator] {
                Some(held) => held.min(full),
                None => node.mode_at(load, present),
            };
        }
    }

    /// Settles the output of a regulator that may follow its input. The mode goes by the load at the
    /// voltage that the output is set to. False where the output follows.
    fn follow(
        &self,
        regulator: usize,
        input: Volts,
        power: &[Watts],
        state: &mut SupplyState,
    ) -> bool {
        let node = &self.regulators[regulator];
        let (rail, set) = (node.output, state.set[node.output]);
        let (load, _) = self.draw_from(rail, set, power, state);
        self.choose_mode(regulator, load, state);
        let mode = node.modes.get(state.regulator_mode[regulator]);
        let held = match mode.and_then(|mode| mode.law.series()) {
            None => true,
            Some((resistance, regulates)) => regulates && input - resistance * load >= set,
        };
        match mode.and_then(|mode| mode.law.series()) {
            Some((resistance, _)) if !held => self.settle(rail, input, resistance, power, state),
            _ => state.rail_collapsed[rail] = false,
        }
        held
    }

    /// Finds the voltage of a rail behind a resistance. Loads of constant power and of constant current
    /// are told apart, for which the law is exact; what else there is is taken for constant power and the
    /// law applied until the voltage stays.
    fn settle(
        &self,
        rail: usize,
        source: Volts,
        resistance: Ohms,
        power: &[Watts],
        state: &mut SupplyState,
    ) {
        let mut voltage = source;
        state.rail_collapsed[rail] = false;
        for _ in 0..STEPS {
            let (current, constant) = self.draw_from(rail, voltage, power, state);
            if resistance.0 <= 0.0 {
                return;
            }
            let asked = voltage * (current - constant);
            let Some(next) = behind(source, resistance, asked, constant) else {
                // The most that passes, at half the voltage.
                voltage = source * 0.5;
                self.draw_from(rail, voltage, power, state);
                state.rail_current[rail] = voltage / resistance;
                state.rail_collapsed[rail] = true;
                return;
            };
            if (next.0 - voltage.0).abs() <= ROUNDING * voltage.0 {
                return;
            }
            voltage = next;
        }
        self.draw_from(rail, voltage, power, state);
    }

    /// The rail of a source, and what the source gives.
    pub(super) fn feed(&self, source: usize, power: &[Watts], state: &mut SupplyState) {
        let own = &self.sources[source];
        if !own.drains {
            state.sources[source].open_circuit = own.open_circuit;
        }
        let open_circuit = state.sources[source].open_circuit;
        if own.follows {
            self.settle(own.rail, open_circuit, own.resistance, power, state);
        } else {
            self.draw_from(own.rail, state.set[own.rail], power, state);
        }
        let (voltage, current) = (state.rail_voltage[own.rail], state.rail_current[own.rail]);
        let at = &mut state.sources[source];
        at.voltage = voltage;
        at.current = current;
        at.power = voltage * current;
        at.inside = own.resistance * current * current;
    }

    /// Current through the grid of a domain at the voltage of its rail.
    pub(super) fn pass_grid(
        &self,
        grid: usize,
        voltage: Volts,
        load: Watts,
        state: &mut SupplyState,
    ) -> Amperes {
        let own = &self.grids[grid];
        let behind = behind(voltage, own.resistance, load, Amperes::ZERO);
        state.grid_collapsed[grid] = behind.is_none();
        let (at, current) = match behind {
            Some(at) => (at, load / at),
            None => (voltage * 0.5, voltage * 0.5 / own.resistance),
        };
        state.grid_voltage[grid] = at;
        state.grid_loss[own.domain] = own.resistance * current * current;
        current
    }

    /// True for a rail that a regulator feeds whose output follows its input at present.
    pub fn follows_input(&self, rail: usize, state: &SupplyState) -> bool {
        let Some(node) = self.rails.get(rail) else { return false };
        let regulated = matches!(node.feed, Feed::Regulator(_));
        let set = state.set.get(rail).copied().unwrap_or(node.set);
        regulated && state.rail_voltage.get(rail).is_some_and(|voltage| *voltage < set)
    }
}
