//! The operating points of a domain: frequency, capacity, power and one voltage a rail.
//!
//! Symbols: `f` \[Hz\], `V` \[V\], capacity \[1\] what one unit (a core, an engine) gets done in a second,
//! as a share of what the ablest unit of the system gets done at its fastest point; `P` \[W\], what one
//! unit draws at full load above what it draws idle. Device trees state such tables
//! (`operating-points-v2`), with `P = c f V^2` from `dynamic-power-coefficient`. Points rise in frequency
//! and capacity. Voltages may stand still over a range of frequencies (Amlogic S922X from 100 to
//! 1200 MHz), and a point may have several: MediaTek MT8183 states one for the logic of its GPU and one
//! for its memories. Rails that are coupled (`regulator-coupled-max-spread`) never stand further apart
//! than their largest spread.

use super::law_error::{LawError, not_negative, positive};
use crate::units::{Hertz, Ratio, Volts, Watts};

/// Most points of a table.
const MOST_POINTS: usize = 1000;

/// One operating point.
#[derive(Debug, Clone, PartialEq)]
pub struct OppPoint {
    /// Frequency \[Hz\].
    pub frequency: Hertz,
    /// Capacity of one unit \[1\].
    pub capacity: Ratio,
    /// Power of one unit at full load, above its idle power \[W\].
    pub power: Watts,
    /// Voltage of each rail, in the order of the table \[V\].
    pub voltages: Vec<Volts>,
}

/// Two rails of a table that may not stand far apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoupledRails {
    /// The one, by its place among the voltages.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// The most that they may stand apart \[V\].
    pub max_spread: Volts,
}

/// Operating points, the slowest first.
#[derive(Debug, Clone, PartialEq)]
pub struct OppTable {
    points: Vec<OppPoint>,
    coupled: Vec<CoupledRails>,
}

impl OppTable {
    /// A table of points.
    ///
    /// # Errors
    ///
    /// No point, more than a thousand, a frequency or capacity that is not above that of the point before,
    /// a value out of range, points with other numbers of rails, coupled rails further apart than they may
    /// be.
    pub fn new(points: Vec<OppPoint>, coupled: Vec<CoupledRails>) -> Result<Self, LawError> {
        let Some(first) = points.first() else {
            return Err(LawError::Empty("operating point"));
        };
        if points.len() > MOST_POINTS {
            let (what, count) = ("operating points", points.len());
            return Err(LawError::TooMany { what, count, limit: MOST_POINTS });
        }
        for (index, point) in points.iter().enumerate() {
            point.check(index + 1, first.voltages.len())?;
            for pair in &coupled {
                pair.check(index + 1, &point.voltages)?;
            }
        }
        for (index, pair) in points.windows(2).enumerate() {
            let entry = index + 2;
            if let [before, after] = pair {
                if after.frequency <= before.frequency {
                    return Err(LawError::NotRising { what: "frequency", entry });
                }
                if after.capacity <= before.capacity {
                    return Err(LawError::NotRising { what: "capacity", entry });
                }
            }
        }
        Ok(Self { points, coupled })
    }

    /// The points, the slowest first.
    pub fn points(&self) -> &[OppPoint] {
        &self.points
    }

    /// The rails that are coupled.
    pub fn coupled(&self) -> &[CoupledRails] {
        &self.coupled
    }

    /// The place of the fastest point.
    #[inline]
    pub fn fastest(&self) -> usize {
        self.points.len().saturating_sub(1)
    }

    /// The point at a place, the fastest for places beyond it.
    #[inline]
    pub fn at(&self, index: usize) -> &OppPoint {
        // A table has a point.
        &self.points[index.min(self.points.len() - 1)]
    }

    /// The slowest point of at least this frequency; the fastest where none is.
    #[inline]
    pub fn at_least(&self, frequency: Hertz) -> usize {
        self.points.partition_point(|point| point.frequency < frequency).min(self.fastest())
    }

    /// The slowest point of at least this capacity; the fastest where none is.
    #[inline]
    pub fn at_least_capacity(&self, capacity: Ratio) -> usize {
        self.points.partition_point(|point| point.capacity < capacity).min(self.fastest())
    }

    /// The point whose frequency is nearest; of two as near the slower.
    pub fn nearest(&self, frequency: Hertz) -> usize {
        let above = self.at_least(frequency);
        let Some(below) = above.checked_sub(1) else { return above };
        let down = frequency - self.at(below).frequency;
        let up = self.at(above).frequency - frequency;
        if down > up { above } else { below }
    }
}

impl OppPoint {
    fn check(&self, entry: usize, rails: usize) -> Result<(), LawError> {
        positive("frequency", entry, self.frequency.0)?;
        positive("capacity", entry, self.capacity.0)?;
        not_negative("power", entry, self.power.0)?;
        for voltage in &self.voltages {
            positive("voltage", entry, voltage.0)?;
        }
        if self.voltages.len() == rails {
            return Ok(());
        }
        let (what, value) = ("number of voltages", self.voltages.len() as f64);
        Err(LawError::OutOfRange { what, entry, value, range: "that of the first point" })
    }
}

impl CoupledRails {
    fn check(&self, entry: usize, voltages: &[Volts]) -> Result<(), LawError> {
        positive("largest spread of coupled rails", entry, self.max_spread.0)?;
        let (Some(first), Some(second)) = (voltages.get(self.first), voltages.get(self.second))
        else {
            let (what, value) = ("a coupled rail", self.first.max(self.second) as f64);
            return Err(LawError::OutOfRange { what, entry, value, range: "a rail of the point" });
        };
        if self.allows(*first, *second) {
            return Ok(());
        }
        let (what, value) = ("spread of coupled rails", (*first - *second).0.abs());
        Err(LawError::OutOfRange { what, entry, value, range: "within the largest spread" })
    }

