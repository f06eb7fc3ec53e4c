//! Small files made here, table by table.

use crate::model::import::from_bytes;
use crate::model::{
    Bindings, ElementFunction, ElementType, Gemm, Layer, ModelError, ModelGraph, OpKind,
    TensorRole, stored_parameters,
};

/// A field of a table.
#[derive(Clone)]
enum Field {
    Absent,
    Byte(u8),
    Int(i32),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Bytes(Vec<u8>),
    Table(Vec<Field>),
    Tables(Vec<Vec<Field>>),
}
use Field::{Absent, Byte, Bytes, Int, Ints, Longs, Table, Tables};

fn text(text: &str) -> Field {
    Bytes(text.as_bytes().to_vec())
}

/// Writes front to back: what a table points to stands behind it.
fn write(bytes: &mut Vec<u8>, fields: &[Field]) -> usize {
    let vtable = bytes.len();
    let count = fields.len() as u16;
    bytes.extend((4 + 2 * count).to_le_bytes());
    bytes.extend((4 + 4 * count).to_le_bytes());
    for (number, field) in (0u16..).zip(fields) {
        let offset = if matches!(field, Absent) { 0 } else { 4 + 4 * number };
        bytes.extend(offset.to_le_bytes());
    }
    let table = bytes.len();
    bytes.extend(((table - vtable) as i32).to_le_bytes());
    for field in fields {
        let value = match field {
            Byte(byte) => i32::from(*byte),
            Int(int) => *int,
            _ => 0,
        };
        bytes.extend(value.to_le_bytes());
    }
    for (number, field) in fields.iter().enumerate() {
        let slot = table + 4 + 4 * number;
        let length = |bytes: &mut Vec<u8>, length: usize| {
            bytes.extend((length as u32).to_le_bytes());
            bytes.len() - 4
        };
        let target = match field {
            Absent | Byte(_) | Int(_) => continue,
            Table(fields) => write(bytes, fields),
            Ints(ints) => {
                let at = length(bytes, ints.len());
                bytes.extend(ints.iter().flat_map(|int| int.to_le_bytes()));
                at
            }
            Longs(longs) => {
                let at = length(bytes, longs.len());
                bytes.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
                at
            }
            Bytes(data) => {
                let at = length(bytes, data.len());
                bytes.extend(data);
                at
            }
            Tables(tables) => {
                let at = length(bytes, tables.len());
                bytes.extend(vec![0; 4 * tables.len()]);
                for (index, fields) in tables.iter().enumerate() {
                    let table = write(bytes, fields);
                    point(bytes, at + 4 + 4 * index, table);
                }
                at
            }
        };
        point(bytes, slot, target);
    }
    table
}

fn point(bytes: &mut [u8], slot: usize, target: usize) {
    bytes[slot..slot + 4].copy_from_slice(&((target - slot) as u32).to_le_bytes());
}

const INT8: u8 = 9;
const INT32: u8 = 2;

fn tensor(name: &str, shape: &[i32], element: u8, buffer: i32) -> Vec<Field> {
    vec![Ints(shape.to_vec()), Byte(element), Int(buffer), text(name)]
}

fn operator(
    code: i32,
    inputs: &[i32],
    outputs: &[i32],
    options: Option<(u8, Vec<Field>)>,
) -> Vec<Field> {
    let (kind, table) = options.map_or((Absent, Absent), |(k, t)| (Byte(k), Table(t)));
    vec![Int(code), Ints(inputs.to_vec()), Ints(outputs.to_vec()), kind, table]
}

/// What differs from file to file.
struct Parts {
    codes: Vec<Vec<Field>>,
    tensors: Vec<Vec<Field>>,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    operators: Vec<Vec<Field>>,
    buffers: Vec<usize>,
    /// What some buffers hold; the others hold zeros.
    contents: Vec<(usize, Vec<u8>)>,
}

impl Parts {
    fn bytes(&self) -> Vec<u8> {
        let subgraph = vec![
            Tables(self.tensors.clone()),
            Ints(self.inputs.clone()),
            Ints(self.outputs.clone()),
            Tables(self.operators.clone()),
        ];
        let mut buffers: Vec<_> =
            self.buffers.iter().map(|size| vec![Bytes(vec![0; *size])]).collect();
        for (place, content) in &self.contents {
            buffers[*place] = vec![Bytes(content.clone())];
        }
        let codes = Tables(self.codes.clone());
        let model = [Int(3), codes, Tables(vec![subgraph]), Absent, Tables(buffers)];
        let mut bytes = b"\0\0\0\0TFL3".to_vec();
        let root = write(&mut bytes, &model);
        point(&mut bytes, 0, root);
        bytes
    }

