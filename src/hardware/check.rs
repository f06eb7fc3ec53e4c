//! What must hold in a profile, checked together: every fault is reported, with its field path.

mod block_engine;
mod blocks;
mod channels;
mod engines;
mod heat;
mod missing;
mod naming;
mod points;
mod posterior;
mod rail_loops;
mod regulators;
mod rising;
mod software;
mod supplies;
mod throttling;
mod wait_states;

pub(super) use software::stack_faults;

use super::Links;
use super::spec::ProfileSpec;
use crate::diagnostic::{Fault, nearest, resolve_sources, source_kinds};
use crate::evidence::{FieldPath, Parameters, Valued};
use crate::units::{Celsius, Quantity, Ratio};

/// Version of the profile format.
pub(super) const SCHEMA: &str = "joulecast.profile/1";

/// Resolves sources and names. The links are complete only when no fault is returned.
pub(super) fn check(spec: &mut ProfileSpec) -> (Links, Vec<Fault>) {
    let kinds = source_kinds(&spec.sources);
    let mut faults = resolve_sources(spec, &kinds);
    faults.extend(temperatures(spec));
    let (posterior, wrong) = posterior::posterior(spec);
    faults.extend(wrong);
    let links = Links { posterior, ..Links::default() };
    let mut checker = Checker { spec, faults, links };
    checker.basics();
    checker.names();
    checker.component_names();
    checker.corners();
    checker.domains();
    checker.memories();
    checker.caches();
    checker.link_ends();
    checker.engines();
    checker.loads();
    checker.software();
    checker.regulators();
    checker.supplies();
    checker.package();
    checker.rail_loops();
    checker.operating_points();
    (checker.links, checker.faults)
}

/// Temperatures that nothing can have, wherever they stand.
fn temperatures(spec: &mut ProfileSpec) -> Vec<Fault> {
    const ABSOLUTE_ZERO: Celsius = Celsius(-273.15);
    let mut faults = Vec::new();
    spec.walk(&mut FieldPath::root(), &mut |path, parameter| {
        let is_temperature = parameter.quantity == Celsius::NAME && parameter.fault.is_none();
        if is_temperature && parameter.value < ABSOLUTE_ZERO.0 {
            faults.push(Fault::at(path.to_string(), "a temperature is not below -273.15 °C"));
        }
    });
    faults
}

/// The fault of a value that physics wants above zero. A literal that could not be read has been reported.
fn above_zero<Q: Quantity>(path: String, value: &Valued<Q>) -> Option<Fault> {
    let parameter = value.parameter();
    let sound = parameter.fault.is_some() || parameter.value > 0.0;
    (!sound).then(|| Fault::at(path, format!("{} must be above zero", Q::with_article())))
}

struct Checker<'a> {
    spec: &'a ProfileSpec,
    faults: Vec<Fault>,
    links: Links,
}

impl Checker<'_> {
    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(path, message));
    }

    /// The index of `name` in `names`; a fault and the first otherwise.
    fn resolve(&mut self, path: String, what: &str, name: &str, names: &[&str]) -> usize {
        self.find(path, what, name, names).unwrap_or(0)
    }

    /// The index of `name` in `names`; a fault with the nearest name otherwise.
    fn find(&mut self, path: String, what: &str, name: &str, names: &[&str]) -> Option<usize> {
        let found = names.iter().position(|n| *n == name);
        if found.is_some() {
            return found;
        }
        let mut fault = Fault::at(path, format!("no {what} is called `{name}`"));
        fault.help = match nearest(name, names.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if names.is_empty() => Some("this profile has none".to_owned()),
            None => Some(format!("this profile has {}", names.join(", "))),
        };
        self.faults.push(fault);
        None
    }

    /// The same for each of a list.
    fn resolve_all(
        &mut self,
        at: &str,
        what: &str,
        wanted: &[String],
        names: &[&str],
    ) -> Vec<usize> {
        let wanted = wanted.iter().enumerate();
        wanted.map(|(j, name)| self.resolve(format!("{at}[{j}]"), what, name, names)).collect()
    }

    /// A value that physics wants above zero.
    fn positive<Q: Quantity>(&mut self, path: String, value: &Valued<Q>) {
        self.faults.extend(above_zero(path, value));
    }

    /// A value that may be zero and not below.
    fn not_negative<Q: Quantity>(&mut self, path: String, value: &Valued<Q>) {
        let parameter = value.parameter();
        if parameter.fault.is_none() && (parameter.value < 0.0 || parameter.value.is_nan()) {
            self.fault(path, format!("{} is not below zero", Q::with_article()));
        }
    }

    /// A part of a whole.
    fn share(&mut self, path: String, value: &Valued<Ratio>) {
        let parameter = value.parameter();
        if parameter.fault.is_none() && !(0.0..=1.0).contains(&parameter.value) {
            self.fault(path, "a share lies between 0 and 100 %");
        }
    }

    /// An efficiency: above zero and at most one.
    fn efficiency(&mut self, path: String, value: &Valued<Ratio>) {
        let number = value.get().0;
        if value.parameter().fault.is_none() && !(number > 0.0 && number <= 1.0) {
            self.fault(path, "an efficiency lies above 0 and at most at 100 %");
        }
    }

    fn basics(&mut self) {
        if self.spec.schema != SCHEMA {
            self.fault("schema", format!("schema `{}` is not `{SCHEMA}`", self.spec.schema));
        }
        if self.spec.extends.is_none() && !self.spec.without.is_empty() {
            self.fault("without", "a file without `extends` has nothing to take out of");
        }
        for (path, empty) in [
            ("operating_points", self.spec.operating_points.is_empty()),
            ("rails", self.spec.rails.is_empty()),
            ("domains", self.spec.domains.is_empty()),
            ("memories", self.spec.memories.is_empty()),
            ("engines", self.spec.engines.is_empty()),
        ] {
            if empty {
                self.fault(path, format!("a profile needs at least one of {path}"));
            }
        }
    }
}

/// Names of a list of a profile.
macro_rules! names {
    ($list:expr) => {
        $list.iter().map(|item| item.name.as_str()).collect::<Vec<&str>>()
    };
}
use names;
