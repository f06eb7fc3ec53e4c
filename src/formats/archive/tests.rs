use super::*;
use std::io::Cursor;

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.entry(name, |out| std::io::Write::write_all(out, bytes)).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn unpacked(bytes: &[u8], name: &str) -> Result<Vec<u8>, FormatError> {
    let mut input = Input::of("a", bytes);
    let archive = Archive::open(&mut input)?;
    let mut out = Vec::new();
    archive.find(name).unwrap().stream(&mut input, 7, &mut |_, piece| {
        out.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(out)
}

#[test]
fn what_is_written_comes_back_and_every_cut_is_one_error() {
    let bytes = archive(&[("a", b"hello hello hello hello"), ("b", b"")]);
    assert!(bytes.starts_with(MAGIC));
    assert_eq!(unpacked(&bytes, "a").unwrap(), b"hello hello hello hello");
    assert_eq!(unpacked(&bytes, "b").unwrap(), b"");
    for cut in 0..bytes.len() {
        let error = unpacked(&bytes[..cut], "a").unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn an_entry_that_states_more_than_its_bytes_can_hold_is_refused() {
    let mut bytes = archive(&[("a", &[0; 5000])]);
    let directory = bytes.windows(4).rposition(|w| w == DIRECTORY.to_le_bytes()).unwrap();
    // A size below and beyond what unpacks, then one that no Deflate can make.
    for (size, said) in [(4999u32, "would be"), (5001, "ends within"), (u32::MAX - 1, "at most")] {
        bytes[directory + 24..directory + 28].copy_from_slice(&size.to_le_bytes());
        let error = unpacked(&bytes, "a").unwrap_err().to_string();
        assert!(error.contains(said), "{size}: {error}");
    }
    bytes[directory + 24..directory + 28].copy_from_slice(&5000u32.to_le_bytes());
    bytes[directory + 16] ^= 1;
    let error = unpacked(&bytes, "a").unwrap_err().to_string();
    assert!(error.contains("the checksum of an entry"), "{error}");
}

#[test]
fn a_count_of_entries_that_lies_allocates_nothing() {
    let mut bytes = archive(&[("a", b"x")]);
    let end = bytes.len() - 22;
    bytes[end + 10..end + 12].copy_from_slice(&60_000u16.to_le_bytes());
    let error = unpacked(&bytes, "a").unwrap_err().to_string();
    assert!(error.contains("an entry of its directory is damaged"), "{error}");
}
