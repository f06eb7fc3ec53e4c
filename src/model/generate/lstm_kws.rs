//! An LSTM that spots keywords: the small "basic LSTM" of Zhang et al., Hello Edge, arXiv:1711.07128.
//!
//! One second of speech is 49 windows of 40 ms, 20 ms apart, of 10 cepstral coefficients; one layer of
//! 118 states; 12 scores of the last state. Ours is the split of the cell into the product of all
//! inputs and the recurrent steps, which changes no count.

use super::described;
use crate::model::builder::{Builder, Step};
use crate::model::{Cell, ElementType, Layout, ModelError, ModelGraph, Op};

pub(super) fn graph(name: &str) -> Result<ModelGraph, ModelError> {
    let (steps, coefficients, hidden, words) = (49, 10, 118, 12);
    let element = ElementType::Float32;
    let mut builder = Builder::new(name, Layout::ChannelsLast, element);
    let speech = builder.input("coefficients", &[steps, 1, coefficients], element)?;
    let states = builder.recurrent("lstm", speech, Cell::Lstm, hidden)?;
    let last = builder.part("last_state", states, 0, 1)?;
    let last = builder.view("last_state.flat", last, &[1, hidden])?;
    let scores = builder.fully_connected("classifier", last, words, true)?;
    let shares = builder.step(Step::new("softmax", "Softmax", Op::Softmax), &[Some(scores)])?;
    let graph = builder.finish(vec![shares])?;
    Ok(described(
        graph,
        "Zhang et al., Hello Edge: Keyword Spotting on Microcontrollers, arXiv:1711.07128, basic LSTM \
         of size S; model_size_info 118 in ARM-software/ML-KWS-for-MCU, train_commands.txt",
        "Apache-2.0 (ML-KWS-for-MCU)",
    ))
}
