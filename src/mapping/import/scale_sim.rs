//! SCALE-Sim: `COMPUTE_REPORT.csv`, `BANDWIDTH_REPORT.csv`, `DETAILED_ACCESS_REPORT.csv`, and the topology
//! for the names of the layers.
//!
//! Cycles are `Total Cycles`, without the prefetch before the first. The detailed report counts words of
//! each operand read from and written to the SRAM buffers and the DRAM. Without it the words of the buffers
//! are their mean bandwidth times those cycles; the mean bandwidths of the DRAM are over intervals that
//! the report does not give, so that its words are not known.

use super::sheet::{Sheet, known_headers};
use super::source::Source;
use super::{
    Access, AccessUnit, ImportError, ImportedLayer, ImportedTable, Place, Reader, TableFault, Tool,
};
use crate::mapping::PhaseKind;
use crate::units::Cycles;

pub(super) const READER: Reader = Reader { tool: Tool::ScaleSim, knows, read, primary: None };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Compute,
    Bandwidth,
    Detail,
    Topology,
}

const COMPUTE: [&str; 4] = ["LayerID", "Total Cycles", "Stall Cycles", "Mapping Efficiency %"];
const BANDWIDTH: [&str; 4] =
    ["Avg IFMAP SRAM BW", "Avg FILTER SRAM BW", "Avg OFMAP SRAM BW", "Avg IFMAP DRAM BW"];
const DETAIL: [&str; 4] =
    ["SRAM IFMAP Reads", "SRAM Filter Reads", "SRAM OFMAP Writes", "DRAM IFMAP Reads"];
const TOPOLOGY: [&str; 4] = ["Layer name", "IFMAP Height", "Filter Height", "Num Filter"];

/// Operands, and whether they are written.
const OPERANDS: [(&str, bool); 3] = [("ifmap", false), ("filter", false), ("ofmap", true)];

/// Columns of the detailed report, level by level and operand by operand.
const WORDS: [(&str, [&str; 3]); 2] = [
    ("sram", ["SRAM IFMAP Reads", "SRAM Filter Reads", "SRAM OFMAP Writes"]),
    ("dram", ["DRAM IFMAP Reads", "DRAM Filter Reads", "DRAM OFMAP Writes"]),
];

fn kind(source: &Source) -> Option<Kind> {
    let kinds = [
        (Kind::Compute, COMPUTE),
        (Kind::Bandwidth, BANDWIDTH),
        (Kind::Detail, DETAIL),
        (Kind::Topology, TOPOLOGY),
    ];
    kinds.into_iter().find(|(_, known)| known_headers(source, known) >= 2).map(|(kind, _)| kind)
}

fn knows(source: &Source) -> bool {
    kind(source).is_some()
}

fn read(sources: &[Source]) -> Result<ImportedTable, ImportError> {
    let compute = one(sources, Kind::Compute, "report of cycles")?;
    let bandwidth = one(sources, Kind::Bandwidth, "report of bandwidths")?;
    let detail = one(sources, Kind::Detail, "report of accesses")?;
    let topology = one(sources, Kind::Topology, "topology")?;
    let Some(first) = compute.as_ref().or(detail.as_ref()).or(bandwidth.as_ref()) else {
        let file = sources.first().map_or("", |s| &s.file).to_owned();
        return Err(ImportError::NoCycles { file, help: "COMPUTE_REPORT.csv" });
    };
    let mut table = ImportedTable {
        tool: Tool::ScaleSim,
        files: sources.iter().map(|s| s.file.clone()).collect(),
        layers: rows(first)?,
        compiled: None,
        clock: None,
        ordered: true,
        halves_macs: false,
        lacks_cycles: compute.is_none().then_some("SCALE-Sim's COMPUTE_REPORT.csv"),
        notes: Vec::new(),
    };
    if let Some(sheet) = &compute {
        cycles(sheet, &mut table)?;
    }
    match (&detail, &bandwidth) {
        (Some(sheet), _) => words(sheet, &mut table)?,
        (None, Some(sheet)) => rates(sheet, &mut table)?,
        (None, None) => table.notes.push(
            "there is no report of accesses or bandwidths: bytes are not known, and none is costed"
                .to_owned(),
        ),
    }
    if let Some(sheet) = &topology {
        names(sheet, &mut table)?;
    }
    Ok(table)
}

/// The one file of a kind, if there is one.
fn one<'a>(
    sources: &'a [Source],
    wanted: Kind,
    what: &'static str,
) -> Result<Option<Sheet<'a>>, ImportError> {
    let mut found = sources.iter().filter(|s| kind(s) == Some(wanted));
    let (first, second) = (found.next(), found.next());
    if let (Some(first), Some(second)) = (first, second) {
        let fault = TableFault::Second { what, first: first.file.clone() };
        return Err(fault.at(Place::file(&second.file)));
    }
    first.map(Sheet::of).transpose()
}

/// A layer for each row, which is called by its number.
fn rows(sheet: &Sheet<'_>) -> Result<Vec<ImportedLayer>, ImportError> {
    let id = sheet.needed("LayerID")?;
    let layer = |row: &super::sheet::Row| {
        let number = sheet.whole(row, id)?;
        Ok(ImportedLayer::named(format!("layer {number}"), Place::line(sheet.file, row.line)))
    };
    sheet.rows.iter().map(layer).collect()
}

