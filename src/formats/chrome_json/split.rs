//! Events out of the text, one at a time, without reading the file into memory.

use super::super::{FormatError, Input, Place, ReadFault};
use std::io::{BufReader, Read};

/// Far more than any event that a profiler writes.
const LARGEST: usize = 16 << 20;

/// Where in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Start,
    Within,
    /// Within `traceEvents` of an object, whose bracket has to close.
    WithinObject,
    Done,
}

/// The events of a file.
pub(super) struct Events<'i, 'a> {
    name: String,
    bytes: BufReader<&'i mut Input<'a>>,
    line: u64,
    /// The line that the last event starts in.
    from: u64,
    pushed: Option<u8>,
    state: State,
    event: Vec<u8>,
}

impl<'i, 'a> Events<'i, 'a> {
    pub(super) fn of(input: &'i mut Input<'a>) -> Self {
        Self {
            name: input.name.clone(),
            bytes: BufReader::with_capacity(1 << 16, input),
            line: 1,
            from: 1,
            pushed: None,
            state: State::Start,
            event: Vec::new(),
        }
    }

    /// A fault in the line of the last event.
    pub(super) fn fault(&self, fault: ReadFault) -> FormatError {
        let (file, place) = (self.name.clone(), Place::Line(self.from));
        FormatError::Unreadable { file, place, fault }
    }

    fn json(&mut self, reason: &str) -> FormatError {
        self.from = self.line;
        self.fault(ReadFault::Json { reason: reason.into() })
    }

    fn byte(&mut self) -> Result<Option<u8>, FormatError> {
        if let Some(byte) = self.pushed.take() {
            return Ok(Some(byte));
        }
        let mut byte = [0];
        match self.bytes.read_exact(&mut byte) {
            Ok(()) => {
                let [byte] = byte;
                self.line += u64::from(byte == b'\n');
                Ok(Some(byte))
            }
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(FormatError::Read { file: self.name.clone(), source }),
        }
    }

    /// The next byte that is no blank; a byte-order mark is one.
    fn solid(&mut self) -> Result<Option<u8>, FormatError> {
        loop {
            match self.byte()? {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf) => {}
                other => return Ok(other),
            }
        }
    }

    /// The text of the next event.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, FormatError> {
        if self.state == State::Start {
            self.start()?;
        }
        loop {
            if self.state == State::Done {
                return Ok(None);
            }
            match self.solid()? {
                Some(b',') => {}
                Some(b'{') => {
                    self.from = self.line;
                    self.event.clear();
                    self.value(b'{', true)?;
                    return Ok(Some(&self.event));
                }
                Some(b']') => self.state = State::Done,
                // The bracket of a plain array may be missing.
                None if self.state == State::Within => self.state = State::Done,
                None => return Err(self.json("the file ends within traceEvents")),
                Some(other) => {
                    let found = char::from(other);
                    return Err(self.json(&format!("expected an event, found `{found}`")));
                }
            }
        }
    }

    fn start(&mut self) -> Result<(), FormatError> {
        match self.solid()? {
            Some(b'[') => self.state = State::Within,
            Some(b'{') => self.find_events()?,
            None => return Err(self.fault(ReadFault::Empty)),
            Some(_) => return Err(self.json("expected an array or an object of events")),
        }
        Ok(())
    }

    /// Goes to the array of `traceEvents`, over what stands before it.
    fn find_events(&mut self) -> Result<(), FormatError> {
        loop {
            match self.solid()? {
                Some(b'"') => {}
                Some(b',') => continue,
                _ => {
                    let what = "`traceEvents`".into();
                    return Err(self.fault(ReadFault::Missing { what }));
                }
            }
            self.event.clear();
            self.string(true)?;
            let is_events = self.event == b"traceEvents\"";
            if self.solid()? != Some(b':') {
                return Err(self.json("expected `:`"));
            }
            let Some(first) = self.solid()? else { return Err(self.json("the file ends")) };
            if is_events {
                if first != b'[' {
                    return Err(self.json("`traceEvents` is no array"));
                }
                self.state = State::WithinObject;
                return Ok(());
            }
            self.value(first, false)?;
        }
    }

    fn keep(&mut self, byte: u8, keep: bool) -> Result<(), FormatError> {
        if keep {
            if self.event.len() >= LARGEST {
                let (size, limit) = (LARGEST as u64 + 1, LARGEST as u64);
                return Err(self.fault(ReadFault::Size { what: "an event", size, limit }));
            }
            self.event.push(byte);
        }
        Ok(())
    }

    /// The rest of a text, with the quote that ends it.
    fn string(&mut self, keep: bool) -> Result<(), FormatError> {
        let mut escaped = false;
        loop {
            let Some(byte) = self.byte()? else { return Err(self.json("the file ends in a text")) };
            self.keep(byte, keep)?;
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => return Ok(()),
                _ => {}
            }
        }
    }

    /// A value that starts with `first`; bare words that JSON lacks become `null`.
    fn value(&mut self, first: u8, keep: bool) -> Result<(), FormatError> {
        let mut depth = 0usize;
        let mut next = Some(first);
        while let Some(byte) = next {
            match byte {
                b'"' => {
                    self.keep(byte, keep)?;
                    self.string(keep)?;
                }
                b'{' | b'[' => {
                    self.keep(byte, keep)?;
                    depth += 1;
                }
                b'}' | b']' => {
                    self.keep(byte, keep)?;
                    depth = depth.saturating_sub(1);
                }
                b'N' | b'I' => self.no_number(keep)?,
                _ if depth > 0 || !matches!(byte, b',') => self.keep(byte, keep)?,
                _ => {}
            }
            if depth == 0 {
                // A bare number or word goes on to the comma or the bracket behind it.
                let bare = !matches!(byte, b'"' | b'}' | b']');
                next = self.byte()?;
                if !bare || matches!(next, Some(b',' | b'}' | b']')) {
                    self.pushed = next;
                    return Ok(());
                }
                continue;
            }
            next = self.byte()?;
        }
        Err(self.json("the file ends within an event"))
    }

    /// `NaN` or `Infinity`, of which the first letter is taken.
    fn no_number(&mut self, keep: bool) -> Result<(), FormatError> {
        loop {
            match self.byte()? {
                Some(byte) if byte.is_ascii_alphabetic() => {}
                other => {
                    self.pushed = other;
                    break;
                }
            }
        }
        if keep {
            if self.event.last() == Some(&b'-') {
                self.event.pop();
            }
            self.event.extend(b"null");
        }
        Ok(())
    }
}
