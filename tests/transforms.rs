//! Laws of transforms, on the networks that ship and, where they are there, on larger ones.

use crate::command_line::joulecast;
use crate::shared::folder as shared;
use joulecast::model::{
    Bindings, ElementType, Layer, ModelGraph, OpKind, Options, Pass, Sparsity, TensorRole,
    Transform, apply, load, load_with, read_ron, shipped_models, stored_parameters, total_macs,
    total_output_bytes, total_parameters, write_ron,
};
use proptest::prelude::*;
use serde_json::Value;

fn graph(name: &str) -> ModelGraph {
    load(name, &Bindings::default()).unwrap()
}

/// The networks that came from 8-bit files.
fn tiny() -> Vec<ModelGraph> {
    let models = shipped_models().iter().filter(|m| m.path.starts_with("models/mlperf_tiny"));
    models.map(|model| read_ron(model.path, model.text).unwrap()).collect()
}

/// A mixture of experts and a decoder, one token each.
fn decoders() -> Vec<ModelGraph> {
    let options = Options { pass: Some(Pass::Decode(64)), ..Options::default() };
    let configurations = ["mixture", "decoder"].map(|name| format!("docs/example_{name}.json"));
    configurations.iter().map(|path| load_with(path, &options).unwrap()).collect()
}

/// The layers of a transformed graph, which its RON form gives alike.
fn layers(graph: &ModelGraph, transforms: &[Transform]) -> Vec<Layer> {
    let made = apply(graph, transforms).unwrap();
    let again = read_ron("again.ron", &write_ron(&made).unwrap()).unwrap();
    let layers = made.layers().unwrap();
    assert_eq!(again.layers().unwrap(), layers);
    assert_eq!(again.transforms, made.transforms);
    assert_eq!(made.transforms.len(), graph.transforms.len() + transforms.len());
    layers
}

fn precision(to: ElementType) -> Transform {
    Transform::Precision { to, weights_only: false, layers: None }
}

fn structured(keep: u32, of: u32) -> Transform {
    Transform::Sparsity { stored: Sparsity::Structured { keep, of }, layers: None }
}

#[test]
fn a_batch_of_n_is_n_times_the_work_with_the_same_weights() {
    let decoder = decoders().pop();
    for graph in tiny().into_iter().chain(decoder) {
        let (before, after) = (layers(&graph, &[]), layers(&graph, &[Transform::Batch(6)]));
        for (one, six) in before.iter().zip(&after) {
            let (one, six) = (&one.work, &six.work);
            assert_eq!(six.macs, 6 * one.macs);
            assert_eq!(six.element_ops, 6 * one.element_ops);
            assert_eq!(six.output_bytes, 6 * one.output_bytes);
            // Of a table of embeddings each sample reads rows of its own.
            let rows = if one.kind == OpKind::Movement { 6 } else { 1 };
            let read = (one.parameters, rows * one.weight_bytes);
            assert_eq!((six.parameters, six.weight_bytes), read);
        }
        assert_eq!(layers(&graph, &[Transform::Batch(6), Transform::Batch(1)]), before);
    }
}

#[test]
fn larger_networks_follow_batch_resolution_and_width_or_say_what_cannot() {
    let macs = |graph: &ModelGraph, transform| total_macs(&layers(graph, &[transform]));
    for name in ["mobilenet_v2", "resnet50", "vit_tiny", "yolov8n"] {
        let graph = graph(name);
        let before = total_macs(&graph.layers().unwrap());
        assert_eq!(macs(&graph, Transform::Batch(4)), 4 * before, "{name}");
    }
    for name in ["mobilenet_v2", "resnet50"] {
        let graph = graph(name);
        let classifier = graph.layers().unwrap().last().unwrap().work.macs;
        let whole = total_macs(&graph.layers().unwrap()) - classifier;
        let twice = macs(&graph, Transform::Resolution(vec![448])) - classifier;
        assert_eq!(twice, 4 * whole, "{name}");
        let half = macs(&graph, Transform::Width(0.5)) as f64 / whole as f64;
        assert!((0.25..0.36).contains(&half), "{name}: {half}");
    }
    for (transform, operator) in
        [(Transform::Resolution(vec![112]), "embed_positions"), (Transform::Width(0.5), "tokens")]
    {
        let said = apply(&graph("vit_tiny"), &[transform]).unwrap_err().to_string();
        assert!(said.contains(&format!("operator `{operator}`")), "{said}");
    }
}

