//! `hardware import-table`: a power spreadsheet as state loads.

use super::new::quoted;
use super::{allowed, folder_of, read_back};
use crate::cli::{Answer, CliError};
use crate::evidence::Kind;
use crate::hardware::{
    BlockTable, HardwareError, Profile, TableError, Terms, TotalCheck, base_name, checked_name,
    profile_fragment, profile_onto,
};
use crate::report::write_file;
use crate::units::{Literal, Spread, Watts};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger than any table that is read.
const BYTES_LIMIT: u64 = (16 << 20) + 1;

/// Arguments of `hardware import-table`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ImportTable {
    /// A .csv file: one row for each block in each mode
    table: PathBuf,
    /// Rail of blocks whose row names none
    #[arg(long, value_name = "NAME")]
    rail: Option<String>,
    /// The profile that the blocks are added to: a shipped name or a .ron file
    #[arg(long, value_name = "PROFILE")]
    onto: Option<String>,
    /// Add rails that this profile lacks, each fed by an ideal supply
    #[arg(long, requires = "onto")]
    new_rails: bool,
    /// Name of the new profile; that of the file when left out
    #[arg(long)]
    name: Option<String>,
    /// What the numbers of the table are
    #[arg(long, value_enum, default_value = "assumed")]
    kind: SourceKind,
    /// How far its powers may be off, such as "±20%"; what that kind has when left out
    #[arg(long, value_name = "SPREAD", allow_hyphen_values = true)]
    spread: Option<String>,
    /// Mode that blocks are in unless told otherwise, where they have it; their first when left out
    #[arg(long, value_name = "MODE")]
    initial: Option<String>,
    /// The .ron file to write; printed when left out
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// A summary as JSON
    #[arg(long)]
    json: bool,
}

/// Kinds of source that a table can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SourceKind {
    /// Taken with an instrument
    Measured,
    /// The vendor's stated values
    Datasheet,
    /// A publication
    Paper,
    /// Computed by a stated formula, or by a tool
    Derived,
    /// From memory
    Recalled,
    /// Nothing is known of where they come from
    Assumed,
}

impl ImportTable {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        if let Some(out) = &self.out {
            allowed(out, self.force)?;
        }
        let mut table = self.read()?;
        let initial = self.initial.as_deref().map(|mode| table.has_mode(mode));
        initial.transpose().map_err(HardwareError::from)?;
        let terms =
            Terms { kind: self.kind.into(), spread: self.spread()?, initial: self.initial.clone() };
        let text = match &self.onto {
            Some(onto) => self.onto(onto, &mut table, &terms)?,
            None => {
                let name = self.name.as_deref().map(checked_name).transpose()?;
                profile_fragment(&table, name, &terms)
            }
        };
        if let Some(out) = &self.out {
            write_file(out, &text)?;
        }
        Ok(match (&self.out, self.json) {
            (_, true) => Answer::json(&self.summary(&table, &text), true),
            (None, false) => Answer::yes(text),
            (Some(out), false) => Answer::yes(self.said(&table, out)),
        })
    }

    fn read(&self) -> Result<BlockTable, CliError> {
        let refused = |source| CliError::Table { path: self.table.clone(), source };
        let file = std::fs::File::open(&self.table).map_err(refused)?;
        let mut bytes = Vec::new();
        file.take(BYTES_LIMIT).read_to_end(&mut bytes).map_err(refused)?;
        let name = self.table.to_string_lossy();
        Ok(BlockTable::read(&name, &bytes, self.rail.as_deref()).map_err(HardwareError::from)?)
    }

    fn spread(&self) -> Result<Option<Spread>, CliError> {
        let Some(text) = &self.spread else { return Ok(None) };
        let marked = if text.contains(['±', '+']) { text.clone() } else { format!("±{text}") };
        let refused = |error| CliError::Argument { argument: "--spread", error };
        let literal = Literal::parse_as::<Watts>(&format!("1 W {marked}")).map_err(refused)?;
        let relative = marked.trim_end().ends_with('%') && literal.source.is_none();
        literal.spread_as::<Watts>().filter(|_| relative).map(Some).ok_or_else(|| {
            let message = "expected a share of the value, such as \"±20%\"".to_owned();
            refused(crate::units::LiteralError { message, span: 0..text.len() })
        })
    }

    /// The text of a profile that extends another one, read back.
    fn onto(&self, onto: &str, table: &mut BlockTable, terms: &Terms) -> Result<String, CliError> {
        let profile = Profile::load(onto)?;
        let fits: Result<(), TableError> = table.fits(&profile, self.new_rails);
        fits.map_err(HardwareError::from)?;
        let file = self.out.as_ref().unwrap_or(&self.table);
        let stem = file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into());
        let name = self.name.clone().unwrap_or(stem);
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("printed.ron"));
        let base = base_name(onto, &folder_of(&out));
        let text = profile_onto(table, checked_name(&name)?, &base, &profile, terms);
        read_back(&out, &text)?;
        Ok(text)
    }

    fn said(&self, table: &BlockTable, out: &Path) -> String {
        let (blocks, modes) = (table.blocks.len(), table.modes());
        let rails = table.rails().join(", ");
        let mut said =
            format!("{blocks} blocks in {modes} modes on {rails}, written to {}\n", out.display());
        for remark in table.remarks() {
            said.push_str(&format!("{remark}\n"));
        }
        let agree = table.totals.iter().filter(|total| total.agrees).count();
        if agree > 0 {
            said.push_str(&format!(
                "{agree} of {} sums are those of their rows\n",
                table.totals.len()
            ));
        }
        said.push_str(&match self.onto {
            Some(_) => {
                format!("next: joulecast hardware show {} --tree\n", quoted(&out.to_string_lossy()))
            }
            None => "a part of a profile: put it into one, or give --onto PROFILE\n".to_owned(),
        });
        said
    }

    fn summary(&self, table: &BlockTable, text: &str) -> Value {
        let blocks = table.blocks.iter().map(|block| {
            let modes: Vec<&str> = block.modes.iter().map(|mode| mode.name.as_str()).collect();
            json!({"name": block.name, "rail": block.rail, "modes": modes})
        });
        let unread = table.unread.iter().map(
            |column| json!({"column": column.letter, "header": column.header, "near": column.near, "power": column.power}),
        );
        let totals = table.totals.iter().map(|TotalCheck { line, of, stated, sum, agrees }| {
            json!({"line": line, "of": of, "stated_w": stated, "sum_w": sum, "agrees": agrees})
        });
        json!({
            "schema": "joulecast.import_table/1", "table": table.file, "onto": self.onto,
            "path": self.out.as_ref().map(|out| out.display().to_string()),
            "blocks": blocks.collect::<Vec<_>>(), "rails": table.rails(),
            "unread": unread.collect::<Vec<_>>(), "totals": totals.collect::<Vec<_>>(),
            "notes": table.notes,
            "text": if self.out.is_none() { Some(text) } else { None },
        })
    }
}

impl From<SourceKind> for Kind {
    fn from(kind: SourceKind) -> Self {
        match kind {
            SourceKind::Measured => Self::Measured,
            SourceKind::Datasheet => Self::Datasheet,
            SourceKind::Paper => Self::Paper,
            SourceKind::Derived => Self::Derived,
            SourceKind::Recalled => Self::Recalled,
            SourceKind::Assumed => Self::Assumed,
        }
    }
}
