//! Texts that extend others: what one says holds over what those behind it say.

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

/// More files than any one is laid over.
const BASES_LIMIT: usize = 32;

const EXPECTED: &str = "a text in quotes is expected here: what this file extends";

/// Fields at the top that say how a file extends another one.
#[derive(Debug, Clone, Copy)]
pub struct LayerRules<'a> {
    /// The field that names the file it extends, or lists several, each laid over those before it.
    pub extends: &'a str,
    /// The field that lists what it takes out of that, as paths joined by dots.
    pub without: &'a str,
    /// Maps whose values are replaced whole.
    pub whole_values: &'a [&'a str],
    /// Fields at the top that are replaced whole.
    pub whole: &'a [&'a str],
}

/// Texts, the one on top first; each holds over all behind it.
#[derive(Debug)]
pub struct Layers<'a> {
    rules: LayerRules<'a>,
    files: Vec<(String, String)>,
    /// The text that extends each.
    above: Vec<usize>,
    trees: Vec<Tree>,
}

impl<'a> Layers<'a> {
    /// None yet.
    pub fn new(rules: LayerRules<'a>) -> Self {
        Self { rules, files: Vec::new(), above: Vec::new(), trees: Vec::new() }
    }

    /// True where a text, whether sound or not, has a field `name` at its top.
    pub fn has_field(text: &str, name: &str) -> bool {
        SpanIndex::has(text, name)
    }

    /// Adds `text`, read from `file`, which text `above` extends (the first is text 0, and extended by
    /// none), and returns which text it is. It lies under all that were added before. Errors are of its
    /// syntax.
    pub fn push(&mut self, file: &str, text: &str, above: usize) -> Result<usize, Box<Report>> {
        let own = self.files.len();
        self.files.push((file.to_owned(), text.to_owned()));
        self.above.push(above);
        parse_ron::<IgnoredAny>(file, text).map_err(|report| self.report(own, report.faults()))?;
        let tree = Tree::of(text, own).map_err(|at| {
            let message = "what stands here cannot be laid over another text, or under one";
            self.report(own, &[Fault { span: Some(at..at + 1), ..Fault::at(".", message) }])
        })?;
        if !tree.root.parts().is_some_and(|parts| parts.kind == Kind::Fields) {
            let span = Some(tree.root.place.span);
            let fault = Fault { span, ..Fault::at(".", "expected `(` and fields") };
            return Err(self.report(own, &[fault]));
        }
        self.trees.push(tree);
        Ok(own)
    }

    /// How many texts there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// What text `of` extends, each of a list laid over those before it; nothing where it stands alone.
    pub fn extended(&self, of: usize) -> Result<Vec<String>, Box<Report>> {
        let Some(value) = self.extends(of) else { return Ok(Vec::new()) };
        let items = match value.parts() {
            Some(Parts { kind: Kind::List, members, .. }) => members.as_slice(),
            _ => {
                let said = self.string(value).map(|name| vec![name]);
                return said.ok_or_else(|| self.fault(of, 0, EXPECTED, None));
            }
        };
        if items.len() > BASES_LIMIT {
            let message = format!("more than {BASES_LIMIT} files are extended");
            return Err(self.fault(of, items.len(), message, None));
        }
        let names = items.iter().enumerate().map(|(i, item)| {
            self.string(&item.value).ok_or_else(|| self.fault(of, i, EXPECTED, None))
        });
        names.collect()
    }

    fn extends(&self, of: usize) -> Option<&Node> {
        let member = self.trees.get(of)?.root.parts()?.member(self.rules.extends)?;
        Some(&member.value)
    }

    /// A report that text `of` cannot extend what it says it does: the `item`th that it names.
    pub fn fault(
        &self,
        of: usize,
        item: usize,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Box<Report> {
        let whole = self.extends(of);
        let member = whole.and_then(Node::parts).and_then(|parts| parts.members.get(item));
        let path = match member {
            Some(_) => format!("{}[{item}]", self.rules.extends),
            None => self.rules.extends.to_owned(),
        };
        let node = member.map(|member| &member.value).or(whole);
        let span = node.map(|node| node.place.span.clone());
        self.report(of, &[Fault { span, help, ..Fault::at(path, message) }])
    }

    /// A report on text `file`.
    fn report(&self, file: usize, faults: &[Fault]) -> Box<Report> {
        let faults = faults.iter().map(|fault| Fault { file, ..fault.clone() }).collect();
        Box::new(Report::of_files(self.files.clone(), faults).extended_by(&self.above))
    }

    /// Lays each text over the next one, the last being the ground. Errors are paths that take out
    /// nothing.
    pub fn merged(mut self) -> Result<Merged, Box<Report>> {
        let attributes: Vec<_> = self.trees.iter().map(|tree| tree.attributes.clone()).collect();
        let Some(Tree { root: mut ground, .. }) = self.trees.pop() else {
            return Ok(Merged::default());
        };
        let mut faults = self.taken_from_nothing(&ground);
        faults.extend(self.trees.iter().flat_map(|tree| self.taken_from_nothing(&tree.root)));
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
            return Err(Box::new(Report::of_files(self.files, faults).extended_by(&self.above)));
        }
        Ok(Merged::write(self.files, &attributes, &ground).extended_by(self.above))
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
        let lies_alone = self.bases(ground.place.file).is_empty();
        let parts = ground.parts().filter(|_| lies_alone);
        let without = parts.and_then(|parts| parts.member(self.rules.without));
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
            let message = match self.bases(item.value.place.file).as_slice() {
                [below] => format!("{below} has nothing called `{path}`"),
                below => format!("none of {} has anything called `{path}`", below.join(", ")),
            };
            Box::new(of_node(&item.value, at, message).with_help(help(&miss)))
        })
    }

    /// The files that text `of` extends.
    fn bases(&self, of: usize) -> Vec<&str> {
        let behind = self.files.iter().zip(&self.above).skip(of + 1).rev();
        behind.filter(|(_, above)| **above == of).map(|((file, _), _)| file.as_str()).collect()
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
            layers.push(&format!("{i}.ron"), text, i.saturating_sub(1))?;
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
            "(extends: \"b\", without: [\"m.x\", \"m.z\"], m: {\"z\": (q: 2)})",
            "(m: {\"y\": 1, \"z\": (p: 1)})",
            "(m: {\"x\": 0})",
        ];
        assert_eq!(
            text(&texts),
            "(m:{\"y\":1,\"z\":(q:2)},extends:\"b\",without:[\"m.x\",\"m.z\"])"
        );
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
            "(extends: \"b\", without: [\n\"rails.vcor\",\n\"zzz\",\n3,\n\"rails.vcore\",\n\"rails.vcore.name.x\"])",
            "(rails: [(name: \"vcore\")])",
        ]);
        assert!(shown.contains("1.ron has nothing called `rails.vcor`"), "{shown}");
        assert!(shown.contains("0.ron:2:1") && shown.contains("without[0]"), "{shown}");
        assert!(shown.contains("did you mean `rails.vcore`?"), "{shown}");
        assert!(shown.contains("0.ron:3:1") && shown.contains("known here: rails"), "{shown}");
        assert!(shown.contains("0.ron:4:1") && shown.contains("expected a path"), "{shown}");
        assert!(shown.contains("4 faults in 0.ron"), "{shown}");
        assert!(said(&["(extends: \"b\", without: \"a\")", "(a: 1)"]).contains("expected a list"));
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
