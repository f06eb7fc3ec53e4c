//! Tables and totals for the terminal, in a readable width.

mod advice;
mod against;
mod align;
mod calibration;
mod convert;
mod fold;
mod hardware;
mod inspect;
mod layers;
mod limits;
mod measured;
mod memory;
mod models;
mod outlook;
mod prediction;
mod protocols;
mod repeat;
mod roofline;
mod scenario;
mod validation;
mod validation_markdown;
mod variants;

pub use advice::advice_text;
pub use against::against_markdown;
pub use align::align_text;
pub use calibration::{calibration_text, notes_text};
pub use convert::converted_text;
pub use fold::{fold_csv, fold_text};
pub(super) use hardware::MOVERS;
pub use hardware::{
    CheckedModel, hardware_check_text, hardware_list_table, hardware_numbers_text,
    hardware_tree_text, headlines_text, software_check_text, weak_numbers_text,
};
pub(super) use inspect::order_text;
pub use inspect::{inspect_text, kinds_text};
pub use layers::LayerView;
pub(super) use layers::key_name;
pub use measured::{formats_table, info_text, measured_text};
pub use memory::memory_text;
pub use models::{ListedModel, model_list_table};
pub use outlook::{scenario_check_text, scenario_list_table};
pub(super) use prediction::window_name;
pub use prediction::{estimate_text, run_text};
pub use protocols::protocols_text;
pub use repeat::repeat_text;
pub use roofline::roofline_text;
pub use scenario::scenario_text;
pub use validation::{Rows, comparison_table};
pub use validation_markdown::{comparison_markdown, with_tables};
pub use variants::variants_table;

use limits::{charge, duration};
use prediction::{identity, shares};

use comfy_table::presets::{NOTHING, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Rules above, below and under the header, none between rows.
const RULED: TableStyle = UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none());

fn table(headers: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(headers.to_vec());
    align(&mut table, headers.len(), left);
    for column in table.column_iter_mut() {
        column.set_padding((1, 0));
    }
    table
}

fn plain(columns: usize, left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    // A header gives the table its columns before its first row.
    table.set_header(vec![""; columns]);
    align(&mut table, columns, left);
    table
}

fn align(table: &mut Table, columns: usize, left: usize) {
    for index in left..columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A count with thin groups: `12 501 632`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Widest line of a list.
const LIST_WIDTH: usize = 110;

/// `head: a, b, c` in lines that end between two parts; later lines are indented.
fn listed(head: &str, parts: &[String]) -> String {
    let mut text = format!("{head}:");
    let mut width = text.chars().count();
    for (i, part) in parts.iter().enumerate() {
        let comma = if i + 1 < parts.len() { "," } else { "" };
        let own = part.chars().count() + comma.len();
        if i > 0 && width + 1 + own > LIST_WIDTH {
            text.push_str("\n ");
            width = 1;
        }
        text.push(' ');
        text.push_str(part);
        text.push_str(comma);
        width += 1 + own;
    }
    text.push('\n');
    text
}

/// The end of a long name, which is where names differ.
fn shortened(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let tail: String = name.chars().skip(count - (width - 1)).collect();
    format!("…{tail}")
}

fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() < 10.0 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// A plain table without its empty header line.
fn without_header(table: &Table) -> String {
    let text = table.to_string();
    let mut lines = text.lines();
    lines.next();
    let mut out = String::new();
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
