use super::*;
use crate::model::{
    ElementFunction, ElementType, Layout, ModelGraph, Op, Operator, TensorId, TensorRole,
};
use crate::report::plot::theme::LIGHT;

/// A chain of layers with long names. Every tenth opens two branches that the file interleaves.
fn profile(layers: usize) -> ModelProfile {
    let mut graph =
        ModelGraph::new("a network with a very long name ".repeat(9), Layout::ChannelsLast);
    let mut last = add(&mut graph, "x", 50, TensorRole::Input);
    let mut at = 0;
    while at < layers {
        let branching = at % 10 == 9 && at + 5 <= layers;
        if branching {
            let [a, b] = [90, 90].map(|bytes| layer(&mut graph, &mut at, bytes, &[last]));
            let [a, b] = [a, b].map(|wide| layer(&mut graph, &mut at, 5, &[wide]));
            last = layer(&mut graph, &mut at, 7, &[a, b]);
        } else {
            let bytes = 20 + (at as u64 * 37) % 60;
            last = layer(&mut graph, &mut at, bytes, &[last]);
        }
    }
    graph.set_outputs(vec![last]);
    graph.profile().unwrap()
}

fn add(graph: &mut ModelGraph, name: &str, bytes: u64, role: TensorRole) -> TensorId {
    graph.add(name, &[bytes], ElementType::Int8, role).unwrap()
}

fn layer(graph: &mut ModelGraph, at: &mut usize, bytes: u64, reads: &[TensorId]) -> TensorId {
    let name = format!("network/block_{}/a_layer_with_a_long_name/{at}", *at / 10);
    let made = add(graph, &name, bytes, TensorRole::Activation);
    let operator = Operator::new(name, "", Op::Elementwise(ElementFunction::Add));
    let inputs: Vec<_> = reads.iter().copied().map(Some).collect();
    graph.add_operator(operator, &inputs, &[made]).unwrap();
    *at += 1;
    made
}

fn labels(scene: &Scene) -> Vec<&Label> {
    let labels = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(label) => Some(label),
        _ => None,
    });
    labels.collect()
}

#[test]
fn no_label_covers_another_or_leaves_the_paper() {
    for layers in [0, 1, 2, 5, 14, 40, 78, 79, 200, 5_000] {
        let scene = compose(&profile(layers), &LIGHT);
        let labels = labels(&scene);
        let areas: Vec<Area> = labels.iter().map(|label| label.area()).collect();
        for (index, (label, area)) in labels.iter().zip(&areas).enumerate() {
            assert!(area.left >= 0.0 && area.right <= f64::from(SIZE.0), "{layers}: {label:?}");
            assert!(area.top >= 0.0 && area.bottom <= f64::from(SIZE.1), "{layers}: {label:?}");
            for (other, theirs) in labels.iter().zip(&areas).take(index) {
                let apart = area.right <= theirs.left
                    || theirs.right <= area.left
                    || area.bottom <= theirs.top
                    || theirs.bottom <= area.top;
                assert!(apart, "{layers}: {label:?}\n{other:?}");
            }
        }
    }
}

#[test]
fn the_number_of_shapes_follows_the_paper_and_not_the_network() {
    let scene = compose(&profile(20_000), &LIGHT);
    assert!(scene.shapes.len() < 4 * SIZE.0 as usize, "{}", scene.shapes.len());
}

#[test]
fn the_order_of_the_file_is_drawn_where_it_differs() {
    let lines = |profile: &ModelProfile| {
        let scene = compose(profile, &LIGHT);
        scene.shapes.iter().filter(|shape| matches!(shape, Shape::Steps(..))).count()
    };
    assert_eq!(lines(&profile(9)), 0);
    assert_eq!(lines(&profile(14)), 2, "the line and its key");
}

#[test]
fn layers_are_numbered_at_round_places() {
    assert_eq!(numbers(0).count(), 0);
    assert_eq!(numbers(5).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let many: Vec<_> = numbers(203).collect();
    assert_eq!((many[0], many[1], many.last()), (1, 20, Some(&200)));
}
