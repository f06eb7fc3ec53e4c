//! What stands beside the tree: operating points, corners, software, package.

use super::super::table;
use super::drawing::{WIDTH, wrapped};
use super::tree::value;
use crate::evidence::Valued;
use crate::hardware::{
    Corner, NodeNetwork, OperatingPoint, Package, Profile, SoftwareSpec, SoftwareStack,
    ThermalNetwork, Throttle,
};
use crate::units::Quantity;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// All of it, each with its heading.
pub(super) fn context_text(profile: &Profile) -> String {
    let spec = profile.spec();
    let mut text = format!("\noperating points, the first by default\n{}", points(profile));
    if !spec.corners.is_empty() {
        let _ = write!(text, "\ncorners\n{}", corners(&spec.corners));
    }
    if !spec.software.is_empty() {
        text.push_str("\nsoftware\n");
        spec.software.iter().for_each(|stack| push(&mut text, &of_stack(stack)));
    }
    if let Some(package) = &spec.package {
        text.push_str("\npackage\n");
        push(&mut text, &of_package(package));
        package.throttling.iter().for_each(|throttle| push(&mut text, &of_throttle(throttle)));
        if let Some(critical) = &package.critical {
            push(&mut text, &format!("shuts down at {}", value(&critical.temperature)));
        }
    }
    text
}

/// `hardware check` of a file of software stacks alone.
pub fn software_check_text(name: &str, software: &SoftwareSpec) -> String {
    let count = software.software.len();
    let stacks = if count == 1 { "one software stack" } else { "software stacks" };
    let mut text = format!("{name}: sound: {stacks}, for a profile to extend\n");
    software.software.iter().for_each(|stack| push(&mut text, &of_stack(stack)));
    text
}

/// An indented line, broken where it is too long.
fn push(text: &mut String, line: &str) {
    for (i, line) in wrapped(line, WIDTH - 2).into_iter().enumerate() {
        let _ = writeln!(text, "  {}{line}", if i == 0 { "" } else { "  " });
    }
}

fn plain<Q: Quantity>(of: &Valued<Q>) -> String {
    value(of).replace('\u{a0}', " ")
}

/// Clocks and rails of each point, a row a point, or a column where rows are too long; then what else a
/// point says.
fn points(profile: &Profile) -> String {
    let spec = profile.spec();
    let clocks: BTreeSet<&String> =
        spec.operating_points.iter().flat_map(|p| p.clocks.keys()).collect();
    let mut cells = vec![vec!["point".to_owned()]];
    cells[0].extend(clocks.iter().map(|clock| format!("clock\n{clock}")));
    cells[0].extend(spec.rails.iter().map(|rail| format!("rail\n{}", rail.name)));
    for point in &spec.operating_points {
        let mut row = vec![point.name.clone()];
        row.extend(clocks.iter().map(|c| point.clocks.get(*c).map_or(String::new(), |f| plain(f))));
        let voltage = |rail: &String| spec.rail_voltage(point, rail).map_or(String::new(), plain);
        row.extend(spec.rails.iter().map(|rail| voltage(&rail.name)));
        cells.push(row);
    }
    let mut text = grid(&cells);
    if text.lines().any(|line| line.chars().count() > WIDTH) {
        text = upright(&cells);
    }
    for point in &spec.operating_points {
        let notes = notes(point);
        if !notes.is_empty() {
            push(&mut text, &format!("{}: {notes}", point.name));
        }
    }
    text
}

fn grid(cells: &[Vec<String>]) -> String {
    let Some((headers, body)) = cells.split_first() else { return String::new() };
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let mut rows = table(&headers, 1);
    for row in body {
        rows.add_row(row.clone());
    }
    format!("{rows}\n")
}

/// Rows as columns, as many side by side as there is room for.
fn upright(cells: &[Vec<String>]) -> String {
    let Some((names, points)) = cells.split_first() else { return String::new() };
    let width = |row: &[String]| row.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
    let turned = |of: &[&Vec<String>]| -> Vec<Vec<String>> {
        let names = names.iter().enumerate();
        names
            .map(|(i, name)| {
                let cells = of.iter().map(|point| point.get(i).cloned().unwrap_or_default());
                std::iter::once(name.replace('\n', " ")).chain(cells).collect()
            })
            .collect()
    };
    let (mut text, mut side, mut used) = (String::new(), Vec::new(), width(names));
    for point in points {
        if used + width(point) > WIDTH && !side.is_empty() {
            text.push_str(&grid(&turned(&side)));
            (side, used) = (Vec::new(), width(names));
        }
        used += width(point);
        side.push(point);
    }
    text + &grid(&turned(&side))
}

