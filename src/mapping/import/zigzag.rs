//! ZigZag: `*_complete.json`, one for each layer or a list of them, or a table with a row for each layer.
//!
//! Of each operand (`W`, `I`, `O`; `A` and `B` of a product of activations) every level from the datapath
//! outwards counts accesses in four directions: read out to the lower or the higher level, written in by
//! one of them. An access is a word of the memory's port, whatever it holds: energy is accesses times the
//! memory's cost of a read or a write, each direction alike. Levels are called `W0` (next to the datapath),
//! `W1` and so on here. A complete document says in its inputs what the memories are called and how many
//! bits their ports have; a table does not.
//!
//! A layer takes onloading, computation and offloading, one after the other.

use super::sheet::{Sheet, amount, known_headers, number};
use super::source::Source;
use super::{
    Access, AccessUnit, ImportError, ImportedLayer, ImportedTable, Place, Reader, StatedEnergy,
    TableFault, Tool,
};
use crate::mapping::PhaseKind;
use crate::units::Cycles;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

pub(super) const READER: Reader = Reader { tool: Tool::ZigZag, knows, read, primary: None };

const COLUMNS: [&str; 5] = ["layer", "macs", "word_accesses", "latency", "memory_utilization"];

/// Most levels of memory of an operand.
const LEVELS_LIMIT: usize = 16;

/// Most operands of a layer.
const OPERANDS_LIMIT: usize = 8;

/// Most layers of a list.
const LAYERS_LIMIT: usize = 20_000;

/// Accesses of one operand at one level, by direction. Both spellings are in use.
type Directions = BTreeMap<String, f64>;

/// Accesses by operand, from the datapath outwards.
type Accesses = BTreeMap<String, Vec<Directions>>;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    outputs: Option<Outputs>,
    #[serde(default)]
    inputs: Option<Inputs>,
    /// Of a short document: energy and latency alone.
    #[serde(default)]
    latency: Option<f64>,
}

#[derive(Deserialize)]
struct Outputs {
    memory: Memory,
    #[serde(default)]
    energy: Option<Energy>,
    latency: Latency,
}

#[derive(Deserialize)]
struct Memory {
    word_accesses: Accesses,
}

#[derive(Deserialize)]
struct Energy {
    energy_total: f64,
    operational_energy: f64,
    #[serde(default)]
    memory_energy_breakdown_per_level: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct Latency {
    data_onloading: f64,
    computation: f64,
    data_offloading: f64,
}

#[derive(Deserialize, Default)]
struct Inputs {
    #[serde(default)]
    layer: Option<Layer>,
    #[serde(default)]
    accelerator: Option<Accelerator>,
}

/// Memories of an accelerator, by memory operand from the datapath outwards.
#[derive(Default)]
struct Accelerator {
    /// Bits of a read.
    read: BTreeMap<String, Vec<f64>>,
    /// Bits of a write.
    write: BTreeMap<String, Vec<f64>>,
    /// Descriptions with the names of the memories.
    memories: BTreeMap<String, Vec<String>>,
}

impl<'de> Deserialize<'de> for Accelerator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AcceleratorVisitor)
    }
}

struct AcceleratorVisitor;

impl<'de> Visitor<'de> for AcceleratorVisitor {
    type Value = Accelerator;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an accelerator, or its name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Accelerator, M::Error> {
        let mut own = Accelerator::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "mem_r_bw_dict" => own.read = map.next_value()?,
                "mem_w_bw_dict" => own.write = map.next_value()?,
                "mem_hierarchy_dict" => own.memories = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(own)
    }

    fn visit_str<E>(self, _: &str) -> Result<Accelerator, E> {
        Ok(Accelerator::default())
    }
}

impl Accelerator {
    /// Bytes of a word that is read and of one that is written.
    fn word(&self, operand: &str, index: usize) -> Option<(f64, f64)> {
        let bytes = |of: &BTreeMap<String, Vec<f64>>| {
            let bits = of.get(operand)?.get(index).copied()?;
            (bits.is_finite() && bits > 0.0).then_some(bits / 8.0)
        };
        Some((bytes(&self.read)?, bytes(&self.write)?))
    }

