//! Reading RON with an error that carries the path and the place.

use super::cursor::Cursor;
use super::slips::{slip, unclosed_help};
use super::spans::duplicates;
use super::{Fault, Report, SpanIndex, nearest, variants, wording};
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
/// and, for a misspelt field or variant, the nearest known one. Names that a map or a group has
/// twice are reported together: of a map, the last would hold in silence.
pub fn parse_ron<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Box<Report>> {
    let parsed = deserialized::<T>(text);
    let error = parsed.as_ref().err().map(|fault| &fault.1.code);
    if matches!(error, None | Some(ron::Error::DuplicateStructField { .. })) {
        let faults = duplicate_faults(text);
        if !faults.is_empty() {
            return Err(Box::new(Report::new(file, text, faults)));
        }
    }
    parsed.map_err(|fault| {
        let (path, error) = *fault;
        let mut fault = located(text, &error, path);
        if explained::<T>(text, &error, &mut fault) {
            return Box::new(Report::new(file, text, vec![fault]));
        }
        let start = fault.span.as_ref().map_or(text.len(), |span| span.start);
        fault.help = fault.help.or_else(|| match &error.code {
            ron::Error::ExpectedNamedStructLike(_) => fields_at::<T>(text, fault.span.as_ref()?),
            ron::Error::ExpectedStructLike => fields_at::<T>(text, &(start..start)),
            _ => None,
        });
        Box::new(Report::new(file, text, vec![fault]))
    })
}

/// The value, or what is wrong and the field path it is wrong at.
fn deserialized<T: DeserializeOwned>(text: &str) -> Result<T, Box<(String, SpannedError)>> {
    let options = ron_options();
    let mut deserializer = ron::Deserializer::from_str_with_options(text, &options)
        .map_err(|e| (".".to_owned(), e))?;
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
        let path = e.path().to_string();
        (path, deserializer.span_error(e.into_inner()))
    })?;
    deserializer.end().map_err(|e| ("end of file".to_owned(), deserializer.span_error(e)))?;
    Ok(value)
}

/// Puts the words of the parser into those of the slip behind them, where there is one.
fn explained<T: DeserializeOwned>(text: &str, error: &SpannedError, fault: &mut Fault) -> bool {
    use ron::Error;
    let at = offset(text, error.span.start);
    let at = match error.code {
        // `#` is behind it already.
        Error::ExpectedAttribute => at.saturating_sub(1),
        _ => at,
    };
    // A quote that is missing makes nonsense of all brackets.
    let quote = matches!(error.code, Error::ExpectedComma) && fault.help.is_some();
    let syntax = !quote && (is_syntax(&error.code) || is_field(text, at, &error.code));
    if let Some(slip) = slip(text, at).filter(|_| syntax) {
        fault.message = slip.message;
        fault.help = slip.help;
        fault.span = Some(slip.span);
        fault.path = slip.path.unwrap_or_else(|| std::mem::take(&mut fault.path));
        return true;
    }
    if let (
        Error::ExpectedIdentifier | Error::InvalidIdentifier(_) | Error::SuggestRawIdentifier(_),
        Some(span),
    ) = (&error.code, &fault.span)
    {
        let parser = |probe: &str| Some(deserialized::<T>(probe).err()?.1.code);
        if let Some((message, help)) = variants::explain(text, span, &parser) {
            (fault.message, fault.help) = (message, Some(help));
            return true;
        }
    }
    // What belongs elsewhere may be there because a bracket is missing above.
    if let Error::NoSuchStructField { found, expected, .. }
    | Error::NoSuchEnumVariant { found, expected, .. } = &error.code
        && nearest(found, expected.iter().copied()).is_none()
        && let Some(help) = unclosed_help(text, at)
    {
        fault.help = Some(help);
        return true;
    }
    false
}