#[test]
fn half_the_resolution_is_a_quarter_of_the_convolutions() {
    for (name, extents) in [("ic_resnet8", 16), ("vww_mobilenetv1_025", 32)] {
        let graph = graph(name);
        let [large, small] = [2 * extents, extents]
            .map(|extent| layers(&graph, &[Transform::Resolution(vec![extent])]));
        let of = |layers: &[Layer]| -> u64 {
            let layers = layers.iter().filter(|l| l.work.kind != OpKind::FullyConnected);
            layers.map(|l| l.work.macs).sum()
        };
        assert_eq!(of(&large), 4 * of(&small), "{name}");
        assert_eq!(total_parameters(&large), total_parameters(&small));
    }
    let graph = graph("kws_ds_cnn");
    let same = layers(&graph, &[Transform::Resolution(vec![49, 10])]);
    assert_eq!(same, graph.layers().unwrap());
}

/// Layers of which the values of filters are not known: those of converted ones are others.
fn without_values(mut layers: Vec<Layer>) -> Vec<Layer> {
    let operands = layers.iter_mut().flat_map(|layer| &mut layer.work.operands);
    operands.for_each(|operand| {
        operand.encoded = None;
        operand.statistics = None;
    });
    layers
}

#[test]
fn sixteen_bits_double_what_eight_bits_move() {
    for graph in tiny() {
        let before = layers(&graph, &[]);
        let after = layers(&graph, &[precision(ElementType::Int16)]);
        assert_eq!(total_output_bytes(&after), 2 * total_output_bytes(&before));
        assert_eq!(total_macs(&after), total_macs(&before));
        let there_and_back = [precision(ElementType::Int16), precision(ElementType::Int8)];
        assert_eq!(layers(&graph, &there_and_back), without_values(before));
    }
}

#[test]
fn two_in_four_stores_half_and_its_index() {
    let graph = graph("ad_autoencoder");
    let (before, after) = (layers(&graph, &[]), layers(&graph, &[structured(2, 4)]));
    for (dense, sparse) in before.iter().zip(&after) {
        let (dense, sparse) = (&dense.work, &sparse.work);
        let biases = 4 * dense.gemm.unwrap().n;
        assert_eq!(8 * (sparse.weight_bytes - biases), 5 * (dense.weight_bytes - biases));
        assert_eq!((sparse.macs, sparse.skippable_macs), (dense.macs, dense.macs / 2));
    }
}

#[test]
fn a_width_of_one_changes_nothing_and_half_keeps_ins_and_outs() {
    for graph in tiny() {
        assert_eq!(layers(&graph, &[Transform::Width(1.0)]), layers(&graph, &[]));
        let half = apply(&graph, &[Transform::Width(0.5)]).unwrap();
        let ends = |graph: &ModelGraph| {
            let inputs = graph.tensors().filter(|id| graph.tensor(*id).role == TensorRole::Input);
            let ends = inputs.chain(graph.outputs().iter().copied());
            ends.map(|id| graph.tensor(id).clone()).collect::<Vec<_>>()
        };
        assert_eq!(ends(&half), ends(&graph));
        let (before, after) = (graph.layers().unwrap(), half.layers().unwrap());
        assert!(total_macs(&after) < total_macs(&before));
        assert!(total_parameters(&after) < total_parameters(&before) / 2);
    }
}

/// Experts that a pass does not pick are stored whatever becomes of the others.
#[test]
fn decoders_keep_what_they_store() {
    let weights = |to| Transform::Precision { to, weights_only: true, layers: None };
    for graph in decoders() {
        let stored = stored_parameters(&graph);
        for transform in [
            Transform::Batch(1),
            Transform::Fuse,
            precision(ElementType::Int8),
            weights(ElementType::Int4),
            structured(2, 4),
        ] {
            let made = apply(&graph, std::slice::from_ref(&transform)).unwrap();
            assert_eq!(stored_parameters(&made), stored, "{} {transform}", graph.name);
        }
        let bytes = |graph: &ModelGraph| graph.profile().unwrap().stored_weight_bytes;
        let [half, quarter] = [precision(ElementType::Int8), weights(ElementType::Int4)]
            .map(|transform| bytes(&apply(&graph, &[transform]).unwrap()) as f64);
        let whole = bytes(&graph) as f64;
        assert!((0.5..0.51).contains(&(half / whole)), "{}", half / whole);
        assert!((0.25..0.45).contains(&(quarter / whole)), "{}", quarter / whole);
    }
}