    /// `MemoryLevel(instance=sram,operands=…)`: the name of the memory.
    fn memory(&self, operand: &str, index: usize) -> Option<String> {
        let described = self.memories.get(operand)?.get(index)?;
        let (_, rest) = described.split_once("instance=")?;
        let name = rest.split([',', ')']).next()?.trim();
        (!name.is_empty()).then(|| name.chars().take(60).collect())
    }
}

/// A layer as the accelerator sees it.
#[derive(Default)]
struct Described {
    name: Option<String>,
    extents: BTreeMap<String, f64>,
    /// The memory operand of each of its operands.
    links: BTreeMap<String, String>,
}

/// What is known of a layer.
enum Layer {
    /// One layer.
    One(Described),
    /// Of the sum over layers: their numbers, which are not kept.
    Many,
}

impl<'de> Deserialize<'de> for Layer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LayerVisitor)
    }
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = Layer;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a layer, or the numbers of layers")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Layer, M::Error> {
        let mut own = Described::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => own.name = map.next_value()?,
                "loop_dimensions" => own.extents = map.next_value()?,
                "memory_operand_links" => own.links = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Layer::One(own))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Layer, S::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Layer::Many)
    }
}

fn is_json(source: &Source) -> bool {
    source.text.trim_start().starts_with(['{', '['])
}

fn knows(source: &Source) -> bool {
    if is_json(source) {
        let has = |word: &str| source.text.contains(word);
        return has("\"word_accesses\"") || (has("\"energy\"") && has("\"latency\""));
    }
    known_headers(source, &COLUMNS) >= 3
}

fn read(sources: &[Source]) -> Result<ImportedTable, ImportError> {
    let mut table = ImportedTable {
        tool: Tool::ZigZag,
        files: Vec::new(),
        layers: Vec::new(),
        compiled: None,
        clock: None,
        ordered: true,
        halves_macs: false,
        lacks_cycles: None,
        notes: vec![
            "accesses of ZigZag are spread evenly over loading, computing and unloading".to_owned(),
        ],
    };
    let sheets = sources.iter().filter(|s| !is_json(s));
    let documents: Vec<&Source> = sources.iter().filter(|s| is_json(s)).collect();
    if let Some(source) = sheets.clone().next() {
        if let Some(other) = sheets.clone().nth(1).or(documents.first().copied()) {
            let fault = TableFault::Second { what: "table", first: source.file.clone() };
            return Err(fault.at(Place::file(&other.file)));
        }
        table.layers = rows(&Sheet::of(source)?)?;
        table.files.push(source.file.clone());
        return Ok(table);
    }
    // Short documents beside complete ones say nothing more.
    let complete = documents.iter().any(|s| s.text.contains("\"word_accesses\""));
    for source in documents {
        if !complete || source.asked || source.text.contains("\"word_accesses\"") {
            let before = table.layers.len();
            document(source, &mut table)?;
            if table.layers.len() > before {
                table.files.push(source.file.clone());
            }
        }
    }
    if table.layers.is_empty() {
        let file = sources.first().map_or("", |s| &s.file);
        return Err(TableFault::NoRows.at(Place::file(file)));
    }
    // Files of a folder are in the order of their names.
    table.ordered = table.files.len() < 2;
    if !complete {
        table.notes.push("ZigZag's short documents have no accesses: no byte is known".to_owned());
    }
    Ok(table)
}

/// One document, or a list of them.
fn document(source: &Source, table: &mut ImportedTable) -> Result<(), ImportError> {
    let documents: Vec<Document> = if source.text.trim_start().starts_with('[') {
        serde_json::from_str(&source.text)
    } else {
        serde_json::from_str(&source.text).map(|one| vec![one])
    }
    .map_err(|error| json(source, &error))?;
    if documents.len() > LAYERS_LIMIT {
        let fault = TableFault::TooMany { what: "layers", most: LAYERS_LIMIT };
        return Err(fault.at(Place::file(&source.file)));
    }
    let alone = documents.len() == 1;
    for (number, document) in documents.into_iter().enumerate() {
        let number = Some(number).filter(|_| !alone);
        if let Some(layer) = layer(source, number, document)? {
            table.layers.push(layer);
        }
    }
    Ok(())
}

