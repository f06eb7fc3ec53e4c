//! A profile at a corner.

use super::out_of_reach::out_of_reach;
use super::profile::Profile;
use super::spec::{Corner, Domain, LoadLeakage, PerCycle, ProfileSpec};
use super::{HardwareError, LeakageSpec};
use crate::evidence::Valued;
use crate::units::{Quantity, Ratio};

/// Multiplies a value in place, where there is a factor.
fn scale<Q: Quantity>(value: &mut Valued<Q>, factor: Option<&Valued<Ratio>>) {
    if let Some(factor) = factor {
        *value = value.times(factor);
    }
}

impl Profile {
    /// The profile at a corner: its leakage, switching energies, clocks and voltages times the factors
    /// of the corner, at the corner's temperature; its loads as well. What is `off_chip` keeps all, what does
    /// not go with voltage (IO, DRAM) its switching energy, and supplies their voltage.
    ///
    /// It is to be used at the operating point `point`, the first when left out: others are not held
    /// against limits.
    ///
    /// # Errors
    /// The profile has no corner or operating point of that name, or the point asks there for more than
    /// rails, wait states or regulators give.
    pub fn at_corner(mut self, name: &str, point: Option<&str>) -> Result<Self, HardwareError> {
        let corners = &self.spec().corners;
        let Some(corner) = corners.iter().find(|c| c.name == name).cloned() else {
            let names = corners.iter().map(|c| c.name.as_str());
            return Err(self.no_such("corner", name, names));
        };
        let reach = self.reach();
        apply(self.spec_mut(), &corner, &reach);
        self.set_corner(name);
        let point = self.point(point)?.name;
        let mut points = self.spec().operating_points.iter();
        let beyond = points.find(|p| p.name == point).map(|p| out_of_reach(self.spec(), p));
        match beyond.into_iter().flatten().next() {
            Some((_, what)) => {
                Err(HardwareError::CornerOutOfReach { corner: name.to_owned(), point, what })
            }
            None => Ok(self),
        }
    }

    /// The corner it stands at, and its place among the corners.
    pub(super) fn standing_corner(&self) -> Option<(usize, &Corner)> {
        let name = self.corner()?;
        self.spec().corners.iter().enumerate().find(|(_, corner)| corner.name == name)
    }

    /// Where the factors of the corner differ from those of the profile `before`, all that they scaled
    /// goes with them: a factor is one number, however many values it scales.
    pub(super) fn follow_corner(&mut self, before: &Self) {
        let (Some((_, old)), Some((_, new))) = (before.standing_corner(), self.standing_corner())
        else {
            return;
        };
        let change = Corner {
            name: new.name.clone(),
            leakage: change(&old.leakage, &new.leakage),
            dynamic: change(&old.dynamic, &new.dynamic),
            frequency: change(&old.frequency, &new.frequency),
            voltage: change(&old.voltage, &new.voltage),
            temperature: new.temperature.clone(),
        };
        apply(self.spec_mut(), &change, &before.reach());
    }

    /// What factors on voltage and switching energy act on.
    fn reach(&self) -> Reach {
        let scaling = self.spec().domains.iter().filter(|d| goes_with_voltage(d));
        let (rails, domains): (Vec<_>, Vec<_>) =
            scaling.map(|d| (d.rail.clone(), d.name.clone())).unzip();
        let supplied = self.spec().domains.iter().filter(|d| rails.contains(&d.rail));
        let supplied = supplied.map(|d| d.name.clone()).collect();
        Reach { rails, domains, supplied }
    }
}

/// Domains whose energy goes with voltage, and the rails that feed them, by name.
struct Reach {
    rails: Vec<String>,
    domains: Vec<String>,
    /// All domains of these rails, which ask voltages of them.
    supplied: Vec<String>,
}

/// The factor from an old factor to a new one.
fn change(old: &Option<Valued<Ratio>>, new: &Option<Valued<Ratio>>) -> Option<Valued<Ratio>> {
    let (old, new) = (old.as_ref()?, new.as_ref()?);
    (old.get().0 != 0.0).then(|| new.valued(new.get() / old.get().0))
}

fn goes_with_voltage(domain: &Domain) -> bool {
    domain.voltage_exponent.as_ref().is_none_or(|e| e.get().0 != 0.0)
}

