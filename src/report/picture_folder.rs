//! Folders of pictures: each as PNG and as SVG, all of them or none.

use super::plot::{self, FitView, PlotError};
use super::{FolderError, OutputFolder};
use crate::calibrate::{FitReport, Protocol, Scored};
use std::collections::BTreeSet;
use std::path::Path;

/// Kinds that each picture is written as.
const KINDS: [&str; 2] = ["png", "svg"];

/// Why a folder of pictures could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PicturesError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A picture.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Writes pictures of fits to `target`. Where there are several, each has the name beside it at the head of its
/// files.
///
/// # Errors
/// The folder cannot be written, or holds something else.
pub fn write_fits(
    fits: &[(String, &FitReport)],
    dark: bool,
    target: &Path,
) -> Result<(), PicturesError> {
    let folder = OutputFolder::begin(target)?;
    let heads = heads(fits.iter().map(|(name, _)| name.as_str()));
    for (head, (_, report)) in heads.iter().zip(fits) {
        let head = if fits.len() > 1 { format!("{head}_") } else { String::new() };
        for view in FitView::ALL {
            let stem = format!("{head}{}", view.name());
            drawn(&folder, target, &stem, |path| plot::fit(view, report, dark, path))?;
        }
    }
    folder.complete()?;
    Ok(())
}

/// Writes pictures of predictions that are held against measurements to `target`: how far they are off under all
/// protocols, and each of them against what was measured.
///
/// # Errors
/// The folder cannot be written, or holds something else.
pub fn write_held_out(scored: &[Scored], dark: bool, target: &Path) -> Result<(), PicturesError> {
    let folder = OutputFolder::begin(target)?;
    drawn(&folder, target, "errors", |path| plot::errors(scored, dark, path))?;
    let there = |protocol: &Protocol| scored.iter().any(|own| own.protocol == *protocol);
    for protocol in Protocol::ALL.into_iter().filter(there) {
        let stem = format!("predicted_{}", protocol.name());
        drawn(&folder, target, &stem, |path| plot::scatter(scored, protocol, dark, path))?;
    }
    folder.complete()?;
    Ok(())
}

/// Draws a picture as each kind, with errors of the place that it will stand at.
fn drawn(
    folder: &OutputFolder,
    target: &Path,
    stem: &str,
    draw: impl Fn(&Path) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    for kind in KINDS {
        let name = format!("{stem}.{kind}");
        draw(&folder.path().join(&name)).map_err(|error| error.at(&target.join(&name)))?;
    }
    Ok(())
}

/// Names for files, one for each name and each another one, also where capitals count as small letters. Of names that
/// differ in nothing that a file may be called, the first keeps its own and others are numbered in their order.
fn heads<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<String> = names.map(plain).collect();
    // What a name is called by itself is no other's by its number.
    let own: BTreeSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    let mut taken = BTreeSet::new();
    let mut head = |name: &String| {
        if taken.insert(name.to_ascii_lowercase()) {
            return name.clone();
        }
        let numbered = (2u64..).map(|number| format!("{name}_{number}"));
        let mut free = numbered.filter(|head| {
            let small = head.to_ascii_lowercase();
            !own.contains(&small) && taken.insert(small)
        });
        free.next().unwrap_or_default()
    };
    names.iter().map(&mut head).collect()
}

/// A name that any system takes for a file.
fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_files_cannot_tell_apart_are_numbered() {
        let named = |names: &[&str]| heads(names.iter().copied());
        assert_eq!(named(&["a/b", "a b", "c"]), ["a_b", "a_b_2", "c"]);
        assert_eq!(named(&["A", "a", "a"]), ["A", "a_2", "a_3"]);
        // One that is called so stays so, wherever it stands.
        assert_eq!(named(&["a b", "a/b", "a_b_2"]), ["a_b", "a_b_3", "a_b_2"]);
        assert_eq!(named(&["ü", "ö"]), ["_", "__2"]);
    }
}
