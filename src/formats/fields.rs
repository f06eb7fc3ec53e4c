//! Fields of a binary file: numbers in little-endian order out of a slice, and the bytes of an
//! input up to a length that it really has.

use super::{FormatError, Input, Place, ReadFault};
use std::io::{Read, Seek, SeekFrom};

/// A slice that is taken apart from its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What has not been taken.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes; nothing where there are fewer.
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

impl Input<'_> {
    /// The error of bytes that did not come.
    pub(super) fn failed(&self, source: std::io::Error) -> FormatError {
        FormatError::Read { file: self.name.clone(), source }
    }

    /// Goes to a byte.
    pub(super) fn go_to(&mut self, byte: u64) -> Result<(), FormatError> {
        self.seek(SeekFrom::Start(byte)).map_err(|source| self.failed(source))?;
        Ok(())
    }

    /// Fills the buffer as far as the file goes.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, FormatError> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failed(source)),
            }
        }
        Ok(filled)
    }

    /// `N` bytes from a byte on.
    pub(super) fn exactly<const N: usize>(
        &mut self,
        at: u64,
        what: &'static str,
    ) -> Result<[u8; N], FormatError> {
        let mut bytes = [0; N];
        self.go_to(at)?;
        let found = self.fill(&mut bytes)?;
        if found < N {
            return Err(self.cut(at, what, N as u64, found as u64));
        }
        Ok(bytes)
    }

    /// `length` bytes from a byte on into a buffer; no more is allocated than the file has.
    pub(super) fn take_into(
        &mut self,
        at: u64,
        length: u64,
        what: &'static str,
        buffer: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        buffer.clear();
        self.go_to(at)?;
        let found = (&mut *self)
            .take(length)
            .read_to_end(buffer)
            .map_err(|source| FormatError::Read { file: self.name.clone(), source })?;
        if (found as u64) < length {
            return Err(self.cut(at, what, length, found as u64));
        }
        Ok(())
    }

    /// The error of a file that ends within something that starts at `at`.
    pub(super) fn cut(
        &self,
        at: u64,
        what: &'static str,
        expected: u64,
        found: u64,
    ) -> FormatError {
        if self.size == 0 {
            return self.fault(Place::Whole, ReadFault::Empty);
        }
        self.fault(Place::Byte(at), ReadFault::Truncated { what, expected, found })
    }
}
