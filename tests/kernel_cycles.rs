//! What kernels take beside products and results: positions, whole tiles, weights that are waited for, and the start of
//! a network.

use crate::chips::{SOFTWARE, at, changed, chip_text, parsed, product};
use crate::laws::network;
use joulecast::estimate::{Estimate, estimate};
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, PhaseKind, plan};
use joulecast::model::ElementType;

const LANES: &str = r#"Lanes(macs: {Int8: "1000 MAC/cycle"})"#;

/// The test chip, at 100 MHz, with more in its software.
fn text(fields: &str) -> String {
    let software =
        changed(SOFTWARE, &[(r#"runs_on: ["unit"],"#, &format!(r#"runs_on: ["unit"], {fields}"#))]);
    let text = chip_text(LANES, "", &software);
    changed(
        &text,
        &[("energy: (per_mac", r#"energy: (per_busy_cycle: Energy("2 pJ/cycle"), per_mac"#)],
    )
}

fn estimated(fields: &str, network: &Network) -> Estimate {
    at(&parsed(&text(fields)), None, |setting| estimate(&plan(network, setting), setting))
}

fn cycles(fields: &str, network: &Network) -> f64 {
    estimated(fields, network).latency.0 * 100e6
}

fn near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9 * other.abs().max(1.0), "{one} {other}");
}

#[test]
fn positions_tiles_and_weights_come_on_top_of_products() {
    let rows = product(9, 10, 3, ElementType::Int8);
    // 270 products of 0.6 cycle.
    near(cycles("", &rows), 162.0);
    near(cycles(r#"cycles_per_position: {FullyConnected: "7 cycle"},"#, &rows), 162.0 + 9.0 * 7.0);
    near(cycles("tile: (positions: 8, channels: 16, depth: 4),", &rows), 16.0 * 16.0 * 4.0 * 0.6);
    // 30 bytes at one a cycle.
    near(cycles(r#"weight_stream: "100 MB/s","#, &rows), 162.0 + 30.0);
    let row = product(1, 10, 3, ElementType::Int8);
    near(cycles("tile: (positions: 8, channels: 16, depth: 4),", &row), cycles("", &row));
}

#[test]
fn a_network_is_started_once() {
    let network = network("kws_ds_cnn");
    let (plain, started) =
        (estimated("", &network), estimated(r#"start: "5000 cycle","#, &network));
    near((started.latency.0 - plain.latency.0) * 100e6, 5000.0);
    near((started.energy.0 - plain.energy.0) * 1e12, 5000.0 * 2.0);
    let (first, rest) = started.layers.split_first().unwrap();
    assert!(first.time > plain.layers[0].time);
    assert!(rest.iter().zip(&plain.layers[1..]).all(|(one, other)| one.time == other.time));
}

#[test]
fn a_start_is_part_of_the_first_dispatch() {
    let network = product(9, 10, 3, ElementType::Int8);
    let of = |fields: &str| {
        at(&parsed(&text(fields)), None, |setting| {
            let plan = plan(&network, setting);
            let phases = plan.steps[0].phases.iter();
            phases
                .filter(|p| p.kind == PhaseKind::Dispatch)
                .map(|p| p.compute.0)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(of(""), Vec::<f64>::new());
    assert_eq!(of(r#"start: "50 cycle","#), [50.0]);
    assert_eq!(of(r#"start: "50 cycle", dispatch: "8 cycle","#), [58.0]);
}

#[test]
fn what_no_kernel_has_is_a_fault() {
    let fields = r#"cycles_per_position: {Pool: "1 cycle", Conv: "0 cycle"}, start: "0 cycle",
        weight_stream: "0 B/s", tile: (positions: 0, channels: 1, depth: 1),"#;
    let said = Profile::parse("test.ron", &text(fields)).unwrap_err().to_string();
    for part in [
        "Pool is no MAC work",
        "at least one in each direction",
        "start",
        "weight_stream",
        "cycles_per_position.Conv",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
