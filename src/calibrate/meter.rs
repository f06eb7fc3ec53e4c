//! What a meter on some of the rails sees.
//!
//! A rail carries its own loads, all that regulators draw from it for rails behind them, and what is lost
//! in these.

use crate::cost::Setting;
use crate::estimate::ComponentEnergy;
use crate::hardware::{HardwareError, Profile, Role};
use crate::units::Joules;

/// The rails that a meter sees.
#[derive(Debug)]
pub(super) struct Meter(Option<Vec<usize>>);

impl Meter {
    /// A meter on the named rails, or on all sources where none is named.
    ///
    /// # Errors
    /// The profile has no such rail.
    pub(super) fn on(rails: &[String], profile: &Profile) -> Result<Self, HardwareError> {
        if rails.is_empty() {
            return Ok(Self(None));
        }
        let found = rails.iter().map(|rail| profile.rail(rail)).collect::<Result<_, _>>()?;
        Ok(Self(Some(found)))
    }

    /// True for a meter on all sources.
    pub(super) fn is_on_all(&self) -> bool {
        self.0.is_none()
    }

    /// Energy of these parts that it sees, of `all` at the sources.
    pub(super) fn reads(
        &self,
        parts: &[ComponentEnergy],
        all: Joules,
        setting: Setting<'_>,
    ) -> Joules {
        let Some(rails) = &self.0 else { return all };
        let links = setting.profile.links();
        let mut seen = vec![false; setting.point.voltages.len()];
        for rail in rails {
            seen[*rail] = true;
        }
        // Regulators in use stand behind those that feed them, in reverse.
        for &index in setting.point.regulators.iter().rev() {
            let (input, output) = links.regulator_rails[index];
            seen[output] |= seen[input];
        }
        let rail = |role: Role| match role {
            Role::Engine(engine) => links.domain_rail[links.engine_domain[engine]],
            Role::Channel(channel) => links.domain_rail[links.channel_domain[channel]],
            Role::Clock(domain)
            | Role::Rest(domain)
            | Role::Leakage(domain)
            | Role::Grid(domain) => links.domain_rail[domain],
            Role::Load(load) => links.load_rail[load],
            Role::Regulator(regulator) => links.regulator_rails[regulator].0,
        };
        parts.iter().filter(|part| seen[rail(part.role)]).map(|part| part.energy).sum()
    }
}
