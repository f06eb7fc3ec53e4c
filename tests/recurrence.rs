//! Recurrent layers on memories that hold their weights, or do not.

use joulecast::cost::Setting;
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, plan};
use joulecast::model::{
    Cell, ElementType, Layout, ModelGraph, Op, Operator, Recurrence, TensorRole,
};

/// The steps of an LSTM in 16 bits.
fn lstm(hidden: u64, steps: u64) -> Network {
    let mut graph = ModelGraph::new("lstm", Layout::ChannelsLast);
    let mut add =
        |name: &str, shape: &[u64], role| graph.add(name, shape, ElementType::Int16, role).unwrap();
    let gates = add("gates", &[steps, 1, 4 * hidden], TensorRole::Input);
    let weights = add("weights", &[4 * hidden, hidden], TensorRole::Constant);
    let states = add("states", &[steps, 1, hidden], TensorRole::Activation);
    let op = Op::Recurrence(Recurrence { cell: Cell::Lstm, hidden, steps, directions: 1 });
    let operator = Operator::new("steps", "LSTM", op);
    graph.add_operator(operator, &[Some(gates), Some(weights)], &[states]).unwrap();
    graph.set_outputs(vec![states]);
    Network::of(&graph).unwrap()
}

/// Bytes that the accelerator reads from its DRAM.
fn dram_reads(hidden: u64, steps: u64) -> f64 {
    let profile = Profile::load("eyeriss").unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let dram = profile.spec().memories.iter().position(|m| m.name == "dram").unwrap();
    let plan = plan(&lstm(hidden, steps), setting);
    let traffic = plan.steps.iter().flat_map(|step| &step.traffic);
    traffic.filter(|t| t.channel == dram).map(|t| t.read.0).sum()
}

#[test]
fn weights_that_the_buffer_does_not_hold_come_again_in_every_step() {
    for steps in [1, 10, 50, 400, 4000] {
        let (weights, gates) = (2 * 4 * 256 * 256, 2 * 4 * 256 * steps);
        assert_eq!(dram_reads(256, steps), (weights * steps + gates) as f64, "{steps} steps");
    }
}

#[test]
fn weights_that_the_buffer_holds_come_once() {
    for steps in [1, 10, 400] {
        let (weights, gates) = (2 * 4 * 64 * 64, 2 * 4 * 64 * steps);
        assert_eq!(dram_reads(64, steps), (weights + gates) as f64, "{steps} steps");
    }
}
