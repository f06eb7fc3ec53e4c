//! Archives as they are written: entry after entry, each packed as it comes, its sizes put into
//! its head afterwards. Sizes are 32 bits long, which every reader knows.

use super::{DEFLATED, DIRECTORY, END, LOCAL};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Seek, SeekFrom, Write};

/// Names are UTF-8.
const FLAGS: u16 = 0x0800;
const VERSION: u16 = 20;
/// 1980-01-01, the first day of the format: nothing that is written depends on the clock.
const DATE: u16 = 0x21;

/// What the local head and the directory say alike of an entry, and where its head is.
struct Written {
    name: String,
    header: u32,
    described: Vec<u8>,
}

/// Writes an archive.
pub(in crate::formats) struct ArchiveWriter<W> {
    out: W,
    entries: Vec<Written>,
}

/// Counts and sums what goes on to the packer.
struct Summed<W> {
    out: W,
    crc: Crc,
    bytes: u64,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.crc.update(buffer.get(..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write + Seek> ArchiveWriter<W> {
    pub(in crate::formats) fn new(out: W) -> Self {
        Self { out, entries: Vec::new() }
    }

    /// Writes one entry, whose bytes `fill` gives; an error past 4 GiB.
    pub(in crate::formats) fn entry<E: From<io::Error>>(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let header = self.out.stream_position()?;
        let described = described(name, 0, 0, 0)?;
        self.head(&described, name)?;
        let start = self.out.stream_position()?;
        let (crc, size) = pack(&mut self.out, fill)?;
        let end = self.out.stream_position()?;
        let packed = narrow(end.saturating_sub(start))?;
        let described = self::described(name, crc, packed, narrow(size)?)?;
        self.out.seek(SeekFrom::Start(header))?;
        self.head(&described, name)?;
        self.out.seek(SeekFrom::Start(end))?;
        self.entries.push(Written { name: name.into(), header: narrow(header)?, described });
        Ok(())
    }

    fn head(&mut self, described: &[u8], name: &str) -> io::Result<()> {
        self.out.write_all(&LOCAL.to_le_bytes())?;
        self.out.write_all(described)?;
        self.out.write_all(name.as_bytes())
    }

    /// Writes the directory.
    pub(in crate::formats) fn finish(mut self) -> io::Result<W> {
        let start = self.out.stream_position()?;
        for entry in &self.entries {
            let mut bytes = Vec::from(DIRECTORY.to_le_bytes());
            bytes.extend(VERSION.to_le_bytes());
            bytes.extend(&entry.described);
            // No comment, first disk, no attributes.
            bytes.extend([0; 10]);
            bytes.extend(entry.header.to_le_bytes());
            bytes.extend(entry.name.as_bytes());
            self.out.write_all(&bytes)?;
        }
        let length = narrow(self.out.stream_position()?.saturating_sub(start))?;
        let count = u16::try_from(self.entries.len()).map_err(io::Error::other)?;
        let mut bytes = Vec::from(END.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(narrow(start)?.to_le_bytes());
        bytes.extend([0; 2]);
        self.out.write_all(&bytes)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Packs what `fill` gives; its checksum and size come back.
fn pack<E: From<io::Error>>(
    out: &mut impl Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(u32, u64), E> {
    let packer = DeflateEncoder::new(out, Compression::default());
    let mut summed = Summed { out: packer, crc: Crc::new(), bytes: 0 };
    fill(&mut summed)?;
    summed.out.try_finish()?;
    Ok((summed.crc.sum(), summed.bytes))
}

/// From the version needed to the length of the extra fields.
fn described(name: &str, crc: u32, packed: u32, size: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for field in [VERSION, FLAGS, DEFLATED, 0, DATE] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [crc, packed, size] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(u16::try_from(name.len()).map_err(io::Error::other)?.to_le_bytes());
    bytes.extend([0; 2]);
    Ok(bytes)
}

fn narrow(size: u64) -> io::Result<u32> {
    u32::try_from(size).map_err(|_| io::Error::other("an archive of more than 4 GiB"))
}
