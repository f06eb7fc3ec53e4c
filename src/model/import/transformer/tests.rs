use super::*;
use crate::model::import::options::WeightFormat;
use crate::model::{Bindings, ElementType, Op, TensorRole, total_macs};

const SMALL: &str = r#"{
  "model_type": "llama",
  "hidden_size": 64,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "intermediate_size": 96,
  "vocab_size": 100,
  "tie_word_embeddings": false,
  "torch_dtype": "float16"
}"#;

fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(SMALL.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

fn decoded(text: &str, keys: u64) -> Result<ModelGraph, ModelError> {
    asked(text, Options { pass: Some(Pass::Decode(keys)), ..Options::default() })
}

fn asked(text: &str, options: Options) -> Result<ModelGraph, ModelError> {
    read("small.json", text, &options)
}

fn macs(graph: &ModelGraph) -> u64 {
    total_macs(&graph.layers().unwrap())
}

fn faults(text: &str) -> Vec<String> {
    match asked(text, Options::default()) {
        Err(ModelError::Ron(report)) => {
            let line = |fault: &crate::diagnostic::Fault| {
                let help = fault.help.as_deref().unwrap_or("");
                format!("{}: {} {help}", fault.path, fault.message)
            };
            report.faults().iter().map(line).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_small_decoder_counts_as_by_hand() {
    // Queries and output 64x64, keys and values 32x64; three products of 96x64; the head 100x64.
    let a_layer = 2 * 64 * 64 + 2 * 32 * 64 + 3 * 96 * 64;
    assert_eq!(macs(&decoded(SMALL, 10).unwrap()), 2 * (a_layer + 2 * 64 * 10) + 100 * 64);
    let prefill = Options { pass: Some(Pass::Prefill(7)), ..Options::default() };
    let graph = asked(SMALL, prefill).unwrap();
    assert_eq!(macs(&graph), 7 * 2 * (a_layer + 2 * 64 * 7) + 100 * 64, "the head on one token");
    let wide = changed(&[("\"vocab_size\"", "\"head_dim\": 32, \"vocab_size\"")]);
    let a_layer = 2 * 128 * 64 + 2 * 64 * 64 + 3 * 96 * 64;
    assert_eq!(macs(&decoded(&wide, 10).unwrap()), 2 * (a_layer + 2 * 128 * 10) + 100 * 64);
}

#[test]
fn all_faults_are_said_together_each_at_its_field() {
    let text = changed(&[
        ("\"hidden_size\": 64", "\"hiden_size\": 64"),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 0"),
        ("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
        ("\"intermediate_size\": 96", "\"intermediate_size\": \"wide\""),
        ("\"vocab_size\": 100", "\"vocab_size\": 9e99"),
        ("false", "\"no\""),
        ("\"float16\"", "\"float8\""),
    ]);
    let found = faults(&text);
    for said in [
        "hidden_size: `hidden_size` is missing `hiden_size` is not read",
        "num_hidden_layers: 0 is not a whole number from 1",
        "num_key_value_heads: 3 heads of keys do not divide 4",
        "intermediate_size: \"wide\" is not",
        "vocab_size: 9e+99 is not",
        "tie_word_embeddings: \"no\" is neither",
        "torch_dtype: `float8` is none of",
    ] {
        assert!(found.iter().any(|fault| fault.starts_with(said)), "{said}: {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
    let odd = faults(&changed(&[("\"num_attention_heads\": 4", "\"num_attention_heads\": 6")]));
    assert!(odd[0].contains("6 heads do not divide") && odd[0].contains("head_dim"), "{odd:?}");
    let absurd = faults(&changed(&[("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 99999")]));
    assert!(absurd[0].contains("more than 4096"), "{absurd:?}");
    assert_eq!(faults("{}").len(), 5, "what every transformer has");
}

#[test]
fn sizes_that_overflow_are_an_error() {
    let large = "2147483648";
    let text = changed(&[
        ("\"hidden_size\": 64", &format!("\"hidden_size\": {large}")),
        ("\"intermediate_size\": 96", &format!("\"intermediate_size\": {large}")),
        ("\"vocab_size\": 100", &format!("\"vocab_size\": {large}, \"head_dim\": {large}")),
    ]);
    assert!(decoded(&text, LARGEST).is_err());
    let text = changed(&[("\"vocab_size\": 100", "\"vocab_size\": 2147483649")]);
    assert!(decoded(&text, 1).is_err());
}

#[test]
fn an_option_that_does_not_fit_is_refused_by_name() {
    let refused = |text: &str, options: Options| match asked(text, options) {
        Err(ModelError::Option { option, reason, .. }) => format!("{option}: {reason}"),
        other => panic!("{other:?}"),
    };
    let pass = |pass| Options { pass: Some(pass), ..Options::default() };
    assert!(refused(SMALL, pass(Pass::Decode(0))).starts_with("--decode: 0 is not"));
    assert!(refused(SMALL, pass(Pass::Prefill(u64::MAX))).starts_with("--prefill: "));
    let float = WeightFormat { element: ElementType::Float32, group: None };
    let weights = |format| Options { weights: Some(format), ..Options::default() };
    assert!(refused(SMALL, weights(float)).contains("neither Int4 nor Int8"));
    let empty = WeightFormat { element: ElementType::Int4, group: Some(0) };
    assert!(refused(SMALL, weights(empty)).starts_with("--weight-group"));
    let learned =
        changed(&[("llama", "gpt2"), ("\"vocab_size\"", "\"n_positions\": 9, \"vocab_size\"")]);
    assert!(refused(&learned, pass(Pass::Decode(10))).contains("more than the 9 positions"));
    assert!(decoded(&learned, 9).is_ok());
    let other = super::super::read("x.ron", &b"()"[..].to_vec().into(), &pass(Pass::Decode(1)));
    assert!(matches!(other, Err(ModelError::Option { option: "--decode", .. })));
    let bound = Bindings([("N".to_owned(), 1)].into()).into();
    let other = super::super::read("x.json", &SMALL.as_bytes().to_vec().into(), &bound);
    assert!(matches!(other, Err(ModelError::UnknownSymbol { .. })));
}

#[test]
fn filters_in_fewer_bits_carry_scales_and_compute_as_before() {
    let format = WeightFormat { element: ElementType::Int4, group: Some(32) };
    let pass = Some(Pass::Decode(10));
    let graph =
        asked(SMALL, Options { weights: Some(format), pass, ..Options::default() }).unwrap();
    assert_eq!(macs(&graph), macs(&decoded(SMALL, 10).unwrap()));
    let layers = graph.layers().unwrap();
    let q = layers.iter().find(|layer| layer.name == "layers.0.q_proj").unwrap();
    assert_eq!(q.work.weight_bytes, 64 * 64 / 2 + 64 * 2 * 2, "half a byte each, two scales a row");
    assert_eq!((q.work.parameters, q.work.element), (64 * 64, ElementType::Float16));
    let head = layers.iter().find(|layer| layer.name == "lm_head").unwrap();
    assert_eq!(head.work.weight_bytes, 100 * 64 * 2);
    let stated = "\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32}, \"vocab_size\"";
    let file = decoded(&changed(&[("\"vocab_size\"", stated)]), 10).unwrap();
    assert_eq!(file.layers().unwrap(), layers);
}

#[test]
fn a_window_limits_the_keys_that_are_read() {
    let window = |more: &str| {
        let fields = format!("\"sliding_window\": 8, {more}\"vocab_size\"");
        macs(&decoded(&changed(&[("llama", "mistral"), ("\"vocab_size\"", &fields)]), 20).unwrap())
    };
    let (all, few) = (macs(&decoded(SMALL, 20).unwrap()), macs(&decoded(SMALL, 8).unwrap()));
    assert_eq!(window(""), few);
    assert_eq!(window("\"use_sliding_window\": false, "), all);
    assert_eq!(window("\"max_window_layers\": 1, "), (all + few) / 2);
    let types = "\"layer_types\": [\"full_attention\", \"sliding_attention\"], ";
    assert_eq!(window(types), (all + few) / 2);
    assert_eq!(window("\"sliding_window_pattern\": 2, "), (all + few) / 2);
}

#[test]
fn a_cache_is_read_whole_and_written_by_the_row() {
    let graph = decoded(SMALL, 10).unwrap();
    let bytes = |name: &str| graph.tensor(graph.tensor_named(name).unwrap()).bytes();
    assert_eq!(bytes("layers.1.keys"), Some(2 * 10 * 16 * 2));
    assert_eq!(bytes("layers.1.keys.write"), Some(2 * 16 * 2));
    let cache = graph.tensors().map(|id| graph.tensor(id));
    let cache = cache.filter(|t| t.role == TensorRole::State);
    assert_eq!(cache.filter_map(crate::model::Tensor::bytes).sum::<u64>(), 4 * 640);
    let readers = |name: &str| {
        let id = graph.tensor_named(name).unwrap();
        graph.consumers(id).map(|op| graph.operator(op).op.clone()).collect::<Vec<_>>()
    };
    let read = readers("layers.0.values").into_iter().filter(|op| matches!(op, Op::MatMul { .. }));
    assert_eq!(read.count(), 1, "once, by the context");
}

#[test]
fn what_is_not_understood_is_noted() {
    let more = "\"kv_lora_rank\": 512, \"quantization_config\": {\"quant_method\": \"fp8\"}, \"vocab_size\"";
    let graph = decoded(&changed(&[("llama", "strange"), ("\"vocab_size\"", more)]), 10).unwrap();
    for said in ["`strange` is not known", "kv_lora_rank", "(fp8) is not understood"] {
        assert!(graph.notes.iter().any(|note| note.contains(said)), "{said}: {:?}", graph.notes);
    }
    let unasked = asked(SMALL, Options::default()).unwrap();
    assert!(unasked.notes.iter().any(|note| note.contains("for lack of --prefill")));
    let nested = format!("{{\"vision_config\": {{}}, \"text_config\": {SMALL}}}");
    let graph = decoded(&nested, 10).unwrap();
    assert_eq!(macs(&graph), macs(&decoded(SMALL, 10).unwrap()));
    assert!(graph.notes.iter().any(|note| note.contains("text_config")), "{:?}", graph.notes);
}

#[test]
fn every_family_makes_a_sound_graph() {
    let families = [
        "llama",
        "qwen2",
        "qwen3",
        "gemma",
        "gemma2",
        "gemma3_text",
        "phi",
        "gpt2",
        "gpt_neox",
        "starcoder2",
        "bert",
        "mixtral",
    ];
    for family in families {
        let text = changed(&[
            ("llama", family),
            ("\"vocab_size\"", "\"max_position_embeddings\": 64, \"vocab_size\""),
        ]);
        let pass = Some(Pass::Prefill(5));
        let graph = asked(&text, Options { pass, ..Options::default() }).unwrap();
        let written = crate::model::write_ron(&graph).unwrap();
        let again = crate::model::read_ron("again.ron", &written);
        assert_eq!(again.unwrap().layers().unwrap(), graph.layers().unwrap(), "{family}");
    }
}

#[test]
fn a_file_with_any_byte_changed_or_cut_anywhere_is_an_error_or_a_graph() {
    for at in 0..SMALL.len() {
        for byte in *b"0\"{}[],:9-e" {
            let mut bytes = SMALL.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok(graph) = asked(std::str::from_utf8(&bytes).unwrap(), Options::default()) {
                graph.layers().unwrap();
            }
        }
        assert!(asked(&SMALL[..at], Options::default()).is_err());
    }
}

fn notes(text: &str) -> Vec<String> {
    decoded(text, 4).unwrap().notes
}

fn with(more: &str) -> String {
    changed(&[("\"vocab_size\"", &format!("{more}, \"vocab_size\""))])
}

#[test]
fn activations_are_known_or_noted() {
    let unknown = |notes: &[String]| notes.iter().any(|note| note.contains("is not known"));
    for name in ["silu", "gelu_new", "relu", "relu2", "linear", "quick_gelu"] {
        assert!(!unknown(&notes(&with(&format!("\"hidden_act\": \"{name}\"")))), "{name}");
    }
    for name in ["", "wavy", "silu "] {
        let notes = notes(&with(&format!("\"hidden_act\": \"{name}\"")));
        assert!(unknown(&notes) && notes.iter().any(|n| n.contains("hidden_act")), "{notes:?}");
    }
    let operations = |name: &str| {
        let graph = decoded(&with(&format!("\"hidden_act\": \"{name}\"")), 4).unwrap();
        crate::model::total_element_ops(&graph.layers().unwrap())
    };
    let none = operations("linear");
    let elements = 2 * 96;
    assert_eq!(operations("relu") - none, elements);
    assert_eq!(operations("relu2") - none, 2 * elements, "clipped and squared");
    assert_eq!(operations("silu") - none, 4 * elements);
}

#[test]
fn normalised_heads_of_phi_are_counted_and_others_noted() {
    let phi = |flag: &str| {
        let text = with(&format!("\"qk_layernorm\": {flag}"));
        let text = text.replacen("llama", "phi", 1).replacen("kv_heads\"", "kv_heads_\"", 1);
        decoded(&text.replacen("\"num_key_value_heads\": 2,", "", 1), 4).unwrap()
    };
    let parameters = |flag| crate::model::stored_parameters(&phi(flag));
    // Queries and keys of two layers, scale and shift of 16.
    assert_eq!(parameters("true") - parameters("false"), 2 * 2 * 2 * 16);
    assert!(phi("true").notes.iter().all(|note| !note.contains("qk_layernorm")));
    assert!(notes(&with("\"qk_layernorm\": true")).iter().any(|n| n.contains("qk_layernorm")));
    assert!(notes(&with("\"qk_layernorm\": false")).iter().all(|n| !n.contains("qk_layernorm")));
}

#[test]
fn factors_and_limits_that_are_not_counted_are_noted_unless_they_change_nothing() {
    for field in ["final_logit_softcapping", "residual_multiplier", "logits_scaling"] {
        let noted = |value: &str| {
            let notes = notes(&with(&format!("\"{field}\": {value}")));
            notes.iter().any(|note| note.contains(field))
        };
        assert!(noted("8.5") && !noted("null"), "{field}");
        assert!(field.ends_with("capping") || !noted("1.0"), "{field}");
    }
    let scaled = |value: &str| {
        let graph = decoded(&with(&format!("\"embedding_multiplier\": {value}")), 4).unwrap();
        graph.tensor_named("embed_scale").is_some()
    };
    assert!(scaled("12.0") && !scaled("1.0"), "counted as what it is");
}

#[test]
fn types_of_layers_are_as_many_as_layers_and_known() {
    let types = |list: &str| with(&format!("\"sliding_window\": 8, \"layer_types\": {list}"));
    let found = faults(&types("[\"full_attention\"]"));
    assert!(found[0].starts_with("layer_types: 1 types of attention for 2 layers"), "{found:?}");
    let found = faults(&types("[\"full_attention\", \"sliding_atention\"]"));
    assert!(found[0].starts_with("layer_types[1]: `sliding_atention`"), "{found:?}");
    assert!(found[0].contains("did you mean `sliding_attention`?"), "{found:?}");
    let noted = notes(&types("[\"linear_attention\", \"sliding_attention\"]"));
    assert!(noted.iter().any(|note| note.contains("layers of linear_attention count like")));
    let silent = with("\"layer_types\": [\"full_attention\", \"sliding_attention\"]");
    assert!(notes(&silent).iter().any(|note| note.contains("no sliding_window is in use")));
}

#[test]
fn each_field_of_a_mixture_has_its_own_rule() {
    let mixtures = |fields: &str| {
        let more = format!("\"num_experts\": 4, \"num_experts_per_tok\": 2, {fields}");
        let text = with(&more).replacen("layers\": 2", "layers\": 6", 1);
        let graph = decoded(&text, 4).unwrap();
        let has = |layer: &u64| graph.tensor_named(&format!("layers.{layer}.router")).is_some();
        (0..6).filter(has).collect::<Vec<_>>()
    };
    assert_eq!(mixtures("\"decoder_sparse_step\": 2"), [1, 3, 5]);
    assert_eq!(mixtures("\"moe_layer_freq\": 2"), [0, 2, 4]);
    assert_eq!(mixtures("\"moe_layer_freq\": 2, \"first_k_dense_replace\": 1"), [2, 4]);
    assert_eq!(mixtures("\"moe_layer_freq\": 1, \"mlp_only_layers\": [3]"), [0, 1, 2, 4, 5]);
}

#[test]
fn the_window_of_qwen_is_off_unless_it_is_switched_on() {
    let window = |family: &str, more: &str| {
        let text = with(&format!("\"sliding_window\": 8{more}"));
        macs(&decoded(&text.replacen("llama", family, 1), 20).unwrap())
    };
    for family in ["qwen2", "qwen2_moe", "qwen3", "qwen3_moe"] {
        let off = window(family, "");
        assert_eq!(window(family, ", \"use_sliding_window\": false"), off, "{family}");
        let on = ", \"use_sliding_window\": true, \"max_window_layers\": 0";
        assert!(window(family, on) < off, "{family}");
    }
    assert_eq!(window("qwen2", ", \"use_sliding_window\": true"), window("qwen2", ""), "28 layers");
    assert!(window("mistral", "") < window("qwen2", ""));
}

#[test]
fn a_field_given_twice_is_refused_with_both_places() {
    let text = changed(&[("\"vocab_size\"", "\"hidden_\\u0073ize\": 128,\n  \"vocab_size\"")]);
    let found = faults(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`hidden_size` is given twice"), "{found:?}");
    assert!(found[0].contains("the first is in line 3"), "{found:?}");
    let nested = with("\"text_config\": {\"a\": 1, \"a\": 2}");
    assert!(faults(&nested)[0].contains("`a` is given twice"));
}

#[test]
fn products_that_are_too_large_are_faults_of_a_field() {
    let large = "2147483648";
    let text = changed(&[
        ("\"num_attention_heads\": 4", &format!("\"num_attention_heads\": {large}")),
        ("\"vocab_size\"", &format!("\"head_dim\": {large}, \"vocab_size\"")),
    ]);
    let found = faults(&text);
    assert!(found[0].starts_with("num_attention_heads: 2147483648 x 2147483648"), "{found:?}");
    assert!(found[0].contains("too large"), "{found:?}");
    let vocabulary = changed(&[
        ("\"vocab_size\": 100", &format!("\"vocab_size\": {large}")),
        ("\"hidden_size\": 64", "\"hidden_size\": 1073741824"),
    ]);
    let found = faults(&vocabulary);
    assert!(found.iter().any(|f| f.starts_with("vocab_size: ")), "{found:?}");
    let shared = with(
        "\"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 65536, \"n_shared_experts\": 65536",
    );
    assert!(faults(&shared)[0].contains("too large"), "{:?}", faults(&shared));
    let wide = changed(&[
        ("\"hidden_size\": 64", "\"hidden_size\": 268435456"),
        ("\"intermediate_size\": 96", "\"intermediate_size\": 268435456"),
    ]);
    let pass = Some(Pass::Prefill(LARGEST));
    match asked(&wide, Options { pass, ..Options::default() }) {
        Err(ModelError::Option { path, option, reason }) => {
            assert_eq!((path.as_str(), option), ("small.json", "--prefill"));
            assert!(reason.contains("too large"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_other_files_have_instead_of_a_pass_is_said() {
    let refused = |path: &str, options: Options| {
        super::super::read(path, &b"x"[..].to_vec().into(), &options).unwrap_err().to_string()
    };
    let decode = || Options { pass: Some(Pass::Decode(1)), ..Options::default() };
    assert!(refused("m.onnx", decode()).contains("--bind"));
    assert!(refused("m.ron", decode()).contains("one pass already"));
    let weights = Some(WeightFormat { element: ElementType::Int4, group: None });
    let weights = refused("m.onnx", Options { weights, ..Options::default() });
    assert!(weights.contains("--precision weights:TYPE"), "{weights}");
}

#[test]
fn a_field_that_another_name_contradicts_is_said_to_be_read() {
    let text = changed(&[("\"vocab_size\"", "\"n_embd\": 32, \"vocab_size\"")]);
    let graph = decoded(&text, 10).unwrap();
    let said =
        |note: &&String| note.contains("`hidden_size` is read as 64, though `n_embd` says 32");
    assert_eq!(graph.notes.iter().filter(said).count(), 1, "{:?}", graph.notes);
    let agreed = changed(&[("\"vocab_size\"", "\"n_embd\": 64, \"vocab_size\"")]);
    assert!(decoded(&agreed, 10).unwrap().notes.iter().all(|note| !note.contains("though")));
}

/// Whatever is left out of a mixture of experts: a network, or a fault that says what is missing.
#[test]
fn a_configuration_without_any_two_fields_says_what_it_lacks() {
    let fields = [
        "\"model_type\": \"qwen2_moe\"",
        "\"hidden_size\": 64",
        "\"num_hidden_layers\": 2",
        "\"num_attention_heads\": 4",
        "\"num_key_value_heads\": 2",
        "\"intermediate_size\": 96",
        "\"moe_intermediate_size\": 48",
        "\"shared_expert_intermediate_size\": 96",
        "\"num_experts\": 6",
        "\"num_experts_per_tok\": 2",
        "\"decoder_sparse_step\": 2",
        "\"vocab_size\": 100",
    ];
    for (a, b) in (0..fields.len()).flat_map(|a| (0..=a).map(move |b| (a, b))) {
        let kept = fields.iter().enumerate().filter(|(i, _)| *i != a && *i != b);
        let kept: Vec<&str> = kept.map(|(_, field)| *field).collect();
        let text = format!("{{{}}}", kept.join(", "));
        match decoded(&text, 4) {
            Ok(graph) => assert!(macs(&graph) > 0, "{text}"),
            Err(error) => assert!(error.to_string().contains("missing"), "{text}: {error}"),
        }
    }
}
