//! Servers, and those who wait for one.

use super::KernelError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Jobs that wait: by priority, and within one in the order in which they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line<J> {
    /// By priority, 0 first. Lanes stay when they are empty, so that nothing is allocated a job.
    lanes: BTreeMap<u8, VecDeque<J>>,
    limit: Option<usize>,
}

impl<J> Line<J> {
    /// An empty line that holds `limit` jobs at most, or any number.
    pub fn new(limit: Option<usize>) -> Self {
        Self { lanes: BTreeMap::new(), limit }
    }

    /// Jobs that wait.
    pub fn len(&self) -> usize {
        self.lanes.values().map(VecDeque::len).sum()
    }

    /// True when none waits.
    pub fn is_empty(&self) -> bool {
        self.lanes.values().all(VecDeque::is_empty)
    }

    /// Puts a job behind those of its priority (0 is the most urgent); gives it back when the line is
    /// full.
    pub fn join(&mut self, job: J, priority: u8) -> Result<(), J> {
        if self.limit.is_some_and(|limit| self.len() >= limit) {
            return Err(job);
        }
        self.lanes.entry(priority).or_default().push_back(job);
        Ok(())
    }

    /// Takes the first of the most urgent.
    pub fn call_next(&mut self) -> Option<J> {
        self.lanes.values_mut().find_map(VecDeque::pop_front)
    }
}

/// What becomes of a job that comes to a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission<J> {
    /// It starts at once.
    Starts {
        /// The server that was free.
        server: usize,
        /// The job.
        job: J,
    },
    /// It waits.
    Waits,
    /// The line is full.
    Refused(J),
}

/// Servers behind one line. A job that has started is not put off for a more urgent one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Station<J> {
    /// Which servers are at work.
    at_work: Vec<bool>,
    line: Line<J>,
}

impl<J> Station<J> {
    /// So many servers, all free, and an empty line before them.
    pub fn new(servers: usize, line: Line<J>) -> Self {
        Self { at_work: vec![false; servers], line }
    }

    /// Servers at work.
    pub fn busy(&self) -> usize {
        self.at_work.iter().filter(|at_work| **at_work).count()
    }

    /// Jobs that wait.
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// A job comes: the first free server takes it, or it waits, or the line is full.
    pub fn admit(&mut self, job: J, priority: u8) -> Admission<J> {
        let free = self.at_work.iter_mut().enumerate().find(|(_, at_work)| !**at_work);
        if let Some((server, at_work)) = free {
            *at_work = true;
            return Admission::Starts { server, job };
        }
        match self.line.join(job, priority) {
            Ok(()) => Admission::Waits,
            Err(job) => Admission::Refused(job),
        }
    }

    /// A server has finished: the job that it starts now, or none and it is free.
    pub fn release(&mut self, server: usize) -> Result<Option<J>, KernelError> {
        let servers = self.at_work.len();
        match self.at_work.get_mut(server) {
            Some(at_work) if *at_work => {
                let next = self.line.call_next();
                *at_work = next.is_some();
                Ok(next)
            }
            _ => Err(KernelError::NotAtWork { server, servers }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_goes_first_and_equals_in_the_order_they_came() {
        let mut line = Line::new(None);
        for (job, priority) in [('a', 2), ('b', 1), ('c', 2), ('d', 0), ('e', 1)] {
            line.join(job, priority).unwrap();
        }
        assert_eq!(line.len(), 5);
        let order: String = std::iter::from_fn(|| line.call_next()).collect();
        assert_eq!(order, "dbeac");
        assert!(line.is_empty());
    }

    #[test]
    fn a_full_line_refuses_whatever_the_priority() {
        let mut line = Line::new(Some(2));
        line.join('a', 5).unwrap();
        line.join('b', 0).unwrap();
        assert_eq!(line.join('c', 0), Err('c'));
        line.call_next();
        assert_eq!(line.join('c', 9), Ok(()));
    }

    #[test]
    fn free_servers_start_at_once_and_released_ones_take_the_next() {
        let mut station = Station::new(2, Line::new(Some(1)));
        assert_eq!(station.admit('a', 0), Admission::Starts { server: 0, job: 'a' });
        assert_eq!(station.admit('b', 0), Admission::Starts { server: 1, job: 'b' });
        assert_eq!(station.admit('c', 0), Admission::Waits);
        assert_eq!(station.admit('d', 0), Admission::Refused('d'));
        assert_eq!((station.busy(), station.waiting()), (2, 1));
        assert_eq!(station.release(1), Ok(Some('c')));
        assert_eq!(station.release(0), Ok(None));
        assert_eq!(station.busy(), 1);
        let idle = KernelError::NotAtWork { server: 0, servers: 2 };
        assert_eq!(station.release(0), Err(idle));
        assert!(station.release(7).is_err());
    }

    #[test]
    fn a_station_without_servers_only_collects() {
        let mut station = Station::new(0, Line::new(Some(1)));
        assert_eq!(station.admit((), 0), Admission::Waits);
        assert_eq!(station.admit((), 0), Admission::Refused(()));
    }
}
