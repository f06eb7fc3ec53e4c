//! What is wrong with a capture of a case.

use crate::diagnostic::{Fault, nearest};
use crate::formats::FormatError;

/// What is wrong with a capture, and with which field of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    field: &'static str,
    message: String,
    help: Option<String>,
}

impl Problem {
    pub(super) fn of(field: &'static str, message: String) -> Self {
        Self { field, message, help: None }
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// That of another room, whose text has its help on a line of its own.
    pub(super) fn of_error(field: &'static str, text: &str) -> Self {
        let (message, help) = match text.split_once("\nhelp: ") {
            Some((message, help)) => (message, Some(help.to_owned())),
            None => (text, None),
        };
        Self { field, message: message.to_owned(), help }
    }

    /// A line that the capture does not have.
    pub(super) fn no_line(field: &'static str, name: &str, lines: &[String]) -> Self {
        let known = match lines {
            [] => "the capture has none".to_owned(),
            lines => format!("there are {}", lines.join(", ")),
        };
        let message = format!("no digital line is called `{name}`: {known}");
        let problem = Self::of(field, message);
        match nearest(name, lines.iter().map(String::as_str)) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None => problem,
        }
    }

    /// A file that cannot be read.
    pub(super) fn unreadable(error: &FormatError) -> Self {
        let field = match error {
            FormatError::NoFormat { .. } => "format",
            _ => "file",
        };
        let problem = Self::of_error(field, &error.to_string());
        match error {
            FormatError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                problem.with_help("paths are taken from the folder of the case file")
            }
            _ => problem,
        }
    }

    /// The same as a fault of the capture of an observation.
    pub(super) fn fault(self, index: usize) -> Fault {
        let field = if self.field.is_empty() { String::new() } else { format!(".{}", self.field) };
        let fault = Fault::at(format!("observations[{index}].capture{field}"), self.message);
        match self.help {
            Some(help) => fault.with_help(help),
            None => fault,
        }
    }
}
