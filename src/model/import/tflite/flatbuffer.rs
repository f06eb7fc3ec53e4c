//! The binary layout of FlatBuffers: tables found through their vtables, vectors and strings behind
//! relative offsets.
//!
//! The file is untrusted. Every read is checked against its end, and what is copied out of it is
//! held against a budget, since a small file may point to the same long vector a thousand times.

use std::cell::Cell;
use std::ops::Range;

/// What was expected where, when the file does not hold it.
pub(super) type Read<T> = Result<T, String>;

/// Vectors and names copied out may add up to this many times the size of the file. Without
/// sharing they stay below once.
const SHARING_ALLOWED: usize = 16;

/// The bytes of a file.
#[derive(Debug)]
pub(super) struct Buffer<'a> {
    bytes: &'a [u8],
    budget: Cell<usize>,
}

impl<'a> Buffer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, budget: Cell::new(bytes.len().saturating_mul(SHARING_ALLOWED)) }
    }

    /// The table that everything else hangs from.
    pub(super) fn root(&'a self, what: &'static str) -> Read<Table<'a>> {
        self.table(self.target(0, what)?, what)
    }

    fn slice(&self, at: usize, length: usize, what: &str) -> Read<&'a [u8]> {
        at.checked_add(length).and_then(|end| self.bytes.get(at..end)).ok_or_else(|| {
            let size = self.bytes.len();
            format!("{what}: expected {length} bytes at byte {at}, but the file has {size}")
        })
    }

    fn array<const N: usize>(&self, at: usize, what: &str) -> Read<[u8; N]> {
        let slice = self.slice(at, N, what)?;
        slice.try_into().map_err(|_| format!("{what}: expected {N} bytes at byte {at}"))
    }

    fn unsigned(&self, at: usize, what: &str) -> Read<usize> {
        let value = u32::from_le_bytes(self.array(at, what)?);
        usize::try_from(value).map_err(|_| format!("{what}: {value} does not fit this machine"))
    }

    /// Where the offset stored at `at` points to.
    fn target(&self, at: usize, what: &str) -> Read<usize> {
        let offset = self.unsigned(at, what)?;
        at.checked_add(offset)
            .filter(|_| offset != 0)
            .ok_or_else(|| format!("{what}: the offset at byte {at} points nowhere"))
    }

    fn table(&'a self, at: usize, what: &'static str) -> Read<Table<'a>> {
        // The distance to the vtable is signed and counted backwards.
        let back = i64::from(i32::from_le_bytes(self.array(at, what)?));
        let vtable = i64::try_from(at)
            .ok()
            .and_then(|at| at.checked_sub(back))
            .and_then(|v| usize::try_from(v).ok())
            .ok_or_else(|| format!("{what}: the table at byte {at} has its vtable outside"))?;
        let length = usize::from(u16::from_le_bytes(self.array(vtable, what)?));
        self.slice(vtable, length, what)?;
        if length < 4 {
            return Err(format!("{what}: the vtable at byte {vtable} has {length} bytes"));
        }
        Ok(Table { buffer: self, at, vtable, length, what })
    }

    fn spend(&self, bytes: usize, what: &str) -> Read<()> {
        let left = self.budget.get().checked_sub(bytes);
        self.budget.set(
            left.ok_or_else(|| format!("{what}: the file points to the same bytes over and over"))?,
        );
        Ok(())
    }
}

/// A table: its fields are found by number and may be absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    buffer: &'a Buffer<'a>,
    at: usize,
    vtable: usize,
    length: usize,
    what: &'static str,
}

impl<'a> Table<'a> {
    fn field(&self, number: usize) -> Read<Option<usize>> {
        let slot = 4 + 2 * number;
        if slot + 2 > self.length {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(self.buffer.array(self.vtable + slot, self.what)?);
        Ok((offset != 0).then(|| self.at.saturating_add(usize::from(offset))))
    }

    fn scalar<const N: usize>(&self, number: usize) -> Read<Option<[u8; N]>> {
        self.field(number)?.map(|at| self.buffer.array(at, self.what)).transpose()
    }

    pub(super) fn byte(&self, number: usize) -> Read<u8> {
        Ok(self.scalar::<1>(number)?.map_or(0, |[b]| b))
    }

    pub(super) fn int(&self, number: usize, default: i32) -> Read<i32> {
        Ok(self.scalar(number)?.map_or(default, i32::from_le_bytes))
    }

    pub(super) fn index(&self, number: usize) -> Read<usize> {
        self.field(number)?.map_or(Ok(0), |at| self.buffer.unsigned(at, self.what))
    }

    pub(super) fn long(&self, number: usize) -> Read<u64> {
        Ok(self.scalar(number)?.map_or(0, u64::from_le_bytes))
    }

    pub(super) fn has(&self, number: usize) -> Read<bool> {
        Ok(self.field(number)?.is_some())
    }

    pub(super) fn child(&self, number: usize, what: &'static str) -> Read<Option<Table<'a>>> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        self.buffer.table(self.buffer.target(at, what)?, what).map(Some)
    }

    pub(super) fn text(&self, number: usize, what: &'static str) -> Read<String> {
        let vector = self.vector(number, 1, what)?;
        self.buffer.spend(vector.length, what)?;
        let bytes = self.buffer.slice(vector.at, vector.length, what)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// A vector of elements of `size` bytes; an absent one is empty. Its length is checked against
    /// the bytes that remain, so that nothing is allocated from a length alone.
    pub(super) fn vector(
        &self,
        number: usize,
        size: usize,
        what: &'static str,
    ) -> Read<Vector<'a>> {
        let buffer = self.buffer;
        let Some(field) = self.field(number)? else {
            return Ok(Vector { buffer, at: 0, length: 0, what });
        };
        let at = buffer.target(field, what)?;
        let length = buffer.unsigned(at, what)?;
        let start = at.saturating_add(4);
        buffer.slice(start, length.saturating_mul(size), what)?;
        Ok(Vector { buffer, at: start, length, what })
    }
}

/// A vector whose elements lie within the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<'a> {
    buffer: &'a Buffer<'a>,
    at: usize,
    length: usize,
    what: &'static str,
}

