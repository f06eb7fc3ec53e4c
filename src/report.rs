//! Tables, JSON, plots and folders: what a person or a script looks at. Nothing is computed here.

mod folder;
pub mod json;
pub mod plot;
mod run_folder;
mod tables;

pub use folder::{FolderError, OutputFolder};
pub use run_folder::{RunFolderError, write_run};
pub use tables::{
    comparison_table, estimate_text, hardware_check_text, hardware_list_table, hardware_text,
    inspect_text, model_list_table, run_text,
};

use crate::cost::Setting;
use crate::estimate::Estimate;
use crate::mapping::{Network, Plan};
use crate::uncertainty::{Figure, Uncertainty};

/// A network on a profile at a setting, with its estimate and how sure that is: what every report
/// of a prediction starts from.
#[derive(Debug)]
pub struct Prediction<'a> {
    /// The network.
    pub network: &'a Network,
    /// Profile, operating point and software.
    pub setting: Setting<'a>,
    /// The plan.
    pub plan: &'a Plan,
    /// The estimate.
    pub estimate: &'a Estimate,
    /// Its uncertainty.
    pub uncertainty: &'a Uncertainty,
}

impl Prediction<'_> {
    /// Name of the software of the first engine that has one.
    pub fn software(&self) -> Option<&str> {
        let stacks = self.setting.stacks.iter().flatten();
        let spec = self.setting.profile.spec();
        stacks.filter_map(|s| spec.software.get(*s)).map(|s| s.name.as_str()).next()
    }

    /// `kws on stm32l4r5 at 120mhz, software any-runtime`.
    pub fn subject(&self) -> String {
        let spec = self.setting.profile.spec();
        let mut text =
            format!("{} on {} at {}", self.network.name, spec.name, self.setting.point.name);
        if let Some(software) = self.software() {
            text.push_str(&format!(", software {software}"));
        }
        text
    }

    /// Name of what a layer waits for.
    pub fn bound_name(&self, bound: crate::estimate::Bound) -> &str {
        use crate::estimate::Bound;
        match bound {
            Bound::Compute => "compute",
            Bound::Dispatch => "dispatch",
            Bound::Nothing => "nothing",
            Bound::Memory(m) => &self.setting.profile.spec().memories[m].name,
        }
    }

    /// The share of evidence under a figure; a product is as sound as the weaker part.
    pub fn coverage(&self, figure: Figure) -> f64 {
        let time = self.estimate.time_coverage.share();
        let energy = self.estimate.energy_coverage.share();
        match figure {
            Figure::Latency => time,
            Figure::Energy => energy,
            Figure::Edp | Figure::MeanPower => time.min(energy),
        }
    }
}
