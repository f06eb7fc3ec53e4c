//! One run of a process of arrivals, as it goes on.
//!
//! A source is all that the rest of its requests depend on, and can be written down: a run that is
//! taken up again from a snapshot asks for what it would have asked for.

use super::{
    BurstyTimes, Clients, CountedTimes, LoadError, PeriodicTimes, PoissonTimes, Process,
    RecordedTimes,
};
use crate::sim::kernel::Stream;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Requests of one stream as a run goes on. Whoever simulates takes what is `coming` ahead of time, one at a
/// time, and tells of every request that is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Source {
    /// One client that never thinks; true once it has asked for the first time.
    BackToBack {
        /// Whether it has asked.
        begun: bool,
    },
    /// So many, a period apart.
    Counted(CountedTimes),
    /// One each period, with jitter.
    Periodic(Box<PeriodicTimes<Stream>>),
    /// At random.
    Poisson(Box<PoissonTimes<Stream>>),
    /// At random, at one of two rates.
    Bursts(Box<BurstyTimes<Stream>>),
    /// From a file.
    Recorded(Box<RecordedTimes>),
    /// By clients that wait and think.
    Clients(Box<Clients>),
}

impl Source {
    pub(super) fn of(process: &Process, generator: Stream) -> Result<Self, LoadError> {
        Ok(match process {
            Process::BackToBack => Self::BackToBack { begun: false },
            Process::Periodic(process) => Self::Periodic(Box::new(process.times(generator))),
            Process::Poisson(process) => Self::Poisson(Box::new(process.times(generator))),
            Process::Bursts(process) => Self::Bursts(Box::new(process.times(generator))),
            Process::Recorded(process) => Self::Recorded(Box::new(process.times())),
            Process::ClosedLoop(process) => {
                Self::Clients(Box::new(Clients::new(*process, generator)?))
            }
        })
    }

    /// The next request that comes whatever happens, no earlier than the one before; nothing when all
    /// have come.
    ///
    /// # Errors
    /// The time lies past the end of time, or a file does not go on as it should. Nothing comes
    /// afterwards.
    pub fn coming(&mut self) -> Result<Option<SimTime>, LoadError> {
        match self {
            Self::BackToBack { begun } => {
                let first = !std::mem::replace(begun, true);
                Ok(first.then_some(SimTime::ZERO))
            }
            Self::Counted(times) => times.next().transpose(),
            Self::Periodic(times) => times.next().transpose(),
            Self::Poisson(times) => times.next().transpose(),
            Self::Bursts(times) => times.next().transpose(),
            Self::Recorded(times) => times.next().transpose(),
            Self::Clients(clients) => Ok(clients.first()),
        }
    }

    /// A request is over at `now`: served, dropped or refused. The request that this leads to, not
    /// before `now`.
    ///
    /// # Errors
    /// Its time lies past the end of time.
    pub fn over(&mut self, now: SimTime) -> Result<Option<SimTime>, LoadError> {
        match self {
            Self::BackToBack { .. } => Ok(Some(now)),
            Self::Clients(clients) => clients.over(now),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bursts, ClosedLoop, Level, Periodic, Poisson, Recorded, Think, stream};
    use super::*;
    use crate::units::{Hertz, Seconds};

    fn goes_on_as_it_would(process: &Process) {
        let mut source = process.source(stream(5, "test")).unwrap();
        let ask = |source: &mut Source| {
            let over = source.over(SimTime(7)).unwrap();
            (source.coming().unwrap(), over)
        };
        let taken: Vec<_> = (0..37).map(|_| ask(&mut source)).collect();
        let text = serde_json::to_string(&source).unwrap();
        let mut again: Source = serde_json::from_str(&text).unwrap();
        let (rest, same): (Vec<_>, Vec<_>) =
            (0..37).map(|_| (ask(&mut source), ask(&mut again))).unzip();
        assert_eq!(rest, same, "{process:?}");
        let moves = !matches!(process, Process::BackToBack | Process::ClosedLoop(_));
        assert!(!moves || rest != taken, "{process:?}");
    }

    #[test]
    fn a_source_that_was_written_down_goes_on_as_it_would_have() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("events.csv");
        std::fs::write(&path, "# a head\ntime_ms\n100\n200\n\n900\n").unwrap();
        let level = |rate, stay| Level { rate: Hertz(rate), stay: Seconds(stay) };
        let think = Think::Exponential(Seconds(0.3));
        let file = path.to_str().unwrap();
        for process in [
            Process::BackToBack,
            Process::Periodic(Periodic::new(Seconds(0.1), Seconds(0.05), Seconds(1.0)).unwrap()),
            Process::Poisson(Poisson::new(Hertz(30.0)).unwrap()),
            Process::Bursts(Bursts::new(level(1.0, 2.0), level(90.0, 0.2)).unwrap()),
            Process::Recorded(Recorded::scan(file, Some(Seconds(1.0))).unwrap()),
            Process::Recorded(Recorded::scan(file, None).unwrap()),
            Process::ClosedLoop(ClosedLoop::new(40, think).unwrap()),
        ] {
            goes_on_as_it_would(&process);
        }
    }
}
