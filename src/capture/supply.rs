//! Which channels make the power of which supply line.

use crate::trace::{
    ChannelId, ChannelKind, Component, ComponentKind, Counter, Header, Layout, Rail,
};
use crate::units::Volts;

/// How the power of a supply line comes about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Electrical {
    /// A channel of power.
    Measured(ChannelId),
    /// Voltage times current, sample by sample.
    Product {
        /// The channel of voltage.
        voltage: ChannelId,
        /// The channel of current.
        current: ChannelId,
    },
    /// A stated voltage times a channel of current.
    Stated {
        /// The voltage.
        voltage: Volts,
        /// The channel of current.
        current: ChannelId,
    },
    /// A current without a voltage: no power is known.
    CurrentAlone(ChannelId),
    /// A voltage without a current: no power is known.
    VoltageAlone(ChannelId),
}

/// One supply line of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplyLine {
    /// Its name.
    pub name: String,
    /// How its power comes about.
    pub electrical: Electrical,
    /// Its channel of voltage, where it has one.
    pub voltage: Option<ChannelId>,
    /// Its channel of current, where it has one.
    pub current: Option<ChannelId>,
    /// The line that feeds it and is measured too, by index.
    pub part_of: Option<usize>,
}

impl SupplyLine {
    /// True where its power is known.
    pub fn has_power(&self) -> bool {
        !matches!(self.electrical, Electrical::CurrentAlone(_) | Electrical::VoltageAlone(_))
    }
}

/// The supply lines of a capture, and its other channels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Supply {
    /// Supply lines, in the order of the file.
    pub lines: Vec<SupplyLine>,
    /// Channels that are no electrical quantity.
    pub counters: Vec<ChannelId>,
}

impl Supply {
    /// Sorts the channels of a layout. `voltage` stands in for lines that have a current and no
    /// voltage, where the file states none either.
    pub fn of(layout: &Layout, voltage: Option<Volts>) -> Self {
        let mut supply = Self::default();
        for (id, channel) in layout.channels.iter().enumerate() {
            let electrical = matches!(
                channel.kind,
                ChannelKind::Power | ChannelKind::Current | ChannelKind::Voltage
            );
            if !electrical {
                supply.counters.push(ChannelId(id));
            } else if !supply.lines.iter().any(|line| line.name == channel.rail) {
                let line = line(layout, &channel.rail, layout.supply.or(voltage));
                supply.lines.extend(line);
            }
        }
        let parents: Vec<_> =
            supply.lines.iter().map(|line| parent(layout, &supply, line)).collect();
        for (line, parent) in supply.lines.iter_mut().zip(parents) {
            line.part_of = parent;
        }
        supply
    }

    /// The lines whose power is measured within that of `line`.
    pub fn parts(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        let of = move |(at, other): (usize, &SupplyLine)| {
            (other.part_of == Some(line) && other.has_power()).then_some(at)
        };
        self.lines.iter().enumerate().filter_map(of)
    }

    /// The header of the trace: one component a line whose power is known, in the order of the
    /// lines. A line with parts stands for what is left of it beside them, so that the components
    /// add up to what was drawn.
    pub fn header(&self, layout: &Layout) -> Header {
        let powered = self.lines.iter().enumerate().filter(|(_, line)| line.has_power());
        let component = |(at, line): (usize, &SupplyLine)| Component {
            name: if self.parts(at).next().is_some() {
                format!("{} (rest)", line.name)
            } else {
                line.name.clone()
            },
            kind: ComponentKind::Measured,
            domain: String::new(),
            rail: line.name.clone(),
        };
        let rail = |line: &SupplyLine| Rail { name: line.name.clone(), is_source: true };
        let counter = |id: &ChannelId| {
            let channel = layout.channels.get(id.0)?;
            Some(Counter { name: channel.name.clone(), kind: channel.kind })
        };
        Header {
            components: powered.map(component).collect(),
            rails: self.lines.iter().map(rail).collect(),
            counters: self.counters.iter().filter_map(counter).collect(),
            lines: layout.lines.clone(),
        }
    }
}

fn line(layout: &Layout, name: &str, stated: Option<Volts>) -> Option<SupplyLine> {
    let channel = |kind| {
        let is = |c: &crate::trace::Channel| c.rail == name && c.kind == kind;
        layout.channels.iter().position(is).map(ChannelId)
    };
    let [power, voltage, current] =
        [ChannelKind::Power, ChannelKind::Voltage, ChannelKind::Current].map(channel);
    let electrical = match (power, voltage, current, stated) {
        (Some(power), ..) => Electrical::Measured(power),
        (None, Some(voltage), Some(current), _) => Electrical::Product { voltage, current },
        (None, None, Some(current), Some(voltage)) => Electrical::Stated { voltage, current },
        (None, None, Some(current), None) => Electrical::CurrentAlone(current),
        (None, Some(voltage), None, _) => Electrical::VoltageAlone(voltage),
        (None, None, None, _) => return None,
    };
    Some(SupplyLine { name: name.into(), electrical, voltage, current, part_of: None })
}

/// The line that feeds `line`, if its own power is known.
fn parent(layout: &Layout, supply: &Supply, line: &SupplyLine) -> Option<usize> {
    let feeds = layout.channels.iter().filter(|c| c.rail == line.name);
    let name = feeds.filter_map(|c| c.part_of.as_deref()).next()?;
    let at = supply.lines.iter().position(|other| other.name == name && other.name != line.name)?;
    supply.lines.get(at).filter(|other| other.has_power()).map(|_| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Channel;

    fn layout(channels: &[(&str, ChannelKind, &str)]) -> Layout {
        let channel =
            |(name, kind, rail): &(&str, ChannelKind, &str)| Channel::new(*name, *kind, *rail);
        Layout { channels: channels.iter().map(channel).collect(), ..Layout::default() }
    }

    #[test]
    fn power_comes_from_what_the_file_has() {
        use ChannelKind::{Current, Power, Temperature, Voltage};
        let layout = layout(&[
            ("i", Current, "a"),
            ("v", Voltage, "a"),
            ("p", Power, "b"),
            ("i", Current, "b"),
            ("i", Current, "c"),
            ("t", Temperature, ""),
        ]);
        let supply = Supply::of(&layout, None);
        let how: Vec<_> = supply.lines.iter().map(|line| line.electrical).collect();
        let product = Electrical::Product { voltage: ChannelId(1), current: ChannelId(0) };
        let alone = Electrical::CurrentAlone(ChannelId(4));
        assert_eq!(how, [product, Electrical::Measured(ChannelId(2)), alone]);
        let header = supply.header(&layout);
        assert_eq!(header.components.len(), 2);
        assert_eq!(header.counters[0].name, "t");
        let stated = Supply::of(&layout, Some(Volts(3.0)));
        let of_c = Electrical::Stated { voltage: Volts(3.0), current: ChannelId(4) };
        assert_eq!(stated.lines[2].electrical, of_c);
    }

    #[test]
    fn a_line_with_parts_stands_for_the_rest_of_it() {
        let mut layout =
            layout(&[("in", ChannelKind::Power, "VDD_IN"), ("soc", ChannelKind::Power, "VDD_SOC")]);
        layout.channels[1].part_of = Some("VDD_IN".into());
        let supply = Supply::of(&layout, None);
        assert_eq!(supply.parts(0).collect::<Vec<_>>(), [1]);
        let names: Vec<_> = supply.header(&layout).components.into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["VDD_IN (rest)", "VDD_SOC"]);
    }
}
