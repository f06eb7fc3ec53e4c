//! What one engine's panel shows, as numbers in SI.

use crate::estimate::roofline::{
    ComputeRoof, Counted, EnergyRoof, EngineRoofline, LayerPoint, Level, Roofs as CountedRoofs,
};
use crate::model::OpKind;
use crate::report::Roofs;
use crate::report::roofs::{factor, is_unfounded, standing};
use crate::uncertainty::{CountBands, EngineBands, Interval90};
use crate::units::{Quantity, engineering};

/// An energy roof that comes so near its end has reached it, as far as eyes can tell.
const NEARLY: f64 = 0.99;

/// A roof for all intensities.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ceiling {
    pub value: f64,
    pub label: String,
    pub unfounded: bool,
    /// Least and most of it.
    pub band: Option<(f64, f64)>,
    /// The intensity from which it is the lowest roof of some layer.
    pub from: f64,
    pub role: Role,
}

/// What a ceiling is to its chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A roof.
    Roof,
    /// What a roof comes near.
    Limit,
    /// What a limit is made of.
    Part,
}

/// A roof that rises with intensity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slope {
    /// Levels whose roof it is.
    pub names: String,
    /// Its figures.
    pub what: String,
    pub unfounded: bool,
    /// Value over intensity where it rises.
    pub steep: f64,
    /// Its course.
    pub curve: Vec<(f64, f64)>,
    /// Intensity, least and most.
    pub band: Vec<(f64, f64, f64)>,
    /// Ridges, or the balance point of energy.
    pub knees: Vec<(f64, f64)>,
}

/// A layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    pub x: f64,
    pub y: f64,
    /// Its intensities at other levels.
    pub others: Vec<f64>,
    pub energy: f64,
    pub kind: OpKind,
    pub name: String,
    /// True for element operations.
    pub square: bool,
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Chart {
    pub engine: String,
    pub ceilings: Vec<Ceiling>,
    pub slopes: Vec<Slope>,
    /// Helping lines, dotted.
    pub dotted: Vec<Vec<(f64, f64)>>,
    pub marks: Vec<Mark>,
    /// Names and values that sum the panel up.
    pub figures: Vec<(&'static str, String)>,
    pub moving: usize,
    /// True where layers of MACs set the scale.
    pub has_macs: bool,
}

impl Chart {
    pub(super) fn of(roofs: &Roofs<'_>, engine: &EngineRoofline, bands: &EngineBands) -> Self {
        let name = roofs.engine_name(engine.engine).to_owned();
        let mut chart = Self { engine: name, moving: engine.moving.layers, ..Self::default() };
        chart.has_macs = !engine.macs.layers.is_empty();
        let view = View { roofs, engine, bands };
        if roofs.energy {
            view.energy(&mut chart, &engine.macs, &bands.macs, true);
            let alone = !chart.has_macs;
            view.energy(&mut chart, &engine.operations, &bands.operations, alone);
        } else {
            view.time(&mut chart, &engine.macs, &bands.macs);
            view.time(&mut chart, &engine.operations, &bands.operations);
            view.time_slopes(&mut chart);
        }
        view.figures(&mut chart, &engine.macs);
        view.figures(&mut chart, &engine.operations);
        chart
    }

    /// Adds a slope; two that are the same are one with both names.
    fn add(&mut self, slope: Slope) {
        let same = |known: &&mut Slope| {
            (known.steep / slope.steep - 1.0).abs() < 1e-9 && known.what == slope.what
        };
        match self.slopes.iter_mut().find(same) {
            Some(known) => known.names = format!("{}, {}", known.names, slope.names),
            None => self.slopes.push(slope),
        }
    }

    /// The highest roof.
    pub(super) fn top(&self) -> f64 {
        let roofs = self.ceilings.iter().filter(|ceiling| ceiling.role != Role::Part);
        roofs.map(|ceiling| ceiling.value).fold(0.0, f64::max)
    }
}

/// An engine as it is looked at.
struct View<'a> {
    roofs: &'a Roofs<'a>,
    engine: &'a EngineRoofline,
    bands: &'a EngineBands,
}