/// Rows of a report with their layers.
fn joined<'a, 'b>(
    sheet: &'a Sheet<'_>,
    table: &'b mut ImportedTable,
    id: Option<usize>,
) -> Result<Vec<(&'a super::sheet::Row, &'b mut ImportedLayer)>, ImportError> {
    let other = table.files.first().cloned().unwrap_or_default();
    let (rows, layers) = (sheet.rows.len(), table.layers.len());
    if rows != layers {
        let (what, name) = ("layer number", rows.min(layers).to_string());
        let other = if rows < layers { sheet.file.to_owned() } else { other };
        return Err(TableFault::NoPartner { what, name, other }.at(Place::file(sheet.file)));
    }
    let pairs: Vec<_> = sheet.rows.iter().zip(&mut table.layers).collect();
    if let Some(id) = id {
        for (row, layer) in &pairs {
            let name = format!("layer {}", sheet.whole(row, id)?);
            if name != layer.name {
                let (what, other) = ("row", other);
                return Err(TableFault::NoPartner { what, name, other }.at(sheet.place(row, id)));
            }
        }
    }
    Ok(pairs)
}

fn cycles(sheet: &Sheet<'_>, table: &mut ImportedTable) -> Result<(), ImportError> {
    let (id, total) = (sheet.needed("LayerID")?, sheet.needed("Total Cycles")?);
    let stall = sheet.needed("Stall Cycles")?;
    let prefetch = sheet.column("Total Cycles (incl. prefetch)");
    let (mut all, mut with) = (0.0, 0.0);
    for (row, layer) in joined(sheet, table, Some(id))? {
        let cycles = sheet.number(row, total)?;
        let stalled = sheet.number(row, stall)?;
        if stalled > cycles {
            let (text, reason) = (stalled.to_string(), "stall cycles are more than there are");
            return Err(TableFault::Number { text, reason }.at(sheet.place(row, stall)));
        }
        layer.compute = Cycles(cycles - stalled);
        if cycles > 0.0 {
            layer.parts.push((PhaseKind::Steady, Cycles(cycles)));
        }
        all += cycles;
        if let Some(column) = prefetch {
            with += sheet.number(row, column)?;
        }
    }
    if with > all {
        table.notes.push(format!(
            "cycles are SCALE-Sim's Total Cycles, {all}; with the prefetch before each layer they are {with}"
        ));
    }
    Ok(())
}

fn words(sheet: &Sheet<'_>, table: &mut ImportedTable) -> Result<(), ImportError> {
    let id = sheet.needed("LayerID")?;
    let mut columns = Vec::new();
    for (level, headers) in WORDS {
        for (header, operand) in headers.into_iter().zip(OPERANDS) {
            columns.push((level, operand, sheet.needed(header)?));
        }
    }
    for (row, layer) in joined(sheet, table, Some(id))? {
        for (level, operand, column) in &columns {
            add(layer, level, *operand, sheet.number(row, *column)?);
        }
    }
    Ok(())
}

fn rates(sheet: &Sheet<'_>, table: &mut ImportedTable) -> Result<(), ImportError> {
    let id = sheet.needed("LayerID")?;
    let headers = ["Avg IFMAP SRAM BW", "Avg FILTER SRAM BW", "Avg OFMAP SRAM BW"];
    let mut columns = Vec::new();
    for (header, operand) in headers.into_iter().zip(OPERANDS) {
        columns.push((operand, sheet.needed(header)?));
    }
    for (row, layer) in joined(sheet, table, Some(id))? {
        let cycles = layer.cycles().0;
        for (operand, column) in &columns {
            add(layer, "sram", *operand, sheet.number(row, *column)? * cycles);
        }
    }
    table.notes.push(
        "words of the buffers are SCALE-Sim's mean bandwidths times its cycles; those of the DRAM are not in this report, and are not costed: give DETAILED_ACCESS_REPORT.csv too"
            .to_owned(),
    );
    Ok(())
}

fn add(layer: &mut ImportedLayer, level: &str, (operand, written): (&str, bool), words: f64) {
    if words > 0.0 {
        let (read, write) = if written { (0.0, words) } else { (words, 0.0) };
        let (level, operand) = (level.to_owned(), Some(operand.to_owned()));
        let unit = AccessUnit::Elements;
        layer.accesses.push(Access { level, operand, read, write, unit, memory: None, word: None });
    }
}

/// Names and multiply-accumulates of the layers.
fn names(sheet: &Sheet<'_>, table: &mut ImportedTable) -> Result<(), ImportError> {
    let name = sheet.needed("Layer name")?;
    let mut columns = Vec::new();
    for header in
        ["IFMAP Height", "IFMAP Width", "Filter Height", "Filter Width", "Channels", "Num Filter"]
    {
        columns.push(sheet.needed(header)?);
    }
    let stride = sheet.column("Strides").or_else(|| sheet.column("Stride height"));
    for (row, layer) in joined(sheet, table, None)? {
        let mut extents = [0.0; 6];
        for (extent, column) in extents.iter_mut().zip(&columns) {
            *extent = sheet.number(row, *column)?;
        }
        let step = stride.map_or(Ok(1.0), |column| sheet.number(row, column))?;
        layer.name = row.cell(name).to_owned();
        layer.macs = macs(extents, step);
    }
    Ok(())
}

/// Multiply-accumulates of a layer of a topology, which has no padding and rounds the last step up.
fn macs([height, width, rows, columns, channels, filters]: [f64; 6], stride: f64) -> Option<u64> {
    let steps = |extent: f64, window: f64| ((extent - window) / stride).ceil() + 1.0;
    let out = steps(height, rows) * steps(width, columns);
    let macs = out * rows * columns * channels * filters;
    (stride > 0.0 && out > 0.0 && macs <= 1e18).then_some(macs as u64)
}
