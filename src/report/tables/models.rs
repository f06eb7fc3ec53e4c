//! Which networks ship.

use super::{grouped, table};
use crate::model::Origin;
use comfy_table::CellAlignment;
use serde::Serialize;

/// A network that ships.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedModel {
    /// The name it is found by.
    pub name: &'static str,
    /// Its place in the repository.
    pub path: &'static str,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Parameters that are stored, each once.
    pub parameters: u64,
    /// The file it was imported from, if any.
    pub origin: Option<Origin>,
    /// Where it is described.
    pub source: Option<String>,
    /// The licence of that description.
    pub licence: Option<String>,
}

/// `model list`.
pub fn model_list_table(rows: &[ListedModel]) -> String {
    let mut out = table(&["model", "MACs", "parameters", "file"], 1);
    if let Some(column) = out.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for row in rows {
        out.add_row(vec![
            row.name.to_owned(),
            grouped(row.macs),
            grouped(row.parameters),
            row.path.to_owned(),
        ]);
    }
    format!("{out}\n")
}
