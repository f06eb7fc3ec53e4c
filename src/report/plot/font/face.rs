//! Where glyphs go: advances and side bearings, read from the tables of an OpenType font.
//!
//! Only what the embedded fonts need: `cmap` format 4 (OpenType 1.9, "cmap"), `hhea`, `hmtx` and
//! the units of `head`. A table that is not there makes no glyph, never a fault.

/// Horizontal measures of one glyph in em.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measures {
    /// From this glyph's origin to the next one's.
    pub advance: f64,
    /// From the origin to the leftmost ink.
    pub bearing: f64,
}

/// A font file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face(pub &'static [u8]);

impl Face {
    /// The measures of a character, or nothing when the font lacks it.
    pub(super) fn measures(self, sign: char) -> Option<Measures> {
        let units = f64::from(self.u16(self.table(b"head")? + 18)?);
        let (metrics, count) = (self.table(b"hmtx")?, self.u16(self.table(b"hhea")? + 34)?);
        let glyph = self.glyph(sign)?;
        // Glyphs past the last full entry share its advance and have a bearing only.
        let last = count.checked_sub(1)?;
        let advance = self.u16(metrics + 4 * usize::from(glyph.min(last)))?;
        let bearing = match glyph.checked_sub(count) {
            None => metrics + 4 * usize::from(glyph) + 2,
            Some(past) => metrics + 4 * usize::from(count) + 2 * usize::from(past),
        };
        let bearing = self.u16(bearing)? as i16;
        Some(Measures { advance: f64::from(advance) / units, bearing: f64::from(bearing) / units })
    }

    fn glyph(self, sign: char) -> Option<u16> {
        let code = u16::try_from(u32::from(sign)).ok()?;
        let map = self.characters()?;
        let doubled = usize::from(self.u16(map + 6)?);
        let (ends, starts) = (map + 14, map + 16 + doubled);
        let (deltas, offsets) = (starts + doubled, starts + 2 * doubled);
        let segment =
            (0..doubled).step_by(2).find(|s| self.u16(ends + s).is_some_and(|e| e >= code))?;
        let start = self.u16(starts + segment)?;
        let delta = self.u16(deltas + segment)?;
        let into = code.checked_sub(start)?;
        let glyph = match self.u16(offsets + segment)? {
            0 => code.wrapping_add(delta),
            offset => {
                let at = offsets + segment + usize::from(offset) + 2 * usize::from(into);
                match self.u16(at)? {
                    0 => 0,
                    glyph => glyph.wrapping_add(delta),
                }
            }
        };
        (glyph != 0).then_some(glyph)
    }

    /// Start of the first subtable in format 4.
    fn characters(self) -> Option<usize> {
        let cmap = self.table(b"cmap")?;
        let count = usize::from(self.u16(cmap + 2)?);
        let starts = (0..count).filter_map(|i| Some(cmap + self.u32(cmap + 4 + 8 * i + 4)?));
        starts.into_iter().find(|at| self.u16(*at) == Some(4))
    }

    fn table(self, name: &[u8; 4]) -> Option<usize> {
        let count = usize::from(self.u16(4)?);
        let entries = (0..count).map(|i| 12 + 16 * i);
        let entry = entries.into_iter().find(|at| self.0.get(*at..at + 4) == Some(&name[..]))?;
        self.u32(entry + 8)
    }

    fn u16(self, at: usize) -> Option<u16> {
        let bytes = self.0.get(at..at.checked_add(2)?)?;
        bytes.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(self, at: usize) -> Option<usize> {
        let bytes = self.0.get(at..at.checked_add(4)?)?;
        bytes.try_into().ok().map(|b| u32::from_be_bytes(b) as usize)
    }
}
