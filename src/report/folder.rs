//! An output folder that appears complete or not at all.

use std::io;
use std::path::{Path, PathBuf};

/// A file that marks a folder as ours, so that only such a folder is replaced.
const MARKER: &str = "joulecast.json";

/// Why a folder could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The target holds something else.
    #[error("{} exists and was not written by joulecast\nhelp: name a new folder, or remove it first", path.display())]
    Foreign {
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

/// A folder under a temporary name beside its target. Dropped without [`OutputFolder::complete`], it
/// goes away with all that is in it.
#[derive(Debug)]
pub struct OutputFolder {
    target: PathBuf,
    staging: tempfile::TempDir,
}

impl OutputFolder {
    /// Whether a folder can stand at `target`: nothing is there, or one that we wrote earlier, which
    /// will be replaced. Nothing is made.
    pub fn check(target: &Path) -> Result<(), FolderError> {
        let io = |source| FolderError::Io { path: target.to_owned(), source };
        let ours = target.join(MARKER).is_file();
        let empty = target.is_dir() && std::fs::read_dir(target).map_err(io)?.next().is_none();
        if target.exists() && !ours && !empty {
            return Err(FolderError::Foreign { path: target.to_owned() });
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

    /// Puts the folder in its place, marked with `summary`.
    pub fn complete(self, summary: &str) -> Result<(), FolderError> {
        self.write(MARKER, summary.as_bytes())?;
        let io = |source| FolderError::Io { path: self.target.clone(), source };
        // tempfile makes folders private; results are for everyone the parent is for.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.path(), open).map_err(io)?;
        }
        if self.target.exists() {
            std::fs::remove_dir_all(&self.target).map_err(io)?;
        }
        std::fs::rename(self.path(), &self.target).map_err(io)?;
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
pub fn write_file(path: &Path, text: &str) -> Result<(), FolderError> {
    let io = |source| FolderError::Io { path: path.to_owned(), source };
    let staging = staging_beside(path)?;
    let staged = staging.path().join("file");
    std::fs::write(&staged, text).map_err(io)?;
    std::fs::rename(&staged, path).map_err(io)
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
            folder.complete("{}").unwrap();
            assert_eq!(std::fs::read_to_string(target.join("a.txt")).unwrap(), text);
        }
    }

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("thesis.tex"), "years of work").unwrap();
        assert!(matches!(OutputFolder::begin(place.path()), Err(FolderError::Foreign { .. })));
    }
}
