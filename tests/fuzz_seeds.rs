//! Small files of every instrument's format: whole, cut at every byte, with bytes changed. Whatever comes,
//! it is a reading whose channels and times hold together, or one error in words.

use joulecast::formats::{FORMATS, FormatError, Head, Input, Options, Shape, recognised};
use joulecast::trace::Readings;
use joulecast::units::Hertz;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn seeds() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.collect::<BTreeSet<_>>()
    };
    let of = |folder: PathBuf| {
        let format = folder.file_name().unwrap().to_string_lossy().into_owned();
        list(&folder).into_iter().map(move |file| (format.clone(), file)).collect::<Vec<_>>()
    };
    list(&root).into_iter().flat_map(of).collect()
}

fn read(format: &str, bytes: &[u8]) -> Result<Readings, FormatError> {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    let Shape::File { read, .. } = format.shape else { panic!("{} is a folder", format.name) };
    let mut readings = Readings::default();
    let options = Options { rate: Some(Hertz(1e3)), ..Options::default() };
    read(&mut Input::of("seed", bytes), &options, &mut readings)?;
    Ok(readings)
}

/// Blocks in order, every block as long as its times.
fn holds_together(readings: &Readings) {
    assert_eq!(readings.series.len(), readings.layout.channels.len());
    for series in &readings.series {
        let mut reached = None;
        for block in series.blocks() {
            assert!(reached.is_none_or(|end| end <= block.start()));
            assert!(block.start() <= block.end());
            reached = Some(block.end());
        }
        assert!(reached.is_none_or(|end| end <= readings.end), "{reached:?} {:?}", readings.end);
    }
    for edge in &readings.edges {
        assert!(edge.line.0 < readings.layout.lines.len());
    }
    for span in &readings.spans {
        assert!(span.start <= span.end);
    }
}

fn told(error: &FormatError) {
    let text = error.to_string();
    assert!(text.starts_with("seed") && text.len() > 10, "{text}");
}

#[test]
fn every_format_of_one_file_has_a_seed_that_is_recognised_and_read() {
    let seeds = seeds();
    for (format, file) in &seeds {
        let bytes = std::fs::read(file).unwrap();
        let head = Head::of(&mut Input::of("seed", &bytes)).unwrap();
        let found = recognised(&head).map(|format| format.name);
        assert_eq!(found, Some(format.as_str()), "{}", file.display());
        let readings = read(format, &bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        holds_together(&readings);
    }
    let with: BTreeSet<&str> = seeds.iter().map(|(format, _)| format.as_str()).collect();
    // Written by instruments alone, or told only to be another version.
    let without = ["st-edge-ai", "joulescope-jls", "joulescope-jls-1"];
    for format in FORMATS.iter().filter(|f| matches!(f.shape, Shape::File { .. })) {
        assert!(with.contains(format.name) || without.contains(&format.name), "{}", format.name);
    }
}

#[test]
fn cut_and_changed_bytes_are_a_reading_or_one_error() {
    for (format, file) in seeds() {
        let whole = std::fs::read(&file).unwrap();
        for end in 0..whole.len() {
            match read(&format, &whole[..end]) {
                Ok(readings) => holds_together(&readings),
                Err(error) => told(&error),
            }
        }
        for at in 0..whole.len() {
            for change in [0x00, 0xff, b'-', b'9', b',', b'\n', whole[at] ^ 0x80] {
                let mut bytes = whole.clone();
                bytes[at] = change;
                match read(&format, &bytes) {
                    Ok(readings) => holds_together(&readings),
                    Err(error) => told(&error),
                }
            }
        }
    }
}

#[test]
fn a_file_of_one_format_read_as_another_is_a_reading_or_one_error() {
    let seeds = seeds();
    for (_, file) in &seeds {
        let bytes = std::fs::read(file).unwrap();
        for format in FORMATS.iter().filter(|f| matches!(f.shape, Shape::File { .. })) {
            match read(format.name, &bytes) {
                Ok(readings) => holds_together(&readings),
                Err(error) => told(&error),
            }
        }
    }
}

#[test]
fn an_empty_file_is_an_error_in_every_format() {
    for format in FORMATS.iter().filter(|f| matches!(f.shape, Shape::File { .. })) {
        let error = read(format.name, b"").map(|_| format.name).unwrap_err();
        told(&error);
    }
}

#[test]
fn what_fuzzers_found_is_a_reading_or_one_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/found");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let format = path.file_stem().unwrap().to_string_lossy().into_owned();
        let packed = std::fs::read(&path).unwrap();
        let mut rest = packed.as_slice();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (input, next) = after.split_at(u32::from_le_bytes(*length) as usize);
            match read(&format, input) {
                Ok(readings) => holds_together(&readings),
                Err(error) => told(&error),
            }
            inputs += 1;
            rest = next;
        }
    }
    assert!(inputs > 1000, "{inputs}");
}
