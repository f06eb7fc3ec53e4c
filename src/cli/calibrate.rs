//! `calibrate`: profiles fitted to measurements.

use super::pictures::PicturesArguments;
use super::{Answer, CliError};
use crate::calibrate::fit::Limits;
use crate::calibrate::joint::{FittedProfile, Joint};
use crate::calibrate::{Case, FitReport, Gathered, fitted_text};
use crate::hardware::{copied, profile_text};
use crate::report::{calibration_text, json, notes_text, write_file, write_fits};
use clap::Args;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub(super) struct Calibrate {
    /// The calibration file: which numbers of profiles are fitted to which cases
    calibration: String,
    /// Where the fitted profile goes: a `.ron` file, or a folder for one of each profile and version of a runtime
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    pictures: PicturesArguments,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        self.pictures.check()?;
        let gathered = Gathered::load(&self.calibration)?;
        let calibration = &gathered.calibration;
        let (mut reports, mut profiles) = (Vec::new(), Vec::new());
        for cases in gathered.parts() {
            let joint = Joint::of(cases, calibration)?;
            let fitted = joint.fitted_to_all(calibration.loss, Limits::default())?;
            let report = FitReport::of(calibration, &joint, &fitted);
            let described = described(&report, cases);
            profiles.extend(fitted.profiles().into_iter().map(|own| (own, described.clone())));
            reports.push(report);
        }
        let mut said = match &self.out {
            Some(out) => self.write(&profiles, &calibration.name, out)?,
            None => String::new(),
        };
        let parts = gathered.parts().into_iter().zip(&reports);
        let fits: Vec<_> = parts.map(|(cases, report)| (named(cases), report)).collect();
        said.push_str(&self.pictures.write(|dark, folder| write_fits(&fits, dark, folder))?);
        if self.json {
            let fits: Vec<_> = reports.iter().map(json::calibration).collect();
            let notes = gathered.notes();
            let document = serde_json::json!({"schema": "joulecast.calibrate/1", "fits": fits, "notes": notes});
            return Ok(Answer::json(&document, true));
        }
        let texts: Vec<_> = reports.iter().map(calibration_text).collect();
        Ok(Answer::yes(texts.join("\n") + &notes_text(&gathered.notes()) + &said))
    }

    /// Writes the fitted profiles, and says where they are.
    fn write(
        &self,
        profiles: &[(FittedProfile, String)],
        name: &str,
        out: &Path,
    ) -> Result<String, CliError> {
        let files = written(profiles, name, out)?;
        if let Some((path, _)) = files.iter().find(|(path, _)| path.exists() && !self.force) {
            return Err(CliError::There { path: path.clone() });
        }
        let mut said = String::new();
        for (path, text) in &files {
            write_file(path, text)?;
            let _ = writeln!(said, "{}: written", path.display());
        }
        Ok(said)
    }
}

/// What a fit is called beside others of its calibration.
fn named(cases: &[Case]) -> String {
    cases.first().map_or(String::new(), |case| case.id.clone())
}

/// What was fitted to, in words.
fn described(report: &FitReport, cases: &[Case]) -> String {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    };
    let (sights, cases) =
        (counted(report.sights.len(), "measurement"), counted(cases.len(), "case"));
    format!("{sights} of {cases}")
}

/// Files with their texts.
fn written(
    profiles: &[(FittedProfile, String)],
    name: &str,
    out: &Path,
) -> Result<Vec<(PathBuf, String)>, CliError> {
    let is_file = out.extension().is_some_and(|extension| extension == "ron");
    if is_file && profiles.len() > 1 {
        return Err(CliError::SeveralProfiles { path: out.to_owned(), count: profiles.len() });
    }
    let one = |(profile, described): &(FittedProfile, String)| {
        let path = if is_file { out.to_owned() } else { out.join(file_of(profile)) };
        let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into());
        let (file, text) = profile_text(&profile.hardware)?;
        let text = fitted_text(&file, &text, &profile.fitted, name, described)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok((path.clone(), copied(&file, &text, &stem, folder)?))
    };
    profiles.iter().map(one).collect()
}

/// What the file of a fitted profile is called in a folder.
fn file_of(profile: &FittedProfile) -> String {
    let hardware = Path::new(&profile.hardware).file_stem();
    let mut name = hardware.map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    if let Some(version) = &profile.version {
        name.push('_');
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        name.extend(version.chars().map(plain));
    }
    name + ".ron"
}
