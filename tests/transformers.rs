//! Transformers from their configuration, held against published totals.

use crate::command_line::joulecast;
use crate::shared::folder as shared;
use joulecast::model::{
    ElementType, ModelGraph, Options, Pass, Tensor, TensorRole, WeightFormat, generate, generators,
    load, load_with, read_parameters, read_ron, shipped_models, stored_parameters, total_macs,
    total_weight_bytes, write_ron,
};

fn path(name: &str) -> String {
    format!("{}/tests/fixtures/transformers/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn graph(name: &str, pass: Pass) -> ModelGraph {
    load_with(&path(name), &Options { pass: Some(pass), ..Options::default() })
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn macs(graph: &ModelGraph) -> u64 {
    total_macs(&graph.layers().unwrap())
}

/// Bytes of keys and values that are kept between runs.
fn cache_bytes(graph: &ModelGraph) -> u64 {
    let tensors = graph.tensors().map(|id| graph.tensor(id));
    tensors.filter(|t| t.role == TensorRole::State).filter_map(Tensor::bytes).sum()
}

/// Parameters as published: (configuration, parameters).
const PARAMETERS: [(&str, u64); 18] = [
    ("llama_3_2_1b", 1_235_814_400),
    ("tinyllama", 1_100_048_384),
    ("mistral_7b", 7_241_732_096),
    ("mixtral_8x7b", 46_702_792_704),
    ("qwen2_0_5b", 494_032_768),
    ("qwen3_30b_a3b", 30_532_122_624),
    ("gemma_2b", 2_506_172_416),
    ("gemma2_2b", 2_614_341_888),
    ("gemma3_1b", 999_885_952),
    ("phi_2", 2_779_683_840),
    ("phi3_mini", 3_821_079_552),
    ("qwen1_5_moe_a2_7b", 14_315_784_192),
    ("starcoder2_3b", 3_030_371_328),
    ("pythia_160m", 162_322_944),
    ("gpt2", 124_439_808),
    ("bert_base", 109_482_240),
    ("vit_base_patch16_224", 86_567_656),
    // With the head of the class token alone; that of the distillation token has 193 000 more.
    ("deit_tiny_distilled", 5_717_800),
];

#[test]
fn parameters_are_the_published_ones() {
    for (name, parameters) in PARAMETERS {
        let graph = match name {
            "bert_base" => graph(name, Pass::Prefill(128)),
            "vit_base_patch16_224" | "deit_tiny_distilled" => {
                load(&path(name), &Default::default()).unwrap()
            }
            _ => graph(name, Pass::Decode(16)),
        };
        assert_eq!(stored_parameters(&graph), parameters, "{name}");
    }
}

#[test]
fn active_parameters_of_mixtures_are_the_published_ones() {
    for (name, billions) in [("mixtral_8x7b", 12.9), ("qwen3_30b_a3b", 3.3)] {
        let graph = graph(name, Pass::Decode(16));
        let active = read_parameters(&graph) as f64 / 1e9;
        assert!((active - billions).abs() < 0.06, "{name}: {active}");
        let said = format!("{} are active", read_parameters(&graph));
        assert!(graph.notes.iter().any(|note| note.contains(&said)), "{:?}", graph.notes);
    }
}

/// A row of the shared totals: `1034420224 + 90112*ctx`, and so on.
fn linear(formula: &str, context: u64) -> u64 {
    let term = |term: &str| match term.trim().strip_suffix("*ctx") {
        Some(factor) => factor.trim().parse::<u64>().unwrap() * context,
        None => term.trim().parse().unwrap(),
    };
    formula.split('+').map(term).sum()
}

#[test]
fn a_decoded_token_costs_what_the_reference_counts() {
    let Some(shared) = shared("a_decoded_token_costs_what_the_reference_counts") else { return };
    let mut reader = csv::Reader::from_path(shared.join("measured/model_totals.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for (row, name) in
        [("llama_3.2_1b decode", "llama_3_2_1b"), ("tinyllama_1.1b decode", "tinyllama")]
    {
        let row = rows.iter().find(|r| &r[0] == row).unwrap();
        for context in [1, 128, 1000, 2048] {
            let graph = graph(name, Pass::Decode(context));
            assert_eq!(macs(&graph), linear(&row[2], context), "{name} at {context}");
            assert_eq!(cache_bytes(&graph), linear(&row[4], context), "{name} at {context}");
            assert_eq!(stored_parameters(&graph), linear(&row[3], 0), "{name}");
        }
    }
}

#[test]
fn a_decoded_token_reads_every_weight_but_the_embedding_table_once() {
    let graph = graph("tinyllama", Pass::Decode(100));
    let (vocabulary, hidden) = (32_000, 2048);
    let read = 1_100_048_384 - vocabulary * hidden + hidden;
    assert_eq!(total_weight_bytes(&graph.layers().unwrap()), 2 * read, "and one row of the table");
    let format = WeightFormat { element: ElementType::Int4, group: Some(128) };
    let (pass, weights) = (Some(Pass::Decode(100)), Some(format));
    let options = Options { pass, weights, ..Options::default() };
    let packed = load_with(&path("tinyllama"), &options).unwrap();
    let filters = 22 * (2 * hidden * hidden + 2 * 256 * hidden + 3 * 5632 * hidden);
    let bytes = 2 * (read - filters) + filters / 2 + filters / 128 * 2;
    assert_eq!(total_weight_bytes(&packed.layers().unwrap()), bytes);
    assert_eq!((macs(&packed), stored_parameters(&packed)), (macs(&graph), 1_100_048_384));
}

#[test]
fn a_mixture_reads_the_experts_that_its_tokens_touch() {
    let expert = 3 * 4096 * 14336;
    for (tokens, touched) in [(1, 2), (2, 4), (8, 7), (64, 8)] {
        let graph = graph("mixtral_8x7b", Pass::Prefill(tokens));
        let idle = stored_parameters(&graph) - read_parameters(&graph);
        assert_eq!(idle, 32 * (8 - touched) * expert, "{tokens} tokens");
        assert_eq!(stored_parameters(&graph), 46_702_792_704);
    }
}

#[test]
fn a_window_caps_the_cache() {
    let mistral = |keys| cache_bytes(&graph("mistral_7b", Pass::Decode(keys)));
    assert_eq!(mistral(4096), 32 * 2 * 8 * 128 * 4096 * 2);
    assert_eq!(mistral(10_000), mistral(4096));
    assert_eq!(mistral(1000), mistral(4096) * 1000 / 4096);
}

#[test]
fn shipped_networks_are_what_the_generators_write() {
    for generator in generators() {
        let graph = generate(generator.name).unwrap();
        let shipped = shipped_models().iter().find(|m| m.name == generator.name).unwrap();
        let folder = format!("models/{}/{}.ron", generator.folder, generator.name);
        assert_eq!(shipped.path, folder);
        assert!(write_ron(&graph).unwrap() == shipped.text, "{folder} differs");
        assert!(graph.source.is_some() && graph.licence.is_some(), "{folder}");
    }
}

/// Counts derived from the published architecture: (name, MACs, parameters).
const NETWORKS: [(&str, u64, u64); 6] = [
    ("mobilenet_v2", 300_774_272, 3_504_872),
    ("resnet50", 4_089_184_256, 25_557_032),
    ("vit_tiny", 1_253_683_200, 5_717_416),
    ("tinyllama_decode", 1_034_420_224 + 90_112 * 1024, 1_100_048_384),
    // 3,157,200 parameters before fusion in yolov8.yaml; 8.7 GFLOP in the table, two to a MAC.
    ("yolov8n", 4_371_993_600, 3_157_200),
    // 49 steps of four gates of 118 on 10 inputs and 118 states, then 12 scores; two biases.
    ("lstm_kws", 2_961_800, 62_316),
];

#[test]
fn shipped_networks_have_their_published_totals() {
    for (name, macs, parameters) in NETWORKS {
        let graph = load(name, &Default::default()).unwrap();
        let layers = graph.layers().unwrap();
        assert_eq!((total_macs(&layers), stored_parameters(&graph)), (macs, parameters), "{name}");
    }
}

#[test]
fn the_page_on_transformers_shows_a_file_that_ships_and_its_figures() {
    let page = include_str!("../docs/transformers.md");
    let shown = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(shown, include_str!("../docs/example_decoder.json"));
    let file = format!("{}/docs/example_decoder.json", env!("CARGO_MANIFEST_DIR"));
    let read =
        |pass| load_with(&file, &Options { pass: Some(pass), ..Options::default() }).unwrap();
    let (prefill, decode) = (read(Pass::Prefill(256)), read(Pass::Decode(1024)));
    let millions = |graph: &ModelGraph| format!("{:.1}", macs(graph) as f64 / 1e6);
    assert_eq!((millions(&prefill).as_str(), millions(&decode).as_str()), ("20559.9", "118.9"));
    assert_eq!(cache_bytes(&decode), 12_582_912);
}

#[test]
fn the_program_reads_a_configuration_and_refuses_what_does_not_fit() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("step.ron");
    let out = out.to_str().unwrap();
    let tiny = path("tinyllama");
    let run = |arguments: &[&str]| {
        let output = joulecast(arguments);
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = run(&["model", "import", &tiny, "--decode", "64", "--out", out]);
    assert!(code == Some(0) && said.contains("attends to 64 keys"), "{said}");
    let written = read_ron(out, &std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(macs(&written), 1_034_420_224 + 90_112 * 64);
    for (arguments, expected) in [
        (&["inspect", "kws_ds_cnn", "--decode", "8"][..], "--decode: it applies to a transformer"),
        (&["inspect", &tiny, "--prefill", "8", "--decode", "8"], "cannot be used with"),
        (&["inspect", &tiny, "--weight-group", "8"], "--weights"),
        (&["model", "generate", "resnet51", "--out", out], "did you mean `resnet50`?"),
        (&["inspect", &path("bert_base"), "--decode", "8"], "an encoder sees all tokens at once"),
    ] {
        let (code, said) = run(arguments);
        assert!(code == Some(2) && said.contains(expected), "{arguments:?}: {said}");
    }
}