/// MobileNetV1 at a width is defined by its multiplier: 0.25 doubled is 0.5 layer by layer.
#[test]
fn a_wider_mobilenet_has_the_channels_of_the_wider_mobilenet() {
    let made = layers(&graph("vww_mobilenetv1_025"), &[Transform::Width(2.0)]);
    let channels: Vec<u64> = made
        .iter()
        .filter(|l| l.work.kind == OpKind::PointwiseConv)
        .map(|l| l.work.gemm.unwrap().n)
        .collect();
    assert_eq!(channels, [32, 64, 64, 128, 128, 256, 256, 256, 256, 256, 256, 512, 512]);
}

#[test]
fn fusion_keeps_the_macs_and_moves_less() {
    let graph = graph("ic_resnet8");
    let (before, after) = (layers(&graph, &[]), layers(&graph, &[Transform::Fuse]));
    assert_eq!(total_macs(&after), total_macs(&before));
    assert!(total_output_bytes(&after) < total_output_bytes(&before));
    assert_eq!(after.len(), before.len() - 3, "three residual additions");
    let operations = |layers: &[Layer]| layers.iter().map(|l| l.work.element_ops).sum::<u64>();
    assert_eq!(operations(&after), operations(&before));
}

#[test]
fn order_matters_where_one_undoes_another() {
    let graph = graph("ic_resnet8");
    let wide = Transform::parse_precision("conv_2d_1=Int16").unwrap();
    let mixed = layers(&graph, &[precision(ElementType::Int8), wide.clone()]);
    assert!(mixed.iter().any(|l| l.work.element == ElementType::Int16));
    let undone = layers(&graph, &[wide, precision(ElementType::Int8)]);
    assert_eq!(without_values(undone), without_values(layers(&graph, &[])));
}

#[test]
fn a_quality_figure_holds_only_for_the_network_it_was_measured_on() {
    let mut graph = graph("kws_ds_cnn");
    graph.quality = joulecast::model::Quality::parse("accuracy=0.9@test").ok();
    assert!(apply(&graph, &[Transform::Fuse, Transform::Batch(2)]).unwrap().quality.is_some());
    let made = apply(&graph, &[structured(2, 4)]).unwrap();
    assert!(made.quality.is_none());
    assert!(made.transforms[0].changed.last().unwrap().contains("quality"));
}

#[test]
fn a_quality_that_cannot_be_compared_is_found_where_it_stands() {
    let text = include_str!("../docs/example_model.ron");
    let with = |quality: &str| {
        text.replacen("tensors: [", &format!("quality: {quality},\n  tensors: ["), 1)
    };
    let sound = "(metric: \"accuracy\", value: 0.9, slices: {\"night\": 0.8}, source: \"test\")";
    let read = read_ron("model.ron", &with(sound)).unwrap();
    assert_eq!(read.quality.as_ref().unwrap().to_string(), "accuracy 0.9, night 0.8 (test)");
    let again = read_ron("again.ron", &write_ron(&read).unwrap()).unwrap();
    assert_eq!(again.quality, read.quality);
    let bad = with(&sound.replace("0.8", "inf"));
    let said = read_ron("model.ron", &bad).unwrap_err().to_string();
    assert!(said.contains("a quality of inf cannot be compared"), "{said}");
    assert!(said.contains("model.ron:"), "{said}");
}

