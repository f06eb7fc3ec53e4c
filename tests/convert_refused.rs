//! What cannot be converted, and where it cannot be written.

use crate::convert::{LOG, joulecast, log, runner, text};
use std::path::Path;
use std::process::Command;

/// Exit code and words of a conversion that must fail, and that nothing is left of it.
fn refused(capture: &Path, rest: &[&str], place: &Path) -> String {
    let list = || {
        let entries = std::fs::read_dir(place).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = list();
    let mut arguments = vec!["convert", text(capture)];
    arguments.extend(rest);
    let output = joulecast(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(list(), before, "{said}");
    said
}

#[test]
fn what_cannot_be_written_is_one_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let capture = log(place);
    let at = |name: &str| place.join(name).display().to_string();
    let refuse = |rest: &[&str]| refused(&capture, rest, place);
    assert!(refuse(&["--to", "vcd", "--out", &at("x")]).contains("invalid value 'vcd'"));
    assert!(refuse(&["--out", &at("x")]).contains("--to csv, --to parquet or --to perfetto"));
    assert!(refuse(&["--out", &at("x.txt")]).contains("does not tell what to write"));
    let ending = refuse(&["--to", "parquet", "--out", &at("thesis.tex")]);
    assert!(ending.contains("a name that ends in .parquet"), "{ending}");
    assert!(refuse(&["--to", "csv", "--out", &at("x.parquet")]).contains("name of a folder"));
    assert!(refuse(&["--out", &at("log.csv")]).contains("over the capture"));
    assert!(refuse(&["--to", "csv", "--out", text(place)]).contains("over the capture"));
    std::fs::create_dir(place.join("there.parquet")).unwrap();
    assert!(refuse(&["--out", &at("there.parquet")]).contains("did not write"));
    std::fs::create_dir(place.join("notes")).unwrap();
    std::fs::write(place.join("notes/mine.txt"), "keep").unwrap();
    assert!(refuse(&["--to", "csv", "--out", &at("notes")]).contains("mine.txt"));
    // The log breaks off in the middle, behind samples that were written.
    std::fs::write(&capture, LOG.to_owned() + "1.2,130,42000,7\n").unwrap();
    for name in ["x.csv", "x.parquet", "x.perfetto-trace"] {
        assert!(refuse(&["--out", &at(name)]).contains("log.csv:8"));
    }
    let gone = refused(&place.join("gone"), &["--out", &at("x.parquet")], place);
    assert!(gone.contains("gone: cannot be read"), "{gone}");
}

#[cfg(unix)]
#[test]
fn a_file_that_outgrows_its_disk_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let capture = runner(folder.path());
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = names();
    for name in ["x.csv", "x.parquet", "x.perfetto-trace"] {
        // No file above four blocks, and no signal that would end the program.
        let line = format!(
            "ulimit -f 4; trap '' XFSZ; exec '{}' convert '{}' --out '{}'",
            env!("CARGO_BIN_EXE_joulecast"),
            capture.display(),
            folder.path().join(name).display()
        );
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains("cannot be written"), "{said}");
        assert_eq!(names(), before, "{name}");
    }
}
