//! What the RON parser says, in words for somebody who writes files and no Rust.

use super::nearest;
use ron::Error;

/// What is wrong with the value at `path`.
pub(super) fn message(error: &Error, path: &str) -> String {
    let this = |name: &Option<String>| match name.as_deref() {
        None => "this value".to_owned(),
        // The name of a variant stands in the file.
        Some(name) if path.split('.').any(|part| part == name) => format!("`{name}`"),
        Some(name) => format!("this {}", plain(name)),
    };
    match error {
        Error::MissingStructField { field, outer } => {
            format!("{} needs a field `{field}`", this(outer))
        }
        Error::NoSuchStructField { found, outer, .. } => {
            format!("{} has no field `{found}`", this(outer))
        }
        Error::DuplicateStructField { field, outer } => {
            format!("{} has two fields `{field}`", this(outer))
        }
        Error::NoSuchEnumVariant { found, outer, .. } => match outer {
            Some(outer) => format!("`{found}` is no known {}", plain(outer)),
            None => format!("`{found}` is not known here"),
        },
        Error::ExpectedNamedStructLike(name) if !name.is_empty() => {
            format!("expected `(` and the fields of the {}", plain(name))
        }
        Error::ExpectedDifferentStructName { expected, found } => {
            let expected = plain(expected);
            format!("`{found}` is no {expected}; the name in front of `(` may be left out")
        }
        Error::InvalidValueForType { expected, found } => {
            format!("expected {}, found {found}", type_name(expected))
        }
        Error::InvalidIntegerDigit { digit, .. } => format!("`{digit}` is no digit of this number"),
        other => fixed(other).map_or_else(|| lower(&other.to_string()), str::to_owned),
    }
}

fn fixed(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Eof => "the text ends too early: a closing bracket is missing",
        Error::ExpectedStructLike => "expected `(` and fields",
        Error::ExpectedArray => "expected a list in `[ ]`",
        Error::ExpectedMap => "expected a map in `{ }`",
        Error::ExpectedMapColon => "expected `:` between a name and its value",
        Error::ExpectedComma => "expected a comma",
        Error::ExpectedBoolean => "expected true or false",
        Error::ExpectedInteger => "expected a whole number",
        Error::IntegerOutOfBounds => "this whole number is negative or too large",
        Error::ExpectedFloat => "expected a number",
        Error::ExpectedString => "expected a text in quotes",
        Error::ExpectedStringEnd => "the text in quotes that starts here does not end",
        Error::ExpectedIdentifier => "expected a name",
        Error::UnclosedBlockComment => "a comment that starts with `/*` does not end",
        Error::TrailingCharacters => "there is more behind the end",
        Error::ExceededRecursionLimit => "brackets are nested too deep",
        _ => return None,
    })
}

/// What to do about it.
pub(super) fn help(error: &Error) -> Option<String> {
    let (found, expected) = match error {
        Error::NoSuchStructField { found, expected, .. } => (found, *expected),
        Error::NoSuchEnumVariant { found, expected, .. } => (found, *expected),
        _ => return None,
    };
    Some(match nearest(found, expected.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if expected.is_empty() => "it has no fields".to_owned(),
        None => format!("known here: {}", expected.join(", ")),
    })
}

/// A type of ours as a reader would call it: `EngineEnergy` is an engine energy, and `ProfileSpec`,
/// `ModelFile` and `TensorEntry` say how they are kept, which is no concern of his.
fn plain(name: &str) -> String {
    let stem = ["Spec", "File", "Entry"].iter().find_map(|suffix| name.strip_suffix(suffix));
    let mut words = String::new();
    for letter in stem.filter(|stem| !stem.is_empty()).unwrap_or(name).chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// What serde calls the type of a value.
fn type_name(name: &str) -> String {
    match name {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ => match name.rsplit_once(' ') {
            Some(("struct" | "enum" | "tuple struct", name)) => {
                format!("a value of {}", plain(name))
            }
            _ => name.to_owned(),
        },
    }
}

/// The parser starts its sentences with a capital, our messages do not.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |c| c.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_words() {
        assert_eq!(plain("ProfileSpec"), "profile");
        assert_eq!(plain("ModelFile"), "model");
        assert_eq!(plain("TensorEntry"), "tensor");
        assert_eq!(plain("EngineEnergy"), "engine energy");
        assert_eq!(plain("Spec"), "spec");
        assert_eq!(type_name("u64"), "a whole number from 0");
        assert_eq!(type_name("struct ModelFile"), "a value of model");
    }

    #[test]
    fn what_the_parser_says_otherwise_starts_in_lower_case() {
        assert_eq!(message(&Error::ExpectedUnit, "."), "expected unit");
        assert_eq!(message(&Error::Message("ampere is no volt".into()), "."), "ampere is no volt");
    }
}
