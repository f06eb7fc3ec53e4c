//! Predicted against measured under one protocol: latency and energy side by side.

use super::super::called::{brief, counted, stem, worded};
use super::super::font;
use super::super::legend::Legend;
use super::super::names;
use super::super::parity::{self, Panel, Point, sample_interval};
use super::super::scene::Scene;
use super::super::sheet::Sheet;
use super::super::signs::Sign;
use super::super::theme::Theme;
use super::{QUANTITIES, counting, percent};
use crate::calibrate::{Missed, Protocol, Quantity, Scored};

/// Worst predictions that are named in a panel.
const NAMED: usize = 5;
const OF_ONE: usize = 2;
const LONGEST_NAME: f64 = 290.0;
/// Groups that the legend names.
const KEYS: usize = 18;

/// The picture and its size.
pub(in super::super) fn compose(
    scored: &[Scored],
    protocol: Protocol,
    theme: &Theme,
) -> (Scene, (u32, u32)) {
    let own: Vec<&Scored> = counting(scored).filter(|p| p.protocol == protocol).collect();
    let title = match protocol {
        Protocol::Uncalibrated => {
            "predicted from profiles as they stand, against measured".to_owned()
        }
        _ => "predicted by fits that never saw it, against measured".to_owned(),
    };
    let said = format!(
        "{} of whole networks; a prediction had: {}; bars: its 90 % interval",
        counted(own.len(), "measurement"),
        protocol.had()
    );
    let sheet = Sheet::new(&title, &[said], theme);
    let groups = Groups::of(scored, &own);
    let panels = QUANTITIES.map(|quantity| panel(&own, quantity, &groups, theme));
    let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.points.is_empty()).collect();
    parity::page(sheet, &panels, ("nothing was predicted so", theme), |legend| {
        explain(legend, &own, &groups, theme);
    })
}

/// What marks of one kind have in common: the family; the profile where all are of one family.
struct Groups<'a> {
    names: Vec<&'a str>,
    /// How many predictions each of the names has.
    sizes: Vec<usize>,
    /// Where a name stands among all of its kind: its mark is the same in every picture.
    places: Vec<&'a str>,
    key: fn(&Scored) -> &str,
    /// What the names are.
    heading: &'static str,
}

impl<'a> Groups<'a> {
    fn of(all: &'a [Scored], own: &[&'a Scored]) -> Self {
        let first = own.first().map(|p| p.family.as_str());
        let several = own.iter().any(|p| Some(p.family.as_str()) != first);
        let (heading, key): (_, fn(&Scored) -> &str) = match several {
            true => ("family", |p| p.family.as_str()),
            false => ("measured on", |p| p.hardware.as_str()),
        };
        let (names, sizes, places) = (Vec::new(), Vec::new(), Vec::new());
        let mut groups = Self { names, sizes, places, key, heading };
        for p in all {
            if !groups.places.contains(&key(p)) {
                groups.places.push(key(p));
            }
        }
        for p in own {
            match groups.names.iter().position(|own| *own == key(p)) {
                Some(at) => groups.sizes.iter_mut().skip(at).take(1).for_each(|size| *size += 1),
                None => {
                    groups.names.push(key(p));
                    groups.sizes.push(1);
                }
            }
        }
        groups
    }

    fn size(&self, name: &str) -> usize {
        let at = self.names.iter().position(|own| *own == name);
        at.and_then(|at| self.sizes.get(at)).copied().unwrap_or(0)
    }

    fn sign(&self, name: &str, theme: &Theme) -> Sign {
        Sign::of(self.places.iter().position(|own| *own == name).unwrap_or(0), theme)
    }
}

fn panel(own: &[&Scored], quantity: Quantity, groups: &Groups<'_>, theme: &Theme) -> Panel {
    let own: Vec<&Scored> = own.iter().copied().filter(|p| p.quantity == quantity).collect();
    let worst = worst(&own);
    // The many lie below the few.
    let mut own = own;
    let many = |p: &&Scored| groups.size((groups.key)(p));
    own.sort_by_key(|p| std::cmp::Reverse(many(p)));
    let points = own.iter().map(|p| Point {
        measured: p.measured,
        predicted: p.predicted,
        interval: (p.interval.low, p.interval.high),
        before: None,
        sign: groups.sign((groups.key)(p), theme),
        filled: true,
        name: worst.iter().any(|bad| std::ptr::eq(*bad, *p)).then(|| named(p)),
    });
    let (name, unit) = worded(quantity);
    let missed = Missed::by(own.iter().copied(), quantity);
    let figures = missed.map_or(String::new(), |own| {
        let (median, p90) = (percent(own.median), percent(own.p90));
        format!("half within {median}, nine of ten within {p90}")
    });
    Panel { title: name.to_owned(), figures, unit, points: points.collect() }
}

/// The worst predictions, no more than a few of one profile.
pub(super) fn worst<'a>(own: &[&'a Scored]) -> Vec<&'a Scored> {
    let error = |p: &Scored| (p.predicted / p.measured).ln().abs();
    let mut ranked = own.to_vec();
    ranked.sort_by(|one, other| error(other).total_cmp(&error(one)));
    let mut worst: Vec<&Scored> = Vec::new();
    for p in ranked {
        let same = worst.iter().filter(|known| known.hardware == p.hardware).count();
        if worst.len() < NAMED && same < OF_ONE {
            worst.push(p);
        }
    }
    worst
}

/// What a prediction is called, with its error.
fn named(p: &Scored) -> String {
    let error = format!(" {:+.0} %", p.relative_error() * 100.0).replace('-', "−");
    let room = LONGEST_NAME - font::width(&error, names::SIZE, false);
    font::squeezed(&brief(&p.id), names::SIZE, false, room) + &error
}

fn explain(legend: &mut Legend<'_>, own: &[&Scored], groups: &Groups<'_>, theme: &Theme) {
    let key =
        |name: &&str| (format!("{} ({})", stem(name), groups.size(name)), groups.sign(name, theme));
    let keys: Vec<(String, Sign)> = groups.names.iter().map(key).collect();
    parity::explain_signs(legend, groups.heading, &keys, KEYS, theme);
    let mut figures = Vec::new();
    for quantity in QUANTITIES {
        let Some(missed) = Missed::by(own.iter().copied(), quantity) else { continue };
        let covered = format!("{:.0} %", missed.coverage * 100.0);
        figures.push((format!("{}: worst", worded(quantity).0), percent(missed.worst)));
        figures.push((format!("{}: in their interval", worded(quantity).0), covered));
    }
    let figures: Vec<(&str, String)> =
        figures.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    legend.figures(&figures);
    legend.heading("marks");
    let first = groups.names.first().map_or(Sign::of(0, theme), |name| groups.sign(name, theme));
    legend.sample("prediction with its 90 % interval", |scene, at| {
        sample_interval(scene, at, first, theme);
    });
    parity::explain_lines(legend, theme);
}
