//! Cycles of systolic arrays against SCALE-Sim v3.

use crate::shared;
use joulecast::cost::systolic_cycles;
use joulecast::hardware::Dataflow;
use joulecast::model::Gemm;

#[test]
fn closed_forms_equal_the_simulator_on_all_twelve_products() {
    let Some(folder) = shared::folder("closed_forms_equal_the_simulator_on_all_twelve_products")
    else {
        return;
    };
    let path = folder.join("oracles/systolic_cycles/scalesim_32x32.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| {
        headers.iter().position(|h| h == name).unwrap_or_else(|| panic!("{headers:?}"))
    };
    let (flow, m, n, k) = (column("dataflow"), column("M"), column("N"), column("K"));
    let cycles = headers.iter().position(|h| h == "scale_sim_cycles").unwrap();
    let mut rows = 0;
    for row in reader.records() {
        let row = row.unwrap();
        let number = |i: usize| row[i].parse::<f64>().unwrap();
        let dataflow = match &row[flow] {
            "ws" => Dataflow::WeightStationary,
            "os" => Dataflow::OutputStationary,
            other => panic!("{other}"),
        };
        let gemm =
            Gemm { groups: 1, m: number(m) as u64, n: number(n) as u64, k: number(k) as u64 };
        assert_eq!(systolic_cycles(dataflow, 32, 32, gemm).cycles, number(cycles), "{row:?}");
        rows += 1;
    }
    assert_eq!(rows, 12);
}