impl<'a> Vector<'a> {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The elements of a vector of 32-bit integers.
    pub(super) fn ints(&self) -> Read<Vec<i32>> {
        let length = self.length.saturating_mul(4);
        self.buffer.spend(length, self.what)?;
        let (words, _) = self.buffer.slice(self.at, length, self.what)?.as_chunks::<4>();
        Ok(words.iter().map(|word| i32::from_le_bytes(*word)).collect())
    }

    /// The elements of a vector of 64-bit integers.
    pub(super) fn longs(&self) -> Read<Vec<i64>> {
        let length = self.length.saturating_mul(8);
        self.buffer.spend(length, self.what)?;
        let (words, _) = self.buffer.slice(self.at, length, self.what)?.as_chunks::<8>();
        Ok(words.iter().map(|word| i64::from_le_bytes(*word)).collect())
    }

    /// Where the elements of a vector of bytes lie in the file.
    pub(super) fn byte_range(&self) -> Range<usize> {
        self.at..self.at.saturating_add(self.length)
    }

    /// One table of a vector of tables.
    pub(super) fn table(&self, index: usize) -> Read<Table<'a>> {
        if index >= self.length {
            let (what, length) = (self.what, self.length);
            return Err(format!("{what} {index} is asked for, but there are {length}"));
        }
        let at = self.at.saturating_add(index.saturating_mul(4));
        self.buffer.table(self.buffer.target(at, self.what)?, self.what)
    }

    /// All tables of a vector of tables.
    pub(super) fn tables(self) -> impl Iterator<Item = Read<Table<'a>>> {
        (0..self.length).map(move |index| self.table(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root table with one field, a vector of two integers.
    const SMALL: [u8; 30] = [
        12, 0, 0, 0, // offset of the root
        0, 0, // padding
        6, 0, 8, 0, 4, 0, // vtable: length 6, table of 8 bytes, field 0 at 4
        6, 0, 0, 0, // the table: its vtable lies 6 back
        4, 0, 0, 0, // field 0: a vector 4 on
        2, 0, 0, 0, 7, 0, // two elements: 7 and, cut below, -1
        0, 0, 255, 255,
    ];

    #[test]
    fn a_vector_is_read_through_its_vtable() {
        let mut bytes = SMALL.to_vec();
        bytes.extend([255, 255]);
        let buffer = Buffer::new(&bytes);
        let root = buffer.root("root").unwrap();
        assert_eq!(root.vector(0, 4, "numbers").unwrap().ints().unwrap(), [7, -1]);
        assert_eq!(root.vector(1, 4, "absent").unwrap().len(), 0);
        assert_eq!(root.int(3, 5).unwrap(), 5, "an absent field is its default");
    }

    #[test]
    fn what_lies_outside_is_named_not_read() {
        let buffer = Buffer::new(&SMALL);
        let root = buffer.root("root").unwrap();
        let error = root.vector(0, 4, "numbers").unwrap_err();
        assert_eq!(error, "numbers: expected 8 bytes at byte 24, but the file has 30");
        let mut bytes = SMALL;
        bytes[20..24].fill(255);
        let buffer = Buffer::new(&bytes);
        assert!(buffer.root("root").unwrap().vector(0, 4, "numbers").is_err());
        let mut bytes = SMALL;
        bytes[12..16].copy_from_slice(&100i32.to_le_bytes());
        assert!(Buffer::new(&bytes).root("root").is_err());
        assert!(Buffer::new(&[]).root("root").is_err());
    }

    #[test]
    fn copying_the_same_bytes_over_and_over_is_refused() {
        let mut bytes = SMALL.to_vec();
        bytes.extend([255, 255]);
        let buffer = Buffer::new(&bytes);
        let vector = buffer.root("root").unwrap().vector(0, 4, "numbers").unwrap();
        assert!((0..1000).any(|_| vector.ints().is_err()));
    }
}
