//! Zip archives of captures: the central directory, and entries that stream.
//!
//! Written here over the inflater alone, so that nothing is allocated from a count or a size that
//! an archive merely states: the directory is read entry by entry, what an entry holds is counted
//! as it comes, and an entry that states more than Deflate can make of its bytes is refused.
//! Layouts are those of PKWARE's APPNOTE, with 64-bit sizes.

mod write;

pub(super) use write::ArchiveWriter;

use super::fields::Fields;
use super::{FormatError, Input, Place, ReadFault};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{BufReader, Read};

/// What an archive starts with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const DIRECTORY: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
const END_LENGTH: u64 = 22;
const LOCATOR_LENGTH: u64 = 20;
const LONGEST_COMMENT: u64 = 0xffff;
/// More entries than any capture has: an entry of a capture is megabytes.
const MOST_ENTRIES: u64 = 1 << 18;
/// Deflate makes at most 1032 bytes of one.
const LARGEST_RATIO: u64 = 1032;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Its bytes when unpacked, as the directory states.
    pub(super) size: u64,
    packed: u64,
    header: u64,
    method: u16,
    crc: u32,
}

/// The directory of an archive.
#[derive(Debug)]
pub(super) struct Archive {
    /// Its files, in the order of the directory.
    pub(super) entries: Vec<Entry>,
}

/// Where the directory is.
struct Directory {
    start: u64,
    length: u64,
    count: u64,
}

fn broken(input: &Input<'_>, at: Place, reason: impl Into<String>) -> FormatError {
    input.fault(at, ReadFault::Archive { reason: reason.into() })
}

