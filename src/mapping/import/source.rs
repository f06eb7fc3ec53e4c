//! Files as they are given: one by one, or all of a folder, within bounds.

use super::{ImportError, Place, TableFault};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger than any table of layers.
const BYTES_LIMIT: u64 = 16 << 20;

/// More files than one run leaves.
const FILES_LIMIT: usize = 2000;

/// More bytes than one run leaves in all of them.
const FOLDER_LIMIT: u64 = 128 << 20;

/// A file of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What errors call it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// True where the caller asked for this file; false for what lies in a folder or beside it.
    pub asked: bool,
}

/// The files that paths stand for. A folder stands for the tables in it.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, ImportError> {
    let mut found = Vec::new();
    for path in paths {
        let refused = |source| ImportError::Read { path: path.clone(), source };
        if std::fs::metadata(path).map_err(refused)?.is_dir() {
            folder(path, &mut found)?;
        } else {
            found.push(read(path, true)?);
        }
    }
    Ok(found)
}

/// Tables that lie beside a file, that one left out.
pub(super) fn beside(path: &Path) -> Result<Vec<Source>, ImportError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut found = Vec::new();
    let own = path.file_name();
    for path in tables(folder)?.iter().filter(|other| other.file_name() != own) {
        // What is not readable there was not asked for.
        found.extend(read(path, false).ok());
    }
    Ok(found)
}

fn folder(folder: &Path, found: &mut Vec<Source>) -> Result<(), ImportError> {
    let mut left = FOLDER_LIMIT;
    let before = found.len();
    for path in tables(folder)? {
        let source = read(&path, false)?;
        left = left.checked_sub(source.text.len() as u64).ok_or_else(|| {
            let place = Place::file(&folder.to_string_lossy());
            TableFault::NotText("more than 128 MiB of tables: give the files of one run").at(place)
        })?;
        found.push(source);
    }
    if found.len() == before {
        return Err(TableFault::NoTable.at(Place::file(&folder.to_string_lossy())));
    }
    Ok(())
}

/// Files of a folder that may be tables, in the order of their names.
fn tables(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let refused = |source| ImportError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        let known = path.extension().is_some_and(|e| e == "csv" || e == "json");
        if known && path.is_file() {
            found.push(path);
        }
        if found.len() > FILES_LIMIT {
            let fault = TableFault::TooMany { what: "files", most: FILES_LIMIT };
            return Err(fault.at(Place::file(&folder.to_string_lossy())));
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path, asked: bool) -> Result<Source, ImportError> {
    let refused = |source| ImportError::Read { path: path.to_owned(), source };
    let file = path.to_string_lossy().into_owned();
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path).map_err(refused)?;
    opened.take(BYTES_LIMIT + 1).read_to_end(&mut bytes).map_err(refused)?;
    Source::of(&file, bytes, asked)
}

impl Source {
    /// A file from its bytes.
    pub(super) fn of(file: &str, bytes: Vec<u8>, asked: bool) -> Result<Self, ImportError> {
        let fault = |reason| TableFault::NotText(reason).at(Place::file(file));
        if bytes.len() as u64 > BYTES_LIMIT {
            return Err(fault("more than 16 MiB: this is no table of layers"));
        }
        let text = String::from_utf8(bytes).map_err(|_| fault("this is not UTF-8 text"))?;
        if asked && text.trim().is_empty() {
            return Err(fault("this file is empty"));
        }
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(Self { file: file.to_owned(), text, asked })
    }
}
