//! Vela: `per-layer.csv` (`--verbose-performance`), the `summary.csv` beside it, and a table of its
//! schedule where there is one.
//!
//! A row has the cycles of an operator (`Op Cycles`), and for each resource the cycles that it is at work:
//! the datapath (`NPU`) and the port of each memory. The operator takes as long as the longest of them, and
//! operators follow each other. The summary has bytes by memory of the whole network; those of a row are
//! its share of the access cycles of that memory. Its bandwidths are printed as GB/s and are 2^30 B/s:
//! cycles of a port times its bytes a cycle come near to the bytes and no nearer, so the cycles only share
//! out what the summary says. Of Vela 5.2 on four networks they are 86 to 100 % of the bytes of the SRAM
//! and 64 to 118 % of those of the flash on Ethos-U55 (weights that are fetched ahead cost the operator no
//! cycles of the port), 64 to 95 % of those of the SRAM and 3.6 to 8.5 times those of the DRAM on Ethos-U85.

use super::sheet::{Sheet, known_headers};
use super::source::Source;
use super::{
    Access, AccessUnit, Compiled, EncodedWeights, ImportError, ImportedLayer, ImportedTable, Place,
    Reader, TableFault, Tool,
};
use crate::mapping::PhaseKind;
use crate::units::{Bytes, Cycles, Hertz};

pub(super) const READER: Reader =
    Reader { tool: Tool::Vela, knows, read, primary: Some(|s| kind(s) == Some(Kind::Layers)) };

/// Largest relative difference between sums that are to be equal.
const ROUNDING: f64 = 1e-3;

/// What a file of Vela holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Layers,
    Summary,
    Schedule,
}

const LAYERS: [&str; 8] = [
    "NNG Operator",
    "Op Cycles",
    "NPU",
    "SRAM AC",
    "DRAM AC",
    "OnFlash AC",
    "OffFlash AC",
    "MAC Count",
];
const SUMMARY: [&str; 5] =
    ["accelerator_configuration", "core_clock", "cycles_total", "sram_total_bytes", "nn_macs"];
const SCHEDULE: [&str; 4] =
    ["ofm_shape", "encoded_weight_bytes", "weight_buffering", "block_config"];

/// Levels of memory: name, column of the access cycles, prefix in the summary.
const LEVELS: [(&str, &str, &str); 4] = [
    ("sram", "SRAM AC", "sram"),
    ("dram", "DRAM AC", "dram"),
    ("on_chip_flash", "OnFlash AC", "on_chip_flash"),
    ("off_chip_flash", "OffFlash AC", "off_chip_flash"),
];

fn kind(source: &Source) -> Option<Kind> {
    let kinds = [
        (Kind::Layers, known_headers(source, &LAYERS), 4),
        (Kind::Summary, known_headers(source, &SUMMARY), 3),
        (Kind::Schedule, known_headers(source, &SCHEDULE), 2),
    ];
    kinds.into_iter().find(|(_, known, least)| known >= least).map(|(kind, ..)| kind)
}

fn knows(source: &Source) -> bool {
    kind(source).is_some()
}

fn read(sources: &[Source]) -> Result<ImportedTable, ImportError> {
    let of = |wanted| sources.iter().filter(move |s| kind(s) == Some(wanted));
    let Some(source) = of(Kind::Layers).next() else {
        let file = sources.first().map_or("", |s| &s.file).to_owned();
        return Err(ImportError::NoCycles { file, help: "Vela's per-layer.csv" });
    };
    if let Some(other) = of(Kind::Layers).nth(1) {
        let fault = TableFault::Second { what: "per-layer table", first: source.file.clone() };
        return Err(fault.at(Place::file(&other.file)));
    }
    let sheet = Sheet::of(source)?;
    let layers = layers(&sheet)?;
    let mut table = ImportedTable {
        tool: Tool::Vela,
        files: vec![source.file.clone()],
        layers,
        compiled: None,
        clock: None,
        ordered: true,
        halves_macs: false,
        lacks_cycles: None,
        notes: Vec::new(),
    };
    if let Some(summary) = summary(of(Kind::Summary), &table)? {
        bytes(&mut table, &summary)?;
    } else {
        table.notes.push(
            "there is no summary of Vela beside the table: bytes are not known, and none is costed"
                .to_owned(),
        );
    }
    if let Some(schedule) = schedule_of(of(Kind::Schedule), source) {
        add_weights(&mut table, schedule)?;
    }
    Ok(table)
}

