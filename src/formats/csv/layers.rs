//! The layers of a network as a table, for spreadsheets and pandas: what `inspect --json` says of
//! each but its operands, one row a layer in the order they run. What is not known, or has no meaning for a layer,
//! is an empty cell. Units are suffixes of the column names.

use super::super::FormatError;
use super::cells::{number_text, write_failed, writer};
use crate::model::{
    ElementFunction, ElementOps, Gemm, LayerProfile, ModelProfile, OpKind, Sums, WeightMean,
    WeightStatistics, Window, Work,
};
use std::io::Write;

const FILE: &str = "layers.csv";

/// A column that a field fills.
type Field<T, V> = (&'static str, fn(&T) -> V);
/// Names of columns, and what stands in them.
type Columns<'a, T> = Vec<(String, Box<dyn Fn(&T) -> String + 'a>)>;

/// Writes one row a layer.
pub fn write_layers(profile: &ModelProfile, out: &mut impl Write) -> Result<(), FormatError> {
    write(&layer_columns(), profile.layers.iter(), out)
}

/// Writes one row for each kind of layer, with sums.
pub fn write_kinds(profile: &ModelProfile, out: &mut impl Write) -> Result<(), FormatError> {
    let kinds: Vec<_> = profile.by_kind().into_iter().collect();
    write(&kind_columns(&profile.total), kinds.iter(), out)
}

fn write<'a, T: 'a>(
    columns: &Columns<'_, T>,
    rows: impl Iterator<Item = &'a T>,
    out: &mut impl Write,
) -> Result<(), FormatError> {
    let failed = |e| write_failed(FILE, e);
    let mut table = writer(out);
    table.write_record(columns.iter().map(|(name, _)| name)).map_err(failed)?;
    for row in rows {
        table.write_record(columns.iter().map(|(_, cell)| cell(row))).map_err(failed)?;
    }
    table.flush().map_err(|e| failed(e.into()))
}

fn column<'a, T>(columns: &mut Columns<'a, T>, name: &str, cell: impl Fn(&T) -> String + 'a) {
    columns.push((name.to_owned(), Box::new(cell)));
}

fn layer_columns() -> Columns<'static, LayerProfile> {
    let mut columns: Columns<'static, LayerProfile> = Columns::new();
    let c = &mut columns;
    column(c, "file_position", |l| l.file_position.to_string());
    column(c, "name", |l| l.layer.name.clone());
    column(c, "kind", |l| l.layer.work.kind.to_string());
    column(c, "native", |l| l.layer.native.clone());
    column(c, "function", |l| l.layer.function.map_or_else(String::new, |f| f.to_string()));
    column(c, "element", |l| l.layer.work.element.to_string());
    column(c, "output_shape", |l| {
        l.layer.output_shape.as_ref().map_or_else(String::new, |shape| {
            shape.0.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
        })
    });
    work_columns(c);
    column(c, "activation_bytes", |l| l.activation_bytes.to_string());
    column(c, "live_during_bytes", |l| l.live_during_bytes.to_string());
    column(c, "live_after_bytes", |l| l.live_after_bytes.to_string());
    product_columns(c);
    statistics_columns(c);
    columns
}

fn work_columns(c: &mut Columns<'static, LayerProfile>) {
    let counts: [Field<Work, u64>; 9] = [
        ("macs", |w| w.macs),
        ("live_macs", |w| w.live_macs),
        ("skippable_macs", |w| w.skippable_macs),
        ("element_ops", |w| w.element_ops),
        ("parameters", |w| w.parameters),
        ("weight_bytes", |w| w.weight_bytes),
        ("input_bytes", |w| w.input_bytes),
        ("output_bytes", |w| w.output_bytes),
        ("output_elements", |w| w.output_elements),
    ];
    for (name, count) in counts {
        column(c, name, move |l| count(&l.layer.work).to_string());
    }
    for function in FUNCTIONS {
        column(c, function_column(function), move |l| {
            operations(&l.layer.work.element_ops_by_function, function).to_string()
        });
    }
}

