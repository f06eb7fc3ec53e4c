//! `validate --against`: predictions beside the estimates of a compiler.

use crate::calibrate::{Against, BusyCycles, Held, HeldRun};
use crate::units::Cycles;
use serde_json::{Value, json};

/// `validate --against vela`.
pub fn against(against: &Against) -> Value {
    let runs: Vec<Value> = against.runs.iter().map(run).collect();
    let left_out = against.left_out.iter();
    let left_out: Vec<Value> =
        left_out.map(|own| json!({"run": own.run, "reason": own.reason})).collect();
    json!({
        "schema": "joulecast.against/1", "against": "vela", "measured": false,
        "runs": runs, "left_out": left_out,
    })
}

fn run(run: &HeldRun) -> Value {
    json!({
        "run": run.name, "network": run.network, "model": run.model.to_string_lossy(),
        "accelerator": run.system.accelerator, "system": run.system.system,
        "hardware": run.system.hardware, "operating_point": run.system.operating_point,
        "encoded_weights": run.given.as_ref().map(held),
        "entropy_of_weights": run.entropy.as_ref().map(held),
    })
}

fn held(held: &Held) -> Value {
    let (same, compared) = held.classes();
    let layers = held.layers.iter().map(|layer| {
        json!({
            "name": layer.name, "kind": layer.kind,
            "predicted": busy(&layer.predicted), "estimated": busy(&layer.estimated),
        })
    });
    json!({
        "weights_b": {"predicted": held.weights, "estimated": held.weights_estimated},
        "npu_cycles": pair(held.npu()), "cycles": pair(held.total()),
        "layers_of_one_class": same, "layers_compared": compared,
        "layers": layers.collect::<Vec<_>>(),
    })
}

fn pair((predicted, estimated): (Cycles, Cycles)) -> Value {
    json!({"predicted": predicted, "estimated": estimated})
}

fn busy(busy: &BusyCycles) -> Value {
    json!({"cycles": busy.total, "bound_by": busy.class(), "busy_cycles": busy.parts})
}
