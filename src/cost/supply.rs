//! The rail tree at one instant: from what loads draw to what sources give.
//!
//! A [`SupplyTree`] is made once for a profile at an operating point and solved at every change of
//! power. Loads draw at *taps*: one for each rail, by the rail's index, and behind those one for each
//! domain that has a power grid of its own (`ir_drop`). [`crate::hardware::Links`] says at which tap a
//! domain draws.
//!
//! Loads draw constant power, worked out at the voltage that the operating point gives their rail. Where
//! a rail stands elsewhere (behind a battery that sags, a load switch, a linear regulator in dropout),
//! they draw more current there and the same power.

mod compile;
mod evidence;
mod law;
mod mode;
mod moving;
mod state;
#[cfg(test)]
mod tests;

pub use evidence::{evidence_at_sources, grid_kind};
pub use mode::ModeChange;
pub use state::{Changed, SourceState, SupplyState};

use super::Setting;
use crate::units::{Amperes, Ohms, Volts, Watts};
use law::Law;
use mode::Mode;

/// The rail tree of a profile at an operating point, with its laws made once.
#[derive(Debug, Clone)]
pub struct SupplyTree {
    rails: Vec<RailNode>,
    /// Every regulator of the profile; those that are not in use feed nothing.
    regulators: Vec<RegulatorNode>,
    grids: Vec<Grid>,
    sources: Vec<Source>,
    /// Rails so that each stands behind those that draw from it.
    order: Vec<usize>,
    /// Place of each rail in that order.
    rank: Vec<usize>,
    /// Rail of each tap.
    taps: Vec<usize>,
    /// Regulators that are not in use.
    idle: Vec<usize>,
    domains: usize,
}

#[derive(Debug, Clone)]
struct RailNode {
    /// Voltage of the operating point.
    set: Volts,
    feed: Feed,
    /// Regulators that draw from it.
    children: Vec<usize>,
    /// Grids that draw from it.
    grids: Vec<usize>,
    /// True where its voltage depends on its current.
    moves: bool,
    /// Where it moves, the rail nearest to the source that moves with it; itself otherwise.
    root: usize,
}

#[derive(Debug, Clone, Copy)]
enum Feed {
    Regulator(usize),
    Source(usize),
}

#[derive(Debug, Clone)]
struct RegulatorNode {
    input: usize,
    output: usize,
    /// The lightest mode first; full load last.
    modes: Vec<Mode>,
}

/// The power grid of a domain.
#[derive(Debug, Clone, Copy)]
struct Grid {
    domain: usize,
    tap: usize,
    resistance: Ohms,
}

/// What feeds a rail that no regulator feeds.
#[derive(Debug, Clone)]
struct Source {
    rail: usize,
    /// The supply of the profile; none for an ideal one that is not named.
    supply: Option<usize>,
    resistance: Ohms,
    follows: bool,
    /// Voltage without load, or that at first where what it holds moves it.
    open_circuit: Volts,
    /// True for a battery with a curve and for a storage.
    drains: bool,
    /// Open-circuit voltage over the share of charge, rising in the share.
    curve: Vec<(f64, f64)>,
}

impl SupplyTree {
    /// The tree of a profile at an operating point.
    pub fn new(setting: Setting<'_>) -> Self {
        compile::tree(setting)
    }

    /// Number of taps that loads draw at: [`SupplyTree::solve`] takes a power for each.
    pub fn taps(&self) -> usize {
        self.taps.len()
    }

    /// The rail of a tap.
    pub fn rail_of(&self, tap: usize) -> Option<usize> {
        self.taps.get(tap).copied()
    }

    /// True where some rail or grid may be unable to give what is asked.
    pub fn may_collapse(&self) -> bool {
        self.rails.iter().any(|rail| rail.moves) || !self.grids.is_empty()
    }

    /// Number of sources.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Rail that a source feeds, and the supply of the profile that it is, if it is named.
    pub fn source(&self, source: usize) -> Option<(usize, Option<usize>)> {
        self.sources.get(source).map(|source| (source.rail, source.supply))
    }