    fn read(&self) -> Result<ModelGraph, ModelError> {
        from_bytes("small.tflite", &self.bytes(), &Bindings::default())
    }
}

/// A 3x3 convolution of stride 2 with a fused RELU6.
fn convolution() -> Parts {
    let options = vec![Byte(0), Int(2), Int(2), Byte(3)];
    Parts {
        codes: vec![vec![Byte(3)]],
        tensors: vec![
            tensor("x", &[1, 8, 8, 4], INT8, 0),
            tensor("w", &[16, 3, 3, 4], INT8, 1),
            tensor("y", &[1, 4, 4, 16], INT8, 0),
        ],
        inputs: vec![0],
        outputs: vec![2],
        operators: vec![operator(0, &[0, 1, -1], &[2], Some((1, options)))],
        buffers: vec![0, 16 * 9 * 4],
        contents: vec![],
    }
}

#[test]
fn a_convolution_is_read_with_its_activation() {
    let graph = convolution().read().unwrap();
    let layer = &graph.layers().unwrap()[0];
    assert_eq!((layer.name.as_str(), layer.native.as_str()), ("conv_2d_0", "CONV_2D"));
    assert_eq!((layer.work.kind, layer.work.macs), (OpKind::Conv, 16 * 16 * 36));
    assert_eq!(layer.work.element_ops, 16 * 16, "its RELU6");
    let operator = graph.operator(graph.operators().next().unwrap());
    assert_eq!(operator.fused_activation.as_deref(), Some("RELU6"));
    assert!(graph.notes.is_empty());
}

#[test]
fn operators_not_understood_are_opaque_and_noted_once() {
    let mut parts = convolution();
    parts.codes.push(vec![Byte(32), text("Sparkle")]);
    parts.codes.push(vec![Byte(127), Absent, Int(1), Int(4711)]);
    parts.tensors.extend([
        tensor("a", &[1], INT8, 0),
        tensor("", &[1], INT8, 0),
        tensor("a", &[1], INT8, 0),
    ]);
    parts.operators.push(operator(1, &[2], &[3], None));
    parts.operators.push(operator(1, &[3], &[4], None));
    parts.operators.push(operator(2, &[4], &[5], None));
    let graph = parts.read().unwrap();
    let layers = graph.layers().unwrap();
    let natives: Vec<_> = layers.iter().map(|layer| layer.native.as_str()).collect();
    assert_eq!(natives, ["CONV_2D", "Sparkle", "Sparkle", "BUILTIN_4711"]);
    assert!(layers[1..].iter().all(|layer| layer.work.kind == OpKind::Opaque));
    assert_eq!(graph.notes.len(), 2, "{:?}", graph.notes);
    assert!(graph.notes[1].contains("`Sparkle` (2 of them)"), "{:?}", graph.notes);
    for name in ["a", "#4", "a#5"] {
        assert!(graph.tensor_named(name).is_some(), "{name}");
    }
}

#[test]
fn a_transposed_convolution_has_its_data_first() {
    let options = vec![Byte(0), Int(2), Int(2)];
    let parts = Parts {
        codes: vec![vec![Byte(67)]],
        tensors: vec![
            tensor("s", &[4], INT32, 1),
            tensor("w", &[6, 3, 3, 4], INT8, 2),
            tensor("x", &[1, 5, 5, 4], INT8, 0),
            tensor("y", &[1, 10, 10, 6], INT8, 0),
        ],
        inputs: vec![2],
        outputs: vec![3],
        operators: vec![operator(0, &[0, 1, 2], &[3], Some((49, options)))],
        buffers: vec![0, 16, 6 * 9 * 4],
        contents: vec![],
    };
    let layer = parts.read().unwrap().layers().unwrap().remove(0);
    assert_eq!((layer.work.kind, layer.work.macs), (OpKind::TransposedConv, 25 * 4 * 54));
    assert_eq!(layer.work.input_bytes, 100);
    // Each of 25 points spreads its 4 channels over 9 points of 6 channels.
    assert_eq!(layer.work.gemm, Some(Gemm { groups: 1, m: 25, n: 54, k: 4 }));
    assert_eq!(layer.work.window, None);
}

