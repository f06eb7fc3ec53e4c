//! The folder of reference data beside the repository, which does not come with it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The reference folder; a test that needs it skips, by name, where it is absent.
pub fn folder(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    if folder.is_dir() {
        return Some(folder);
    }
    // Past the capture of the harness: a skipped check has to be seen.
    let _ = writeln!(std::io::stderr().lock(), "skipped: {test}: ../shared is not here");
    None
}
