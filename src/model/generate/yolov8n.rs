//! YOLOv8n at 640 pixels: the layer table of yolov8.yaml at depth 0.33 and width 0.25.
//!
//! Boxes are decoded (the expectation of 16 bins a side, distances to corners, strides), classes pass a
//! sigmoid; suppression of overlapping boxes is left out, since its work depends on the image.

use super::{described, normalised};
use crate::model::builder::{Builder, Filter, Step};
use crate::model::{
    ElementFunction as F, ElementType, Layout, ModelError, ModelGraph, Movement, Op, TensorId,
};

const IMAGE: u64 = 640;
const CLASSES: u64 = 80;
/// Bins of the distance to each side of a box.
const BINS: u64 = 16;

const ACTIVATION: Option<&str> = Some("SiLU");

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let element = ElementType::Float32;
    let mut b = Builder::new(name, Layout::ChannelsFirst, element);
    let image = b.input("image", &[1, 3, IMAGE, IMAGE], element)?;
    let [small, middle, large] = backbone(&mut b, image)?;
    let levels = neck(&mut b, small, middle, large)?;
    let result = detect(&mut b, levels)?;
    let graph = b.finish(vec![result])?;
    Ok(described(
        graph,
        "ultralytics 8.0.200, cfg/models/v8/yolov8.yaml, scale n (depth 0.33, width 0.25), 80 classes, \
         640 pixels; this graph restates its table of layers, without code or weights",
        "AGPL-3.0 (ultralytics, the description)",
    ))
}

/// Convolution, normalisation, activation.
fn conv(
    b: &mut Builder,
    name: &str,
    x: TensorId,
    channels: u64,
    kernel: u64,
    stride: u64,
) -> Result<TensorId, ModelError> {
    normalised(b, name, x, Filter::new(channels, kernel, stride), ACTIVATION)
}

/// Features at strides 8, 16 and 32.
fn backbone(b: &mut Builder, image: TensorId) -> Result<[TensorId; 3], ModelError> {
    let x = conv(b, "0", image, 16, 3, 2)?;
    let x = conv(b, "1", x, 32, 3, 2)?;
    let x = c2f(b, "2", x, 32, 1, true)?;
    let x = conv(b, "3", x, 64, 3, 2)?;
    let small = c2f(b, "4", x, 64, 2, true)?;
    let x = conv(b, "5", small, 128, 3, 2)?;
    let middle = c2f(b, "6", x, 128, 2, true)?;
    let x = conv(b, "7", middle, 256, 3, 2)?;
    let x = c2f(b, "8", x, 256, 1, true)?;
    Ok([small, middle, pyramid_pooling(b, "9", x, 256)?])
}

/// Features joined upwards, then downwards.
fn neck(
    b: &mut Builder,
    small: TensorId,
    middle: TensorId,
    large: TensorId,
) -> Result<[TensorId; 3], ModelError> {
    let up = b.doubled("10", large)?;
    let joined = b.joined("11", &[up, middle], 1)?;
    let middle = c2f(b, "12", joined, 128, 1, false)?;
    let up = b.doubled("13", middle)?;
    let joined = b.joined("14", &[up, small], 1)?;
    let first = c2f(b, "15", joined, 64, 1, false)?;
    let down = conv(b, "16", first, 64, 3, 2)?;
    let joined = b.joined("17", &[down, middle], 1)?;
    let second = c2f(b, "18", joined, 128, 1, false)?;
    let down = conv(b, "19", second, 128, 3, 2)?;
    let joined = b.joined("20", &[down, large], 1)?;
    let third = c2f(b, "21", joined, 256, 1, false)?;
    Ok([first, second, third])
}

/// Half of the channels pass bottlenecks, and everything on the way is joined.
fn c2f(
    b: &mut Builder,
    name: &str,
    x: TensorId,
    channels: u64,
    bottlenecks: u64,
    shortcut: bool,
) -> Result<TensorId, ModelError> {
    let at = |part: &str| format!("{name}.{part}");
    let half = channels / 2;
    let x = conv(b, &at("cv1"), x, channels, 1, 1)?;
    let mut parts = vec![b.part(&at("first"), x, 1, half)?, b.part(&at("second"), x, 1, half)?];
    let mut last = x;
    for index in 0..bottlenecks {
        let before = if index == 0 { parts.last().copied().unwrap_or(last) } else { last };
        let made = conv(b, &at(&format!("m.{index}.cv1")), before, half, 3, 1)?;
        last = conv(b, &at(&format!("m.{index}.cv2")), made, half, 3, 1)?;
        if shortcut {
            last = b.elements(&at(&format!("m.{index}.add")), F::Add, &[before, last])?;
        }
        parts.push(last);
    }
    let joined = b.joined(&at("joined"), &parts, 1)?;
    conv(b, &at("cv2"), joined, channels, 1, 1)
}

