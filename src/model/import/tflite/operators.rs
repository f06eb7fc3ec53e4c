//! What the operators of the format compute.

use super::flatbuffer::{Read, Table};
use super::schema::{self, WindowFields};
use crate::model::{
    Convolution, ElementFunction, Movement, Op, Padding, Pool, PoolFunction, Reduction,
};

/// The options table of an operator, with its member number in the union.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a> {
    pub kind: u8,
    pub table: Option<Table<'a>>,
}

impl<'a> Options<'a> {
    /// The table, when it is of the kind that the operator takes.
    pub(super) fn of_kind(&self, kind: u8) -> Read<Option<Table<'a>>> {
        match self.table {
            Some(_) if self.kind != kind => {
                Err(format!("options of kind {} where kind {kind} belongs", self.kind))
            }
            table => Ok(table),
        }
    }

    fn extents(&self, kind: u8, fields: &[usize]) -> Read<Vec<u64>> {
        let table = self.of_kind(kind)?;
        let extent = |field: &usize| {
            let value = table.map_or(Ok(1), |t| t.int(*field, 1))?;
            u64::try_from(value).ok().filter(|v| *v > 0).ok_or_else(|| {
                format!("an extent, stride or dilation of {value} in options of kind {kind}")
            })
        };
        fields.iter().map(extent).collect()
    }

    fn padding(&self, kind: u8) -> Read<Padding> {
        let code = self.of_kind(kind)?.map_or(Ok(0), |t| t.byte(schema::PADDING))?;
        Ok(if code == 0 { Padding::Same } else { Padding::Valid })
    }
}

/// Moves inputs of a few operators that do not start with their data; where there are none, a gap
/// takes their place.
pub(super) fn put_data_first<T>(native: &str, inputs: &mut Vec<Option<T>>) {
    match native {
        "EMBEDDING_LOOKUP" | "SPLIT" if inputs.len() >= 2 => inputs.swap(0, 1),
        "FILL" | "RANGE" => inputs.insert(0, None),
        _ => {}
    }
}

/// The activation done on the way out, as the format calls it.
pub(super) fn fused_activation(native: &str, options: Options<'_>) -> Read<Option<String>> {
    let Some((kind, field)) = schema::activation_field(native) else { return Ok(None) };
    let code = options.of_kind(kind)?.map_or(Ok(0), |t| t.byte(field))?;
    Ok(schema::activation(code).map(str::to_owned))
}

/// What an operator computes; channel groups are left at 1, since they come from shapes.
/// `None` is an operator that is not understood.
pub(super) fn operation(native: &str, options: Options<'_>) -> Read<Option<Op>> {
    Ok(Some(match native {
        "CONV_2D" => convolution(options, schema::CONV_2D, false)?,
        "DEPTHWISE_CONV_2D" => convolution(options, schema::DEPTHWISE_CONV_2D, false)?,
        "CONV_3D" => convolution(options, schema::CONV_3D, false)?,
        "TRANSPOSE_CONV" => convolution(options, schema::TRANSPOSE_CONV, true)?,
        "CONV_3D_TRANSPOSE" => convolution(options, schema::CONV_3D, true)?,
        "FULLY_CONNECTED" => Op::FullyConnected,
        "BATCH_MATMUL" => {
            let (kind, first, second) = schema::BATCH_MATMUL;
            let table = options.of_kind(kind)?;
            let flag = |field| table.map_or(Ok(0), |t| t.byte(field)).map(|b| b != 0);
            Op::MatMul { transpose_a: flag(first)?, transpose_b: flag(second)? }
        }
        "AVERAGE_POOL_2D" => pool(options, PoolFunction::Average)?,
        "MAX_POOL_2D" => pool(options, PoolFunction::Maximum)?,
        "L2_POOL_2D" => pool(options, PoolFunction::Norm)?,
        "LOCAL_RESPONSE_NORMALIZATION" => {
            let (kind, field) = schema::LRN_RADIUS;
            let radius = options.of_kind(kind)?.map_or(Ok(0), |t| t.int(field, 0))?;
            Op::LocalResponseNormalisation { size: 2 * u64::try_from(radius).unwrap_or(0) + 1 }
        }
        "L2_NORMALIZATION" => Op::Normalisation,
        "SOFTMAX" | "LOG_SOFTMAX" => Op::Softmax,
        "QUANTIZE" | "DEQUANTIZE" | "CAST" | "FAKE_QUANT" | "DENSIFY" | "STABLEHLO_CONVERT" => {
            Op::Convert
        }
        _ => {
            return Ok(rearrangement(native)
                .or_else(|| reduction(native))
                .or_else(|| element_wise(native)));
        }
    }))
}

fn convolution(options: Options<'_>, fields: WindowFields, transposed: bool) -> Read<Op> {
    let mut dilations = options.extents(fields.options, fields.dilations)?;
    dilations.resize(fields.strides.len(), 1);
    Ok(Op::Convolution(Convolution {
        strides: options.extents(fields.options, fields.strides)?,
        dilations,
        padding: options.padding(fields.options)?,
        groups: 1,
        transposed,
    }))
}

