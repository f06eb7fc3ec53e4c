//! Which experiment tells two numbers apart.

/// What a number of a profile is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    /// What runs whether work is done or not: clock trees.
    Clock,
    /// Leakage and standing power.
    Standing,
    /// Energy of work in an engine.
    Work,
    /// Energy of bytes.
    Traffic,
    /// Bytes a second.
    Bandwidth,
    /// Cycles of software for a multiply-accumulate.
    PerMac,
    /// Cycles of software for an element or an operator.
    PerElement,
    /// Regulators.
    Regulator,
    /// Anything else.
    Other,
}

impl About {
    fn of(name: &str) -> Self {
        let has = |part: &str| name.contains(part);
        match name.split('.').next().unwrap_or(name) {
            "software" if has("cycles_per_mac") => Self::PerMac,
            "software" => Self::PerElement,
            "regulators" => Self::Regulator,
            "domains" | "loads" if has("clock") || has("per_cycle") => Self::Clock,
            "domains" | "loads" => Self::Standing,
            "engines" if has(".energy.") => Self::Work,
            "memories" | "links" | "caches" if has("bandwidth") || has("latency") => {
                Self::Bandwidth
            }
            "memories" | "links" | "caches" if has("background") || has("states") => Self::Standing,
            "memories" | "links" | "caches" => Self::Traffic,
            _ => Self::Other,
        }
    }
}

/// What to measure so that numbers come apart whose errors cancel in what was measured.
pub(super) fn experiment_for(names: &[&str]) -> &'static str {
    let mut about: Vec<About> = names.iter().map(|name| About::of(name)).collect();
    about.sort();
    about.dedup();
    let both = |one: About, other: About| about.contains(&one) && about.contains(&other);
    use About::{Bandwidth, Clock, PerElement, PerMac, Regulator, Standing, Traffic, Work};
    if about.contains(&Regulator) {
        return "measure the current on both sides of the regulator, or run at a second supply voltage";
    }
    if both(Clock, Work) || both(Standing, Work) {
        return "capture the board idle with its clocks on, or sweep the clock at one voltage: standing power stays, that of work goes with the rate";
    }
    if both(Clock, Standing) {
        return "capture the board idle at two clocks of one voltage, or at two temperatures: only leakage stays";
    }
    if both(Traffic, Work) || both(Traffic, Clock) || both(Traffic, Standing) {
        return "run one kernel that computes without traffic and one that only moves bytes";
    }
    if both(Bandwidth, PerMac) || both(Bandwidth, PerElement) {
        return "run a kernel that only moves bytes (a large fully connected layer) and one that stays in its registers";
    }
    if both(PerMac, PerElement) {
        return "capture layers one by one (a mark at each layer, or the runtime's profiler), with few and with many multiply-accumulates an output: layers that are alike, and whole networks, hide what an output costs";
    }
    if about == [PerMac] || about == [PerElement] {
        return "measure a network or a layer in which one of these kinds prevails";
    }
    "measure networks in which their shares differ"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_power_and_energy_of_work_come_apart_by_an_idle_capture_or_a_sweep() {
        let text =
            experiment_for(&["engines.m4.energy.per_mac.Int8", "domains.core.leakage.power"]);
        assert!(text.contains("idle") && text.contains("clock"), "{text}");
        let text = experiment_for(&["domains.core.clock_tree.Charge", "engines.m4.energy.per_mac"]);
        assert!(text.contains("idle"), "{text}");
    }

    #[test]
    fn cycles_of_outputs_come_apart_by_layers() {
        let text = experiment_for(&[
            "software.x.cycles_per_mac.Conv",
            "software.x.cycles_per_output.Conv",
        ]);
        assert!(text.contains("layer"), "{text}");
        let text = experiment_for(&["memories.dram.energy", "engines.npu.energy.per_mac.Int8"]);
        assert!(text.contains("moves bytes"), "{text}");
        let text = experiment_for(&["regulators.buck.efficiency", "domains.core.clock_tree"]);
        assert!(text.contains("both sides"), "{text}");
    }
}
