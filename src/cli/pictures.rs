//! A folder of pictures beside what is printed.

use super::CliError;
use crate::report::{OutputFolder, PicturesError};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where pictures go, and how they look.
#[derive(Debug, Args)]
pub(super) struct PicturesArguments {
    /// Folder for pictures, each as .png and .svg; appears complete or not at all
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
    /// Pictures with light text on dark paper
    #[arg(long, requires = "pictures")]
    dark: bool,
}

impl PicturesArguments {
    /// True where pictures are asked for.
    pub(super) fn wanted(&self) -> bool {
        self.pictures.is_some()
    }

    /// Tells of a folder that cannot be written before the work, not after.
    pub(super) fn check(&self) -> Result<(), CliError> {
        match &self.pictures {
            Some(folder) => Ok(OutputFolder::check(folder)?),
            None => Ok(()),
        }
    }

    /// Writes the pictures where they are asked for, and says where they are.
    pub(super) fn write(
        &self,
        write: impl FnOnce(bool, &Path) -> Result<(), PicturesError>,
    ) -> Result<String, CliError> {
        let Some(folder) = &self.pictures else { return Ok(String::new()) };
        write(self.dark, folder)?;
        Ok(format!("pictures are in {}\n", folder.display()))
    }
}
