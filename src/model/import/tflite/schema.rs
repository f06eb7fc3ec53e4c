//! Numbers of the TFLite format: fields of its tables, element types, operator codes.
//!
//! From `schema.fbs` version 3 of TensorFlow Lite (LiteRT). A field is counted from 0 in the order
//! of its table; a union takes two numbers, the type first.

use crate::model::ElementType;

/// `table Model`.
pub(super) mod model {
    pub const OPERATOR_CODES: usize = 1;
    pub const SUBGRAPHS: usize = 2;
    pub const BUFFERS: usize = 4;
}

/// `table SubGraph`.
pub(super) mod subgraph {
    pub const TENSORS: usize = 0;
    pub const INPUTS: usize = 1;
    pub const OUTPUTS: usize = 2;
    pub const OPERATORS: usize = 3;
}

/// `table Tensor`.
pub(super) mod tensor {
    pub const SHAPE: usize = 0;
    pub const TYPE: usize = 1;
    pub const BUFFER: usize = 2;
    pub const NAME: usize = 3;
    pub const QUANTIZATION: usize = 4;
    pub const IS_VARIABLE: usize = 5;
    pub const SPARSITY: usize = 6;
    pub const SHAPE_SIGNATURE: usize = 7;
}

/// `table QuantizationParameters`.
pub(super) mod quantization {
    pub const ZERO_POINT: usize = 3;
    pub const DIMENSION: usize = 6;
}

/// `table Buffer`; offset and size are for data behind the end of the flatbuffer.
pub(super) mod buffer {
    pub const DATA: usize = 0;
    pub const OFFSET: usize = 1;
    pub const SIZE: usize = 2;
}

/// `table Operator`.
pub(super) mod operator {
    pub const OPCODE_INDEX: usize = 0;
    pub const INPUTS: usize = 1;
    pub const OUTPUTS: usize = 2;
    pub const OPTIONS_TYPE: usize = 3;
    pub const OPTIONS: usize = 4;
}

/// `table OperatorCode`; files written before 2020 have the code in the first field only.
pub(super) mod operator_code {
    pub const DEPRECATED_CODE: usize = 0;
    pub const CUSTOM_CODE: usize = 1;
    pub const CODE: usize = 3;
}

/// Where the options of an operator stand in its options table.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowFields {
    /// Member of `union BuiltinOptions`.
    pub options: u8,
    /// Strides by spatial axis, outermost first.
    pub strides: &'static [usize],
    /// Dilations by spatial axis; none for a table without them.
    pub dilations: &'static [usize],
    /// Window extents, for pooling.
    pub filter: &'static [usize],
    /// The activation done on the way out.
    pub activation: usize,
}

/// The field `padding` comes first in each table that has one.
pub(super) const PADDING: usize = 0;

pub(super) const CONV_2D: WindowFields =
    WindowFields { options: 1, strides: &[2, 1], dilations: &[5, 4], filter: &[], activation: 3 };
pub(super) const DEPTHWISE_CONV_2D: WindowFields =
    WindowFields { options: 2, strides: &[2, 1], dilations: &[6, 5], filter: &[], activation: 4 };
pub(super) const CONV_3D: WindowFields = WindowFields {
    options: 106,
    strides: &[1, 3, 2],
    dilations: &[5, 7, 6],
    filter: &[],
    activation: 4,
};
pub(super) const TRANSPOSE_CONV: WindowFields =
    WindowFields { options: 49, strides: &[2, 1], dilations: &[], filter: &[], activation: 3 };
pub(super) const POOL_2D: WindowFields =
    WindowFields { options: 5, strides: &[2, 1], dilations: &[], filter: &[4, 3], activation: 5 };

/// Where the fused activation stands, by operator: member of the options union, field.
pub(super) fn activation_field(native: &str) -> Option<(u8, usize)> {
    let window = |fields: WindowFields| (fields.options, fields.activation);
    Some(match native {
        "CONV_2D" => window(CONV_2D),
        "DEPTHWISE_CONV_2D" => window(DEPTHWISE_CONV_2D),
        "CONV_3D" | "CONV_3D_TRANSPOSE" => window(CONV_3D),
        "TRANSPOSE_CONV" => window(TRANSPOSE_CONV),
        "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D" => window(POOL_2D),
        "FULLY_CONNECTED" => (8, 0),
        "CONCATENATION" => (10, 1),
        "ADD" => (11, 0),
        "L2_NORMALIZATION" => (12, 0),
        "MUL" => (21, 0),
        "SUB" => (28, 0),
        "DIV" => (29, 0),
        "SVDF" => (SVDF_RANK.0, 1),
        _ => return None,
    })
}

/// `enum ActivationFunctionType`; `None` for none.
pub(super) fn activation(code: u8) -> Option<&'static str> {
    ["RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"]
        .get(usize::from(code).checked_sub(1)?)
        .copied()
}

/// `LocalResponseNormalizationOptions`: member of the union, field `radius`.
pub(super) const LRN_RADIUS: (u8, usize) = (13, 0);

/// `time_major` of the options of a recurrent operator over a sequence, by operator: member of the
/// union, field. Operators without it do one step.
pub(super) fn time_major(native: &str) -> Option<(u8, usize)> {
    match native {
        "UNIDIRECTIONAL_SEQUENCE_LSTM" => Some((71, 3)),
        "UNIDIRECTIONAL_SEQUENCE_RNN" => Some((31, 0)),
        _ => None,
    }
}

/// `SVDFOptions`: member of the union, field `rank`.
pub(super) const SVDF_RANK: (u8, usize) = (6, 0);

/// `BatchMatMulOptions`: member of the union, fields `adj_x` and `adj_y`.
pub(super) const BATCH_MATMUL: (u8, usize, usize) = (101, 0, 1);

/// `enum TensorType`.
pub(super) fn element(code: u8) -> ElementType {
    match code {
        0 => ElementType::Float32,
        1 => ElementType::Float16,
        2 => ElementType::Int32,
        3 => ElementType::UInt8,
        4 => ElementType::Int64,
        6 => ElementType::Bool,
        7 => ElementType::Int16,
        9 => ElementType::Int8,
        10 => ElementType::Float64,
        12 => ElementType::UInt64,
        15 => ElementType::UInt32,
        16 => ElementType::UInt16,
        17 => ElementType::Int4,
        18 => ElementType::BFloat16,
        // Strings, complex numbers, resources, variants.
        _ => ElementType::Other,
    }
}

/// The code of `CUSTOM`, whose name stands in the operator code.
pub(super) const CUSTOM: usize = 32;

/// `enum BuiltinOperator`: the names, in the order of their codes.
pub(super) const BUILTIN_OPERATORS: &str = "\
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE \
EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D \
LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 \
RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM \
CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND \
SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE \
BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM \
CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT \
SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT \
SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND \
LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE \
RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL \
REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE \
MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 \
SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM \
CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND \
HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE \
ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL \
GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX \
UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT \
STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM \
STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM \
STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS \
STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG \
STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER \
STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER \
STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE \
STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT \
STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR \
REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_names_stand_at_their_codes() {
        let names: Vec<_> = BUILTIN_OPERATORS.split_whitespace().collect();
        for (code, name) in [
            (0, "ADD"),
            (3, "CONV_2D"),
            (CUSTOM, "CUSTOM"),
            (67, "TRANSPOSE_CONV"),
            (114, "QUANTIZE"),
            (126, "BATCH_MATMUL"),
            (150, "GELU"),
            (208, "STABLEHLO_CBRT"),
        ] {
            assert_eq!(names[code], name);
        }
    }
}