fn any_transform() -> impl Strategy<Value = Transform> {
    use ElementType as E;
    let formats = prop::sample::select(vec![E::Int4, E::Int8, E::Int16, E::Float16, E::Float32]);
    let layers = prop::sample::select(vec![None, Some("conv*".to_owned()), Some("*_1".to_owned())]);
    prop_oneof![
        (formats, any::<bool>(), layers.clone()).prop_map(|(to, weights_only, layers)| {
            Transform::Precision { to, weights_only, layers }
        }),
        (0.0..1.0f64, layers).prop_map(|(zeros, layers)| Transform::Sparsity {
            stored: Sparsity::Unstructured { zeros },
            layers
        }),
        Just(structured(2, 4)),
        Just(Transform::Fuse),
        (1..9u64).prop_map(Transform::Batch),
        (1..100u64).prop_map(|extent| Transform::Resolution(vec![extent])),
        Just(Transform::Separable("*".to_owned())),
        (0.1..3.0f64).prop_map(Transform::Width),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked, the answer is a sound graph that its file gives again, or a named error.
    #[test]
    fn any_transforms_give_a_graph_or_an_error(
        model in 0..7usize,
        transforms in prop::collection::vec(any_transform(), 1..4),
    ) {
        let graph = &[tiny(), decoders()].concat()[model];
        match apply(graph, &transforms) {
            Ok(_) => drop(layers(graph, &transforms)),
            Err(error) => {
                let said = error.to_string();
                prop_assert!(transforms.iter().any(|t| said.starts_with(&t.to_string())), "{said}");
            }
        }
    }
}

#[test]
fn networks_of_others_follow_or_say_which_operator_does_not() {
    let Some(shared) = shared("networks_of_others_follow_or_say_which_operator_does_not") else {
        return;
    };
    let mut followed = 0;
    for entry in std::fs::read_dir(shared.join("models/onnx")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "onnx") {
            continue;
        }
        let graph = graph(path.to_str().unwrap());
        let before = graph.layers().unwrap();
        assert_eq!(total_macs(&layers(&graph, &[Transform::Fuse])), total_macs(&before));
        assert_eq!(total_macs(&layers(&graph, &[Transform::Batch(4)])), 4 * total_macs(&before));
        layers(&graph, &[precision(ElementType::Int8), structured(2, 4), Transform::Fuse]);
        for transform in [Transform::Resolution(vec![160]), Transform::Width(0.5)] {
            match apply(&graph, std::slice::from_ref(&transform)) {
                Ok(_) => {
                    layers(&graph, &[transform]);
                    followed += 1;
                }
                Err(error) => assert!(error.to_string().contains("cannot follow"), "{error}"),
            }
        }
    }
    assert!(followed >= 14, "{followed} followed");
}

