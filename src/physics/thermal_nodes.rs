//! A thermal network of nodes, each with a heat capacity, joined to each other and to the air.
//!
//! `C_i T_i' = P_i - (T_i - T_a) / R_i - sum_j (T_i - T_j) / R_ij`
//!
//! Symbols: `C` \[J/K\], `R_i` \[K/W\] from a node to the air, `R_ij` between two nodes, `P` \[W\] heat put
//! into a node. Every node has a way to the air, over others or its own; one without would keep its heat
//! for good, and is refused. Source: the electrical analogy of conduction (Incropera et al., Fundamentals
//! of Heat and Mass Transfer, 7th ed., section 3.1 and 5.1). Neglected: as in [`super::thermal_modes`].

use super::law_error::{LawError, positive};
use super::thermal_modes::ThermalModes;
use super::thermal_network::CauerLadder;
use crate::units::{JoulesPerKelvin, KelvinsPerWatt};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The most nodes of a network, whose matrix has the square of them.
pub const MOST_NODES: usize = 100;

/// A node of a thermal network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThermalNode {
    /// Its heat capacity \[J/K\].
    pub capacity: JoulesPerKelvin,
    /// Its own way to the air \[K/W\]; none for one that gives heat to other nodes only.
    pub to_air: Option<KelvinsPerWatt>,
}

/// A way of heat between two nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThermalJoin {
    /// The nodes, by their places in the list.
    pub between: (usize, usize),
    /// Its resistance \[K/W\].
    pub resistance: KelvinsPerWatt,
}

/// A network of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThermalNodes {
    nodes: Vec<ThermalNode>,
    joins: Vec<ThermalJoin>,
}

impl ThermalNodes {
    /// A network of nodes and the ways between them. Two ways between the same nodes add up.
    ///
    /// # Errors
    ///
    /// No node or more than a hundred, a capacity or resistance that is not finite and above zero, a way
    /// to a node that there is not or back to the same one, a node without a way to the air.
    pub fn new(nodes: Vec<ThermalNode>, joins: Vec<ThermalJoin>) -> Result<Self, LawError> {
        if nodes.is_empty() {
            return Err(LawError::Empty("node of a thermal network"));
        }
        if nodes.len() > MOST_NODES {
            let (what, count) = ("nodes of a thermal network", nodes.len());
            return Err(LawError::TooMany { what, count, limit: MOST_NODES });
        }
        for (i, node) in nodes.iter().enumerate() {
            positive("heat capacity", i + 1, node.capacity.0)?;
            if let Some(resistance) = node.to_air {
                positive("thermal resistance to the air", i + 1, resistance.0)?;
            }
        }
        for (i, join) in joins.iter().enumerate() {
            positive("thermal resistance between nodes", i + 1, join.resistance.0)?;
            let (one, other) = join.between;
            let far = one.max(other);
            if far >= nodes.len() || one == other {
                let (what, value) = ("the other end of a way of heat", far as f64);
                let range = "another node of the network";
                return Err(LawError::OutOfRange { what, entry: i + 1, value, range });
            }
        }
        match floating(&nodes, &joins) {
            Some(node) => Err(LawError::Floating { node: node + 1 }),
            None => Ok(Self { nodes, joins }),
        }
    }

    /// The nodes of a ladder, the junction first.
    ///
    /// # Errors
    ///
    /// None that the ladder itself has not had.
    pub fn of_ladder(ladder: &CauerLadder) -> Result<Self, LawError> {
        let stages = ladder.stages();
        let last = stages.len().saturating_sub(1);
        let node = |(i, stage): (usize, &super::thermal_network::CauerStage)| ThermalNode {
            capacity: stage.capacity,
            to_air: (i == last).then_some(stage.resistance),
        };
        let join = |(i, stage): (usize, &super::thermal_network::CauerStage)| ThermalJoin {
            between: (i, i + 1),
            resistance: stage.resistance,
        };
        let nodes = stages.iter().enumerate().map(node).collect();
        Self::new(nodes, stages.iter().take(last).enumerate().map(join).collect())
    }

