//! Streams, queues and one server put together, against what queueing theory says in closed form.

use super::dice::exponential;
use super::{
    Admission, BatchStart, Deadlines, MicroBatch, Poisson, Request, Source, StreamRank, Verdict,
    next_stream, stream,
};
use crate::units::{Hertz, Seconds, SimTime};
use std::collections::VecDeque;

struct Stream {
    source: Source,
    /// Its next request.
    next: Option<SimTime>,
    priority: u32,
    deadline: Option<SimTime>,
    batch: MicroBatch,
    admission: Admission,
    waiting: VecDeque<Request>,
    asked: u64,
    lost: u64,
    deadlines: Deadlines,
    /// Sizes of the batches that were served.
    batches: Vec<u64>,
    waited: Seconds,
    served: u64,
}

impl Stream {
    fn poisson(rate: f64, seed: u64) -> Self {
        let times = Poisson::new(Hertz(rate)).unwrap().times(stream(seed, "arrivals"));
        Self {
            source: Source::Poisson(Box::new(times)),
            next: None,
            priority: 0,
            deadline: None,
            batch: MicroBatch::SINGLE,
            admission: Admission::default(),
            waiting: VecDeque::new(),
            asked: 0,
            lost: 0,
            deadlines: Deadlines::default(),
            batches: Vec::new(),
            waited: Seconds::ZERO,
            served: 0,
        }
    }

    fn mean_wait(&self) -> f64 {
        self.waited.0 / self.served as f64
    }

    /// Lets in what comes until `now`, where the server ends what it does at `free`.
    fn admit(&mut self, now: SimTime, free: SimTime, service: SimTime) {
        while let Some(at) = self.next.filter(|at| *at <= now) {
            let due = self.deadline.map(|d| at.after(d).unwrap());
            let request = Request { number: self.asked, arrived: at, due };
            self.asked += 1;
            let before = self.waiting.len() as u64;
            let earliest = SimTime(free.max(at).0 + (before + 1) * service.0);
            match self.admission.offer(&mut self.waiting, request, earliest) {
                Verdict::Waits => {}
                Verdict::Displaces(dropped) => {
                    self.lost += 1;
                    self.deadlines.lost(&dropped.0);
                }
                Verdict::Refused(_) => {
                    self.lost += 1;
                    self.deadlines.lost(&request);
                }
            }
            self.next = self.source.coming().unwrap();
        }
    }

    /// When a batch starts, and what decides between this stream and others.
    fn start(&self, now: SimTime) -> (BatchStart, Option<StreamRank>) {
        let start = self.batch.start(&self.waiting, now);
        let ready = matches!(start, BatchStart::Now(_));
        let first = self.waiting.front().filter(|_| ready);
        let rank =
            |r: &Request| StreamRank { priority: self.priority, due: r.due, arrived: r.arrived };
        (start, first.map(rank))
    }
}

/// Serves until `end`: one batch at a time, without breaking one off.
fn serve(streams: &mut [Stream], end: Seconds, service: &mut dyn FnMut() -> SimTime) {
    let end = SimTime::from_seconds(end).unwrap();
    let (mut now, mut free) = (SimTime::ZERO, SimTime::ZERO);
    for stream in streams.iter_mut() {
        stream.next = stream.source.coming().unwrap();
    }
    while now < end {
        let nominal = SimTime(100_000_000_000);
        streams.iter_mut().for_each(|stream| stream.admit(now, free, nominal));
        let starts: Vec<_> = streams.iter().map(|stream| stream.start(now)).collect();
        let chosen = next_stream(starts.iter().map(|(_, rank)| *rank)).filter(|_| now >= free);
        if let Some(place) = chosen {
            let BatchStart::Now(count) = starts[place].0 else { unreachable!() };
            free = now.after(service()).unwrap();
            let stream = &mut streams[place];
            stream.batches.push(count);
            for request in stream.waiting.drain(..count as usize) {
                stream.deadlines.done(&request, free);
                stream.waited += now.since(request.arrived).seconds();
                stream.served += 1;
            }
        }
        let come = streams.iter().filter_map(|stream| stream.next);
        let ready = starts.iter().filter_map(|(start, _)| match start {
            BatchStart::At(at) => Some(*at),
            _ => None,
        });
        let done = (free > now).then_some(free);
        now = come.chain(ready).chain(done).filter(|at| *at > now).min().unwrap_or(end);
    }
}

