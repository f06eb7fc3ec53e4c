//! A file in pieces of whole lines, and threads that read them in order.

use super::rows::{Columns, Rows};
use crate::formats::{FormatError, Input, Place, ReadFault};
use std::io::{Read, Seek, SeekFrom};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Whole lines of a file.
#[derive(Debug, Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    length: usize,
    /// Number of its first line, from 1.
    line: u64,
    columns: Columns,
}

impl Piece {
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(super) fn read(&mut self, rows: &Rows) {
        let text = self.bytes.get(..self.length).unwrap_or_default();
        rows.read(text, &mut self.columns);
    }

    pub(super) fn columns(&mut self) -> &mut Columns {
        &mut self.columns
    }

    /// The place of the first fault, or of the first row.
    fn place(&self) -> Place {
        Place::Line(self.line + self.columns.lines)
    }
}

/// Cuts what is left of a file into pieces.
#[derive(Debug)]
pub(super) struct Pieces<'i, 'a> {
    input: &'i mut Input<'a>,
    size: usize,
    /// Bytes of the body that are not read yet.
    left: u64,
    /// The beginning of a line whose end is in the next piece.
    rest: Vec<u8>,
    line: u64,
}

impl<'i, 'a> Pieces<'i, 'a> {
    /// Pieces of at most `size` bytes from `offset`, which starts line number `line`, to `end`.
    pub(super) fn new(
        input: &'i mut Input<'a>,
        (offset, end): (u64, u64),
        line: u64,
        size: usize,
    ) -> Result<Self, FormatError> {
        let name = input.name.clone();
        input
            .seek(SeekFrom::Start(offset))
            .map_err(|source| FormatError::Read { file: name, source })?;
        Ok(Self { input, size, left: end.saturating_sub(offset), rest: Vec::new(), line })
    }

    /// Fills a piece with the next lines; false where there are none.
    pub(super) fn next(&mut self, piece: &mut Piece) -> Result<bool, FormatError> {
        let kept = self.rest.len();
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        piece.bytes.resize(self.size.min(left.saturating_add(kept)), 0);
        piece.bytes.iter_mut().zip(self.rest.drain(..)).for_each(|(to, from)| *to = from);
        let filled = kept + self.fill(piece.bytes.get_mut(kept..).unwrap_or_default())?;
        piece.line = self.line;
        piece.length = filled;
        if self.left > 0 {
            let text = piece.text();
            let Some(last) = text.iter().rposition(|byte| *byte == b'\n') else {
                let (size, limit) = (filled as u64 + self.left, self.size as u64);
                let fault = ReadFault::Size { what: "a line", size, limit };
                return Err(self.input.fault(Place::Line(self.line), fault));
            };
            self.rest.extend_from_slice(text.get(last + 1..).unwrap_or_default());
            piece.length = last + 1;
        }
        Ok(piece.length > 0)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, FormatError> {
        let mut filled = 0;
        while self.left > 0 && filled < buffer.len() {
            let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len() - filled);
            match self.input.read(&mut buffer[filled..filled + most]) {
                // Shorter than it was a moment ago.
                Ok(0) => self.left = 0,
                Ok(n) => {
                    filled += n;
                    self.left = self.left.saturating_sub(n as u64);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(FormatError::Read { file: self.input.name.clone(), source });
                }
            }
        }
        Ok(filled)
    }

    /// Takes a piece that was read: its columns to `take`, its first fault as an error.
    pub(super) fn take(
        &mut self,
        piece: &mut Piece,
        take: &mut dyn FnMut(&mut Columns) -> Result<(), ReadFault>,
    ) -> Result<(), FormatError> {
        piece.line = self.line;
        self.line += piece.columns.lines;
        let first = Place::Line(piece.line);
        take(&mut piece.columns).map_err(|fault| self.input.fault(first, fault))?;
        match piece.columns.fault.take() {
            Some(fault) => Err(self.input.fault(piece.place(), fault)),
            None => Ok(()),
        }
    }

    /// Reads every piece on `threads` threads; `take` gets their columns in the order of the file.
    pub(super) fn each(
        &mut self,
        rows: &Rows,
        threads: usize,
        take: &mut dyn FnMut(&mut Columns) -> Result<(), ReadFault>,
    ) -> Result<(), FormatError> {
        if self.left == 0 {
            return Ok(());
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1))
                .map(|_| {
                    let (give, pieces) = sync_channel::<Piece>(AHEAD);
                    let (back, read) = sync_channel::<Piece>(AHEAD);
                    scope.spawn(move || work(rows, &pieces, &back));
                    (give, read)
                })
                .collect();
            self.feed(&workers, take)
        })
    }

    /// Piece k goes to worker k modulo their number, and comes back from there.
    fn feed(
        &mut self,
        workers: &[(SyncSender<Piece>, Receiver<Piece>)],
        take: &mut dyn FnMut(&mut Columns) -> Result<(), ReadFault>,
    ) -> Result<(), FormatError> {
        let mut free: Vec<Piece> = Vec::new();
        let (mut given, mut taken, mut more) = (0, 0, true);
        loop {
            while more && given - taken < AHEAD * workers.len() {
                let mut piece = free.pop().unwrap_or_default();
                more = self.next(&mut piece)?;
                let worker = workers.get(given % workers.len());
                if more && worker.is_some_and(|(give, _)| give.send(piece).is_ok()) {
                    given += 1;
                }
            }
            let worker = workers.get(taken % workers.len()).filter(|_| taken < given);
            let Some(mut piece) = worker.and_then(|(_, read)| read.recv().ok()) else {
                return Ok(());
            };
            taken += 1;
            self.take(&mut piece, take)?;
            free.push(piece);
        }
    }
}

/// Pieces that wait for a thread, or for what is done with them.
const AHEAD: usize = 2;

fn work(rows: &Rows, pieces: &Receiver<Piece>, back: &SyncSender<Piece>) {
    for mut piece in pieces {
        piece.read(rows);
        if back.send(piece).is_err() {
            return;
        }
    }
}
