//! `hardware new`: a profile of one's own from one there is.

use super::{allowed, folder_of, read_back};
use crate::cli::{Answer, CliError};
use crate::hardware::{
    Profile, base_name, checked_name, copied, extension, profile_text, shipped_profiles,
};
use crate::report::write_file;
use clap::Args;
use std::path::{Path, PathBuf};

/// Arguments of `hardware new`.
#[derive(Debug, Args)]
pub(in crate::cli) struct New {
    /// Name of the new profile; that of the file, or `my_` and the name it starts from, when left out
    name: Option<String>,
    /// The profile to start from: a shipped name or a .ron file
    #[arg(long, value_name = "PROFILE")]
    from: String,
    /// Write a short file that extends it, with changes to try in comments, instead of a copy
    #[arg(long)]
    extends: bool,
    /// The .ron file to write; NAME.ron in this folder when left out
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// A summary as JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let name = self.name();
        let out = self.place(&name)?;
        allowed(&out, self.force)?;
        let folder = folder_of(&out);
        let base = Profile::load(&self.from)?;
        let text = if self.extends {
            extension(&base, &base_name(&self.from, &folder), &name)?
        } else {
            let (file, text) = profile_text(&self.from)?;
            copied(&file, &text, &name, &folder)?
        };
        // What cannot be read back is not written.
        let profile = read_back(&out, &text)?;
        write_file(&out, &text)?;
        let shown = out.display();
        if self.json {
            return Ok(Answer::json(
                &serde_json::json!({
                    "schema": "joulecast.hardware_new/1", "name": profile.spec().name,
                    "from": self.from, "extends": profile.extends(), "path": shown.to_string(),
                    "numbers": profile.parameters().len(),
                }),
                true,
            ));
        }
        let how = if self.extends { "extends" } else { "a copy of" };
        let mut said = format!("{name}: {how} {}, written to {shown}\n", self.from);
        if shipped_profiles().iter().any(|p| p.name == name) {
            said.push_str("note: a profile of this name ships, and is found before the file\n");
        }
        let path = quoted(&out.to_string_lossy());
        said.push_str(&format!("next: joulecast hardware check {path}\n"));
        Ok(Answer::yes(said))
    }

    fn name(&self) -> String {
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let of_file = || self.out.as_deref().and_then(stem);
        let of_base = || format!("my_{}", stem(Path::new(&self.from)).unwrap_or_default());
        self.name.clone().or_else(of_file).unwrap_or_else(of_base)
    }

    /// The file to write.
    fn place(&self, name: &str) -> Result<PathBuf, CliError> {
        let name = checked_name(name)?;
        if let Some(out) = &self.out {
            return Ok(out.clone());
        }
        if name.contains(['/', '\\']) || name.ends_with(".ron") || name.starts_with(['.', '-']) {
            return Err(CliError::NoFile { name: name.to_owned() });
        }
        Ok(PathBuf::from(format!("{name}.ron")))
    }
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+');
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