fn json(arguments: &[&str]) -> Value {
    let output = joulecast(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn flags_are_applied_in_the_order_in_which_they_stand() {
    let flags = |d: &Value| -> Vec<String> {
        let records = d["transforms"].as_array().unwrap().iter();
        records.map(|r| r["flag"].as_str().unwrap().to_owned()).collect()
    };
    let asked = ["--batch", "2", "--fuse", "--width", "0.5", "--batch", "4"];
    let document = json(&[&["inspect", "ic_resnet8", "--json"], &asked[..]].concat());
    assert_eq!(flags(&document), ["--batch 2", "--fuse", "--width 0.5", "--batch 4"]);
    let quality = ["--quality", "accuracy=0.861@\"our set\"", "--quality-slice", "night=0.79"];
    let target = ["estimate", "kws_ds_cnn", "--on", "eyeriss", "--precision", "Int16", "--json"];
    let document = json(&[&target[..], &quality[..]].concat());
    assert_eq!(flags(&document), ["--precision Int16"]);
    assert_eq!(document["quality"]["slices"]["night"], 0.79);
    assert_eq!(document["quality"]["source"], "our set");
}

#[test]
fn a_flag_may_be_repeated_and_a_slice_has_one_value() {
    let document = json(&["inspect", "ic_resnet8", "--json", "--fuse", "--batch", "2", "--fuse"]);
    let records = document["transforms"].as_array().unwrap().iter();
    let flags: Vec<_> = records.map(|r| r["flag"].as_str().unwrap()).collect();
    assert_eq!(flags, ["--fuse", "--batch 2", "--fuse"]);
    let twice = ["--quality-slice", "night=0.7", "--quality-slice", "night=0.8"];
    let quality = ["inspect", "ic_resnet8", "--quality", "accuracy=0.9@test"];
    let output = joulecast(&[&quality[..], &twice[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("two values of --quality-slice are of `night`"), "{said}");
}

#[test]
fn a_reshape_of_a_plane_that_grew_is_refused_at_any_batch() {
    for flags in [vec!["--batch", "2"], vec!["--batch", "30"], vec![]] {
        let flags = [&["inspect", "sww"], &flags[..], &["--resolution", "160"]].concat();
        let output = joulecast(&flags);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("operator `reshape_8` cannot follow"), "{said}");
    }
}

#[test]
fn a_recurrent_network_of_half_the_width_halves_its_state() {
    let made = layers(&graph("lstm_kws"), &[Transform::Width(0.5)]);
    // 49 steps of four gates of 56, each of 10 inputs and 56 states; then 12 classes.
    assert_eq!(total_macs(&made), 49 * 4 * 56 * (10 + 56) + 56 * 12);
}

#[test]
fn an_imported_variant_is_the_variant() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("half.ron");
    let path = path.to_str().unwrap();
    let flags = ["--width", "0.5", "--sparsity", "2:4"];
    let import = ["model", "import", "vww_mobilenetv1_025", "--out", path];
    assert!(joulecast(&[&import[..], &flags[..]].concat()).status.success());
    let written = json(&["inspect", path, "--json"]);
    let made = json(&[&["inspect", "vww_mobilenetv1_025", "--json"], &flags[..]].concat());
    assert_eq!(written["layers"], made["layers"]);
    assert_eq!(written["transforms"], made["transforms"]);
    let shown = joulecast(&["inspect", path]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("transform: --width 0.5: 26 layers have other channels"), "{shown}");
    assert!(shown.contains("`depthwise_conv_2d_1` stays: a depthwise filter"), "{shown}");
}

#[test]
fn what_cannot_be_done_is_bad_input() {
    for (flags, said) in [
        (
            ["--precision", "conv_2d_9=Int8"],
            "no layer is called `conv_2d_9`; did you mean `conv_2d_",
        ),
        (["--precision", "Int9"], "did you mean `Int"),
        (["--sparsity", "1.5"], "zeros are a share from 0 to 1"),
        (["--sparsity", "5:4"], "a structure keeps 1 up to all of a group"),
        (["--batch", "0"], "at least 1 sample"),
        (["--resolution", "0"], "at least 1 row"),
        (["--separable", "softmax_12"], "it is no convolution"),
        (["--width", "-1"], "a factor above 0"),
        (["--quality", "accuracy=0.9"], "METRIC=VALUE@SOURCE"),
        (["--quality-slice", "night=0.9"], "--quality"),
    ] {
        let output = joulecast(&[&["inspect", "kws_ds_cnn"], &flags[..]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {error}");
        assert!(error.contains(said), "{flags:?}: {error}");
    }
}

#[test]
fn the_page_on_transforms_shows_what_is_read_and_said() {
    let page = include_str!("../docs/transforms.md");
    let list = page.split("```ron\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let read: Vec<Transform> =
        joulecast::diagnostic::parse_ron("docs/transforms.md", list).unwrap();
    assert_eq!(read.len(), 9);
    for (model, flags) in [
        ("vww_mobilenetv1_025", vec!["--width 0.5", "--sparsity conv*=2:4"]),
        ("ic_resnet8", vec!["--fuse"]),
    ] {
        let arguments = flags.iter().flat_map(|flag| flag.split(' '));
        let arguments: Vec<_> = ["inspect", model].into_iter().chain(arguments).collect();
        let shown = String::from_utf8(joulecast(&arguments).stdout).unwrap();
        for line in shown.lines().filter(|line| line.starts_with("transform: --")) {
            assert!(page.contains(line), "{line}");
        }
    }
}

/// A flag of the page, as code there.
fn flag(text: &str) -> Transform {
    let (name, value) = text.trim_matches('`').split_once(' ').unwrap_or(("--fuse", ""));
    let value = value.trim_matches('\'');
    let read = match name {
        "--precision" => Transform::parse_precision(value),
        "--sparsity" => Transform::parse_sparsity(value),
        "--batch" => Transform::parse_batch(value),
        "--resolution" => Transform::parse_resolution(value),
        "--separable" => Transform::parse_separable(value),
        "--width" => Transform::parse_width(value),
        _ => Ok(Transform::Fuse),
    };
    read.unwrap()
}

/// What becomes of a network, in a word.
fn outcome(graph: &ModelGraph, transform: Transform) -> &'static str {
    match apply(graph, &[transform]) {
        Err(_) => "no",
        Ok(made) if made.transforms[0].changed.is_empty() => "nothing",
        Ok(_) => "yes",
    }
}

#[test]
fn the_table_of_networks_and_transforms_is_true() {
    let page = include_str!("../docs/transforms.md");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table = page.lines().skip_while(|line| !line.starts_with("| shipped network |"));
    let mut table = table.take_while(|line| line.starts_with('|'));
    let flags = cells(table.next().unwrap());
    let rows: Vec<_> = table.skip(1).map(cells).collect();
    assert_eq!(rows.len(), shipped_models().len());
    for row in rows {
        let graph = graph(row[0].trim_matches('`'));
        for (text, cell) in flags.iter().zip(&row).skip(1) {
            let word = cell.split(&[' ', ',', ':'][..]).next().unwrap();
            assert_eq!(outcome(&graph, flag(text)), word, "{} {text}", row[0]);
        }
    }
}
