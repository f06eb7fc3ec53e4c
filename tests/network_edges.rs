//! Claims on where a network's inputs and results live.

use crate::chips::{at, chip_text, parsed};
use joulecast::estimate::estimate;
use joulecast::hardware::Profile;
use joulecast::mapping::{MemoryPlan, Network, Plan, memory_plan, plan};
use joulecast::model::{
    Edge, ElementFunction, ElementType, Layout, ModelGraph, Op, Operator, TensorId, TensorRole,
};

const RAM: &str = r#"(name: "ram", domain: "domain", capacity: "1 GiB", holds: [Weights, Activations],
    bandwidth: PerCycle("64 B/cycle"), read_energy: "1 pJ/B", write_energy: "1 pJ/B")"#;

fn text(far_holds: &str, reached: &str) -> String {
    let far = format!(
        r#"(name: "far", domain: "domain", capacity: "3 KiB", holds: [{far_holds}],
    bandwidth: PerCycle("1 B/cycle"), read_energy: "50 pJ/B", write_energy: "60 pJ/B")"#
    );
    let array = r#"Lanes(macs: {Int8: "16 MAC/cycle"}, operations: {Int8: "16 op/cycle"})"#;
    let text = chip_text(array, "", "");
    assert!(text.contains(RAM), "{text}");
    let both = format!("{}, {far}", RAM.replace("\"ram\"", "\"near\""));
    text.replace(RAM, &both).replace(r#"memories: ["ram"]"#, &format!("memories: [{reached}]"))
}

/// The near memory is the first; the far one holds so much beside.
fn chip(far_holds: &str) -> Profile {
    parsed(&text(far_holds, r#""near", "far""#))
}

fn adds(graph: &mut ModelGraph, name: &str, reads: &[TensorId]) -> TensorId {
    let made = graph.add(name, &[1024], ElementType::Int8, TensorRole::Activation).unwrap();
    let reads: Vec<_> = reads.iter().copied().map(Some).collect();
    let op = Op::Elementwise(ElementFunction::Add);
    graph.add_operator(Operator::new(name, "", op), &reads, &[made]).unwrap();
    made
}

/// `x` is handed in, `b` handed out; `a` stays within.
fn two_layers() -> Network {
    let mut graph = ModelGraph::new("sketch", Layout::ChannelsLast);
    let x = graph.add("x", &[1024], ElementType::Int8, TensorRole::Input).unwrap();
    let a = adds(&mut graph, "a", &[x, x]);
    let b = adds(&mut graph, "b", &[a, a]);
    graph.set_outputs(vec![b]);
    Network::of(&graph).unwrap()
}

fn homes(plan: &MemoryPlan) -> Vec<(String, Option<usize>)> {
    let tensors = plan.buffers().tensors().iter().enumerate();
    tensors.map(|(at, tensor)| (tensor.name.clone(), plan.home(at))).collect()
}

fn planned(profile: &Profile) -> Plan {
    at(profile, None, |setting| plan(&two_layers(), setting))
}

/// Bytes read and written of a memory by a layer.
fn moved(plan: &Plan, layer: usize, memory: usize) -> (f64, f64) {
    let own = plan.steps[layer].traffic.iter().find(|t| t.channel == memory);
    own.map_or((0.0, 0.0), |t| (t.read.0, t.write.0))
}

#[test]
fn a_buffer_knows_where_it_passes_the_edge_of_the_network() {
    let network = two_layers();
    let edges: Vec<_> = network.buffers().tensors().iter().map(|t| t.edge).collect();
    assert_eq!(edges, [Some(Edge::In), None, Some(Edge::Out)]);
    let handed_in = |layer: usize| network.layers[layer].work.operands[0].handed_in;
    let handed_out = |layer: usize| network.layers[layer].work.handed_out;
    assert_eq!([handed_in(0), handed_in(1)], [true, false]);
    assert_eq!([handed_out(0), handed_out(1)], [false, true]);
}

#[test]
fn inputs_and_results_live_where_a_memory_says_that_it_holds_them() {
    let network = two_layers();
    let of = |holds: &str| homes(&memory_plan(&network, 0, &chip(holds)));
    let named = |x, a, b| {
        [("x", x), ("a", a), ("b", b)].map(|(name, home)| (name.to_owned(), Some(home))).to_vec()
    };
    assert_eq!(of("Weights"), named(0, 0, 0), "as other activations");
    assert_eq!(of("Weights, Inputs"), named(1, 0, 0));
    assert_eq!(of("Weights, Results"), named(0, 0, 1));
    assert_eq!(of("Inputs, Results"), named(1, 0, 1));
    // Both are alive at different layers, and weights would come above them.
    let plan = memory_plan(&network, 0, &chip("Weights, Inputs, Results"));
    assert!(plan.fits, "{:?}", plan.memories);
    assert_eq!(plan.memories[1].peak_bytes, 1024);
    assert_eq!(plan.memories[0].activations.len(), 1);
}

#[test]
fn their_bytes_time_and_energy_go_to_that_memory() {
    let (as_others, apart) = (chip("Weights"), chip("Weights, Inputs, Results"));
    let (one, other) = (planned(&as_others), planned(&apart));
    assert_eq!([moved(&one, 0, 0), moved(&one, 0, 1)], [(2048.0, 1024.0), (0.0, 0.0)]);
    assert_eq!([moved(&other, 0, 0), moved(&other, 0, 1)], [(0.0, 1024.0), (2048.0, 0.0)]);
    assert_eq!([moved(&other, 1, 0), moved(&other, 1, 1)], [(2048.0, 0.0), (0.0, 1024.0)]);
    let total = |profile: &Profile| {
        at(profile, None, |setting| {
            let estimate = estimate(&plan(&two_layers(), setting), setting);
            (estimate.latency.0, estimate.energy.0)
        })
    };
    let ((fast, little), (slow, much)) = (total(&as_others), total(&apart));
    // A byte a cycle at 100 MHz: 2048 and 1024 cycles.
    assert!((slow - 3072.0 / 100e6).abs() < 1e-9 && fast < slow / 10.0, "{fast} {slow}");
    let more = 2048.0 * 49e-12 + 1024.0 * 59e-12;
    assert!((much - little - more).abs() < 1e-12 + 0.05 * more, "{little} {much} {more}");
}

#[test]
fn an_input_that_has_no_room_there_is_said_to_have_none() {
    let profile = parsed(&text("Weights, Inputs", r#""near", "far""#).replace("3 KiB", "512 B"));
    let plan = memory_plan(&two_layers(), 0, &profile);
    assert!(!plan.fits);
    let said = plan.notes(&profile).join("\n");
    assert!(said.contains("costed as if far held them"), "{said}");
}

#[test]
fn a_memory_of_inputs_that_no_engine_reaches_is_a_fault() {
    let refused = Profile::parse("test.ron", &text("Inputs", r#""near""#));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("no engine works from memory `far`"), "{said}");
}
