//! By what configurations and observations are told apart.

use crate::calibrate::bench::Bench;
use crate::calibrate::calibration::Axis;
use crate::calibrate::case::Case;

/// What a configuration is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// Class of the core that software runs on.
    pub core: Option<String>,
    /// Family of the runtime.
    pub runtime: String,
    /// Library of kernels that it calls.
    pub kernels: String,
    /// Version of the runtime, with its family.
    pub version: String,
    /// The profile.
    pub hardware: String,
    /// The operating point.
    pub operating_point: String,
    /// The case.
    pub case: String,
}

impl Keys {
    /// Those of a case.
    pub(super) fn of(case: &Case, bench: &Bench) -> Self {
        let spec = bench.profile.spec();
        let engine = bench
            .stacks
            .iter()
            .enumerate()
            .find_map(|(engine, stack)| stack.and(spec.engines.get(engine)));
        let stack = bench.stacks.iter().flatten().next();
        let kernels = stack.and_then(|at| spec.software.get(*at)?.kernels.clone());
        Self {
            core: engine.and_then(|engine| engine.core.clone()),
            kernels: kernels.unwrap_or_else(|| case.runtime.family.clone()),
            runtime: case.runtime.family.clone(),
            version: case.runtime.to_string(),
            hardware: case.hardware.clone(),
            operating_point: case.operating_point.clone(),
            case: case.id.clone(),
        }
    }

    /// What it is along an axis, for a network where it is of one; `None` where it has no such thing.
    pub fn along(&self, axis: Axis, network: Option<&str>) -> Option<String> {
        match axis {
            Axis::Core => self.core.clone(),
            Axis::Runtime => Some(self.runtime.clone()),
            Axis::Kernels => Some(self.kernels.clone()),
            Axis::Version => Some(self.version.clone()),
            Axis::Hardware => Some(self.hardware.clone()),
            Axis::OperatingPoint => Some(format!("{} {}", self.hardware, self.operating_point)),
            Axis::Case => Some(self.case.clone()),
            Axis::Network => network.map(str::to_owned),
            Axis::NetworkFamily => network
                .map(|name| name.split_once('(').map_or(name, |(family, _)| family).to_owned()),
        }
    }

    /// What it is along several axes.
    pub fn along_all(&self, axes: &[Axis], network: Option<&str>) -> Option<String> {
        let parts: Option<Vec<_>> = axes.iter().map(|axis| self.along(*axis, network)).collect();
        Some(parts?.join(", "))
    }
}
