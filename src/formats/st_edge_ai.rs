//! The report of ST Edge AI's `validate` on a target: the table *Inference time per node*.
//!
//! A row is `c_id m_id type dur (ms) % cumul [CPU cycles] name`; older versions of X-CUBE-AI stop
//! after the shares. Numbers have commas between thousands. The three counts of cycles are before,
//! in and behind the NPU's part of an epoch, all at the clock of the core. Milliseconds have three
//! decimals; where the report states the clock (`mcu_freq=800MHz`) and all rows agree with it,
//! durations are taken from the cycles. A node is what the compiler made, not a layer of the
//! network: an epoch may hold several.

mod node;

use super::layer_table::{LARGEST, Layer, LayerTable, seconds};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Layout, SampleSink};
use node::Node;

/// A report.
pub(super) const FORMAT: Format = Format {
    name: "st-edge-ai",
    title: "ST Edge AI: report of validate on a target",
    shape: Shape::File {
        recognises: |head| {
            let line = head.first_line();
            TOOLS.iter().any(|tool| line.starts_with(tool))
                || head.lines().any(|line| line.trim() == TABLE)
        },
        read: |input, _: &Options, sink| read(input, sink),
    },
};

/// How reports start.
const TOOLS: [&str; 3] =
    ["ST Edge AI Core v", "STEdgeAI Core v", "Neural Network Tools for STM32AI v"];
const TABLE: &str = "Inference time per node";
/// Half of the last decimal of a duration \[s\], with room for its rounding.
const HALF_DIGIT: f64 = 0.51e-6;

/// What is read of a report.
#[derive(Debug, Default)]
struct Report {
    nodes: Vec<Node>,
    tables: u64,
    in_table: bool,
    clock: Option<f64>,
    /// Lines of the profile's head that are remarks.
    said: Vec<String>,
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    if input.size > LARGEST {
        let fault = ReadFault::Size { what: "the report", size: input.size, limit: LARGEST };
        return Err(input.fault(Place::Whole, fault));
    }
    let mut report = Report::default();
    let mut cut = false;
    lines::each(input, |line| {
        if !line.whole {
            cut = report.in_table;
            return Ok(());
        }
        report.line(line.text)
    })?;
    if report.nodes.is_empty() {
        let what = format!("the table \"{TABLE}\" (of a validate on the target)");
        return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
    }
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    layout.remarks.append(&mut report.said);
    if cut || report.in_table {
        layout.remarks.push("the table has no end: the file may be cut".into());
    }
    let table = report.table(&mut layout).map_err(|fault| input.fault(Place::Whole, fault))?;
    table.tell(input, layout, sink)
}

impl Report {
    fn line(&mut self, text: &str) -> Result<(), ReadFault> {
        let text = text.trim();
        if text == TABLE {
            self.in_table = true;
            self.tables += 1;
        } else if self.in_table {
            self.row(text)?;
        } else if let Some((label, value)) = text.split_once(':') {
            self.statement(label.trim(), value.trim());
        }
        Ok(())
    }

    /// A line of the table: a node, a rule, the head, or what ends it.
    fn row(&mut self, text: &str) -> Result<(), ReadFault> {
        if text.starts_with("total") || text.is_empty() || text.starts_with("n/a") {
            self.in_table = !(text.starts_with("total") || text.is_empty());
        } else if text.split(' ').next().is_some_and(|id| id.parse::<u32>().is_ok()) {
            let inference = self.tables.saturating_sub(1);
            self.nodes.push(Node { inference, ..Node::of(text)? });
        }
        Ok(())
    }

    fn statement(&mut self, label: &str, value: &str) {
        match label {
            "device.attrs" => {
                let clock = value.split(',').find_map(|part| part.strip_prefix("mcu_freq="));
                let megahertz = clock.and_then(|clock| clock.strip_suffix("MHz"));
                self.clock = megahertz.and_then(|mhz| mhz.parse::<f64>().ok()).map(|mhz| mhz * 1e6);
                self.said.push(format!("device: {value}"));
            }
            "nb sample(s)" | "nb samples" => {
                self.said.push(format!("times are means of {value} inferences"));
            }
            "duration" | "DEVICE duration" => {
                self.said.push(format!("the report states a {label} of {value}"));
            }
            _ => {}
        }
    }

    /// Durations from the cycles, where they agree with the printed ones in every row.
    fn table(&self, layout: &mut Layout) -> Result<LayerTable, ReadFault> {
        let clock = self.clock.filter(|clock| *clock > 0.0).filter(|clock| {
            self.nodes.iter().all(|node| {
                let cycles: f64 = node.cycles.iter().sum();
                !node.cycles.is_empty() && (cycles / clock - node.seconds).abs() <= HALF_DIGIT
            })
        });
        let counts = self.nodes.first().map_or(0, |node| node.cycles.len());
        let counters = match counts {
            0 => Vec::new(),
            3 => ["cycles before", "cycles NPU", "cycles after"].map(String::from).to_vec(),
            more => (0..more).map(|n| format!("cycles {n}")).collect(),
        };
        match clock {
            Some(clock) => layout.remarks.push(format!(
                "durations are the cycles at {} MHz, which agree with the milliseconds of every row",
                clock * 1e-6
            )),
            None => layout.remarks.push("durations are known to a microsecond".into()),
        }
        layout
            .remarks
            .push("a node is what the compiler made: an epoch may hold several layers".into());
        let mut table = LayerTable { track: "st-edge-ai".into(), counters, layers: Vec::new() };
        for node in &self.nodes {
            if node.cycles.len() != counts {
                return Err(ReadFault::Cells { expected: counts, found: node.cycles.len() });
            }
            let time = clock.map_or(node.seconds, |clock| node.cycles.iter().sum::<f64>() / clock);
            table.layers.push(Layer {
                name: node.name.clone(),
                inference: node.inference,
                duration: seconds(time, "dur (ms)")?,
                counts: node.cycles.clone(),
            });
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests;
