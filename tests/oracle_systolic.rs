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

/// A layer of ResNet-18 as the simulator takes it, without padding: extent of the image, side of the
/// window, channels in and out, stride.
type Square = (u64, u64, u64, u64, u64);

const RESNET18: [Square; 21] = [
    (224, 7, 3, 64, 2),
    (56, 3, 64, 64, 1),
    (56, 3, 64, 64, 1),
    (56, 3, 64, 64, 1),
    (56, 3, 64, 64, 1),
    (56, 3, 64, 128, 2),
    (28, 3, 128, 128, 1),
    (56, 1, 64, 128, 2),
    (28, 3, 128, 128, 1),
    (28, 3, 128, 128, 1),
    (28, 3, 128, 256, 2),
    (14, 3, 256, 256, 1),
    (28, 1, 128, 256, 2),
    (14, 3, 256, 256, 1),
    (14, 3, 256, 256, 1),
    (14, 3, 256, 512, 2),
    (7, 3, 512, 512, 1),
    (14, 1, 256, 512, 2),
    (7, 3, 512, 512, 1),
    (7, 3, 512, 512, 1),
    (1, 1, 512, 1000, 1),
];

/// The product that a window over an image makes: the simulator rounds a last, partial step up.
fn gemm(
    (height, width): (u64, u64),
    kernel: (u64, u64),
    channels: (u64, u64),
    stride: u64,
) -> Gemm {
    let steps = |extent: u64, window: u64| (extent - window).div_ceil(stride) + 1;
    Gemm {
        groups: 1,
        m: steps(height, kernel.0) * steps(width, kernel.1),
        n: channels.1,
        k: kernel.0 * kernel.1 * channels.0,
    }
}

/// Cycles and utilisation of each layer in a report.
fn reported(folder: &std::path::Path, name: &str) -> Vec<(f64, f64)> {
    let path = folder.join(format!("oracles/scalesim/{name}_32x32ws_COMPUTE_REPORT.csv"));
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|h| h == name).unwrap();
    let (cycles, share) = (column("Total Cycles"), column("Overall Util %"));
    let rows = reader.records().map(Result::unwrap);
    rows.map(|row| (row[cycles].parse().unwrap(), row[share].parse().unwrap())).collect()
}

fn compare(reported: &[(f64, f64)], layers: &[Gemm]) {
    assert_eq!(reported.len(), layers.len());
    for (i, ((cycles, share), gemm)) in reported.iter().zip(layers).enumerate() {
        let own = systolic_cycles(Dataflow::WeightStationary, 32, 32, *gemm);
        assert_eq!(own.cycles, *cycles, "layer {i}: {gemm:?}");
        // Its utilisation is over the reported cycles and one.
        let utilisation = 100.0 * gemm.macs() as f64 / (own.cycles * 1024.0);
        assert!((utilisation / share - 1.0).abs() < 2e-3, "layer {i}: {utilisation} {share}");
    }
}

#[test]
fn closed_forms_equal_the_simulator_on_all_layers_of_two_networks() {
    let name = "closed_forms_equal_the_simulator_on_all_layers_of_two_networks";
    let Some(folder) = shared::folder(name) else { return };
    let resnet: Vec<_> =
        RESNET18.iter().map(|(e, w, i, o, s)| gemm((*e, *e), (*w, *w), (*i, *o), *s)).collect();
    compare(&reported(&folder, "resnet18"), &resnet);
    let topology = folder.join("oracles/scalesim/kws_dscnn_5conv.topology.csv");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(topology).unwrap();
    let layers = reader.records().map(|row| {
        let row = row.unwrap();
        let number = |i: usize| row[i].trim().parse::<u64>().unwrap();
        gemm((number(1), number(2)), (number(3), number(4)), (number(5), number(6)), number(7))
    });
    let layers: Vec<_> = layers.collect();
    assert_eq!(resnet.len() + layers.len(), 26);
    compare(&reported(&folder, "kws_dscnn_5conv"), &layers);
}
