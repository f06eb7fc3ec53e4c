//! The head of a file, and the chunks behind it.

use super::super::fields::Fields;
use super::super::{FormatError, Input, Place, ReadFault};
use super::crc::crc32c;

const MAGIC: &[u8] = b"jlsfmt\r\n \n \x1a  \xb2\x1c";
/// Bytes of the head of the file.
pub(super) const FILE_HEAD: u64 = 32;
/// Bytes of the head of a chunk.
pub(super) const CHUNK_HEAD: u64 = 32;
/// Bytes of what data, indices and summaries start with.
pub(super) const ENTRIES_HEAD: u64 = 16;
/// More than any chunk that the programs write; the usual ones are tens of kilobytes.
const LARGEST: u64 = 16 << 20;

pub(super) const SOURCE: u8 = 0x01;
pub(super) const SIGNAL: u8 = 0x02;
pub(super) const DATA: u8 = 0x22;
pub(super) const INDEX: u8 = 0x23;
pub(super) const SUMMARY: u8 = 0x24;
pub(super) const VARIABLE_DATA: u8 = 0x2a;
pub(super) const ANNOTATION: u8 = 0x32;
pub(super) const UTC: u8 = 0x3a;
const USER: u8 = 0x40;
pub(super) const END: u8 = 0xff;

/// True for a tag of the format.
pub(super) fn is_known(tag: u8) -> bool {
    let of_track = tag & 0xe0 == 0x20 && tag & 7 <= 4;
    of_track || matches!(tag, SOURCE | SIGNAL | USER | END)
}

/// The length that the head of the file states; 0 where it was never closed.
pub(super) fn stated_length(input: &mut Input<'_>) -> Result<u64, FormatError> {
    let head: [u8; FILE_HEAD as usize] = input.exactly(0, "its head")?;
    let mut fields = Fields::of(&head);
    if fields.bytes(MAGIC.len()) != Some(MAGIC) {
        let found = String::from_utf8_lossy(head.get(..6).unwrap_or_default()).into();
        let fault = ReadFault::Head { expected: "the head of a JLS file".into(), found };
        return Err(input.fault(Place::Byte(0), fault));
    }
    let (length, version, crc) = (fields.u64(), fields.u32(), fields.u32());
    if crc != head.get(..28).map(crc32c) {
        let fault = ReadFault::Checksum { what: "the head of the file" };
        return Err(input.fault(Place::Byte(0), fault));
    }
    let major = version.unwrap_or_default() >> 24;
    if major != 1 {
        // The format counts from 0 what is called JLS 2 outside.
        let (what, known) = ("the format of JLS 2", "1");
        let fault = ReadFault::Version { what, found: major.to_string(), known };
        return Err(input.fault(Place::Byte(24), fault));
    }
    Ok(length.unwrap_or_default())
}

/// The head of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The byte it starts at.
    pub(super) at: u64,
    /// The next of its chain; 0 at the end.
    pub(super) next: u64,
    pub(super) tag: u8,
    /// The signal, and its level in the highest four bits.
    pub(super) meta: u16,
    /// Bytes behind the head.
    pub(super) length: u64,
}

impl Chunk {
    /// Reads the head at a byte.
    pub(super) fn head(input: &mut Input<'_>, at: u64) -> Result<Self, FormatError> {
        let head: [u8; CHUNK_HEAD as usize] = input.exactly(at, "the head of a chunk")?;
        let mut fields = Fields::of(&head);
        let next = fields.u64().unwrap_or_default();
        fields.u64();
        let tag = fields.u16().unwrap_or_default() as u8;
        let meta = fields.u16().unwrap_or_default();
        let length = fields.u32().unwrap_or_default().into();
        fields.u32();
        if fields.u32() != head.get(..28).map(crc32c) {
            let fault = ReadFault::Checksum { what: "the head of a chunk" };
            return Err(input.fault(Place::Byte(at), fault));
        }
        Ok(Self { at, next, tag, meta, length })
    }

    /// The signal it belongs to.
    pub(super) fn signal(&self) -> u16 {
        self.meta & 0x0fff
    }

    /// 0 for data, 1 for the first summaries.
    pub(super) fn level(&self) -> u16 {
        self.meta >> 12
    }

    /// The byte behind it: payloads are padded so that their checksum ends on eight bytes.
    pub(super) fn end(&self) -> u64 {
        let payload = match self.length {
            0 => 0,
            length => (length + 4).next_multiple_of(8),
        };
        self.at + CHUNK_HEAD + payload
    }

    /// Its payload, checked.
    pub(super) fn payload(
        &self,
        input: &mut Input<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        if self.length > LARGEST {
            let (size, limit) = (self.length, LARGEST);
            return Err(
                input.fault(Place::Byte(self.at), ReadFault::Size { what: "a chunk", size, limit })
            );
        }
        buffer.clear();
        if self.length == 0 {
            return Ok(());
        }
        let from = self.at + CHUNK_HEAD;
        let whole = self.end() - from;
        input.take_into(from, whole, "a chunk", buffer)?;
        let crc = buffer.split_off(buffer.len().saturating_sub(4));
        buffer.truncate(self.length as usize);
        if crc != crc32c(buffer).to_le_bytes() {
            let fault = ReadFault::Checksum { what: "a chunk" };
            return Err(input.fault(Place::Byte(self.at), fault));
        }
        Ok(())
    }

    /// What its payload starts with, where it holds entries.
    pub(super) fn entries(&self, input: &mut Input<'_>) -> Result<Entries, FormatError> {
        if self.length < ENTRIES_HEAD {
            return Err(input.cut(self.at, "a chunk", ENTRIES_HEAD, self.length));
        }
        let bytes: [u8; ENTRIES_HEAD as usize] = input.exactly(self.at + CHUNK_HEAD, "a chunk")?;
        let entries = Entries::of(&mut Fields::of(&bytes));
        let limit = self.length - ENTRIES_HEAD;
        if self.tag == SUMMARY {
            // The public writer cuts summaries of f64 in half: what is there counts.
            let bits = entries.map_or(1, |entries| entries.bits).max(1);
            let there = u32::try_from(limit * 8 / u64::from(bits)).unwrap_or(u32::MAX);
            let whole = |e: Entries| Entries { count: e.count.min(there), ..e };
            return entries.map(whole).ok_or_else(|| input.cut(self.at, "a chunk", limit, 0));
        }
        let Some(entries) = entries.filter(|e| e.size() <= limit) else {
            let size = entries.map_or(0, |entries| entries.size());
            let fault = ReadFault::Size { what: "the entries of a chunk", size, limit };
            return Err(input.fault(Place::Byte(self.at), fault));
        };
        Ok(entries)
    }
}

/// How many entries of how many bits, from which sample on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries {
    pub(super) first: i64,
    pub(super) count: u32,
    pub(super) bits: u16,
}

impl Entries {
    pub(super) fn of(fields: &mut Fields<'_>) -> Option<Self> {
        let entries = Self { first: fields.i64()?, count: fields.u32()?, bits: fields.u16()? };
        fields.u16()?;
        Some(entries)
    }

    fn size(&self) -> u64 {
        (u64::from(self.count) * u64::from(self.bits)).div_ceil(8)
    }
}
