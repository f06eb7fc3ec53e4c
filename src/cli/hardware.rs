//! `hardware`: what ships, what is in it, whether a profile is sound.

use super::{Answer, CliError};
use crate::hardware::{HardwareError, Profile, ShippedProfile, shipped_profiles};
use crate::report::{hardware_list_table, hardware_text, json};
use clap::Subcommand;

/// Verbs on hardware profiles.
#[derive(Debug, Subcommand)]
pub(super) enum Hardware {
    /// Profiles that ship, and the share of their numbers on evidence
    List {
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Rails, blocks and every number with its source
    Show {
        /// A shipped name or a .ron file
        profile: String,
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// All faults of a profile together, and what its numbers rest on
    Check {
        /// A shipped name or a .ron file
        profile: String,
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Hardware {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::List { json } => {
                let profiles: Result<Vec<(ShippedProfile, Profile)>, HardwareError> =
                    shipped_profiles()
                        .iter()
                        .map(|s| Ok((*s, Profile::parse(s.path, s.text)?)))
                        .collect();
                let profiles = profiles?;
                Ok(if *json {
                    Answer::json(&json::hardware_list(&profiles), true)
                } else {
                    Answer::yes(hardware_list_table(&profiles))
                })
            }
            Self::Show { profile, json } => {
                let profile = Profile::load(profile)?;
                Ok(if *json {
                    Answer::json(&json::hardware(&profile), true)
                } else {
                    Answer::yes(hardware_text(&profile))
                })
            }
            Self::Check { profile, json } => {
                let profile = Profile::load(profile)?;
                Ok(if *json {
                    Answer::json(&json::hardware(&profile), true)
                } else {
                    Answer::yes(crate::report::hardware_check_text(&profile))
                })
            }
        }
    }
}
