//! Spectra and the tables that they are made with.

use super::arrange::with_extent;
use super::{Inferred, extents};
use crate::model::Shape;
use crate::model::import::onnx::node::{Node, axis};

/// The first number at a port; `None` where only the running network knows it.
fn number(node: &Node<'_>, port: usize) -> Option<i64> {
    node.numbers(port)?.ints()?.first().copied()
}

/// Frequencies told from each other: of a real signal, half of them mirror the other half.
fn bins(length: u64, one_sided: bool) -> u64 {
    if one_sided { length / 2 + 1 } else { length }
}

/// `DFT`: complex numbers in the innermost axis, except a real signal coming back.
pub(super) fn transform(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let along = if node.opset < 20 {
        Some(node.int("axis", 1))
    } else {
        node.input(2).map_or(Some(-2), |_| number(node, 2))
    };
    let Some(along) = along else { return Ok(None) };
    let at = axis(along, input.rank())?;
    let (one_sided, inverse) = (node.flag("onesided", false), node.flag("inverse", false));
    let length = match node.input(1) {
        None if one_sided && inverse => input.extent(at).saturating_sub(1).saturating_mul(2),
        None => input.extent(at),
        Some(_) => {
            let Some(given) = number(node, 1) else { return Ok(None) };
            extents(&[given], "dft_length")?.first().copied().unwrap_or(0)
        }
    };
    let made = with_extent(input, at, bins(length, one_sided && !inverse));
    let parts = if one_sided && inverse { 1 } else { 2 };
    Ok(Some(with_extent(&made, input.rank().saturating_sub(1), parts)))
}

/// `STFT`: a spectrum for each frame that fits into the signal.
pub(super) fn short_time(node: &Node<'_>) -> Inferred {
    let (Some(signal), Some(step)) = (node.shape(0), number(node, 1)) else { return Ok(None) };
    let length = match (node.input(3), node.input(2)) {
        (Some(_), _) => number(node, 3),
        (None, Some(window)) => {
            window.shape.as_ref().and_then(|shape| i64::try_from(shape.extent(0)).ok())
        }
        (None, None) => return Err("neither a window nor a frame length".into()),
    };
    let Some(length) = length else { return Ok(None) };
    let frame = u64::try_from(length).ok().filter(|length| *length > 0);
    let step_taken = u64::try_from(step).ok().filter(|step| *step > 0);
    let room = frame.and_then(|frame| signal.extent(1).checked_sub(frame));
    let (Some(frame), Some(step), Some(room)) = (frame, step_taken, room) else {
        return Err(format!("frames of {length} every {step} do not fit {signal}"));
    };
    let bins = bins(frame, node.flag("onesided", true));
    Ok(Some(Shape(vec![signal.extent(0), room / step + 1, bins, 2])))
}

/// `HannWindow`, `HammingWindow`, `BlackmanWindow`.
pub(super) fn window(node: &Node<'_>) -> Inferred {
    let Some(size) = number(node, 0) else { return Ok(None) };
    extents(&[size], "size").map(|size| Some(Shape(size)))
}

/// `MelWeightMatrix`: from frequencies to mel bins.
pub(super) fn mel_weights(node: &Node<'_>) -> Inferred {
    let (Some(mel), Some(length)) = (number(node, 0), number(node, 1)) else { return Ok(None) };
    let sizes = extents(&[length, mel], "sizes")?;
    let [length, mel] = sizes[..] else { return Ok(None) };
    Ok(Some(Shape(vec![bins(length, true), mel])))
}