fn apply(spec: &mut ProfileSpec, corner: &Corner, reach: &Reach) {
    let (leakage, dynamic) = (corner.leakage.as_ref(), corner.dynamic.as_ref());
    if let Some(temperature) = &corner.temperature {
        spec.temperature = temperature.clone();
    }
    for point in &mut spec.operating_points {
        point.clocks.values_mut().for_each(|f| scale(f, corner.frequency.as_ref()));
        let rails = point.voltages.iter_mut().filter(|(rail, _)| reach.rails.contains(rail));
        rails.for_each(|(_, v)| scale(v, corner.voltage.as_ref()));
        let asked = point.domain_voltages.iter_mut();
        let asked = asked.filter(|(domain, _)| reach.supplied.contains(domain));
        asked.for_each(|(_, v)| scale(v, corner.voltage.as_ref()));
    }
    for domain in spec.domains.iter_mut().filter(|d| reach.supplied.contains(&d.name)) {
        let kept = domain.states.iter_mut().filter_map(|state| state.voltage.as_mut());
        kept.for_each(|voltage| scale(voltage, corner.voltage.as_ref()));
    }
    for domain in spec.domains.iter_mut().filter(|d| !d.off_chip) {
        domain.leakage.iter_mut().for_each(|l: &mut LeakageSpec| scale(&mut l.power, leakage));
    }
    for load in spec.loads.iter_mut().filter(|l| !l.off_chip) {
        let switches = load.voltage_exponent.as_ref().is_none_or(|e| e.get().0 != 0.0);
        for state in &mut load.states {
            if switches {
                scale(&mut state.dynamic, dynamic);
            }
            match &mut state.leakage {
                Some(LoadLeakage::Constant(power)) => scale(power, leakage),
                Some(LoadLeakage::Growing(law)) => scale(&mut law.power, leakage),
                None => {}
            }
        }
    }
    let switching = &reach.domains;
    for domain in spec.domains.iter_mut().filter(|d| switching.contains(&d.name)) {
        domain.clock_tree.iter_mut().for_each(|cost| scale_cycle(cost, dynamic));
        let gated = domain.states.iter_mut().filter_map(|s| s.per_cycle.as_mut());
        gated.for_each(|cost| scale_cycle(cost, dynamic));
    }
    for engine in spec.engines.iter_mut().filter(|e| switching.contains(&e.domain)) {
        let energy = &mut engine.energy;
        energy.per_mac.values_mut().for_each(|e| scale(e, dynamic));
        energy.per_operation.values_mut().for_each(|e| scale(e, dynamic));
        energy.per_busy_cycle.iter_mut().for_each(|cost| scale_cycle(cost, dynamic));
        if let Some(store) = &mut energy.operand_store {
            scale(&mut store.energy, dynamic);
            store.reload.iter_mut().for_each(|e| scale(e, dynamic));
        }
    }
    for memory in spec.memories.iter_mut().filter(|m| switching.contains(&m.domain)) {
        memory.read_energy.iter_mut().for_each(|e| scale(e, dynamic));
        memory.write_energy.iter_mut().for_each(|e| scale(e, dynamic));
        memory.rows.iter_mut().for_each(|rows| scale(&mut rows.activation, dynamic));
        for set in memory.set_points.values_mut() {
            set.read_energy.iter_mut().for_each(|e| scale(e, dynamic));
            set.write_energy.iter_mut().for_each(|e| scale(e, dynamic));
        }
    }
    for cache in spec.caches.iter_mut().filter(|c| switching.contains(&c.domain)) {
        cache.read_energy.iter_mut().for_each(|e| scale(e, dynamic));
        cache.write_energy.iter_mut().for_each(|e| scale(e, dynamic));
    }
    for link in spec.links.iter_mut().filter(|l| switching.contains(&l.domain)) {
        link.energy.iter_mut().for_each(|e| scale(e, dynamic));
    }
}

fn scale_cycle(cost: &mut PerCycle, factor: Option<&Valued<Ratio>>) {
    match cost {
        PerCycle::Energy(energy) => scale(energy, factor),
        PerCycle::Charge(charge) => scale(charge, factor),
    }
}
