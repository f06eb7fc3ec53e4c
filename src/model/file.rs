//! The RON form of a graph: readable, writable by hand, without weights.

mod builder;

use super::graph::{Layout, Live, ModelGraph, Origin, TensorId};
use super::{
    ElementType, ModelError, Op, Quality, Shape, Sparsity, TensorRole, TransformRecord,
    WeightStatistics, stored_parameters, total_live_macs, total_macs,
};
use crate::diagnostic::{Report, parse_ron, ron_options};
use builder::build;
use serde::{Deserialize, Serialize};

/// Version of the format, in the file's `schema` field.
const SCHEMA: &str = "joulecast.model/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    schema: String,
    name: String,
    #[serde(default)]
    layout: Layout,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    licence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    transforms: Vec<TransformRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quality: Option<Quality>,
    tensors: Vec<TensorEntry>,
    operators: Vec<OperatorEntry>,
    outputs: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorEntry {
    name: String,
    element: ElementType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<Shape>,
    #[serde(default, skip_serializing_if = "is_activation")]
    role: TensorRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statistics: Option<WeightStatistics>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sparsity: Option<Sparsity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoded_bytes: Option<u64>,
}

fn is_activation(role: &TensorRole) -> bool {
    *role == TensorRole::Activation
}

/// An operator; an input left out is the empty name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorEntry {
    name: String,
    op: Op,
    #[serde(default)]
    native: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    activation: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    residual: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    live: Option<Live>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_zeros: Option<f64>,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Reads the RON form. `file` names it in errors; all faults beyond syntax are reported together,
/// each with its place: names that do not exist or exist twice, tensors that nothing makes, cycles,
/// and shapes that do not agree.
pub fn read_ron(file: &str, text: &str) -> Result<ModelGraph, ModelError> {
    let parsed: ModelFile = parse_ron(file, text)?;
    build(parsed).map_err(|faults| Report::located(file, text, faults).into())
}

/// Writes the RON form, headed by a comment with name, origin and totals.
pub fn write_ron(graph: &ModelGraph) -> Result<String, ModelError> {
    let layers = graph.layers()?;
    let (macs, parameters) = (total_macs(&layers), stored_parameters(graph));
    let live = match total_live_macs(&layers) {
        live if live == macs => String::new(),
        live => format!(" ({live} live)"),
    };
    let mut text = format!(
        "// {}: {} operators, {macs} MACs{live}, {parameters} parameters; without weights.\n",
        graph.name,
        layers.len()
    );
    if let Some(origin) = &graph.origin {
        text.push_str(&format!("// Imported from {} ({}).\n", origin.file, origin.format));
    }
    let config = ron::ser::PrettyConfig::new()
        .depth_limit(2)
        .indentor("  ".to_owned())
        .separate_tuple_members(false)
        .compact_arrays(false);
    let body =
        ron_options().to_string_pretty(&as_file(graph), config).map_err(|e| ModelError::Graph {
            operator: graph.name.clone(),
            reason: format!("cannot be written: {e}"),
        })?;
    text.push_str(&body);
    text.push('\n');
    Ok(text)
}

fn as_file(graph: &ModelGraph) -> ModelFile {
    let name = |id: TensorId| graph.tensor(id).name.clone();
    // In the order of first use, which is the order a reader meets them.
    let mut order = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for op in graph.operators() {
        let touched = graph.inputs(op).into_iter().flatten().chain(graph.op_outputs(op));
        order.extend(touched.filter(|t| seen.insert(*t)));
    }
    order.extend(graph.outputs().iter().copied().filter(|t| seen.insert(*t)));
    let idle = graph.tensors().filter(|t| graph.tensor(*t).role == TensorRole::Constant);
    order.extend(idle.filter(|t| seen.insert(*t)));
    let tensors = order.into_iter().map(|id| {
        let t = graph.tensor(id);
        TensorEntry {
            name: t.name.clone(),
            element: t.element,
            shape: t.shape.clone(),
            role: t.role,
            statistics: t.statistics,
            sparsity: t.sparsity,
            encoded_bytes: t.encoded_bytes,
        }
    });
    let operators = graph.operators().map(|id| {
        let o = graph.operator(id);
        OperatorEntry {
            name: o.name.clone(),
            op: o.op.clone(),
            native: o.native.clone(),
            activation: o.fused_activation.clone(),
            residual: o.residual,
            live: o.live,
            input_zeros: o.input_zeros,
            inputs: graph.inputs(id).into_iter().map(|t| t.map_or(String::new(), name)).collect(),
            outputs: graph.op_outputs(id).into_iter().map(name).collect(),
        }
    });
    ModelFile {
        schema: SCHEMA.to_owned(),
        name: graph.name.clone(),
        layout: graph.layout,
        source: graph.source.clone(),
        licence: graph.licence.clone(),
        origin: graph.origin.clone(),
        notes: graph.notes.clone(),
        transforms: graph.transforms.clone(),
        quality: graph.quality.clone(),
        tensors: tensors.collect(),
        operators: operators.collect(),
        outputs: graph.outputs().iter().map(|t| name(*t)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"(
  schema: "joulecast.model/1",
  name: "two",
  tensors: [
    (name: "x", element: Int8, shape: [1, 4, 4, 8], role: Input),
    (name: "w", element: Int8, shape: [8, 1, 1, 8], role: Constant),
    (name: "h", element: Int8, shape: [1, 4, 4, 8]),
    (name: "y", element: Int8, shape: [1, 4, 4, 8]),
  ],
  operators: [
    (name: "conv", op: Convolution(strides: [1, 1], dilations: [1, 1], padding: Same, groups: 1),
      inputs: ["x", "w", ""], outputs: ["h"]),
    (name: "add", op: Elementwise(Add), activation: "RELU", inputs: ["h", "x"], outputs: ["y"]),
  ],
  outputs: ["y"],
)"#;

    #[test]
    fn a_graph_survives_writing_and_reading() {
        let graph = read_ron("two.ron", TWO).unwrap();
        let text = write_ron(&graph).unwrap();
        let again = read_ron("again.ron", &text).unwrap();
        assert_eq!(graph.layers().unwrap(), again.layers().unwrap());
        assert_eq!(text, write_ron(&again).unwrap());
        let layers = graph.layers().unwrap();
        assert_eq!(layers[0].work.macs, 4 * 4 * 8 * 8);
        assert_eq!(layers[1].work.element_ops, 2 * 128, "the addition and its fused RELU");
    }

    #[test]
    fn all_dangling_names_are_reported_with_their_lines() {
        let text = TWO
            .replace(r#"["x", "w", ""]"#, r#"["x", "w_", ""]"#)
            .replace(r#"outputs: ["y"],"#, r#"outputs: ["q"],"#);
        let shown = read_ron("two.ron", &text).unwrap_err().to_string();
        assert!(shown.contains("no tensor is called `w_`"), "{shown}");
        assert!(shown.contains("two.ron:12:21"), "{shown}");
        assert!(shown.contains("no tensor is called `q`"), "{shown}");
        assert!(shown.contains("2 faults in two.ron"), "{shown}");
        let text = TWO.replace(r#"["h", "x"]"#, r#"["y2", "x"]"#).replace(
            r#"(name: "y","#,
            r#"(name: "y2", element: Int8, shape: [1, 4, 4, 8]), (name: "y","#,
        );
        let shown = read_ron("two.ron", &text).unwrap_err().to_string();
        assert!(shown.contains("no operator makes `y2`"), "{shown}");
    }
}