#[test]
fn what_the_file_leaves_open_is_noted() {
    let mut parts = convolution();
    parts.tensors[0].extend([Absent, Absent, Absent, Ints(vec![-1, 8, 8, 4])]);
    parts.tensors[1][2] = Int(0);
    let graph = parts.read().unwrap();
    assert_eq!(graph.tensor(graph.tensor_named("w").unwrap()).role, TensorRole::Input);
    assert!(graph.notes[0].contains("`x` is open in dimension 0"), "{:?}", graph.notes);
    assert!(
        graph.notes[1].contains("`w` counts as an input: it has no data and no maker"),
        "{:?}",
        graph.notes
    );
}

#[test]
fn a_variable_is_a_state() {
    let mut parts = convolution();
    parts.tensors[1].resize(5, Absent);
    parts.tensors[1][2] = Int(0);
    parts.tensors[1].push(Byte(1));
    let graph = parts.read().unwrap();
    assert_eq!(graph.tensor(graph.tensor_named("w").unwrap()).role, TensorRole::State);
    assert_eq!(graph.notes, ["tensor `w` is a state kept between runs"]);
}

#[test]
fn faults_say_what_was_expected_where() {
    let fault = |change: &dyn Fn(&mut Parts)| {
        let mut parts = convolution();
        change(&mut parts);
        parts.read().unwrap_err().to_string()
    };
    let shown = fault(&|p| p.buffers[1] = 10);
    assert!(shown.contains("does not fit its buffer of 10 bytes"), "{shown}");
    let shown = fault(&|p| p.operators[0][1] = Ints(vec![0, 9]));
    assert!(shown.contains("tensor 9 is asked for, but there are 3"), "{shown}");
    let shown = fault(&|p| p.operators[0][0] = Int(5));
    assert!(shown.contains("an operator has code 5, but the file lists 1"), "{shown}");
    let shown = fault(&|p| p.operators[0][3] = Byte(5));
    assert!(shown.contains("operator `conv_2d_0`: options of kind 5"), "{shown}");
    let shown = fault(&|p| p.tensors[0][0] = Ints(vec![1, -8, 8, 4]));
    assert!(shown.contains("`x` has extent -8"), "{shown}");
    let shown = fault(&|p| p.operators.clear());
    assert!(shown.contains("no operators"), "{shown}");
    let shown = fault(&|p| p.codes[0] = vec![Byte(32), text(&"n".repeat(300))]);
    assert!(shown.contains("300 bytes"), "{shown}");
    let none = Bindings::default();
    let shown = from_bytes("any.tflite", b"\0\0\0\0TFL2", &none).unwrap_err().to_string();
    assert!(shown.contains("identifier TFL3"), "{shown}");
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let bytes = convolution().bytes();
    for length in 1..bytes.len() {
        let cut = from_bytes("cut.tflite", &bytes[..length], &Bindings::default());
        assert!(matches!(cut, Err(ModelError::Tflite { .. })), "{length}: {cut:?}");
    }
}

const FLOAT32: u8 = 0;

/// One recurrent operator; the last tensor is its result, constants have a buffer of their own.
fn recurrent(
    code: u8,
    shapes: &[(&[i32], u8)],
    inputs: &[i32],
    options: (u8, Vec<Field>),
) -> Result<ModelGraph, ModelError> {
    let mut buffers = vec![0];
    let mut tensors = Vec::new();
    for (index, (shape, stored)) in shapes.iter().enumerate() {
        let elements: i32 = shape.iter().product();
        let buffer = if *stored > 0 { buffers.len() as i32 } else { 0 };
        if *stored > 0 {
            buffers.push(4 * elements as usize);
        }
        tensors.push(tensor(&format!("t{index}"), shape, FLOAT32, buffer));
    }
    let result = shapes.len() as i32 - 1;
    let operators = vec![operator(0, inputs, &[result], Some(options))];
    let codes = vec![vec![Byte(code)]];
    let (inputs, outputs, contents) = (vec![0], vec![result], vec![]);
    Parts { codes, tensors, inputs, outputs, operators, buffers, contents }.read()
}