fn notes(point: &OperatingPoint) -> String {
    let named = point.set_points.iter().chain(&point.loads).chain(&point.asleep);
    let mut notes: Vec<String> = named.map(|(what, state)| format!("{what} {state}")).collect();
    notes.extend(point.above_need.then(|| "above need".to_owned()));
    notes.join(", ")
}

fn corners(corners: &[Corner]) -> String {
    let mut rows =
        table(&["corner", "leakage", "dynamic", "frequency", "voltage", "temperature"], 1);
    for corner in corners {
        let factor = |of: &Option<Valued<_>>| of.as_ref().map_or(String::new(), plain);
        let temperature = corner.temperature.as_ref().map_or(String::new(), plain);
        let (leakage, dynamic) = (factor(&corner.leakage), factor(&corner.dynamic));
        let (frequency, voltage) = (factor(&corner.frequency), factor(&corner.voltage));
        let name = corner.name.clone();
        rows.add_row(vec![name, leakage, dynamic, frequency, voltage, temperature]);
    }
    format!("{rows}\n")
}

fn of_stack(stack: &SoftwareStack) -> String {
    let runtime = stack.runtime.as_ref();
    let runtime = runtime.map_or(String::new(), |r| {
        let versions = if r.versions.is_empty() { String::new() } else { " ".to_owned() };
        format!("{}{versions}{}, ", r.family, r.versions.join(", "))
    });
    let mut text = format!("{}: {runtime}on {}", stack.name, stack.runs_on.join(", "));
    if stack.fuses {
        text.push_str(", fuses operators");
    }
    if stack.removes_dead_channels {
        text.push_str(", leaves out dead channels");
    }
    if let Some(dispatch) = &stack.dispatch {
        let _ = write!(text, ", {} to call an operator", value(dispatch));
    }
    if let Some(start) = &stack.start {
        let _ = write!(text, ", {} to run a network", value(start));
    }
    if let Some(rate) = &stack.weight_stream {
        let _ = write!(text, ", waits for weights at {}", value(rate));
    }
    if let Some(tile) = &stack.tile {
        let _ = write!(text, ", tiles of {}x{}x{}", tile.positions, tile.channels, tile.depth);
    }
    text
}

fn of_package(package: &Package) -> String {
    let nodes: Vec<String> = match &package.network {
        ThermalNetwork::Cauer(nodes) => nodes
            .iter()
            .map(|n| format!("{} {}, {}", n.name, value(&n.capacity), value(&n.resistance)))
            .collect(),
        ThermalNetwork::Foster(terms) => terms
            .iter()
            .map(|t| format!("{} within {}", value(&t.resistance), value(&t.time_constant)))
            .collect(),
        ThermalNetwork::Nodes(network) => return of_nodes(package, network),
        ThermalNetwork::Responses(responses) => {
            let (blocks, terms) = (responses.blocks.join(", "), responses.terms.len());
            let air = value(&package.ambient);
            return format!(
                "responses between {blocks} with {terms} time constants to air of {air}"
            );
        }
    };
    format!("{} to air of {}", nodes.join(" → "), value(&package.ambient))
}

fn of_nodes(package: &Package, network: &NodeNetwork) -> String {
    let nodes = network.nodes.iter().map(|node| {
        let out = node.to_air.as_ref().map_or(String::new(), |r| format!(", {} to air", value(r)));
        format!("{} {}{out}", node.name, value(&node.capacity))
    });
    let joins = network
        .joins
        .iter()
        .map(|join| format!("{} – {} {}", join.between.0, join.between.1, value(&join.resistance)));
    let parts: Vec<String> = nodes.chain(joins).collect();
    format!("{}; air of {}", parts.join("; "), value(&package.ambient))
}

fn of_throttle(throttle: &Throttle) -> String {
    match throttle {
        Throttle::StepWise(trip) => {
            let (at, below) = (value(&trip.trip), value(&trip.hysteresis));
            format!("slows {} down from {at}, up again {below} below", trip.caps.join(", "))
        }
        Throttle::PowerAllocator(trip) => {
            let caps: Vec<&str> = trip.actors.iter().map(|actor| actor.caps.as_str()).collect();
            let (watts, target) = (value(&trip.sustainable), value(&trip.target));
            format!("holds {target} by a budget around {watts} for {}", caps.join(", "))
        }
    }
}
