//! An output folder that appears complete or not at all.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// A file that marks a folder as ours, so that only such a folder is replaced.
const MARKER: &str = "joulecast.json";

/// Why a folder could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The target holds something else.
    #[error("{} holds what joulecast did not write ({found})\nhelp: name a new folder, or move it away first", path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// The first thing found.
        found: String,
    },
    /// The target is no name of a folder.
    #[error("{} cannot be a folder of results: name one, such as out/run", path.display())]
    NoName {
        /// The target.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

/// What the marker holds: all that we wrote beside it.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    schema: String,
    version: String,
    files: BTreeSet<String>,
}

/// A folder under a temporary name beside its target. Dropped without [`OutputFolder::complete`], it
/// goes away with all that is in it.
#[derive(Debug)]
pub struct OutputFolder {
    target: PathBuf,
    staging: tempfile::TempDir,
}

impl OutputFolder {
    /// Whether a folder can stand at `target`: nothing is there, or one that holds nothing but what we
    /// wrote earlier, which will be replaced. Nothing is made.
    pub fn check(target: &Path) -> Result<(), FolderError> {
        let io = |source| FolderError::Io { path: target.to_owned(), source };
        let foreign = |found: String| Err(FolderError::Foreign { path: target.to_owned(), found });
        if target.file_name().is_none() {
            return Err(FolderError::NoName { path: target.to_owned() });
        }
        match target.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(io(e)),
            Ok(found) if found.is_symlink() => return foreign("a link".to_owned()),
            Ok(found) if !found.is_dir() => return foreign("a file".to_owned()),
            Ok(_) => {}
        }
        let marker = std::fs::read(target.join(MARKER)).unwrap_or_default();
        let ours =
            serde_json::from_slice(&marker).map_or_else(|_| BTreeSet::new(), |m: Marker| m.files);
        for entry in std::fs::read_dir(target).map_err(io)? {
            let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
            if name != MARKER && !ours.contains(&name) {
                return foreign(name);
            }
        }
        Ok(())
    }

    /// Starts a folder that will stand at `target`.
    pub fn begin(target: &Path) -> Result<Self, FolderError> {
        Self::check(target)?;
        Ok(Self { target: target.to_owned(), staging: staging_beside(target)? })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Writes one file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).map_err(|source| FolderError::Io { path, source })
    }

    /// Puts the folder in its place. What stood there is moved aside first and removed last, so that
    /// there is always one of the two.
    pub fn complete(self) -> Result<(), FolderError> {
        let io = |source| FolderError::Io { path: self.target.clone(), source };
        let mut files = BTreeSet::new();
        for entry in std::fs::read_dir(self.path()).map_err(io)? {
            files.insert(entry.map_err(io)?.file_name().to_string_lossy().into_owned());
        }
        let (schema, version) =
            ("joulecast.folder/1".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let marker = serde_json::to_string_pretty(&Marker { schema, version, files });
        self.write(MARKER, marker.unwrap_or_default().as_bytes())?;
        // tempfile makes folders private; results are for everyone the parent is for.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.path(), open).map_err(io)?;
        }
        Self::check(&self.target)?;
        let aside = if self.target.exists() {
            let aside = staging_beside(&self.target)?;
            std::fs::rename(&self.target, aside.path().join("old")).map_err(io)?;
            Some(aside)
        } else {
            None
        };
        if let Err(source) = std::fs::rename(self.path(), &self.target) {
            if let Some(aside) = aside {
                std::fs::rename(aside.path().join("old"), &self.target).map_err(io)?;
            }
            return Err(io(source));
        }
        let _ = self.staging.keep();
        Ok(())
    }
}

/// A temporary folder in the folder of `target`, which is made if need be.
fn staging_beside(target: &Path) -> Result<tempfile::TempDir, FolderError> {
    let io = |source| FolderError::Io { path: target.to_owned(), source };
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(io)?;
    tempfile::Builder::new().prefix(".joulecast-").tempdir_in(parent).map_err(io)
}

/// Writes a file under a temporary name and renames it, so that it is never half there.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), FolderError> {
    let io = |source| FolderError::Io { path: path.to_owned(), source };
    write_file_with(path, |staged| std::fs::write(staged, content).map_err(io))
}

/// The same for a file that `write` fills. The temporary name has the same extension.
pub fn write_file_with<E: From<FolderError>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    write_files_with(&[path.to_owned()], |staged| staged.first().map_or(Ok(()), |file| write(file)))
}

/// The same for files of one folder that belong together, renamed in this order once all are
/// written.
pub fn write_files_with<E: From<FolderError>>(
    paths: &[PathBuf],
    write: impl FnOnce(&[PathBuf]) -> Result<(), E>,
) -> Result<(), E> {
    let Some(first) = paths.first() else { return Ok(()) };
    let staging = staging_beside(first)?;
    let staged_of = |(number, path): (usize, &PathBuf)| {
        let mut staged = staging.path().join(format!("file{number}"));
        if let Some(extension) = path.extension() {
            staged.set_extension(extension);
        }
        staged
    };
    let staged: Vec<_> = paths.iter().enumerate().map(staged_of).collect();
    write(&staged)?;
    for (staged, path) in staged.iter().zip(paths) {
        let io = |source| FolderError::Io { path: path.clone(), source };
        std::fs::rename(staged, path).map_err(io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out/run");
        let folder = OutputFolder::begin(&target).unwrap();
        folder.write("a.txt", b"a").unwrap();
        drop(folder);
        assert!(!target.exists());
        assert_eq!(std::fs::read_dir(place.path().join("out")).unwrap().count(), 0);

        for text in ["first", "second"] {
            let folder = OutputFolder::begin(&target).unwrap();
            folder.write("a.txt", text.as_bytes()).unwrap();
            folder.complete().unwrap();
            assert_eq!(std::fs::read_to_string(target.join("a.txt")).unwrap(), text);
        }
    }

    #[test]
    fn what_we_did_not_write_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let foreign = |path: &Path| {
            let refused = OutputFolder::begin(path);
            assert!(matches!(refused, Err(FolderError::Foreign { .. })), "{refused:?}");
        };
        std::fs::write(place.path().join("thesis.tex"), "years of work").unwrap();
        foreign(place.path());
        foreign(&place.path().join("thesis.tex"));
        // A note that somebody put beside our results.
        let ours = place.path().join("run");
        OutputFolder::begin(&ours).unwrap().complete().unwrap();
        OutputFolder::begin(&ours).unwrap().complete().unwrap();
        std::fs::write(ours.join("my_notes.txt"), "keep").unwrap();
        foreign(&ours);
        for nameless in [".", "..", "/"] {
            assert!(matches!(
                OutputFolder::check(Path::new(nameless)),
                Err(FolderError::NoName { .. } | FolderError::Foreign { .. })
            ));
        }
    }
}
