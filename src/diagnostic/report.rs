//! Faults in a text a user wrote, rendered with file, line, column and caret.

use super::SpanIndex;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What is wrong, with the offending values.
    pub message: String,
    /// The field it concerns, as a path such as `engines[0].clock`.
    pub path: String,
    /// The bytes of the text it concerns; `None` when the text holds no such field.
    pub span: Option<Range<usize>>,
    /// The part of the field's value that is wrong, relative to it; all of it when left out.
    pub part: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// A fault of the field at `path`; its span is looked up later.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (message, path) = (message.into(), path.into());
        Self { message, path, span: None, part: None, help: None }
    }

    /// Adds what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The faults of one text, in the order of their place in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    file: String,
    text: String,
    faults: Vec<Fault>,
}

impl Report {
    /// A report on `text`, read from `file`. At least one fault is expected.
    pub fn new(file: impl Into<String>, text: impl Into<String>, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|f| f.span.as_ref().map_or(usize::MAX, |s| s.start));
        Self { file: file.into(), text: text.into(), faults }
    }

    /// A report on faults that know their field but not yet its place in `text`.
    pub fn located(file: &str, text: &str, mut faults: Vec<Fault>) -> Box<Self> {
        let index = SpanIndex::of(text);
        for fault in faults.iter_mut().filter(|f| f.span.is_none()) {
            let whole = index.value_or_enclosing(&fault.path);
            fault.span = whole.map(|whole| match &fault.part {
                Some(part) => whole.start + part.start..(whole.start + part.end).min(whole.end),
                None => whole,
            });
        }
        Box::new(Self::new(file, text, faults))
    }

    /// The faults, in the order of the text.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Line and column (from 1, in characters) of a byte offset.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        (line, before.get(line_start..).map_or(0, |l| l.chars().count()) + 1)
    }

    fn render_fault(&self, fault: &Fault) -> String {
        let title = Level::ERROR.primary_title(fault.message.as_str());
        let mut group = match &fault.span {
            None => Group::with_title(title)
                .element(Level::NOTE.message(format!("in {}, field {}", self.file, fault.path))),
            Some(span) => Group::with_title(title).element(
                Snippet::source(self.text.as_str()).path(self.file.as_str()).annotation(
                    AnnotationKind::Primary
                        .span(clamp(span, &self.text))
                        .label(fault.path.as_str()),
                ),
            ),
        };
        if let Some(help) = &fault.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().decor_style(DecorStyle::Ascii).render(&[group])
    }
}

/// A span that lies within `text` on character borders, whatever it was computed from.
fn clamp(span: &Range<usize>, text: &str) -> Range<usize> {
    let border = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = border(span.start);
    start..border(span.end).max(start)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            if i > 0 {
                f.write_str("\n\n")?;
            }
            f.write_str(&self.render_fault(fault))?;
        }
        if self.faults.len() > 1 {
            write!(f, "\n\n{} faults in {}", self.faults.len(), self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_shown_with_line_column_and_caret() {
        let text = "(\n  voltage: \"1.2 V\",\n  clock: \"0 Hz\",\n)";
        let mut first = Fault::at("clock", "a clock must run");
        first.span = Some(31..37);
        let mut second = Fault::at("voltage", "too low").with_help("raise it");
        second.span = Some(13..20);
        let report = Report::new("chip.ron", text, vec![first, second]);
        let shown = report.to_string();
        assert!(shown.contains("chip.ron:2:12"), "{shown}");
        assert!(shown.contains("chip.ron:3:10"), "{shown}");
        assert!(shown.contains("^^^^^^ clock"), "{shown}");
        assert!(shown.contains("help: raise it"), "{shown}");
        assert!(shown.contains("2 faults in chip.ron"), "{shown}");
        assert_eq!(report.line_column(31), (3, 10));
    }

    #[test]
    fn a_span_inside_a_character_or_past_the_end_is_pulled_back() {
        let mut fault = Fault::at("a", "odd");
        fault.span = Some(1..99);
        assert!(Report::new("f", "±x", vec![fault]).to_string().contains("odd"));
    }
}