    /// The source that feeds a rail.
    pub fn source_of(&self, rail: usize) -> Option<usize> {
        match self.rails.get(rail)?.feed {
            Feed::Source(source) => Some(source),
            Feed::Regulator(_) => None,
        }
    }

    /// Open-circuit voltage of a source with a share of its charge left, 0 to 1; nothing for one without a
    /// curve. Linear between points, and the nearest beyond them.
    pub fn open_circuit_at(&self, source: usize, charge: f64) -> Option<Volts> {
        interpolated(&self.sources.get(source)?.curve, charge).map(Volts)
    }

    /// What the voltage of a rail stands below that of its source at a current, where the rail's own
    /// voltage does not hold it.
    pub fn unfollowed_sag(&self, rail: usize, current: Amperes) -> Volts {
        match self.rails.get(rail).map(|rail| rail.feed) {
            Some(Feed::Source(source)) => match self.sources.get(source) {
                Some(source) if !source.follows => source.resistance * current,
                _ => Volts::ZERO,
            },
            _ => Volts::ZERO,
        }
    }

    /// The state before anything is drawn, with no mode chosen and sources at first.
    pub fn at_first(&self) -> SupplyState {
        let mut state = SupplyState::default();
        self.prepare(&mut state);
        state
    }

    /// Resistance of a source.
    pub fn source_resistance(&self, source: usize) -> Ohms {
        self.sources.get(source).map_or(Ohms::ZERO, |source| source.resistance)
    }

