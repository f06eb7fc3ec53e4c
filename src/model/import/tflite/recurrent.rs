//! Recurrent operators, as the layers they are: the product of all inputs, then the steps.
//!
//! The format stores the weights of each gate in a tensor of its own; they are multiplied together,
//! so that they stand in the graph as one tensor, named for the operator.

use super::flatbuffer::Read;
use super::schema;
use super::{Builder, Fault, Step};
use crate::model::{
    Cell, ElementFunction, ElementType, Movement, Op, Operator, Recurrence, Reduction, Shape,
    Tensor, TensorId, TensorRole,
};

/// Input ports of an LSTM: input weights, recurrent weights, projection.
const LSTM_WEIGHTS: [usize; 4] = [1, 2, 3, 4];
const LSTM_RECURRENT: [usize; 4] = [5, 6, 7, 8];
const LSTM_PROJECTION: usize = 16;

/// What stands beside the recurrent weights: peepholes, biases, states, layer normalisation.
const LSTM_BESIDE: [usize; 13] = [9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23];

impl Builder<'_> {
    /// Enters a recurrent operator; false for any other, and for forms that are not these.
    pub(super) fn recurrent(&mut self, name: &str, step: &Step<'_>) -> Result<bool, Fault> {
        match step.native.as_str() {
            "LSTM" | "UNIDIRECTIONAL_SEQUENCE_LSTM" => self.lstm(name, step),
            "RNN" | "UNIDIRECTIONAL_SEQUENCE_RNN" => self.rnn(name, step),
            "SVDF" => self.svdf(name, step),
            _ => Ok(false),
        }
    }

    fn ports(&mut self, step: &Step<'_>) -> Result<Vec<Option<TensorId>>, Fault> {
        step.inputs.iter().map(|index| self.tensor(*index)).collect()
    }

    /// The same without some, which are left as they are in the file.
    fn ports_but(
        &mut self,
        step: &Step<'_>,
        left: &[usize],
    ) -> Result<Vec<Option<TensorId>>, Fault> {
        let ports = step.inputs.iter().enumerate();
        let tensor = |(port, index): (usize, &i32)| {
            if left.contains(&port) { Ok(None) } else { self.tensor(*index) }
        };
        ports.map(tensor).collect()
    }

    fn made(&mut self, step: &Step<'_>) -> Result<Vec<TensorId>, Fault> {
        let outputs: Result<Vec<_>, Fault> =
            step.outputs.iter().map(|index| self.tensor(*index)).collect();
        Ok(outputs?.into_iter().flatten().collect())
    }

    fn extents(&self, id: Option<TensorId>) -> Vec<u64> {
        let shape = id.and_then(|id| self.graph.tensor(id).shape.as_ref());
        shape.map_or_else(Vec::new, |shape| shape.0.clone())
    }

    /// Samples and steps of `[batch, time, features]`, `[time, batch, features]` or `[batch, features]`.
    fn sequence(&self, step: &Step<'_>, input: &[u64]) -> Read<Option<(u64, u64)>> {
        let time_first = match schema::time_major(&step.native) {
            Some((kind, field)) => {
                Some(step.options.of_kind(kind)?.map_or(Ok(0), |t| t.byte(field))? != 0)
            }
            None => None,
        };
        Ok(match (input, time_first) {
            ([samples, _], None) => Some((*samples, 1)),
            ([samples, steps, _], Some(false)) | ([steps, samples, _], Some(true)) => {
                Some((*samples, *steps))
            }
            _ => None,
        })
    }

    fn lstm(&mut self, name: &str, step: &Step<'_>) -> Result<bool, Fault> {
        // Without weights of the input gate it is coupled to the one that forgets: another cell.
        let (Some(weights), Some(recurrent)) =
            (self.together(step, &LSTM_WEIGHTS)?, self.together(step, &LSTM_RECURRENT)?)
        else {
            return Ok(false);
        };
        let joined = [LSTM_WEIGHTS, LSTM_RECURRENT].concat();
        let ports = self.ports_but(step, &joined)?;
        let at = |port: usize| ports.get(port).copied().flatten();
        let input = self.extents(at(0));
        let Some((samples, steps)) = self.sequence(step, &input)? else { return Ok(false) };
        let hidden = weights.0.extent(0) / LSTM_WEIGHTS.len() as u64;
        let weights = self.constant(&format!("{name}.weights"), weights)?;
        let recurrent = self.constant(&format!("{name}.recurrent_weights"), recurrent)?;
        let outputs = self.made(step)?;
        let cell = Cell::Lstm;
        let gates = self.gates(name, step, (at(0), weights), (cell, hidden, samples, steps))?;
        let beside = LSTM_BESIDE.iter().map(|port| at(*port));
        let inputs: Vec<_> = [Some(gates), Some(recurrent)].into_iter().chain(beside).collect();
        let op = Op::Recurrence(Recurrence { cell, hidden, steps, directions: 1 });
        let recurrence = Operator::new(format!("{name}.recurrence"), step.native.clone(), op);
        let Some(projection) = at(LSTM_PROJECTION) else {
            self.graph.add_operator(recurrence, &inputs, &outputs)?;
            return Ok(true);
        };
        let states = self.activation(name, "states", &[samples, steps, hidden], at(0))?;
        self.graph.add_operator(recurrence, &inputs, &[states])?;
        let op = Op::FullyConnected;
        let operator = Operator::new(format!("{name}.projection"), step.native.clone(), op);
        let inputs = [Some(states), Some(projection), at(LSTM_PROJECTION + 1)];
        self.graph.add_operator(operator, &inputs, &outputs)?;
        Ok(true)
    }

    fn rnn(&mut self, name: &str, step: &Step<'_>) -> Result<bool, Fault> {
        let ports = self.ports(step)?;
        let at = |port: usize| ports.get(port).copied().flatten();
        let input = self.extents(at(0));
        let Some((samples, steps)) = self.sequence(step, &input)? else { return Ok(false) };
        let (Some(weights), Some(recurrent)) = (at(1), at(2)) else { return Ok(false) };
        let [hidden, _] = self.extents(at(1))[..] else { return Ok(false) };
        let outputs = self.made(step)?;
        let cell = Cell::Simple;
        let gates = self.gates(name, step, (at(0), weights), (cell, hidden, samples, steps))?;
        let op = Op::Recurrence(Recurrence { cell, hidden, steps, directions: 1 });
        let recurrence = Operator::new(format!("{name}.recurrence"), step.native.clone(), op);
        let inputs = [Some(gates), Some(recurrent), at(3), at(4)];
        self.graph.add_operator(recurrence, &inputs, &outputs)?;
        Ok(true)
    }

    /// A product with the features, then each filter's weighted sum over its memory of past values,
    /// added up over the rank of the filters.
    fn svdf(&mut self, name: &str, step: &Step<'_>) -> Result<bool, Fault> {
        let ports = self.ports(step)?;
        let at = |port: usize| ports.get(port).copied().flatten();
        let (data, features, times) =
            (self.extents(at(0)), self.extents(at(1)), self.extents(at(2)));
        let ([samples, _], [filters, _], [_, memory]) = (&data[..], &features[..], &times[..])
        else {
            return Ok(false);
        };
        let (kind, field) = schema::SVDF_RANK;
        let rank = step.options.of_kind(kind)?.map_or(Ok(0), |t| t.int(field, 0))?;
        let made = self.activation(name, "features", &[*samples, *filters], at(0))?;
        self.part(step, &format!("{name}.product"), Op::FullyConnected, &[at(0), at(1)], made)?;
        let kept = self.activation(name, "memory", &[*samples, *filters, *memory], at(0))?;
        let shift = Op::Movement(Movement::Scatter);
        self.part(step, &format!("{name}.shift"), shift, &[at(4), Some(made)], kept)?;
        // What is left to do behind the sum over time decides where the results stand.
        let mut rest = Vec::new();
        if rank > 1 {
            rest.push(("rank", Op::Reduce(Reduction::Sum), None));
        }
        if at(3).is_some() {
            rest.push(("bias", Op::Elementwise(ElementFunction::Add), at(3)));
        }
        let outputs = self.made(step)?;
        let Some(result) = outputs.first().copied() else { return Ok(false) };
        let last = rest.len();
        let over_time = Op::Einsum("bfm,fm->bf".into());
        let mut before = match last {
            0 => result,
            _ => self.activation(name, "sums", &[*samples, *filters], at(0))?,
        };
        self.part(step, &format!("{name}.time"), over_time, &[Some(kept), at(2)], before)?;
        for (index, (part, op, beside)) in rest.into_iter().enumerate() {
            let made = if index + 1 == last {
                result
            } else {
                let shape = self.extents(Some(result));
                self.activation(name, part, &shape, at(0))?
            };
            let inputs: Vec<_> = std::iter::once(Some(before)).chain(beside.map(Some)).collect();
            self.part(step, &format!("{name}.{part}"), op, &inputs, made)?;
            before = made;
        }
        Ok(true)
    }

    fn part(
        &mut self,
        step: &Step<'_>,
        name: &str,
        op: Op,
        inputs: &[Option<TensorId>],
        output: TensorId,
    ) -> Result<(), Fault> {
        let mut operator = Operator::new(name, step.native.clone(), op);
        let result = step.outputs.first().and_then(|index| self.ids.get(index));
        if result == Some(&output) {
            operator.fused_activation =
                super::operators::fused_activation(&step.native, step.options)?;
        }
        self.graph.add_operator(operator, inputs, &[output])?;
        Ok(())
    }

    /// The product of all inputs with the weights of all gates.
    fn gates(
        &mut self,
        name: &str,
        step: &Step<'_>,
        (data, weights): (Option<TensorId>, TensorId),
        (cell, hidden, samples, steps): (Cell, u64, u64, u64),
    ) -> Result<TensorId, Fault> {
        let width =
            cell.gates().checked_mul(hidden).ok_or("its gates do not fit 64 bits".to_owned())?;
        let gates = self.activation(name, "gates", &[steps, samples, width], data)?;
        let native = step.native.clone();
        let product = Operator::new(format!("{name}.input"), native, Op::FullyConnected);
        self.graph.add_operator(product, &[data, Some(weights)], &[gates])?;
        Ok(gates)
    }

    /// A tensor between the layers of one operator, of the type of another.
    fn activation(
        &mut self,
        name: &str,
        part: &str,
        shape: &[u64],
        like: Option<TensorId>,
    ) -> Result<TensorId, Fault> {
        let element = like.map_or(ElementType::Other, |id| self.graph.tensor(id).element);
        let name = self.fresh(&format!("{name}.{part}"));
        Ok(self.graph.add(&name, shape, element, TensorRole::Activation)?)
    }

    /// Extents and type of the weights of several gates, `[hidden, K]` each, as one tensor; nothing
    /// where one is left out, is not stored, or they differ.
    fn together(
        &mut self,
        step: &Step<'_>,
        ports: &[usize],
    ) -> Result<Option<(Shape, ElementType)>, Fault> {
        let mut parts: Vec<Tensor> = Vec::with_capacity(ports.len());
        for port in ports {
            let index = step.inputs.get(*port).copied().unwrap_or(-1);
            let Ok(place) = usize::try_from(index) else { return Ok(None) };
            let table = self.plan.tensors.table(place)?;
            parts.push(self.describe(index, place, table)?);
        }
        let Some(first) = parts.first() else { return Ok(None) };
        let Some(Shape(extents)) = &first.shape else { return Ok(None) };
        let [rows, columns] = extents[..] else { return Ok(None) };
        let alike = parts.iter().all(|tensor| {
            tensor.shape == first.shape
                && tensor.element == first.element
                && tensor.role == TensorRole::Constant
        });
        let rows = rows.checked_mul(parts.len() as u64).filter(|_| alike);
        Ok(rows.map(|rows| (Shape(vec![rows, columns]), first.element)))
    }

    fn constant(
        &mut self,
        name: &str,
        (shape, element): (Shape, ElementType),
    ) -> Result<TensorId, Fault> {
        let name = self.fresh(name);
        let tensor = Tensor::new(name, Some(shape), element, TensorRole::Constant);
        Ok(self.graph.add_tensor(tensor)?)
    }

    /// A name that no tensor has so far; a later one of the file gets its number behind it.
    pub(super) fn fresh(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.graph.tensor_named(&name).is_some() {
            name.push('#');
        }
        name
    }
}