fn layers(sheet: &Sheet<'_>) -> Result<Vec<ImportedLayer>, ImportError> {
    let operator = sheet.column("Original Operator").or_else(|| sheet.column("TFLite Operator"));
    let (inner, name) = (sheet.needed("NNG Operator")?, sheet.needed("Name")?);
    let (cycles, npu) = (sheet.needed("Op Cycles")?, sheet.needed("NPU")?);
    let (macs, target) = (sheet.needed("MAC Count")?, sheet.column("Target"));
    let mut ports = Vec::new();
    for (level, column, _) in LEVELS {
        ports.push((level, sheet.needed(column)?));
    }
    let mut layers: Vec<ImportedLayer> = Vec::with_capacity(sheet.rows.len());
    for row in &sheet.rows {
        let place = Place::line(sheet.file, row.line);
        let mut layer = ImportedLayer::named(row.cell(name).to_owned(), place);
        let own = operator.map_or_else(|| row.cell(inner), |column| row.cell(column));
        let before = layers.last().and_then(|layer| layer.operator.as_deref());
        layer.continues = before == Some(own) && row.cell(inner) != own;
        layer.operator = Some(own.to_owned());
        layer.step = Some(row.cell(inner).to_owned());
        layer.apart = target.is_some_and(|column| row.cell(column).eq_ignore_ascii_case("CPU"));
        let total = Cycles(sheet.number(row, cycles)?);
        layer.compute = Cycles(sheet.number(row, npu)?);
        if total.0 > 0.0 {
            layer.parts.push((PhaseKind::Steady, total));
        }
        layer.macs = Some(sheet.whole(row, macs)?);
        for (level, column) in &ports {
            let busy = Cycles(sheet.number(row, *column)?);
            if busy.0 > 0.0 {
                layer.busy.insert((*level).to_owned(), busy);
            }
        }
        longest(sheet, row, cycles, &layer)?;
        layers.push(layer);
    }
    Ok(layers)
}

/// An operator takes as long as the longest of its resources: holds that against the row.
fn longest(
    sheet: &Sheet<'_>,
    row: &super::sheet::Row,
    column: usize,
    layer: &ImportedLayer,
) -> Result<(), ImportError> {
    let longest = layer.busy.values().fold(layer.compute, |most, busy| most.max(*busy));
    if layer.cycles() == longest {
        return Ok(());
    }
    let (text, reason) = (row.cell(column).to_owned(), "is not the longest of the row's resources");
    Err(TableFault::Number { text, reason }.at(sheet.place(row, column)))
}

/// The one row of a summary.
struct Summary<'a> {
    sheet: Sheet<'a>,
}

impl Summary<'_> {
    fn number(&self, column: &'static str) -> Result<f64, ImportError> {
        let place = self.sheet.needed(column)?;
        match self.sheet.rows.first() {
            Some(row) => self.sheet.number(row, place),
            None => Err(TableFault::NoRows.at(Place::file(self.sheet.file))),
        }
    }

    /// A number of a level, whose column is called after it; 0 without one.
    fn of(&self, level: &str, what: &str) -> Result<f64, ImportError> {
        let wanted = format!("{level}_{what}");
        match (self.sheet.column(&wanted), self.sheet.rows.first()) {
            (Some(column), Some(row)) => self.sheet.number(row, column),
            _ => Ok(0.0),
        }
    }

    fn compiled(&self) -> Result<Compiled, ImportError> {
        let text = |column| self.text(column).to_owned();
        let encoded = Bytes(self.of("total_npu", "encoded_weights")?);
        Ok(Compiled {
            network: text("network"),
            accelerator: text("accelerator_configuration"),
            system: text("system_config"),
            encoded: Some(encoded).filter(|encoded| encoded.0 > 0.0),
        })
    }

    fn text(&self, column: &str) -> &str {
        let place = self.sheet.column(column);
        place.and_then(|p| Some(self.sheet.rows.first()?.cell(p))).unwrap_or("")
    }
}

