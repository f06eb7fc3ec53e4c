//! Lines of a text by places in it.

/// Counts lines on the way through a text.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    /// From the start of a text.
    pub fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line of the first character at or behind `start` that does not end a line: readers skip empty
    /// lines without a word. Places are asked for as they rise.
    pub fn line_of(&mut self, start: usize) -> u64 {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if self.at >= start && !matches!(byte, b'\n' | b'\r') {
                break;
            }
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        self.line
    }
}
