//! The messages of an ONNX file, as far as they are used.
//!
//! From `onnx.proto`, IR version 3 to 13. Fields that are not named here are skipped by the
//! decoder without a copy. Weights in the usual raw form are slices of the file's own bytes.

use prost::bytes::Bytes;

/// `ModelProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Graph>,
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<Function>,
}

/// `FunctionProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Function {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, repeated, tag = "4")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub outputs: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSet>,
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Attributes with the values they have unless a call gives others.
    #[prost(message, repeated, tag = "11")]
    pub defaults: Vec<Attribute>,
    #[prost(string, tag = "13")]
    pub overload: String,
}

/// `OperatorSetIdProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// `GraphProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    pub initializers: Vec<Tensor>,
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializers: Vec<SparseTensor>,
    #[prost(message, repeated, tag = "11")]
    pub inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub outputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfo>,
}

/// `NodeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(string, tag = "7")]
    pub domain: String,
    #[prost(string, tag = "8")]
    pub overload: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
}

/// `AttributeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub float: f32,
    #[prost(int64, tag = "3")]
    pub int: i64,
    #[prost(bytes = "bytes", tag = "4")]
    pub text: Bytes,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<Tensor>,
    /// A body of control flow.
    #[prost(message, optional, boxed, tag = "6")]
    pub graph: Option<Box<Graph>>,
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Inside a function: the attribute of the call that this one takes over.
    #[prost(string, tag = "21")]
    pub of_call: String,
    #[prost(message, optional, tag = "22")]
    pub sparse_tensor: Option<SparseTensor>,
}

/// `TensorProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub raw_data: Bytes,
    /// Where in another file the data stands, as keys and values.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<Entry>,
    /// 1 when the data stands in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// `StringStringEntryProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `SparseTensorProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SparseTensor {
    #[prost(message, optional, tag = "1")]
    pub values: Option<Tensor>,
    #[prost(int64, repeated, tag = "3")]
    pub dims: Vec<i64>,
}

/// `ValueInfoProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<Kind>,
}

/// `TypeProto`, of tensors only.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Kind {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorKind>,
}

/// `TypeProto.Tensor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorKind {
    #[prost(int32, tag = "1")]
    pub element: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Dimensions>,
}

/// `TensorShapeProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimensions {
    #[prost(message, repeated, tag = "1")]
    pub dims: Vec<Dimension>,
}

/// `TensorShapeProto.Dimension`: a number or a symbol.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub value: Option<i64>,
    #[prost(string, tag = "2")]
    pub symbol: String,
}