    /// Charges at which the open-circuit voltage of a source bends, rising.
    pub fn curve_points(&self, source: usize) -> impl DoubleEndedIterator<Item = f64> + '_ {
        let curve = self.sources.get(source).map_or(&[][..], |source| &source.curve);
        curve.iter().map(|(charge, _)| *charge)
    }

    /// True where the voltage of a rail depends on its current.
    pub fn moves(&self, rail: usize) -> bool {
        self.rails.get(rail).is_some_and(|rail| rail.moves)
    }

    /// The rail that a regulator feeds.
    pub fn output_of(&self, regulator: usize) -> Option<usize> {
        self.regulators.get(regulator).map(|regulator| regulator.output)
    }

    /// A rail and all behind it.
    pub fn behind(&self, rail: usize) -> Vec<usize> {
        let mut found = vec![rail];
        let mut next = 0;
        while let Some(node) = found.get(next).and_then(|rail| self.rails.get(*rail)) {
            let outputs = node.children.iter().filter_map(|own| self.output_of(*own));
            let outputs: Vec<usize> = outputs.filter(|rail| !found.contains(rail)).collect();
            found.extend(outputs);
            next += 1;
        }
        found.sort_unstable();
        found
    }

    /// False for a state of another tree, which is made one of this tree.
    fn sized(&self, state: &mut SupplyState) -> bool {
        let sound = state.rail_voltage.len() == self.rails.len()
            && state.set.len() == self.rails.len()
            && state.regulator_mode.len() == self.regulators.len()
            && state.wake_power.len() == self.regulators.len()
            && state.sources.len() == self.sources.len()
            && state.grid_voltage.len() == self.grids.len()
            && state.grid_loss.len() == self.domains;
        if !sound {
            self.prepare(state);
        }
        sound
    }

    /// Makes a state fit the tree, with no mode chosen and sources at first.
    fn prepare(&self, state: &mut SupplyState) {
        let (rails, regulators) = (self.rails.len(), self.regulators.len());
        *state = SupplyState {
            set: self.rails.iter().map(|rail| rail.set).collect(),
            rail_voltage: self.rails.iter().map(|rail| rail.set).collect(),
            rail_current: vec![Amperes::ZERO; rails],
            rail_power: vec![Watts::ZERO; rails],
            rail_collapsed: vec![false; rails],
            regulator_current: vec![Amperes::ZERO; regulators],
            regulator_loss: vec![Watts::ZERO; regulators],
            regulator_mode: self.regulators.iter().map(|r| r.modes.len().max(1) - 1).collect(),
            held_mode: vec![None; regulators],
            wake_power: vec![Watts::ZERO; regulators],
            grid_loss: vec![Watts::ZERO; self.domains],
            grid_voltage: vec![Volts::ZERO; self.grids.len()],
            grid_collapsed: vec![false; self.grids.len()],
            sources: self.sources.iter().map(SourceState::at_first).collect(),
            source_power: Watts::ZERO,
        };
    }

    /// Solves the tree for the power that is drawn at each tap; what is missing at the end is zero. Exact
    /// at one instant: a regulator's loss depends on its current, so a mean power gives the mean loss only
    /// where the loss is linear. Modes of regulators follow from their loads and from the modes that
    /// `state` stands in.
    pub fn solve(&self, power: &[Watts], state: &mut SupplyState) {
        self.sized(state);
        for &regulator in &self.idle {
            state.regulator_current[regulator] = Amperes::ZERO;
            state.regulator_loss[regulator] = Watts::ZERO;
        }
        for &rail in &self.order {
            self.settle_rail(rail, power, state);
        }
        self.total(state);
    }

    /// The same with every regulator in the mode that its load alone asks for, whatever was before.
    pub fn solve_afresh(&self, power: &[Watts], state: &mut SupplyState) {
        self.sized(state);
        for (mode, regulator) in state.regulator_mode.iter_mut().zip(&self.regulators) {
            *mode = regulator.modes.len().max(1) - 1;
        }
        self.solve(power, state);
    }

    /// Solves what depends on the taps that `changed` names, and forgets them there. Every other tap
    /// draws what it drew when `state` was solved last; the result is that of [`SupplyTree::solve`] to
    /// the last bit.
    pub fn solve_from(&self, changed: &mut Changed, power: &[Watts], state: &mut SupplyState) {
        if !self.sized(state) {
            changed.clear();
            return self.solve(power, state);
        }
        let mut waiting = Changed::default();
        changed.drain(|tap| {
            if let Some(rail) = self.taps.get(tap) {
                waiting.mark(self.rank[*rail]);
            }
        });
        let mut given = false;
        while let Some(rank) = waiting.take_first() {
            let Some(&rail) = self.order.get(rank) else { continue };
            match self.settle_rail(rail, power, state) {
                Upstream::Rail(next) => waiting.mark(self.rank[next]),
                Upstream::Source => given = true,
                Upstream::Same => {}
            }
        }
        if given {
            self.total(state);
        }
    }

    /// A rail whose loads are known, with all behind it, and the regulator or source that feeds it.
    fn settle_rail(&self, rail: usize, power: &[Watts], state: &mut SupplyState) -> Upstream {
        let node = &self.rails[rail];
        if node.root != rail {
            return Upstream::Rail(node.root);
        }
        match node.feed {
            Feed::Regulator(regulator) => {
                let input = self.regulators[regulator].input;
                let before = state.regulator_current[regulator];
                if !node.moves {
                    self.draw_from(rail, state.set[rail], power, state);
                }
                if self.rails[input].moves {
                    return Upstream::Rail(self.rails[input].root);
                }
                self.convert(regulator, state.set[input], power, state);
                let same = state.regulator_current[regulator].0.to_bits() == before.0.to_bits();
                if same { Upstream::Same } else { Upstream::Rail(input) }
            }
            Feed::Source(source) => {
                self.feed(source, power, state);
                Upstream::Source
            }
        }
    }

    /// What is drawn from a rail at a voltage: its loads, grids and regulators. Returns the current, and
    /// the part of it that is the same at any voltage.
    fn draw_from(
        &self,
        rail: usize,
        voltage: Volts,
        power: &[Watts],
        state: &mut SupplyState,
    ) -> (Amperes, Amperes) {
        let node = &self.rails[rail];
        let own = power.get(rail).copied().unwrap_or(Watts::ZERO);
        let (mut current, mut constant) = (own / voltage, Amperes::ZERO);
        let mut loads = own;
        for &grid in &node.grids {
            let load = power.get(self.grids[grid].tap).copied().unwrap_or(Watts::ZERO);
            current += self.pass_grid(grid, voltage, load, state);
            loads += load;
        }
        for &regulator in &node.children {
            if node.moves {
                constant += self.convert(regulator, voltage, power, state);
            }
            current += state.regulator_current[regulator];
        }
        state.rail_voltage[rail] = voltage;
        state.rail_current[rail] = current;
        state.rail_power[rail] = loads;
        (current, constant)
    }

    /// What all sources give together.
    fn total(&self, state: &mut SupplyState) {
        state.source_power = state.sources.iter().map(|source| source.power).sum();
    }

    /// True where a rail, or the grid of a domain on it, cannot give what is asked.
    pub fn is_collapsed(&self, rail: usize, state: &SupplyState) -> bool {
        let of = |collapsed: &[bool], at: usize| collapsed.get(at).copied().unwrap_or(false);
        let grids = self.rails.get(rail).map_or(&[][..], |rail| &rail.grids);
        of(&state.rail_collapsed, rail) || grids.iter().any(|g| of(&state.grid_collapsed, *g))
    }

    /// Voltage that a domain stands at, behind its grid.
    pub fn domain_voltage(&self, domain: usize, rail: usize, state: &SupplyState) -> Option<Volts> {
        match self.grids.iter().position(|grid| grid.domain == domain) {
            Some(grid) => state.grid_voltage.get(grid).copied(),
            None => state.rail_voltage.get(rail).copied(),
        }
    }

    /// True for a rail whose regulator can set its voltage: any in use but a switch.
    pub fn can_set(&self, rail: usize) -> bool {
        match self.rails.get(rail).map(|rail| rail.feed) {
            Some(Feed::Regulator(regulator)) => self.regulators.get(regulator).is_some_and(|own| {
                own.modes.last().is_some_and(|mode| !matches!(mode.law, Law::Switch(_)))
            }),
            _ => false,
        }
    }

    /// Rails of a state of another point of the same profile are set as this tree has them from now on. All
    /// taps are to be solved anew.
    pub fn adopt(&self, state: &mut SupplyState) {
        self.sized(state);
        for (set, rail) in state.set.iter_mut().zip(&self.rails) {
            *set = rail.set;
        }
    }

    /// Sets the voltage of a rail from now on, and marks what depends on it as changed: the rail, and
    /// the regulators that draw from it. The next [`SupplyTree::solve_from`] solves both. Loads draw the
    /// power that is handed in there: whoever moves a rail works out anew what they draw. False, and
    /// nothing is changed, for a rail that no regulator sets, or a voltage that is none.
    pub fn set_rail_voltage(
        &self,
        rail: usize,
        voltage: Volts,
        state: &mut SupplyState,
        changed: &mut Changed,
    ) -> bool {
        let sound = voltage.0 > 0.0 && voltage.0.is_finite();
        if !sound || !self.can_set(rail) {
            return false;
        }
        self.sized(state);
        state.set[rail] = voltage;
        // Taps of rails go by the rail's own number.
        changed.mark(rail);
        for &child in &self.rails[rail].children {
            changed.mark(self.regulators[child].output);
        }
        true
    }

    /// What the input of a regulator stands above the least that makes its output at a load; nothing for
    /// one that may step up.
    /// Its output stands at the voltage of the operating point.
    pub fn headroom(&self, regulator: usize, input: Volts, load: Amperes) -> Option<Volts> {
        let node = self.regulators.get(regulator)?;
        let output = self.rails.get(node.output)?.set;
        match &node.modes.last()?.law {
            Law::Linear(law) => Some(law.headroom(input, output, load)),
            Law::Buck(_) => Some(input - output),
            _ => None,
        }
    }
}

/// What a settled rail changes.
enum Upstream {
    Rail(usize),
    Source,
    Same,
}

/// The value of a curve with rising arguments, the nearest one beyond its ends.
fn interpolated(curve: &[(f64, f64)], at: f64) -> Option<f64> {
    let (mut left, rest) = curve.split_first()?;
    if at <= left.0 || at.is_nan() {
        return Some(left.1);
    }
    for right in rest {
        if at < right.0 {
            return Some(left.1 + (right.1 - left.1) * ((at - left.0) / (right.0 - left.0)));
        }
        left = right;
    }
    Some(left.1)
}

/// True for a rail behind a regulator in use, false for one that a source feeds.
pub fn is_fed(rail: usize, setting: Setting<'_>) -> bool {
    let rails = &setting.profile.links().regulator_rails;
    setting.point.regulators.iter().any(|r| rails[*r].1 == rail)
}
