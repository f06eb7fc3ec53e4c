//! Wait states: limits rise.

use super::Checker;
use crate::hardware::spec::WaitStates;

impl Checker<'_> {
    pub(super) fn wait_states(&mut self, path: &str, law: &WaitStates) {
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
    }
}
