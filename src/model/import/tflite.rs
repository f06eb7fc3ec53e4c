//! TFLite files: every tensor carries its shape and type, so that reading is all there is to do.

mod flatbuffer;
mod operators;
mod recurrent;
mod schema;

use super::{Fault, Imported};
use crate::model::dead::Filters;
use crate::model::graph::printable;
use crate::model::weights::{Place, Weights};
use crate::model::{
    Layout, ModelError, ModelGraph, Op, Operator, Shape, Tensor, TensorId, TensorRole,
};
use flatbuffer::{Buffer, Read, Table, Vector};
use operators::Options;
use prost::bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// The name of a custom operator is copied to each use of it, so that its length is bounded.
const NAME_LIMIT: usize = 256;

/// Reads the first subgraph of a TFLite file.
pub(super) fn read(path: &str, bytes: &Bytes) -> Result<Imported, ModelError> {
    let broken = |reason: String| ModelError::Tflite { path: path.to_owned(), reason };
    if bytes.get(4..8) != Some(b"TFL3") {
        return Err(broken("expected the identifier TFL3 at byte 4".into()));
    }
    let name = Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy());
    let buffer = Buffer::new(bytes);
    let plan = Plan::read(&buffer).map_err(broken)?;
    plan.build(&name, bytes).map_err(|fault| match fault {
        Fault::File(reason) => broken(reason),
        Fault::Graph(error) => error,
    })
}

/// An operator as it stands in the file.
struct Step<'a> {
    native: String,
    builtin: bool,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    options: Options<'a>,
}

/// The first subgraph, its references not yet followed.
struct Plan<'a> {
    tensors: Vector<'a>,
    buffers: Vector<'a>,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    steps: Vec<Step<'a>>,
    subgraphs: usize,
}

impl<'a> Plan<'a> {
    fn read(buffer: &'a Buffer<'a>) -> Read<Self> {
        let model = buffer.root("the model")?;
        let codes = operator_names(model)?;
        let subgraphs = model.vector(schema::model::SUBGRAPHS, 4, "subgraph")?;
        let graph = subgraphs.table(0)?;
        let operators = graph.vector(schema::subgraph::OPERATORS, 4, "operator")?;
        if operators.len() == 0 {
            return Err("the first subgraph has no operators".into());
        }
        Ok(Self {
            tensors: graph.vector(schema::subgraph::TENSORS, 4, "tensor")?,
            buffers: model.vector(schema::model::BUFFERS, 4, "buffer")?,
            inputs: graph.vector(schema::subgraph::INPUTS, 4, "input")?.ints()?,
            outputs: graph.vector(schema::subgraph::OUTPUTS, 4, "output")?.ints()?,
            steps: operators.tables().map(|t| step(t?, &codes)).collect::<Read<_>>()?,
            subgraphs: subgraphs.len(),
        })
    }

    fn build(&self, name: &str, file: &Bytes) -> Result<Imported, Fault> {
        let mut builder = Builder {
            plan: self,
            file,
            filters: Filters::default(),
            graph: ModelGraph::new(name, Layout::ChannelsLast),
            ids: BTreeMap::new(),
            made: self.steps.iter().flat_map(|s| &s.outputs).copied().collect(),
            handed_in: self.inputs.iter().copied().collect(),
            volume_filters: self.volume_filters(),
        };
        for index in &self.inputs {
            builder.tensor(*index)?;
        }
        let mut opaque = BTreeMap::new();
        for (index, step) in self.steps.iter().enumerate() {
            builder.operator(index, step, &mut opaque)?;
        }
        let outputs: Vec<_> =
            self.outputs.iter().map(|index| builder.tensor(*index)).collect::<Result<_, _>>()?;
        let (mut graph, filters) = (builder.graph, builder.filters);
        graph.set_outputs(outputs.into_iter().flatten().collect());
        graph.notes.extend(opaque.iter().map(|(native, count)| opaque_note(native, *count)));
        if self.subgraphs > 1 {
            graph.notes.push(format!(
                "the first subgraph is read; {} more (bodies of control flow, entries) are not",
                self.subgraphs - 1
            ));
        }
        Ok(Imported { graph, filters })
    }