/// Three windows of 5 one after the other, joined.
fn pyramid_pooling(
    b: &mut Builder,
    name: &str,
    x: TensorId,
    channels: u64,
) -> Result<TensorId, ModelError> {
    let at = |part: &str| format!("{name}.{part}");
    let first = conv(b, &at("cv1"), x, channels / 2, 1, 1)?;
    let second = b.maximum_pool(&at("pool1"), first, 5, 1)?;
    let third = b.maximum_pool(&at("pool2"), second, 5, 1)?;
    let fourth = b.maximum_pool(&at("pool3"), third, 5, 1)?;
    let joined = b.joined(&at("joined"), &[first, second, third, fourth], 1)?;
    conv(b, &at("cv2"), joined, channels, 1, 1)
}

/// Boxes and classes of all levels: `[1, 4 + classes, places]`.
fn detect(b: &mut Builder, levels: [TensorId; 3]) -> Result<TensorId, ModelError> {
    let (mut boxes, mut classes) = (Vec::new(), Vec::new());
    for (level, x) in levels.into_iter().enumerate() {
        // Widths follow from the channels of the first level.
        let name = format!("22.cv2.{level}");
        boxes.push(branch(b, &name, x, 4 * BINS, 4 * BINS)?);
        let name = format!("22.cv3.{level}");
        classes.push(branch(b, &name, x, CLASSES, CLASSES)?);
    }
    let boxes = b.joined("22.boxes", &boxes, 2)?;
    let classes = b.joined("22.classes", &classes, 2)?;
    let places = decoded(b, boxes)?;
    let shares = b.elements("22.sigmoid", F::SmoothActivation, &[classes])?;
    b.joined("22.detections", &[places, shares], 1)
}

/// Two windows and a pointwise product, flattened to `[1, made, places]`.
fn branch(
    b: &mut Builder,
    name: &str,
    x: TensorId,
    inside: u64,
    made: u64,
) -> Result<TensorId, ModelError> {
    let x = conv(b, &format!("{name}.0"), x, inside, 3, 1)?;
    let x = conv(b, &format!("{name}.1"), x, inside, 3, 1)?;
    let x = b.convolution(&format!("{name}.2"), x, Filter::new(made, 1, 1).biased())?;
    let shape = b.shape(x);
    let places = shape.extent(2).saturating_mul(shape.extent(3));
    b.view(&format!("{name}.flat"), x, &[1, made, places])
}

/// Distances to four sides as the mean of their bins, then centre and extent in pixels.
fn decoded(b: &mut Builder, boxes: TensorId) -> Result<TensorId, ModelError> {
    let places = b.shape(boxes).last();
    let sides = b.view("22.dfl.sides", boxes, &[1, 4, BINS, places])?;
    let turned = Step::new("22.dfl.turned", "Transpose", Op::Movement(Movement::Transpose));
    let bins = b.step_to(turned, &[Some(sides)], &[1, BINS, 4, places])?;
    let bins = b.step(Step::new("22.dfl.softmax", "Softmax", Op::Softmax), &[Some(bins)])?;
    let mean = b.convolution("22.dfl.conv", bins, Filter::new(1, 1, 1))?;
    let distances = b.view("22.dfl", mean, &[1, 4, places])?;
    let near = b.part("22.near", distances, 1, 2)?;
    let far = b.part("22.far", distances, 1, 2)?;
    let anchors = b.input("anchors", &[1, 2, places], b.element())?;
    let strides = b.input("strides", &[1, 1, places], b.element())?;
    let first = b.elements("22.first_corner", F::Subtract, &[anchors, near])?;
    let second = b.elements("22.second_corner", F::Add, &[anchors, far])?;
    let sum = b.elements("22.corner_sum", F::Add, &[first, second])?;
    let centre = b.elements("22.centre", F::Multiply, &[sum])?;
    let extent = b.elements("22.extent", F::Subtract, &[second, first])?;
    let both = b.joined("22.box", &[centre, extent], 1)?;
    b.elements("22.pixels", F::Multiply, &[both, strides])
}
