//! The text of a profile with what it stands for: what is changed and written back.

use super::HardwareError;
use super::extends::{RULES, extended};
use crate::diagnostic::{Change, SpanIndex, rewritten};

/// The text of a profile as its file has it, and with all that it extends.
#[derive(Debug, Clone)]
pub struct ProfileText<'a> {
    own: &'a str,
    merged: Option<String>,
}

impl<'a> ProfileText<'a> {
    /// That of `text`, read from `file`.
    ///
    /// # Errors
    /// What it extends cannot be read or laid under it.
    pub fn of(file: &str, text: &'a str) -> Result<Self, HardwareError> {
        let merged = extended(file, text)?.map(|merged| merged.text().to_owned());
        Ok(Self { own: text, merged })
    }

    /// What it stands for: itself where it extends nothing.
    pub fn whole(&self) -> &str {
        self.merged.as_deref().unwrap_or(self.own)
    }

    /// What it says, or inherits, at each of some field paths (`domains[0].clock_tree.Charge`): literals of
    /// RON.
    pub fn literals<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Vec<Option<&str>> {
        let index = SpanIndex::of(self.whole());
        let literal = |path: &str| self.whole().get(index.value(path)?);
        paths.into_iter().map(literal).collect()
    }

    /// The file's own text with changes: in place where it says a value itself, else with the least that
    /// overrides what it inherits. Comments and layout stay.
    ///
    /// # Errors
    /// A change is of nothing.
    pub fn rewritten(&self, changes: &[Change]) -> Result<String, HardwareError> {
        Ok(rewritten(self.own, self.whole(), &RULES, changes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::quoted;
    use crate::hardware::{Profile, shipped_profiles};

    /// Numbers with their places: value, spread and source as written.
    fn numbers(file: &str, text: &str) -> Vec<(String, String, Option<String>)> {
        let profile = Profile::parse(file, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let records = profile.parameters().into_iter();
        records.map(|r| (r.path, r.parameter.written, r.parameter.source)).collect()
    }

    /// `text` with the numbers at `places` written anew with no change of their value.
    fn changed(file: &str, text: &str, places: &[usize]) -> String {
        let before = numbers(file, text);
        let own = ProfileText::of(file, text).unwrap();
        let changes: Vec<_> = places
            .iter()
            .map(|i| {
                let (path, written, _) = &before[*i];
                let value = quoted(&format!("{written} @anew"));
                Change::Value { path: path.clone(), value }
            })
            .collect();
        let source = Change::Entry {
            within: "sources".into(),
            key: "anew".into(),
            value: "(kind: Fitted, citation: \"a test\")".into(),
        };
        let out = own.rewritten(&[&changes[..], &[source]].concat()).unwrap();
        let mut expected = before;
        for place in places {
            expected[*place].2 = Some("anew".into());
        }
        assert_eq!(numbers(file, &out), expected);
        out
    }

    #[test]
    fn exactly_the_numbers_that_are_changed_change_in_every_shipped_profile() {
        for shipped in shipped_profiles() {
            let count = numbers(shipped.path, shipped.text).len();
            let some: Vec<_> = (0..count).step_by(5).collect();
            let over = format!("( // mine\n  extends: {},\n)", quoted(shipped.name));
            for (file, text) in [(shipped.path, shipped.text), ("mine.ron", over.as_str())] {
                let out = changed(file, text, &some);
                let comments = |text: &str| text.matches("//").count();
                assert!(comments(&out) >= comments(text), "{}", shipped.name);
                // One after the other it is the same.
                let one = changed(file, &changed(file, text, &some[..1]), &some[1..]);
                assert_eq!(numbers(file, &one), numbers(file, &out));
            }
        }
    }

    #[test]
    fn any_number_can_be_changed_alone() {
        for name in ["stm32u385", "edge_soc_example"] {
            let text = format!("(extends: {})", quoted(name));
            for place in (0..numbers("mine.ron", &text).len()).step_by(17) {
                changed("mine.ron", &text, &[place]);
            }
        }
    }

    #[test]
    fn a_literal_is_told_as_it_stands_wherever() {
        let text = r#"(extends: "stm32l4r5", domains: [(name: "core", clock_tree: Charge("1 uA/MHz ±9%"))])"#;
        let own = ProfileText::of("mine.ron", text).unwrap();
        let found = own.literals(["domains[0].clock_tree.Charge", "schema", "x"]);
        assert_eq!(found, [Some("\"1 uA/MHz ±9%\""), Some("\"joulecast.profile/1\""), None]);
    }
}
