//! From a text to a scenario.

use super::checked::parts_of;
use super::resolved::Scenario;
use super::shipped::scenario_text;
use super::{Outlook, ScenarioError, ScenarioSpec};
use crate::diagnostic::{Fault, Report, parse_ron, resolve_sources, source_kinds};
use crate::evidence::Valued;
use crate::units::Quantity;
use std::path::{Path, PathBuf};

/// What is found while a scenario is read: faults, each with its field.
pub(super) struct Reader {
    pub(super) faults: Vec<Fault>,
    /// Where the scenario's files are looked for; nothing where none is to be opened.
    folder: Option<PathBuf>,
}

impl Reader {
    /// One that looks for files beside `file`.
    pub(super) fn beside(file: &str) -> Self {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        Self { faults: Vec::new(), folder: Some(folder.to_owned()) }
    }

    /// True where files and shipped parts are not looked at.
    pub(super) fn is_alone(&self) -> bool {
        self.folder.is_none()
    }

    pub(super) fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(path, message));
    }

    /// A name as its room finds it: of a file of the scenario's folder its path, else itself.
    pub(super) fn found(&self, name: &str) -> String {
        let path = self.folder.as_ref().map(|folder| folder.join(name));
        match path.filter(|path| path.is_file()) {
            Some(path) => path.to_string_lossy().into_owned(),
            None => name.to_owned(),
        }
    }

    /// The value, or a fault in the words of its error: what to do stands behind `help:`.
    pub(super) fn tried<T>(
        &mut self,
        path: impl Into<String>,
        result: Result<T, impl std::fmt::Display>,
    ) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error.to_string(),
        };
        let (message, help) = match error.split_once("\nhelp: ") {
            Some((message, help)) => (message, Some(help.to_owned())),
            None => (error.as_str(), None),
        };
        self.faults.push(Fault { help, ..Fault::at(path, message) });
        None
    }
}

/// The value; nothing where its literal was wrong, which has been told.
pub(super) fn known<Q: Quantity>(value: &Valued<Q>) -> Option<Q> {
    value.parameter().fault.is_none().then(|| value.get())
}

/// The value of one that may be left out: nothing where it was wrong.
pub(super) fn known_or<Q: Quantity>(value: Option<&Valued<Q>>, otherwise: Q) -> Option<Q> {
    value.map_or(Some(otherwise), known)
}

impl ScenarioSpec {
    /// Reads a scenario from `text`, called `file` in errors, by itself: hardware, networks and files
    /// that it names are not looked for.
    ///
    /// # Errors
    /// A fault of syntax, or all others together.
    pub fn parse(file: &str, text: &str) -> Result<Self, Box<Report>> {
        let (spec, faults, _) = read(file, text, None)?;
        if faults.is_empty() { Ok(spec) } else { Err(Report::located(file, text, faults)) }
    }
}

impl Scenario {
    /// Reads the scenario that `name` stands for: a path to a `.ron` file, or a shipped one.
    ///
    /// # Errors
    /// Nothing is called so, or it has faults.
    pub fn load(name: &str) -> Result<Self, ScenarioError> {
        let (file, text) = scenario_text(name)?;
        Self::parse(&file, &text)
    }

    /// Reads a scenario from `text`, called `file` in errors, with all that it names. Files are looked
    /// for from the folder of `file`. All faults beyond syntax are reported together.
    ///
    /// # Errors
    /// As told.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let (spec, faults, parts) = read(file, text, Some(folder))?;
        match parts.filter(|_| faults.is_empty()) {
            Some(parts) => Ok(Self::of(file, text, spec, parts)),
            None => Err(Report::located(file, text, faults).into()),
        }
    }
}

/// Reads a scenario and what closed forms say of it.
///
/// # Errors
/// Those of [`Scenario::load`] and of [`Scenario::outlook`].
pub fn check(name: &str) -> Result<(Scenario, Outlook), ScenarioError> {
    let scenario = Scenario::load(name)?;
    let outlook = scenario.outlook()?;
    Ok((scenario, outlook))
}

type Read = (ScenarioSpec, Vec<Fault>, Option<super::resolved::Parts>);

fn read(file: &str, text: &str, folder: Option<&Path>) -> Result<Read, Box<Report>> {
    let mut spec: ScenarioSpec = parse_ron(file, text)?;
    let kinds = source_kinds(&spec.sources);
    let faults = resolve_sources(&mut spec, &kinds);
    let mut reader = Reader { faults, folder: folder.map(Path::to_owned) };
    let parts = parts_of(&mut reader, &spec);
    Ok((spec, reader.faults, parts))
}
