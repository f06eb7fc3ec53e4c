//! Which networks ship.

use super::{grouped, table};
use comfy_table::CellAlignment;

/// `model list`.
pub fn model_list_table(rows: &[(&str, &str, u64, u64)]) -> String {
    let mut out = table(&["model", "MACs", "parameters", "file"], 1);
    if let Some(column) = out.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for (name, path, macs, parameters) in rows {
        out.add_row(vec![
            (*name).to_owned(),
            grouped(*macs),
            grouped(*parameters),
            (*path).to_owned(),
        ]);
    }
    format!("{out}\n")
}