    /// The nodes in their order.
    pub fn nodes(&self) -> &[ThermalNode] {
        &self.nodes
    }

    /// The modes of the network.
    ///
    /// # Errors
    ///
    /// [`LawError::Unresolved`] when values lie so far apart that a rate is not a positive number, or
    /// that steady temperatures by modes are not those by conductances within 1e-6.
    pub(super) fn modes(&self) -> Result<ThermalModes, LawError> {
        let conductances = self.conductances();
        let roots: Vec<f64> = self.nodes.iter().map(|node| node.capacity.0.sqrt()).collect();
        let count = roots.len();
        let root = DVector::from_vec(roots);
        let symmetric =
            DMatrix::from_fn(count, count, |i, j| conductances[(i, j)] / root[i] / root[j]);
        // Rates beyond the range of doubles would keep the iteration from ending.
        if !symmetric.iter().all(|entry| entry.is_finite()) {
            return Err(LawError::Unresolved);
        }
        let limit = count.saturating_mul(100);
        let found =
            SymmetricEigen::try_new(symmetric, f64::EPSILON, limit).ok_or(LawError::Unresolved)?;
        let rates: Vec<f64> = found.eigenvalues.iter().copied().collect();
        if !rates.iter().all(|rate| rate.is_finite() && *rate > 0.0) {
            return Err(LawError::Unresolved);
        }
        let by_mode = (0..count)
            .flat_map(|mode| (0..count).map(move |node| (mode, node)))
            .map(|(mode, node)| found.eigenvectors[(node, mode)] / root[node])
            .collect();
        let modes = ThermalModes::of_rows(count, rates, by_mode);
        if self.settles_as(&modes, conductances) { Ok(modes) } else { Err(LawError::Unresolved) }
    }

    /// True where one watt into each node in turn warms it as the conductances say.
    fn settles_as(&self, modes: &ThermalModes, conductances: DMatrix<f64>) -> bool {
        let Some(solved) = conductances.cholesky() else { return false };
        let inverse = solved.inverse();
        let near =
            |i: usize| (modes.steady_resistance(i, i).0 / inverse[(i, i)] - 1.0).abs() < 1e-6;
        (0..self.nodes.len()).all(near)
    }

    /// `G` \[W/K\].
    fn conductances(&self) -> DMatrix<f64> {
        let count = self.nodes.len();
        let mut matrix = DMatrix::zeros(count, count);
        for (i, node) in self.nodes.iter().enumerate() {
            matrix[(i, i)] += node.to_air.map_or(0.0, |resistance| 1.0 / resistance.0);
        }
        for join in &self.joins {
            let ((i, j), conductance) = (join.between, 1.0 / join.resistance.0);
            matrix[(i, i)] += conductance;
            matrix[(j, j)] += conductance;
            matrix[(i, j)] -= conductance;
            matrix[(j, i)] -= conductance;
        }
        matrix
    }
}