    /// Filters of convolutions over volumes, which the format stores in another order of axes
    /// than all its other weights.
    fn volume_filters(&self) -> BTreeMap<i32, [usize; 5]> {
        let filter = |step: &Step<'_>| {
            let axes = match step.native.as_str() {
                "CONV_3D" => [4, 0, 1, 2, 3],
                "CONV_3D_TRANSPOSE" => [3, 0, 1, 2, 4],
                _ => return None,
            };
            Some((*step.inputs.get(1)?, axes))
        };
        self.steps.iter().filter_map(filter).collect()
    }
}

/// The name of each entry of the file's operator table, and whether it is a builtin one.
fn operator_names(model: Table<'_>) -> Read<Vec<(String, bool)>> {
    let builtin: Vec<_> = schema::BUILTIN_OPERATORS.split_whitespace().collect();
    let name = |code: Read<Table<'_>>| {
        use schema::operator_code::{CODE, CUSTOM_CODE, DEPRECATED_CODE};
        let code = code?;
        // The byte-sized field holds a placeholder for codes past its range.
        let number = usize::from(code.byte(DEPRECATED_CODE)?).max(code.index(CODE)?);
        let custom = code.text(CUSTOM_CODE, "custom operator name")?;
        if custom.len() > NAME_LIMIT {
            return Err(format!("a custom operator name of {} bytes", custom.len()));
        }
        Ok(match builtin.get(number) {
            _ if number == schema::CUSTOM && !custom.is_empty() => (custom, false),
            Some(name) => ((*name).to_owned(), true),
            None => (format!("BUILTIN_{number}"), true),
        })
    };
    model.vector(schema::model::OPERATOR_CODES, 4, "operator code")?.tables().map(name).collect()
}

fn step<'a>(table: Table<'a>, codes: &[(String, bool)]) -> Read<Step<'a>> {
    use schema::operator::{INPUTS, OPCODE_INDEX, OPTIONS, OPTIONS_TYPE, OUTPUTS};
    let index = table.index(OPCODE_INDEX)?;
    let (native, builtin) = codes.get(index).cloned().ok_or_else(|| {
        format!("an operator has code {index}, but the file lists {}", codes.len())
    })?;
    Ok(Step {
        native,
        builtin,
        inputs: table.vector(INPUTS, 4, "operator input")?.ints()?,
        outputs: table.vector(OUTPUTS, 4, "operator output")?.ints()?,
        options: Options {
            kind: table.byte(OPTIONS_TYPE)?,
            table: table.child(OPTIONS, "operator options")?,
        },
    })
}

fn opaque_note(native: &str, count: usize) -> String {
    let reason = match native {
        "IF" | "WHILE" | "CALL" | "CALL_ONCE" | "STABLEHLO_WHILE" | "STABLEHLO_COMPOSITE" => {
            "its bodies are not read"
        }
        _ => "it is not understood",
    };
    format!("operator type `{native}` ({count} of them): {reason}, so its work is not counted")
}

struct Builder<'a> {
    plan: &'a Plan<'a>,
    file: &'a Bytes,
    filters: Filters,
    graph: ModelGraph,
    ids: BTreeMap<i32, TensorId>,
    made: BTreeSet<i32>,
    handed_in: BTreeSet<i32>,
    volume_filters: BTreeMap<i32, [usize; 5]>,
}