#[test]
fn a_sequence_lstm_with_projection_is_three_products() {
    // Two samples, five steps of three features, a state of four projected to two.
    let (w, r): (&[i32], &[i32]) = (&[4, 3], &[4, 2]);
    let mut shapes: Vec<(&[i32], u8)> = vec![(&[2, 5, 3], 0)];
    shapes.extend([(w, 1); 4]);
    shapes.extend([(r, 1); 4]);
    shapes.extend([(&[4][..], 1); 4]);
    shapes.extend([(&[2, 4][..], 1), (&[2, 5, 2], 0)]);
    let mut inputs: Vec<i32> = (0..9).collect();
    inputs.extend([-1, -1, -1, 9, 10, 11, 12, 13, -1, -1, -1]);
    let graph = recurrent(44, &shapes, &inputs, (71, vec![])).unwrap();
    let layers = graph.layers().unwrap();
    let names: Vec<_> = layers.iter().map(|layer| layer.name.rsplit('.').next().unwrap()).collect();
    assert_eq!(names, ["input", "recurrence", "projection"]);
    let macs: Vec<_> = layers.iter().map(|layer| layer.work.macs).collect();
    assert_eq!(macs, [10 * 16 * 3, 10 * 16 * 2, 10 * 4 * 2]);
    let parameters: u64 = layers.iter().map(|layer| layer.work.parameters).sum();
    assert_eq!(parameters, 16 * 3 + 16 * 2 + 16 + 8);
    assert_eq!(layers[1].work.operands[1].repeats, 5, "its weights are read once a step");
    assert_eq!(stored_parameters(&graph), parameters, "each stored once");
    assert!(graph.notes.is_empty(), "{:?}", graph.notes);
}

#[test]
fn simple_and_rank_filtered_cells_are_counted() {
    let shapes: Vec<(&[i32], u8)> =
        vec![(&[5, 2, 3], 0), (&[4, 3], 1), (&[4, 4], 1), (&[4], 1), (&[2, 4], 0), (&[5, 2, 4], 0)];
    let time_first = (31, vec![Byte(1)]);
    let graph = recurrent(35, &shapes, &[0, 1, 2, 3, 4], time_first).unwrap();
    let macs: Vec<_> = graph.layers().unwrap().iter().map(|layer| layer.work.macs).collect();
    assert_eq!(macs, [10 * 4 * 3, 10 * 4 * 4]);
    // Six filters of rank two over a memory of seven.
    let shapes: Vec<(&[i32], u8)> =
        vec![(&[1, 3], 0), (&[6, 3], 1), (&[6, 7], 1), (&[3], 1), (&[1, 42], 0), (&[1, 3], 0)];
    let graph = recurrent(27, &shapes, &[0, 1, 2, 3, 4], (6, vec![Int(2), Byte(1)])).unwrap();
    let layers = graph.layers().unwrap();
    let clips = |layer: &Layer| {
        layer.work.element_ops_by_function.iter().any(|(f, n)| f == ElementFunction::Clip && n == 3)
    };
    assert!(layers.last().is_some_and(clips), "its RELU on three units");
    let macs: u64 = layers.iter().map(|layer| layer.work.macs).sum();
    assert_eq!(macs, 6 * 3 + 6 * 7);
    assert_eq!(layers.iter().map(|layer| layer.work.parameters).sum::<u64>(), 18 + 42 + 3);
    assert!(graph.notes.iter().all(|note| note.contains("no maker")), "{:?}", graph.notes);
}

#[test]
fn a_recurrent_cell_of_another_form_is_opaque_and_said() {
    // An LSTM whose input gate is coupled: its weights are left out.
    let shapes: Vec<(&[i32], u8)> = vec![(&[2, 5, 3], 0), (&[4, 3], 1), (&[2, 5, 4], 0)];
    let graph = recurrent(44, &shapes, &[0, -1, 1, 1, 1, -1, 1, 1, 1], (71, vec![])).unwrap();
    assert_eq!(graph.layers().unwrap()[0].work.kind, OpKind::Opaque);
    assert!(graph.notes[0].contains("UNIDIRECTIONAL_SEQUENCE_LSTM"), "{:?}", graph.notes);
}

const UINT8: u8 = 3;
const INT64: u8 = 4;
const INT16: u8 = 7;

/// A pointwise convolution of four filters on three channels.
fn pointwise(data: u8, weights: u8, bias: u8, filters: &[u8], zero_points: &[i64]) -> ModelGraph {
    let mut parts = convolution();
    parts.tensors = vec![
        tensor("x", &[1, 2, 2, 3], data, 0),
        tensor("w", &[4, 1, 1, 3], weights, 1),
        tensor("b", &[4], bias, 2),
        tensor("y", &[1, 2, 2, 4], data, 0),
    ];
    let quantization = vec![Absent, Absent, Absent, Longs(zero_points.to_vec())];
    parts.tensors[1].push(Table(quantization));
    parts.outputs = vec![3];
    let options = vec![Byte(1), Int(1), Int(1)];
    parts.operators = vec![operator(0, &[0, 1, 2], &[3], Some((1, options)))];
    parts.buffers = vec![0, filters.len(), 4 * 8];
    parts.contents = vec![(1, filters.to_vec())];
    parts.read().unwrap()
}

