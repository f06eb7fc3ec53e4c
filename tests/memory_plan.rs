//! Claims on where tensors live, and on what is charged for it.

use crate::chips::{at, chip_text, parsed};
use crate::command_line::{joulecast, json};
use joulecast::hardware::Profile;
use joulecast::mapping::{MemoryPlan, Network, memory_plan, plan};
use joulecast::model::{
    Bindings, ElementFunction, ElementType, Layer, Layout, ModelGraph, Movement, Op, Operator,
    TensorId, TensorRole, load,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A chip with a near and a far memory of these sizes for one engine.
fn two_memories(near: &str, far: &str) -> Profile {
    parsed(&two_memories_text(near, far))
}

fn two_memories_text(near: &str, far: &str) -> String {
    let one = r#"(name: "ram", domain: "domain", capacity: "1 GiB", holds: [Weights, Activations],
    bandwidth: PerCycle("64 B/cycle"), read_energy: "1 pJ/B", write_energy: "1 pJ/B")"#;
    let memory = |name: &str, capacity: &str| {
        one.replace("\"ram\"", &format!("\"{name}\"")).replace("1 GiB", capacity)
    };
    let text = chip_text(
        r#"Lanes(macs: {Int8: "16 MAC/cycle"}, operations: {Int8: "16 op/cycle"})"#,
        "",
        "",
    );
    let both = format!("{}, {}", memory("near", near), memory("far", far));
    assert!(text.contains(one), "{text}");
    text.replace(one, &both).replace(r#"memories: ["ram"]"#, r#"memories: ["near", "far"]"#)
}

struct Sketch(ModelGraph);

impl Sketch {
    fn new() -> Self {
        Self(ModelGraph::new("sketch", Layout::ChannelsLast))
    }

    fn tensor(&mut self, name: &str, bytes: u64, role: TensorRole) -> TensorId {
        self.0.add(name, &[bytes], ElementType::Int8, role).unwrap()
    }

    /// An addition named as what it makes.
    fn adds(&mut self, name: &str, bytes: u64, reads: &[TensorId]) -> TensorId {
        self.makes(name, bytes, reads, Op::Elementwise(ElementFunction::Add))
    }

    fn makes(&mut self, name: &str, bytes: u64, reads: &[TensorId], op: Op) -> TensorId {
        let made = self.tensor(name, bytes, TensorRole::Activation);
        let reads: Vec<_> = reads.iter().copied().map(Some).collect();
        self.0.add_operator(Operator::new(name, "", op), &reads, &[made]).unwrap();
        made
    }

    fn network(mut self, outputs: &[TensorId]) -> Network {
        self.0.set_outputs(outputs.to_vec());
        Network::of(&self.0).unwrap()
    }
}

/// `a` is read by every later layer, `b` by the next alone.
fn reused() -> Network {
    let mut sketch = Sketch::new();
    let x = sketch.tensor("x", 1024, TensorRole::Input);
    let a = sketch.adds("a", 1024, &[x]);
    let b = sketch.adds("b", 1024, &[a, a]);
    let c = sketch.adds("c", 1024, &[a, b]);
    let d = sketch.adds("d", 1024, &[a, c]);
    sketch.network(&[d])
}

fn of(network: &Network, profile: &Profile) -> Arc<MemoryPlan> {
    memory_plan(network, 0, profile)
}

fn names(plan: &MemoryPlan, buffers: impl IntoIterator<Item = usize>) -> Vec<String> {
    buffers.into_iter().map(|at| plan.buffers().tensors()[at].name.clone()).collect()
}

#[test]
fn all_live_in_the_nearest_memory_where_they_have_room() {
    let network = reused();
    let plan = of(&network, &two_memories("16 KiB", "1 MiB"));
    assert!(plan.fits && plan.notes(&two_memories("16 KiB", "1 MiB")).is_empty());
    assert_eq!(plan.memories[0].alive_bytes, 3 * 1024);
    assert_eq!(plan.memories[0].peak_bytes, 3 * 1024);
    assert_eq!(plan.memories[0].peak_at, Some(2));
    assert_eq!(plan.memories[0].activations.len(), 5);
    assert!(plan.memories[1].activations.is_empty());
}

#[test]
fn a_network_has_what_is_usable_of_a_memory() {
    let network = reused();
    let usable = "capacity: \"16 KiB\", usable: \"2 KiB\"";
    let text = two_memories_text("16 KiB", "1 MiB").replace("capacity: \"16 KiB\"", usable);
    let part = of(&network, &parsed(&text));
    let small = of(&network, &two_memories("2 KiB", "1 MiB"));
    assert_eq!(part.memories, small.memories);
    assert_eq!(names(&part, part.memories[0].spilled.iter().copied()), ["c"]);
}

#[test]
fn what_is_used_least_spills_and_is_charged_where_it_lives() {
    let network = reused();
    let profile = two_memories("2 KiB", "1 MiB");
    let plan_of = of(&network, &profile);
    assert!(plan_of.fits);
    let spilled = names(&plan_of, plan_of.memories[0].spilled.iter().copied());
    assert_eq!(spilled, ["c"]);
    let notes = plan_of.notes(&profile);
    assert_eq!(notes, ["activations: 1 tensor (1.000 KiB) spills from near to far"]);
    // The operands of the third layer are `a` and `b`; it makes `c`.
    assert_eq!([plan_of.home_of(2, 0), plan_of.home_of(2, 1)], [Some(0), Some(0)]);
    assert_eq!(plan_of.output_home(2), Some(1));
    let (steps, said) = at(&profile, None, |setting| {
        let plan = plan(&network, setting);
        (plan.steps, plan.notes)
    });
    assert!(said.iter().any(|note| note.contains("spills from near to far")), "{said:?}");
    let moved = |layer: usize, channel: usize| {
        let own = steps[layer].traffic.iter().find(|t| t.channel == channel);
        own.map_or((0.0, 0.0), |t| (t.read.0, t.write.0))
    };
    assert_eq!([moved(0, 0), moved(0, 1)], [(1024.0, 1024.0), (0.0, 0.0)]);
    assert_eq!([moved(2, 0), moved(2, 1)], [(2048.0, 0.0), (0.0, 1024.0)], "c goes to far");
    assert_eq!([moved(3, 0), moved(3, 1)], [(1024.0, 1024.0), (1024.0, 0.0)], "and comes back");
}

#[test]
fn a_network_larger_than_every_memory_lists_what_has_no_room() {
    let network = reused();
    let profile = two_memories("1 KiB", "1536 B");
    let plan_of = of(&network, &profile);
    assert!(!plan_of.fits);
    assert!(plan_of.memories[0].overflow.is_empty());
    let far = &plan_of.memories[1];
    assert!(!far.overflow.is_empty());
    assert!(far.overflow.iter().all(|at| far.spilled.contains(at)));
    // Costed as if the largest memory held them.
    assert!(far.overflow.iter().all(|at| plan_of.home(*at) == Some(1)));
    let placed = plan_of.memories.iter().flat_map(|m| &m.activations).map(|p| p.buffer);
    let all: BTreeSet<usize> = placed.chain(far.overflow.iter().copied()).collect();
    assert_eq!(all, (0..5).collect::<BTreeSet<_>>(), "each somewhere");
    let said = plan_of.notes(&profile).join("\n");
    assert!(said.contains("costed as if far held them"), "{said}");
    assert!(!at(&profile, None, |setting| plan(&network, setting).fits));
}

#[test]
fn every_byte_is_somewhere_and_nothing_overlaps() {
    let models = ["kws_ds_cnn", "ic_resnet8", "lstm_kws", "mobilenet_v2", "resnet50", "yolov8n"];
    let profile = Profile::load("edge_soc_example").unwrap();
    for model in models {
        let network = Network::of(&load(model, &Bindings::default()).unwrap()).unwrap();
        for engine in 0..profile.spec().engines.len() {
            let plan = memory_plan(&network, engine, &profile);
            let mut homes = 0;
            for memory in &plan.memories {
                assert!(memory.peak_bytes >= memory.alive_bytes);
                assert!(memory.top_bytes() <= memory.capacity_bytes, "{model}");
                let weights: u64 = memory.weights.iter().map(|p| p.bytes).sum();
                assert_eq!(weights, memory.weight_bytes);
                homes += memory.weights.len() + memory.activations.len() + memory.overflow.len();
                for (at, own) in memory.activations.iter().enumerate() {
                    for other in memory.activations.iter().take(at) {
                        let ((a, b), (c, d)) = (own.lifetime.unwrap(), other.lifetime.unwrap());
                        let apart = own.offset + own.bytes <= other.offset
                            || other.offset + other.bytes <= own.offset;
                        assert!(apart || b < c || d < a, "{model}");
                    }
                    assert!(own.offset + own.bytes <= memory.peak_bytes);
                }
            }
            let tensors = plan.buffers().tensors().iter();
            let counted =
                tensors.filter(|t| t.bytes > 0 && (t.is_constant() || t.lifetime.is_some()));
            assert_eq!(homes + plan.homeless.len(), counted.count(), "{model} {engine}");
        }
    }
}

#[test]
fn a_larger_memory_never_spills_more() {
    let network = Network::of(&load("resnet50", &Bindings::default()).unwrap()).unwrap();
    let mut last = f64::INFINITY;
    for capacity in ["1 KiB", "300 KiB", "1 MiB", "1100 KiB", "2 MiB", "3 MiB", "12 MiB", "64 MiB"]
    {
        let plan = of(&network, &two_memories(capacity, "1 GiB"));
        let near = &plan.memories[0];
        let activations = plan.of_class(&near.spilled, false);
        let tensors = plan.buffers().tensors();
        let traffic = activations.iter().map(|at| tensors[*at].uses * plan.bytes_of(*at) as f64);
        let traffic: f64 = traffic.sum();
        assert!(traffic <= last && plan.fits, "{capacity}: {traffic} {last}");
        last = traffic;
    }
    assert_eq!(last, 0.0);
}

#[test]
fn weights_used_most_for_their_size_stay_near() {
    let mut sketch = Sketch::new();
    let x = sketch.tensor("x", 64, TensorRole::Input);
    let [once, twice, large] = [("once", 1024), ("twice", 1024), ("large", 4096)]
        .map(|(name, bytes)| sketch.tensor(name, bytes, TensorRole::Constant));
    let a = sketch.adds("a", 1024, &[x, once]);
    let b = sketch.adds("b", 1024, &[a, twice]);
    let c = sketch.adds("c", 1024, &[b, twice]);
    let d = sketch.adds("d", 1024, &[c, large]);
    let network = sketch.network(&[d]);
    // Activations take 2 KiB at most, and come first.
    let near = |capacity: &str| {
        let plan = of(&network, &two_memories(capacity, "1 MiB"));
        assert!(plan.fits);
        names(&plan, plan.memories[0].weights.iter().map(|p| p.buffer))
    };
    assert_eq!(near("8 KiB"), ["twice", "large", "once"]);
    assert_eq!(near("7 KiB"), ["twice", "large"]);
    assert_eq!(near("4 KiB"), ["twice", "once"]);
    assert_eq!(near("3 KiB"), ["twice"]);
    assert_eq!(near("2 KiB"), [""; 0]);
}

#[test]
fn tensors_that_share_bytes_are_one_and_know_who_made_them() {
    let mut sketch = Sketch::new();
    let x = sketch.tensor("x", 64, TensorRole::Input);
    let w = sketch.tensor("w", 64, TensorRole::Constant);
    let a = sketch.adds("a", 64, &[x, w]);
    let v = sketch.makes("v", 64, &[a], Op::Movement(Movement::View));
    let b = sketch.adds("b", 64, &[v, x]);
    let network = sketch.network(&[b]);
    assert_eq!(network.producers(0), [None, None]);
    assert_eq!(network.producers(1), [Some(0)]);
    assert_eq!(network.producers(2), [Some(1), None]);
    let buffers = network.buffers();
    assert_eq!(buffers.made(0), buffers.made(1), "a view lies where its input does");
    assert_eq!(buffers.read(2, 0), buffers.made(0));
    let whole = &buffers.tensors()[buffers.made(0).unwrap()];
    assert_eq!((whole.name.as_str(), whole.lifetime, whole.uses), ("a", Some((0, 2)), 2.0));
    for (layer, at) in network.layers.iter().zip(0..) {
        let own = layer.work.operands.iter().map(|operand| operand.buffer);
        assert!(own.eq((0..layer.work.operands.len()).map(|port| buffers.read(at, port))));
        assert_eq!(layer.work.output_buffer, buffers.made(at));
    }
}

/// A converted network takes less: every tensor in the format that its layers run in.
#[test]
fn tensors_take_their_size_in_the_format_that_the_engine_runs() {
    let mut graph = ModelGraph::new("floats", Layout::ChannelsLast);
    let float = ElementType::Float32;
    let x = graph.add("x", &[256], float, TensorRole::Input).unwrap();
    let w = graph.add("w", &[256], float, TensorRole::Constant).unwrap();
    let y = graph.add("y", &[256], float, TensorRole::Activation).unwrap();
    let op = Op::Elementwise(ElementFunction::Add);
    graph.add_operator(Operator::new("y", "", op), &[Some(x), Some(w)], &[y]).unwrap();
    graph.set_outputs(vec![y]);
    let network = Network::of(&graph).unwrap();
    let lanes = r#"Lanes(macs: {Int8: "16 MAC/cycle"}, operations: {Int8: "16 op/cycle"})"#;
    let bytes = |engine: &str| {
        let plan = of(&network, &parsed(&chip_text(lanes, engine, "")));
        (plan.weight_bytes.0, plan.peak_activation_bytes.0)
    };
    assert_eq!(bytes(""), (1024.0, 2048.0), "as stored where no engine runs it");
    assert_eq!(bytes("runs_as: {Float32: Int8}"), (256.0, 512.0));
}

#[test]
fn a_plan_is_worked_out_once_for_the_same_memories() {
    let network = reused();
    let small = two_memories("2 KiB", "1 MiB");
    let first = of(&network, &small);
    assert!(Arc::ptr_eq(&first, &of(&network.clone(), &small)));
    let large = of(&network, &two_memories("4 KiB", "1 MiB"));
    assert_ne!(first.memories, large.memories);
    assert!(Arc::ptr_eq(&first, &of(&network, &small)));
}

#[test]
fn the_plan_is_printed_written_and_drawn() {
    let place = tempfile::tempdir().unwrap();
    let picture = place.path().join("memory.svg");
    let on = ["estimate", "kws_ds_cnn", "--on", "edge_soc_example", "--memory"];
    let drawn = [&on[..], &["--memory-plan", picture.to_str().unwrap()]].concat();
    let output = joulecast(&drawn);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("memory of npu") && text.contains("sram"), "{text}");
    let svg = std::fs::read_to_string(&picture).unwrap();
    for text in ["where tensors live", "capacity", "peak", "weights"] {
        assert!(svg.contains(text), "{text}");
    }
    let document = json(&[&on[..], &["--json"]].concat());
    let sram = &document["memory"][0]["memories"][0];
    assert_eq!(sram["name"], "sram");
    assert!(sram["peak_bytes"].as_u64() >= sram["alive_bytes"].as_u64());
    let named = sram["activations"].as_array().unwrap().iter();
    assert!(named.clone().all(|t| t["name"].is_string() && t["first_layer"].is_string()));
    assert!(named.clone().any(|t| t["offset"] == 0));
    let plain = json(&on[..4].iter().copied().chain(["--json"]).collect::<Vec<_>>());
    assert!(plain.get("memory").is_none());
    let refused = joulecast(&[&on[..], &["--memory-plan", "plan.pdf"]].concat());
    assert!(!refused.status.success());
}

