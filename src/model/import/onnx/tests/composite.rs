use super::*;
use crate::model::{Cell, Layer, Recurrence, total_macs, total_parameters};

/// The layers of a graph of one operator.
fn layers(
    node: Node,
    inputs: &[(&str, &[&str])],
    stored_as: &[(&str, &[i64])],
) -> (ModelGraph, Vec<Layer>) {
    let outputs = node.outputs.iter().filter(|name| !name.is_empty());
    let graph = Graph {
        outputs: outputs.map(|name| unknown(name)).collect(),
        inputs: inputs.iter().map(|(name, dims)| info(name, FLOAT, dims)).collect(),
        initializers: stored_as.iter().map(|(name, dims)| stored(name, FLOAT, dims)).collect(),
        nodes: vec![node],
        ..Graph::default()
    };
    let graph = load(graph, &[]).unwrap_or_else(|e| panic!("{e}"));
    let layers = graph.layers().unwrap();
    assert!(graph.notes.is_empty(), "{:?}", graph.notes);
    (graph, layers)
}

fn endings(layers: &[Layer]) -> Vec<&str> {
    layers.iter().map(|layer| layer.name.rsplit('.').next().unwrap()).collect()
}

fn of(mut node: Node, domain: &str) -> Node {
    node.domain = domain.into();
    node
}

#[test]
fn a_recurrent_layer_is_one_product_and_its_steps() {
    for (op_type, cell) in [("LSTM", Cell::Lstm), ("GRU", Cell::Gru), ("RNN", Cell::Simple)] {
        let (gates, hidden) = (cell.gates() as i64, 16);
        let cell_node = node(op_type, &["x", "w", "r", "b"], &["y", "", ""]);
        let (graph, found) = layers(
            with_int(cell_node, "hidden_size", hidden),
            &[("x", &["10", "2", "8"])],
            &[
                ("w", &[2, gates * hidden, 8]),
                ("r", &[2, gates * hidden, hidden]),
                ("b", &[2, 2 * gates * hidden]),
            ],
        );
        assert_eq!(endings(&found), ["input", "recurrence"]);
        let all = 10 * 2 * 2 * (gates * hidden) as u64;
        assert_eq!([found[0].work.macs, found[1].work.macs], [all * 8, all * 16]);
        let expected = Recurrence { cell, hidden: 16, steps: 10, directions: 2 };
        let steps = graph.operators().nth(1).unwrap();
        assert_eq!(graph.operator(steps).op, Op::Recurrence(expected));
        assert_eq!(shape(&graph, "y"), "10x2x2x16");
        let parameters = 2 * (gates * hidden * (8 + 16 + 2)) as u64;
        assert_eq!(total_parameters(&found), parameters);
    }
}