fn pool(options: Options<'_>, function: PoolFunction) -> Read<Op> {
    let fields = schema::POOL_2D;
    Ok(Op::Pool(Pool {
        function,
        kernel: options.extents(fields.options, fields.filter)?,
        strides: options.extents(fields.options, fields.strides)?,
        padding: options.padding(fields.options)?,
        dilations: Vec::new(),
    }))
}

fn rearrangement(native: &str) -> Option<Op> {
    Some(Op::Movement(match native {
        "RESHAPE" | "SQUEEZE" | "EXPAND_DIMS" | "BITCAST" | "STABLEHLO_RESHAPE" | "SHAPE"
        | "RANK" | "BROADCAST_ARGS" | "VAR_HANDLE" | "READ_VARIABLE" => Movement::View,
        "TRANSPOSE"
        | "STABLEHLO_TRANSPOSE"
        | "SPACE_TO_DEPTH"
        | "DEPTH_TO_SPACE"
        | "SPACE_TO_BATCH_ND"
        | "BATCH_TO_SPACE_ND"
        | "REVERSE_V2"
        | "REVERSE_SEQUENCE" => Movement::Transpose,
        "CONCATENATION" | "PACK" | "STABLEHLO_CONCATENATE" => Movement::Concatenate,
        "SLICE"
        | "STRIDED_SLICE"
        | "SPLIT"
        | "SPLIT_V"
        | "UNPACK"
        | "STABLEHLO_SLICE"
        | "STABLEHLO_DYNAMIC_SLICE"
        | "REAL"
        | "IMAG" => Movement::Slice,
        "GATHER" | "GATHER_ND" | "EMBEDDING_LOOKUP" | "STABLEHLO_GATHER" => Movement::Gather,
        "SCATTER_ND"
        | "SPARSE_TO_DENSE"
        | "ONE_HOT"
        | "DYNAMIC_UPDATE_SLICE"
        | "MATRIX_DIAG"
        | "MATRIX_SET_DIAG"
        | "ASSIGN_VARIABLE"
        | "STABLEHLO_SCATTER"
        | "STABLEHLO_DYNAMIC_UPDATE_SLICE" => Movement::Scatter,
        "PAD" | "PADV2" | "MIRROR_PAD" | "DILATE" | "STABLEHLO_PAD" => Movement::Pad,
        "TILE"
        | "BROADCAST_TO"
        | "FILL"
        | "ZEROS_LIKE"
        | "RANGE"
        | "STABLEHLO_IOTA"
        | "STABLEHLO_BROADCAST_IN_DIM" => Movement::Broadcast,
        "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR" => Movement::Resize,
        _ => return None,
    }))
}

fn reduction(native: &str) -> Option<Op> {
    Some(Op::Reduce(match native {
        "SUM" | "CUMSUM" | "SEGMENT_SUM" | "UNSORTED_SEGMENT_SUM" => Reduction::Sum,
        "MEAN" => Reduction::Mean,
        "REDUCE_MAX"
        | "REDUCE_MIN"
        | "REDUCE_ANY"
        | "REDUCE_ALL"
        | "ARG_MAX"
        | "ARG_MIN"
        | "UNSORTED_SEGMENT_MAX"
        | "UNSORTED_SEGMENT_MIN" => Reduction::Extremum,
        "REDUCE_PROD" | "UNSORTED_SEGMENT_PROD" => Reduction::Product,
        _ => return None,
    }))
}

fn element_wise(native: &str) -> Option<Op> {
    use ElementFunction as F;
    // The StableHLO set repeats the plain one under a prefix.
    Some(Op::Elementwise(match native.strip_prefix("STABLEHLO_").unwrap_or(native) {
        "ADD" | "ADD_N" => F::Add,
        "SUB" | "SUBTRACT" => F::Subtract,
        "MUL" | "MULTIPLY" | "SQUARE" | "SQUARED_DIFFERENCE" => F::Multiply,
        "DIV" | "DIVIDE" | "FLOOR_DIV" | "FLOOR_MOD" | "REMAINDER" => F::Divide,
        "MAXIMUM" | "MINIMUM" => F::Extremum,
        "LESS" | "LESS_EQUAL" | "GREATER" | "GREATER_EQUAL" | "EQUAL" | "NOT_EQUAL" | "COMPARE"
        | "LOGICAL_OR" | "LOGICAL_AND" | "LOGICAL_NOT" | "OR" | "AND" | "BITWISE_XOR"
        | "RIGHT_SHIFT" | "SHIFT_LEFT" => F::Compare,
        "SELECT" | "SELECT_V2" => F::Select,
        "RELU" | "RELU6" | "RELU_N1_TO_1" | "RELU_0_TO_1" | "LEAKY_RELU" | "PRELU" | "CLAMP" => {
            F::Clip
        }
        "EXP" | "EXPONENTIAL" | "LOG" | "SIN" | "COS" | "COSINE" | "SQRT" | "RSQRT" | "CBRT"
        | "POW" | "POWER" | "ATAN2" | "COMPLEX_ABS" => F::Transcendental,
        "LOGISTIC" | "TANH" | "ELU" | "GELU" | "HARD_SWISH" => F::SmoothActivation,
        "ABS" | "NEG" | "NEGATE" | "FLOOR" | "CEIL" | "ROUND" | "SIGN" => F::Unary,
        _ => return None,
    }))
}
