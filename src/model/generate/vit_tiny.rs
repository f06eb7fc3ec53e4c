//! ViT-Tiny with patches of 16 at 224 pixels: the vision transformer of Dosovitskiy et al.,
//! arXiv:2010.11929, in the size that Touvron et al., arXiv:2012.12877, call Ti.

use super::described;
use crate::model::builder::Stored;
use crate::model::transformer::{
    Bias, Conventions, Head, Heads, Order, Stem, Transformer, assemble,
};
use crate::model::{ElementType, ModelError, ModelGraph, Pass};

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let element = ElementType::Float32;
    let transformer = Transformer {
        name: name.to_owned(),
        element,
        hidden: 192,
        layers: 12,
        heads: Heads { query: 3, key: 3, extent: 64, window: None },
        feed_forward: 768,
        experts: None,
        conventions: Conventions {
            causal: false,
            shift: true,
            order: Order::Before,
            rotated: 0,
            head_norm: false,
            gated: false,
            activation: "gelu".to_owned(),
            bias: Bias::all(true),
            scaled: false,
        },
        stem: Stem::Patches { image: 224, patch: 16, channels: 3, distilled: false },
        head: Head::Classes(1000),
    };
    // The image is the pass.
    let graph = assemble(&transformer, Pass::Prefill(1), Stored { element, group: None })?;
    Ok(described(
        graph,
        "Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021, arXiv:2010.11929; size Ti of \
         Touvron et al., arXiv:2012.12877 (12 layers, 192 wide, 3 heads); vit_tiny_patch16_224 of \
         pytorch-image-models",
        "Apache-2.0 (pytorch-image-models)",
    ))
}
