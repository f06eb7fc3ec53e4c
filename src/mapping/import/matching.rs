//! Which layer of a network each row of a table is.
//!
//! Rows and layers follow each other. A row goes with a layer of its sort (by what files call the operator, or
//! by what kind it is) and as many multiply-accumulates; where the tool says neither, by its place alone.
//! Tolerated, and said:
//!
//! - Rows that continue the one above (an activation fused into it, the steps of a softmax) go with its layer.
//! - Pooling and softmax have no multiply-accumulates in a network; what a tool counts for them is not held
//!   against it.
//! - For Ethos-U85, Vela stores some weights two of four and counts half of their multiply-accumulates.
//! - A layer without multiply-accumulates may have no row (ZigZag and SCALE-Sim cost none of them; a
//!   view costs nothing): it is not costed. A row without them may have no layer (a tool adds transposes
//!   and copies) where no later layer is like it: its cycles go with the layer before.
//!
//! Anything else is an error that names the first row that is off.

use super::{ImportError, ImportedLayer, ImportedTable, Mismatch, Place};
use crate::diagnostic::nearest;
use crate::mapping::Network;
use crate::model::{Layer, OpKind};

/// A layer with its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matched {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// Its rows, by their places in the table.
    pub rows: Vec<usize>,
    /// True where the tool counts half of its multiply-accumulates.
    pub halved: bool,
}

/// Rows of a table by layer, in the order of the layers.
pub(super) fn matched(
    table: &ImportedTable,
    network: &Network,
) -> Result<Vec<Matched>, ImportError> {
    let matching = Matching { table, network };
    if table.ordered { matching.by_order() } else { matching.by_name() }
}

struct Matching<'a> {
    table: &'a ImportedTable,
    network: &'a Network,
}

/// How a row and a layer go together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Equal,
    Halved,
    No,
}

impl Matching<'_> {
    /// Places of rows that start a layer.
    fn heads(&self) -> Vec<usize> {
        let rows = self.table.layers.iter().enumerate();
        rows.filter(|(i, row)| *i == 0 || !row.continues).map(|(i, _)| i).collect()
    }

    fn by_order(&self) -> Result<Vec<Matched>, ImportError> {
        let heads = self.heads();
        let mut found: Vec<Matched> = Vec::with_capacity(heads.len());
        // Rows before the first layer that is matched, if a tool starts with a copy.
        let mut waiting: Vec<usize> = Vec::new();
        let mut layer = 0;
        for (place, &head) in heads.iter().enumerate() {
            let end = heads.get(place + 1).copied().unwrap_or(self.table.layers.len());
            let Some(row) = self.table.layers.get(head) else { continue };
            let (next, fit) = self.next(row, layer);
            let rows = head..end;
            if fit == Fit::No {
                if !adds_nothing(row) || self.is_later(row, layer) {
                    return Err(self.differs(row, next, layer));
                }
                match found.last_mut() {
                    Some(before) => before.rows.extend(rows),
                    None => waiting.extend(rows),
                }
                continue;
            }
            let rows: Vec<usize> = waiting.drain(..).chain(rows).collect();
            found.push(Matched { layer: next, rows, halved: fit == Fit::Halved });
            layer = next + 1;
        }
        let rest = self.network.layers.iter().enumerate().skip(layer);
        if let Some((number, layer)) = rest.into_iter().find(|(_, layer)| layer.work.macs > 0) {
            let place = self.table.layers.last().map_or(Place::file(""), |row| row.place.clone());
            let (network, layer) = (self.network.name.clone(), described_layer(layer));
            let fault = Mismatch::Missing { network, number: number + 1, layer };
            return Err(ImportError::Mismatch { place: Box::new(place), fault });
        }
        Ok(found)
    }

    /// The next layer that a row can be: the first from a place on that fits, where only layers without
    /// multiply-accumulates lie before it; else the one that does not fit.
    fn next(&self, row: &ImportedLayer, from: usize) -> (usize, Fit) {
        for (number, layer) in self.network.layers.iter().enumerate().skip(from) {
            match self.fit(row, layer) {
                Fit::No if layer.work.macs == 0 => {}
                fit => return (number, fit),
            }
        }
        (self.network.layers.len(), Fit::No)
    }

    /// True for a row whose layer comes later: one that nothing was added for, at the wrong place.
    fn is_later(&self, row: &ImportedLayer, from: usize) -> bool {
        self.network.layers.iter().skip(from).any(|layer| self.fit(row, layer) != Fit::No)
    }

    fn fit(&self, row: &ImportedLayer, layer: &Layer) -> Fit {
        let graph = layer.work.macs;
        match &row.operator {
            Some(operator) if !is_called(operator, layer) => return Fit::No,
            // A tool that tells no operators apart costs multiply-accumulates alone.
            None if graph == 0 => return Fit::No,
            _ => {}
        }
        match row.macs {
            _ if graph == 0 => Fit::Equal,
            None => Fit::Equal,
            Some(macs) if macs == graph => Fit::Equal,
            Some(macs) if self.table.halves_macs && macs.checked_mul(2) == Some(graph) => {
                Fit::Halved
            }
            Some(_) => Fit::No,
        }
    }

    fn by_name(&self) -> Result<Vec<Matched>, ImportError> {
        let layers = &self.network.layers;
        let mut found: Vec<Matched> = Vec::with_capacity(self.table.layers.len());
        for (place, row) in self.table.layers.iter().enumerate() {
            let named = layers.iter().position(|layer| bare(&layer.name) == bare(&row.name));
            let Some(number) = named else {
                let names = layers.iter().map(|layer| layer.name.as_str());
                let near = nearest(&row.name, names).map(|near| format!("did it mean `{near}`?"));
                let (row, place) = (described_row(row), row.place.clone());
                let fault = Mismatch::NoName { row, network: self.network.name.clone(), near };
                return Err(ImportError::Mismatch { place: Box::new(place), fault });
            };
            let fit = layers.get(number).map_or(Fit::No, |layer| self.fit(row, layer));
            if fit == Fit::No || found.iter().any(|m| m.layer == number) {
                return Err(self.differs(row, number, 0));
            }
            found.push(Matched { layer: number, rows: vec![place], halved: fit == Fit::Halved });
        }
        found.sort_by_key(|matched| matched.layer);
        let has = |number: usize| found.iter().any(|matched| matched.layer == number);
        let mut missing = layers.iter().enumerate().filter(|(_, layer)| layer.work.macs > 0);
        if let Some((number, layer)) = missing.find(|(number, _)| !has(*number)) {
            let place = Place::file(self.table.files.first().map_or("", String::as_str));
            let (network, layer) = (self.network.name.clone(), described_layer(layer));
            let fault = Mismatch::Missing { network, number: number + 1, layer };
            return Err(ImportError::Mismatch { place: Box::new(place), fault });
        }
        Ok(found)
    }

    /// The error of a row that is not the layer at its place.
    fn differs(&self, row: &ImportedLayer, number: usize, from: usize) -> ImportError {
        let layers = &self.network.layers;
        let like = |number: &usize| {
            layers.get(*number).is_some_and(|layer| self.fit(row, layer) != Fit::No)
        };
        let near = (number + 1..layers.len()).find(like).or_else(|| (0..from).find(like));
        let near = near.and_then(|like| {
            let layer = layers.get(like)?;
            Some(format!(
                "layer {}, {}, is like it: are rows missing or in another order?",
                like + 1,
                described_layer(layer)
            ))
        });
        let near = near.or_else(|| {
            let macs = row.macs.filter(|macs| *macs > 0)?;
            let called = |layer: &&Layer| {
                row.operator.as_ref().is_none_or(|operator| is_called(operator, layer))
            };
            let all = layers.iter().filter(|layer| layer.work.macs > 0).filter(called);
            let layer = all.min_by_key(|layer| layer.work.macs.abs_diff(macs))?;
            Some(format!(
                "no layer is like it; nearest is {}: is the table of another model?",
                described_layer(layer)
            ))
        });
        let place = row.place.clone();
        let (row, network) = (described_row(row), self.network.name.clone());
        let fault = match layers.get(number) {
            Some(layer) => {
                let layer = described_layer(layer);
                Mismatch::Differs { row, network, number: number + 1, layer, near }
            }
            None => Mismatch::Surplus { row, network, near },
        };
        ImportError::Mismatch { place: Box::new(place), fault }
    }
}

