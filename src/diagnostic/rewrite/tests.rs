use super::super::{Layers, Merged};
use super::*;

const RULES: LayerRules<'static> = LayerRules {
    extends: "extends",
    without: "without",
    whole_values: &["sources"],
    whole: &["both"],
};

fn merged(texts: &[&str]) -> Merged {
    let mut layers = Layers::new(RULES);
    for (i, text) in texts.iter().enumerate() {
        layers.push(&format!("{i}.ron"), text, i.saturating_sub(1)).unwrap();
    }
    layers.merged().unwrap()
}

const BASE: &str = r#"(
  sources: {"a": (kind: Paper, citation: "x"), "b": (kind: Paper, citation: "y")},
  d: [
    (name: "core", tree: Charge("1 A"), leak: (power: "1 W", // at rest
      growth: "2"), states: [(name: "off", share: "3 %"), (name: "low", share: "4 %")]),
    (name: "pin", tree: Energy("2 J")),
  ],
  array: Lanes((macs: {Int8: "5", "odd": "6"})),
  ranges: [(v: "7"), (v: "8")],
  both: (n: ["p"], f: [[1]]),
)"#;

fn value(path: &str, value: &str) -> Change {
    Change::Value { path: path.into(), value: value.into() }
}

fn entry(within: &str, key: &str, value: &str) -> Change {
    Change::Entry { within: within.into(), key: key.into(), value: value.into() }
}

/// `own` over the base, changed; it stands then for the same with the value changed in the merged text.
fn over(own: &str, changes: &[Change]) -> String {
    let before = merged(&[own, BASE]);
    let changed = rewritten(own, before.text(), &RULES, changes).unwrap();
    let after = merged(&[&changed, BASE]);
    let mut expected = before.text().to_owned();
    for change in changes {
        if let Change::Value { path, value } = change {
            expected = super::super::patched(&expected, path, value).unwrap();
        }
    }
    if changes.iter().all(|change| matches!(change, Change::Value { .. })) {
        assert_eq!(values(after.text()), values(&expected), "{changed}");
    }
    changed
}

/// Paths and words of all that has no parts.
fn values(text: &str) -> Vec<(String, String)> {
    let index = SpanIndex::of(text);
    let leaf = |path: &&str| !text[index.value(path).unwrap()].contains(['(', '[', '{']);
    let leaves = index.paths().filter(leaf);
    leaves.map(|path| (path.to_owned(), text[index.value(path).unwrap()].to_owned())).collect()
}

#[test]
fn a_text_that_stands_alone_is_changed_in_place() {
    let changes = [value("d[0].leak.power", "\"9 W\""), value("d[1].tree.Energy", "\"8 J\"")];
    let expected = BASE.replace("\"1 W\"", "\"9 W\"").replace("\"2 J\"", "\"8 J\"");
    assert_eq!(rewritten(BASE, BASE, &RULES, &changes).unwrap(), expected);
    for path in values(BASE).into_iter().map(|(path, _)| path) {
        let out = rewritten(BASE, BASE, &RULES, &[value(&path, "\"new\"")]).unwrap();
        assert_eq!(out, super::super::patched(BASE, &path, "\"new\"").unwrap(), "{path}");
    }
}