/// The first node without a way to the air.
fn floating(nodes: &[ThermalNode], joins: &[ThermalJoin]) -> Option<usize> {
    let mut cooled: Vec<bool> = nodes.iter().map(|node| node.to_air.is_some()).collect();
    // Each round brings the air a join nearer.
    for _ in nodes {
        for join in joins {
            let (one, other) = join.between;
            let either = cooled.get(one) == Some(&true) || cooled.get(other) == Some(&true);
            for node in [one, other] {
                if let Some(cooled) = cooled.get_mut(node) {
                    *cooled |= either;
                }
            }
        }
    }
    cooled.iter().position(|cooled| !cooled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Seconds, Watts};

    fn node(capacity: f64, to_air: Option<f64>) -> ThermalNode {
        ThermalNode { capacity: JoulesPerKelvin(capacity), to_air: to_air.map(KelvinsPerWatt) }
    }

    fn join(one: usize, other: usize, resistance: f64) -> ThermalJoin {
        ThermalJoin { between: (one, other), resistance: KelvinsPerWatt(resistance) }
    }

    #[test]
    fn heat_divides_between_two_ways_to_the_air() {
        // Two nodes, 2 K/W apart, 3 and 6 K/W to the air: from the first 3 || 8, from the second 6 || 5.
        let nodes = vec![node(0.5, Some(3.0)), node(2.0, Some(6.0))];
        let network = ThermalNodes::new(nodes, vec![join(0, 1, 2.0)]).unwrap();
        let modes = ThermalModes::of_nodes(&network).unwrap();
        assert!((modes.steady_resistance(0, 0).0 - 24.0 / 11.0).abs() < 1e-12);
        assert!((modes.steady_resistance(1, 1).0 - 30.0 / 11.0).abs() < 1e-12);
        let across = modes.steady_resistance(0, 1).0;
        assert!((across - 24.0 / 11.0 * 6.0 / 8.0).abs() < 1e-12);
        assert!((across - modes.steady_resistance(1, 0).0).abs() < 1e-13, "it is reciprocal");
    }

    #[test]
    fn heat_in_is_heat_stored_and_heat_that_left() {
        let capacities = [0.02, 0.05, 1.0, 30.0];
        let nodes = vec![
            node(capacities[0], None),
            node(capacities[1], Some(400.0)),
            node(capacities[2], None),
            node(capacities[3], Some(2.5)),
        ];
        let joins = vec![join(0, 2, 1.0), join(1, 2, 0.7), join(0, 1, 5.0), join(2, 3, 0.4)];
        let network = ThermalNodes::new(nodes, joins).unwrap();
        let modes = ThermalModes::of_nodes(&network).unwrap();
        let mut state = modes.at_rest();
        let (mut given, mut left) = (0.0, 0.0);
        for (first, second, time) in [(3.0, 0.0, 0.004), (0.5, 2.0, 0.3), (0.0, 6.0, 9.0)] {
            let power = [Watts(first), Watts(second)];
            let mean = |place| modes.mean_rise(&state, place, &power, Seconds(time)).0;
            left += time * (mean(1) / 400.0 + mean(3) / 2.5);
            given += time * (first + second);
            modes.advance(&mut state, &power, Seconds(time));
        }
        let rises = modes.rises(&state);
        let stored: f64 = rises.iter().zip(capacities).map(|(rise, c)| rise.0 * c).sum();
        assert!((given / (left + stored) - 1.0).abs() < 1e-12, "{given} {left} {stored}");
    }

    #[test]
    fn what_makes_no_network_is_named() {
        let made = |nodes, joins| ThermalNodes::new(nodes, joins).map(|_| ());
        assert_eq!(made(Vec::new(), Vec::new()), Err(LawError::Empty("node of a thermal network")));
        let three = || vec![node(1.0, Some(1.0)), node(1.0, None), node(1.0, None)];
        assert_eq!(made(three(), vec![join(1, 2, 1.0)]), Err(LawError::Floating { node: 2 }));
        assert_eq!(made(three(), vec![join(1, 0, 1.0)]), Err(LawError::Floating { node: 3 }));
        assert_eq!(made(three(), vec![join(1, 2, 1.0), join(0, 2, 1.0)]), Ok(()));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(made(vec![node(bad, Some(1.0))], Vec::new()).is_err(), "{bad}");
            assert!(made(vec![node(1.0, Some(bad))], Vec::new()).is_err(), "{bad}");
            assert!(made(three(), vec![join(0, 1, bad), join(1, 2, 1.0)]).is_err(), "{bad}");
        }
        assert!(made(three(), vec![join(0, 3, 1.0)]).is_err(), "no fourth node");
        assert!(made(three(), vec![join(1, 1, 1.0)]).is_err(), "to itself");
        assert!(matches!(
            made(vec![node(1.0, Some(1.0)); 101], Vec::new()),
            Err(LawError::TooMany { count: 101, .. })
        ));
        let apart = ThermalNodes::new(vec![node(1e-300, Some(1e-300))], Vec::new()).unwrap();
        assert_eq!(ThermalModes::of_nodes(&apart), Err(LawError::Unresolved));
    }
}
