//! Arguments of a table of another tool, whose cycles and bytes stand in for our own.

use super::CliError;
use crate::cost::Setting;
use crate::mapping::Network;
use crate::mapping::import::{Choices, Imported, ImportedTable};
use clap::Args;
use std::path::PathBuf;

/// A table of another tool.
#[derive(Debug, Args)]
pub(super) struct TableArguments {
    /// Take cycles and bytes from a table of Vela, ZigZag or SCALE-Sim: a file or the folder of a run;
    /// given again for more files of it
    #[arg(long = "table", value_name = "FILE|FOLDER")]
    tables: Vec<PathBuf>,
    /// The memory that a level of the table is, such as sram=npu_sram; `none` for what the engine's own
    /// energy holds
    #[arg(long = "table-level", value_name = "LEVEL=MEMORY", value_parser = level, requires = "tables")]
    levels: Vec<(String, String)>,
    /// Bytes of a word of a level of the table
    #[arg(long = "table-word", value_name = "LEVEL=BYTES", value_parser = word, requires = "tables")]
    words: Vec<(String, f64)>,
    /// The engine that the table is of; the one with most of the MACs when left out
    #[arg(long = "table-engine", value_name = "NAME", requires = "tables")]
    engine: Option<String>,
}

fn level(text: &str) -> Result<(String, String), String> {
    let (level, memory) =
        text.split_once('=').ok_or("expected LEVEL=MEMORY, for example sram=npu_sram")?;
    Ok((level.trim().to_owned(), memory.trim().to_owned()))
}

fn word(text: &str) -> Result<(String, f64), String> {
    let (level, bytes) = text.split_once('=').ok_or("expected LEVEL=BYTES, for example W0=2")?;
    let bytes = bytes.trim().parse().map_err(|_| format!("`{bytes}` is not a number of bytes"))?;
    Ok((level.trim().to_owned(), bytes))
}

impl TableArguments {
    /// True where there is one.
    pub(super) fn is_given(&self) -> bool {
        !self.tables.is_empty()
    }

    /// The table, laid on a network and a profile; nothing where none is given.
    pub(super) fn onto(
        &self,
        network: &Network,
        setting: Setting<'_>,
    ) -> Result<Option<Imported>, CliError> {
        if !self.is_given() {
            return Ok(None);
        }
        let choices = Choices {
            engine: self.engine.clone(),
            levels: self.levels.iter().cloned().collect(),
            words: self.words.iter().cloned().collect(),
        };
        let table = ImportedTable::read(&self.tables)?;
        Ok(Some(Imported::onto(table, network, &choices, setting)?))
    }
}
