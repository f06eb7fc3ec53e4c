//! Recurrent layers and attention in ONNX, each operator of which is several products in one.

use joulecast::model::{Bindings, OpKind, Shape, load, total_macs};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "onnx", "composite"].iter().collect()
}

#[test]
fn operators_that_are_several_in_one_count_as_their_definition_says() {
    let mut expected = csv::Reader::from_path(folder().join("expected.csv")).unwrap();
    let mut files = 0;
    for row in expected.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let path = folder().join(format!("{}.onnx", row["file"]));
        let graph = load(path.to_str().unwrap(), &Bindings::default()).unwrap();
        let layers = graph.layers().unwrap();
        let output = graph.tensor(graph.outputs()[0]);
        assert_eq!(output.shape.as_ref().map(Shape::to_string), Some(row["output_shape"].clone()));
        assert_eq!(total_macs(&layers).to_string(), row["macs"], "{row:?}");
        assert!(layers.iter().all(|layer| layer.work.kind != OpKind::Opaque), "{row:?}");
        files += 1;
    }
    assert_eq!(files, 19);
}
