//! One structure laid over another, and parts taken out of it.

use super::tree::{Form, Kind, Node, Parts};
use std::collections::HashMap;

/// Lays `over` on `base`: groups of fields and maps part by part, lists by the `name` of their
/// items; anything else takes the place of what was there. What is new comes behind.
pub(super) fn merge(base: &mut Node, over: Node) {
    match (&mut base.form, over.form) {
        (Form::Parts(under), Form::Parts(parts)) if alike(under, &parts) => {
            merge_parts(under, parts, &|_, value, over| merge(value, over));
            base.place = over.place;
        }
        (_, form) => *base = Node { place: over.place, form },
    }
}

/// Lays a map on another one whose values are replaced whole.
pub(super) fn merge_entries(base: &mut Node, over: Node) {
    match (&mut base.form, over.form) {
        (Form::Parts(under), Form::Parts(parts)) if alike(under, &parts) => {
            merge_parts(under, parts, &|_, value, over| *value = over);
            base.place = over.place;
        }
        (_, form) => *base = Node { place: over.place, form },
    }
}

/// True where parts of one belong among the parts of the other. A group without a name in front
/// takes the name of the other.
fn alike(base: &Parts, over: &Parts) -> bool {
    let named = |parts: &Parts| {
        !parts.members.is_empty() && parts.members.iter().all(|item| item.key.is_some())
    };
    let one_name = base.name == over.name || base.name.is_none() || over.name.is_none();
    base.kind == over.kind
        && match base.kind {
            Kind::Fields => one_name,
            Kind::Map => true,
            Kind::List => named(base) && named(over),
        }
}

/// Puts the parts of `over` among those of `base`, whatever the two are called; `lay` puts a value on
/// the one of the same key.
pub(super) fn merge_parts(base: &mut Parts, over: Parts, lay: &dyn Fn(&str, &mut Node, Node)) {
    let mut places = HashMap::new();
    for (place, member) in base.members.iter().enumerate() {
        if let Some(key) = &member.key {
            places.entry(key.clone()).or_insert(place);
        }
    }
    for mut member in over.members {
        // Removed from the table: a second item of a name is kept, for whoever looks for doubles.
        let found = member.key.as_ref().and_then(|key| places.remove_entry(key));
        match found.and_then(|(key, place)| Some((key, base.members.get_mut(place)?))) {
            Some((key, old)) => {
                old.label = member.label;
                lay(&key, &mut old.value, member.value);
            }
            None => {
                member.added_by = Some(member.value.place.file);
                base.members.push(member);
            }
        }
    }
    if over.name.is_some() || base.name.is_none() {
        (base.name, base.open, base.close) = (over.name, over.open, over.close);
    }
    base.patched = true;
}

/// A path that leads to nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Miss {
    /// The part of the path that was found, with its dot.
    pub found: String,
    /// The rest of it.
    pub rest: String,
    /// The names that are known where it was lost.
    pub known: Vec<String>,
}

/// What stands for every name on its place.
const EVERY: &str = "*";

/// The positions of all that `path` leads to from `node` on: fields, keys and names of items, joined by
/// dots; an error where it leads to nothing. A name that has dots itself is tried as a whole, the longest
/// first; `*` stands for every name. The name of a variant may stand between its field and its parts, as
/// it does in the paths of faults.
pub(super) fn find(node: &Node, path: &str) -> Result<Vec<Vec<usize>>, Miss> {
    let miss = Miss { found: String::new(), rest: path.to_owned(), known: names(node) };
    let mut search = Search { path, steps: Vec::new(), all: Vec::new(), lost_at: 0, miss };
    if search.descend(node, 0, false) { Ok(search.all) } else { Err(search.miss) }
}

struct Search<'a> {
    path: &'a str,
    steps: Vec<usize>,
    all: Vec<Vec<usize>>,
    /// Where the furthest way was lost, in bytes of the path.
    lost_at: usize,
    miss: Miss,
}

