//! Governors in words, as reports and lists of policies name them.

use super::{Governor, Ondemand, OndemandSlope, Schedutil, SimpleOndemand};
use crate::units::Seconds;
use std::fmt;

impl fmt::Display for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Performance => f.write_str("performance"),
            Self::Powersave => f.write_str("powersave"),
            Self::Fixed(fixed) => write!(f, "fixed at {}", fixed.frequency),
            Self::Ondemand(ondemand) => ondemand.fmt(f),
            Self::Schedutil(schedutil) => schedutil.fmt(f),
            Self::EnergyAware(aware) => write!(f, "energy-aware over {}", aware.frequency()),
            Self::SimpleOndemand(ondemand) => ondemand.fmt(f),
            Self::RaceToIdle(_) => f.write_str("race to idle"),
            Self::HullPace(_) => f.write_str("hull-optimal pace"),
        }
    }
}

impl fmt::Display for Ondemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let up = self.up_threshold.0 * 100.0;
        write!(f, "ondemand each {}, up above {up} %", self.period)?;
        if let OndemandSlope::DownDifferential(down) = self.slope {
            write!(f, ", down to {} % below", down.0 * 100.0)?;
        }
        match self.sampling_down_factor {
            1 => Ok(()),
            factor => write!(f, ", {factor} times more seldom at the fastest"),
        }
    }
}

impl fmt::Display for Schedutil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schedutil each {}", self.period)?;
        if self.rate_limit > Seconds::ZERO {
            write!(f, ", changes at least {} apart", self.rate_limit)?;
        }
        if self.headroom != Self::HEADROOM {
            write!(f, ", headroom {}", self.headroom.0)?;
        }
        if self.half_life != crate::physics::pelt::HALF_LIFE {
            write!(f, ", half life {}", self.half_life)?;
        }
        Ok(())
    }
}

impl fmt::Display for SimpleOndemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (up, down) = (self.up_threshold, self.down_differential);
        write!(f, "simple_ondemand each {}, up above {up} %, stays {down} % below", self.period)
    }
}
