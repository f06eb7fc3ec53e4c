//! Data flows one way: a room imports only from the rooms before it.

use std::path::{Path, PathBuf};

const ROOMS: [&str; 18] = [
    "units",
    "evidence",
    "diagnostic",
    "physics",
    "model",
    "hardware",
    "cost",
    "mapping",
    "estimate",
    "trace",
    "formats",
    "sim",
    "uncertainty",
    "capture",
    "calibrate",
    "study",
    "report",
    "cli",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Rooms that a line of code names behind `crate::`, one by one or in braces.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or("");
    let mut rooms = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        // In `crate::{a::x, b}` every word of the braces may be a room.
        let words = rest.strip_prefix('{').map_or(1, |_| usize::MAX);
        let split =
            rest.trim_start_matches('{').split(|c: char| !(c.is_alphanumeric() || c == '_'));
        rooms.extend(split.take(words).filter_map(|w| ROOMS.iter().find(|r| **r == w)).copied());
    }
    rooms
}

fn faults(room: &str, file: &str, text: &str) -> Vec<String> {
    let own = ROOMS.iter().position(|r| *r == room).unwrap();
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for used in named(line) {
            if ROOMS.iter().position(|r| *r == used).unwrap() > own {
                faults.push(format!("{file}:{}: {room} may not use {used}", number + 1));
            }
        }
    }
    faults
}

#[test]
fn no_room_imports_from_a_later_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut all = Vec::new();
    for path in files {
        let relative = path.strip_prefix(&root).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let room = first.trim_end_matches(".rs");
        if room == "lib" || room == "main" {
            continue;
        }
        assert!(ROOMS.contains(&room), "{room} is not in the list of rooms");
        let depth = relative.components().count();
        let text = std::fs::read_to_string(&path).unwrap();
        // A path of `super` that climbs out of its room would not be seen.
        let code = text.split("#[cfg(test)]").next().unwrap();
        let climbs =
            code.contains(&"super::".repeat(depth)) || text.contains(&"super::".repeat(depth + 1));
        assert!(!climbs, "{relative:?} climbs out of its room");
        all.extend(faults(
            room,
            relative.to_str().unwrap(),
            &std::fs::read_to_string(&path).unwrap(),
        ));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn an_import_that_runs_backwards_is_found() {
    let found =
        faults("model", "model/x.rs", "use crate::units::Volts;\nuse crate::hardware::Point;");
    assert_eq!(found, ["model/x.rs:2: model may not use hardware"]);
    assert_eq!(faults("trace", "trace/x.rs", "use crate::{units::Volts, report};").len(), 1);
    assert!(faults("model", "model/x.rs", "// crate::hardware is not used here").is_empty());
}