impl Search<'_> {
    /// Looks for what stands from byte `at` of the path on; true where anything does.
    fn descend(&mut self, node: &Node, at: usize, behind_variant: bool) -> bool {
        let (Some(parts), Some(rest)) = (node.parts(), self.path.get(at..)) else { return false };
        if at > self.lost_at {
            let found = self.path.get(..at).unwrap_or("").to_owned();
            (self.lost_at, self.miss) =
                (at, Miss { found, rest: rest.to_owned(), known: names(node) });
        }
        if let Some(length) = leads(EVERY, rest) {
            let named = parts.members.iter().enumerate().filter(|(_, member)| member.key.is_some());
            // All of them, not the first that goes on.
            let found = named
                .map(|(i, member)| self.step(i, &member.value, at, length))
                .fold(false, |a, b| a | b);
            if found {
                return true;
            }
        }
        let mut fitting: Vec<(usize, usize)> = parts
            .members
            .iter()
            .enumerate()
            .filter_map(|(i, member)| Some((i, leads(member.key.as_deref()?, rest)?)))
            .collect();
        fitting.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
        for (i, length) in fitting {
            if parts.members.get(i).is_some_and(|member| self.step(i, &member.value, at, length)) {
                return true;
            }
        }
        let variant = parts.name.as_deref().filter(|_| !behind_variant);
        match variant.and_then(|name| leads(name, rest)) {
            Some(length) if length < rest.len() => self.descend(node, at + length + 1, true),
            _ => false,
        }
    }

    /// Takes the member at `i`, whose name is `length` bytes of the path, and goes on in it.
    fn step(&mut self, i: usize, inner: &Node, at: usize, length: usize) -> bool {
        self.steps.push(i);
        let found = if at + length == self.path.len() {
            self.all.push(self.steps.clone());
            true
        } else {
            self.descend(inner, at + length + 1, false)
        };
        self.steps.pop();
        found
    }
}

/// The length of `name` where `path` is it or goes on behind it.
fn leads(name: &str, path: &str) -> Option<usize> {
    let behind = path.strip_prefix(name)?;
    (behind.is_empty() || behind.starts_with('.')).then_some(name.len())
}

fn names(node: &Node) -> Vec<String> {
    let members = node.parts().map_or(&[][..], |parts| &parts.members);
    members.iter().filter_map(|member| member.key.clone()).collect()
}

/// Takes out what stands at each of `paths`, as [`find`] gave them on this node.
pub(super) fn take_out(node: &mut Node, mut paths: Vec<Vec<usize>>) {
    paths.sort();
    paths.dedup();
    // From behind, so that the positions of the others hold.
    for path in paths.iter().rev() {
        take_out_one(node, path);
    }
}

