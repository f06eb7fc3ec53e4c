//! Transformers as graphs: one pass of an encoder, or of a decoder with a cache of keys and values.
//!
//! A pass is `rows` tokens of one sequence. A prefill attends to its own tokens, scores counted in
//! full and masked; a decode step is one token that attends to `keys` rows of the cache, its own row
//! among them. Scores and context read the cache whole; the step writes the new rows alone. Of a
//! mixture of experts the picked ones are read and multiplied, the others are stored and no operator
//! reads them.
//!
//! What is left out: sampling, and the tables of sines and cosines, which are handed in.

mod activation;
mod architecture;
mod assembly;
mod block;
mod mixture;
mod notes;

pub(in crate::model) use activation::known_activation;
pub(in crate::model) use architecture::{
    Bias, Conventions, Experts, Head, Heads, Order, Stem, Transformer, Window,
};
pub(in crate::model) use assembly::assemble;

#[cfg(test)]
mod tests;