const SERVICE: SimTime = SimTime(100_000_000_000);

#[test]
fn waiting_for_a_server_of_fixed_time_is_that_of_pollaczek_and_khinchine() {
    let mut streams = [Stream::poisson(7.0, 31)];
    serve(&mut streams, Seconds(20_000.0), &mut || SERVICE);
    // ρ S / (2 (1 - ρ)) at ρ = 0.7.
    let expected = 0.7 * 0.1 / (2.0 * 0.3);
    let ratio = streams[0].mean_wait() / expected;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn a_full_queue_loses_what_the_closed_form_says() {
    let mut streams = [Stream::poisson(10.0, 5)];
    streams[0].admission.limit = Some(3);
    let mut draws = stream(5, "service");
    let mut service = || SimTime::from_seconds(exponential(Seconds(0.1), &mut draws)).unwrap();
    serve(&mut streams, Seconds(10_000.0), &mut service);
    // M/M/1/K at ρ = 1 with three waiting and one in service: 1 / (K + 1).
    let lost = streams[0].lost as f64 / streams[0].asked as f64;
    assert!((lost - 0.2).abs() < 0.01, "{lost}");
    assert!(streams[0].asked > 99_000);
}

#[test]
fn priorities_wait_as_long_as_cobham_says() {
    let mut streams = [Stream::poisson(3.0, 71), Stream::poisson(5.0, 72)];
    streams[0].priority = 1;
    serve(&mut streams, Seconds(20_000.0), &mut || SERVICE);
    // W0 = λ S² / 2; first W0 / (1 - ρ₁), second W0 / ((1 - ρ₁)(1 - ρ₁ - ρ₂)).
    let residual = 8.0 * 0.1 * 0.1 / 2.0;
    for (stream, expected) in streams.iter().zip([residual / 0.7, residual / (0.7 * 0.2)]) {
        let ratio = stream.mean_wait() / expected;
        assert!((ratio - 1.0).abs() < 0.06, "{ratio} of {expected}");
    }
}

#[test]
fn batches_fill_under_load_and_time_out_without() {
    let batch = MicroBatch::new(4, SimTime(200_000_000_000)).unwrap();
    let mut busy = [Stream { batch, ..Stream::poisson(200.0, 9) }];
    serve(&mut busy, Seconds(50.0), &mut || SERVICE);
    let full = busy[0].batches.iter().filter(|n| **n == 4).count();
    assert!(full as f64 > 0.99 * busy[0].batches.len() as f64);
    // Ten batches of four a second are all there is.
    assert!((busy[0].served as f64 - 2000.0).abs() < 10.0, "{}", busy[0].served);
    let mut idle = [Stream { batch, ..Stream::poisson(0.1, 9) }];
    serve(&mut idle, Seconds(5000.0), &mut || SERVICE);
    // Alone, each waits for the timeout.
    assert!((idle[0].mean_wait() - 0.2).abs() < 0.01, "{}", idle[0].mean_wait());
}

#[test]
fn a_queue_that_refuses_what_is_late_has_nobody_late() {
    let with = |refuse_late| {
        let mut streams = [Stream::poisson(12.0, 3)];
        streams[0].deadline = Some(SimTime(250_000_000_000));
        streams[0].admission.refuse_late = refuse_late;
        serve(&mut streams, Seconds(500.0), &mut || SERVICE);
        streams[0].deadlines
    };
    let (lax, strict) = (with(false), with(true));
    assert!(lax.missed_share().unwrap() > 0.9, "{lax:?}");
    assert_eq!((strict.late, strict.worst), (0, SimTime::ZERO));
    // 12 a second ask for 1.2 of the server: a sixth and more is refused.
    let refused = strict.missed_share().unwrap();
    assert!((0.17..0.4).contains(&refused), "{refused}");
}