/// The summary of this table: of those that lie there the one with its cycles.
fn summary<'a>(
    sources: impl Iterator<Item = &'a Source>,
    table: &ImportedTable,
) -> Result<Option<Summary<'a>>, ImportError> {
    let mut off = None;
    for source in sources {
        let summary = match Sheet::of(source) {
            Ok(sheet) => Summary { sheet },
            Err(_) if !source.asked => continue,
            Err(error) => return Err(error),
        };
        let (sum, stated) = (table.cycles().0, summary.number("cycles_total")?);
        if (sum - stated).abs() <= ROUNDING * stated {
            return Ok(Some(summary));
        }
        let file = table.files.first().map_or("", String::as_str);
        let stated_in = source.file.clone();
        let fault = TableFault::Sum { what: "cycles", sum, stated, stated_in };
        off = Some(fault.at(Place::file(file)));
    }
    off.map_or(Ok(None), Err)
}

/// Shares the bytes of the summary out, by access cycles.
fn bytes(table: &mut ImportedTable, summary: &Summary<'_>) -> Result<(), ImportError> {
    table.files.push(summary.sheet.file.to_owned());
    let clock = summary.number("core_clock")?;
    if clock > 0.0 {
        table.clock = Some(Hertz(clock));
    }
    table.compiled = Some(summary.compiled()?);
    table.halves_macs = summary.text("accelerator_configuration").contains("U85");
    for (level, _, prefix) in LEVELS {
        let total = summary.of(prefix, "total_bytes")?;
        let cycles = |layer: &ImportedLayer| layer.busy.get(level).map_or(0.0, |busy| busy.0);
        let all: f64 = table.layers.iter().map(cycles).sum();
        if total <= 0.0 {
            continue;
        }
        if all <= 0.0 {
            table.notes.push(format!(
                "{total} B of {level} belong to no row of Vela's table: they are not costed"
            ));
            continue;
        }
        let written = summary.of(prefix, "feature_map_write_bytes")?
            + summary.of(prefix, "weight_write_bytes")?;
        let write = (written / total).min(1.0);
        for layer in &mut table.layers {
            let bytes = total * cycles(layer) / all;
            if bytes > 0.0 {
                let (level, operand) = (level.to_owned(), None);
                let (read, write) = (bytes * (1.0 - write), bytes * write);
                let unit = AccessUnit::Bytes;
                layer.accesses.push(Access {
                    level,
                    operand,
                    read,
                    write,
                    unit,
                    memory: None,
                    word: None,
                });
            }
        }
        let a_cycle = summary.of(prefix, "bandwidth")? * f64::from(1u32 << 30) / clock;
        table.notes.push(format!(
            "bytes of {level}: the {total} B of Vela's summary, shared out by access cycles; {all} of them at {a_cycle:.2} B are {:.0} % of that",
            all * a_cycle / total * 100.0
        ));
    }
    Ok(())
}

/// The schedule of a table: one that was asked for, or the only one beside it.
fn schedule_of<'a>(
    mut sources: impl Iterator<Item = &'a Source>,
    table: &Source,
) -> Option<&'a Source> {
    let first = sources.next()?;
    let alone = sources.next().is_none();
    (alone || first.asked == table.asked).then_some(first)
}

/// Adds encoded weights to the rows, which follow each other as in the schedule; what is fused has none
/// there.
fn add_weights(table: &mut ImportedTable, source: &Source) -> Result<(), ImportError> {
    let sheet = match Sheet::of(source) {
        Ok(sheet) => sheet,
        Err(_) if !source.asked => return Ok(()),
        Err(error) => return Err(error),
    };
    let (operator, bytes) = (sheet.needed("op")?, sheet.needed("encoded_weight_bytes")?);
    let (buffering, block) = (sheet.column("weight_buffering"), sheet.column("block_config"));
    let mut rows = table.layers.iter_mut();
    for row in &sheet.rows {
        let own = row.cell(operator);
        let Some(layer) = rows.by_ref().find(|layer| layer.step.as_deref() == Some(own)) else {
            let (what, name) = ("operator", own.chars().take(40).collect());
            let other = table.files.first().cloned().unwrap_or_default();
            let fault = TableFault::NoPartner { what, name, other };
            return Err(fault.at(sheet.place(row, operator)));
        };
        layer.weights = Some(EncodedWeights {
            bytes: sheet.whole(row, bytes)?,
            buffering: buffering.map_or("", |column| row.cell(column)).to_owned(),
            block: block.map_or("", |column| row.cell(column)).to_owned(),
        });
    }
    table.files.push(source.file.clone());
    Ok(())
}