    /// Whether these voltages are near enough, up to the rounding of their decimals.
    pub(super) fn allows(&self, first: Volts, second: Volts) -> bool {
        (first - second).0.abs() <= self.max_spread.0 + 1e-9
    }
}

#[cfg(test)]
pub(crate) mod tables {
    //! Tables of real chips, as Linux device trees state them (facts as in the tables of the profiles'
    //! sources): MHz and V, and the coefficient c in uW/MHz/V^2 of one core.

    use super::*;

    pub(crate) const A55: (&[(f64, f64)], f64) = (
        &[(1008.0, 0.675), (1200.0, 0.7125), (1416.0, 0.7625), (1608.0, 0.850), (1800.0, 0.950)],
        228.0,
    );
    pub(crate) const A76: (&[(f64, f64)], f64) = (
        &[
            (1200.0, 0.675),
            (1416.0, 0.725),
            (1608.0, 0.7625),
            (1800.0, 0.850),
            (2016.0, 0.925),
            (2208.0, 0.9875),
            (2400.0, 1.000),
        ],
        416.0,
    );

    /// Points of (MHz, V), the fastest with `capacity`.
    pub(crate) fn table((points, coefficient): (&[(f64, f64)], f64), capacity: f64) -> OppTable {
        let fastest = points.last().unwrap().0;
        let point = |(mhz, volts): &(f64, f64)| OppPoint {
            frequency: Hertz(mhz * 1e6),
            capacity: Ratio(capacity * mhz / fastest),
            power: Watts(coefficient * mhz * volts * volts * 1e-6),
            voltages: vec![Volts(*volts)],
        };
        OppTable::new(points.iter().map(point).collect(), Vec::new()).unwrap()
    }

    /// The little cores of the RK3588; `capacity-dmips-mhz` is 530 to 1024.
    pub(crate) fn little() -> OppTable {
        table(A55, 530.0 / 1024.0 * 1800.0 / 2400.0)
    }

    /// Its big cores.
    pub(crate) fn big() -> OppTable {
        table(A76, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::tables::{big, little};
    use super::*;

    #[test]
    fn power_is_as_the_device_trees_coefficient_says() {
        let table = big();
        assert!((table.at(table.fastest()).power.0 - 0.9984).abs() < 1e-12);
        assert!((little().at(0).power.0 - 228e-6 * 1008.0 * 0.675 * 0.675).abs() < 1e-12);
    }

    #[test]
    fn points_are_found_from_above_and_by_nearness() {
        let table = big();
        assert_eq!(table.at_least(Hertz(0.0)), 0);
        assert_eq!(table.at_least(Hertz(1200e6)), 0);
        assert_eq!(table.at_least(Hertz(1200.1e6)), 1);
        assert_eq!(table.at_least(Hertz(9e9)), 6);
        assert_eq!(table.at_least_capacity(Ratio(0.5)), 0);
        assert_eq!(table.at_least_capacity(Ratio(0.51)), 1);
        assert_eq!((table.nearest(Hertz(1e6)), table.nearest(Hertz(9e9))), (0, 6));
        assert_eq!((table.nearest(Hertz(1308e6)), table.nearest(Hertz(1309e6))), (0, 1));
    }

    fn point(mhz: f64, capacity: f64, voltages: &[f64]) -> OppPoint {
        OppPoint {
            frequency: Hertz(mhz * 1e6),
            capacity: Ratio(capacity),
            power: Watts(0.1),
            voltages: voltages.iter().map(|v| Volts(*v)).collect(),
        }
    }

    /// The GPU of the MT8183: the memories stand 0.1 V above the logic, and not below 0.85 V.
    #[test]
    fn rails_that_stand_too_far_apart_are_refused() {
        let points = vec![point(300.0, 0.4, &[0.625, 0.850]), point(800.0, 1.0, &[0.825, 0.925])];
        let coupled =
            |max_spread| vec![CoupledRails { first: 0, second: 1, max_spread: Volts(max_spread) }];
        assert!(OppTable::new(points.clone(), coupled(0.225)).is_ok());
        let refused = OppTable::new(points, coupled(0.2)).unwrap_err();
        assert!(matches!(refused, LawError::OutOfRange { entry: 1, .. }), "{refused}");
    }

    #[test]
    fn what_makes_no_table_is_refused() {
        let new = |points: &[OppPoint]| OppTable::new(points.to_vec(), Vec::new());
        assert_eq!(new(&[]), Err(LawError::Empty("operating point")));
        let (slow, fast) = (point(100.0, 0.5, &[0.8]), point(200.0, 1.0, &[0.9]));
        assert!(new(&[slow.clone(), fast.clone()]).is_ok());
        let falling = new(&[fast.clone(), slow.clone()]);
        assert_eq!(falling, Err(LawError::NotRising { what: "frequency", entry: 2 }));
        let no_abler = new(&[slow.clone(), OppPoint { capacity: Ratio(0.5), ..fast.clone() }]);
        assert_eq!(no_abler, Err(LawError::NotRising { what: "capacity", entry: 2 }));
        assert!(new(&[slow.clone(), point(200.0, 1.0, &[0.9, 0.9])]).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(new(&[point(bad, 0.5, &[0.8])]).is_err(), "{bad}");
            assert!(new(&[point(100.0, 0.5, &[bad])]).is_err(), "{bad}");
        }
        let coupled = vec![CoupledRails { first: 0, second: 1, max_spread: Volts(0.1) }];
        assert!(OppTable::new(vec![slow], coupled).is_err());
    }
}
