//! Heat of a scenario: whether there is a package for it to pass, and where it starts.

use super::read::{Reader, known};
use super::resolved::{Coupling, HeatStart};
use super::{HeatSpec, HeatStartSpec};
use crate::hardware::Profile;

/// How heat is coupled, nothing where it is not; or faults.
pub(super) fn heat(
    reader: &mut Reader,
    spec: &HeatSpec,
    profile: Option<&Profile>,
) -> Option<Option<Coupling>> {
    let HeatSpec::Coupled(spec) = spec else { return Some(None) };
    let ambient = match &spec.ambient {
        Some(ambient) => Some(known(ambient)?),
        None => None,
    };
    let start = match &spec.start {
        HeatStartSpec::Ambient => HeatStart::Ambient,
        HeatStartSpec::Settled => HeatStart::Settled,
        HeatStartSpec::At(temperature) => HeatStart::At(known(temperature)?),
    };
    let profile = profile?;
    let Some(package) = &profile.spec().package else {
        let name = &profile.spec().name;
        return reader.tried(
            "heat",
            Err::<Option<Coupling>, _>(format!(
                "profile `{name}` states no package for heat to pass\nhelp: with `heat: Fixed` all leaks as at the profile's temperature; docs/heat.md says how a package is stated"
            )),
        );
    };
    let air = ambient.unwrap_or_else(|| package.ambient.get());
    let critical = package.critical.as_ref().map(|own| own.temperature.get());
    let limit = critical.map_or(package.ceiling(), |own| own.min(package.ceiling()));
    if air >= limit {
        let message =
            format!("in air of {air} the package would be off at once: its limit is {limit}");
        reader.fault("heat.Coupled.ambient", message);
    }
    if let HeatStart::At(temperature) = start
        && temperature >= limit
    {
        let message = format!("a package whose limit is {limit} does not start at {temperature}");
        reader.fault("heat.Coupled.start", message);
    }
    Some(Some(Coupling { ambient, start }))
}
