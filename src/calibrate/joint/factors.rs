//! The unknowns that a number, or a measurement, has in common with others.

use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::calibration::{Axis, Calibration, Off, Shared, matches};
use crate::evidence::Sources;
use crate::hardware::ParameterRecord;
use crate::units::Spread;

/// Unknowns with the weights that make a logarithm of a factor of them.
pub(super) type Weighted = Vec<(usize, f64)>;

/// Where factors of one configuration come from.
pub(super) struct Factors<'a> {
    pub calibration: &'a Calibration,
    pub keys: &'a Keys,
    pub unknowns: &'a mut Unknowns,
}

impl Factors<'_> {
    /// The unknowns of a number: those that it shares, else its own and that of its source.
    pub fn of_number(&mut self, record: &ParameterRecord, sources: &Sources) -> Weighted {
        let mut own = Weighted::new();
        let calibration = self.calibration;
        for (rule, shared) in calibration.shared.iter().enumerate() {
            if shared.paths.iter().any(|pattern| matches(pattern, &record.name)) {
                own.extend(self.of_rule(rule, shared, record));
            }
        }
        if own.is_empty() { self.own(record, sources) } else { own }
    }

    fn own(&mut self, record: &ParameterRecord, sources: &Sources) -> Weighted {
        let (hardware, mut own) = (&self.keys.hardware, Weighted::new());
        if let Some(Spread::LogNormal(sigma)) = record.parameter.spread
            && sigma > 0.0
        {
            let name = format!("{hardware} {}", record.name);
            own.push((self.unknowns.factor(name, None, sigma), 1.0));
        }
        let source = record.parameter.source.as_ref();
        let common = source.and_then(|key| Some((key, sources.get(key)?.common?.0)));
        if let Some((key, sigma)) = common
            && sigma > 0.0
        {
            let name = format!("{hardware} source {key}");
            own.push((self.unknowns.factor(name, None, sigma), 1.0));
        }
        own
    }

    fn of_rule(&mut self, rule: usize, shared: &Shared, record: &ParameterRecord) -> Weighted {
        let mut own = Weighted::new();
        if let Some(common) = shared.common {
            let what = format!("(shared[{rule}])");
            own.extend(self.over(&shared.over, None, shared.memory, &what, None, common.0));
        }
        if let Some(each) = shared.each {
            let what = format!("{} (shared[{rule}])", self.counted_as(&record.name));
            own.extend(self.over(&shared.over, None, shared.memory, &what, None, each.0));
        }
        own
    }

    /// What the model is off by for a network, or one of its layers, where each kind has a weight.
    pub fn off(
        &mut self,
        weight: impl Fn(Off) -> f64,
        network: Option<&str>,
        layer: Option<&str>,
    ) -> Weighted {
        let mut own = Weighted::new();
        let calibration = self.calibration;
        for (rule, discrepancy) in calibration.discrepancy.iter().enumerate() {
            let share = weight(discrepancy.of);
            if share != 0.0 {
                let (named, spread) = match layer {
                    Some(name) => {
                        let spread = discrepancy.of_layer.unwrap_or(discrepancy.spread);
                        (format!("{name} "), spread)
                    }
                    None => (String::new(), discrepancy.spread),
                };
                let what = format!("{named}(discrepancy[{rule}])");
                let (over, memory) = (&discrepancy.over, discrepancy.memory);
                let all = self.over(over, network, memory, &what, Some(discrepancy.of), spread.0);
                own.extend(all.into_iter().map(|(unknown, own)| (unknown, own * share)));
            }
        }
        own
    }

    /// A factor for what the configuration is along some axes; none where it has no such thing. With a memory
    /// it is a walk over the releases before its own: each keeps a share of the one before.
    fn over(
        &mut self,
        axes: &[Axis],
        network: Option<&str>,
        memory: Option<f64>,
        what: &str,
        of: Option<Off>,
        sigma: f64,
    ) -> Weighted {
        let Some(key) = self.keys.along_all(axes, network) else { return Weighted::new() };
        let named = |key: String| {
            if key.is_empty() { format!("all {what}") } else { format!("{key} {what}") }
        };
        let series = memory.and_then(|memory| Some((memory, self.series()?)));
        let Some((memory, (series, place))) = series else {
            return vec![(self.unknowns.factor(named(key), of, sigma), 1.0)];
        };
        let kept = (-1.0 / memory).exp();
        let mut walk = Weighted::new();
        for (at, version) in series.iter().enumerate().take(place + 1) {
            let keys = Keys { version: version.clone(), ..self.keys.clone() };
            let Some(key) = keys.along_all(axes, network) else { continue };
            let new = if at == 0 { 1.0 } else { (1.0 - kept * kept).sqrt() };
            let weight = new * kept.powi((place - at) as i32);
            walk.push((self.unknowns.factor(named(key), of, sigma), weight));
        }
        walk
    }

    /// The series of releases that the version is of, with its place.
    fn series(&self) -> Option<(Vec<String>, usize)> {
        self.calibration.releases.iter().find_map(|series| {
            let place = series.iter().position(|version| *version == self.keys.version)?;
            Some((series.clone(), place))
        })
    }

    /// What a number counts as: itself beyond its software stack, or the first pattern of those alike.
    fn counted_as<'n>(&'n self, name: &'n str) -> &'n str {
        let name = beyond_stack(name);
        let alike = self.calibration.alike.iter();
        let mut alike = alike.filter(|group| group.iter().any(|pattern| matches(pattern, name)));
        alike.next().and_then(|group| group.first()).map_or(name, String::as_str)
    }
}

