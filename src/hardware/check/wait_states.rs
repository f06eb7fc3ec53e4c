//! Wait states: limits rise, and every operating point lies within them.

use super::Checker;
use crate::hardware::spec::WaitStates;

impl Checker<'_> {
    pub(super) fn wait_states(&mut self, path: &str, law: &WaitStates, domain: usize) {
        self.positive(format!("{path}.width"), &law.width);
        if law.ranges.is_empty() {
            self.fault(format!("{path}.ranges"), "wait states need at least one voltage range");
        }
        for (i, range) in law.ranges.iter().enumerate() {
            let at = format!("{path}.ranges[{i}]");
            let earlier = i.checked_sub(1).and_then(|i| law.ranges.get(i));
            if earlier.is_some_and(|e| e.voltage.get() >= range.voltage.get()) {
                self.fault(format!("{at}.voltage"), "voltage ranges stand in rising order");
            }
            if range.limits.is_empty() {
                self.fault(
                    format!("{at}.limits"),
                    "a range has at least the limit for 0 wait states",
                );
            }
            let falls = range.limits.windows(2).position(|w| w[0].get() >= w[1].get());
            if let Some(j) = falls {
                let message = "a clock limit is above that with fewer wait states";
                self.fault(format!("{at}.limits[{}]", j + 1), message);
            }
        }
        self.within_limits(law, domain);
    }

    fn within_limits(&mut self, law: &WaitStates, domain: usize) {
        let spec = self.spec;
        let Some(domain) = spec.domains.get(domain) else { return };
        for (i, point) in spec.operating_points.iter().enumerate() {
            let (Some(clock), Some(voltage)) =
                (point.clocks.get(&domain.clock), point.voltages.get(&domain.rail))
            else {
                continue;
            };
            if voltage.parameter().fault.is_some() || clock.parameter().fault.is_some() {
                continue;
            }
            let Some(range) = law.range_at(voltage.get()) else { continue };
            let highest = range.limits.last().map(|limit| limit.get());
            if let Some(highest) = highest.filter(|h| clock.get().0 > h.0 * (1.0 + 1e-9)) {
                let path = format!("operating_points[{i}].clocks.{}", domain.clock);
                let message =
                    format!("at {} the wait states of the memory end at {highest}", voltage.get());
                self.fault(path, message);
            }
        }
    }
}
