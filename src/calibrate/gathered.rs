//! The cases of a calibration, read, and what it names of their profiles.

use super::bench::Bench;
use super::calibration::{Calibration, CalibrationError, matches};
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
        let (mut cases, mut faults) = (Vec::<Case>::new(), Vec::new());
        let mut of_files = BTreeSet::new();
        for (at, named) in calibration.cases.iter().enumerate() {
            let is_shipped = !folder.join(named).is_file();
            match cases_of(named, folder)? {
                Found::Some(found) => {
                    for case in found {
                        match cases.iter().find(|own| own.id == case.id) {
                            None => {
                                if !is_shipped {
                                    of_files.insert(case.id.clone());
                                }
                                cases.push(case);
                            }
                            Some(_) if is_shipped && !of_files.contains(&case.id) => {}
                            Some(_) => faults.push(
                                Fault::at(
                                    format!("cases[{at}]"),
                                    format!("another case has the id `{}`", case.id),
                                )
                                .with_help("each case needs an `id` of its own"),
                            ),
                        }
                    }
                }
                Found::None { nearest } => {
                    let message = format!("`{named}` is no case");
                    let help = nearest.map(|near| format!("did you mean `{near}`?"));
                    let fault = Fault::at(format!("cases[{at}]"), message);
                    faults.push(match help {
                        Some(help) => fault.with_help(help),
                        None => fault.with_help(
                            "a path from the folder of this file, or the name of a shipped case \
                             (`stm32l4r5/x-cube-ai-9.0`, `stm32*`)",
                        ),
                    });
                }
            }
        }
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
    let faults = patterns.chain(shared).filter_map(|(place, pattern)| {
        let named: Vec<(&ParameterRecord, bool)> = records
            .iter()
            .zip(used.iter().copied())
            .filter(|(record, _)| matches(pattern, &record.name))
            .collect();
        if named.is_empty() {
            let message = format!("`{pattern}` is no number of these profiles");
            let near = nearest(pattern, records.iter().map(|record| record.name.as_str()));
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
    });
    Ok(faults.collect())
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
}