#[test]
fn recurrent_weights_that_do_not_fit_are_an_error() {
    let node = with_int(node("LSTM", &["x", "w", "r"], &["y"]), "hidden_size", 4);
    let graph = Graph {
        nodes: vec![node],
        initializers: vec![stored("w", FLOAT, &[1, 16, 9]), stored("r", FLOAT, &[1, 16, 4])],
        inputs: vec![info("x", FLOAT, &["10", "2", "8"])],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let said = load(graph, &[]).unwrap_err().to_string();
    assert!(said.contains("`LSTM_0`") && said.contains("do not fit"), "{said}");
}

#[test]
fn query_heads_that_share_keys_are_rows_of_one_product() {
    // Eight query heads on two of keys, ten tokens on twenty.
    let plain = node("Attention", &["q", "k", "v"], &["y"]);
    let by_head: &[(&str, &[&str])] = &[
        ("q", &["1", "8", "10", "64"]),
        ("k", &["1", "2", "20", "64"]),
        ("v", &["1", "2", "20", "32"]),
    ];
    let (graph, found) = layers(plain, by_head, &[]);
    assert_eq!(shape(&graph, "y"), "1x8x10x32");
    assert_eq!(total_macs(&found), 8 * 10 * 20 * (64 + 32));
    let scores = found.iter().find(|layer| layer.name.ends_with("scores")).unwrap();
    let gemm = scores.work.gemm.unwrap();
    assert_eq!((gemm.groups, gemm.m, gemm.n, gemm.k), (2, 40, 20, 64));
    assert!(!endings(&found).contains(&"mask"));
}

#[test]
fn earlier_tokens_and_a_mask_take_part() {
    let inputs = ["q", "k", "v", "m", "pk", "pv"];
    let mut flat = node("Attention", &inputs, &["y", "keys", "values"]);
    flat = with_int(with_int(flat, "q_num_heads", 8), "kv_num_heads", 2);
    let (graph, found) = layers(
        flat,
        &[
            ("q", &["1", "10", "512"]),
            ("k", &["1", "10", "128"]),
            ("v", &["1", "10", "128"]),
            ("m", &["10", "15"]),
            ("pk", &["1", "2", "5", "64"]),
            ("pv", &["1", "2", "5", "64"]),
        ],
        &[],
    );
    assert_eq!(
        (shape(&graph, "y"), shape(&graph, "keys")),
        ("1x10x512".into(), "1x2x15x64".into())
    );
    assert_eq!(total_macs(&found), 2 * 8 * 10 * 15 * 64);
    let mask = found.iter().find(|layer| layer.name.ends_with("mask")).unwrap();
    assert_eq!(mask.work.element_ops, 8 * 10 * 15);
    assert_eq!(mask.work.operands.len(), 2, "the mask is read");
}

#[test]
fn vendor_attention_counts_its_projection_bias_and_rotation() {
    let packed = of(node("Attention", &["x", "w", "b"], &["y"]), "com.microsoft");
    let (_, found) = layers(
        with_int(packed, "num_heads", 4),
        &[("x", &["1", "10", "64"])],
        &[("w", &[64, 192]), ("b", &[192])],
    );
    assert_eq!(total_macs(&found), 10 * 64 * 192 + 2 * 10 * 10 * 64);
    assert_eq!(total_parameters(&found), 64 * 192 + 192);
    let biased = of(node("MultiHeadAttention", &["q", "k", "v", "b"], &["y"]), "com.microsoft");
    let (_, found) = layers(
        with_int(biased, "num_heads", 4),
        &[("q", &["1", "10", "64"]), ("k", &["1", "12", "64"]), ("v", &["1", "12", "64"])],
        &[("b", &[192])],
    );
    assert_eq!((total_macs(&found), total_parameters(&found)), (2 * 10 * 12 * 64, 192));
    let inputs = ["q", "", "", "pk", "pv"];
    let mut grouped = of(node("GroupQueryAttention", &inputs, &["y", "k", "v"]), "com.microsoft");
    for (name, value) in [("num_heads", 8), ("kv_num_heads", 2), ("do_rotary", 1)] {
        grouped = with_int(grouped, name, value);
    }
    let (_, found) = layers(
        grouped,
        &[
            ("q", &["1", "1", "768"]),
            ("pk", &["1", "2", "31", "64"]),
            ("pv", &["1", "2", "31", "64"]),
        ],
        &[],
    );
    assert_eq!(total_macs(&found), 2 * 8 * 32 * 64);
    let rotation = found.iter().filter(|layer| layer.name.contains("rotary"));
    assert_eq!(rotation.map(|layer| layer.work.element_ops).sum::<u64>(), 3 * (512 + 128));
}

#[test]
fn a_cache_that_is_handed_on_in_its_own_buffer_holds_the_new_token() {
    let inputs = ["q", "k", "v", "pk", "pv"];
    let mut grouped = of(node("GroupQueryAttention", &inputs, &["y", "nk", "nv"]), "com.microsoft");
    for (name, value) in [("num_heads", 4), ("kv_num_heads", 2)] {
        grouped = with_int(grouped, name, value);
    }
    let tokens = |stated: &str| {
        let cache = |name| info(name, FLOAT, &["1", "2", stated, "64"]);
        let graph = Graph {
            nodes: vec![grouped.clone()],
            inputs: vec![
                info("q", FLOAT, &["1", "1", "256"]),
                info("k", FLOAT, &["1", "1", "128"]),
                info("v", FLOAT, &["1", "1", "128"]),
                info("pk", FLOAT, &["1", "2", "128", "64"]),
                info("pv", FLOAT, &["1", "2", "128", "64"]),
            ],
            outputs: vec![unknown("y"), cache("nk"), cache("nv")],
            ..Graph::default()
        };
        let graph = load(graph, &[]).unwrap();
        assert!(graph.notes.is_empty(), "{:?}", graph.notes);
        (shape(&graph, "nk"), total_macs(&graph.layers().unwrap()))
    };
    assert_eq!(tokens("128"), ("1x2x128x64".into(), 2 * 4 * 128 * 64));
    assert_eq!(tokens("129"), ("1x2x129x64".into(), 2 * 4 * 129 * 64));
}

#[test]
fn a_window_of_tokens_is_said_to_be_counted_whole() {
    let inputs = ["q", "k", "v"];
    let mut grouped = of(node("GroupQueryAttention", &inputs, &["y"]), "com.microsoft");
    for (name, value) in [("num_heads", 4), ("kv_num_heads", 2), ("local_window_size", 8)] {
        grouped = with_int(grouped, name, value);
    }
    let flat = |name, width| info(name, FLOAT, &["1", "32", width]);
    let graph = Graph {
        nodes: vec![grouped],
        inputs: vec![flat("q", "256"), flat("k", "128"), flat("v", "128")],
        outputs: vec![unknown("y")],
        ..Graph::default()
    };
    let notes = load(graph, &[]).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("a window of the tokens")), "{notes:?}");
}