fn take_out_one(node: &mut Node, path: &[usize]) {
    let (Form::Parts(parts), [step, rest @ ..]) = (&mut node.form, path) else { return };
    parts.patched = true;
    if *step >= parts.members.len() {
        return;
    }
    if rest.is_empty() {
        drop(parts.members.remove(*step));
    } else if let Some(member) = parts.members.get_mut(*step) {
        take_out_one(&mut member.value, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Merged;
    use super::super::tree::Tree;
    use super::*;

    fn tree(text: &str, file: usize) -> Node {
        Tree::of(text, file).unwrap().root
    }

    /// `over` laid on `base`, with no blanks.
    fn merged(base: &str, over: &str) -> String {
        let mut node = tree(base, 1);
        merge(&mut node, tree(over, 0));
        written(base, over, &node)
    }

    fn written(base: &str, over: &str, node: &Node) -> String {
        let files = [("over".to_owned(), over.to_owned()), ("base".to_owned(), base.to_owned())];
        let text = Merged::write(files.to_vec(), &[], node).text().to_owned();
        text.replace([' ', '\n'], "").replace(",)", ")").replace(",]", "]").replace(",}", "}")
    }

    #[test]
    fn fields_keys_and_items_of_a_name_are_laid_over_in_place() {
        assert_eq!(merged("(a: 1, b: 2)", "(b: 3, c: 4)"), "(a:1,b:3,c:4)");
        assert_eq!(merged("{\"a\": 1, B: 2}", "{B: 3, \"c\": 4}"), "{\"a\":1,B:3,\"c\":4}");
        let base = "[(name: \"x\", v: 1, w: (p: 1, q: 2)), (name: \"y\", v: 2)]";
        assert_eq!(
            merged(base, "[(name: \"z\", v: 9), (name: \"x\", w: (q: 3))]"),
            "[(name:\"x\",v:1,w:(p:1,q:3)),(name:\"y\",v:2),(name:\"z\",v:9)]"
        );
    }

    #[test]
    fn what_has_no_names_is_replaced_whole() {
        for (base, over) in [
            ("[1, 2]", "[3]"),
            ("[(name: \"x\")]", "[]"),
            ("[(name: \"x\"), (v: 1)]", "[(name: \"y\")]"),
            ("Charge(\"1 pC\")", "Energy(\"1 pJ\")"),
            ("Ldo(share: 1)", "Switching(efficiency: 2)"),
            ("(1, 2)", "(3, 4)"),
            ("{a: 1}", "(a: 1)"),
        ] {
            assert_eq!(merged(base, over), over.replace(' ', ""), "{base}");
        }
    }

    #[test]
    fn a_variant_of_the_same_name_keeps_what_is_not_said_again() {
        assert_eq!(merged("S(r: 1, c: 2)", "S(r: 3)"), "S(r:3,c:2)");
        assert_eq!(merged("S((r: 1, c: 2))", "S(r: 3)"), "S(r:3,c:2)");
        assert_eq!(merged("S((r: 1, c: 2))", "(r: 3)"), "S((r:3,c:2))");
        assert_eq!(merged("Some((r: 1, c: 2))", "(r: 3)"), "(r:3,c:2)");
        assert_eq!(merged("(r: 1, c: 2)", "Some((r: 3))"), "Some((r:3,c:2))");
    }

    #[test]
    fn an_item_given_twice_stays_twice() {
        let over = "[(name: \"x\", v: 1), (name: \"x\", v: 2)]";
        assert_eq!(merged("[(name: \"x\", v: 0)]", over), over.replace(' ', ""));
    }

    #[test]
    fn comments_stay_out_of_the_way() {
        let base = "( // a, (\n a: 1, /* b: 2 */ b // :\n : 2 // last\n)";
        assert_eq!(merged(base, "(/* ) */ a: 3 /* , */, )"), "(a:3,b:2)");
        assert_eq!(merged(base, "(a: 3 // end )\n)"), "(a:3,b:2)");
    }

    const CHIP: &str = "(d: [(name: \"core\", s: [(name: \"a\"), (name: \"a.b\", t: 1)]), (name: \"a.b\", a: S(r: 1))], n: [1])";

    #[test]
    fn what_a_path_names_is_taken_out() {
        let without = |paths: &[&str]| {
            let mut node = tree(CHIP, 1);
            let paths = paths.iter().flat_map(|path| find(&node, path).expect(path)).collect();
            take_out(&mut node, paths);
            written(CHIP, "", &node)
        };
        let all = CHIP.replace(' ', "");
        assert_eq!(without(&["d.core.s.a"]), all.replace("(name:\"a\"),", ""));
        assert_eq!(without(&["d.core.s.a.b"]), all.replace(",(name:\"a.b\",t:1)", ""));
        assert_eq!(without(&["d.core.s.a.b.t"]), all.replace(",t:1", ""));
        assert_eq!(without(&["d.a.b.a.r"]), all.replace("r:1", ""));
        assert_eq!(without(&["d.a.b.a.S.r"]), all.replace("r:1", ""));
        assert_eq!(without(&["d.a.b.a.S.*"]), all.replace("r:1", ""));
        assert_eq!(without(&["d.core.s.*.t"]), all.replace(",t:1", ""));
        assert_eq!(without(&["d.*.s.a.b.t"]), all.replace(",t:1", ""));
        assert_eq!(without(&["d", "n", "d.core", "d.core.s.a", "d"]), "()");
    }

    #[test]
    fn a_star_stands_for_every_name_that_has_what_follows() {
        let base = "(o: [(name: \"a\", v: {\"x\": 1, \"y\": 2}), (name: \"b\", v: {\"y\": 3})])";
        let without = |path: &str| {
            let mut node = tree(base, 1);
            let found = find(&node, path).expect(path);
            take_out(&mut node, found);
            written(base, "", &node)
        };
        let all = base.replace(' ', "");
        assert_eq!(without("o.*.v.x"), all.replace("\"x\":1,", ""));
        assert_eq!(without("o.*.v.*"), all.replace("\"x\":1,\"y\":2", "").replace("\"y\":3", ""));
        assert_eq!(without("o.*"), "(o:[])");
        assert_eq!(without("*"), "()");
        let node = tree(base, 1);
        for (path, found) in
            [("o.*.v.z", "o.*.v."), ("o.*.w", "o.*."), ("p.*", ""), ("o.a.v.x.*", "o.a.v.")]
        {
            let miss = find(&node, path).unwrap_err();
            assert_eq!(miss.found, found, "{path}");
        }
        assert!(find(&node, &"*.".repeat(100_000)).is_err());
    }

    #[test]
    fn a_path_to_nothing_says_where_it_was_lost() {
        let node = tree(CHIP, 1);
        let miss = |path| find(&node, path).unwrap_err();
        let known = ["a", "a.b"].map(str::to_owned).to_vec();
        let found = "d.core.s.".to_owned();
        assert_eq!(miss("d.core.s.c.x"), Miss { found, rest: "c.x".into(), known });
        assert_eq!(miss("e").known, ["d", "n"]);
        for path in ["", ".", "d.", "n.1", "d.0", "d.core.s.a.", "d.a.b.a.S", "d.a.b.a.S.S.r"] {
            assert!(find(&node, path).is_err(), "{path}");
        }
        assert!(find(&node, &"d.core.".repeat(100_000)).is_err());
    }
}
