//! `validate --against`: predictions beside the estimates of a compiler, as Markdown.

use super::grouped;
use crate::calibrate::{Against, Held, HeldRun};
use crate::units::{Bytes, Cycles};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// `validate --against vela`: a table for each way that weights are counted.
pub fn against_markdown(against: &Against) -> String {
    let mut text = String::from(
        "Cycles as predicted / as Vela estimates. A class is what a layer waits for: the datapath, or a memory.\n",
    );
    let given: Way = |run| run.given.as_ref();
    table("Weights of the bytes that Vela encoded them to", given, false, against, &mut text);
    let entropy: Way = |run| run.entropy.as_ref();
    table("Weights of the entropy of their values", entropy, true, against, &mut text);
    for own in &against.left_out {
        let _ = writeln!(text, "\nLeft out: {} {}.", own.run, own.reason);
    }
    text
}

type Way = fn(&HeldRun) -> Option<&Held>;

/// A table of one way to count weights, with their bytes where these are not the estimate's own.
fn table(title: &str, way: Way, counts: bool, against: &Against, text: &mut String) {
    let of = |run| way(run).map(|held| (run, held));
    let held: Vec<(&HeldRun, &Held)> = against.runs.iter().filter_map(of).collect();
    if held.is_empty() {
        let _ = writeln!(text, "\n{title}: not known of any run.");
        return;
    }
    let (column, rule) = if counts { (" weights, B |", "---|") } else { ("", "") };
    let _ = writeln!(
        text,
        "\n{title}:\n\n| run | NPU cycles | all cycles | layers of one class |{column}\n|---|---|---|---|{rule}"
    );
    for (run, held) in &held {
        let (same, compared) = held.classes();
        let weights = if counts { format!(" {} |", weights(held)) } else { String::new() };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {same} of {compared} |{weights}",
            run.name.replace('|', "\\|"),
            cycles(held.npu()),
            cycles(held.total()),
        );
    }
    let _ = writeln!(text, "\nAll cycles over Vela's, by network: {}.", ranges(&held).join("; "));
    for run in against.runs.iter().filter(|run| way(run).is_none()) {
        let _ = writeln!(text, "\n{}: not known.", run.name);
    }
}

/// How far each network is off, from run to run.
fn ranges(held: &[(&HeldRun, &Held)]) -> Vec<String> {
    let mut networks: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (run, held) in held {
        let (predicted, estimated) = held.total();
        if estimated.0 <= 0.0 {
            continue;
        }
        let over = predicted.0 / estimated.0;
        let range = networks.entry(&run.network).or_insert((over, over));
        *range = (range.0.min(over), range.1.max(over));
    }
    let shown = networks.iter();
    shown.map(|(name, (least, most))| format!("{name} {least:.3} to {most:.3}")).collect()
}

fn weights(held: &Held) -> String {
    match held.weights_estimated {
        Some(Bytes(estimated)) => ratio(held.weights.0, estimated),
        None => whole(held.weights.0),
    }
}

fn cycles((predicted, estimated): (Cycles, Cycles)) -> String {
    ratio(predicted.0, estimated.0)
}

fn ratio(predicted: f64, estimated: f64) -> String {
    let (shown, of) = (whole(predicted), whole(estimated));
    if estimated > 0.0 {
        format!("{shown} / {of} = {:.3}", predicted / estimated)
    } else {
        format!("{shown} / {of}")
    }
}

fn whole(value: f64) -> String {
    grouped(value.max(0.0).round() as u64)
}
