//! Customers at a station of servers, built on the kernel, and what queueing theory says of them.
//!
//! Customers of each class come as a Poisson stream of their own. Waiting times are kept as means of
//! batches: batches much longer than the memory of the queue are as good as independent, and their
//! spread gives the standard error of the whole.

use joulecast::sim::Quantiles;
use joulecast::sim::kernel::{
    Admission, Class, Ending, KernelError, Line, Queue, Station, Stops, Stream, Streams, System,
    drive,
};
use joulecast::units::SimTime;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

/// A mean service [ps]: a millisecond.
pub const SERVICE_PS: f64 = 1e9;
/// The first is left out: it starts with an empty station.
pub const BATCHES: u64 = 41;

/// How long services are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Service {
    /// Exponential.
    Exponential,
    /// All the same.
    Fixed,
}

/// Who comes, and what is there for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub servers: usize,
    pub service: Service,
    /// Work that each class brings, over what one server can do; the first class goes first.
    pub load: Vec<f64>,
    /// Places to wait.
    pub places: Option<usize>,
    /// Customers of all classes together.
    pub customers: u64,
    pub seed: u64,
}

impl Setting {
    /// One class, and any number may wait.
    pub fn plain(servers: usize, utilisation: f64, customers: u64) -> Self {
        let load = vec![utilisation * servers as f64];
        let service = Service::Exponential;
        Self { servers, service, load, places: None, customers, seed: 1 }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    Comes { class: usize },
    Leaves { server: usize },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Customer {
    class: usize,
    came: SimTime,
}

/// A mean and how sure it is.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    pub mean: f64,
    pub standard_error: f64,
}

impl Estimate {
    /// How many standard errors it is away from what should be.
    pub fn errors_from(self, expected: f64) -> f64 {
        (self.mean - expected) / self.standard_error
    }

    /// Within three standard errors of what should be, and these so small that it says something.
    pub fn confirms(self, expected: f64) -> bool {
        self.errors_from(expected).abs() < 3.0 && self.standard_error < 0.02 * expected
    }
}

/// Means of batches of equal size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Batches {
    size: u64,
    seen: u64,
    sum: f64,
    means: Vec<f64>,
}

impl Batches {
    fn new(size: u64) -> Self {
        Self { size, seen: 0, sum: 0.0, means: Vec::new() }
    }

    fn add(&mut self, value: f64) {
        self.seen += 1;
        self.sum += value;
        if self.seen == self.size {
            self.means.push(self.sum / self.size as f64);
            (self.seen, self.sum) = (0, 0.0);
        }
    }

    pub fn estimate(&self) -> Estimate {
        let means = &self.means[1..];
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Estimate { mean, standard_error: (variance / n).sqrt() }
    }
}

/// What a class saw.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    arrivals: Stream,
    /// Waiting times over a mean service.
    pub waits: Batches,
    /// 1 of a customer that waited, 0 of one that did not.
    pub had_to_wait: Batches,
    /// 1 of a customer that was refused.
    pub refused: Batches,
    pub quantiles: Quantiles,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Simulation {
    setting: Setting,
    station: Station<Customer>,
    services: Stream,
    left_to_come: u64,
    pub seen: Vec<Seen>,
    /// All waiting times [ps].
    pub waited: u128,
    /// Customers waiting, over time [ps].
    pub waiting: u128,
    since: SimTime,
}

fn drawn(stream: &mut Stream, mean_ps: f64) -> SimTime {
    let value: f64 = Exp1.sample(stream);
    SimTime((value * mean_ps).round() as u64)
}

impl Simulation {
    pub fn new(setting: &Setting) -> Result<(Self, Queue<Event>), KernelError> {
        let mut streams = Streams::new(setting.seed, 0);
        let mut queue = Queue::default();
        let mut seen = Vec::new();
        let all: f64 = setting.load.iter().sum();
        for (class, load) in setting.load.iter().enumerate() {
            let own = setting.customers as f64 * load / all;
            let batches = || Batches::new((own as u64 / BATCHES).max(1));
            queue.schedule(SimTime::ZERO, Class::Arrival, Event::Comes { class })?;
            seen.push(Seen {
                arrivals: streams.open("arrivals", class as u64)?,
                waits: batches(),
                had_to_wait: batches(),
                refused: batches(),
                quantiles: Quantiles::default(),
            });
        }
        let simulation = Self {
            setting: setting.clone(),
            station: Station::new(setting.servers, Line::new(setting.places)),
            services: streams.open("services", 0)?,
            left_to_come: setting.customers,
            seen,
            waited: 0,
            waiting: 0,
            since: SimTime::ZERO,
        };
        Ok((simulation, queue))
    }

