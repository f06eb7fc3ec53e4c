//! Other extents of the image inputs: those of the most axes, over which a window of the network
//! slides.
//!
//! A pooling window that takes in the whole plane, with its borders, does so at any resolution.

use super::Refusal;
use super::draft::Draft;
use super::propagate::{Before, Change, propagate};
use super::record::Done;
use crate::model::arithmetic::image_axes;
use crate::model::{Op, Padding, Pool, Shape, TensorRole};

pub(super) fn set_resolution(draft: &mut Draft, extents: &[u64]) -> Result<Done, Refusal> {
    if extents.is_empty() || extents.contains(&0) {
        return Err(Refusal::Value("an image has at least 1 row and column".to_owned()));
    }
    let rank = |draft: &Draft, at| match draft.shape(at) {
        Some(shape) if draft.tensor(at).role == TensorRole::Input => shape.rank(),
        _ => 0,
    };
    let slides = |images: usize| {
        draft.steps.iter().any(|step| {
            let data = step.input(0).and_then(|at| draft.shape(at));
            let window = matches!(step.operator.op, Op::Convolution(_) | Op::Pool(_));
            window && data.map(Shape::rank) == Some(images)
        })
    };
    let images = draft.all().map(|at| rank(draft, at)).max();
    let Some(images) = images.filter(|rank| *rank >= 3 && slides(*rank)) else {
        let reason = "no input of the network is an image that a window slides over";
        return Err(Refusal::Value(reason.to_owned()));
    };
    if extents.len() != 1 && extents.len() != images - 2 {
        let reason = format!("{} extents for {} spatial axes", extents.len(), images - 2);
        return Err(Refusal::Value(reason));
    }
    let before = Before::of(draft);
    let mut done = Done::default();
    for at in draft.all().filter(|at| rank(draft, *at) == images).collect::<Vec<_>>() {
        let (_, spatial) = image_axes(draft.layout, images);
        let tensor = draft.tensor_mut(at);
        let Some(shape) = tensor.shape.as_mut() else { continue };
        let old = shape.clone();
        let wanted = extents.iter().cycle();
        for (axis, wanted) in shape.0.get_mut(spatial).into_iter().flatten().zip(wanted) {
            *axis = *wanted;
        }
        if *shape != old {
            done.changed.push(format!("input `{}` {old} -> {shape}", tensor.name));
        }
    }
    propagate(draft, &before, Change::Extents, |draft, i| {
        whole_plane(draft, &before, i);
        Ok(())
    })?;
    Ok(done)
}

/// Makes a window over the old plane one over the new.
fn whole_plane(draft: &mut Draft, before: &Before, i: usize) {
    let layout = draft.layout;
    let Some(step) = draft.steps.get(i) else { return };
    let plane = |shape: Option<&Shape>| {
        let shape = shape.filter(|shape| shape.rank() >= 3)?;
        Some(shape.0.get(image_axes(layout, shape.rank()).1)?.to_vec())
    };
    let data = step.input(0);
    let old = plane(data.and_then(|at| before.shape(at)));
    let new = plane(data.and_then(|at| draft.shape(at)));
    let made = plane(step.output().and_then(|at| before.shape(at)));
    let (Some(old), Some(new), Some(made)) = (old, new, made) else { return };
    let Some(Op::Pool(pool)) = draft.steps.get_mut(i).map(|step| &mut step.operator.op) else {
        return;
    };
    let one_place = made.iter().all(|extent| *extent == 1);
    let dilated = pool.dilations.iter().any(|step| *step != 1);
    if one_place && !dilated && bordered(pool, &old).as_ref() == Some(&pool.kernel) {
        let Some(kernel) = bordered(pool, &new) else { return };
        if pool.strides == pool.kernel {
            pool.strides.clone_from(&kernel);
        }
        pool.kernel = kernel;
    }
}

/// A plane with its borders; `None` where they depend on the plane.
fn bordered(pool: &Pool, plane: &[u64]) -> Option<Vec<u64>> {
    match &pool.padding {
        Padding::Valid => Some(plane.to_vec()),
        Padding::Same => None,
        Padding::Explicit { before, after } => {
            let borders = before.iter().zip(after);
            let extents = plane.iter().zip(borders);
            extents.map(|(extent, (a, b))| extent.checked_add(*a)?.checked_add(*b)).collect()
        }
    }
}
