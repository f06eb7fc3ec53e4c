//! Reading RON with an error that carries the path and the place.

use super::{Fault, Report, SpanIndex, nearest};
use ron::error::SpannedError;
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;
use std::ops::Range;

/// The dialect of every file of ours: `Some(..)` may be left out, and so may the second pair of
/// brackets in `Systolic((rows: 12))`.
pub fn ron_options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// Parses `text`, read from `file`, as RON. A fault stops at the first, with path, line, column
/// and, for a misspelt field or variant, the nearest known one.
pub fn parse_ron<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Box<Report>> {
    let options = ron_options();
    let at_place = |e: SpannedError, path: String| {
        let mut fault = Fault::at(path, e.code.to_string());
        fault.help = help_for(&e.code);
        fault.span = Some(byte_range(text, &e, &fault.path));
        Box::new(Report::new(file, text, vec![fault]))
    };
    let mut deserializer = ron::Deserializer::from_str_with_options(text, &options)
        .map_err(|e| at_place(e, ".".to_owned()))?;
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
        let path = e.path().to_string();
        at_place(deserializer.span_error(e.into_inner()), path)
    })?;
    deserializer
        .end()
        .map_err(|e| at_place(deserializer.span_error(e), "end of file".to_owned()))?;
    Ok(value)
}

/// Bytes of a fault. RON counts columns in characters. A missing or unknown field has its own
/// token as span; a wrong value has only one character, where the index knows the whole value.
fn byte_range(text: &str, error: &SpannedError, path: &str) -> Range<usize> {
    let offset = |p: ron::error::Position| {
        let mut start = 0;
        for _ in 1..p.line {
            start = text[start..].find('\n').map_or(text.len(), |i| start + i + 1);
        }
        let line = &text[start..];
        line.char_indices().nth(p.col.saturating_sub(1)).map_or(text.len(), |(i, _)| start + i)
    };
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    if end <= start + 1
        && let Some(span) = SpanIndex::of(text).value(path)
        && start <= span.end
        && text.get(start..span.start).is_none_or(|between| between.trim().is_empty())
    {
        return span;
    }
    start..end.max(start + 1)
}

fn help_for(code: &ron::Error) -> Option<String> {
    let (found, expected) = match code {
        ron::Error::NoSuchStructField { found, expected, .. } => (found, *expected),
        ron::Error::NoSuchEnumVariant { found, expected, .. } => (found, *expected),
        _ => return None,
    };
    let names = expected.iter().copied();
    Some(match nearest(found, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", expected.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rail {
        #[allow(dead_code)]
        voltage: f64,
    }
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[allow(dead_code)]
        rails: Vec<Rail>,
    }

    #[test]
    fn an_unknown_field_names_place_path_and_nearest() {
        let text = "(\n  // µ before it must not shift the column\n  rails: [(voltag: 3.3)],\n)";
        let shown = parse_ron::<File>("m4.ron", text).unwrap_err().to_string();
        assert!(shown.contains("m4.ron:3:12"), "{shown}");
        assert!(shown.contains("^^^^^^ rails[0].voltag"), "{shown}");
        assert!(shown.contains("did you mean `voltage`?"), "{shown}");
    }

    #[test]
    fn a_wrong_type_marks_the_whole_value() {
        let text = "(rails: [(voltage: \"high\")])";
        let shown = parse_ron::<File>("m4.ron", text).unwrap_err().to_string();
        assert!(shown.contains("m4.ron:1:20"), "{shown}");
        assert!(shown.contains("rails[0].voltage"), "{shown}");
    }

    #[test]
    fn syntax_faults_have_a_place() {
        for text in ["(rails: [", "(rails: [(voltage: 1.0)]) extra", "", "(rails: [(voltage: )])"] {
            let shown = parse_ron::<File>("x.ron", text).unwrap_err().to_string();
            assert!(shown.contains("x.ron:"), "{shown}");
        }
    }
}
