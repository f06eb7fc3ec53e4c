//! Texts of which each extends the next: what one says holds over what the next one says.

use super::merge::{Miss, find, merge, merge_entries, merge_parts, take_out};
use super::tree::{Form, Kind, Member, Node, Parts, Tree, string_in};
use super::{Fault, Merged, Report, SpanIndex, nearest, parse_ron};
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// More paths than any file of ours takes out.
const PATHS_LIMIT: usize = 1000;

/// More wrong paths than that are of one making.
const FAULTS_LISTED: usize = 20;

/// Names listed where none is near.
const NAMES_LISTED: usize = 20;

/// Fields at the top that say how a file extends another one.
#[derive(Debug, Clone, Copy)]
pub struct LayerRules<'a> {
    /// The field that names the file it extends.
    pub extends: &'a str,
    /// The field that lists what it takes out of that, as paths joined by dots.
    pub without: &'a str,
    /// Maps whose values are replaced whole.
    pub whole_values: &'a [&'a str],
    /// Fields at the top that are replaced whole.
    pub whole: &'a [&'a str],
}

/// Texts, each of which extends the one behind it.
#[derive(Debug)]
pub struct Layers<'a> {
    rules: LayerRules<'a>,
    files: Vec<(String, String)>,
    trees: Vec<Tree>,
}

impl<'a> Layers<'a> {
    /// None yet.
    pub fn new(rules: LayerRules<'a>) -> Self {
        Self { rules, files: Vec::new(), trees: Vec::new() }
    }

    /// True where a text, whether sound or not, has a field `name` at its top.
    pub fn has_field(text: &str, name: &str) -> bool {
        SpanIndex::has(text, name)
    }

    /// Adds `text`, read from `file`, which the text added last extends. Errors are of its syntax.
    pub fn push(&mut self, file: &str, text: &str) -> Result<(), Box<Report>> {
        self.files.push((file.to_owned(), text.to_owned()));
        parse_ron::<IgnoredAny>(file, text).map_err(|report| self.report(report.faults()))?;
        let tree = Tree::of(text, self.trees.len()).map_err(|at| {
            let message = "what stands here cannot be laid over another text, or under one";
            self.report(&[Fault { span: Some(at..at + 1), ..Fault::at(".", message) }])
        })?;
        if !tree.root.parts().is_some_and(|parts| parts.kind == Kind::Fields) {
            let span = Some(tree.root.place.span);
            return Err(self.report(&[Fault { span, ..Fault::at(".", "expected `(` and fields") }]));
        }
        self.trees.push(tree);
        Ok(())
    }

    /// What the text added last extends; `None` where it extends nothing.
    pub fn extended(&self) -> Option<Result<String, Box<Report>>> {
        let member = self.trees.last()?.root.parts()?.member(self.rules.extends)?;
        Some(self.string(&member.value).ok_or_else(|| {
            self.fault("a text in quotes is expected here: what this file extends", None)
        }))
    }

    /// A report that the text added last cannot extend what it says it does.
    pub fn fault(&self, message: impl Into<String>, help: Option<String>) -> Box<Report> {
        let member = self
            .trees
            .last()
            .and_then(|t| t.root.parts())
            .and_then(|p| p.member(self.rules.extends));
        let span = member.map(|member| member.value.place.span.clone());
        self.report(&[Fault { span, help, ..Fault::at(self.rules.extends, message) }])
    }

    /// A report on the text added last.
    fn report(&self, faults: &[Fault]) -> Box<Report> {
        let file = self.files.len().saturating_sub(1);
        let faults = faults.iter().map(|fault| Fault { file, ..fault.clone() }).collect();
        Box::new(Report::of_files(self.files.clone(), faults))
    }

