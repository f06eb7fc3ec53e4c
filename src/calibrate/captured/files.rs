//! One file in several observations: what is measured once counts once.
//!
//! Two networks may run by turns in one capture, each under a line of its own, and the mean of a whole capture may
//! stand beside its windows. The gain and the clock of the meter are one unknown each, whatever it measured. What is
//! left are figures: the same windows twice are a fault, power at rest is taken where none of the file's networks
//! runs and once for each state, and a mean that windows and the power between them make up is shown and not counted.

use super::problem::Problem;
use crate::calibrate::case::{Case, Observation};
use crate::units::SimTime;
use std::path::{Component, Path, PathBuf};

/// A stretch of time.
pub(super) type Stretch = (SimTime, SimTime);

/// What one observation takes of a file.
#[derive(Debug, Clone, PartialEq)]
struct Taker {
    /// Which of the observations.
    index: usize,
    model: String,
    place: String,
    /// The windows that it marks.
    windows: Vec<Stretch>,
    /// True where it takes the mean power of all of the file.
    whole: bool,
    /// True where it takes the power between its windows.
    rests: bool,
}

/// What the observations of a case take of the files that several of them name.
#[derive(Debug, Default)]
pub(super) struct Files(Vec<Taker>);

/// Where a file is, however its path is written.
pub(super) fn place(folder: &Path, file: &str) -> String {
    let mut place = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(place.components().next_back(), Some(Component::Normal(_))) =>
            {
                place.pop();
            }
            part => place.push(part),
        }
    }
    place.to_string_lossy().into_owned()
}

/// True where a stretch of one list runs into one of another, both in the order of time.
pub(super) fn overlap(one: &[Stretch], other: &[Stretch]) -> bool {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        if a.0 < b.1 && b.0 < a.1 {
            return true;
        }
        if a.1 <= b.0 {
            one.next()
        } else {
            other.next()
        };
    }
    false
}

impl Files {
    /// Those of a case, with paths from a folder.
    pub(super) fn of(case: &Case, folder: &Path) -> Self {
        let all: Vec<(usize, String)> = case
            .observations
            .iter()
            .enumerate()
            .filter_map(|(at, own)| Some((at, place(folder, &own.capture.as_ref()?.file))))
            .collect();
        let several = |own: &str| all.iter().filter(|(_, other)| other == own).count() > 1;
        let shared = all.iter().filter(|(_, place)| several(place));
        let takers = shared.filter_map(|(at, place)| {
            Some(Taker::of(*at, case.observations.get(*at)?, place, folder))
        });
        Self(takers.collect())
    }

    fn of_one(&self, index: usize) -> Option<&Taker> {
        self.0.iter().find(|own| own.index == index)
    }

    /// The others on the file of an observation.
    fn others(&self, index: usize) -> impl Iterator<Item = &Taker> {
        let own = self.of_one(index);
        let same = move |other: &&Taker| {
            own.is_some_and(|own| own.place == other.place && own.index != other.index)
        };
        self.0.iter().filter(same)
    }

    /// When other networks run in the file of an observation.
    pub(super) fn busy(&self, index: usize) -> Vec<Stretch> {
        let mut busy: Vec<Stretch> =
            self.others(index).flat_map(|own| own.windows.iter().copied()).collect();
        busy.sort_unstable();
        busy
    }

    /// The networks that other observations on its file are of.
    pub(super) fn networks(&self, index: usize) -> Vec<String> {
        self.others(index).map(|own| own.model.clone()).collect()
    }