/// What a number is, whatever the software stack that has it is called.
fn beyond_stack(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("software.") else { return name };
    let fields = ["cycles_per_", "relative_cycles", "dispatch", "start"];
    fields.iter().filter_map(|field| rest.find(field)).min().map_or(name, |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"(schema: "joulecast.calibration/1", name: "x", cases: ["*"], fit: ["*"],
        alike: [["cycles_per_mac.Conv", "cycles_per_mac.Stem*"]], releases: [["a 1", "a 2", "a 3"]],
        noise: (latency: "±1%", energy: "±1%"))"#;

    fn keys(version: &str) -> Keys {
        let text = str::to_owned;
        Keys {
            core: None,
            runtime: text("a"),
            kernels: text("a"),
            version: text(version),
            hardware: text("h"),
            operating_point: text("p"),
            case: text("c"),
        }
    }

    #[test]
    fn a_number_of_software_is_called_alike_in_all_stacks() {
        assert_eq!(beyond_stack("software.a-8.1.cycles_per_mac.Conv"), "cycles_per_mac.Conv");
        assert_eq!(beyond_stack("software.b.dispatch"), "dispatch");
        assert_eq!(beyond_stack("domains.core.clock_tree"), "domains.core.clock_tree");
        let calibration = Calibration::parse("x.ron", TEXT).unwrap();
        let (keys, mut unknowns) = (keys("a 1"), Unknowns::default());
        let factors = Factors { calibration: &calibration, keys: &keys, unknowns: &mut unknowns };
        let named = |kind: &str| factors.counted_as(kind).to_owned();
        assert_eq!(named("software.x.cycles_per_mac.StemConv"), "cycles_per_mac.Conv");
        assert_eq!(
            named("software.x.cycles_per_mac.PointwiseConv"),
            "cycles_per_mac.PointwiseConv"
        );
    }

    /// The walk has the variance of one factor at each release, and the correlation stated.
    #[test]
    fn releases_remember_those_before() {
        let calibration = Calibration::parse("x.ron", TEXT).unwrap();
        let mut unknowns = Unknowns::default();
        let mut walk = |version: &str| {
            let keys = keys(version);
            let mut factors =
                Factors { calibration: &calibration, keys: &keys, unknowns: &mut unknowns };
            factors.over(&[Axis::Version], None, Some(4.0), "v", None, 0.5)
        };
        let (one, three, other) = (walk("a 1"), walk("a 3"), walk("b 1"));
        let product = |one: &Weighted, two: &Weighted| -> f64 {
            let pairs = one.iter().flat_map(|a| two.iter().map(move |b| (a, b)));
            pairs.filter(|(a, b)| a.0 == b.0).map(|(a, b)| a.1 * b.1).sum()
        };
        assert!((product(&one, &one) - 1.0).abs() < 1e-12);
        assert!((product(&three, &three) - 1.0).abs() < 1e-12);
        assert!((product(&one, &three) - (-0.5f64).exp()).abs() < 1e-12);
        assert_eq!(product(&three, &other), 0.0);
    }
}
