//! What feeds a scenario: a choice among the supplies of the profile, and what each starts with.

use super::checked::named;
use super::read::{Reader, known, known_or};
use super::resolved::{PowerSource, Scenario};
use super::{BatteryChoice, StorageChoice, SupplyChoice};
use crate::hardware::{Profile, Supply};
use crate::sim::supplied::SupplyStart;
use crate::units::Ratio;

/// The choice, or faults.
pub(super) fn power(
    reader: &mut Reader,
    choice: &SupplyChoice,
    profile: Option<&Profile>,
) -> Option<PowerSource> {
    match choice {
        SupplyChoice::AsProfile => Some(PowerSource::AsProfile),
        SupplyChoice::Bench => Some(PowerSource::Bench),
        SupplyChoice::Battery(own) => battery(reader, own, profile),
        SupplyChoice::Storage(own) => storage(reader, own, profile),
    }
}

fn battery(
    reader: &mut Reader,
    own: &BatteryChoice,
    profile: Option<&Profile>,
) -> Option<PowerSource> {
    let charge = known_or(own.charge.as_deref(), Ratio(1.0))?;
    if !(0.0..=1.0).contains(&charge.0) {
        reader.fault("supply.Battery.charge", "a battery is full to between 0 and 100 %");
    }
    let (supply, stated) = chosen(reader, "supply.Battery.supply", &own.supply, profile?)?;
    if stated.capacity.is_none() {
        let message = format!("supply `{}` of the profile has no capacity", own.supply);
        reader.fault("supply.Battery.supply", message);
    }
    Some(PowerSource::Battery { supply, charge })
}

fn storage(
    reader: &mut Reader,
    own: &StorageChoice,
    profile: Option<&Profile>,
) -> Option<PowerSource> {
    let voltage = match &own.voltage {
        Some(voltage) => Some(known(voltage)?),
        None => None,
    };
    let (supply, stated) = chosen(reader, "supply.Storage.supply", &own.supply, profile?)?;
    let Some(storage) = &stated.storage else {
        let message = format!("supply `{}` of the profile is no storage", own.supply);
        reader.fault("supply.Storage.supply", message);
        return None;
    };
    let (least, most) = (storage.minimum.get(), storage.maximum.get());
    if let Some(voltage) = voltage.filter(|voltage| !(*voltage > least && *voltage <= most)) {
        let message = format!(
            "a storage of {least} to {most} does not start at {voltage}: above the one, up to the other"
        );
        reader.fault("supply.Storage.voltage", message);
    }
    Some(PowerSource::Storage { supply, voltage })
}

fn chosen<'a>(
    reader: &mut Reader,
    path: &str,
    name: &str,
    profile: &'a Profile,
) -> Option<(usize, &'a Supply)> {
    let supplies = &profile.spec().supplies;
    let names = supplies.iter().map(|supply| supply.name.as_str());
    let supply = named(reader, path, "supply", name, names)?;
    supplies.get(supply).map(|stated| (supply, stated))
}

impl Scenario {
    /// Supplies that run down, by number, and what each starts with.
    pub(in crate::sim) fn starts(&self) -> Vec<(usize, SupplyStart)> {
        let supplies = self.profile().spec().supplies.iter().enumerate();
        let starts = supplies.filter_map(|(number, supply)| {
            let full = supply.storage.as_ref().map(|own| own.maximum.get());
            let start = match self.power {
                PowerSource::Bench => return None,
                PowerSource::Battery { supply: own, charge } if own == number => {
                    SupplyStart::Charge(charge)
                }
                PowerSource::Storage { supply: own, voltage } if own == number => {
                    SupplyStart::Voltage(voltage.or(full)?)
                }
                PowerSource::Battery { .. } | PowerSource::Storage { .. } => return None,
                PowerSource::AsProfile => match full {
                    Some(full) => SupplyStart::Voltage(full),
                    None => SupplyStart::Charge(self.charge_at_first(supply)),
                },
            };
            Some((number, start))
        });
        starts.collect()
    }

    /// Share of its charge that a battery of the profile has where the scenario does not say.
    fn charge_at_first(&self, supply: &Supply) -> Ratio {
        supply.charge.as_ref().map_or(Ratio(1.0), |charge| charge.get())
    }

    /// Share of its capacity that a supply of the profile starts with; nothing of one that feeds nothing here.
    pub fn charge_of(&self, supply: usize) -> Option<Ratio> {
        let starts = self.starts();
        let (_, start) = starts.into_iter().find(|(own, _)| *own == supply)?;
        match start {
            SupplyStart::Charge(share) => Some(share),
            SupplyStart::Voltage(_) => None,
        }
    }
}
