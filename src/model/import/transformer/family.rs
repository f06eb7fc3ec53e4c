//! What follows from the family of a transformer (`model_type`) where its configuration is silent.

use crate::model::transformer::{Bias, Order};

/// Conventions of a family; fields of a configuration override them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    pub kind: Kind,
    pub shift: bool,
    pub order: Order,
    /// Share of a head that is rotated; `None` for learned positions.
    pub rotary: Option<f64>,
    pub head_norm: bool,
    pub gated: bool,
    pub activation: &'static str,
    pub bias: Bias,
    pub scaled: bool,
    pub tied: bool,
    /// Every so many layers one attends to all keys, where a window is stated.
    pub full_every: Option<u64>,
    /// `attention_bias` also says whether the product behind attention adds one.
    pub whole_attention_bias: bool,
}

/// What a family is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Decoder,
    Encoder,
    Image,
}

const LLAMA: Family = Family {
    kind: Kind::Decoder,
    shift: false,
    order: Order::Before,
    rotary: Some(1.0),
    head_norm: false,
    gated: true,
    activation: "silu",
    bias: Bias { queries: false, output: false, feed_forward: false, head: false },
    scaled: false,
    tied: false,
    full_every: None,
    whole_attention_bias: true,
};

const EVERYWHERE: Bias = Bias { queries: true, output: true, feed_forward: true, head: false };

const GEMMA: Family = Family { activation: "gelu_pytorch_tanh", scaled: true, tied: true, ..LLAMA };

const GPT2: Family = Family {
    shift: true,
    rotary: None,
    gated: false,
    activation: "gelu_new",
    bias: EVERYWHERE,
    tied: true,
    ..LLAMA
};

const BERT: Family =
    Family { kind: Kind::Encoder, order: Order::After, activation: "gelu", ..GPT2 };

/// The family called `name`, or that of Llama for one that is not known.
pub(super) fn family(name: &str) -> (Family, bool) {
    let known = match name {
        "llama" | "mistral" | "mixtral" | "phi3" | "granite" | "ministral" => LLAMA,
        "qwen2" | "qwen2_moe" => Family {
            bias: Bias { queries: true, ..LLAMA.bias },
            whole_attention_bias: false,
            ..LLAMA
        },
        "qwen3" | "qwen3_moe" => Family { head_norm: true, ..LLAMA },
        "gemma" => GEMMA,
        "gemma2" => Family { order: Order::Around, full_every: Some(2), ..GEMMA },
        "gemma3" | "gemma3_text" => {
            Family { order: Order::Around, head_norm: true, full_every: Some(6), ..GEMMA }
        }
        "phi" => Family {
            order: Order::ParallelShared,
            rotary: Some(0.5),
            bias: Bias { head: true, ..EVERYWHERE },
            tied: false,
            ..GPT2
        },
        "gpt2" => GPT2,
        "gpt_neox" => Family {
            order: Order::Parallel,
            rotary: Some(0.25),
            activation: "gelu",
            tied: false,
            ..GPT2
        },
        "starcoder2" => Family { rotary: Some(1.0), activation: "gelu_pytorch_tanh", ..GPT2 },
        "bert" | "roberta" => BERT,
        "vit" | "deit" => Family { kind: Kind::Image, order: Order::Before, ..BERT },
        _ => return (LLAMA, false),
    };
    (known, true)
}