/// The parser's word for what is wrong.
fn json(source: &Source, error: &serde_json::Error) -> ImportError {
    let place = Place::line(&source.file, error.line().max(1) as u64);
    TableFault::Json(format!("this is no document of ZigZag: {error}")).at(place)
}

/// What a document is called after, by its file or its place in a list.
fn called(source: &Source, number: Option<usize>) -> String {
    let stem = std::path::Path::new(&source.file).file_stem().map(|s| s.to_string_lossy());
    let stem = stem.unwrap_or_default();
    match number {
        Some(number) => format!("layer {number}"),
        None => stem.trim_end_matches("_complete").trim_end_matches("_simple").to_owned(),
    }
}

/// A layer; nothing for the sum over layers.
fn layer(
    source: &Source,
    number: Option<usize>,
    document: Document,
) -> Result<Option<ImportedLayer>, ImportError> {
    let place = Place::file(&source.file);
    let of_file = called(source, number);
    let Inputs { layer, accelerator } = document.inputs.unwrap_or_default();
    let described = match layer {
        Some(Layer::Many) => return Ok(None),
        Some(Layer::One(described)) => described,
        None if of_file == "overall" => return Ok(None),
        None => Described::default(),
    };
    let Described { name, extents, links } = described;
    let name = document.name.or(name).unwrap_or(of_file);
    let mut own = ImportedLayer::named(name, place.clone());
    if !extents.is_empty() {
        own.macs = Some(checked(extents.values().product(), &place)?.round() as u64);
    }
    match (document.outputs, document.latency) {
        (Some(outputs), _) => {
            add_latency(&mut own, &outputs.latency, &place)?;
            add_accesses(&mut own, outputs.memory.word_accesses, &place)?;
            let accelerator = accelerator.unwrap_or_default();
            for access in &mut own.accesses {
                let Some(operand) = &access.operand else { continue };
                let index = access.level.strip_prefix(operand.as_str()).map(str::parse::<usize>);
                let Some(Ok(index)) = index else { continue };
                let operand = links.get(operand).unwrap_or(operand);
                access.word = accelerator.word(operand, index);
                access.memory = accelerator.memory(operand, index);
            }
            own.stated = outputs.energy.map(|energy| StatedEnergy {
                total: energy.energy_total,
                operations: energy.operational_energy,
                levels: by_level(energy.memory_energy_breakdown_per_level),
            });
        }
        (None, Some(total)) => {
            own.compute = Cycles(checked(total, &place)?);
            own.parts.push((PhaseKind::Steady, own.compute));
        }
        (None, None) => {
            let said = "this document has neither outputs nor a latency".to_owned();
            return Err(TableFault::Json(said).at(place));
        }
    }
    Ok(Some(own))
}

/// A number of accesses or cycles.
fn checked(value: f64, place: &Place) -> Result<f64, ImportError> {
    amount(value)
        .map_err(|reason| TableFault::Number { text: value.to_string(), reason }.at(place.clone()))
}

/// `W0`: the level of an operand next to the datapath.
fn level(operand: &str, index: usize) -> String {
    format!("{operand}{index}")
}

fn by_level(energy: BTreeMap<String, Vec<f64>>) -> BTreeMap<String, f64> {
    let all = energy.into_iter().flat_map(|(operand, levels)| {
        let named = levels.into_iter().enumerate();
        named.map(move |(index, energy)| (level(&operand, index), energy)).collect::<Vec<_>>()
    });
    all.collect()
}

