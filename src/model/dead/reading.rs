//! Reading weights, each once where that can be, and never without end: a short file can point to the
//! same long bytes a thousand times.

use crate::model::TensorId;
use crate::model::weights::{FilterAxes, Findings, Weights};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Times that all bytes of the files may be read: once for statistics, again behind dead channels.
const TIMES: u64 = 8;

/// Bytes that may be read of any file.
const LEAST: u64 = 1 << 24;

/// What was read so far.
pub(super) struct Reading {
    /// What was found in weights, which several operators may share.
    seen: BTreeMap<TensorId, (FilterAxes, Rc<Findings>)>,
    left: u64,
    /// Filters that were not looked at.
    skipped: usize,
}

impl Reading {
    /// For files of so many bytes.
    pub fn new(bytes: u64) -> Self {
        let left = bytes.saturating_mul(TIMES).max(LEAST);
        Self { seen: BTreeMap::new(), left, skipped: 0 }
    }

    fn spend(&mut self, weights: &Weights) -> Option<()> {
        let bits = weights.shape.elements()?.checked_mul(weights.element.bits())?;
        match self.left.checked_sub(bits / 8) {
            Some(left) => self.left = left,
            None => {
                self.skipped += 1;
                return None;
            }
        }
        Some(())
    }

    /// Statistics of a filter, and which of its outputs do anything.
    pub fn findings(
        &mut self,
        stored: TensorId,
        weights: &Weights,
        axes: FilterAxes,
    ) -> Option<Rc<Findings>> {
        if let Some((known, findings)) = self.seen.get(&stored)
            && *known == axes
        {
            return Some(findings.clone());
        }
        self.spend(weights)?;
        let findings = Rc::new(weights.findings(&axes)?);
        self.seen.insert(stored, (axes, findings.clone()));
        Some(findings)
    }

    /// Which outputs of a filter a live input reaches.
    pub fn reached(
        &mut self,
        weights: &Weights,
        axes: &FilterAxes,
        live: &[bool],
    ) -> Option<Vec<bool>> {
        self.spend(weights)?;
        weights.reached(axes, live)
    }

    /// Says so if filters were not looked at.
    pub fn note(&self) -> Option<String> {
        (self.skipped > 0).then(|| {
            format!(
                "{} filters were not looked into, since the file points to the same bytes over and \
                 over: their statistics are missing and their channels count as live",
                self.skipped
            )
        })
    }
}
