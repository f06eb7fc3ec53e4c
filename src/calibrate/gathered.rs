//! The cases of a calibration, read, and what it names of their profiles.

use super::bench::Bench;
use super::calibration::{Calibration, CalibrationError, matches};
use super::captured::takes_again;
use super::case::Case;
use super::shipped::{ShippedCase, shipped_cases};
use crate::diagnostic::{Fault, Report, nearest};
use crate::hardware::ParameterRecord;
use crate::units::Spread;
use std::collections::BTreeSet;
use std::path::Path;

/// A calibration with its cases.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// What is fitted.
    pub calibration: Calibration,
    /// To what.
    pub cases: Vec<Case>,
}

impl Gathered {
    /// Reads a calibration file and the cases that it names.
    ///
    /// # Errors
    /// A file cannot be read or has a fault, a pattern names nothing.
    pub fn load(path: &str) -> Result<Self, CalibrationError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CalibrationError::Read { path: path.to_owned(), source })?;
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        Self::parse(path, &text, folder)
    }

    /// The same from `text`, called `file` in errors, with paths of cases from a folder.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, CalibrationError> {
        let calibration = Calibration::parse(file, text)?;
        let mut naming = Naming { apart: calibration.apart, ..Naming::default() };
        for (at, named) in calibration.cases.iter().enumerate() {
            let is_shipped = !folder.join(named).is_file();
            match cases_of(named, folder)? {
                Found::Some(found) => {
                    found.into_iter().for_each(|case| naming.add(at, case, is_shipped));
                }
                Found::None { nearest } => naming.faults.push(no_case(at, named, nearest)),
            }
        }
        let Naming { cases, mut faults, .. } = naming;
        if faults.is_empty() {
            faults = unknown_paths(&calibration, &cases)?;
        }
        if !faults.is_empty() {
            return Err(Report::located(file, text, faults).into());
        }
        Ok(Self { calibration, cases })
    }
}

impl Gathered {
    /// What a reader should know of the captures, in words.
    pub fn notes(&self) -> Vec<&str> {
        self.cases.iter().flat_map(Case::notes).collect()
    }

    /// The cases that are fitted together: all, or each by itself.
    pub fn parts(&self) -> Vec<&[Case]> {
        match self.calibration.apart {
            true => self.cases.chunks(1).collect(),
            false => vec![self.cases.as_slice()],
        }
    }
}

/// Cases as they are named, one after the other.
#[derive(Default)]
struct Naming {
    /// True where each case is fitted by itself.
    apart: bool,
    cases: Vec<Case>,
    /// Ids of those that are files.
    of_files: BTreeSet<String>,
    faults: Vec<Fault>,
}

impl Naming {
    /// Adds a case that the entry `at` names. What is shipped may be named again, by patterns that overlap.
    fn add(&mut self, at: usize, case: Case, is_shipped: bool) {
        if self.cases.iter().any(|own| own.id == case.id) {
            if !is_shipped || self.of_files.contains(&case.id) {
                let message = format!("another case has the id `{}`", case.id);
                let fault = Fault::at(format!("cases[{at}]"), message);
                self.faults.push(fault.with_help("each case needs an `id` of its own"));
            }
            return;
        }
        if !self.apart {
            self.faults.extend(self.cases.iter().find_map(|own| taken_twice(at, &case, own)));
        }
        if !is_shipped {
            self.of_files.insert(case.id.clone());
        }
        self.cases.push(case);
    }
}

/// A capture from which two cases take the same.
fn taken_twice(at: usize, case: &Case, before: &Case) -> Option<Fault> {
    let file = takes_again(case, before)?;
    let message =
        format!("case `{}` takes from {file} what case `{}` takes from it", case.id, before.id);
    let help = "what is measured once counts once: observations on one capture belong into one case, where power \
                between inferences is told apart from other networks";
    Some(Fault::at(format!("cases[{at}]"), message).with_help(help))
}

fn no_case(at: usize, named: &str, nearest: Option<&str>) -> Fault {
    let fault = Fault::at(format!("cases[{at}]"), format!("`{named}` is no case"));
    match nearest {
        Some(near) => fault.with_help(format!("did you mean `{near}`?")),
        None => fault.with_help(
            "a path from the folder of this file, or the name of a shipped case (`stm32l4r5/x-cube-ai-9.0`, `stm32*`)",
        ),
    }
}

enum Found {
    Some(Vec<Case>),
    None { nearest: Option<&'static str> },
}

/// The cases that an entry stands for: a file, or shipped ones.
fn cases_of(named: &str, folder: &Path) -> Result<Found, CalibrationError> {
    let path = folder.join(named);
    if path.is_file() {
        return Ok(Found::Some(vec![Case::load(&path.to_string_lossy())?]));
    }
    let shipped = shipped_cases().iter().filter(|case| matches(named, name(case)));
    let cases = shipped.map(|case| Case::parse(case.path, case.text));
    let cases = cases.collect::<Result<Vec<_>, _>>()?;
    if cases.is_empty() {
        let nearest = nearest(named, shipped_cases().iter().map(name));
        return Ok(Found::None { nearest });
    }
    Ok(Found::Some(cases))
}

/// What a shipped case is called.
fn name(case: &ShippedCase) -> &'static str {
    let path = case.path.strip_prefix("validation/").unwrap_or(case.path);
    path.strip_suffix(".ron").unwrap_or(path)
}

