//! Networks written from their published descriptions, operator by operator.
//!
//! Each is one file with its source; what is ours is said there. Batch normalisations stay operators
//! of their own, with the statistics of training folded into scale and shift, and all is Float32 but
//! the decoder: fusing and quantising are transforms.

mod ai8x;
mod decoder;
mod family;
mod features;
mod lstm_kws;
mod mobilenet_v2;
mod mobilenets;
mod resnet50;
mod vit_tiny;
mod yolov8n;

pub(super) use family::of_family;
pub use family::{Choice, Family, families};

use super::builder::{Builder, Filter};
use super::{ModelError, ModelGraph, TensorId};
use crate::diagnostic::nearest;

/// A network that can be generated.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    /// What it is called.
    pub name: &'static str,
    /// The folder of `models/` that it ships in.
    pub folder: &'static str,
    make: fn(&str) -> Result<ModelGraph, ModelError>,
}

/// All of them, in the order they are listed.
pub fn generators() -> &'static [Generator] {
    &[
        Generator { name: "mobilenet_v2", folder: "vision", make: mobilenet_v2::graph },
        Generator { name: "resnet50", folder: "vision", make: resnet50::graph },
        Generator { name: "vit_tiny", folder: "vision", make: vit_tiny::graph },
        Generator { name: "yolov8n", folder: "vision", make: yolov8n::graph },
        Generator { name: "tinyllama_decode", folder: "language", make: decoder::graph },
        Generator { name: "lstm_kws", folder: "audio", make: lstm_kws::graph },
    ]
}

/// The network called `name`, which may be one of a family; an unknown name is an error that lists all.
pub fn generate(name: &str) -> Result<ModelGraph, ModelError> {
    let alone = generators().iter().map(|generator| generator.name);
    let names = || alone.clone().chain(families().iter().map(|family| family.name));
    if let Some(generator) = generators().iter().find(|generator| generator.name == name) {
        return (generator.make)(generator.name);
    }
    match of_family(name) {
        Some(made) => made,
        None => Err(ModelError::UnknownGenerator {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            known: names().map(str::to_owned).collect(),
        }),
    }
}

/// The graph with where it is described.
fn described(mut graph: ModelGraph, source: &str, licence: &str) -> ModelGraph {
    graph.source = Some(source.to_owned());
    graph.licence = Some(licence.to_owned());
    graph
}

/// A convolution without bias, and its batch normalisation with an activation on the way out.
fn normalised(
    builder: &mut Builder,
    name: &str,
    data: TensorId,
    filter: Filter,
    activation: Option<&str>,
) -> Result<TensorId, ModelError> {
    let made = builder.convolution(&format!("{name}.conv"), data, filter)?;
    builder.batch_normalisation(&format!("{name}.bn"), made, activation)
}
