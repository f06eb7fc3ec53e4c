//! Models that no tool would write: whatever a file holds, the answer is a graph that can be counted
//! or one clear error, within bounded time and memory.

use crate::command_line::joulecast;
use crate::wire::{Message, call, function, graph, info, model, node, numbers, stored};
use joulecast::model::{Bindings, import};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SOUND: [(&str, &[u8]); 4] = [
    ("tiny.onnx", include_bytes!("fixtures/onnx/qdq_convnet.onnx")),
    ("tiny.tflite", include_bytes!("fixtures/tflite/tiny.tflite")),
    ("example.ron", include_bytes!("../docs/example_model.ron")),
    ("config.json", CONFIGURATION),
];

/// What transformer configurations look like.
const CONFIGURATION: &[u8] = br#"{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
  "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "max_position_embeddings": 128, "rms_norm_eps": 1e-05,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 320
}"#;

/// Reads a file of this content: what comes out of it must at least be sound.
fn read(name: &str, bytes: &[u8]) -> bool {
    match import::from_bytes(name, bytes, &Bindings::default()) {
        Ok(graph) => {
            graph.layers().unwrap_or_else(|e| panic!("{name}: {e}"));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_an_error_or_a_graph() {
    for (name, bytes) in SOUND {
        for length in 0..bytes.len() {
            read(name, &bytes[..length]);
        }
    }
    for (name, bytes) in &SOUND[..3] {
        assert!(!read(name, &[]), "{name}: nothing is no model");
        assert!(!read(name, &bytes[..bytes.len() / 2]), "{name}: half a file is no model");
        assert!(read(name, bytes), "{name} itself is one");
    }
}

#[test]
fn a_file_with_bytes_changed_anywhere_is_an_error_or_a_graph() {
    const MUTATIONS: usize = 2000;
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for (name, bytes) in SOUND {
        let mut refused = 0;
        for _ in 0..MUTATIONS {
            let mut changed = bytes.to_vec();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..changed.len());
                changed[at] = random.random();
            }
            refused += usize::from(!read(name, &changed));
        }
        assert!(refused > 0, "{name}: some of {MUTATIONS} changes must do harm");
    }
}

#[test]
fn a_file_under_the_name_of_another_format_is_refused() {
    for (name, _) in SOUND {
        for (other, bytes) in SOUND {
            // A text is told by its content, and a TFLite file by its mark, whatever the name.
            let told_by_content = name.ends_with("json")
                || (name.ends_with("ron") && other.ends_with("json"))
                || other.ends_with("tflite");
            if name != other && !told_by_content {
                assert!(!read(name, bytes), "{other} under the name {name}");
            }
        }
    }
    for (name, bytes) in [("a.onnx", &b"PK\x03\x04\0\0"[..]), ("a.tflite", b"\0\0\0\0TFL9\0\0\0\0")]
    {
        assert!(!read(name, bytes), "{name}");
    }
}

/// What the program says of a file, with the exit code; it may take a gigabyte of address space.
fn inspected(name: &str, bytes: &[u8]) -> (Option<i32>, String, String) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let program = env!("CARGO_BIN_EXE_joulecast");
    let output = if cfg!(unix) {
        std::process::Command::new("sh")
            .args(["-c", "ulimit -v 1048576; exec \"$0\" inspect --json \"$1\"", program])
            .arg(&path)
            .output()
            .unwrap()
    } else {
        joulecast(&["inspect", "--json", path.to_str().unwrap()])
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn refused(name: &str, bytes: &[u8], words: &str) {
    let (code, shown, said) = inspected(name, bytes);
    assert_eq!(code, Some(2), "{words}: {said}");
    assert!(shown.is_empty(), "{words}");
    assert!(said.starts_with("error:"), "{said}");
    assert!(said.contains(words), "{words}: {said}");
    assert!(said.len() < 4096, "{words}: a message of {} bytes", said.len());
}

fn square(dims: &[i64]) -> Vec<u8> {
    let nodes = [node("MatMul", &["x", "w"], &["y"])];
    model(&graph(&nodes, &[stored("w", dims)], &[info("x", &[1, 1 << 20])]), &[])
}

#[test]
fn graphs_that_make_no_sense_are_refused_with_what_is_wrong() {
    let x = [info("x", &[2, 3])];
    let of = |nodes: &[Message]| model(&graph(nodes, &[], &x), &[]);
    let relu = |from, to| node("Relu", &[from], &[to]);
    for (bytes, words) in [
        (
            of(&[relu("z", "y"), relu("y", "z")]),
            "has a cycle, each node reading from the next: Relu",
        ),
        (of(&[relu("y", "y")]), "has a cycle"),
        (of(&[relu("nowhere", "y")]), "it reads `nowhere`"),
        (of(&[relu("x", "z")]), "nothing makes its output `y`"),
        (of(&[relu("x", "y"), relu("x", "y")]), "two tensors are called `y`"),
        (of(&[]), "its graph has no nodes"),
        (square(&[1 << 40, 1 << 40]), "too large"),
        (square(&[-3, 5]), "an extent of -3"),
        (square(&[7, 5]), "1x1048576 and 7x5 do not multiply"),
        (square(&[1; 100]), "a tensor of 100 dimensions"),
        (Vec::from(*b"\x08\x08\x3a\xff\xff\xff\xff\x0f"), "it is no ONNX model"),
    ] {
        refused("bad.onnx", &bytes, words);
    }
}

#[test]
fn functions_that_grow_without_end_are_refused() {
    let whole = graph(&[call("f0", &["x"], &["y"])], &[], &[info("x", &[2, 3])]);
    let endless = function("f0", &[call("f0", &["x"], &["y"])]);
    refused("bad.onnx", &model(&whole, &[endless]), "function `local::f0` calls itself");
    let twice = |depth: usize| {
        let next = format!("f{}", depth + 1);
        function(&format!("f{depth}"), &[call(&next, &["x"], &["z"]), call(&next, &["z"], &["y"])])
    };
    let mut functions: Vec<_> = (0..29).map(twice).collect();
    functions.push(function("f29", &[node("Relu", &["x"], &["y"])]));
    let words = "the calls of its functions come to more than";
    refused("bad.onnx", &model(&whole, &functions), words);
    let chain = |depth: usize| {
        function(&format!("f{depth}"), &[call(&format!("f{}", depth + 1), &["x"], &["y"])])
    };
    let mut functions: Vec<_> = (0..40).map(chain).collect();
    functions.push(function("f40", &[node("Relu", &["x"], &["y"])]));
    refused("bad.onnx", &model(&whole, &functions), "call each other more than");
    let short = model(&whole, &[function("f0", &[node("Relu", &["x"], &["y"])])]);
    assert_eq!(inspected("good.onnx", &short).0, Some(0));
}

#[test]
fn functions_with_endless_lists_are_read_in_time_that_grows_with_them() {
    const MANY: usize = 60_000;
    let names: Vec<_> = (0..MANY).map(|i| format!("n{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // Each output is an input handed through, and each attribute is one that no node asks for.
    let head = Message::default().text(1, "many").text(10, "local");
    let relu = (0..MANY).map(|_| node("Relu", &["n0"], &["y"]));
    let nodes = relu.fold(head.texts(4, &names).texts(5, &names), |f, n| f.message(7, &n));
    let made: Vec<_> = names.iter().map(|name| format!("{name}m")).collect();
    let made: Vec<&str> = made.iter().map(String::as_str).collect();
    let settings = names.iter().map(|name| Message::default().text(1, name).int(3, 1));
    let call = settings.fold(call("many", &["x"], &made), |c, setting| c.message(5, &setting));
    let bytes = model(&graph(&[call], &[], &[info("x", &[2, 3])]), &[nodes]);
    let start = std::time::Instant::now();
    read("many.onnx", &bytes);
    let took = start.elapsed();
    assert!(took.as_secs() < 30, "{took:?}");
}

#[test]
fn an_operator_on_endless_operands_of_long_names_is_refused() {
    let long = "n".repeat(1 << 16);
    let operands = vec!["x"; 1 << 16];
    let sum = model(&graph(&[node("Sum", &operands, &[&long])], &[], &[info("x", &[2])]), &[]);
    refused("long.onnx", &sum, "come to more than");
}

#[test]
fn a_file_is_told_by_its_content_and_by_its_name_in_any_case() {
    let sound = |name: &str| SOUND.iter().find(|(n, _)| n.ends_with(name)).unwrap().1;
    for (name, bytes) in [("A.ONNX", "onnx"), ("A.TFLITE", "tflite"), ("A.JSON", "json")] {
        let (code, _, said) = inspected(name, sound(bytes));
        assert_eq!(code, Some(0), "{name}: {said}");
    }
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for name in ["a.onnx", "a.tflite", "a.ron", "a.bin"] {
        refused(name, pointer, "it is a Git LFS pointer: fetch the file itself");
    }
    let neither = "is not a model: it is neither TFLite, ONNX (.onnx), RON nor JSON";
    refused("net.py", b"#!/usr/bin/env python3\nimport torch\n", neither);
    refused("net.py", b"import torch\n", neither);
    refused("net.pt", b"PK\x03\x04\0\0\x08\x08archive/data.pkl", neither);
    let output = joulecast(&["inspect", "nowhere/net.onnx"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot read model nowhere/net.onnx: no such file"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_device_without_end_is_read_up_to_a_bound() {
    let script = "ulimit -v 1048576; exec \"$0\" inspect /dev/zero";
    let program = env!("CARGO_BIN_EXE_joulecast");
    let output = std::process::Command::new("sh").args(["-c", script, program]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: cannot read model /dev/zero"), "{said}");
}

#[test]
fn tensors_of_a_tera_of_elements_are_refused_and_never_held() {
    const SIDE: i64 = 1 << 20;
    let made = [node("ConstantOfShape", &["extents"], &["w"]), node("MatMul", &["x", "w"], &["y"])];
    let extents = [numbers("extents", &[SIDE, SIDE])];
    let by_operator = model(&graph(&made, &extents, &[info("x", &[1, SIDE])]), &[]);
    let handed_in =
        model(&graph(&[node("Relu", &["x"], &["y"])], &[], &[info("x", &[1 << 40])]), &[]);
    for bytes in [square(&[SIDE, SIDE]), by_operator, handed_in] {
        refused("large.onnx", &bytes, "is too large: at most 2^39 elements");
    }
    let text = "(schema: \"joulecast.model/1\", name: \"large\", tensors: [(name: \"w\", element: Int8, \
                shape: [1099511627776], role: Constant)], operators: [], outputs: [])";
    refused("large.ron", text.as_bytes(), "is too large: at most 2^39 elements");
}

#[test]
fn weights_that_are_not_as_many_as_their_shape_says_are_refused() {
    let x = [info("x", &[1, 8])];
    let product = [node("MatMul", &["x", "w"], &["y"])];
    let with = |weights: Message| model(&graph(&product, &[weights], &x), &[]);
    let short = stored("w", &[8, 4]).bytes(9, &[0; 40]);
    refused("short.onnx", &with(short), "`w` of 8x4 Float32 needs 128 bytes, but holds 40");
    let few = stored("w", &[8, 4]).bytes(4, &[0; 12]);
    refused("few.onnx", &with(few), "needs 32 numbers, but holds 3");
    let unheard = Message::default().int(1, 8).int(1, 4).int(2, 99).text(8, "w");
    refused("type.onnx", &with(unheard), "has element type 99");
    assert_eq!(inspected("described.onnx", &with(stored("w", &[8, 4]))).0, Some(0));
}

#[test]
fn nodes_in_any_order_are_sorted() {
    let relu = |from, to| node("Relu", &[from], &[to]);
    let nodes = [relu("b", "y"), relu("a", "b"), relu("x", "a")];
    let bytes = model(&graph(&nodes, &[], &[info("x", &[2, 3])]), &[]);
    let graph = import::from_bytes("mixed.onnx", &bytes, &Bindings::default()).unwrap();
    let names: Vec<_> = graph.layers().unwrap().into_iter().map(|layer| layer.name).collect();
    assert_eq!(names, ["Relu_2", "Relu_1", "Relu_0"], "called by their place in the file");
}

#[test]
fn names_of_a_megabyte_are_read_and_cut_short_in_messages() {
    let long = "n".repeat(1 << 20);
    let x = [info("x", &[2, 3])];
    let lost = model(&graph(&[node("Relu", &[&long], &["y"])], &[], &x), &[]);
    refused("bad.onnx", &lost, "it reads `nnn");
    let named = [node("Relu", &["x"], &[&long]), node("Relu", &[&long], &["y"])];
    assert_eq!(inspected("good.onnx", &model(&graph(&named, &[], &x), &[])).0, Some(0));
    let text = format!("(schema: \"joulecast.model/1\", name: \"{long}\", tensors: 5)");
    let (code, _, said) = inspected("bad.ron", text.as_bytes());
    assert_eq!(code, Some(2), "{}", said.len());
}

#[test]
fn nesting_without_end_is_refused() {
    const DEPTH: usize = 100_000;
    // A group within a group, which the reader has to skip.
    let groups = [0x0b].repeat(DEPTH);
    refused("deep.onnx", &groups, "it is no ONNX model");
    let (code, _, said) = inspected("deep.ron", &b"(tensors:".repeat(DEPTH));
    assert_eq!(code, Some(2), "{said}");
    let (code, _, said) = inspected("deep.json", &b"{\"a\":[".repeat(DEPTH));
    assert_eq!(code, Some(2), "{said}");
}
