//! `hardware check`: faults together, weak numbers, and what headline numbers rest on.

use crate::cli::{Answer, CliError};
use crate::cost::Setting;
use crate::hardware::{Profile, load_software};
use crate::mapping::Network;
use crate::model::{read_ron, shipped_models};
use crate::report::{
    CheckedModel, hardware_check_text, headlines_text, json, software_check_text, weak_numbers_text,
};
use crate::uncertainty::headlines;
use clap::Args;
use std::collections::BTreeSet;

/// Where the reference models are: MLPerf Tiny.
const REFERENCES: &str = "models/mlperf_tiny/";

/// Arguments of `hardware check`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Check {
    /// A shipped name or a .ron file, of a profile or of software stacks alone
    profile: String,
    /// Operating point of the headline numbers; the profile's first when left out
    #[arg(long, value_name = "NAME")]
    opp: Option<String>,
    /// Software stack of the headline numbers; the profile's first when left out
    #[arg(long, value_name = "NAME")]
    software: Option<String>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        if let Some(software) = load_software(&self.profile)? {
            return Ok(match self.json {
                true => Answer::json(&json::software_check(&self.profile, &software), true),
                false => Answer::yes(software_check_text(&self.profile, &software)),
            });
        }
        let profile = Profile::load(&self.profile)?;
        let point = profile.point(self.opp.as_deref())?;
        let stacks = profile.stacks(self.software.as_deref())?;
        let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
        let models = references(setting)?;
        Ok(if self.json {
            Answer::json(&json::hardware_check(&profile, &point.name, &models), true)
        } else {
            let text = hardware_check_text(&profile);
            let headlines = headlines_text(&named(setting), &models);
            Answer::yes(text + &headlines + &weak_numbers_text(&profile))
        })
    }
}

fn references(setting: Setting<'_>) -> Result<Vec<CheckedModel>, CliError> {
    let fused = setting.profile.fuses(setting.stacks);
    let shipped = shipped_models().iter().filter(|model| model.path.starts_with(REFERENCES));
    let checked = shipped.map(|model| {
        let network = Network::executed(&read_ron(model.path, model.text)?, fused)?;
        let headlines = headlines(&network, setting);
        Ok(CheckedModel { model: model.name.to_owned(), headlines })
    });
    checked.collect()
}

/// `120mhz_1v8, software any-runtime`.
fn named(setting: Setting<'_>) -> String {
    let stacks: BTreeSet<usize> = setting.stacks.iter().flatten().copied().collect();
    let software = &setting.profile.spec().software;
    let stacks = stacks.into_iter().filter_map(|s| software.get(s));
    let names: Vec<&str> = stacks.map(|stack| stack.name.as_str()).collect();
    match names.as_slice() {
        [] => setting.point.name.clone(),
        names => format!("{}, software {}", setting.point.name, names.join(" and ")),
    }
}