fn live(graph: &ModelGraph) -> (u64, u64, u64) {
    let work = &graph.layers().unwrap()[0].work;
    let filter = graph.tensor(graph.tensor_named("w").unwrap());
    (work.macs, work.live_macs, filter.statistics.unwrap().zero_filters)
}

#[test]
fn every_scheme_of_quantisation_is_read_with_its_zeros() {
    // The last of four filters is zero: symmetric weights of wide and narrow activations.
    let filters = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0];
    for (data, bias) in [(INT8, INT32), (INT16, INT64), (FLOAT32, FLOAT32)] {
        let graph = pointwise(data, INT8, bias, &filters, &[0; 4]);
        assert_eq!(live(&graph), (48, 36, 1), "type {data}");
        assert!(graph.notes.is_empty(), "{:?}", graph.notes);
    }
    // One zero point for all weights, which then are no zeros themselves.
    let asymmetric = [1, 2, 3, 0, 0, 0, 7, 8, 9, 128, 128, 128];
    assert_eq!(live(&pointwise(UINT8, UINT8, INT32, &asymmetric, &[128])), (48, 36, 1));
    // One for each filter.
    let by_filter = [5, 5, 5, 0, 0, 0, 7, 8, 9, 128, 128, 128];
    let graph = pointwise(UINT8, UINT8, INT32, &by_filter, &[5, 1, 0, 128]);
    assert_eq!(live(&graph), (48, 24, 2));
    let halves: Vec<u8> = filters.iter().flat_map(|n| [0, *n]).collect();
    const FLOAT16: u8 = 1;
    assert_eq!(live(&pointwise(FLOAT32, FLOAT16, FLOAT32, &halves, &[])), (48, 36, 1));
    // Two weights of four bits to a byte.
    const INT4: u8 = 17;
    let nibbles = [0x21, 0x43, 0x65, 0x87, 0x09, 0x00];
    assert_eq!(live(&pointwise(INT8, INT4, INT32, &nibbles, &[0; 4])), (48, 36, 1));
}

#[test]
fn a_hybrid_layer_computes_in_float_and_stores_eight_bits() {
    let graph = pointwise(FLOAT32, INT8, FLOAT32, &[1; 12], &[0; 4]);
    let work = graph.layers().unwrap().remove(0).work;
    assert_eq!((work.element, work.weight_bytes), (ElementType::Float32, 12 + 4 * 4));
    let wide = pointwise(INT16, INT8, INT64, &[1; 12], &[0; 4]);
    let work = wide.layers().unwrap().remove(0).work;
    assert_eq!((work.element, work.weight_bytes), (ElementType::Int16, 12 + 4 * 8));
}

#[test]
fn a_table_is_the_data_of_a_lookup_and_an_axis_is_no_parameter() {
    let shapes: Vec<(&[i32], u8)> = vec![(&[2], 0), (&[1000, 16], 1), (&[2, 16], 0)];
    let graph = recurrent(7, &shapes, &[0, 1], (0, vec![])).unwrap();
    let work = graph.layers().unwrap().remove(0).work;
    assert_eq!((work.parameters, work.weight_bytes), (16_000, 2 * 16 * 4), "two rows are read");
    let shapes: Vec<(&[i32], u8)> = vec![(&[4, 6], 0), (&[1], 1), (&[4, 6], 0)];
    let graph = recurrent(49, &shapes, &[1, 0], (35, vec![])).unwrap();
    assert_eq!(graph.layers().unwrap()[0].work.parameters, 0);
}

#[test]
fn names_that_look_like_numbered_ones_are_told_apart() {
    let mut parts = convolution();
    parts.tensors.extend([
        tensor("a#5", &[1], INT8, 0),
        tensor("a\u{1}", &[1], INT8, 0),
        tensor("a\u{1}", &[1], INT8, 0),
        tensor("a\u{2}", &[1], INT8, 0),
    ]);
    parts.codes.push(vec![Byte(32), text("Sparkle")]);
    parts.operators.push(operator(1, &[2, 3, 4], &[5, 6], None));
    let graph = parts.read().unwrap();
    assert_eq!(graph.tensors().len(), 7);
}
