//! Packets out of the bytes, one at a time.

use super::super::super::fields::Fields;
use super::super::super::{FormatError, Input, Place, ReadFault};
use super::super::message::TracePacket;
use prost::Message;
use std::io::{BufReader, Read};

/// Key of `Trace.packet`: field 1, with a length.
const PACKET: u8 = 0x0a;
/// Far more than a packet of any recorder, which writes them in chunks of kilobytes.
const LARGEST: u64 = 64 << 20;

fn varint(fields: &mut Fields<'_>) -> Option<u64> {
    let mut value = 0u64;
    for place in 0..10 {
        let byte = fields.u8()?;
        value |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// True where the file starts with a packet of whole fields, of which one is of every packet that
/// a recorder writes: its time, its sequence or its user.
pub(super) fn recognised(head: &[u8]) -> bool {
    let mut fields = Fields::of(head);
    let (Some(PACKET), Some(length)) = (fields.u8(), varint(&mut fields)) else { return false };
    let whole = usize::try_from(length).ok().and_then(|length| fields.bytes(length));
    let mut packet = Fields::of(whole.unwrap_or(fields.rest()));
    if length == 0
        || length > LARGEST
        || (whole.is_some() && !matches!(fields.u8(), None | Some(PACKET)))
    {
        return false;
    }
    let mut of_every = false;
    while !packet.rest().is_empty() {
        let Some(key) = varint(&mut packet) else { return whole.is_none() && of_every };
        let skipped = match key & 7 {
            0 => varint(&mut packet).map(drop),
            1 => packet.bytes(8).map(drop),
            2 => varint(&mut packet)
                .and_then(|length| packet.bytes(usize::try_from(length).ok()?))
                .map(drop),
            5 => packet.bytes(4).map(drop),
            _ => return false,
        };
        of_every |= matches!(key, 0x40 | 0x50 | 0x18);
        if key >> 3 == 0 || (skipped.is_none() && whole.is_some()) {
            return false;
        }
        if skipped.is_none() {
            break;
        }
    }
    of_every
}

/// The packets of a file.
pub(super) struct Packets<'i, 'a> {
    name: String,
    size: u64,
    bytes: BufReader<&'i mut Input<'a>>,
    at: u64,
    buffer: Vec<u8>,
}

impl<'i, 'a> Packets<'i, 'a> {
    pub(super) fn of(input: &'i mut Input<'a>) -> Self {
        let (name, size) = (input.name.clone(), input.size);
        Self { name, size, bytes: BufReader::new(input), at: 0, buffer: Vec::new() }
    }

    pub(super) fn fault(&self, at: u64, fault: ReadFault) -> FormatError {
        FormatError::Unreadable { file: self.name.clone(), place: Place::Byte(at), fault }
    }

    fn byte(&mut self) -> Result<Option<u8>, FormatError> {
        let mut byte = [0];
        match self.bytes.read_exact(&mut byte) {
            Ok(()) => {
                self.at += 1;
                Ok(byte.first().copied())
            }
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(FormatError::Read { file: self.name.clone(), source }),
        }
    }

    /// The next packet and the byte it starts at.
    pub(super) fn next(&mut self) -> Result<Option<(u64, TracePacket)>, FormatError> {
        let at = self.at;
        match self.byte()? {
            None if at == 0 => {
                let (file, fault) = (self.name.clone(), ReadFault::Empty);
                return Err(FormatError::Unreadable { file, place: Place::Whole, fault });
            }
            None => return Ok(None),
            Some(PACKET) => {}
            Some(other) => {
                let expected = "a packet of a trace".into();
                let fault = ReadFault::Head { expected, found: format!("{other:02x}") };
                return Err(self.fault(at, fault));
            }
        }
        let mut head = Vec::new();
        while let Some(byte) = self.byte()? {
            head.push(byte);
            if byte & 0x80 == 0 || head.len() > 9 {
                break;
            }
        }
        let length = varint(&mut Fields::of(&head));
        let room = self.size.saturating_sub(self.at);
        let Some(length) = length.filter(|length| *length <= LARGEST.min(room)) else {
            let (expected, found) = (length.unwrap_or(1), room);
            let what = "a packet";
            let fault = match length {
                Some(size) if size > LARGEST => ReadFault::Size { what, size, limit: LARGEST },
                _ => ReadFault::Truncated { what, expected, found },
            };
            return Err(self.fault(at, fault));
        };
        self.buffer.clear();
        let read = (&mut self.bytes).take(length).read_to_end(&mut self.buffer);
        let found =
            read.map_err(|source| FormatError::Read { file: self.name.clone(), source })? as u64;
        if found < length {
            let fault = ReadFault::Truncated { what: "a packet", expected: length, found };
            return Err(self.fault(at, fault));
        }
        self.at += length;
        let packet = TracePacket::decode(self.buffer.as_slice()).map_err(|error| {
            let what = "a packet".into();
            let expected = "the fields of a Perfetto packet";
            self.fault(at, ReadFault::Value { what, found: error.to_string(), expected })
        })?;
        Ok(Some((at, packet)))
    }
}
