//! The calibrations that come with the program, embedded in it: which shipped cases are fitted together.

use super::calibration::CalibrationError;
use super::gathered::Gathered;
use std::path::Path;

/// A shipped calibration.
#[derive(Debug, Clone, Copy)]
pub struct ShippedCalibration {
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

impl ShippedCalibration {
    /// Reads it with its cases.
    ///
    /// # Errors
    /// It has a fault, which no shipped one has.
    pub fn gathered(&self) -> Result<Gathered, CalibrationError> {
        Gathered::parse(self.path, self.text, Path::new(""))
    }
}

macro_rules! calibrations {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedCalibration {
            path: concat!("validation/calibrations/", $name, ".ron"),
            text: include_str!(concat!("../../validation/calibrations/", $name, ".ron")),
        }),*]
    };
}

/// All shipped calibrations, in the order they are listed.
pub fn shipped_calibrations() -> &'static [ShippedCalibration] {
    calibrations!["microcontrollers", "gap8", "max78002", "eyeriss", "linux_cpus"]
}