/// Patterns that no number answers to, and those that answer but are exact or without effect.
fn unknown_paths(
    calibration: &Calibration,
    cases: &[Case],
) -> Result<Vec<Fault>, CalibrationError> {
    let (mut records, mut used) = (Vec::<ParameterRecord>::new(), Vec::new());
    for case in cases {
        let bench = Bench::of(case)?;
        for record in bench.profile.parameters() {
            used.push(bench.profile.is_in_use(&record.path, &bench.point, &bench.stacks));
            records.push(record);
        }
    }
    let patterns = calibration.fit.iter().enumerate().map(|(at, p)| (format!("fit[{at}]"), p));
    let shared = calibration.shared.iter().enumerate().flat_map(|(rule, shared)| {
        let paths = shared.paths.iter().enumerate();
        paths.map(move |(at, p)| (format!("shared[{rule}].paths[{at}]"), p))
    });
    let numbers: Vec<(ParameterRecord, bool)> = records.into_iter().zip(used).collect();
    let fault = |(place, pattern): (String, &String)| fault_of(place, pattern, &numbers);
    Ok(patterns.chain(shared).filter_map(fault).collect())
}

/// What is wrong with a pattern, among numbers and whether predictions depend on them.
fn fault_of(place: String, pattern: &str, numbers: &[(ParameterRecord, bool)]) -> Option<Fault> {
    let named: Vec<&(ParameterRecord, bool)> =
        numbers.iter().filter(|(record, _)| matches(pattern, &record.name)).collect();
    if named.is_empty() {
        let message = format!("`{pattern}` is no number of these profiles");
        let near = nearest(pattern, numbers.iter().map(|(record, _)| record.name.as_str()));
        let fault = Fault::at(place, message);
        return Some(match near {
            Some(near) => fault.with_help(format!("did you mean `{near}`?")),
            None => fault.with_help("`hardware show PROFILE --numbers` lists all paths"),
        });
    }
    if named.iter().all(|(_, used)| !used) {
        let message = format!("no prediction of these cases depends on `{pattern}`");
        return Some(Fault::at(place, message));
    }
    let moves = |record: &ParameterRecord| {
        matches!(record.parameter.spread, Some(Spread::LogNormal(_)))
            && record.parameter.value > 0.0
    };
    if !named.iter().any(|(record, used)| *used && moves(record)) {
        let message = format!("`{pattern}` is exact, or no factor of anything: nothing to fit");
        let help = "a spread such as `±30%` is its prior";
        return Some(Fault::at(place, message).with_help(help));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"(schema: "joulecast.calibration/1", name: "x", CASES,
        fit: FIT, noise: (latency: "±1%", energy: "±1%"))"#;

    fn gathered(cases: &str, fit: &str) -> Result<Gathered, String> {
        let text = TEXT.replace("CASES", &format!("cases: {cases}")).replace("FIT", fit);
        Gathered::parse("c.ron", &text, Path::new("nowhere")).map_err(|e| e.to_string())
    }

    #[test]
    fn shipped_cases_are_found_by_name_and_by_pattern() {
        let one = gathered(r#"["stm32l4r5/x-cube-ai-9.0"]"#, r#"["*"]"#).unwrap();
        assert_eq!(one.cases.len(), 1);
        let some = gathered(r#"["stm32l4r5/*", "stm32u575/*"]"#, r#"["software.*"]"#).unwrap();
        assert!(some.cases.len() > 5);
    }

    #[test]
    fn what_does_not_exist_is_told_with_the_nearest() {
        let shown = gathered(r#"["stm32l4r5/x-cube-ai-9.1"]"#, r#"["*"]"#).unwrap_err();
        assert!(
            shown.contains("is no case") && shown.contains("did you mean `stm32l4r5/x-cube-ai")
        );
        let shown = gathered(
            r#"["stm32l4r5/x-cube-ai-9.0"]"#,
            r#"["domains.core.clock_tre.Charge", "operating_points.80mhz_1v8.*", "domains.core.nominal_voltage"]"#,
        )
        .unwrap_err();
        assert!(shown.contains("did you mean `domains.core.clock_tree.Charge`?"), "{shown}");
        assert!(shown.contains("no prediction of these cases depends on"), "{shown}");
        assert!(shown.contains("is exact"), "{shown}");
    }

    /// Shipped cases may be named twice; a file with the id of another case may not, whichever comes first.
    #[test]
    fn two_cases_of_one_id_are_a_fault_unless_they_are_one_shipped_case() {
        let name = "stm32l4r5/x-cube-ai-9.0";
        let twice = gathered(&format!(r#"["{name}", "{name}", "stm32l4r5/*"]"#), r#"["*"]"#);
        let ids: Vec<String> = twice.unwrap().cases.iter().map(|own| own.id.clone()).collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());

        let place = tempfile::tempdir().unwrap();
        let shipped = shipped_cases().iter().find(|case| super::name(case) == name).unwrap();
        let id = Case::parse(shipped.path, shipped.text).unwrap().id;
        for (file, text) in [("a.ron", shipped.text), ("b.ron", shipped.text)] {
            std::fs::write(place.path().join(file), text).unwrap();
        }
        for (cases, at) in [
            (r#"["a.ron", "b.ron"]"#.to_owned(), "cases[1]"),
            (format!(r#"["a.ron", "{name}"]"#), "cases[1]"),
            (format!(r#"["{name}", "a.ron"]"#), "cases[1]"),
        ] {
            let text = TEXT.replace("CASES", &format!("cases: {cases}")).replace("FIT", r#"["*"]"#);
            let shown = Gathered::parse("c.ron", &text, place.path()).unwrap_err().to_string();
            assert!(shown.contains(&format!("another case has the id `{id}`")), "{cases}: {shown}");
            assert!(shown.contains("an `id` of its own") && shown.contains(at), "{cases}: {shown}");
        }
    }
}
