//! A value that stands where one of several variants is expected: which there are, and which of them it
//! fits.

use super::cursor::unquoted;
use super::nearest;
use crate::units::Literal;
use ron::Error;
use std::ops::Range;

/// More of them are not tried one by one.
const TRIED: usize = 20;

/// A word that is no variant of anything.
const NO_VARIANT: &str = "no_such_variant";

/// What the parser says of a text.
pub(super) type Parser<'a> = &'a dyn Fn(&str) -> Option<Error>;

/// A variant as it is written.
struct Variant {
    name: &'static str,
    /// A literal that it could hold.
    example: Option<String>,
}

impl Variant {
    fn holding(&self, literal: &str) -> String {
        format!("{}({literal})", self.name)
    }

    fn written(&self) -> String {
        let example = self.example.as_ref().map(|e| self.holding(&format!("\"{e}\"")));
        example.unwrap_or_else(|| self.name.to_owned())
    }

    /// True where `text` has the unit of its example.
    fn fits(&self, text: &str) -> bool {
        let example = self.example.as_ref().and_then(|e| Literal::parse(e).ok());
        let literal = Literal::parse(text).ok();
        let pair = example.zip(literal).map(|(e, l)| (e.dimension, l.dimension));
        // Either may leave out what is counted.
        pair.is_some_and(|(example, own)| own.fits(example) || example.fits(own))
    }
}

/// Message and help for the value at `span`, for which the parser wants a variant.
pub(super) fn explain(
    text: &str,
    span: &Range<usize>,
    parser: Parser<'_>,
) -> Option<(String, String)> {
    let value = text.get(span.clone())?;
    let put = |word: &str| Some([text.get(..span.start)?, word, text.get(span.end..)?].concat());
    let Error::NoSuchEnumVariant { expected, found, .. } = parser(&put(NO_VARIANT)?)? else {
        return None;
    };
    if found != NO_VARIANT || expected.is_empty() {
        return None;
    }
    let variants = expected.iter().take(TRIED).map(|name| {
        let probed = put(&format!("{name}(true)")).and_then(|probe| parser(&probe));
        let example = match probed {
            Some(Error::InvalidValueForType { expected, .. }) => example_in(&expected),
            _ => None,
        };
        Variant { name, example }
    });
    let variants: Vec<Variant> = variants.collect();
    let names = expected.join(", ");
    let inner = unquoted(value);
    if let Some(same) = expected.iter().find(|name| **name == inner) {
        return Some((format!("`{same}` stands without quotes"), format!("write `{same}`")));
    }
    let fitting: Vec<String> =
        variants.iter().filter(|v| v.fits(&inner)).map(|v| v.holding(value)).collect();
    let help = match (fitting.as_slice(), nearest(&inner, expected.iter().copied())) {
        ([], Some(near)) if variants.iter().all(|v| v.example.is_none()) => {
            format!("did you mean `{near}`?")
        }
        ([], _) => {
            let all: Vec<_> = variants.iter().map(|v| format!("`{}`", v.written())).collect();
            format!("write {}", all.join(" or "))
        }
        (fitting, _) => format!("write `{}`", fitting.join("` or `")),
    };
    Some((format!("expected one of {names}, not a value by itself"), help))
}

/// The literal in `a charge such as "105 uA/MHz"`.
fn example_in(expected: &str) -> Option<String> {
    let (_, behind) = expected.split_once("such as \"")?;
    Some(behind.split_once('"')?.0.to_owned())
}