/// True for the name of a field where a variant is expected: a list above it goes on.
fn is_field(text: &str, at: usize, error: &ron::Error) -> bool {
    let ron::Error::NoSuchEnumVariant { found, .. } = error else { return false };
    let behind = text.get(at..).and_then(|rest| rest.strip_prefix(found.as_str()));
    behind.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// True for faults of syntax that a slip may be behind.
fn is_syntax(error: &ron::Error) -> bool {
    use ron::Error;
    matches!(
        error,
        Error::Eof
            | Error::ExpectedArrayEnd
            | Error::ExpectedAttribute
            | Error::ExpectedComma
            | Error::ExpectedDifferentStructName { .. }
            | Error::ExpectedIdentifier
            | Error::ExpectedMapColon
            | Error::ExpectedMapEnd
            | Error::ExpectedString
            | Error::ExpectedStructLike
            | Error::ExpectedStructLikeEnd
            | Error::ExpectedNamedStructLike(_)
            | Error::TrailingCharacters
    )
}

/// Names that a map or a group of a RON or JSON text has twice, each with its place.
pub fn duplicate_faults(text: &str) -> Vec<Fault> {
    let faults = duplicates(text).into_iter().map(|twice| {
        let line = text.get(..twice.first).unwrap_or("").matches('\n').count() + 1;
        let mut fault = Fault::at(twice.path, format!("`{}` is given twice", twice.name));
        fault.span = Some(twice.second);
        fault.with_help(format!("the first is in line {line}; leave one out"))
    });
    faults.collect()
}

/// The fault with its place, which for some errors is not where the parser gave up.
fn located(text: &str, error: &SpannedError, path: String) -> Fault {
    let path = if path == "?" { "." } else { path.strip_suffix(".?").unwrap_or(&path) }.to_owned();
    let message = wording::message(&error.code, &path);
    let mut fault = Fault::at(path, message);
    fault.help = wording::help(&error.code);
    let at = offset(text, error.span.start);
    match &error.code {
        ron::Error::ExpectedComma => after_value(text, at, &mut fault),
        // It would run to the end of the text.
        ron::Error::ExpectedStringEnd | ron::Error::UnclosedBlockComment => {
            fault.span = Some(at..at + 1);
        }
        // The parser notes it at the end of the text.
        ron::Error::MissingStructField { field, .. } if fault.path == "." => {
            let open = root(text);
            fault.path = (*field).to_owned();
            fault.span = Some(open..open + 1);
        }
        _ => fault.span = Some(byte_range(text, error, &fault.path)),
    }
    fault
}

/// Where the text starts, behind comments and attributes.
fn root(text: &str) -> usize {
    let mut cursor = Cursor { text, at: 0 };
    cursor.attributes();
    cursor.at
}

/// A comma is missed behind the value before, or in the midst of a number that is no whole one.
fn after_value(text: &str, reached: usize, fault: &mut Fault) {
    let index = SpanIndex::of(text);
    let words = |span: &Range<usize>| text.get(span.clone()).unwrap_or("");
    if let Some((path, span)) = index.around(reached).filter(|(_, s)| is_number(words(s))) {
        path.clone_into(&mut fault.path);
        fault.message = format!("expected a whole number, not {}", words(&span));
        fault.span = Some(span);
    } else if let Some((path, span)) = index.before(reached) {
        path.clone_into(&mut fault.path);
        fault.message = "expected a comma behind this value".to_owned();
        if words(&span).starts_with('"') && words(&span).contains('\n') {
            fault.help = Some("it is a text of several lines: is a quote missing?".to_owned());
        }
        fault.span = Some(span.end.saturating_sub(1)..span.end);
    } else {
        fault.span = Some(reached..reached + 1);
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// The fields of the group that belongs at `span`, from what the parser says of one that is none.
fn fields_at<T: DeserializeOwned>(text: &str, span: &Range<usize>) -> Option<String> {
    const NO_FIELD: &str = "(no_such_field:0)";
    let (before, behind) = (text.get(..span.start)?, text.get(span.end..)?);
    let probe = [before, NO_FIELD, behind].concat();
    match deserialized::<T>(&probe).err()?.1.code {
        ron::Error::NoSuchStructField { expected, found, .. } if found == "no_such_field" => {
            Some(format!("its fields: {}", expected.join(", ")))
        }
        _ => None,
    }
}

/// RON counts columns in characters.
fn offset(text: &str, position: ron::error::Position) -> usize {
    let mut start = 0;
    for _ in 1..position.line {
        start = text[start..].find('\n').map_or(text.len(), |i| start + i + 1);
    }
    let mut characters = text[start..].char_indices();
    characters.nth(position.col.saturating_sub(1)).map_or(text.len(), |(i, _)| start + i)
}

/// Bytes of a fault. A missing or unknown field has its own token as span; a wrong value has only
/// one character, where the index knows the whole value.
fn byte_range(text: &str, error: &SpannedError, path: &str) -> Range<usize> {
    let (start, end) = (offset(text, error.span.start), offset(text, error.span.end));
    if end <= start + 1
        && let Some(span) = SpanIndex::of(text).value(path)
        && start <= span.end
        && text.get(start..span.start).is_none_or(|between| between.trim().is_empty())
    {
        return span;
    }
    start..end.max(start + 1)
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

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct ArraySpec {
        name: String,
        rows: u64,
        clocks: std::collections::BTreeMap<String, f64>,
        kind: ArrayKind,
    }
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    enum ArrayKind {
        Systolic { columns: u64 },
    }

    const ARRAY: &str =
        "(\n  name: \"a\",\n  rows: 16,\n  clocks: {},\n  kind: Systolic(columns: 2),\n)";

    fn said(from: &str, to: &str) -> String {
        assert!(ARRAY.contains(from), "{from}");
        let text = ARRAY.replacen(from, to, 1);
        parse_ron::<ArraySpec>("a.ron", &text).unwrap_err().to_string()
    }

    #[test]
    fn faults_are_in_the_words_of_the_file() {
        for (from, to, message, place) in [
            ("  rows: 16,\n", "", "this array needs a field `rows`", "a.ron:1:1"),
            ("rows: 16", "row: 16", "this array has no field `row`", "a.ron:3:3"),
            ("rows: 16", "rows: 16.5", "expected a whole number, not 16.5", "a.ron:3:9"),
            ("rows: 16,", "rows: 16 // ,", "expected a comma behind this value", "a.ron:3:10"),
            ("\"a\"", "\"a", "the text in quotes that starts here does not end", "a.ron:2:9"),
            ("(columns: 2)", "(c: 2)", "`Systolic` has no field `c`", "a.ron:5:18"),
            ("(columns: 2)", "", "help: its fields: columns", "a.ron:5:17"),
            ("Systolic(columns: 2)", "Lanes", "`Lanes` is no known array kind", "a.ron:5:9"),
        ] {
            let shown = said(from, to);
            assert!(shown.contains(message) && shown.contains(place), "{message} {place}\n{shown}");
        }
        let shown = said("kind: Systolic", "kind: Systolc");
        assert_eq!(shown.matches("Systolic`").count(), 1, "known ones are listed once: {shown}");
    }

    #[test]
    fn slips_of_syntax_are_told_as_such() {
        for (from, to, message, place) in [
            (
                "rows: 16,",
                "rows: 16, # sixteen",
                "a comment starts with `//`, not with `#`",
                "a.ron:3:13",
            ),
            (
                "rows: 16,",
                "rows: 16 # sixteen\n,",
                "a comment starts with `//`, not with `#`",
                "a.ron:3:12",
            ),
            (
                "(\n  name",
                "# a\n(\n  name",
                "a comment starts with `//`, not with `#`",
                "a.ron:1:1",
            ),
            (
                "  rows: 16",
                "  \"rows\": 16",
                "the name of a field stands without quotes: `rows`",
                "a.ron:3:3",
            ),
            ("{}", "{", "the `{` that opens here is not closed", "a.ron:4:11"),
            ("columns: 2)", "columns: 2", "the `(` that opens here is not closed", "a.ron:5:17"),
            ("columns: 2),\n)", "columns: 2),\n) # end", "a comment starts with `//`", "a.ron:6:3"),
        ] {
            let shown = said(from, to);
            assert!(shown.contains(message) && shown.contains(place), "{message} {place}\n{shown}");
            assert!(!shown.contains("its fields"), "{shown}");
        }
        let shown = said("(columns: 2),\n", "(\n    columns: 2,\n  rows: 3,\n");
        assert!(shown.contains("`Systolic` has no field `rows`"), "{shown}");
        assert!(shown.contains("help: the `(` that opens at 5:17 is not closed"), "{shown}");
        let shown = said("columns: 2)", "columns: 2");
        assert!(shown.contains("kind.Systolic") || shown.contains(" kind"), "{shown}");
    }

    #[test]
    fn a_missing_quote_is_suspected_behind_a_text_of_several_lines() {
        let shown = said("\"a\",\n  rows: 16", "\"a,\n  rows: \"16\"");
        assert!(shown.contains("is a quote missing?"), "{shown}");
    }

    #[test]
    fn names_given_twice_are_reported_together_with_the_place_of_both() {
        let shown = said("{}", "{\n\"npu\": 1.0, \"c\": 2.0,\n\"npu\": 3.0, \"\\u{63}\": 4.0}");
        assert!(shown.contains("`npu` is given twice"), "{shown}");
        assert!(shown.contains("a.ron:6:1") && shown.contains("clocks.npu"), "{shown}");
        assert!(shown.contains("the first is in line 5"), "{shown}");
        assert!(shown.contains("`c` is given twice"), "an escaped key is the same key: {shown}");
        assert!(shown.contains("2 faults in a.ron"), "{shown}");
        let shown = said("rows: 16", "rows: 16, rows: 17");
        assert!(shown.contains("`rows` is given twice"), "{shown}");
        assert!(shown.contains("a.ron:3:13"), "{shown}");
    }

    #[test]
    fn names_given_twice_are_found_in_time_linear_in_the_text() {
        let long = "k".repeat(200_000);
        let inner: String = (0..20_000).map(|i| format!("{}: 1,", i / 2)).collect();
        let text = format!("{{\"{long}\": {{{inner}}}}}");
        type Nested = std::collections::BTreeMap<String, std::collections::BTreeMap<u64, u64>>;
        let started = std::time::Instant::now();
        let report = parse_ron::<Nested>("long.ron", &text).unwrap_err();
        assert_eq!(report.faults().len(), 20, "and no more than can be read");
        assert!(started.elapsed() < std::time::Duration::from_secs(2));
    }
}
