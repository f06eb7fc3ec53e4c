//! What numbers and measurements of a fit are called beside a chart.

use super::font;
use super::scene::{Anchor, Label, Scene};
use super::theme::Theme;
use crate::calibrate::{FitReport, FittedNumber, FittedSight, Quantity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Size of a name beside a row.
pub(super) const NAME_SIZE: f64 = 12.0;
/// Paper between what a thing is of and its own name.
const GAP: f64 = 8.0;

/// A name with what it is of, where that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    pub name: String,
    pub of: String,
}

impl Called {
    /// Writes it right-aligned at a middle height; what it is of gives way first.
    pub(super) fn write(
        &self,
        scene: &mut Scene,
        (right, middle): (f64, f64),
        room: f64,
        theme: &Theme,
    ) {
        let baseline = middle + NAME_SIZE * font::CAPITAL / 2.0;
        let name = font::squeezed(&self.name, NAME_SIZE, false, room);
        let left = room - font::width(&name, NAME_SIZE, false) - GAP;
        let label = Label::new(name, (right, baseline), NAME_SIZE, theme.text);
        let own = label.area().width();
        scene.text(label.anchored(Anchor::End));
        let of = font::squeezed(&self.of, NAME_SIZE, false, left);
        let at = (right - own - GAP, baseline);
        scene.text(Label::new(of, at, NAME_SIZE, theme.quiet).anchored(Anchor::End));
    }

    /// Both in one line, within some room.
    pub(super) fn line(&self, size: f64, room: f64) -> String {
        let text = match self.of.is_empty() {
            true => self.name.clone(),
            false => format!("{} {}", self.of, self.name),
        };
        font::squeezed(&text, size, false, room)
    }
}

/// Names of all numbers, in their order: the ends of their paths, as long as it takes to tell them apart, with
/// the profile and the version of a runtime where there are several.
pub(super) fn numbers(report: &FitReport) -> Vec<Called> {
    let ends = ends(report.numbers.iter().map(|number| number.name.as_str()));
    let of = |key: fn(&FittedNumber) -> &str| {
        report.numbers.iter().map(key).collect::<BTreeSet<_>>().len() > 1
    };
    let several = of(|number| &number.hardware);
    let called = |number: &FittedNumber| {
        let hardware = several.then(|| stem(&number.hardware));
        let parts: Vec<String> = hardware.into_iter().chain(number.version.clone()).collect();
        let name = ends.get(number.name.as_str()).cloned();
        Called { name: name.unwrap_or_else(|| number.name.clone()), of: parts.join(", ") }
    };
    report.numbers.iter().map(called).collect()
}

/// The shortest end of each path, of two parts at least, that no other path has.
fn ends<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let paths: BTreeSet<&str> = paths.collect();
    let tails = |path: &'a str| {
        let dots: Vec<usize> = parts(path).collect();
        let starts = dots.into_iter().rev().skip(1).chain([0]);
        starts.filter_map(move |start| path.get(start..)).collect::<Vec<_>>()
    };
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for tail in paths.iter().flat_map(|path| tails(path)) {
        *owners.entry(tail).or_default() += 1;
    }
    let short = |path: &'a str| {
        let own = tails(path).into_iter().find(|tail| owners.get(tail) == Some(&1));
        own.unwrap_or(path).to_owned()
    };
    paths.iter().map(|path| (*path, short(path))).collect()
}

/// Where the parts of a path but the first start: `x-cube-ai-7.1.0` is one.
fn parts(path: &str) -> impl Iterator<Item = usize> + '_ {
    let is_part = |at: &usize| {
        path.get(*at..).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    path.match_indices('.').map(|(at, _)| at + 1).filter(is_part)
}

/// The software that a number is of.
pub(super) fn software(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("software.")?;
    let end = parts(rest).next().map_or(rest.len(), |start| start - 1);
    rest.get(..end)
}

