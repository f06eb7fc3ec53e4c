//! `hardware`: what ships, what is in it, whether a profile is sound, and how to get one's own.

mod check;
mod import_table;
mod new;

use super::{Answer, CliError};
use crate::hardware::{HardwareError, Profile, ShippedProfile, shipped_profiles};
use crate::report::{
    FolderError, hardware_list_table, hardware_numbers_text, hardware_tree_text, json,
};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Verbs on hardware profiles.
#[derive(Debug, Subcommand)]
pub(super) enum Hardware {
    /// Profiles that ship, and the share of their numbers on evidence
    List {
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// What feeds what, drawn as a tree, and every number with its source
    Show(Show),
    /// All faults of a profile together, and what its numbers and those of reference models rest on
    Check(check::Check),
    /// A profile of your own from one there is: a copy, or a short file that extends it
    New(new::New),
    /// Blocks of a power spreadsheet (block, mode, voltage, dynamic and leakage power) as a profile
    ImportTable(import_table::ImportTable),
}

/// Arguments of `hardware show`.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A shipped name or a .ron file
    profile: String,
    /// The tree and what stands beside it alone
    #[arg(long, conflicts_with = "json")]
    tree: bool,
    /// The numbers and their sources alone
    #[arg(long, conflicts_with_all = ["tree", "json"])]
    numbers: bool,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Hardware {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::List { json } => list(*json),
            Self::Show(show) => show.run(),
            Self::Check(check) => check.run(),
            Self::New(new) => new.run(),
            Self::ImportTable(import) => import.run(),
        }
    }
}

fn list(as_json: bool) -> Result<Answer, CliError> {
    let profiles: Result<Vec<(ShippedProfile, Profile)>, HardwareError> =
        shipped_profiles().iter().map(|s| Ok((*s, Profile::parse(s.path, s.text)?))).collect();
    let profiles = profiles?;
    Ok(if as_json {
        Answer::json(&json::hardware_list(&profiles), true)
    } else {
        Answer::yes(hardware_list_table(&profiles))
    })
}

impl Show {
    fn run(&self) -> Result<Answer, CliError> {
        let profile = Profile::load(&self.profile)?;
        Ok(match (self.json, self.tree, self.numbers) {
            (true, _, _) => Answer::json(&json::hardware(&profile), true),
            (_, true, _) => Answer::yes(hardware_tree_text(&profile)),
            (_, _, true) => Answer::yes(hardware_numbers_text(&profile)),
            _ => Answer::yes(format!(
                "{}\n{}",
                hardware_tree_text(&profile),
                hardware_numbers_text(&profile)
            )),
        })
    }
}

/// The folder that a file stands in.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether a profile may be written to `path`: over nothing unless told to.
fn allowed(path: &Path, force: bool) -> Result<(), CliError> {
    if path.extension().is_none_or(|extension| extension != "ron") {
        return Err(CliError::NotRon { what: "profile", path: path.to_owned() });
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => {
            let source = std::io::ErrorKind::IsADirectory.into();
            Err(FolderError::Io { path: path.to_owned(), source }.into())
        }
        Ok(_) if !force => Err(CliError::There { path: path.to_owned() }),
        _ => Ok(()),
    }
}

/// The profile that `text` will be at `path`, before it is written. Its folder is made, since a path
/// through it leads nowhere while it is not there, and taken away again where the text is no profile.
fn read_back(path: &Path, text: &str) -> Result<Profile, CliError> {
    let folders = path.ancestors().skip(1);
    let made: Vec<&Path> =
        folders.take_while(|f| !f.as_os_str().is_empty() && !f.exists()).collect();
    if let Some(folder) = made.first() {
        let refused = |source| FolderError::Io { path: path.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(refused)?;
    }
    Profile::parse(&path.to_string_lossy(), text).map_err(|error| {
        for folder in made {
            let _ = std::fs::remove_dir(folder);
        }
        error.into()
    })
}
