//! Everything that ships is embedded, sound, and found by name.

use joulecast::calibrate::{Case, shipped_cases};
use joulecast::hardware::{Profile, shipped_profiles, shipped_software};
use joulecast::model::{Bindings, load, read_ron, shipped_models, write_ron};
use joulecast::sim::scenario::shipped_scenarios;
use std::path::{Path, PathBuf};

/// The text of a shipped profile.
pub fn text_of(profile: &str) -> &'static str {
    shipped_profiles().iter().find(|p| p.name == profile).unwrap().text
}

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting = vec![root.join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "ron") {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn same(folder: &str, listed: impl Iterator<Item = &'static str>) {
    let mut listed: Vec<PathBuf> = listed.map(PathBuf::from).collect();
    listed.sort();
    // Not every calibration is part of `validate`.
    let is_listed = |path: &PathBuf| !path.starts_with("validation/calibrations");
    let files: Vec<PathBuf> = files(folder).into_iter().filter(is_listed).collect();
    assert_eq!(files, listed, "files of {folder} and the list in the code");
}

#[test]
fn every_file_is_embedded() {
    same("models", shipped_models().iter().map(|m| m.path));
    let software = shipped_software().iter().map(|m| m.path);
    same("hardware_profiles", shipped_profiles().iter().map(|m| m.path).chain(software));
    same("scenarios", shipped_scenarios().iter().map(|m| m.path));
    same("validation", shipped_cases().iter().map(|m| m.path));
}

/// Counts of the published files, conv, depthwise and fully connected: (name, MACs, parameters).
const MLPERF_TINY: [(&str, u64, u64); 5] = [
    ("ad_autoencoder", 264_192, 265_864),
    ("ic_resnet8", 12_501_632, 77_706),
    ("kws_ds_cnn", 2_656_768, 22_604),
    ("sww", 826_368, 46_883),
    ("vww_mobilenetv1_025", 7_489_664, 210_850),
];

#[test]
fn shipped_models_have_their_published_totals() {
    for (name, macs, parameters) in MLPERF_TINY {
        let layers = load(name, &Bindings::default()).unwrap().layers().unwrap();
        assert_eq!(layers.iter().map(|l| l.work.macs).sum::<u64>(), macs, "{name}");
        assert_eq!(layers.iter().map(|l| l.work.parameters).sum::<u64>(), parameters, "{name}");
    }
}

#[test]
fn shipped_models_are_what_the_importer_writes() {
    for model in shipped_models() {
        let graph = read_ron(model.path, model.text).unwrap();
        assert_eq!(write_ron(&graph).unwrap(), model.text, "{} was edited by hand", model.path);
    }
}

#[test]
fn shipped_profiles_and_cases_are_sound_and_every_number_has_a_source() {
    for shipped in shipped_profiles() {
        let profile = Profile::parse(shipped.path, shipped.text).unwrap();
        assert_eq!(profile.spec().name, shipped.name);
        let unsourced: Vec<_> = profile
            .parameters()
            .into_iter()
            .filter(|r| r.parameter.source.is_none() && r.parameter.is_statement())
            .filter(|r| r.path != "temperature")
            .map(|r| r.path)
            .collect();
        assert!(unsourced.is_empty(), "{}: no source for {unsourced:?}", shipped.name);
    }
    for shipped in shipped_cases() {
        Case::parse(shipped.path, shipped.text).unwrap();
    }
}

/// A literal that the parameter walk misses would be missing from intervals, checks and fits.
#[test]
fn every_literal_of_a_profile_is_a_parameter() {
    let full = crate::chips::full_text();
    let alone = shipped_profiles().iter().filter(|p| !p.text.contains("\n  extends:"));
    let texts = alone.map(|p| (p.path, p.text)).chain([("full.ron", full.as_str())]);
    for (path, text) in texts {
        let profile = Profile::parse(path, text).unwrap();
        let walked = profile.parameters().len();
        let start = text.find("\n  temperature:").unwrap();
        let code = text[start..].lines().map(|l| l.split("//").next().unwrap_or(""));
        // Releases of a runtime are no numbers: `8.1 to 10.2`.
        let literal = |s: &&str| {
            s.starts_with(|c: char| c.is_ascii_digit()) && s.contains(' ') && !s.contains(" to ")
        };
        let written: usize =
            code.map(|l| l.split('"').skip(1).step_by(2).filter(literal).count()).sum();
        assert_eq!(walked, written, "{path}");
    }
}