fn add_latency(
    layer: &mut ImportedLayer,
    latency: &Latency,
    place: &Place,
) -> Result<(), ImportError> {
    let parts = [
        (PhaseKind::Fill, latency.data_onloading),
        (PhaseKind::Steady, latency.computation),
        (PhaseKind::Drain, latency.data_offloading),
    ];
    for (kind, cycles) in parts {
        let cycles = checked(cycles, place)?;
        if kind == PhaseKind::Steady {
            layer.compute = Cycles(cycles);
        }
        if cycles > 0.0 {
            layer.parts.push((kind, Cycles(cycles)));
        }
    }
    Ok(())
}

fn add_accesses(
    layer: &mut ImportedLayer,
    accesses: Accesses,
    place: &Place,
) -> Result<(), ImportError> {
    let json = |said: String| TableFault::Json(said).at(place.clone());
    if accesses.len() > OPERANDS_LIMIT {
        return Err(json(format!("accesses of more than {OPERANDS_LIMIT} operands")));
    }
    for (operand, levels) in accesses {
        let printable = operand.len() <= 8 && operand.chars().all(|c| c.is_ascii_alphanumeric());
        if !printable || levels.len() > LEVELS_LIMIT {
            return Err(json(format!(
                "accesses of an operand with more than {LEVELS_LIMIT} levels, or of no name"
            )));
        }
        for (index, directions) in levels.into_iter().enumerate() {
            let (mut read, mut write) = (0.0, 0.0);
            for (direction, count) in directions {
                let count = checked(count, place)?;
                match direction.as_str() {
                    "rd_out_to_low" | "rd_out_to_high" | "rd v" | "rd ^" => read += count,
                    "wr_in_by_low" | "wr_in_by_high" | "wr v" | "wr ^" => write += count,
                    _ => {
                        let known: String = direction.chars().take(40).collect();
                        return Err(json(format!("`{known}` is no direction of an access")));
                    }
                }
            }
            let (level, operand) = (level(&operand, index), Some(operand.clone()));
            let unit = AccessUnit::PortWords;
            let (memory, word) = (None, None);
            layer.accesses.push(Access { level, operand, read, write, unit, memory, word });
        }
    }
    Ok(())
}

/// Rows of a table with cells of JSON.
fn rows(sheet: &Sheet<'_>) -> Result<Vec<ImportedLayer>, ImportError> {
    let (name, macs) = (sheet.needed("layer")?, sheet.needed("macs")?);
    let (words, latency) = (sheet.needed("word_accesses")?, sheet.needed("latency")?);
    let total = sheet.column("energy_total");
    let operations = sheet.column("operational_energy");
    let levels = sheet.column("memory_energy_per_level");
    let mut layers = Vec::with_capacity(sheet.rows.len());
    for row in &sheet.rows {
        let place = Place::line(sheet.file, row.line);
        let mut layer = ImportedLayer::named(row.cell(name).to_owned(), place);
        layer.macs = Some(sheet.whole(row, macs)?);
        let refused = |column| {
            move |error: serde_json::Error| {
                TableFault::Json(format!("this cell is no JSON of ZigZag: {error}"))
                    .at(sheet.place(row, column))
            }
        };
        let times: Latency = serde_json::from_str(row.cell(latency)).map_err(refused(latency))?;
        add_latency(&mut layer, &times, &sheet.place(row, latency))?;
        let accesses: Accesses = serde_json::from_str(row.cell(words)).map_err(refused(words))?;
        add_accesses(&mut layer, accesses, &sheet.place(row, words))?;
        let stated = |column: Option<usize>| column.and_then(|c| number(row.cell(c)).ok());
        if let (Some(total), Some(operations)) = (stated(total), stated(operations)) {
            let of: BTreeMap<String, Vec<f64>> = match levels {
                Some(column) => serde_json::from_str(row.cell(column)).map_err(refused(column))?,
                None => BTreeMap::new(),
            };
            layer.stated = Some(StatedEnergy { total, operations, levels: by_level(of) });
        }
        layers.push(layer);
    }
    Ok(layers)
}
