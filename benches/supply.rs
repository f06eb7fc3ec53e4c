//! How long it takes to solve the rail tree at a change of power.

use divan::{Bencher, black_box};
use joulecast::cost::{Changed, Setting, SupplyState, SupplyTree, standing_power};
use joulecast::hardware::{Profile, profile_text};
use joulecast::units::Watts;

fn main() {
    divan::main();
}

/// The example with its battery as shipped, or followed as it sags.
fn profile(follows: bool) -> Profile {
    let (file, text) = profile_text("edge_soc_example").unwrap();
    let text = if follows {
        text.replacen("max_current: \"4 A", "follows: true, max_current: \"4 A", 1)
    } else {
        text.into_owned()
    };
    Profile::parse(&file, &text).unwrap()
}

struct Prepared {
    tree: SupplyTree,
    power: Vec<Watts>,
    /// Where the engine of the benchmark draws.
    tap: usize,
    state: SupplyState,
}

fn prepared(follows: bool) -> Prepared {
    let profile = profile(follows);
    let point = profile.point(None).unwrap();
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let (tree, power) = (SupplyTree::new(setting), standing_power(setting));
    let domain = profile.spec().domains.iter().position(|d| d.name == "npu").unwrap();
    let mut state = SupplyState::default();
    tree.solve(&power, &mut state);
    Prepared { tree, power, tap: profile.links().domain_tap[domain], state }
}

#[divan::bench]
fn making_the_tree(bencher: Bencher<'_, '_>) {
    let profile = profile(false);
    let point = profile.point(None).unwrap();
    let stacks = profile.stacks(None).unwrap();
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    bencher.bench_local(|| SupplyTree::new(black_box(setting)));
}

#[divan::bench(args = [false, true])]
fn whole_tree(bencher: Bencher<'_, '_>, follows: bool) {
    let Prepared { tree, mut power, tap, mut state } = prepared(follows);
    let mut step = 0u32;
    bencher.bench_local(|| {
        step = step.wrapping_add(1);
        power[tap] = Watts(0.1 + 0.01 * f64::from(step % 16));
        tree.solve(black_box(&power), &mut state);
        state.source_power
    });
}

#[divan::bench(args = [false, true])]
fn from_one_engine(bencher: Bencher<'_, '_>, follows: bool) {
    let Prepared { tree, mut power, tap, mut state } = prepared(follows);
    let (mut step, mut changed) = (0u32, Changed::default());
    bencher.bench_local(|| {
        step = step.wrapping_add(1);
        power[tap] = Watts(0.1 + 0.01 * f64::from(step % 16));
        changed.mark(tap);
        tree.solve_from(&mut changed, black_box(&power), &mut state);
        state.source_power
    });
}