    /// Lays each text over the next one, the last being the ground. Errors are paths that take out
    /// nothing.
    pub fn merged(mut self) -> Result<Merged, Box<Report>> {
        let attributes: Vec<_> = self.trees.iter().map(|tree| tree.attributes.clone()).collect();
        let Some(Tree { root: mut ground, .. }) = self.trees.pop() else {
            return Ok(Merged::default());
        };
        let mut faults = self.taken_from_nothing(&ground);
        while let Some(Tree { root: over, .. }) = self.trees.pop() {
            if let Form::Parts(parts) = &mut ground.form {
                let (extends, without) = (Some(self.rules.extends), Some(self.rules.without));
                parts
                    .members
                    .retain(|m| m.key.as_deref() != extends && m.key.as_deref() != without);
            }
            match self.found(&ground, &over) {
                Ok(paths) => take_out(&mut ground, paths),
                Err(wrong) => faults.extend(wrong),
            }
            self.lay(&mut ground, over);
        }
        if !faults.is_empty() {
            return Err(Box::new(Report::of_files(self.files, faults)));
        }
        Ok(Merged::write(self.files, &attributes, &ground))
    }

    fn lay(&self, ground: &mut Node, over: Node) {
        let Node { place, form: Form::Parts(parts) } = over else { return };
        let Form::Parts(under) = &mut ground.form else { return };
        merge_parts(under, parts, &|key, value, over| {
            if self.rules.whole.contains(&key) {
                *value = over;
            } else if self.rules.whole_values.contains(&key) {
                merge_entries(value, over);
            } else {
                merge(value, over);
            }
        });
        ground.place = place;
    }

    fn taken_from_nothing(&self, ground: &Node) -> Vec<Fault> {
        let without = ground.parts().and_then(|parts| parts.member(self.rules.without));
        let message = format!("a file without `{}` has nothing to take out of", self.rules.extends);
        let fault = without.map(|member| of_node(&member.value, self.rules.without, message));
        fault.into_iter().collect()
    }

    /// Where in `ground` the paths lead that `over` takes out.
    fn found(&self, ground: &Node, over: &Node) -> Result<Vec<Vec<usize>>, Vec<Fault>> {
        let field = self.rules.without;
        let Some(member) = over.parts().and_then(|parts| parts.member(field)) else {
            return Ok(Vec::new());
        };
        let Some(Parts { kind: Kind::List, members, .. }) = member.value.parts() else {
            let message = "expected a list in `[ ]` of paths in quotes";
            return Err(vec![of_node(&member.value, field, message)]);
        };
        if members.len() > PATHS_LIMIT {
            let message = format!("more than {PATHS_LIMIT} paths are taken out");
            return Err(vec![of_node(&member.value, field, message)]);
        }
        let (mut paths, mut faults) = (BTreeSet::new(), Vec::new());
        let mut told = BTreeSet::new();
        for (i, item) in members.iter().enumerate() {
            if self.string(&item.value).is_some_and(|path| !told.insert(path)) {
                continue;
            }
            match self.path(ground, item, &format!("{field}[{i}]")) {
                Ok(found) => paths.extend(found),
                Err(fault) if faults.len() < FAULTS_LISTED => faults.push(*fault),
                Err(_) => {}
            }
        }
        if faults.is_empty() { Ok(paths.into_iter().collect()) } else { Err(faults) }
    }

    fn path(&self, ground: &Node, item: &Member, at: &str) -> Result<Vec<Vec<usize>>, Box<Fault>> {
        let Some(path) = self.string(&item.value) else {
            return Err(Box::new(of_node(&item.value, at, "expected a path in quotes")));
        };
        find(ground, &path).map_err(|miss| {
            let below = self.files.get(item.value.place.file + 1).map_or("", |(file, _)| file);
            let message = format!("{below} has nothing called `{path}`");
            Box::new(of_node(&item.value, at, message).with_help(help(&miss)))
        })
    }

    /// What a value in quotes says.
    fn string(&self, value: &Node) -> Option<String> {
        let (_, text) = self.files.get(value.place.file)?;
        string_in(text.get(value.place.span.clone())?)
    }
}

fn of_node(node: &Node, path: &str, message: impl Into<String>) -> Fault {
    let (file, span) = (node.place.file, Some(node.place.span.clone()));
    Fault { file, span, ..Fault::at(path, message) }
}