#[test]
fn an_equation_is_a_product() {
    let mut product = node("Einsum", &["a", "b"], &["y"]);
    let equation = "...hid,...hjd->...hij".into();
    product.attributes.push(Attribute {
        name: "equation".into(),
        text: equation,
        ..Attribute::default()
    });
    let (graph, found) =
        layers(product, &[("a", &["2", "3", "5", "7"]), ("b", &["2", "3", "11", "7"])], &[]);
    assert_eq!((shape(&graph, "y"), found[0].work.macs), ("2x3x5x11".into(), 2 * 3 * 5 * 11 * 7));
}

fn with_float(mut node: Node, name: &str, float: f32) -> Node {
    node.attributes.push(Attribute { name: name.into(), float, ..Attribute::default() });
    node
}

/// Each layer with its element operations.
fn operations(layers: &[Layer]) -> Vec<(&str, u64)> {
    let each = endings(layers).into_iter().zip(layers);
    each.map(|(name, layer)| (name, layer.work.element_ops)).filter(|(_, n)| *n > 0).collect()
}

#[test]
fn earlier_tokens_in_one_tensor_are_cut_apart_and_handed_on_together() {
    let inputs = ["x", "w", "b", "m", "past"];
    let packed = of(node("Attention", &inputs, &["y", "present"]), "com.microsoft");
    let (graph, found) = layers(
        with_int(packed, "num_heads", 4),
        &[("x", &["1", "3", "64"]), ("m", &["1", "10"]), ("past", &["2", "1", "4", "7", "16"])],
        &[("w", &[64, 192]), ("b", &[192])],
    );
    assert_eq!(shape(&graph, "present"), "2x1x4x10x16");
    assert_eq!(total_macs(&found), 3 * 64 * 192 + 2 * 3 * 10 * 64);
    let of = |name: &str| found.iter().find(|layer| layer.name.ends_with(name)).unwrap();
    assert_eq!(of(".past_keys").work.input_bytes, 7 * 64 * 4, "half of both is read");
    assert_eq!(of(".present").work.output_bytes, 2 * 10 * 64 * 4);
    assert_eq!(of(".mask").work.element_ops, 4 * 3 * 10);
}

#[test]
fn queries_by_head_and_keys_side_by_side_are_read_each_in_its_own_way() {
    let plain = with_int(node("Attention", &["q", "k", "v"], &["y"]), "kv_num_heads", 2);
    let (graph, found) = layers(
        plain,
        &[("q", &["1", "8", "10", "64"]), ("k", &["1", "20", "128"]), ("v", &["1", "20", "128"])],
        &[],
    );
    assert_eq!((shape(&graph, "y"), total_macs(&found)), ("1x8x10x64".into(), 2 * 8 * 200 * 64));
}

