//! A point that several fits start from.

use super::local::{Around, Local};
use super::scales::Scales;
use super::{Joint, observation::Run};
use crate::calibrate::fit::Row;
use crate::uncertainty::threads;
use std::sync::Arc;

/// A point that several fits start from, with all figures and slopes there.
#[derive(Debug)]
pub struct Start {
    pub(super) x: Vec<f64>,
    pub(super) scales: Scales,
    /// By configuration.
    pub(super) around: Vec<Arc<Around>>,
    /// Derivatives of the logarithm of each prediction, by sight.
    pub(super) rows: Vec<Row>,
}

impl Start {
    /// What a run shows there.
    pub(super) fn local(&self, run: &Run, at: usize) -> Option<&Local> {
        self.around.get(run.configuration)?.local(at)
    }
}

impl Joint {
    /// A point for fits to start from, with the scales to start with.
    pub fn start(&self, x: &[f64], scales: Scales) -> Start {
        let all = vec![true; self.sights.len()];
        let around = threads::mapped(&self.work(&all), |(at, runs)| {
            let configuration = &self.configurations[*at];
            Arc::new(Around::of(self, configuration, runs, configuration.logs(x)))
        });
        let rows = self.runs.iter().enumerate().flat_map(|(at, run)| {
            let local = around.get(run.configuration).and_then(|around| around.local(at));
            (0..run.figures).map(move |figure| {
                local.and_then(|local| self.row(run, local, figure)).unwrap_or_default()
            })
        });
        let rows = rows.collect();
        Start { x: x.to_vec(), scales, around, rows }
    }

    /// All configurations by index, with their runs that have a measurement in use.
    pub(super) fn work(&self, used: &[bool]) -> Vec<(usize, Vec<usize>)> {
        let mut work: Vec<(usize, Vec<usize>)> =
            (0..self.configurations.len()).map(|at| (at, Vec::new())).collect();
        for (at, run) in self.runs.iter().enumerate() {
            if self.figures_used(run, used).next().is_some()
                && let Some((_, runs)) = work.get_mut(run.configuration)
            {
                runs.push(at);
            }
        }
        work
    }

    /// The figures of a run that are in use.
    pub(super) fn figures_used<'a>(
        &self,
        run: &Run,
        used: &'a [bool],
    ) -> impl Iterator<Item = usize> + use<'a> {
        let first = run.first;
        let of = move |figure: &usize| used.get(first + figure).copied().unwrap_or(false);
        (0..run.figures).filter(of)
    }
}
