use super::*;
use crate::hardware::Profile;
use crate::mapping::memory_plan;
use crate::model::{
    ElementFunction, ElementType, Layout, ModelGraph, Op, Operator, TensorId, TensorRole,
};
use crate::report::plot::scene::Shape;
use crate::report::plot::theme::LIGHT;

/// A chain of layers, each adding what the one before it and the third before it made.
fn network(layers: usize, bytes: u64) -> Network {
    let mut graph = ModelGraph::new("a network", Layout::ChannelsLast);
    let mut made = vec![add(&mut graph, "x", bytes, TensorRole::Input)];
    for at in 0..layers {
        let name = format!("network/block_{}/a_layer_with_a_long_name/{at}", at / 10);
        let output = add(&mut graph, &name, bytes + 7 * at as u64, TensorRole::Activation);
        let weights = add(&mut graph, &format!("w{at}"), bytes, TensorRole::Constant);
        let early = made.get(at.saturating_sub(3)).copied();
        let inputs = [made.last().copied(), early, Some(weights)];
        let operator = Operator::new(name, "", Op::Elementwise(ElementFunction::Add));
        graph.add_operator(operator, &inputs, &[output]).unwrap();
        made.push(output);
    }
    graph.set_outputs(made.last().copied().into_iter().collect());
    Network::of(&graph).unwrap()
}

fn add(graph: &mut ModelGraph, name: &str, bytes: u64, role: TensorRole) -> TensorId {
    graph.add(name, &[bytes], ElementType::Int8, role).unwrap()
}

fn scene(layers: usize, bytes: u64) -> Scene {
    let network = network(layers, bytes);
    let profile = Profile::load("edge_soc_example").unwrap();
    let memory = MemoryInUse { engines: vec![0], plan: memory_plan(&network, 0, &profile) };
    let names: Vec<_> = profile.spec().memories.iter().map(|m| m.name.as_str()).collect();
    let picture = MemoryPicture {
        network: &network,
        memory: &memory,
        memories: &names,
        title: "a title",
        subtitle: &["a line".to_owned()],
    };
    compose(&picture, &LIGHT)
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    for (layers, bytes) in
        [(0, 1), (1, 9), (2, 700_000), (14, 300_000), (60, 900_000), (120, 2_000), (2_000, 50_000)]
    {
        let scene = scene(layers, bytes);
        let labels = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(label) => Some(label),
            _ => None,
        });
        let labels: Vec<(&Label, Area)> = labels.map(|label| (label, label.area())).collect();
        for (index, (label, area)) in labels.iter().enumerate() {
            assert!(area.left >= 0.0 && area.right <= f64::from(SIZE.0), "{layers}: {label:?}");
            assert!(area.top >= 0.0 && area.bottom <= f64::from(SIZE.1), "{layers}: {label:?}");
            for (other, theirs) in labels.iter().take(index) {
                let apart = area.right <= theirs.left
                    || theirs.right <= area.left
                    || area.bottom <= theirs.top
                    || theirs.bottom <= area.top;
                assert!(apart, "{layers}: {label:?} {other:?}");
            }
        }
    }
}

#[test]
fn tensors_are_drawn_within_their_memory() {
    let fills = |scene: &Scene| {
        let fills = scene.shapes.iter().filter(|shape| matches!(shape, Shape::Fill(..)));
        fills.count()
    };
    // One rectangle more for each tensor, with four edges where they can be seen.
    assert!(fills(&scene(14, 300_000)) > fills(&scene(7, 300_000)) + 7);
}
