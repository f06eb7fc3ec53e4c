//! The RON form of a graph: readable, writable by hand, without weights.

use super::graph::{Layout, ModelGraph, Operator, Origin, TensorId};
use super::{ElementType, ModelError, Op, Shape, Tensor, TensorRole};
use crate::diagnostic::{Fault, Report, SpanIndex, nearest, parse_ron, ron_options};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
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
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Reads the RON form. `file` names it in errors; references to tensors that do not exist, double
/// names and tensors that nothing makes are reported together.
pub fn read_ron(file: &str, text: &str) -> Result<ModelGraph, ModelError> {
    let parsed: ModelFile = parse_ron(file, text)?;
    let mut builder = Builder { faults: Vec::new() };
    let graph = builder.build(parsed);
    let mut faults = builder.faults;
    match graph {
        Ok(graph) if faults.is_empty() => Ok(graph),
        Ok(_) | Err(None) => {
            let index = SpanIndex::of(text);
            for fault in &mut faults {
                fault.span = index.value_or_enclosing(&fault.path);
            }
            Err(Box::new(Report::new(file, text, faults)).into())
        }
        Err(Some(error)) => Err(error),
    }
}

struct Builder {
    faults: Vec<Fault>,
}

impl Builder {
    fn build(&mut self, parsed: ModelFile) -> Result<ModelGraph, Option<ModelError>> {
        if parsed.schema != SCHEMA {
            let message = format!("schema `{}` is not `{SCHEMA}`", parsed.schema);
            self.faults.push(Fault::at("schema", message));
        }
        let mut graph = ModelGraph::new(parsed.name, parsed.layout);
        graph.origin = parsed.origin;
        graph.notes = parsed.notes;
        let mut ids = BTreeMap::new();
        for (i, entry) in parsed.tensors.into_iter().enumerate() {
            let TensorEntry { name, element, shape, role } = entry;
            if shape.as_ref().is_some_and(|s| s.elements().is_none()) {
                let message = format!("tensor `{name}` is too large");
                self.faults.push(Fault::at(format!("tensors[{i}].shape"), message));
            }
            match graph.add_tensor(Tensor { name: name.clone(), shape, element, role }) {
                Ok(id) => drop(ids.insert(name, id)),
                Err(_) => self.faults.push(Fault::at(
                    format!("tensors[{i}].name"),
                    format!("two tensors are called `{name}`"),
                )),
            }
        }
        for (i, entry) in parsed.operators.iter().enumerate() {
            self.operator(&mut graph, &ids, i, entry);
        }
        let mut outputs = Vec::new();
        for (i, name) in parsed.outputs.iter().enumerate() {
            outputs.extend(self.resolve(&ids, name, &format!("outputs[{i}]")));
        }
        graph.set_outputs(outputs);
        if self.faults.is_empty() {
            self.check_makers(&graph, &parsed.operators);
        }
        if !self.faults.is_empty() {
            return Err(None);
        }
        graph.sort().map_err(Some)?;
        graph.layers().map_err(Some)?;
        Ok(graph)
    }

    fn operator(
        &mut self,
        graph: &mut ModelGraph,
        ids: &BTreeMap<String, TensorId>,
        i: usize,
        entry: &OperatorEntry,
    ) {
        let mut inputs = Vec::new();
        for (port, name) in entry.inputs.iter().enumerate() {
            inputs.push(if name.is_empty() {
                None
            } else {
                self.resolve(ids, name, &format!("operators[{i}].inputs[{port}]"))
            });
        }
        let mut outputs = Vec::new();
        for (port, name) in entry.outputs.iter().enumerate() {
            outputs.extend(self.resolve(ids, name, &format!("operators[{i}].outputs[{port}]")));
        }
        let operator = Operator {
            name: entry.name.clone(),
            native: entry.native.clone(),
            op: entry.op.clone(),
            fused_activation: entry.activation.clone(),
        };
        if let Err(error) = graph.add_operator(operator, &inputs, &outputs) {
            self.faults.push(Fault::at(format!("operators[{i}].outputs"), error.to_string()));
        }
    }

    fn resolve(
        &mut self,
        ids: &BTreeMap<String, TensorId>,
        name: &str,
        path: &str,
    ) -> Option<TensorId> {
        let found = ids.get(name).copied();
        if found.is_none() {
            let mut fault = Fault::at(path, format!("no tensor is called `{name}`"));
            fault.help = nearest(name, ids.keys().map(String::as_str))
                .map(|n| format!("did you mean `{n}`?"));
            self.faults.push(fault);
        }
        found
    }

    fn check_makers(&mut self, graph: &ModelGraph, operators: &[OperatorEntry]) {
        for (i, entry) in operators.iter().enumerate() {
            for (port, name) in entry.inputs.iter().enumerate() {
                let Some(id) = graph.tensor_named(name) else { continue };
                let made = graph.producer(id).is_some();
                if !made && graph.tensor(id).role == TensorRole::Activation {
                    let path = format!("operators[{i}].inputs[{port}]");
                    let message = format!("no operator makes `{name}`");
                    let help = "make its role Input or Constant, or add the operator";
                    self.faults.push(Fault::at(path, message).with_help(help));
                }
            }
        }
    }
}

/// Writes the RON form, headed by a comment with name, origin and totals.
pub fn write_ron(graph: &ModelGraph) -> Result<String, ModelError> {
    let layers = graph.layers()?;
    let macs: u64 = layers.iter().map(|l| l.work.macs).sum();
    let parameters: u64 = layers.iter().map(|l| l.work.parameters).sum();
    let mut text = format!(
        "// {}: {} operators, {macs} MACs, {parameters} parameters; without weights.\n",
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
    let tensors = order.into_iter().map(|id| {
        let t = graph.tensor(id);
        TensorEntry {
            name: t.name.clone(),
            element: t.element,
            shape: t.shape.clone(),
            role: t.role,
        }
    });
    let operators = graph.operators().map(|id| {
        let o = graph.operator(id);
        OperatorEntry {
            name: o.name.clone(),
            op: o.op.clone(),
            native: o.native.clone(),
            activation: o.fused_activation.clone(),
            inputs: graph.inputs(id).into_iter().map(|t| t.map_or(String::new(), name)).collect(),
            outputs: graph.op_outputs(id).into_iter().map(name).collect(),
        }
    });
    ModelFile {
        schema: SCHEMA.to_owned(),
        name: graph.name.clone(),
        layout: graph.layout,
        origin: graph.origin.clone(),
        notes: graph.notes.clone(),
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
