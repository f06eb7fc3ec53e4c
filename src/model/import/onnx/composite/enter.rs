//! The parts of an operator as layers of the graph.

use super::{Makes, Part, Source};
use crate::model::import::Fault;
use crate::model::import::onnx::filters::Filter;
use crate::model::import::onnx::value::Value;
use crate::model::import::onnx::{Importer, native, proto};
use crate::model::{ElementType, Operator, Tensor, TensorId, TensorRole};
use std::collections::BTreeSet;

impl<'a> Importer<'a> {
    /// Enters an operator as the layers it is.
    pub(in super::super) fn add_parts(
        &mut self,
        name: &str,
        proto: &'a proto::Node,
        made: Vec<Value>,
        parts: Vec<(Part, Option<Filter>)>,
    ) -> Result<(), Fault> {
        let element = made.first().map_or(ElementType::Other, |value| value.element);
        let mut ports = Vec::with_capacity(proto.inputs.len());
        for input in &proto.inputs {
            ports.push(self.environment.tensor(&mut self.graph, input)?);
        }
        self.environment.define(&proto.outputs, made)?;
        self.note_unmade(proto, &parts);
        let native = native(proto);
        let mut first: Vec<Option<TensorId>> = Vec::with_capacity(parts.len());
        for (part, filter) in parts {
            let name = self.part_name(&format!("{name}.{}", part.suffix));
            let source = |source: &Source| match source {
                Source::Port(port) => ports.get(*port).copied().flatten(),
                Source::Part(index) => first.get(*index).copied().flatten(),
                Source::Nothing => None,
            };
            let inputs: Vec<_> = part.inputs.iter().map(source).collect();
            let outputs = self.made_by(proto, &name, element, part.makes)?;
            first.push(outputs.first().copied());
            let operator = Operator::new(name, native.clone(), part.op);
            let id = self.graph.add_operator(operator, &inputs, &outputs)?;
            self.remember(id, filter);
        }
        Ok(())
    }

    /// The tensors that a part makes.
    fn made_by(
        &mut self,
        proto: &proto::Node,
        name: &str,
        element: ElementType,
        makes: Makes,
    ) -> Result<Vec<TensorId>, Fault> {
        let mut outputs = Vec::new();
        match makes {
            Makes::Inner(shape) => {
                let tensor = Tensor::new(name, Some(shape), element, TensorRole::Activation);
                outputs.push(self.graph.add_tensor(tensor)?);
            }
            Makes::Ports(ports) => {
                for output in ports.iter().filter_map(|port| proto.outputs.get(*port)) {
                    outputs.extend(self.environment.tensor(&mut self.graph, output)?);
                }
            }
        }
        Ok(outputs)
    }

    /// Says which outputs no part makes.
    fn note_unmade(&mut self, proto: &proto::Node, parts: &[(Part, Option<Filter>)]) {
        let ports = parts.iter().filter_map(|(part, _)| match &part.makes {
            Makes::Ports(ports) => Some(ports),
            Makes::Inner(_) => None,
        });
        let made: BTreeSet<usize> = ports.flatten().copied().collect();
        for (port, name) in proto.outputs.iter().enumerate() {
            if !name.is_empty() && !made.contains(&port) {
                self.notes.unmade(name);
            }
        }
    }

    /// A name that no operator and no tensor has.
    fn part_name(&mut self, wanted: &str) -> String {
        loop {
            let name = self.names.fresh(wanted);
            if self.operators.insert(name.clone()) {
                return name;
            }
        }
    }
}
