//! Layer times of TensorRT, in three JSON files that go by similar names.
//!
//! - `trtexec --exportProfile`: an array that starts with `{"count": N}`; a layer has `averageMs`
//!   (or `timeMs` over all N). One inference of mean times comes out.
//! - A profiler in Python that keeps every inference: an object of layer names, each with a list
//!   of milliseconds. Each inference comes out, numbered.
//! - `trtexec --exportLayerInfo`: the graph, `{"Layers": [...]}`, has no times: an error says so.
//!
//! Names join the nodes that TensorRT fused with ` + `.

use super::layer_table::{LARGEST, Layer, LayerTable, seconds};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Layout, SampleSink};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use std::fmt;

/// A profile.
pub(super) const FORMAT: Format = Format {
    name: "tensorrt",
    title: "TensorRT: JSON of layer times by trtexec or a profiler",
    shape: Shape::File {
        recognises: |head| kind(head.text()).is_some(),
        read: |input, _: &Options, sink| read(input, sink),
    },
};

/// Which of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Profile,
    Latencies,
    Graph,
}

/// By the first tokens of the text.
fn kind(text: &str) -> Option<Kind> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('[') {
        let object = rest.trim_start().strip_prefix('{')?.trim_start();
        let count = object.strip_prefix("\"count\"")?.trim_start().starts_with(':');
        let layers = rest.contains("\"averageMs\"") || rest.contains("\"timeMs\"");
        return (count && layers).then_some(Kind::Profile);
    }
    let rest = text.strip_prefix('{')?.trim_start().strip_prefix('"')?;
    let (name, rest) = rest.split_once('"')?;
    let list = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('[')?.trim_start();
    if name == "Layers" {
        return list.starts_with(['{', '"']).then_some(Kind::Graph);
    }
    // Any table could be an object of lists; the names of a network's layers are its nodes.
    let of_nodes = [" + ", "Reformatting CopyNode", "(Unnamed Layer", "ForeignNode"];
    let nodes = name.starts_with('/') || of_nodes.iter().any(|part| text.contains(part));
    (nodes && list.starts_with(|c: char| c.is_ascii_digit())).then_some(Kind::Latencies)
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let text = input.text(LARGEST)?;
    if text.trim().is_empty() {
        return Err(input.fault(Place::Whole, ReadFault::Empty));
    }
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    let table = match kind(&text) {
        Some(Kind::Graph) => Err(input.fault(
            Place::Whole,
            ReadFault::Missing {
                what: "a time for each layer: a graph has none, they are in what --exportProfile wrote".into(),
            },
        )),
        Some(Kind::Latencies) => latencies(input, &text),
        _ => profile(input, &text, &mut layout),
    };
    table?.tell(input, layout, sink)
}

fn json<'a, T: Deserialize<'a>>(input: &Input<'_>, text: &'a str) -> Result<T, FormatError> {
    serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        input.fault(Place::Line(error.line() as u64), ReadFault::Json { reason })
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    count: Option<u64>,
    name: Option<String>,
    time_ms: Option<f64>,
    average_ms: Option<f64>,
}

fn profile(input: &Input<'_>, text: &str, layout: &mut Layout) -> Result<LayerTable, FormatError> {
    let entries: Vec<Entry> = json(input, text)?;
    let whole = |fault| input.fault(Place::Whole, fault);
    let count = entries.iter().find_map(|entry| entry.count);
    let mut table = LayerTable { track: "tensorrt".into(), ..LayerTable::default() };
    for entry in entries {
        let Some(name) = entry.name else { continue };
        let mean = entry.time_ms.zip(count).map(|(time, count)| time / count as f64);
        let milliseconds = entry
            .average_ms
            .or(mean)
            .ok_or_else(|| whole(ReadFault::Missing { what: format!("averageMs of {name}") }))?;
        let duration = seconds(milliseconds * 1e-3, &name).map_err(whole)?;
        table.layers.push(Layer { name, inference: 0, duration, counts: Vec::new() });
    }
    if let Some(count) = count {
        layout.remarks.push(format!("times are means of {count} inferences"));
    }
    Ok(table)
}

/// Layers in the order of the file, with their times.
#[derive(Debug)]
struct Lists(Vec<(String, Vec<f64>)>);

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Lists;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of lists of milliseconds")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Lists, A::Error> {
                let mut lists = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    lists.push(entry);
                }
                Ok(Lists(lists))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn latencies(input: &Input<'_>, text: &str) -> Result<LayerTable, FormatError> {
    let Lists(layers) = json(input, text)?;
    let inferences = layers.first().map_or(0, |(_, times)| times.len());
    let mut table = LayerTable { track: "tensorrt".into(), ..LayerTable::default() };
    for (name, times) in &layers {
        if times.len() != inferences {
            let fault = ReadFault::Value {
                what: format!("the number of times of {name}"),
                found: times.len().to_string(),
                expected: "as many as the first layer has",
            };
            return Err(input.fault(Place::Whole, fault));
        }
    }
    for inference in 0..inferences {
        for (name, times) in &layers {
            let time = times.get(inference).copied().unwrap_or_default();
            let duration =
                seconds(time * 1e-3, name).map_err(|fault| input.fault(Place::Whole, fault))?;
            let (name, inference) = (name.clone(), inference as u64);
            table.layers.push(Layer { name, inference, duration, counts: Vec::new() });
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests;