impl Builder<'_> {
    fn operator(
        &mut self,
        index: usize,
        step: &Step<'_>,
        opaque: &mut BTreeMap<String, usize>,
    ) -> Result<(), Fault> {
        let name = format!("{}_{index}", step.native.to_lowercase());
        let in_operator = |reason: String| format!("operator `{name}`: {reason}");
        if step.builtin && self.recurrent(&name, step)? {
            return Ok(());
        }
        let mut inputs = step.inputs.iter().map(|i| self.tensor(*i)).collect::<Result<_, _>>()?;
        let outputs: Vec<_> =
            step.outputs.iter().map(|i| self.tensor(*i)).collect::<Result<_, Fault>>()?;
        let outputs: Vec<_> = outputs.into_iter().flatten().collect();
        let (mut op, mut fused_activation) = (None, None);
        if step.builtin {
            op = operators::operation(&step.native, step.options).map_err(in_operator)?;
            fused_activation = operators::fused_activation(&step.native, step.options)
                .map_err(|reason| format!("operator `{name}`: {reason}"))?;
        }
        if let Some(Op::Convolution(convolution)) = &mut op {
            if convolution.transposed {
                put_data_first(&mut inputs);
            }
            let depthwise = step.native == "DEPTHWISE_CONV_2D";
            convolution.groups = self.groups(depthwise, &inputs);
        }
        operators::put_data_first(&step.native, &mut inputs);
        if op.is_none() {
            *opaque.entry(step.native.clone()).or_default() += 1;
        }
        let native = step.native.clone();
        let op = op.unwrap_or(Op::Opaque);
        let operator = Operator { fused_activation, ..Operator::new(name, native, op) };
        self.graph.add_operator(operator, &inputs, &outputs)?;
        Ok(())
    }

    /// Channel groups: all input channels for a depthwise convolution, otherwise as many as the
    /// filters' channels go into the input's.
    fn groups(&self, depthwise: bool, inputs: &[Option<TensorId>]) -> u64 {
        let shape = |port: usize| {
            let id = inputs.get(port).copied().flatten()?;
            self.graph.tensor(id).shape.as_ref()
        };
        let channels = shape(0).map_or(1, Shape::last);
        if depthwise {
            return channels.max(1);
        }
        channels.checked_div(shape(1).map_or(1, Shape::last)).unwrap_or(1).max(1)
    }

    /// The tensor of an index; -1 is an optional one left out.
    fn tensor(&mut self, index: i32) -> Result<Option<TensorId>, Fault> {
        if index == -1 {
            return Ok(None);
        }
        if let Some(id) = self.ids.get(&index) {
            return Ok(Some(*id));
        }
        let place = usize::try_from(index).map_err(|_| format!("a tensor has index {index}"))?;
        let table = self.plan.tensors.table(place)?;
        let mut tensor = self.describe(index, place, table)?;
        if self.graph.tensor_named(&tensor.name).is_some() || tensor.name.is_empty() {
            tensor.name = self.fresh(&format!("{}#{index}", tensor.name));
        }
        let weights = self.weights(index, table, &tensor)?;
        let id = self.graph.add_tensor(tensor)?;
        self.ids.insert(index, id);
        self.filters.weights.extend(weights.map(|weights| (id, weights)));
        Ok(Some(id))
    }

    /// The numbers of a constant, unless they are packed or stored in another order of axes.
    fn weights(&self, index: i32, table: Table<'_>, tensor: &Tensor) -> Read<Option<Weights>> {
        use schema::quantization::{DIMENSION, ZERO_POINT};
        use schema::tensor::{BUFFER, QUANTIZATION, SPARSITY};
        let packed = table.has(SPARSITY)? || self.volume_filters.contains_key(&index);
        let Some(shape) = tensor.shape.clone().filter(|_| !packed) else { return Ok(None) };
        if tensor.role != TensorRole::Constant || shape.rank() < 2 {
            return Ok(None);
        }
        let range = self.stored(table.index(BUFFER)?)?;
        let quantization = table.child(QUANTIZATION, "quantization")?;
        let (mut zero_points, mut zero_axis) = (Vec::new(), 0);
        if let Some(quantization) = quantization {
            zero_points = quantization.vector(ZERO_POINT, 8, "zero point")?.longs()?;
            zero_axis = usize::try_from(quantization.int(DIMENSION, 0)?).unwrap_or(usize::MAX);
        }
        // The range lies within the file, which stored bytes are checked against.
        let place = Place::Here(self.file.slice(range));
        Ok(Some(Weights { place, element: tensor.element, shape, zero_points, zero_axis }))
    }

    fn describe(&mut self, index: i32, place: usize, table: Table<'_>) -> Read<Tensor> {
        use schema::tensor::{NAME, SHAPE, TYPE};
        // The converter joins the names of all it fused into one tensor; the first is the result's.
        let whole = table.text(NAME, "tensor name")?;
        let name = printable(whole.split(';').next().unwrap_or_default().to_owned());
        let extents = table.vector(SHAPE, 4, "tensor shape")?.ints()?;
        let mut extents = extents
            .into_iter()
            .map(|e| {
                u64::try_from(e).map_err(|_| format!("tensor {place} `{name}` has extent {e}"))
            })
            .collect::<Read<Vec<u64>>>()?;
        let axes = self.volume_filters.get(&index).filter(|axes| axes.len() == extents.len());
        if let Some(axes) = axes {
            extents = axes.iter().filter_map(|axis| extents.get(*axis).copied()).collect();
        }
        let shape = Shape(extents);
        shape.check_given().map_err(|reason| format!("tensor {place} `{name}`: {reason}"))?;
        let element = schema::element(table.byte(TYPE)?);
        let mut tensor = Tensor::new(name, Some(shape), element, TensorRole::Activation);
        tensor.role = self.role(index, table, &tensor)?;
        if tensor.role.is_handed_in() {
            self.note_dynamic(table, &tensor)?;
        }
        Ok(tensor)
    }

    fn role(&mut self, index: i32, table: Table<'_>, tensor: &Tensor) -> Read<TensorRole> {
        use schema::tensor::{BUFFER, IS_VARIABLE, SPARSITY};
        let stored = self.stored(table.index(BUFFER)?)?.len() as u64;
        if stored > 0 {
            let needed = tensor.bytes().unwrap_or(u64::MAX);
            if needed > stored && !table.has(SPARSITY)? {
                let Tensor { name, element, .. } = tensor;
                let shape = tensor.shape.clone().unwrap_or_default();
                return Err(format!(
                    "tensor `{name}` of {shape} {element} does not fit its buffer of {stored} bytes"
                ));
            }
            return Ok(TensorRole::Constant);
        }
        Ok(if self.made.contains(&index) {
            TensorRole::Activation
        } else if self.handed_in.contains(&index) {
            TensorRole::Input
        } else if tensor.elements() == Some(0) {
            // The axes of a reshape to a scalar: stored, but with nothing in it.
            TensorRole::Constant
        } else {
            let (role, what) = if table.byte(IS_VARIABLE)? != 0 {
                (TensorRole::State, "is a state kept between runs")
            } else {
                (TensorRole::Input, "counts as an input: it has no data and no maker")
            };
            self.graph.notes.push(format!("tensor `{}` {what}", tensor.name));
            role
        })
    }

    /// Where the data of a buffer lies in the file, which may be behind the flatbuffer proper.
    fn stored(&self, place: usize) -> Read<Range<usize>> {
        use schema::buffer::{DATA, OFFSET, SIZE};
        let table = self.plan.buffers.table(place)?;
        let (offset, size) = (table.long(OFFSET)?, table.long(SIZE)?);
        if offset <= 1 {
            return Ok(table.vector(DATA, 1, "buffer data")?.byte_range());
        }
        let length = self.file.len();
        let end = offset.checked_add(size).and_then(|end| usize::try_from(end).ok());
        end.filter(|end| *end <= length).map(|end| offset as usize..end).ok_or_else(|| {
            format!("buffer {place} has {size} bytes at byte {offset}, but the file has {length}")
        })
    }

    fn note_dynamic(&mut self, table: Table<'_>, tensor: &Tensor) -> Read<()> {
        let signature = table.vector(schema::tensor::SHAPE_SIGNATURE, 4, "shape signature")?;
        let open: Vec<_> = (signature.ints()?.iter().enumerate())
            .filter(|(_, extent)| **extent < 0)
            .map(|(axis, _)| axis.to_string())
            .collect();
        if !open.is_empty() {
            let (name, axes) = (&tensor.name, open.join(", "));
            let shape = tensor.shape.clone().unwrap_or_default();
            let note = format!(
                "input `{name}` is open in dimension {axes}; its stored shape {shape} is used"
            );
            self.graph.notes.push(note);
        }
        Ok(())
    }
}

/// A transposed convolution has `(output shape, weights, data, bias)`.
fn put_data_first(inputs: &mut Vec<Option<TensorId>>) {
    if inputs.len() >= 3 {
        let shape = inputs.remove(0);
        inputs.swap(0, 1);
        inputs.resize(inputs.len().max(3), None);
        inputs.push(shape);
    }
}

#[cfg(test)]
mod tests;
