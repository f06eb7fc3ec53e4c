//! A file of software stacks alone, which profiles extend.

use super::check::{SCHEMA, stack_faults};
use super::extends::extended;
use super::profile::profile_text;
use super::{HardwareError, SoftwareSpec};
use crate::diagnostic::{Fault, Layers, Report, parse_ron, resolve_sources, source_kinds};
use std::collections::BTreeSet;

/// Fields at the top of a profile of which a file of software alone has none.
const OF_HARDWARE: [&str; 9] = [
    "name",
    "kind",
    "description",
    "temperature",
    "operating_points",
    "rails",
    "domains",
    "memories",
    "engines",
];

/// True where a text, laid over all that it extends, has stacks and nothing that they could run on.
pub(super) fn holds_software_alone(text: &str) -> bool {
    Layers::has_field(text, "software")
        && !OF_HARDWARE.iter().any(|field| Layers::has_field(text, field))
}

/// Reads the file of software stacks that `name` stands for, a path or a shipped one (`software/NAME`);
/// `None` where it is a profile, or nothing that could be told apart from one.
///
/// # Errors
/// Nothing is called so, the file cannot be read, or there are faults in it.
pub fn load_software(name: &str) -> Result<Option<SoftwareSpec>, HardwareError> {
    let (file, text) = profile_text(name)?;
    let merged = extended(&file, &text)?;
    match &merged {
        Some(merged) if holds_software_alone(merged.text()) => {
            read(&file, merged.text()).map_err(|report| report.traced(merged).into())
        }
        None if holds_software_alone(&text) => read(&file, &text).map_err(Into::into),
        _ => return Ok(None),
    }
    .map(Some)
}

fn read(file: &str, text: &str) -> Result<SoftwareSpec, Box<Report>> {
    let mut spec: SoftwareSpec = parse_ron(file, text)?;
    let kinds = source_kinds(&spec.sources);
    let mut faults = resolve_sources(&mut spec, &kinds);
    if spec.schema != SCHEMA {
        faults.push(Fault::at("schema", format!("schema `{}` is not `{SCHEMA}`", spec.schema)));
    }
    if spec.software.is_empty() {
        faults.push(Fault::at("software", "a file of software has at least one stack"));
    }
    let mut names = BTreeSet::new();
    for (i, stack) in spec.software.iter().enumerate() {
        if !names.insert(stack.name.as_str()) {
            let message = format!("there are two stacks `{}`", stack.name);
            faults.push(Fault::at(format!("software[{i}].name"), message));
        }
        faults.extend(stack_faults(i, stack));
    }
    if faults.is_empty() { Ok(spec) } else { Err(Report::located(file, text, faults)) }
}
