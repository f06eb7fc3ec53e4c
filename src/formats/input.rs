//! Where bytes come from: a file, or bytes in memory, with a name for errors.

use super::{FormatError, Place, ReadFault};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that can be read and sought.
pub trait Bytes: Read + Seek {}
impl<T: Read + Seek> Bytes for T {}

/// A file being read.
pub struct Input<'a> {
    /// The name as the caller gave it, for errors.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    bytes: Box<dyn Bytes + 'a>,
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("size", &self.size).finish()
    }
}

impl<'a> Input<'a> {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let name = path.display().to_string();
        let failed = |source| FormatError::Read { file: path.display().to_string(), source };
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Ok(Self { name, size, bytes: Box::new(file) })
    }

    /// Bytes in memory, under a name.
    pub fn of(name: &str, bytes: &'a [u8]) -> Self {
        Self { name: name.into(), size: bytes.len() as u64, bytes: Box::new(Cursor::new(bytes)) }
    }

    /// An error at a place of this file.
    pub fn fault(&self, place: Place, fault: ReadFault) -> FormatError {
        FormatError::Unreadable { file: self.name.clone(), place, fault }
    }

    /// Goes back to the first byte.
    pub fn rewind(&mut self) -> Result<(), FormatError> {
        self.bytes.rewind().map_err(|source| FormatError::Read { file: self.name.clone(), source })
    }

    /// The whole file, where it is no larger than `limit` bytes.
    pub fn whole(&mut self, limit: u64) -> Result<Vec<u8>, FormatError> {
        if self.size > limit {
            let fault = ReadFault::Size { what: "the file", size: self.size, limit };
            return Err(self.fault(Place::Whole, fault));
        }
        let mut bytes = Vec::new();
        self.take(limit)
            .read_to_end(&mut bytes)
            .map_err(|source| FormatError::Read { file: self.name.clone(), source })?;
        Ok(bytes)
    }

    /// The whole file as text without a byte-order mark, where it is no larger than `limit` bytes.
    pub fn text(&mut self, limit: u64) -> Result<String, FormatError> {
        let bytes = self.whole(limit)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to() as u64;
                Err(self.fault(Place::Byte(at), ReadFault::NotText))
            }
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl Seek for Input<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// The beginning of a file, by which its format is recognised.
#[derive(Debug, Clone)]
pub struct Head {
    bytes: Vec<u8>,
}

impl Head {
    /// How many bytes are looked at.
    const LENGTH: u64 = 16 * 1024;

    /// Reads the beginning and goes back to it.
    pub fn of(input: &mut Input<'_>) -> Result<Self, FormatError> {
        let mut bytes = Vec::new();
        let name = input.name.clone();
        (&mut *input)
            .take(Self::LENGTH)
            .read_to_end(&mut bytes)
            .map_err(|source| FormatError::Read { file: name, source })?;
        input.rewind()?;
        Ok(Self { bytes })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True where the file starts with these bytes.
    pub fn starts_with(&self, magic: &[u8]) -> bool {
        self.bytes.starts_with(magic)
    }

    /// The beginning as text, up to the first byte that is none, without a byte-order mark; empty
    /// for a binary file.
    pub fn text(&self) -> &str {
        let text = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or_default()
            }
        };
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    /// The lines of the beginning; the last may be cut.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text().lines()
    }

    /// The first line that is not blank, without blanks at its ends.
    pub fn first_line(&self) -> &str {
        self.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
}