impl View<'_> {
    fn time<C: Counted>(&self, chart: &mut Chart, counted: &CountedRoofs<C>, bands: &CountBands) {
        for (at, compute) in counted.compute.iter().enumerate() {
            let ridges = self.engine.levels.iter().map(|level| compute.ridge(level).si());
            let what = match C::NAME {
                "MAC" => format!("{} peak", compute.precision),
                _ => format!("{} element operations", compute.precision),
            };
            chart.ceilings.push(Ceiling {
                value: compute.peak.si(),
                label: format!("{what} {}{}", compute.peak, standing(compute.kind)),
                unfounded: is_unfounded(compute.kind),
                band: bands.peaks.get(at).map(|band| (band.low, band.high)),
                from: ridges.fold(f64::INFINITY, f64::min),
                role: Role::Roof,
            });
        }
        let marks = counted.layers.iter().filter_map(|layer| {
            let place = layer.ridge?.level;
            self.mark(layer, place, layer.point.attained().si())
        });
        chart.marks.extend(marks);
    }

    /// Bandwidths, up to the highest compute roof.
    fn time_slopes(&self, chart: &mut Chart) {
        let top = chart.top();
        let unit = if chart.has_macs { "MAC/B" } else { "op/B" };
        for (at, level) in self.engine.levels.iter().enumerate() {
            let rate = level.bandwidth.0;
            if top <= 0.0 || rate <= 0.0 {
                continue;
            }
            let ridge = top / rate;
            let band = self.bands.levels.get(at).filter(|band| band.low < rate || band.high > rate);
            let strip = |band: &Interval90| {
                let ends = [1e-9, top / band.high, ridge, top / band.low];
                let at = |x: f64| (x, (x * band.low).min(top), (x * band.high).min(top));
                ends.map(at).to_vec()
            };
            let what = format!("{}, ridge {} {unit}", level.bandwidth, factor(ridge));
            chart.add(Slope {
                names: self.roofs.level_name(level).to_owned(),
                what: what + &standing(level.kind),
                unfounded: is_unfounded(level.kind),
                steep: rate,
                curve: vec![(ridge * 1e-9, top * 1e-9), (ridge, top)],
                band: band.map(strip).unwrap_or_default(),
                knees: chart.ceilings.iter().map(|c| (c.value / rate, c.value)).collect(),
            });
        }
    }

    fn energy<C: Counted>(
        &self,
        chart: &mut Chart,
        counted: &CountedRoofs<C>,
        bands: &CountBands,
        leads: bool,
    ) {
        let marks = counted.layers.iter().filter_map(|layer| {
            let costs = layer.point.moving.iter().enumerate().filter(|(_, energy)| energy.0 > 0.0);
            let dearest = costs.reduce(|most, own| if own.1 > most.1 { own } else { most });
            let place = dearest.map(|(place, _)| place).or(layer.ridge.map(|r| r.level))?;
            self.mark(layer, place, layer.point.per_joule().si())
        });
        chart.marks.extend(marks);
        // What one format costs is drawn; of others there are figures.
        let Some(compute) = counted.compute.first() else { return };
        let roofs = self.energy_roofs(compute);
        let Some((_, any)) = roofs.first() else { return };
        let best = any.best().si();
        let kind = compute.energy_kind.weaker(self.roofs.roofline.constant_kind());
        let reached = bands.energy.iter().zip(0..).filter_map(|(band, place)| {
            let (_, roof) = roofs.iter().find(|(at, _)| *at == place)?;
            let near = |x: &f64| roof.at(C::PerByte::from_si(*x)).si() >= best * NEARLY;
            band.points.iter().map(|(x, _)| *x).find(near)
        });
        let from = reached.fold(f64::INFINITY, f64::min);
        let ceiling = |label: String, value: f64, role: Role| {
            let label =
                format!("{label} {}{}", engineering(value, C::PerJoule::UNIT), standing(kind));
            let unfounded = is_unfounded(kind);
            Ceiling { value, label, unfounded, band: None, from, role }
        };
        let what = if C::NAME == "MAC" { "" } else { " element operations" };
        let full = format!("{}{what} at best", compute.precision);
        chart.ceilings.push(ceiling(full, best, if leads { Role::Roof } else { Role::Limit }));
        if !leads {
            return;
        }
        for (label, value) in [
            ("switching alone", 1.0 / any.operation.si()),
            ("constant power alone", any.peak.si() / any.constant.0),
        ] {
            if value.is_finite() && value < best * 30.0 && value > best * 1.02 {
                chart.ceilings.push(ceiling(label.to_owned(), value, Role::Part));
            }
        }
        for (place, roof) in &roofs {
            let Some(level) = self.engine.levels.get(*place) else { continue };
            let points = bands.energy.get(*place).map(|band| band.points.as_slice());
            chart.add(self.energy_slope(level, roof, points.unwrap_or_default()));
        }
        if let [(place, roof)] = roofs.as_slice() {
            let points = bands.energy.get(*place).map_or(&[][..], |band| &band.points);
            let course = |of: fn(&EnergyRoof<C>, C::PerByte) -> C::PerJoule| {
                let at = |(x, _): &(f64, Interval90)| (*x, of(roof, C::PerByte::from_si(*x)).si());
                points.iter().map(at).collect::<Vec<_>>()
            };
            chart.dotted.push(course(EnergyRoof::switching_alone));
            chart.dotted.push(course(EnergyRoof::constant_alone));
        }
    }

    /// Levels at which bytes cost something, by their place.
    fn energy_roofs<C: Counted>(&self, compute: &ComputeRoof<C>) -> Vec<(usize, EnergyRoof<C>)> {
        let constant = self.roofs.roofline.constant.power;
        let levels = self.engine.levels.iter().enumerate();
        let roofs = levels.map(|(at, level)| (at, EnergyRoof::of(compute, level, constant)));
        let costs = |roof: &EnergyRoof<C>| {
            let steep = roof.steep(C::PerByte::from_si(1.0)).si();
            steep.is_finite() && steep > 0.0 && roof.best().si().is_finite()
        };
        roofs.filter(|(_, roof)| costs(roof)).collect()
    }

    fn energy_slope<C: Counted>(
        &self,
        level: &Level,
        roof: &EnergyRoof<C>,
        points: &[(f64, Interval90)],
    ) -> Slope {
        let balance = roof.balance();
        let known = balance.si() > 0.0 && balance.si().is_finite();
        // Without energy of its own a level costs the time that it takes.
        let kind = if known { level.energy_kind.weaker(level.kind) } else { level.kind };
        let what = if known {
            format!("{}, balance {} {}/B", level.energy, factor(balance.si()), C::NAME)
        } else {
            format!("{}, no energy a byte given", level.bandwidth)
        };
        // From where it has come near its end on, that is the roof of all levels.
        let mut reached = false;
        let curve = points.iter().map_while(|(x, _)| {
            let y = roof.at(C::PerByte::from_si(*x)).si();
            let before = !reached;
            reached = y >= roof.best().si() * NEARLY;
            before.then_some((*x, y))
        });
        Slope {
            names: self.roofs.level_name(level).to_owned(),
            what: what + &standing(kind),
            unfounded: is_unfounded(kind),
            steep: roof.steep(C::PerByte::from_si(1.0)).si(),
            curve: curve.collect(),
            band: points.iter().map(|(x, band)| (*x, band.low, band.high)).collect(),
            knees: if known { vec![(balance.si(), roof.at(balance).si())] } else { Vec::new() },
        }
    }

    fn mark<C: Counted>(&self, layer: &LayerPoint<C>, place: usize, y: f64) -> Option<Mark> {
        let x = layer.point.intensity(place)?.si();
        let others = (0..self.engine.levels.len()).filter(|level| *level != place);
        let others = others.filter_map(|level| Some(layer.point.intensity(level)?.si()));
        let drawn = [x, y].into_iter().all(|value| value.is_finite() && value > 0.0);
        drawn.then(|| Mark {
            x,
            y,
            others: others.filter(|x| x.is_finite() && *x > 0.0).collect(),
            energy: layer.point.energy.0,
            kind: layer.kind,
            name: layer.name.clone(),
            square: C::NAME != "MAC",
        })
    }

    fn figures<C: Counted>(&self, chart: &mut Chart, counted: &CountedRoofs<C>) {
        let Some(whole) = counted.whole() else { return };
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let layers = counted.layers.len().to_string();
        let macs = C::NAME == "MAC";
        chart.figures.push((if macs { "layers of MACs" } else { "layers without MACs" }, layers));
        if self.roofs.energy {
            chart.figures.push(("  attained, all as one", whole.per_joule().to_string()));
            chart.figures.push(("  attainable", whole.attainable_per_joule().to_string()));
            chart.figures.push(("  share of attainable", percent(whole.energy_share())));
        } else {
            chart.figures.push(("  attained, all as one", whole.attained().to_string()));
            chart.figures.push(("  attainable", whole.attainable().to_string()));
            chart.figures.push(("  share of attainable", percent(whole.share())));
        }
    }
}