    fn start(
        &mut self,
        customer: &Customer,
        server: usize,
        queue: &mut Queue<Event>,
    ) -> Result<(), KernelError> {
        let wait = queue.now().since(customer.came);
        let seen = &mut self.seen[customer.class];
        seen.waits.add(wait.0 as f64 / SERVICE_PS);
        seen.had_to_wait.add(f64::from(u8::from(wait.0 > 0)));
        seen.quantiles.add(wait);
        self.waited += u128::from(wait.0);
        let service = match self.setting.service {
            Service::Fixed => SimTime(SERVICE_PS as u64),
            Service::Exponential => drawn(&mut self.services, SERVICE_PS),
        };
        queue.schedule_after(service, Class::Completion, Event::Leaves { server })
    }

    fn comes(&mut self, class: usize, queue: &mut Queue<Event>) -> Result<(), KernelError> {
        // All classes close together, or the last would end up alone.
        if self.left_to_come == 0 {
            return Ok(());
        }
        self.left_to_come -= 1;
        let arrivals = &mut self.seen[class].arrivals;
        let pause = drawn(arrivals, SERVICE_PS / self.setting.load[class]);
        queue.schedule_after(pause, Class::Arrival, Event::Comes { class })?;
        let customer = Customer { class, came: queue.now() };
        let admission = self.station.admit(customer, class as u8);
        let refused = matches!(admission, Admission::Refused(_));
        self.seen[class].refused.add(f64::from(u8::from(refused)));
        if let Admission::Starts { server, job } = admission {
            self.start(&job, server, queue)?;
        }
        Ok(())
    }
}

impl System for Simulation {
    type Event = Event;
    type Error = KernelError;

    fn is_overtaken(&self, _: &Event) -> bool {
        false
    }

    fn handle(&mut self, event: Event, queue: &mut Queue<Event>) -> Result<(), KernelError> {
        let passed = queue.now().since(self.since);
        self.waiting += u128::from(passed.0) * self.station.waiting() as u128;
        self.since = queue.now();
        match event {
            Event::Comes { class } => self.comes(class, queue),
            Event::Leaves { server } => match self.station.release(server)? {
                Some(next) => self.start(&next, server, queue),
                None => Ok(()),
            },
        }
    }
}

/// A whole run; with it how many events it took.
pub fn simulate(setting: &Setting) -> (Simulation, u64) {
    let (mut simulation, mut queue) = Simulation::new(setting).unwrap();
    assert_eq!(drive(&mut simulation, &mut queue, Stops::default()), Ok(Ending::Done));
    (simulation, queue.taken())
}

/// What should come out; times are in mean services.
pub mod theory {
    /// Share of customers refused where none can wait, `load` erlangs on `servers` (Erlang 1917, the
    /// B formula in its recursion).
    pub fn erlang_b(servers: usize, load: f64) -> f64 {
        (1..=servers).fold(1.0, |b, n| load * b / (n as f64 + load * b))
    }

    /// Share of customers that wait (Erlang's C formula).
    pub fn erlang_c(servers: usize, load: f64) -> f64 {
        let (b, utilisation) = (erlang_b(servers, load), load / servers as f64);
        b / (1.0 - utilisation * (1.0 - b))
    }

    /// Mean wait of M/M/c.
    pub fn mmc_wait(servers: usize, load: f64) -> f64 {
        erlang_c(servers, load) / (servers as f64 - load)
    }

    /// Mean wait of M/D/1: half of that of M/M/1 (Pollaczek and Khinchine).
    pub fn md1_wait(load: f64) -> f64 {
        load / (2.0 * (1.0 - load))
    }

    /// Mean waits of M/M/1 by class, the first served first, without pre-emption (Cobham 1954).
    pub fn cobham(load: &[f64]) -> Vec<f64> {
        let residual: f64 = load.iter().sum();
        let mut before = 0.0;
        let wait = |own: &f64| {
            let with_own = before + own;
            let wait = residual / ((1.0 - before) * (1.0 - with_own));
            before = with_own;
            wait
        };
        load.iter().map(wait).collect()
    }

    /// Share of customers refused by one server with `places` to wait (M/M/1/K, K = places + 1).
    pub fn one_server_refuses(load: f64, places: usize) -> f64 {
        let most = places as i32 + 1;
        (1.0 - load) * load.powi(most) / (1.0 - load.powi(most + 1))
    }
}
