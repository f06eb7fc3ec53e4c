//! Transforms as they stand on the command line.

use super::Transform;
use crate::diagnostic::nearest;
use crate::model::{ElementType, Sparsity};
use std::fmt;

/// Formats that numbers are computed in.
const FORMATS: [ElementType; 12] = [
    ElementType::Int2,
    ElementType::Int4,
    ElementType::Int8,
    ElementType::UInt8,
    ElementType::Int16,
    ElementType::UInt16,
    ElementType::Float4,
    ElementType::Float8,
    ElementType::Float16,
    ElementType::BFloat16,
    ElementType::Float32,
    ElementType::Float64,
];

impl Transform {
    /// Reads `[LAYERS=][weights:]TYPE`. Like the others, an error says what was expected.
    pub fn parse_precision(text: &str) -> Result<Self, String> {
        let (layers, rest) = layers(text);
        let weights = rest.strip_prefix("weights:");
        let to = format_named(weights.unwrap_or(rest).trim())?;
        Ok(Self::Precision { to, weights_only: weights.is_some(), layers })
    }

    /// Reads `[LAYERS=]SHARE` or `[LAYERS=]KEEP:OF`.
    pub fn parse_sparsity(text: &str) -> Result<Self, String> {
        let (layers, rest) = layers(text);
        let expected = "expected a share of zeros such as 0.5, or a structure such as 2:4";
        let stored = match rest.split_once(':') {
            Some((keep, of)) => {
                let (keep, of) = (keep.trim().parse(), of.trim().parse());
                let (Ok(keep), Ok(of)) = (keep, of) else { return Err(expected.to_owned()) };
                Sparsity::Structured { keep, of }
            }
            None => {
                let zeros = rest.trim().parse().map_err(|_| expected.to_owned())?;
                Sparsity::Unstructured { zeros }
            }
        };
        Ok(Self::Sparsity { stored, layers })
    }

    /// Reads a number of samples.
    pub fn parse_batch(text: &str) -> Result<Self, String> {
        let samples = text.trim().parse();
        samples.map(Self::Batch).map_err(|_| format!("`{text}` is not a number of samples"))
    }

    /// Reads `EXTENT` or `HEIGHTxWIDTH`.
    pub fn parse_resolution(text: &str) -> Result<Self, String> {
        let extents: Result<_, _> = text.split('x').map(|extent| extent.trim().parse()).collect();
        extents.map(Self::Resolution).map_err(|_| "expected 160 or HEIGHTxWIDTH, 160x120".into())
    }

    /// Reads the name or pattern of layers.
    pub fn parse_separable(text: &str) -> Result<Self, String> {
        Ok(Self::Separable(text.to_owned()))
    }

    /// Reads a factor.
    pub fn parse_width(text: &str) -> Result<Self, String> {
        text.trim().parse().map(Self::Width).map_err(|_| format!("`{text}` is not a factor"))
    }
}

/// The name of layers in front of the last `=`, and the rest.
fn layers(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once('=') {
        Some((layers, rest)) => (Some(layers.to_owned()), rest),
        None => (None, text),
    }
}

fn format_named(name: &str) -> Result<ElementType, String> {
    let names = FORMATS.map(|format| format.to_string());
    let found = FORMATS.into_iter().zip(&names).find(|(_, known)| known.as_str() == name);
    found.map(|(format, _)| format).ok_or_else(|| {
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("`{name}` is none of {}{hint}", names.join(", "))
    })
}

/// Whether numbers are computed in a format.
pub(super) fn is_format(element: ElementType) -> bool {
    FORMATS.contains(&element)
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |layers: &Option<String>| {
            layers.as_ref().map_or(String::new(), |layers| format!("{layers}="))
        };
        match self {
            Self::Precision { to, weights_only, layers } => {
                let weights = if *weights_only { "weights:" } else { "" };
                write!(f, "--precision {}{weights}{to}", of(layers))
            }
            Self::Sparsity { stored: Sparsity::Structured { keep, of: group }, layers } => {
                write!(f, "--sparsity {}{keep}:{group}", of(layers))
            }
            Self::Sparsity { stored: Sparsity::Unstructured { zeros }, layers } => {
                write!(f, "--sparsity {}{zeros}", of(layers))
            }
            Self::Fuse => write!(f, "--fuse"),
            Self::Batch(samples) => write!(f, "--batch {samples}"),
            Self::Resolution(extents) => {
                let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
                write!(f, "--resolution {}", extents.join("x"))
            }
            Self::Separable(layers) => write!(f, "--separable {layers}"),
            Self::Width(factor) => write!(f, "--width {factor}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_read() {
        let precision = |text: &str| Transform::parse_precision(text);
        let sparsity = |text: &str| Transform::parse_sparsity(text);
        for (flag, read, text) in [
            ("precision", precision("Int8"), "Int8"),
            ("precision", precision("a=b/conv*=weights:Int4"), "a=b/conv*=weights:Int4"),
            ("sparsity", sparsity("0.5"), "0.5"),
            ("sparsity", sparsity("conv1=2:4"), "conv1=2:4"),
            ("batch", Transform::parse_batch("8"), "8"),
            ("resolution", Transform::parse_resolution("160x120"), "160x120"),
            ("separable", Transform::parse_separable("conv?"), "conv?"),
            ("width", Transform::parse_width("0.5"), "0.5"),
        ] {
            assert_eq!(read.unwrap().to_string(), format!("--{flag} {text}"));
        }
        let error = Transform::parse_precision("Int9").unwrap_err();
        assert!(error.contains("did you mean `Int"), "{error}");
        for bad in ["", "2:", "x:4", "half"] {
            assert!(Transform::parse_sparsity(bad).is_err(), "{bad}");
        }
        assert!(Transform::parse_resolution("160x").is_err());
        assert!(Transform::parse_width("wide").is_err());
    }
}