/// What a path may have meant that leads to nothing.
fn help(miss: &Miss) -> String {
    let found = &miss.found;
    let (first, behind) = miss.rest.split_at(miss.rest.find('.').unwrap_or(miss.rest.len()));
    match nearest(first, miss.known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{found}{near}{behind}`?"),
        None if miss.known.is_empty() => {
            format!("`{}` has no parts with names", found.trim_end_matches('.'))
        }
        None => {
            let known: Vec<_> = miss.known.iter().take(NAMES_LISTED).map(String::as_str).collect();
            format!("known here: {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: LayerRules<'static> = LayerRules {
        extends: "extends",
        without: "without",
        whole_values: &["sources"],
        whole: &["both"],
    };

    fn layered(texts: &[&str]) -> Result<Merged, Box<Report>> {
        let mut layers = Layers::new(RULES);
        for (i, text) in texts.iter().enumerate() {
            layers.push(&format!("{i}.ron"), text)?;
        }
        layers.merged()
    }

    fn text(texts: &[&str]) -> String {
        let merged = layered(texts).unwrap_or_else(|e| panic!("{e}"));
        merged.text().replace([' ', '\n'], "").replace(",)", ")").replace(",}", "}")
    }

    fn said(texts: &[&str]) -> String {
        layered(texts).unwrap_err().to_string()
    }

    #[test]
    fn the_nearest_text_that_says_something_holds() {
        let texts =
            ["(extends: \"b\", a: 1)", "(extends: \"c\", a: 2, b: 2)", "(a: 3, b: 3, c: 3)"];
        assert_eq!(text(&texts), "(a:1,b:2,c:3,extends:\"b\")");
    }

    #[test]
    fn a_text_takes_out_of_all_below_it_and_may_say_it_anew() {
        let texts = [
            "(without: [\"m.x\", \"m.z\"], m: {\"z\": (q: 2)})",
            "(m: {\"y\": 1, \"z\": (p: 1)})",
            "(m: {\"x\": 0})",
        ];
        assert_eq!(text(&texts), "(m:{\"y\":1,\"z\":(q:2)},without:[\"m.x\",\"m.z\"])");
    }

    #[test]
    fn values_of_some_maps_are_replaced_whole() {
        let texts =
            ["(sources: {\"a\": (k: 1)})", "(sources: {\"a\": (k: 0, c: 0), \"b\": (k: 0)})"];
        assert_eq!(text(&texts), "(sources:{\"a\":(k:1),\"b\":(k:0)})");
    }

    #[test]
    fn some_fields_are_replaced_whole() {
        let texts = ["(both: (a: [1]), other: (a: [1]))", "(both: (a: [0], b: 0), other: (b: 0))"];
        assert_eq!(text(&texts), "(both:(a:[1]),other:(b:0,a:[1]))");
    }

    #[test]
    fn paths_to_nothing_are_shown_together_with_the_nearest() {
        let shown = said(&[
            "(without: [\n\"rails.vcor\",\n\"zzz\",\n3,\n\"rails.vcore\",\n\"rails.vcore.name.x\"])",
            "(rails: [(name: \"vcore\")])",
        ]);
        assert!(shown.contains("1.ron has nothing called `rails.vcor`"), "{shown}");
        assert!(shown.contains("0.ron:2:1") && shown.contains("without[0]"), "{shown}");
        assert!(shown.contains("did you mean `rails.vcore`?"), "{shown}");
        assert!(shown.contains("0.ron:3:1") && shown.contains("known here: rails"), "{shown}");
        assert!(shown.contains("0.ron:4:1") && shown.contains("expected a path"), "{shown}");
        assert!(shown.contains("4 faults in 0.ron"), "{shown}");
        assert!(said(&["(without: \"a\")", "(a: 1)"]).contains("expected a list"));
        assert!(said(&["(a: 2)", "(a: 1, without: [])"]).contains("nothing to take out of"));
    }

    #[test]
    fn a_text_that_is_not_sound_in_itself_is_told_by_its_own_lines() {
        for (bad, at) in
            [("(a: 1,\nb: \"", "1.ron:2:4"), ("(a: 1,\na: 2)", "1.ron:2:1"), ("[1]", "1.ron:1:1")]
        {
            let shown = said(&["(a: 3)", bad]);
            assert!(shown.contains(at) && shown.contains("0.ron extends this file"), "{shown}");
        }
    }

    #[test]
    fn many_paths_end_soon() {
        let paths = "\"a\",".repeat(PATHS_LIMIT + 1);
        assert!(said(&[&format!("(without: [{paths}])"), "(a: 1)"]).contains("more than 1000"));
    }
}
