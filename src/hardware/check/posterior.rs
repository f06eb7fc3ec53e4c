//! What a fit says of numbers together: of numbers that are there, and as they are.

use crate::diagnostic::{Fault, nearest};
use crate::evidence::{FieldPath, Kind, Parameter, Parameters};
use crate::hardware::spec::{Posterior, ProfileSpec};
use crate::units::Spread;
use std::collections::BTreeMap;

/// Deviation in the block over that of the literal, less one, beyond what rounding does.
const OFF: f64 = 0.02;

/// Significant digits of a spread in per cent.
const DIGITS: i32 = 2;

/// More faults of one list are of one making.
const FAULTS_LISTED: usize = 20;

const OUT: &str = "leave it out of `posterior`; where that is inherited, `without: [\"posterior\"]` takes the block out, and each number keeps the spread of its own";

/// The places of its numbers among all of the profile.
pub(super) fn posterior(spec: &mut ProfileSpec) -> (Vec<usize>, Vec<Fault>) {
    let Some(block) = spec.posterior.clone() else { return (Vec::new(), Vec::new()) };
    let mut walked = Vec::new();
    spec.walk(&mut FieldPath::root(), &mut |path, parameter| {
        walked.push((path.to_string(), parameter.clone()));
    });
    let named = walked.iter().enumerate();
    let places = named.map(|(i, (path, _))| (spec.named_path(path), i)).collect();
    let parameters = walked.iter().map(|(_, parameter)| parameter).collect();
    let mut checker = Checker { places, parameters, faults: Vec::new() };
    let found = checker.numbers(&block);
    let rows = checker.rows(&block);
    for (i, (name, place)) in block.numbers.iter().zip(&found).enumerate() {
        let row = block.factor.get(i).filter(|_| rows);
        if let (Some(place), Some(row)) = (place, row) {
            checker.agrees(i, name, *place, row);
        }
    }
    (found.into_iter().flatten().collect(), checker.faults)
}

struct Checker<'a> {
    places: BTreeMap<String, usize>,
    parameters: Vec<&'a Parameter>,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn fault(&mut self, path: String, message: String, help: Option<String>) {
        if self.faults.len() < FAULTS_LISTED {
            self.faults.push(Fault { help, ..Fault::at(path, message) });
        }
    }

    /// The place of each number that may be in a block.
    fn numbers(&mut self, block: &Posterior) -> Vec<Option<usize>> {
        let mut seen = BTreeMap::new();
        let mut found = Vec::new();
        for (i, name) in block.numbers.iter().enumerate() {
            let at = format!("posterior.numbers[{i}]");
            let place = self.places.get(name).copied();
            if let Some(first) = seen.insert(name, i) {
                self.fault(
                    at,
                    format!("`{name}` stands here twice"),
                    Some(format!("number {first} is it too")),
                );
                found.push(None);
                continue;
            }
            let place = match place {
                Some(place) => self.may_stand(at, name, place).then_some(place),
                None => {
                    self.unknown(at, name);
                    None
                }
            };
            found.push(place);
        }
        found
    }

    fn unknown(&mut self, at: String, name: &str) {
        if self.faults.len() < FAULTS_LISTED {
            let near = nearest(name, self.places.keys().map(String::as_str));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            self.fault(at, format!("this profile has no number `{name}`"), help);
        }
    }

    /// Whether a number is one that a fit can have moved by a factor. A literal that could not be read has
    /// been reported.
    fn may_stand(&mut self, at: String, name: &str, place: usize) -> bool {
        let Some(parameter) = self.parameters.get(place) else { return false };
        let source = parameter.source.as_deref();
        let wrong = match (parameter.fault.is_some(), parameter.spread) {
            (true, _) => return false,
            (_, Some(Spread::Normal(_))) => {
                format!("`{name}` may be below zero, and is no factor of anything")
            }
            (_, None) => format!("`{name}` is exact: it states no spread"),
            (_, Some(Spread::LogNormal(_))) if parameter.kind == Kind::Fitted => return true,
            _ => match source {
                Some(key) => format!(
                    "`{name}` rests on `@{key}`, which is {}: a posterior is of fitted numbers",
                    parameter.kind.name()
                ),
                None => format!("`{name}` has no source: a posterior is of fitted numbers"),
            },
        };
        self.fault(at, wrong, Some(OUT.to_owned()));
        false
    }

    /// True where rows are those of a lower factor.
    fn rows(&mut self, block: &Posterior) -> bool {
        let (rows, numbers) = (block.factor.len(), block.numbers.len());
        let before = self.faults.len();
        if rows != numbers {
            let message = format!("{numbers} numbers have {numbers} rows, and {rows} stand here");
            self.fault("posterior.factor".into(), message, None);
        }
        for (i, row) in block.factor.iter().enumerate() {
            let at = format!("posterior.factor[{i}]");
            if row.len() != i + 1 && i < numbers {
                let (length, expected) = (row.len(), i + 1);
                let message = format!(
                    "row {expected} has {expected} entries, up to the diagonal, and {length} stand here"
                );
                self.fault(at, message, None);
                continue;
            }
            if let Some(j) = row.iter().position(|entry| !entry.is_finite()) {
                self.fault(format!("{at}[{j}]"), "an entry is a finite number".into(), None);
            } else if row.last().is_some_and(|diagonal| *diagonal < 0.0) {
                let at = format!("{at}[{i}]");
                self.fault(at, "an entry on the diagonal is not below zero".into(), None);
            }
        }
        self.faults.len() == before
    }

    /// The deviation that a row makes is the one that the literal states.
    fn agrees(&mut self, i: usize, name: &str, place: usize, row: &[f64]) {
        let Some(Spread::LogNormal(stated)) = self.parameters.get(place).and_then(|p| p.spread)
        else {
            return;
        };
        let fitted = row.iter().fold(0.0, |sum: f64, entry| sum.hypot(*entry));
        let [stated, fitted] = [stated, fitted].map(|sigma| sigma.exp_m1() * 100.0);
        if (fitted - stated).abs() <= OFF * stated + rounding(stated) {
            return;
        }
        let message = format!(
            "`{name}` states ±{stated:.3} %, and its row makes ±{fitted:.3} %: it was written anew after the fit"
        );
        self.fault(format!("posterior.factor[{i}]"), message, Some(OUT.to_owned()));
    }
}

