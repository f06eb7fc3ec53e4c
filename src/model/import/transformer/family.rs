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
    /// A stated window holds where `use_sliding_window` is silent.
    pub window: bool,
    /// Every so many layers one attends to all keys, where a window is stated.
    pub full_every: Option<u64>,
    /// So many layers at the bottom attend to all keys, where a window is stated.
    pub full_below: Option<u64>,
    /// `attention_bias` also says whether the product behind attention adds one.
    pub whole_attention_bias: bool,
    /// A second token stands behind the class token of an image.
    pub distilled: bool,
    /// Fields that this family counts and others only note.
    pub counted: &'static [&'static str],
}

/// Queries and keys are normalised by head.
pub(super) const HEAD_NORM: &str = "qk_layernorm";

impl Family {
    /// Whether a field that others only note is counted.
    pub fn counts(&self, field: &str) -> bool {
        self.counted.contains(&field)
    }
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
    window: true,
    full_every: None,
    full_below: None,
    whole_attention_bias: true,
    distilled: false,
    counted: &[],
};

/// The window of Qwen is off unless it is switched on, and then holds above these layers.
const QWEN: Family = Family { window: false, full_below: Some(28), ..LLAMA };

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

const VIT: Family = Family { kind: Kind::Image, order: Order::Before, ..BERT };

/// The family called `name`, or that of Llama for one that is not known.
pub(super) fn family(name: &str) -> (Family, bool) {
    let known = match name {
        "llama" | "mistral" | "mixtral" | "phi3" | "granite" | "ministral" => LLAMA,
        "qwen2" | "qwen2_moe" => Family {
            bias: Bias { queries: true, ..LLAMA.bias },
            whole_attention_bias: false,
            ..QWEN
        },
        "qwen3" => Family { head_norm: true, ..QWEN },
        "qwen3_moe" => Family { head_norm: true, full_below: None, ..QWEN },
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
            counted: &[HEAD_NORM],
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
        "vit" => VIT,
        "deit" => Family { distilled: true, ..VIT },
        _ => return (LLAMA, false),
    };
    (known, true)
}
