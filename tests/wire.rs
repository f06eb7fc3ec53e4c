//! Just enough of the protobuf wire format to write ONNX files that no tool would write.

/// The bytes of one message.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Message {
    pub fn int(mut self, tag: u64, value: i64) -> Self {
        varint(&mut self.0, tag << 3);
        varint(&mut self.0, value as u64);
        self
    }

    pub fn bytes(mut self, tag: u64, bytes: &[u8]) -> Self {
        varint(&mut self.0, tag << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub fn text(self, tag: u64, text: &str) -> Self {
        self.bytes(tag, text.as_bytes())
    }

    pub fn message(self, tag: u64, message: &Message) -> Self {
        self.bytes(tag, &message.0)
    }

    pub fn texts(self, tag: u64, texts: &[&str]) -> Self {
        texts.iter().fold(self, |message, text| message.text(tag, text))
    }
}

/// `NodeProto`.
pub fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    Message::default().texts(1, inputs).texts(2, outputs).text(4, op_type)
}

/// A call of a function of the file.
pub fn call(function: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    node(function, inputs, outputs).text(7, "local")
}

/// `TensorProto` of floats, without numbers.
pub fn stored(name: &str, dims: &[i64]) -> Message {
    let dims = dims.iter().fold(Message::default(), |message, dim| message.int(1, *dim));
    dims.int(2, 1).text(8, name)
}

/// `TensorProto` of integers in one dimension.
pub fn numbers(name: &str, values: &[i64]) -> Message {
    let head = Message::default().int(1, values.len() as i64).int(2, 7).text(8, name);
    values.iter().fold(head, |message, value| message.int(7, *value))
}

/// `ValueInfoProto` of floats.
pub fn info(name: &str, dims: &[i64]) -> Message {
    let dims = dims.iter().map(|dim| Message::default().int(1, *dim));
    let shape = dims.fold(Message::default(), |shape, dim| shape.message(1, &dim));
    let tensor = Message::default().int(1, 1).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// `GraphProto` from nodes, stored tensors and inputs; its output is `y`.
pub fn graph(nodes: &[Message], stored: &[Message], inputs: &[Message]) -> Message {
    let all = [(1, nodes), (5, stored), (11, inputs)];
    let fields = all.iter().flat_map(|(tag, list)| list.iter().map(move |item| (*tag, item)));
    let graph = fields.fold(Message::default(), |graph, (tag, item)| graph.message(tag, item));
    graph.message(12, &Message::default().text(1, "y"))
}

/// `FunctionProto` from `x` to `y`.
pub fn function(name: &str, nodes: &[Message]) -> Message {
    let head = Message::default().text(1, name).text(4, "x").text(5, "y").text(10, "local");
    nodes.iter().fold(head, |function, node| function.message(7, node))
}

/// `ModelProto`.
pub fn model(graph: &Message, functions: &[Message]) -> Vec<u8> {
    let operators = Message::default().text(1, "").int(2, 17);
    let local = Message::default().text(1, "local").int(2, 1);
    let head = Message::default().int(1, 8).message(8, &operators).message(8, &local);
    let model = head.message(7, graph);
    functions.iter().fold(model, |model, function| model.message(25, function)).0
}
