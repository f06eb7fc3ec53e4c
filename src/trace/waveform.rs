//! A left-closed step function of time.

use crate::units::SimTime;

/// A value that holds from each of its times to the next: `(t0, v0), (t1, v1), …`. Not-a-number
/// stands for a stretch over which it is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Waveform {
    points: Vec<(SimTime, f64)>,
}

impl Waveform {
    /// Sets the value from `at` on. Times must not run backwards; at one instant the last value
    /// holds, and a value equal to the one before makes no new point.
    pub fn set(&mut self, at: SimTime, value: f64) {
        if let Some(last) = self.points.last_mut()
            && last.0 >= at
        {
            last.1 = value;
            let n = self.points.len();
            if n > 1 && same(self.points[n - 2].1, value) {
                self.points.pop();
            }
            return;
        }
        if self.points.last().is_none_or(|last| !same(last.1, value)) {
            self.points.push((at, value));
        }
    }

    /// The points, in the order of time.
    pub fn points(&self) -> &[(SimTime, f64)] {
        &self.points
    }

    /// The value at `at`: 0 before the first point.
    pub fn at(&self, at: SimTime) -> f64 {
        let after = self.points.partition_point(|(t, _)| *t <= at);
        after.checked_sub(1).and_then(|i| self.points.get(i)).map_or(0.0, |p| p.1)
    }

    /// Segments `(start, end, value)` up to `end`.
    pub fn segments(&self, end: SimTime) -> impl Iterator<Item = (SimTime, SimTime, f64)> + '_ {
        self.points.iter().enumerate().map(move |(i, &(start, value))| {
            let stop = self.points.get(i + 1).map_or(end, |p| p.0).min(end);
            (start.min(stop), stop, value)
        })
    }

    /// The integral up to `end`, over seconds; what is unknown adds nothing.
    pub fn integral(&self, end: SimTime) -> f64 {
        let known = self.segments(end).filter(|segment| !segment.2.is_nan());
        known.map(|(a, b, v)| v * b.since(a).seconds().0).sum()
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_to_the_next_and_equal_ones_merge() {
        let mut w = Waveform::default();
        w.set(SimTime(0), 1.0);
        w.set(SimTime(10), 1.0);
        w.set(SimTime(20), 3.0);
        w.set(SimTime(20), 2.0);
        assert_eq!(w.points(), [(SimTime(0), 1.0), (SimTime(20), 2.0)]);
        assert_eq!((w.at(SimTime(19)), w.at(SimTime(20))), (1.0, 2.0));
        assert!((w.integral(SimTime(30)) - 40e-12).abs() < 1e-24);
        w.set(SimTime(20), 1.0);
        assert_eq!(w.points().len(), 1, "a change taken back leaves no point");
    }

    #[test]
    fn what_is_unknown_adds_nothing_and_is_one_stretch() {
        let mut w = Waveform::default();
        for (at, value) in [(0, 2.0), (10, f64::NAN), (15, f64::NAN), (20, 4.0)] {
            w.set(SimTime(at), value);
        }
        assert_eq!(w.points().len(), 3);
        assert!(w.at(SimTime(17)).is_nan());
        assert!((w.integral(SimTime(30)) - 60e-12).abs() < 1e-24);
    }
}