/// A row that may go with the layer before: a copy, or a change of format or order.
fn adds_nothing(row: &ImportedLayer) -> bool {
    row.operator.is_some() && row.macs.unwrap_or(0) == 0
}

/// Letters and digits alone.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What Vela calls operators that files call otherwise.
const ALIASES: [(&str, &str); 7] = [
    ("avgpool", "averagepool2d"),
    ("maxpool", "maxpool2d"),
    ("conv2dbias", "conv2d"),
    ("depthwiseconv2dbias", "depthwiseconv2d"),
    ("conv2dbackpropinput", "transposeconv"),
    ("concattflite", "concatenation"),
    ("concat", "concatenation"),
];

/// True where a tool's operator is that of the layer: by what its file calls it, or by its kind.
fn is_called(operator: &str, layer: &Layer) -> bool {
    let own = bare(operator);
    let native = bare(&layer.native);
    let alias = ALIASES.iter().find(|(tool, _)| *tool == own).map(|(_, file)| *file);
    if own == native || alias == Some(native.as_str()) {
        return true;
    }
    match layer.work.kind {
        OpKind::Conv | OpKind::StemConv | OpKind::PointwiseConv => {
            matches!(own.as_str(), "conv2d" | "conv2dbias" | "conv")
        }
        OpKind::DepthwiseConv => own.starts_with("depthwise"),
        OpKind::TransposedConv => own.contains("transposeconv") || own.contains("backprop"),
        OpKind::FullyConnected | OpKind::MatMul => {
            matches!(own.as_str(), "fullyconnected" | "matmul" | "batchmatmul" | "gemm")
        }
        OpKind::Pool => own.ends_with("pool"),
        OpKind::Softmax => own == "softmax",
        OpKind::Elementwise => {
            matches!(own.as_str(), "add" | "sub" | "mul" | "minimum" | "maximum" | "relu")
        }
        OpKind::Reduce => matches!(own.as_str(), "mean" | "reducesum"),
        _ => false,
    }
}

fn described_row(row: &ImportedLayer) -> String {
    let name: String = row.name.chars().take(60).collect();
    let operator = row.operator.as_ref().map_or(String::new(), |operator| format!("{operator} "));
    let macs = row.macs.map_or(String::new(), |macs| format!(" ({macs} MACs)"));
    format!("{operator}`{name}`{macs}")
}

fn described_layer(layer: &Layer) -> String {
    format!("{} `{}` ({} MACs)", layer.work.kind, layer.name, layer.work.macs)
}