/// Activations of the first four networks of MLPerf Tiny on an Ethos-U55 against the schedules of Vela
/// 5.2.0, without its buffers of weights. Vela keeps feature maps in bricks of 16 channels: those of 8 in
/// the second network take twice their bytes there, and this model does not know bricks.
#[test]
fn peaks_are_those_of_vela_without_its_weight_buffers() {
    let Some(folder) = crate::shared::folder("peaks_are_those_of_vela_without_its_weight_buffers")
    else {
        return;
    };
    let profile = Profile::load("ethos_u55_128").unwrap();
    let npu = profile.spec().engines.iter().position(|engine| engine.name == "npu").unwrap();
    for (model, file, bricks) in [
        ("kws_ds_cnn", "kws_ref_model", false),
        ("ic_resnet8", "pretrainedResnet_quant", false),
        ("ad_autoencoder", "ad01_int8", false),
        ("vww_mobilenetv1_025", "vww_96_int8", true),
    ] {
        let name = format!("{file}-ethos-u55-128-Ethos_U55_High_End_Embedded/schedule.csv");
        let path = folder.join("oracles/vela").join(name);
        let mut rows = csv::Reader::from_path(path).unwrap();
        let column = |rows: &mut csv::Reader<std::fs::File>, name: &str| {
            rows.headers().unwrap().iter().position(|header| header == name).unwrap()
        };
        let [own, others] = ["sram_op", "sram_nonlocal"].map(|name| column(&mut rows, name));
        let peaks = rows.records().map(|row| {
            let row = row.unwrap();
            let bytes = |at: usize| row[at].parse::<u64>().unwrap();
            bytes(own) + bytes(others)
        });
        let vela = peaks.max().unwrap();
        let network = Network::of(&load(model, &Bindings::default()).unwrap()).unwrap();
        let plan = memory_plan(&network, npu, &profile);
        let sram = &plan.memories[0];
        assert_eq!(sram.peak_bytes, sram.alive_bytes, "{model}: no byte is lost to gaps");
        let ours = if bricks {
            in_bricks(&network.layers[sram.peak_at.unwrap()])
        } else {
            sram.peak_bytes
        };
        assert_eq!(ours, vela, "{model}");
    }
}

/// Input and output of a convolution of bytes, in bricks of 16 channels.
fn in_bricks(layer: &Layer) -> u64 {
    let window = layer.work.window.unwrap();
    let bricked =
        |elements: u64, channels: u64| elements / channels * channels.next_multiple_of(16);
    bricked(layer.work.operands[0].elements, window.input_channels)
        + bricked(layer.work.output_elements, window.output_channels)
}
