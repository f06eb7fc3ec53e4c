//! How long a prediction takes, from reading a profile to a simulated run.

use divan::{Bencher, black_box};
use joulecast::cost::Setting;
use joulecast::estimate::estimate;
use joulecast::hardware::{Point, Profile, shipped_profiles};
use joulecast::mapping::{Homes, Network, memory_plan, plan};
use joulecast::model::{Bindings, ElementType, ModelGraph, Transform, apply, import, load};
use joulecast::sim::{Arrivals, Workload, run};
use joulecast::trace::{MetricsSink, Recorder};
use joulecast::uncertainty::linearised;

fn main() {
    divan::main();
}

const HARDWARE: [&str; 4] = ["stm32l4r5", "eyeriss", "gap9", "edge_soc_example"];

struct Prepared {
    network: Network,
    profile: Profile,
    point: Point,
    stacks: Vec<Option<usize>>,
}

impl Prepared {
    fn new(model: &str, hardware: &str) -> Self {
        Self::of(&load(model, &Bindings::default()).unwrap(), hardware)
    }

    /// In 8 bits, which accelerators run through their buffers.
    fn quantised(model: &str, hardware: &str) -> Self {
        let to = ElementType::Int8;
        let int8 = Transform::Precision { to, weights_only: false, layers: None };
        Self::of(&apply(&load(model, &Bindings::default()).unwrap(), &[int8]).unwrap(), hardware)
    }

    fn of(graph: &ModelGraph, hardware: &str) -> Self {
        let network = Network::of(graph).unwrap();
        let profile = Profile::load(hardware).unwrap();
        let point = profile.point(None).unwrap();
        let stacks = profile.stacks(None).unwrap();
        Self { network, profile, point, stacks }
    }

    fn setting(&self) -> Setting<'_> {
        Setting { profile: &self.profile, point: &self.point, stacks: &self.stacks }
    }
}

#[divan::bench(args = HARDWARE)]
fn read_profile(bencher: Bencher, hardware: &str) {
    let shipped = shipped_profiles().iter().find(|p| p.name == hardware).unwrap();
    bencher.bench(|| Profile::parse(shipped.path, black_box(shipped.text)).unwrap());
}

#[divan::bench]
fn read_model(bencher: Bencher) {
    bencher.bench(|| load(black_box("vww_mobilenetv1_025"), &Bindings::default()).unwrap());
}

#[divan::bench(args = HARDWARE)]
fn plan_and_estimate(bencher: Bencher, hardware: &str) {
    let p = Prepared::new("vww_mobilenetv1_025", hardware);
    bencher.bench(|| estimate(&plan(black_box(&p.network), p.setting()), p.setting()));
}

const LARGE: [&str; 2] = ["resnet50", "yolov8n"];

#[divan::bench(args = LARGE)]
fn memory_plan_worked_out(bencher: Bencher, model: &str) {
    let p = Prepared::new(model, "edge_soc_example");
    let fresh = || Network { homes: Homes::new(p.network.buffers().clone()), ..p.network.clone() };
    bencher.with_inputs(fresh).bench_refs(|network| memory_plan(network, 0, &p.profile));
}

#[divan::bench(args = LARGE)]
fn memory_plan_again(bencher: Bencher, model: &str) {
    let p = Prepared::new(model, "edge_soc_example");
    bencher.bench(|| memory_plan(black_box(&p.network), 0, &p.profile));
}

#[divan::bench(args = LARGE)]
fn plan_and_estimate_large(bencher: Bencher, model: &str) {
    let p = Prepared::new(model, "edge_soc_example");
    bencher.bench(|| estimate(&plan(black_box(&p.network), p.setting()), p.setting()));
}

/// Blocks of two convolutions and an addition around them: twice the layers may take twice the time.
#[divan::bench(args = [50, 100, 200, 400])]
fn plan_of_residual_blocks(bencher: Bencher, blocks: usize) {
    let graph = import::from_bytes("blocks.ron", residual(blocks).as_bytes(), &Bindings::default());
    let p = Prepared::of(&graph.unwrap(), "edge_soc_example");
    bencher.bench(|| plan(black_box(&p.network), p.setting()));
}

