//! Faults in a text a user wrote, rendered with file, line, column and caret.

use super::{Merged, SpanIndex};
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
    /// Which of the report's files it is in; 0 is the one that was read.
    pub file: usize,
}

impl Fault {
    /// A fault of the field at `path`; its span is looked up later.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (message, path) = (message.into(), path.into());
        Self { message, path, span: None, part: None, help: None, file: 0 }
    }

    /// Adds what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The faults of one text, in the order of their place in it; or of a file and those it extends, one
/// file after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name and text, the file that was read first and behind each those that it extends.
    files: Vec<(String, String)>,
    /// The file that extends each; without it, that before each.
    above: Vec<usize>,
    faults: Vec<Fault>,
}

impl Report {
    /// A report on `text`, read from `file`. At least one fault is expected.
    pub fn new(file: impl Into<String>, text: impl Into<String>, faults: Vec<Fault>) -> Self {
        Self::of_files(vec![(file.into(), text.into())], faults)
    }

    /// A report on several files, each with name and text, of which each extends the next. A fault's
    /// span is one of its own file.
    pub fn of_files(files: Vec<(String, String)>, mut faults: Vec<Fault>) -> Self {
        faults.sort_by_key(|f| (f.file, f.span.as_ref().map_or(usize::MAX, |s| s.start)));
        Self { files, above: Vec::new(), faults }
    }

    /// The same, by the file that extends each.
    pub(super) fn extended_by(self, above: &[usize]) -> Self {
        Self { above: above.to_vec(), ..self }
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

    /// A report on the text of `merged`, told by the files that it was put together from.
    pub fn traced(self, merged: &Merged) -> Box<Self> {
        let mut faults = self.faults;
        for fault in &mut faults {
            if let Some(span) = &mut fault.span {
                fault.help =
                    fault.help.take().or_else(|| merged.lies_over(&fault.path, span.start));
                (fault.file, *span) = merged.origin(span);
            }
        }
        Box::new(Self::of_files(merged.files().to_vec(), faults).extended_by(merged.above()))
    }

    /// The faults, in the order of the text.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The file that a fault is in, and the line and column (from 1, in characters) where it starts.
    pub fn place(&self, fault: &Fault) -> (&str, Option<(usize, usize)>) {
        let (file, text) = self.file(fault);
        (file, fault.span.as_ref().map(|span| line_column(text, span.start)))
    }

    fn file(&self, fault: &Fault) -> (&str, &str) {
        self.files.get(fault.file).map_or(("", ""), |(file, text)| (file, text))
    }

    fn render_fault(&self, fault: &Fault) -> String {
        let (file, text) = self.file(fault);
        let title = Level::ERROR.primary_title(fault.message.as_str());
        let mut group = match &fault.span {
            None => Group::with_title(title)
                .element(Level::NOTE.message(format!("in {file}, field {}", fault.path))),
            Some(span) => {
                Group::with_title(title).element(Snippet::source(text).path(file).annotation(
                    AnnotationKind::Primary.span(clamp(span, text)).label(fault.path.as_str()),
                ))
            }
        };
        let above = fault.file.checked_sub(1);
        let above = above.map(|before| self.above.get(fault.file).copied().unwrap_or(before));
        if let Some((above, _)) = above.and_then(|i| self.files.get(i)) {
            group = group.element(Level::NOTE.message(format!("{above} extends this file")));
        }
        if let Some(help) = &fault.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().decor_style(DecorStyle::Ascii).render(&[group])
    }

    /// How many faults there are, and where.
    fn summary(&self) -> String {
        let counts: Vec<(usize, &str)> = self
            .files
            .iter()
            .enumerate()
            .map(|(i, (file, _))| {
                (self.faults.iter().filter(|f| f.file == i).count(), file.as_str())
            })
            .filter(|(count, _)| *count > 0)
            .collect();
        match counts.as_slice() {
            [(count, file)] => format!("{count} faults in {file}"),
            several => {
                let each: Vec<_> =
                    several.iter().map(|(n, file)| format!("{n} in {file}")).collect();
                format!("{} faults: {}", self.faults.len(), each.join(", "))
            }
        }
    }
}

fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    (line, before.get(line_start..).map_or(0, |l| l.chars().count()) + 1)
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
            write!(f, "\n\n{}", self.summary())?;
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
        assert_eq!(report.place(&report.faults()[1]), ("chip.ron", Some((3, 10))));
    }

    #[test]
    fn a_span_inside_a_character_or_past_the_end_is_pulled_back() {
        let mut fault = Fault::at("a", "odd");
        fault.span = Some(1..99);
        assert!(Report::new("f", "±x", vec![fault]).to_string().contains("odd"));
    }

    #[test]
    fn faults_of_several_files_stand_file_by_file() {
        let files = [("mine.ron", "(a: 1)"), ("theirs.ron", "(\n  b: 2,\n  c: 3)")];
        let files = files.map(|(file, text)| (file.to_owned(), text.to_owned())).to_vec();
        let fault = |file, at: usize, message| {
            let span = Some(at..at + 1);
            Fault { file, span, ..Fault::at("x", message) }
        };
        let faults = vec![fault(1, 16, "third"), fault(0, 4, "first"), fault(1, 7, "second")];
        let shown = Report::of_files(files, faults).to_string();
        let at = |words: &str| shown.find(words).unwrap_or_else(|| panic!("{words}: {shown}"));
        assert!(at("mine.ron:1:5") < at("theirs.ron:2:6") && at("second") < at("third"), "{shown}");
        assert_eq!(shown.matches("mine.ron extends this file").count(), 2, "{shown}");
        assert!(shown.ends_with("3 faults: 1 in mine.ron, 2 in theirs.ron"), "{shown}");
    }
}
