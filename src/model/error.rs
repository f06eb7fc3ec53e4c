//! What can be wrong with a model.

use crate::diagnostic::Report;

/// Why a model could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file could not be opened.
    #[error("cannot read model {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// Neither a file nor a shipped model.
    #[error("no model file or shipped model is called `{name}`{}", hint(.nearest))]
    Unknown {
        /// The name as given.
        name: String,
        /// The shipped name nearest to it.
        nearest: Option<String>,
    },
    /// No network of this name can be generated.
    #[error("no network called `{name}` can be generated{}\nhelp: these can: {}", hint(.nearest), .known.join(", "))]
    UnknownGenerator {
        /// The name as given.
        name: String,
        /// The name nearest to it.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A network of a family that does not have these parameters.
    #[error("`{text}` is no network of its family: {reason}")]
    Family {
        /// The network as named.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// The content is no format we know.
    #[error("{path} is not a model: {reason}")]
    NotAModel {
        /// The path as given.
        path: String,
        /// What was seen.
        reason: String,
    },
    /// A TFLite file that breaks off or points outside itself.
    #[error("{path} is not a sound TFLite file: {}", brief(.reason))]
    Tflite {
        /// The path as given.
        path: String,
        /// What was expected where.
        reason: String,
    },
    /// An ONNX file that cannot be decoded or resolved.
    #[error("{path} is not a usable ONNX file: {}", brief(.reason))]
    Onnx {
        /// The path as given.
        path: String,
        /// What is wrong, with node and tensor names.
        reason: String,
    },
    /// A dimension that the user must bind.
    #[error("{path}: {}", unbound(.symbols))]
    UnboundSymbol {
        /// The path as given.
        path: String,
        /// Each symbol with the tensor that it was first met in.
        symbols: Vec<(String, String)>,
    },
    /// A value for a dimension that the file does not leave open.
    #[error("{path}: no dimension is called `{symbol}`{}{}", hint(.nearest), open(.known))]
    UnknownSymbol {
        /// The path as given.
        path: String,
        /// The symbol that was bound.
        symbol: String,
        /// The open dimension nearest to it.
        nearest: Option<String>,
        /// All that the file leaves open.
        known: Vec<String>,
    },
    /// An option that does not fit the file.
    #[error("{path}: {option}: {reason}")]
    Option {
        /// The path as given.
        path: String,
        /// The option as it is typed.
        option: &'static str,
        /// Why it does not apply.
        reason: String,
    },
    /// A RON graph or a transformer configuration with faults.
    #[error(transparent)]
    Ron(#[from] Box<Report>),
    /// A transform whose own values make no sense.
    #[error("{transform}: {reason}")]
    TransformValue {
        /// The transform, as on the command line.
        transform: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A transform of a layer that is not there.
    #[error("{transform}: no layer is called `{name}`{}", hint(.nearest))]
    NoLayer {
        /// The transform, as on the command line.
        transform: String,
        /// The name or pattern as given.
        name: String,
        /// The layer nearest to it.
        nearest: Option<String>,
    },
    /// A transform that an operator cannot follow.
    #[error("{transform}: operator `{operator}` cannot follow: {reason}")]
    Transform {
        /// The transform, as on the command line.
        transform: String,
        /// The operator.
        operator: String,
        /// Why not.
        reason: String,
    },
    /// A graph that contradicts itself.
    #[error("operator `{}`: {}", brief(.operator), brief(.reason))]
    Graph {
        /// The operator.
        operator: String,
        /// What does not fit.
        reason: String,
    },
}

fn unbound(symbols: &[(String, String)]) -> String {
    let listed = || symbols.iter().take(SYMBOLS_SHOWN);
    let open: Vec<_> =
        listed().map(|(symbol, tensor)| format!("`{symbol}` of `{tensor}`")).collect();
    let binds: Vec<_> = listed().map(|(symbol, _)| format!("--bind {symbol}=1")).collect();
    let (dimensions, them) = match symbols.len() {
        1 => ("dimension", "it"),
        _ => ("dimensions", "them"),
    };
    let more = match symbols.len().saturating_sub(SYMBOLS_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (open, binds) = (open.join(", "), binds.join(" "));
    let has = if symbols.len() == 1 { "has" } else { "have" };
    format!("{dimensions} {open}{more} {has} no value\nhelp: bind {them}, for example with {binds}")
}

/// How many open dimensions are listed.
const SYMBOLS_SHOWN: usize = 12;

fn open(known: &[String]) -> String {
    let more = match known.len().saturating_sub(SYMBOLS_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names: Vec<_> = known.iter().take(SYMBOLS_SHOWN).map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "\nhelp: this file has no symbolic dimensions; leave out --bind".to_owned(),
        names => format!("\nhelp: it has {}{more}", names.join(", ")),
    }
}

/// A reason without the middle of what is endless in it: files may hold names of any length.
fn brief(reason: &str) -> String {
    const HEAD: usize = 600;
    const TAIL: usize = 200;
    let length = reason.chars().count();
    if length <= HEAD + TAIL {
        return reason.to_owned();
    }
    let head: String = reason.chars().take(HEAD).collect();
    let tail: String = reason.chars().skip(length - TAIL).collect();
    format!("{head} [..] {tail}")
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?"))
}
