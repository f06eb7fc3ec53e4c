//! Models written by hand: what is wrong in them is said all at once, each with its place.

use crate::command_line::joulecast;
use crate::shared::folder as shared;
use joulecast::diagnostic::parse_ron;
use joulecast::model::{
    Bindings, ModelError, Op, import, load, read_ron, total_macs, total_parameters, write_ron,
};

const EXAMPLE: &str = include_str!("../docs/example_model.ron");

fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = EXAMPLE.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// All that is wrong, as path and message.
fn faults(text: &str) -> Vec<(String, String)> {
    match read_ron("model.ron", text) {
        Err(ModelError::Ron(report)) => {
            let one = |fault: &joulecast::diagnostic::Fault| {
                assert!(fault.span.is_some(), "{fault:?} has a place");
                (fault.path.clone(), fault.message.clone())
            };
            report.faults().iter().map(one).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn only(changes: &[(&str, &str)], path: &str, message: &str) {
    let found = faults(&changed(changes));
    assert_eq!(found.len(), 1, "{changes:?}: {found:#?}");
    assert_eq!(found[0].0, path, "{found:?}");
    assert!(found[0].1.contains(message), "{message}: {found:?}");
}

#[test]
fn the_example_counts_as_by_hand() {
    let graph = read_ron("example_model.ron", EXAMPLE).unwrap();
    let layers = graph.layers().unwrap();
    assert_eq!(total_macs(&layers), 64 * 8 * 27 + 64 * 8 * 9 + 80);
    assert_eq!(total_parameters(&layers), 8 * 27 + 8 + 72 + 80);
    assert!(graph.notes.is_empty());
    let again = read_ron("again.ron", &write_ron(&graph).unwrap()).unwrap();
    assert_eq!(again.layers().unwrap(), layers);
}

#[test]
fn shapes_that_disagree_are_found_where_they_stand() {
    for (from, to, path, message) in [
        ("[8, 3, 3, 3]", "[8, 3, 3, 4]", "operators[0].inputs[1]", "have 4 channels"),
        ("shape: [8], ", "shape: [9], ", "operators[0].inputs[2]", "a bias of 9"),
        ("strides: [2, 2]", "strides: [2]", "operators[0].op.Convolution.strides", "1 strides"),
        ("[10, 8], role", "[10, 9], role", "operators[5].inputs[0]", "need 9"),
        (
            "\"flat\", element: Int8, shape: [1, 8]",
            "\"flat\", element: Int8, shape: [2, 8]",
            "operators[4].outputs[0]",
            "16 elements, its input of 1x1x1x8 has 8",
        ),
        ("kernel: [8, 8]", "kernel: [8]", "operators[3].op.Pool.kernel", "1 extents for 2"),
    ] {
        let found = faults(&changed(&[(from, to)]));
        let at_place = found.iter().find(|(at, _)| at == path);
        assert!(at_place.is_some_and(|(_, said)| said.contains(message)), "{path}: {found:#?}");
    }
    only(&[("groups: 1)", "groups: 0)")], "operators[0].op.Convolution.groups", "start at 1");
    only(&[("shape: [10, 8]", "shape: [10, 0]")], "tensors[9].shape[1]", "an extent of 0");
    only(&[("shape: [10, 8]", "shape: [9999999999, 9999999999]")], "tensors[9].shape", "too large");
    only(&[("name: \"pool\"", "name: \"conv\"")], "operators[3].name", "two operators");
}

#[test]
fn what_does_not_make_a_graph_is_found_where_it_stands() {
    let swap = [(
        "\"sum\", element",
        "\"spare\", element: Int8, shape: [1, 8, 8, 8]), (name: \"sum\", element",
    )];
    let spare = |from, to| [swap[0], (from, to)];
    only(
        &spare("inputs: [\"sum\"]", "inputs: [\"spare\"]"),
        "operators[3].inputs[0]",
        "no operator makes",
    );
    only(
        &spare("outputs: [\"probabilities\"],\n)", "outputs: [\"spare\"],\n)"),
        "outputs[0]",
        "no operator makes",
    );
    only(&[("inputs: [\"sum\"]", "inputs: []")], "operators[3].inputs[0]", "input is missing");
    only(
        &[("\"conv_weights\", \"conv_bias\"", "\"\", \"conv_bias\"")],
        "operators[0].inputs[1]",
        "the weight is missing",
    );
    only(
        &[("[1, 8, 8, 8]),\n    (name: \"mean", "[1, 8, 8, 8], role: Input),\n    (name: \"mean")],
        "operators[2].outputs[0]",
        "has role Input",
    );
    only(
        &[("outputs: [\"sum\"]", "outputs: [\"sum\", \"sum\"]")],
        "operators[2].outputs[1]",
        "made already",
    );
    let unknown = faults(&changed(&[(
        "\"sum\", element: Int8, shape: [1, 8, 8, 8]",
        "\"sum\", element: Int8",
    )]));
    assert_eq!(unknown.len(), 2, "where it is made and where it is read: {unknown:#?}");
    assert!(unknown.iter().all(|(_, said)| said.contains("is not given")), "{unknown:#?}");
}

#[test]
fn the_page_on_models_shows_what_is_read() {
    let page = include_str!("../docs/models.md");
    let blocks: Vec<_> =
        page.split("```ron\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let whole = blocks.iter().find(|block| block.starts_with("(\n")).unwrap();
    read_ron("docs/models.md", whole).unwrap_or_else(|e| panic!("{e}"));
    let ops = blocks.iter().find(|block| block.starts_with("[\n")).unwrap();
    let ops: Vec<Op> = parse_ron("docs/models.md", ops).unwrap_or_else(|e| panic!("{e}"));
    let kinds: std::collections::BTreeSet<String> = ops
        .iter()
        .map(|op| format!("{op:?}").split(['(', ' ']).next().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.len(), 13, "each kind of operator is shown: {kinds:?}");
}

#[test]
fn a_cycle_names_its_operators_and_the_input_that_closes_it() {
    let text = changed(&[("inputs: [\"image\", \"conv", "inputs: [\"sum\", \"conv")]);
    let found = faults(&text);
    let cycle = found.iter().find(|(_, said)| said.contains("cycle")).unwrap();
    assert!(cycle.0.starts_with("operators[") && cycle.0.contains("].inputs["), "{cycle:?}");
    for name in ["`conv`", "`shortcut`"] {
        assert!(cycle.1.contains(name), "{cycle:?}");
    }
    assert!(!cycle.1.contains("softmax"), "only what is in it: {cycle:?}");
    assert!(found.len() > 1, "and what else is wrong: {found:#?}");
}

#[test]
fn faults_of_all_kinds_are_shown_together_by_the_program() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model.ron");
    let text = changed(&[
        ("[8, 3, 3, 3]", "[8, 3, 3, 4]"),
        ("shape: [10, 8]", "shape: [10, 0]"),
        ("inputs: [\"sum\"]", "inputs: [\"som\"]"),
        ("\"shortcut\"", "\"conv\""),
        ("outputs: [\"probabilities\"],\n)", "outputs: [\"mean\", \"nothing\"],\n)"),
    ]);
    std::fs::write(&path, text).unwrap();
    let output = joulecast(&["inspect", path.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for (line, message) in [
        (15, "an extent of 0 leaves tensor `class_weights`"),
        (21, "weights 8x3x3x4 have 4 channels"),
        (25, "two operators are called `conv`"),
        (27, "no tensor is called `som`"),
        (32, "no tensor is called `nothing`"),
    ] {
        assert!(said.contains(message), "{message}:\n{said}");
        assert!(said.contains(&format!("model.ron:{line}:")), "{line} of {message}:\n{said}");
    }
    assert!(said.contains("did you mean `sum`?"), "{said}");
    assert!(said.contains("5 faults in"), "{said}");
}

#[test]
fn fields_given_twice_are_refused_in_every_ron_file() {
    let text = changed(&[("name: \"example\"", "name: \"example\",\n  name: \"other\"")]);
    let said = read_ron("model.ron", &text).unwrap_err().to_string();
    assert!(said.contains("`name` is given twice") && said.contains("model.ron:5:3"), "{said}");
    assert!(said.contains("the first is in line 4"), "{said}");

    let profile = crate::shipped::text_of("stm32l4r5");
    let clocks = profile.find("clocks: {").unwrap() + "clocks: {".len();
    let entry = &profile[clocks..clocks + profile[clocks..].find(',').unwrap()];
    let entry = entry.trim_end_matches('}');
    let text = format!("{}{entry}, {}", &profile[..clocks], &profile[clocks..]);
    let said = joulecast::hardware::Profile::parse("chip.ron", &text).unwrap_err().to_string();
    assert!(said.contains("is given twice"), "{said}");
    assert!(said.contains("operating_points[0].clocks."), "{said}");
}

#[test]
fn a_graph_of_views_or_of_nothing_is_a_graph() {
    let head = "(schema: \"joulecast.model/1\", name: \"v\", ";
    let empty = format!("{head}tensors: [], operators: [], outputs: [])");
    let views = format!(
        "{head}tensors: [(name: \"x\", element: Int8, shape: [4], role: Input), \
         (name: \"y\", element: Int8, shape: [2, 2])], operators: [(name: \"v\", \
         op: Movement(View), inputs: [\"x\"], outputs: [\"y\"])], outputs: [\"y\"])"
    );
    let place = tempfile::tempdir().unwrap();
    for text in [empty, views] {
        let graph = read_ron("v.ron", &text).unwrap();
        assert_eq!(total_macs(&graph.layers().unwrap()), 0);
        assert_eq!(graph.live_activation_bytes().len(), graph.operators().len());
        read_ron("again.ron", &write_ron(&graph).unwrap()).unwrap();
        let path = place.path().join("v.ron");
        std::fs::write(&path, text).unwrap();
        let output = joulecast(&["inspect", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_value_for_a_dimension_that_a_file_does_not_have_is_bad_input() {
    for model in ["kws_ds_cnn", concat!(env!("CARGO_MANIFEST_DIR"), "/docs/example_model.ron")] {
        let output = joulecast(&["inspect", model, "--bind", "N=1"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("no dimension is called `N`"), "{said}");
        assert!(said.contains("this file has no symbolic dimensions"), "{said}");
    }
    let bindings = Bindings([("N".to_owned(), 1)].into());
    let error = import::from_bytes("x.tflite", b"\0\0\0\0TFL3", &bindings).unwrap_err();
    assert!(matches!(error, ModelError::UnknownSymbol { .. }), "{error}");
}

#[test]
fn what_an_importer_notes_as_odd_survives_the_ron_form_and_edits_of_it_do_not() {
    let odd = changed(&[("[10, 8], role", "[10, 9], role")]);
    let (_, reason) = faults(&odd).remove(0);
    let note = format!("operator `classes` is counted as the file states it, but: {reason}");
    let noted = odd.replacen("tensors: [", &format!("notes: [\"{note}\"], tensors: ["), 1);
    assert_eq!(read_ron("odd.ron", &noted).unwrap().notes, [note]);
    let edited = noted.replacen("[8, 3, 3, 3]", "[8, 3, 3, 4]", 1);
    assert_eq!(faults(&edited).len(), 1, "what is not noted is a fault");
}

#[test]
fn files_of_real_networks_agree_with_themselves() {
    let Some(shared) = shared("files_of_real_networks_agree_with_themselves") else { return };
    let mut read = 0;
    for folder in ["models/tflite", "models/onnx"] {
        for entry in std::fs::read_dir(shared.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path.extension().is_some_and(|e| e == "tflite" || e == "onnx") {
                continue;
            }
            let graph = load(path.to_str().unwrap(), &Bindings::default()).unwrap();
            let odd = graph.notes.iter().filter(|n| n.contains("as the file states it"));
            assert_eq!(odd.count(), 0, "{path:?}: {:?}", graph.notes);
            read += 1;
        }
    }
    assert!(read >= 17, "{read} files");
}

/// Whatever a byte of a model becomes, the answer is a graph that can be counted or an error.
#[test]
fn a_model_with_any_byte_changed_never_panics() {
    let mut bytes = EXAMPLE.as_bytes().to_vec();
    for at in 0..bytes.len() {
        let kept = bytes[at];
        for replacement in *b"09-\"([ ,:" {
            bytes[at] = replacement;
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            match read_ron("mutated.ron", text) {
                Ok(graph) => drop(graph.layers().unwrap()),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
        bytes[at] = kept;
    }
}