/// A profile without its folder and extension.
pub(super) fn stem(hardware: &str) -> String {
    let stem = Path::new(hardware).file_stem();
    stem.map_or_else(|| hardware.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A network of a family without the names of its parameters: `mobilenet_v1(0.5,160)`.
pub(super) fn brief(id: &str) -> String {
    let Some((head, rest)) = id.split_once('(') else { return id.to_owned() };
    let Some((parameters, tail)) = rest.split_once(')') else { return id.to_owned() };
    let values = parameters.split(',').map(|one| one.split_once('=').map_or(one, |(_, own)| own));
    format!("{head}({}){tail}", values.collect::<Vec<_>>().join(","))
}

/// A measurement, without its case where that is the only one.
pub(super) fn sight(sight: &FittedSight, several_cases: bool) -> Called {
    let own = sight.id.strip_prefix(sight.case.as_str()).and_then(|rest| rest.strip_prefix('/'));
    let of = if several_cases { sight.case.clone() } else { String::new() };
    Called { name: brief(own.unwrap_or(&sight.id)), of }
}

/// True where measurements are of more than one case.
pub(super) fn several_cases(report: &FitReport) -> bool {
    let first = report.sights.first().map(|sight| &sight.case);
    report.sights.iter().any(|sight| Some(&sight.case) != first)
}

/// Quantities that are measured, in a fixed order.
pub(super) fn quantities(report: &FitReport) -> Vec<Quantity> {
    let all = [Quantity::Latency, Quantity::Energy, Quantity::MeanPower, Quantity::IdlePower];
    let is_there = |of: &Quantity| report.sights.iter().any(|sight| sight.quantity == *of);
    all.into_iter().filter(is_there).collect()
}

/// A quantity in words, and its unit.
pub(super) fn worded(quantity: Quantity) -> (&'static str, &'static str) {
    match quantity {
        Quantity::Latency => ("latency", "s"),
        Quantity::Energy => ("energy", "J"),
        Quantity::MeanPower => ("mean power", "W"),
        Quantity::IdlePower => ("power at rest", "W"),
    }
}

/// `1 number`, `3 numbers`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_it_takes_to_tell_them_apart() {
        let paths = [
            "domains.core.clock_tree.Charge",
            "domains.pads.clock_tree.Charge",
            "engines.m4.energy.per_mac.Int8",
            "efficiency",
        ];
        let short = ends(paths.into_iter());
        let short: Vec<&str> =
            paths.iter().filter_map(|path| short.get(path)).map(String::as_str).collect();
        let expected =
            ["core.clock_tree.Charge", "pads.clock_tree.Charge", "per_mac.Int8", "efficiency"];
        assert_eq!(short, expected);
    }

    #[test]
    fn a_version_is_not_taken_apart() {
        let paths = ["software.tool-7.1.0.cycles.Conv", "software.tool-8.1.0.cycles.Conv"];
        let short = ends(paths.into_iter());
        let short: Vec<&str> = short.values().map(String::as_str).collect();
        assert_eq!(short, ["tool-7.1.0.cycles.Conv", "tool-8.1.0.cycles.Conv"]);
        assert_eq!(software("software.tool-7.1.0.dispatch"), Some("tool-7.1.0"));
        assert_eq!(software("engines.cpu.dispatch"), None);
    }

    #[test]
    fn a_path_that_ends_like_another_keeps_all_it_has() {
        let paths = ["a.x.y", "b.a.x.y"];
        let short = ends(paths.into_iter());
        let short: Vec<&str> = short.values().map(String::as_str).collect();
        // No end of the first is its own.
        assert_eq!(short, ["a.x.y", "b.a.x.y"]);
    }

    #[test]
    fn parameters_of_a_family_go_without_their_names() {
        assert_eq!(brief("net(width=0.5,resolution=160)/conv"), "net(0.5,160)/conv");
        assert_eq!(brief("net(odd"), "net(odd");
    }
}