#[test]
fn caps_masks_of_padding_and_tables_are_counted() {
    let plain = with_float(node("Attention", &["q", "k", "v"], &["y"]), "softcap", 50.0);
    let by_head: &[(&str, &[&str])] =
        &[("q", &["1", "2", "3", "4"]), ("k", &["1", "2", "5", "4"]), ("v", &["1", "2", "5", "4"])];
    let (_, found) = layers(plain, by_head, &[]);
    let expected = [
        ("scale", 24),
        ("softcap_in", 30),
        ("softcap", 4 * 30),
        ("softcap_out", 30),
        ("softmax", 7 * 30),
    ];
    assert_eq!(operations(&found), expected);

    let inputs = ["q", "k", "v", "", "padding", "bias"];
    let padded = of(node("MultiHeadAttention", &inputs, &["y"]), "com.microsoft");
    for (padding, bytes) in [(&["2", "5"][..], 2 * 5 * 4), (&["2"], 2 * 4)] {
        let (_, found) = layers(
            with_int(padded.clone(), "num_heads", 2),
            &[
                ("q", &["2", "3", "8"]),
                ("k", &["2", "5", "8"]),
                ("v", &["2", "5", "8"]),
                ("padding", padding),
                ("bias", &["1", "2", "3", "5"]),
            ],
            &[],
        );
        let expected = [("scale", 48), ("padding_mask", 60), ("mask", 60), ("softmax", 7 * 60)];
        assert_eq!(operations(&found), expected, "{padding:?}");
        let made = found.iter().find(|layer| layer.name.ends_with("mask_operand")).unwrap();
        assert_eq!(made.work.input_bytes, bytes, "{padding:?}");
    }

    let inputs = ["q", "k", "v", "", "", "", "", "cos", "sin"];
    let mut grouped = of(node("GroupQueryAttention", &inputs, &["y"]), "com.microsoft");
    for (name, value) in [("num_heads", 4), ("kv_num_heads", 2), ("do_rotary", 1)] {
        grouped = with_int(grouped, name, value);
    }
    let (_, found) = layers(
        grouped,
        &[("q", &["1", "3", "32"]), ("k", &["1", "3", "16"]), ("v", &["1", "3", "16"])],
        &[("cos", &[100, 4]), ("sin", &[100, 4])],
    );
    let turned = found.iter().find(|layer| layer.name.ends_with("query_rotary")).unwrap();
    assert_eq!(turned.work.operands.len(), 3, "both tables are read");
    assert_eq!(total_parameters(&found), 0, "and are no parameters");
}

#[test]
fn an_output_that_no_part_makes_is_noted() {
    let inputs = ["q", "k", "v"];
    let outputs = ["y", "", "", "scores"];
    let grouped = of(node("GroupQueryAttention", &inputs, &outputs), "com.microsoft");
    let graph = Graph {
        nodes: vec![with_int(with_int(grouped, "num_heads", 4), "kv_num_heads", 2)],
        inputs: vec![
            info("q", FLOAT, &["1", "3", "32"]),
            info("k", FLOAT, &["1", "3", "16"]),
            info("v", FLOAT, &["1", "3", "16"]),
        ],
        outputs: vec![unknown("y"), unknown("scores")],
        ..Graph::default()
    };
    let notes = load(graph, &[]).unwrap().notes;
    assert_eq!(notes, ["outputs whose making is not counted: `scores`"]);
}

#[test]
fn initial_states_are_no_parameters() {
    let inputs = ["x", "w", "r", "b", "", "h", "c", "p"];
    let cell = with_int(node("LSTM", &inputs, &["y"]), "hidden_size", 4);
    let (_, found) = layers(
        cell,
        &[("x", &["10", "2", "8"])],
        &[
            ("w", &[1, 16, 8]),
            ("r", &[1, 16, 4]),
            ("b", &[1, 32]),
            ("h", &[1, 2, 4]),
            ("c", &[1, 2, 4]),
            ("p", &[1, 12]),
        ],
    );
    assert_eq!(total_parameters(&found), 16 * 12 + 32 + 12);
}
