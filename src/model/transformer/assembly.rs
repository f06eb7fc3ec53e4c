//! The whole graph: tokens in, layers, head.

use super::architecture::{Head, Stem, Transformer};
use super::notes;
use crate::model::builder::{Builder, Filter, Stored};
use crate::model::{
    ElementFunction, ElementType, Layout, ModelError, ModelGraph, Padding, Pass, TensorId,
};

/// A graph in the making.
pub(super) struct Assembly<'a> {
    pub builder: Builder,
    pub of: &'a Transformer,
    /// Tokens of the pass.
    pub rows: u64,
    /// Keys in the cache with the new one, for a decode step.
    pub cached: Option<u64>,
    /// How the filters inside of layers are stored.
    pub stored: Stored,
    /// Sines and cosines of the positions.
    pub angles: Option<[TensorId; 2]>,
    /// Results besides the last.
    pub results: Vec<TensorId>,
}

/// One pass of a transformer. `stored` is how the filters inside of its layers are stored; embeddings,
/// head, normalisations and biases keep the transformer's type. The pass of a model of images is its
/// image, whatever `pass` says.
pub(in crate::model) fn assemble(
    of: &Transformer,
    pass: Pass,
    stored: Stored,
) -> Result<ModelGraph, ModelError> {
    let (rows, cached) = match pass {
        Pass::Prefill(tokens) => (tokens, None),
        Pass::Decode(keys) => (1, Some(keys)),
    };
    let builder = Builder::new(&of.name, Layout::ChannelsLast, of.element);
    let (angles, results) = (None, Vec::new());
    let mut assembly = Assembly { builder, of, rows, cached, stored, angles, results };
    let (tokens, table) = assembly.stem()?;
    let mut hidden = tokens;
    assembly.angles()?;
    for layer in 0..of.layers {
        hidden = assembly.block(layer, hidden)?;
    }
    let result = assembly.head(hidden, table)?;
    let Assembly { builder, mut results, .. } = assembly;
    results.insert(0, result);
    let mut graph = builder.finish(results)?;
    graph.notes = notes::notes(&graph, of, pass, stored);
    Ok(graph)
}

impl Assembly<'_> {
    /// `[1, rows, hidden]`, and the embedding table.
    fn stem(&mut self) -> Result<(TensorId, Option<TensorId>), ModelError> {
        match self.of.stem {
            Stem::Tokens { vocabulary, positions, segments } => {
                let (tokens, table) = self.embedding(vocabulary, positions, segments)?;
                Ok((tokens, Some(table)))
            }
            Stem::Patches { image, patch, channels, distilled } => {
                let patches = self.patches(image, patch, channels)?;
                Ok((self.placed_patches(patches, distilled)?, None))
            }
        }
    }

    fn embedding(
        &mut self,
        vocabulary: u64,
        positions: Option<u64>,
        segments: Option<u64>,
    ) -> Result<(TensorId, TensorId), ModelError> {
        let (hidden, shape) = (self.of.hidden, [1, self.rows, self.of.hidden]);
        let indices = self.builder.input("tokens", &[1, self.rows], ElementType::Int32)?;
        let table = self.builder.constant("embed_tokens.weight", &[vocabulary, hidden])?;
        let mut sum = self.builder.picked("embed_tokens", table, Some(indices), &shape)?;
        if self.of.conventions.scaled {
            sum = self.builder.elements("embed_scale", ElementFunction::Multiply, &[sum])?;
        }
        for (name, rows) in [("embed_positions", positions), ("embed_types", segments)] {
            let Some(rows) = rows else { continue };
            let table = self.builder.constant(&format!("{name}.weight"), &[rows, hidden])?;
            let picked = self.builder.picked(name, table, None, &shape)?;
            let parts = [sum, picked];
            sum = self.builder.elements(&format!("{name}.add"), ElementFunction::Add, &parts)?;
        }
        if self.of.conventions.order == super::Order::After {
            sum = self.builder.normalisation("embed_norm", sum, true)?;
        }
        Ok((sum, table))
    }

    /// Patches by a convolution without overlap, `[1, patches, hidden]`.
    fn patches(&mut self, image: u64, patch: u64, channels: u64) -> Result<TensorId, ModelError> {
        let hidden = self.of.hidden;
        let pixels = [1, image, image, channels];
        let pixels = self.builder.input("image", &pixels, self.of.element)?;
        let filter = Filter::new(hidden, patch, patch).biased();
        let builder = &mut self.builder;
        let patches =
            builder.convolution_padded("embed_patches", pixels, filter, Padding::Valid)?;
        let shape = builder.shape(patches);
        let count = shape.extent(1).saturating_mul(shape.extent(2));
        builder.view("embed_patches.flat", patches, &[1, count, hidden])
    }

    /// Patches behind learned tokens, with learned positions.
    fn placed_patches(
        &mut self,
        patches: TensorId,
        distilled: bool,
    ) -> Result<TensorId, ModelError> {
        let (hidden, builder) = (self.of.hidden, &mut self.builder);
        let mut parts = vec![builder.constant("class_token", &[1, 1, hidden])?];
        if distilled {
            parts.push(builder.constant("distillation_token", &[1, 1, hidden])?);
        }
        parts.push(patches);
        let tokens = builder.joined("tokens", &parts, 1)?;
        self.rows = builder.shape(tokens).extent(1);
        let positions = builder.constant("embed_positions.weight", &[1, self.rows, hidden])?;
        builder.elements("embed_positions", ElementFunction::Add, &[tokens, positions])
    }

    /// Sines and cosines of the positions of this pass, one of each for a pair of elements.
    fn angles(&mut self) -> Result<(), ModelError> {
        let rotated = self.of.conventions.rotated;
        if rotated > 0 {
            let shape = [1, self.rows, 1, rotated];
            let element = self.of.element;
            let cosines = self.builder.input("cosines", &shape, element)?;
            self.angles = Some([cosines, self.builder.input("sines", &shape, element)?]);
        }
        Ok(())
    }

    fn head(
        &mut self,
        mut hidden: TensorId,
        table: Option<TensorId>,
    ) -> Result<TensorId, ModelError> {
        let of = self.of;
        let (shift, builder) = (of.conventions.shift, &mut self.builder);
        if of.conventions.order != super::Order::After {
            hidden = builder.normalisation("norm", hidden, shift)?;
        }
        let one = [1, of.hidden];
        match of.head {
            Head::Language { tied } => {
                if self.rows > 1 {
                    hidden = builder.part("last_token", hidden, 1, 1)?;
                }
                let last = builder.view("last_token.flat", hidden, &one)?;
                let bias = of.conventions.bias.head;
                match (table, &of.stem) {
                    (Some(table), _) if tied => builder.product_with("lm_head", last, table, bias),
                    (_, Stem::Tokens { vocabulary, .. }) => {
                        builder.fully_connected("lm_head", last, *vocabulary, bias)
                    }
                    _ => Ok(last),
                }
            }
            Head::Pooler | Head::Classes(_) => {
                let first = builder.part("first_token", hidden, 1, 1)?;
                let first = builder.view("first_token.flat", first, &one)?;
                if let Head::Classes(classes) = of.head {
                    return builder.fully_connected("classifier", first, classes, true);
                }
                self.results.push(hidden);
                let pooled = builder.fully_connected("pooler", first, of.hidden, true)?;
                builder.elements("pooler.tanh", ElementFunction::SmoothActivation, &[pooled])
            }
        }
    }
}
