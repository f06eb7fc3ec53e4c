//! Activations of feed-forward layers, as configurations call them.

use crate::model::ElementFunction as F;
use crate::model::arithmetic;

/// What an activation of this name is, one function behind the other; nothing for a name that is not
/// known.
pub(in crate::model) fn known_activation(name: &str) -> Option<&'static [F]> {
    Some(match name.to_ascii_lowercase().as_str() {
        "gelu" | "gelu_10" | "gelu_fast" | "gelu_new" | "gelu_python" | "gelu_accurate"
        | "gelu_pytorch_tanh" | "gelu_python_tanh" | "quick_gelu" | "silu" | "swish"
        | "sigmoid" | "tanh" | "mish" | "laplace" => &[F::SmoothActivation],
        "relu" | "relu6" | "leaky_relu" | "prelu" => &[F::Clip],
        // Squared behind it.
        "relu2" | "relu_squared" => &[F::Clip, F::Multiply],
        "linear" | "identity" => &[],
        _ => return None,
    })
}

/// The functions of an activation; of one that is not known, the one that its name suggests.
pub(super) fn functions(name: &str) -> Vec<F> {
    known_activation(name).map_or_else(|| vec![arithmetic::activation(name)], <[F]>::to_vec)
}