fn residual(blocks: usize) -> String {
    let shape = "[1, 32, 32, 16]";
    let mut tensors = format!("(name: \"t0\", element: Int8, shape: {shape}, role: Input),");
    let mut operators = String::new();
    let convolution = "Convolution(strides: [1, 1], dilations: [1, 1], padding: Same, groups: 1)";
    for block in 0..blocks {
        let first = 3 * block;
        for layer in 0..2 {
            let (from, to) = (first + layer, first + layer + 1);
            tensors += &format!(
                "(name: \"w{from}\", element: Int8, shape: [16, 3, 3, 16], role: Constant), \
                 (name: \"t{to}\", element: Int8, shape: {shape}),"
            );
            operators += &format!(
                "(name: \"c{from}\", op: {convolution}, inputs: [\"t{from}\", \"w{from}\", \"\"], \
                 outputs: [\"t{to}\"]),"
            );
        }
        let (left, sum) = (first + 2, first + 3);
        tensors += &format!("(name: \"t{sum}\", element: Int8, shape: {shape}),");
        operators += &format!(
            "(name: \"a{sum}\", op: Elementwise(Add), inputs: [\"t{left}\", \"t{first}\"], \
             outputs: [\"t{sum}\"]),"
        );
    }
    format!(
        "(schema: \"joulecast.model/1\", name: \"residual\", tensors: [{tensors}], \
         operators: [{operators}], outputs: [\"t{}\"])",
        3 * blocks
    )
}

#[divan::bench(args = HARDWARE)]
fn linearised_interval(bencher: Bencher, hardware: &str) {
    let p = Prepared::new("vww_mobilenetv1_025", hardware);
    bencher.bench(|| linearised(black_box(&p.network), p.setting()));
}

#[divan::bench(args = HARDWARE)]
fn thousand_inferences_metrics_only(bencher: Bencher, hardware: &str) {
    let p = Prepared::new("kws_ds_cnn", hardware);
    let plan = plan(&p.network, p.setting());
    let workload = Workload { inferences: 1000, arrivals: Arrivals::BackToBack, rest: None };
    bencher.bench(|| {
        run(black_box(&plan), &workload, p.setting(), &mut MetricsSink::default()).unwrap()
    });
}

#[divan::bench(args = HARDWARE)]
fn thousand_inferences_kept(bencher: Bencher, hardware: &str) {
    let p = Prepared::new("kws_ds_cnn", hardware);
    let plan = plan(&p.network, p.setting());
    let workload = Workload { inferences: 1000, arrivals: Arrivals::BackToBack, rest: None };
    bencher.bench(|| {
        let mut recorder = Recorder::default();
        run(black_box(&plan), &workload, p.setting(), &mut recorder).unwrap();
        recorder.into_trace()
    });
}

const BUFFERED: [&str; 3] = ["edge_soc_example", "eyeriss", "ethos_u55_256"];

#[divan::bench(args = BUFFERED)]
fn resnet50_plan(bencher: Bencher, hardware: &str) {
    let p = Prepared::quantised("resnet50", hardware);
    bencher.bench(|| plan(black_box(&p.network), p.setting()));
}

#[divan::bench(args = BUFFERED)]
fn resnet50_plan_and_estimate(bencher: Bencher, hardware: &str) {
    let p = Prepared::quantised("resnet50", hardware);
    bencher.bench(|| estimate(&plan(black_box(&p.network), p.setting()), p.setting()));
}

/// Nothing known from earlier plans: each is made on a thread of its own.
#[divan::bench(args = BUFFERED)]
fn resnet50_plan_and_estimate_cold(bencher: Bencher, hardware: &str) {
    let p = Prepared::quantised("resnet50", hardware);
    bencher.bench(|| {
        let cold = || estimate(&plan(black_box(&p.network), p.setting()), p.setting());
        std::thread::scope(|scope| scope.spawn(cold).join().unwrap())
    });
}