/// Half a unit of the last digit that is written.
fn rounding(percent: f64) -> f64 {
    if percent > 0.0 { 0.5 * 10f64.powi(percent.log10().floor() as i32 + 1 - DIGITS) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use crate::hardware::Profile;

    fn parsed(more: &str) -> Result<Profile, String> {
        let text = format!(
            r#"(extends: "stm32l4r5", name: "fitted",
            sources: {{"fit": (kind: Fitted, citation: "a fit"), "bench": (kind: Measured, citation: "mine")}},
            domains: [(name: "core", clock_tree: Charge("80 uA/MHz ±3.0% @fit"))],
            engines: [(name: "cortex_m4", energy: (per_busy_cycle: Charge("60 uA/MHz ±5.0% @fit")))],
            {more})"#
        );
        Profile::parse("mine.ron", &text).map_err(|error| error.to_string())
    }

    const TREE: &str = "domains.core.clock_tree.Charge";
    const BUSY: &str = "engines.cortex_m4.energy.per_busy_cycle.Charge";

    fn block(numbers: &str, factor: &str) -> Result<Profile, String> {
        parsed(&format!("\nposterior: (\nnumbers: [{numbers}],\nfactor: {factor}),\n"))
    }

    #[test]
    fn numbers_are_found_by_their_names() {
        let profile =
            block(&format!("\"{BUSY}\", \"{TREE}\""), "[[0.04879], [-0.02, 0.02179]]").unwrap();
        let records = profile.parameters();
        let names: Vec<_> =
            profile.links().posterior.iter().map(|i| records[*i].name.as_str()).collect();
        assert_eq!(names, [BUSY, TREE]);
        assert!(parsed("").unwrap().links().posterior.is_empty());
        assert!(block("", "[]").is_ok(), "of nothing");
    }

    #[test]
    fn all_that_is_wrong_is_told_together() {
        let numbers = format!(
            "\"{TREE}\",\n\"{TREE}\",\n\"domains.core.clock_tre.Charge\",\n\"temperature\",\n\"domains.core.nominal_voltage\",\n\"domains.core.states.stop1.wake_time\""
        );
        let shown = block(&numbers, "[[0.03], [0.1], [0, 0, -1], [0, 0, 0, inf]]").unwrap_err();
        for words in [
            "`domains.core.clock_tree.Charge` stands here twice",
            "this profile has no number `domains.core.clock_tre.Charge`",
            "did you mean `domains.core.clock_tree.Charge`?",
            "`temperature` may be below zero",
            "`domains.core.nominal_voltage` is exact",
            "`domains.core.states.stop1.wake_time` rests on `@",
            "6 numbers have 6 rows, and 4 stand here",
            "row 2 has 2 entries, up to the diagonal, and 1 stand here",
            "an entry on the diagonal is not below zero",
            "an entry is a finite number",
            "mine.ron:8:1",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(shown.contains("9 faults in mine.ron"), "{shown}");
    }

    #[test]
    fn a_number_that_was_written_anew_is_not_the_fitted_one() {
        let of = |sigma: f64| block(&format!("\"{TREE}\""), &format!("[[{sigma}]]"));
        let stated = 1.03f64.ln();
        for factor in [0.985, 1.0, 1.015] {
            assert!(of(stated * factor).is_ok(), "{factor}");
        }
        for factor in [0.0, 0.9, 1.1, 2.0] {
            let shown = of(stated * factor).unwrap_err();
            assert!(shown.contains("states ±3.000 %") && shown.contains("without"), "{shown}");
        }
    }

    #[test]
    fn a_file_that_overrides_a_number_of_the_block_takes_the_block_out() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("fitted.ron");
        let text = format!(
            r#"(extends: "stm32l4r5", name: "fitted", sources: {{"fit": (kind: Fitted, citation: "a fit")}},
            domains: [(name: "core", clock_tree: Charge("80 uA/MHz ±3.0% @fit"))],
            posterior: (numbers: ["{TREE}"], factor: [[0.02956]]))"#
        );
        std::fs::write(&base, text).unwrap();
        let over = |more: &str| {
            let text = format!("(extends: \"fitted.ron\", name: \"mine\", {more})");
            Profile::parse(&folder.path().join("mine.ron").display().to_string(), &text)
        };
        let number = r#"sources: {"bench": (kind: Measured, citation: "mine")},
            domains: [(name: "core", clock_tree: Charge("70 uA/MHz ±3.0% @bench"))]"#;
        assert_eq!(over("").unwrap().links().posterior.len(), 1);
        let shown = over(number).unwrap_err().to_string();
        assert!(shown.contains("rests on `@bench`, which is measured"), "{shown}");
        assert!(shown.contains("without: [\"posterior\"]"), "{shown}");
        let without = over(&format!("{number}, without: [\"posterior\"]")).unwrap();
        assert!(without.spec().posterior.is_none());
        let own = over("posterior: (numbers: [], factor: [])").unwrap();
        assert!(own.links().posterior.is_empty(), "replaced whole");
    }
}
