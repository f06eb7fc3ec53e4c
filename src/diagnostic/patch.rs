//! Changing a value of a text in place, so that comments and layout stay.

use super::SpanIndex;

/// `text` as a literal of RON.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `text` with the literal at `path` replaced; `None` when it has none there.
pub fn patched(text: &str, path: &str, literal: &str) -> Option<String> {
    let span = SpanIndex::of(text).value(path)?;
    Some([text.get(..span.start)?, literal, text.get(span.end..)?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_literal_changes() {
        let text = "( // name: \"a\"\n  name: \"a\", // kept\n  engines: [(name: \"b\")])";
        let out = patched(text, "name", &quoted("c \"d\"")).unwrap();
        assert_eq!(
            out,
            "( // name: \"a\"\n  name: \"c \\\"d\\\"\", // kept\n  engines: [(name: \"b\")])"
        );
        assert_eq!(patched(text, "nowhere", "x"), None);
    }

    #[test]
    fn any_text_comes_back_from_its_literal() {
        for text in ["", "a b", "\"\\\n\t", "µ \u{7} \u{feff}"] {
            assert_eq!(ron::from_str::<String>(&quoted(text)).unwrap(), text);
        }
    }
}