    /// Why the mean power that an observation takes says nothing new.
    pub(super) fn made_up(&self, index: usize) -> Option<&'static str> {
        let makes = |other: &Taker| other.rests && !other.windows.is_empty();
        let whole = self.of_one(index).is_some_and(|own| own.whole);
        (whole && self.others(index).any(makes)).then_some(ITS_WINDOWS)
    }

    /// What an observation takes that one before it has taken.
    pub(super) fn twice(&self, index: usize) -> Option<Problem> {
        let own = self.of_one(index)?;
        self.others(index).filter(|other| other.index < index).find_map(|other| own.again(other))
    }

    /// What is common to an observation and others on its file, in words; told once, by the last of them.
    pub(super) fn note(&self, file: &str, meter: &str, index: usize) -> Option<String> {
        let before: Vec<usize> = self.others(index).map(|own| own.index).collect();
        if before.is_empty() || before.iter().any(|other| *other > index) {
            return None;
        }
        let named: Vec<String> = before.iter().map(|at| format!("observations[{at}]")).collect();
        let mut note = format!(
            "{file} serves {} and observations[{index}]: gain and clock of `{meter}` are one unknown each",
            named.join(", ")
        );
        let resting = self.0.iter().filter(|own| own.index == index || before.contains(&own.index));
        if resting.filter(|own| own.rests).count() > 1 {
            note.push_str(", and power at rest counts once for each state");
        }
        Some(note)
    }
}

impl Taker {
    fn of(index: usize, observation: &Observation, place: &str, folder: &Path) -> Self {
        let whole = observation.period.is_some();
        let request = observation.capture.as_ref().map(|own| own.request(folder));
        // A file that cannot be read is told of where its figures are asked for.
        let measured = request.filter(|_| !whole).and_then(|own| own.measure().ok());
        let windows = measured.iter().flat_map(|own| &own.measured);
        let mut windows: Vec<Stretch> =
            windows.map(|own| (own.window.start, own.window.stop)).collect();
        windows.sort_unstable();
        let (model, place) = (observation.model.clone(), place.to_owned());
        let rests = !whole && observation.rest.is_some();
        Self { index, model, place, windows, whole, rests }
    }

    /// What it has in common with another on its file.
    fn again(&self, other: &Self) -> Option<Problem> {
        let before = format!("observations[{}]", other.index);
        if self.whole && other.whole {
            let message = format!("{before} takes the mean power of all of this file already");
            return Some(Problem::of("file", message).with_help(ONCE));
        }
        if (self.whole || other.whole) && self.model != other.model {
            let message = format!(
                "the mean power of all of this file is not that of one network: here it is of {}, and {before} has {} in it",
                self.model, other.model
            );
            let help = "a mean power is of a capture in which one network runs";
            return Some(Problem::of("file", message).with_help(help));
        }
        overlap(&self.windows, &other.windows).then(|| {
            let message = format!(
                "what this marks in the file is what {before} marks too, for {}: it would count twice",
                other.model
            );
            Problem::of("file", message).with_help(ONCE)
        })
    }
}

/// Why a mean power is not counted beside what makes it up.
const ITS_WINDOWS: &str = "windows and the power between them are taken from the same capture";

const ONCE: &str =
    "several networks in one capture have a `line` each; what is measured once is one observation";

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(own: &[(u64, u64)]) -> Vec<Stretch> {
        own.iter().map(|(from, to)| (SimTime(*from), SimTime(*to))).collect()
    }

    #[test]
    fn windows_by_turns_do_not_overlap() {
        let one = stretches(&[(0, 10), (20, 30), (40, 50)]);
        assert!(!overlap(&one, &stretches(&[(10, 20), (30, 40), (50, 60)])));
        assert!(overlap(&one, &stretches(&[(10, 20), (49, 51)])));
        assert!(!overlap(&one, &[]) && overlap(&one, &one));
    }

    #[test]
    fn a_file_is_the_same_however_its_path_is_written() {
        for file in ["a.csv", "./a.csv", "../x/a.csv"] {
            assert_eq!(place(Path::new("x"), file), place(Path::new("x"), "a.csv"), "{file}");
        }
        assert_ne!(place(Path::new("x"), "../a.csv"), place(Path::new("x"), "a.csv"));
        assert_ne!(place(Path::new(".."), "../a.csv"), place(Path::new(".."), "a.csv"));
    }
}