#[test]
fn what_is_inherited_is_overridden_by_the_least() {
    let own = "(extends: \"b\")";
    let twice = [value("d[0].states[0].share", "1"), value("d[0].states[1].share", "2")];
    assert_eq!(
        over(own, &twice),
        r#"(extends: "b", d: [(name: "core", states: [(name: "off", share: 1), (name: "low", share: 2)])])"#
    );
    let with = |more: &str| format!("(extends: \"b\", {more})");
    for (path, expected) in [
        ("d[0].tree.Charge", r#"d: [(name: "core", tree: Charge("N"))]"#),
        ("d[0].leak.growth", r#"d: [(name: "core", leak: (growth: "N"))]"#),
        ("d[0].states[1].share", r#"d: [(name: "core", states: [(name: "low", share: "N")])]"#),
        ("array.Lanes.macs.Int8", r#"array: Lanes(macs: {Int8: "N"})"#),
        ("array.Lanes.macs.odd", r#"array: Lanes(macs: {"odd": "N"})"#),
        ("ranges[1].v", r#"ranges: [(v: "7"), (v: "N")]"#),
        ("sources.b.citation", r#"sources: {"b": (kind: Paper, citation: "N")}"#),
        ("both.f[0][0]", r#"both: (n: ["p"], f: [["N"]])"#),
    ] {
        assert_eq!(over(own, &[value(path, "\"N\"")]), with(expected), "{path}");
    }
}

#[test]
fn what_the_text_has_some_of_is_completed() {
    let own = "(\n  extends: \"b\", // the base\n  d: [\n    (name: \"new\"),\n    (name: \"core\", leak: (power: \"9 W\")) // hot\n  ],\n  both: (n: [], f: []),\n)\n";
    let changes = [
        value("d[0].leak.growth", "\"3\""),
        value("d[0].leak.power", "\"8 W\""),
        value("d[1].tree.Energy", "\"4 J\""),
        value("ranges[0].v", "\"6\""),
        value("ranges[1].v", "\"5\""),
        value("both.n", "[\"q\"]"),
    ];
    assert_eq!(
        over(own, &changes),
        "(\n  extends: \"b\", // the base\n  d: [\n    (name: \"new\"),\n    (name: \"core\", leak: (power: \"8 W\", growth: \"3\")), // hot\n    (name: \"pin\", tree: Energy(\"4 J\")),\n  ],\n  both: (n: [\"q\"], f: []),\n  ranges: [(v: \"6\"), (v: \"5\")],\n)\n"
    );
}

#[test]
fn any_value_of_any_layer_can_be_changed_and_all_others_stay() {
    let middle = "(extends: \"b\", without: [\"d.core.states.off\"], d: [(name: \"core\", tree: Energy(\"0 J\"), states: [(name: \"off\", share: \"1 %\")]), (name: \"x\", v: \"1\")])";
    let before = merged(&["(extends: \"m\")", middle, BASE]);
    for (path, _) in values(before.text()) {
        if path.ends_with("name") || path == "extends" || path.starts_with("without") {
            continue;
        }
        let out =
            rewritten("(extends: \"m\")", before.text(), &RULES, &[value(&path, "7")]).unwrap();
        let after = merged(&[&out, middle, BASE]);
        let expected = super::super::patched(before.text(), &path, "7").unwrap();
        assert_eq!(values(after.text()), values(&expected), "{path}: {out}");
    }
}

#[test]
fn entries_are_set_wherever_they_stand() {
    let own = "(extends: \"b\")";
    let out = over(own, &[entry("sources", "fit", "(kind: Fitted)"), entry("", "both", "(n: [])")]);
    assert_eq!(out, "(extends: \"b\", sources: {\"fit\": (kind: Fitted)}, both: (n: []))");
    let again = over(
        &out,
        &[entry("sources", "fit", "1"), entry("sources", "z", "2"), entry("", "both", "3")],
    );
    assert_eq!(again, "(extends: \"b\", sources: {\"fit\": 1, \"z\": 2}, both: 3)");
    let alone = rewritten(BASE, BASE, &RULES, &[entry("sources", "a", "0"), entry("", "q", "1")]);
    let expected = BASE.replace("\"a\": (kind: Paper, citation: \"x\")", "\"a\": 0");
    assert_eq!(alone.unwrap(), expected.replace("[[1]]),\n", "[[1]]),\n  q: 1,\n"));
    let empty = rewritten(
        "(m: {}, l: Ldo())",
        "(m: {}, l: Ldo())",
        &RULES,
        &[entry("m", "k", "1"), entry("l", "k", "2")],
    );
    assert_eq!(empty.unwrap(), "(m: {\"k\": 1}, l: Ldo(k: 2))");
}

#[test]
fn an_entry_is_unsaid_with_its_line() {
    let text =
        "(\n  m: {\n    \"a\": 1, // one\n    \"b\": 2,\n    \"c\": 3\n  },\n  n: (x: 1, y: 2),\n)";
    let without = |within: &str, key: &str| {
        let change = Change::Unsaid { within: within.into(), key: key.into() };
        rewritten(text, text, &RULES, &[change]).unwrap()
    };
    assert_eq!(without("m", "b"), text.replace("    \"b\": 2,\n", ""));
    assert_eq!(without("m", "c"), text.replace("    \"c\": 3\n", ""));
    assert_eq!(without("m", "a"), text.replace("\"a\": 1, ", ""));
    assert_eq!(without("n", "x"), text.replace("x: 1, ", ""));
    assert_eq!(without("", "n"), text.replace("  n: (x: 1, y: 2),\n", ""));
    assert_eq!(without("m", "zzz"), text);
    let inherited = [Change::Unsaid { within: "sources".into(), key: "a".into() }];
    assert_eq!(over("(extends: \"b\")", &inherited), "(extends: \"b\")");
}

#[test]
fn a_change_of_nothing_is_told() {
    let said = |own: &str, merged: &str, change: Change| rewritten(own, merged, &RULES, &[change]);
    let nowhere = Err(RewriteError::Nowhere { path: "x.y".into() });
    assert_eq!(said(BASE, BASE, value("x.y", "1")), nowhere);
    assert_eq!(said(BASE, BASE, entry("x.y", "k", "1")), nowhere);
    let no_entries = Err(RewriteError::NoEntries { path: "ranges".into() });
    assert_eq!(said(BASE, BASE, entry("ranges", "k", "1")), no_entries);
    assert_eq!(said("(", BASE, value("ranges", "1")), Err(RewriteError::Unreadable { at: 1 }));
    let apart = Err(RewriteError::Apart { path: "d[0].tree.Charge".into() });
    assert_eq!(said("(d: 3)", BASE, value("d[0].tree.Charge", "1")), apart);
}
