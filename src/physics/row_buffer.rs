//! Energy of a DRAM byte against how often its row is already open.
//!
//! `e = e_access + (E_act / B) (1 - h)`
//!
//! Symbols: `e_access` \[J/B\] column access and interface, `E_act` \[J\] one activation with its
//! precharge, `B` \[B\] bytes of one burst, `h` \[1\] share of bursts that find their row open.
//! Command accounting as in DRAMPower (Chandrasekar et al.), with the read energy of a burst put per
//! byte. Valid for whole bursts. Neglected: refresh and background power, which go with time and
//! not with traffic, and reads against writes.

use crate::units::{Bytes, Joules, JoulesPerByte};

/// A row-buffered memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowBuffer {
    /// Energy of a byte in an open row \[J/B\].
    pub access: JoulesPerByte,
    /// Energy of an activation and its precharge \[J\].
    pub activation: Joules,
    /// Bytes of one burst \[B\], above 0.
    pub burst: Bytes,
}

impl RowBuffer {
    /// Energy of a byte at a row hit share \[1\], which is held in 0 to 1.
    pub fn per_byte(&self, hit: f64) -> JoulesPerByte {
        let missed = 1.0 - hit.clamp(0.0, 1.0);
        self.access + self.activation / self.burst * missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: RowBuffer =
        RowBuffer { access: JoulesPerByte(32e-12), activation: Joules(1.6e-9), burst: Bytes(64.0) };

    #[test]
    fn an_activation_is_shared_by_the_bytes_of_the_bursts_that_use_the_row() {
        assert_eq!(MEMORY.per_byte(1.0), MEMORY.access);
        assert!((MEMORY.per_byte(0.0).0 - 57e-12).abs() < 1e-24);
        // A stream through rows of 1 KiB opens one row every sixteen bursts.
        let streamed = MEMORY.per_byte(15.0 / 16.0) * Bytes(1024.0);
        assert!((streamed.0 - (1024.0 * 32e-12 + 1.6e-9)).abs() < 1e-21);
    }

    #[test]
    fn a_share_outside_of_its_range_is_held() {
        assert_eq!(MEMORY.per_byte(1.5), MEMORY.per_byte(1.0));
        assert_eq!(MEMORY.per_byte(-0.5), MEMORY.per_byte(0.0));
    }
}