impl Archive {
    pub(super) fn open(input: &mut Input<'_>) -> Result<Self, FormatError> {
        if input.size == 0 {
            return Err(input.fault(Place::Whole, ReadFault::Empty));
        }
        let directory = Directory::find(input)?;
        if directory.count > MOST_ENTRIES {
            let fault = ReadFault::Size {
                what: "the directory of the archive",
                size: directory.count.saturating_mul(46),
                limit: MOST_ENTRIES * 46,
            };
            return Err(input.fault(Place::Byte(directory.start), fault));
        }
        let mut bytes = Vec::new();
        let what = "the directory of the archive";
        input.take_into(directory.start, directory.length, what, &mut bytes)?;
        let mut fields = Fields::of(&bytes);
        let mut entries = Vec::new();
        for _ in 0..directory.count {
            let Some(entry) = entry(&mut fields) else {
                let at = directory.start + (bytes.len() - fields.rest().len()) as u64;
                return Err(broken(input, Place::Byte(at), "an entry of its directory is damaged"));
            };
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// A small text file of the archive.
    pub(super) fn text(
        &self,
        input: &mut Input<'_>,
        name: &'static str,
        limit: u64,
    ) -> Result<String, FormatError> {
        let Some(entry) = self.find(name) else {
            return Err(input.fault(Place::Whole, ReadFault::Missing { what: name.into() }));
        };
        if entry.size > limit {
            let fault = ReadFault::Size { what: name, size: entry.size, limit };
            return Err(input.fault(Place::Byte(entry.header), fault));
        }
        let mut bytes = Vec::new();
        entry.stream(input, 4096, &mut |_, piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        String::from_utf8(bytes)
            .map_err(|_| input.fault(Place::Byte(entry.header), ReadFault::NotText))
    }
}

impl Directory {
    fn find(input: &mut Input<'_>) -> Result<Self, FormatError> {
        let length = input.size.min(END_LENGTH + LONGEST_COMMENT);
        let from = input.size - length;
        let mut tail = Vec::new();
        input.take_into(from, length, "the end of the archive", &mut tail)?;
        let last = tail.len().checked_sub(END_LENGTH as usize);
        let end = last.and_then(|last| {
            (0..=last).rev().find_map(|at| {
                let mut fields = Fields::of(tail.get(at..)?);
                let (signature, _, _, count) =
                    (fields.u32()?, fields.u32()?, fields.u16()?, fields.u16()?);
                let (length, start, comment) = (fields.u32()?, fields.u32()?, fields.u16()?);
                let ends = fields.rest().len() == usize::from(comment);
                (signature == END && ends).then_some((at as u64 + from, count, length, start))
            })
        });
        let Some((at, count, length, start)) = end else {
            return Err(broken(input, Place::Whole, "its directory is missing: the file is cut"));
        };
        let directory = if count == u16::MAX || length == u32::MAX || start == u32::MAX {
            Self::large(input, at)?
        } else {
            Self { start: start.into(), length: length.into(), count: count.into() }
        };
        let inside = directory.start.checked_add(directory.length).is_some_and(|end| end <= at);
        if !inside {
            return Err(broken(input, Place::Byte(at), "its directory is not in the file"));
        }
        Ok(directory)
    }

    /// The directory of an archive with 64-bit sizes, whose locator stands before the end at `at`.
    fn large(input: &mut Input<'_>, at: u64) -> Result<Self, FormatError> {
        let what = "the locator of the archive";
        let locator: [u8; LOCATOR_LENGTH as usize] =
            input.exactly(at.saturating_sub(LOCATOR_LENGTH), what)?;
        let mut fields = Fields::of(&locator);
        let record = match (fields.u32(), fields.u32(), fields.u64()) {
            (Some(LOCATOR_64), Some(_), Some(record)) => record,
            _ => return Err(broken(input, Place::Byte(at), "its 64-bit locator is missing")),
        };
        let bytes: [u8; 56] = input.exactly(record, "the end of the archive")?;
        let mut fields = Fields::of(&bytes);
        let signature = fields.u32();
        fields.bytes(28);
        match (signature, fields.u64(), fields.u64(), fields.u64()) {
            (Some(END_64), Some(count), Some(length), Some(start)) => {
                Ok(Self { start, length, count })
            }
            _ => Err(broken(input, Place::Byte(record), "its 64-bit end is damaged")),
        }
    }
}

/// The next entry of the directory.
fn entry(fields: &mut Fields<'_>) -> Option<Entry> {
    if fields.u32()? != DIRECTORY {
        return None;
    }
    fields.bytes(4)?;
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.bytes(4)?;
    let (crc, mut packed, mut size) = (fields.u32()?, fields.u32()?.into(), fields.u32()?.into());
    let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
    fields.bytes(8)?;
    let mut header = fields.u32()?.into();
    let name = String::from_utf8_lossy(fields.bytes(name.into())?).into_owned();
    let mut extra = Fields::of(fields.bytes(extra.into())?);
    fields.bytes(comment.into())?;
    while let (Some(id), Some(length)) = (extra.u16(), extra.u16()) {
        let mut wide = Fields::of(extra.bytes(length.into())?);
        if id == 1 {
            for value in [&mut size, &mut packed, &mut header] {
                if *value == u64::from(u32::MAX) {
                    *value = wide.u64()?;
                }
            }
        }
    }
    // An encrypted entry gets a method that no reader knows.
    let method = if flags & ENCRYPTED == 0 { method } else { u16::MAX };
    Some(Entry { name, size, packed, header, method, crc })
}

/// What is told the pieces of an entry; it gets the input back to make errors with.
pub(super) type OnPiece<'f> = dyn FnMut(&str, &[u8]) -> Result<(), ReadFault> + 'f;

impl Entry {
    /// Unpacks the entry in pieces of `piece` bytes, of which only the last may be shorter.
    pub(super) fn stream(
        &self,
        input: &mut Input<'_>,
        piece: usize,
        on: &mut OnPiece<'_>,
    ) -> Result<(), FormatError> {
        if self.size > self.packed.saturating_mul(LARGEST_RATIO) {
            let limit = self.packed.saturating_mul(LARGEST_RATIO);
            let fault = ReadFault::Size { what: "an entry", size: self.size, limit };
            return Err(input.fault(Place::Byte(self.header), fault));
        }
        self.find_data(input)?;
        let (name, place) = (input.name.clone(), Place::Byte(self.header));
        let unreadable = |fault| FormatError::Unreadable { file: name.clone(), place, fault };
        let packed = BufReader::new((&mut *input).take(self.packed));
        let mut unpacked: Box<dyn Read> = match self.method {
            STORED => Box::new(packed),
            DEFLATED => Box::new(DeflateDecoder::new(packed)),
            u16::MAX => {
                let reason = format!("{} is encrypted", self.name);
                return Err(unreadable(ReadFault::Archive { reason }));
            }
            method => {
                let reason = format!("{} is packed by method {method}, not Deflate", self.name);
                return Err(unreadable(ReadFault::Archive { reason }));
            }
        };
        let (mut crc, mut found) = (Crc::new(), 0u64);
        let mut buffer = vec![0; piece];
        loop {
            let filled = fill(&mut unpacked, &mut buffer).map_err(|error| {
                unreadable(ReadFault::Archive { reason: format!("{}: {error}", self.name) })
            })?;
            let bytes = buffer.get(..filled).unwrap_or_default();
            found = found.saturating_add(filled as u64);
            if found > self.size {
                let fault = ReadFault::Size { what: "an entry", size: found, limit: self.size };
                return Err(unreadable(fault));
            }
            if bytes.is_empty() {
                break;
            }
            crc.update(bytes);
            on(&self.name, bytes).map_err(unreadable)?;
        }
        if found < self.size {
            let (what, expected) = ("an entry of the archive", self.size);
            return Err(unreadable(ReadFault::Truncated { what, expected, found }));
        }
        if crc.sum() != self.crc {
            return Err(unreadable(ReadFault::Checksum { what: "an entry of the archive" }));
        }
        Ok(())
    }

    /// Goes to the first packed byte.
    fn find_data(&self, input: &mut Input<'_>) -> Result<(), FormatError> {
        let header: [u8; 30] = input.exactly(self.header, "the head of an entry")?;
        let mut fields = Fields::of(&header);
        let signature = fields.u32();
        fields.bytes(22);
        let (Some(LOCAL), Some(name), Some(extra)) = (signature, fields.u16(), fields.u16()) else {
            let reason = format!("the head of {} is damaged", self.name);
            return Err(broken(input, Place::Byte(self.header), reason));
        };
        let data = self.header.saturating_add(30 + u64::from(name) + u64::from(extra));
        if data.checked_add(self.packed).is_none_or(|end| end > input.size) {
            let limit = input.size.saturating_sub(data);
            let fault = ReadFault::Size { what: "an entry", size: self.packed, limit };
            return Err(input.fault(Place::Byte(self.header), fault));
        }
        input.go_to(data)
    }
}

fn fill(from: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;