/// The matrix product that MAC work amounts to, and the window of a convolution.
fn product_columns(c: &mut Columns<'static, LayerProfile>) {
    let product: [Field<Gemm, u64>; 4] = [
        ("gemm_groups", |g| g.groups),
        ("gemm_m", |g| g.m),
        ("gemm_n", |g| g.n),
        ("gemm_k", |g| g.k),
    ];
    for (name, extent) in product {
        column(c, name, move |l| {
            l.layer.work.gemm.as_ref().map_or_else(String::new, |g| extent(g).to_string())
        });
    }
    let window: [Field<Window, u64>; 8] = [
        ("window_kernel_height", |w| w.kernel_height),
        ("window_kernel_width", |w| w.kernel_width),
        ("window_output_height", |w| w.output_height),
        ("window_output_width", |w| w.output_width),
        ("window_input_channels", |w| w.input_channels),
        ("window_output_channels", |w| w.output_channels),
        ("window_groups", |w| w.groups),
        ("window_batch", |w| w.batch),
    ];
    for (name, extent) in window {
        column(c, name, move |l| {
            l.layer.work.window.as_ref().map_or_else(String::new, |w| extent(w).to_string())
        });
    }
}

fn statistics_columns(c: &mut Columns<'static, LayerProfile>) {
    let shares: [Field<WeightStatistics, Option<f64>>; 5] = [
        ("weight_zeros", |s| Some(s.zeros)),
        ("weight_entropy_bits", |s| Some(s.entropy_bits)),
        ("weight_one_of_four", |s| s.one_of_four),
        ("weight_two_of_four", |s| s.two_of_four),
        ("weight_four_of_eight", |s| s.four_of_eight),
    ];
    for (name, share) in shares {
        column(c, name, move |l| {
            l.weight_statistics.as_ref().and_then(share).map_or_else(String::new, number_text)
        });
    }
    column(c, "weight_zero_filters", |l| {
        l.weight_statistics.map_or_else(String::new, |s| s.zero_filters.to_string())
    });
}

fn kind_columns(total: &Sums) -> Columns<'_, (OpKind, Sums)> {
    let mut columns = Columns::new();
    let c = &mut columns;
    column(c, "kind", |(kind, _): &(OpKind, Sums)| kind.to_string());
    let counts: [Field<Sums, u64>; 9] = [
        ("layers", |s| s.layers),
        ("macs", |s| s.macs),
        ("live_macs", |s| s.live_macs),
        ("skippable_macs", |s| s.skippable_macs),
        ("element_ops", |s| s.element_ops),
        ("parameters_read", |s| s.parameters_read),
        ("weight_bytes_read", |s| s.weight_bytes_read),
        ("input_bytes", |s| s.input_bytes),
        ("output_bytes", |s| s.output_bytes),
    ];
    for (name, count) in counts {
        column(c, name, move |(_, sums)| count(sums).to_string());
    }
    column(c, "share_of_macs", |(_, sums)| number_text(sums.share_of_macs(total)));
    for function in FUNCTIONS {
        column(c, function_column(function), move |(_, sums)| {
            operations(&sums.element_ops_by_function, function).to_string()
        });
    }
    let weights: [Field<WeightMean, String>; 3] = [
        ("weight_elements", |w| w.elements.to_string()),
        ("weight_zeros", |w| number_text(w.zeros)),
        ("weight_entropy_bits", |w| number_text(w.entropy_bits)),
    ];
    for (name, cell) in weights {
        column(c, name, move |(_, sums)| sums.weights.as_ref().map_or_else(String::new, cell));
    }
    columns
}

/// Every function, so that all networks have the same columns.
const FUNCTIONS: [ElementFunction; 12] = [
    ElementFunction::Add,
    ElementFunction::Subtract,
    ElementFunction::Multiply,
    ElementFunction::Divide,
    ElementFunction::Extremum,
    ElementFunction::Compare,
    ElementFunction::Select,
    ElementFunction::Clip,
    ElementFunction::Transcendental,
    ElementFunction::SmoothActivation,
    ElementFunction::Rotate,
    ElementFunction::Unary,
];

fn function_column(function: ElementFunction) -> &'static str {
    match function {
        ElementFunction::Add => "element_ops_add",
        ElementFunction::Subtract => "element_ops_subtract",
        ElementFunction::Multiply => "element_ops_multiply",
        ElementFunction::Divide => "element_ops_divide",
        ElementFunction::Extremum => "element_ops_extremum",
        ElementFunction::Compare => "element_ops_compare",
        ElementFunction::Select => "element_ops_select",
        ElementFunction::Clip => "element_ops_clip",
        ElementFunction::Transcendental => "element_ops_transcendental",
        ElementFunction::SmoothActivation => "element_ops_smooth_activation",
        ElementFunction::Rotate => "element_ops_rotate",
        ElementFunction::Unary => "element_ops_unary",
    }
}

fn operations(of: &ElementOps, function: ElementFunction) -> u64 {
    of.iter().find(|(other, _)| *other == function).map_or(0, |(_, count)| count)
}
