//! Clients that wait for an answer before they ask again.

use super::LoadError;
use super::dice::exponential;
use crate::sim::kernel::Stream;
use crate::units::{Hertz, Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// Time that a client takes from an answer to its next request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Think {
    /// Always the same; all clients ask at once at the start.
    Fixed(Seconds),
    /// Exponential with this mean; at the start each thinks first.
    Exponential(Seconds),
}

impl Think {
    /// The mean.
    pub fn mean(self) -> Seconds {
        match self {
            Self::Fixed(time) | Self::Exponential(time) => time,
        }
    }
}

/// So many clients, each with one request on its way at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedLoop {
    clients: u64,
    think: Think,
}

/// More clients than that are better told as an open process.
const MOST_CLIENTS: u64 = 100_000;

impl ClosedLoop {
    /// By the number of clients and their time to think.
    ///
    /// # Errors
    /// No client, more than 100 000, or a time that is none.
    pub fn new(clients: u64, think: Think) -> Result<Self, LoadError> {
        if !(1..=MOST_CLIENTS).contains(&clients) {
            let problem = format!("are 1 to {MOST_CLIENTS}, not {clients}");
            return Err(LoadError::parameter("clients", problem));
        }
        SimTime::from_seconds(think.mean())?;
        Ok(Self { clients, think })
    }

    /// How many there are.
    pub fn clients(&self) -> u64 {
        self.clients
    }

    /// Time from an answer to the next request, in the mean.
    pub fn thinks(&self) -> Seconds {
        self.think.mean()
    }

    /// Bounds of the rate at one server that takes `service` for each request in the mean: from
    /// N/(Z+NS) to the smaller of N/(Z+S) and 1/S (P. Denning and J. Buzen, "The operational analysis of
    /// queueing network models", Computing Surveys 10, 1978).
    pub fn rate_between(&self, service: Seconds) -> (Hertz, Hertz) {
        let (clients, think) = (self.clients as f64, self.think.mean().0);
        let least = clients / (think + clients * service.0);
        let most = (clients / (think + service.0)).min(1.0 / service.0);
        (Hertz(least), Hertz(most))
    }
}

/// One run of a [`ClosedLoop`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Clients {
    think: Think,
    /// First requests, the latest first.
    first: Vec<SimTime>,
    generator: Stream,
}

impl Clients {
    /// Draws the first request of each client.
    ///
    /// # Errors
    /// One of them lies past the end of time.
    pub fn new(process: ClosedLoop, mut generator: Stream) -> Result<Self, LoadError> {
        let mut first = Vec::new();
        for _ in 0..process.clients {
            first.push(match process.think {
                Think::Fixed(_) => SimTime::ZERO,
                Think::Exponential(mean) => {
                    SimTime::from_seconds(exponential(mean, &mut generator))?
                }
            });
        }
        first.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self { think: process.think, first, generator })
    }

    /// The first request of the next client that has not asked yet.
    pub(super) fn first(&mut self) -> Option<SimTime> {
        self.first.pop()
    }

    /// A request is over at `now`: when its client asks again.
    pub(super) fn over(&mut self, now: SimTime) -> Result<Option<SimTime>, LoadError> {
        let think = match self.think {
            Think::Fixed(time) => time,
            Think::Exponential(mean) => exponential(mean, &mut self.generator),
        };
        Ok(Some(now.after(SimTime::from_seconds(think)?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Source, stream};
    use super::*;

    /// Requests served in `count` services of one server, one after the other in the order they come;
    /// the rate.
    fn served(mut source: Source, count: usize, mut service: impl FnMut() -> Seconds) -> f64 {
        let mut waiting: Vec<SimTime> = std::iter::from_fn(|| source.coming().unwrap()).collect();
        let mut free = SimTime::ZERO;
        for _ in 0..count {
            waiting.sort_unstable_by(|a, b| b.cmp(a));
            let start = waiting.pop().unwrap().max(free);
            free = start.after(SimTime::from_seconds(service()).unwrap()).unwrap();
            waiting.extend(source.over(free).unwrap());
        }
        count as f64 / free.seconds().0
    }

    #[test]
    fn clients_and_a_server_reach_the_rate_of_the_machine_repair_model() {
        let (think, service) = (Seconds(1.0), Seconds(0.2));
        let process = ClosedLoop::new(5, Think::Exponential(think)).unwrap();
        let clients = Clients::new(process, stream(8, "clients")).unwrap();
        let mut server = stream(8, "server");
        let rate = served(Source::Clients(Box::new(clients)), 40_000, || {
            exponential(service, &mut server)
        });
        // M/M/1//N: utilisation is 1 - p0 with 1/p0 = sum over n of N!/(N-n)! (S/Z)^n.
        let mut term = 1.0;
        let sum: f64 = (0..=5u32)
            .map(|n| {
                let own = term;
                term *= f64::from(5 - n) * 0.2;
                own
            })
            .sum();
        let expected = (1.0 - 1.0 / sum) / service.0;
        assert!((rate / expected - 1.0).abs() < 0.02, "{rate} {expected}");
        let (least, most) = process.rate_between(service);
        assert!((least.0..=most.0).contains(&rate), "{rate} {least} {most}");
    }

    #[test]
    fn clients_that_take_no_time_to_think_keep_a_server_busy() {
        let process = ClosedLoop::new(3, Think::Fixed(Seconds::ZERO)).unwrap();
        let clients = Clients::new(process, stream(8, "clients")).unwrap();
        let rate = served(Source::Clients(Box::new(clients)), 100, || Seconds(0.2));
        assert!((rate - 5.0).abs() < 1e-9, "{rate}");
        let (least, most) = process.rate_between(Seconds(0.2));
        assert!((least.0 - 5.0).abs() < 1e-9 && (most.0 - 5.0).abs() < 1e-9, "{least} {most}");
        let rate = served(Source::BackToBack { begun: false }, 100, || Seconds(0.2));
        assert!((rate - 5.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn an_answer_leads_to_one_request_after_the_time_to_think() {
        let process = ClosedLoop::new(2, Think::Fixed(Seconds(3.0))).unwrap();
        let mut clients = Clients::new(process, stream(8, "clients")).unwrap();
        assert_eq!(clients.first(), Some(SimTime::ZERO));
        assert_eq!(clients.first(), Some(SimTime::ZERO));
        assert_eq!(clients.first(), None);
        assert_eq!(clients.over(SimTime(5)), Ok(Some(SimTime(3_000_000_000_005))));
        assert!(clients.over(SimTime(u64::MAX)).is_err(), "past the end of time");
    }

    #[test]
    fn none_and_too_many_are_refused() {
        for clients in [0, u64::MAX] {
            assert!(ClosedLoop::new(clients, Think::Fixed(Seconds(1.0))).is_err());
        }
        assert!(ClosedLoop::new(1, Think::Fixed(Seconds(-1.0))).is_err());
    }
}
