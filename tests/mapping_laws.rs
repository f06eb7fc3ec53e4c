//! Claims on what moves between memories, who waits for it, and what that rests on.

use crate::chips::{at, convolution, network, parsed, product};
use joulecast::cost::{Refusal, Setting, cost};
use joulecast::estimate::{Estimate, estimate, transfer_time};
use joulecast::evidence::Kind;
use joulecast::hardware::Profile;
use joulecast::mapping::{Network, PhaseKind, Plan, plan};
use joulecast::model::{ElementFunction, ElementType, Op};

const SYSTOLIC: &str = r#"Systolic(rows: 16, columns: 16, dataflow: WeightStationary, precision: Int8, operations: "16 op/cycle @m")"#;
const LANES: &str =
    r#"Lanes(macs: {Int8: "16 MAC/cycle @m"}, operations: {Int8: "16 op/cycle @m"})"#;

/// A profile of one engine and what it moves; 100 MHz, and everything measured where nothing else is said.
pub struct Chip<'a> {
    pub memories: &'a str,
    /// Caches and links.
    pub ways: &'a str,
    pub works_from: &'a str,
    pub array: &'a str,
    /// How the engine overlaps, and further fields of it.
    pub engine: &'a str,
}

const IN_PLACE: &str = r#"(name: "ram", domain: "core", capacity: "1 GiB @m", holds: [Weights, Activations],
  bandwidth: PerCycle("8 B/cycle @m"), latency: Time("1 ms @m"), read_energy: "1 pJ/B @m", write_energy: "1 pJ/B @m")"#;
const CACHE: &str = r#"(name: "l2", domain: "far", capacity: "64 KiB @a", line: "32 B @c", replacement: LeastRecentlyUsed,
  engines: ["unit"], backs: ["ram"], bandwidth: PerCycle("8 B/cycle @m"), read_energy: "1 pJ/B @m")"#;
const LINK: &str = r#"(name: "dma", domain: "far", joins: ("home", "buffer"), bandwidth: PerCycle("8 B/cycle @m"), energy: "2 pJ/B @m")"#;

impl Default for Chip<'_> {
    fn default() -> Self {
        let (works_from, engine) = (r#""ram""#, "transfers: Inline");
        Self { memories: IN_PLACE, ways: "", works_from, array: LANES, engine }
    }
}

impl Chip<'_> {
    fn text(&self) -> String {
        let Self { memories, ways, works_from, array, engine } = self;
        format!(
            r#"(schema: "joulecast.profile/1", name: "test", kind: Accelerator, description: "made up",
  sources: {{"m": (kind: Measured, citation: "m"), "a": (kind: Assumed, citation: "a"), "c": (kind: Recalled, citation: "c")}},
  temperature: "25 degC @m", rails: [(name: "rail")],
  operating_points: [(name: "only", clocks: {{"clock": "100 MHz @m"}}, voltages: {{"rail": "1 V @m"}})],
  domains: [(name: "core", rail: "rail", clock: "clock", nominal_voltage: "1 V @m"),
    (name: "far", rail: "rail", clock: "clock", nominal_voltage: "1 V @m", states: [(name: "off", standing: Power("0 W"))])],
  memories: [{memories}], {ways}
  engines: [(name: "unit", domain: "core", array: {array},
    energy: (per_mac: {{Int8: "0.3 pJ @m"}}, per_operation: {{Int8: "0.1 pJ @m"}}),
    supports: [Conv, PointwiseConv, DepthwiseConv, FullyConnected, Elementwise], memories: [{works_from}], {engine})])"#
        )
    }

    fn profile(&self) -> Profile {
        parsed(&self.text())
    }

    /// What reading the profile says against it.
    pub fn fault(&self) -> String {
        Profile::parse("test.ron", &self.text()).map(|_| ()).unwrap_err().to_string()
    }

    pub fn run(&self, network: &Network) -> (Plan, Estimate) {
        at(&self.profile(), None, |setting| {
            let plan = plan(network, setting);
            assert!(plan.uncosted.is_empty(), "{:?}", plan.uncosted);
            let found = estimate(&plan, setting);
            (plan, found)
        })
    }
}

/// A home behind a buffer of so many KiB.
pub fn staged(kibibytes: f64, source: &str, bandwidth: &str, latency: &str) -> String {
    format!(
        r#"(name: "buffer", domain: "core", capacity: "{kibibytes} KiB @{source}", bandwidth: PerCycle("1000 B/cycle @m"),
    read_energy: "1 pJ/B @m", write_energy: "1 pJ/B @m"),
  (name: "home", domain: "core", capacity: "1 GiB @m", holds: [Weights, Activations], staged_through: "buffer",
    bandwidth: PerSecond("{bandwidth} @m"), latency: Time("{latency} @m"), read_energy: "100 pJ/B @m", write_energy: "100 pJ/B @m")"#
    )
}

pub fn double_buffered(memories: &str) -> Chip<'_> {
    let works_from = r#""buffer", "home""#;
    Chip { memories, works_from, engine: "transfers: DoubleBuffered", ..Chip::default() }
}

pub fn image() -> Network {
    let (input, filters): (&[u64], &[u64]) = (&[1, 16, 16, 32], &[32, 3, 3, 32]);
    network(convolution(1, 1, false), &[(input, false), (filters, true)], input, ElementType::Int8)
}

fn sum() -> Network {
    let shape: &[u64] = &[1, 32, 32, 32];
    let op = Op::Elementwise(ElementFunction::Add);
    network(op, &[(shape, false), (shape, false)], shape, ElementType::Int8)
}

/// Layers bound by arithmetic, by their filters, and by what they move.
pub fn layers() -> Vec<Network> {
    vec![
        image(),
        product(1, 640, 128, ElementType::Int8),
        product(64, 96, 200, ElementType::Int8),
        sum(),
    ]
}

#[test]
fn a_larger_buffer_is_never_slower() {
    for network in layers() {
        for (bandwidth, latency) in [
            ("20 MB/s", "0 s"),
            ("20 MB/s", "1 us"),
            ("20 MB/s", "50 us"),
            ("200 MB/s", "10 us"),
            ("2 GB/s", "0 s"),
        ] {
            let mut last = f64::INFINITY;
            for step in 0..=60 {
                let memories = staged(2.0 * 1.17f64.powi(step), "m", bandwidth, latency);
                let time = double_buffered(&memories).run(&network).1.latency.0;
                // Of tilings within a percent the one is taken that moves least.
                assert!(time <= last * 1.01, "{bandwidth} {latency} {step}: {time} > {last}");
                last = last.min(time);
            }
        }
    }
}

#[test]
fn what_fits_overlaps_and_comes_once() {
    let memories = staged(1024.0, "m", "20 MB/s", "0 s");
    let (plan, found) = double_buffered(&memories).run(&image());
    // 256 x 32 x 288 multiply-accumulates at 16 a cycle, and all bytes over 20 MB/s.
    let (compute, moving) = (147_456e-8, (8192.0 + 9216.0 + 8192.0) / 20e6);
    assert!(moving < compute && found.latency.0 < compute * 1.01, "{}", found.latency);
    let home = plan.steps[0].traffic.iter().find(|t| t.channel == 1).unwrap();
    assert_eq!((home.read.0, home.write.0), (8192.0 + 9216.0, 8192.0));
    // Bound by the memory instead, all of it passes and nothing beside counts.
    let memories = staged(1024.0, "m", "10 MB/s", "0 s");
    let (_, found) = double_buffered(&memories).run(&image());
    assert!((found.latency.0 / (2.0 * moving) - 1.0).abs() < 1e-3, "{}", found.latency);
}

#[test]
fn phases_hold_all_bytes_and_requests_of_a_step() {
    for network in layers() {
        for kibibytes in [3.0, 24.0, 1024.0] {
            let memories = staged(kibibytes, "m", "20 MB/s", "2 us");
            let (plan, _) = double_buffered(&memories).run(&network);
            let step = &plan.steps[0];
            for all in &step.traffic {
                let parts = || step.phases.iter().flat_map(|p| &p.transfers);
                let parts = || parts().filter(|t| t.channel == all.channel);
                let near = |sum: f64, whole: f64| (sum - whole).abs() <= 1e-9 * whole;
                assert!(near(parts().map(|t| t.bytes().0).sum(), all.bytes().0));
                assert!(near(parts().map(|t| t.requests).sum(), all.requests));
                assert!(near(parts().map(|t| t.energy.0).sum(), all.energy.0));
            }
        }
    }
}

#[test]
fn the_longer_the_latency_the_fewer_the_pieces() {
    let requests = |latency: &str| {
        let memories = staged(1024.0, "m", "20 MB/s", latency);
        let (plan, _) = double_buffered(&memories).run(&image());
        plan.steps[0].traffic.iter().find(|t| t.channel == 1).unwrap().requests
    };
    let counts = ["1 ns", "1 us", "10 us", "100 us", "10 ms"].map(requests);
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    assert!(counts[0] > 100.0, "{counts:?}");
    // Data, filters and results once each.
    assert_eq!(counts[4], 3.0);
}

#[test]
fn serial_transfers_are_cut_no_finer_than_the_buffer_forces() {
    let memories = staged(1024.0, "m", "20 MB/s", "1 us");
    let chip = Chip { engine: "transfers: Serial", ..double_buffered(&memories) };
    let (plan, found) = chip.run(&image());
    let kinds: Vec<_> = plan.steps[0].phases.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [PhaseKind::Fill, PhaseKind::Steady, PhaseKind::Drain]);
    let expected = 3e-6 + 25_600.0 / 20e6 + 147_456e-8;
    assert!((found.latency.0 / expected - 1.0).abs() < 1e-9, "{}", found.latency);
}

#[test]
fn activations_that_move_apart_from_computing_are_waited_for_and_weights_are_not() {
    // 8192 B in, 9216 B of filters and 8192 B out over 20 MB/s; 1.47 ms of arithmetic.
    let (compute, rate) = (147_456e-8, 20e6);
    let time = |serial: &str, latency: &str| {
        let holds = r#"holds: [Weights, Activations], staged_through"#;
        let memories = staged(1024.0, "m", "20 MB/s", latency);
        let memories = memories.replace(holds, &format!("serial: [{serial}], {holds}"));
        double_buffered(&memories).run(&image())
    };
    let apart = |bytes: f64| compute + bytes / rate;
    for (serial, whole) in [("", 0.0), ("Activations", 16_384.0), ("Weights", 9216.0)] {
        let found = time(serial, "0 s").1.latency.0;
        // What does not move apart has a first piece before, or a last behind.
        assert!(found >= apart(whole) && found < apart(whole) + 40e-6, "{serial}: {found}");
    }
    // With all of it apart nothing is left beside, and a latency is waited for once by each operand.
    let (plan, found) = time("Weights, Activations", "3 us");
    let expected = apart(25_600.0) + 9e-6;
    assert!((found.latency.0 / expected - 1.0).abs() < 1e-9, "{} {expected}", found.latency);
    let home = plan.steps[0].traffic.iter().find(|t| t.channel == 1).unwrap();
    assert_eq!((home.read.0, home.write.0, home.requests), (17_408.0, 8192.0, 3.0));
    let of = |kind| plan.steps[0].phases.iter().find(|p| p.kind == kind).unwrap();
    let bytes =
        |kind| of(kind).transfers.iter().find(|t| t.channel == 1).map_or(0.0, |t| t.bytes().0);
    let parts = [PhaseKind::Fill, PhaseKind::Steady, PhaseKind::Drain].map(bytes);
    assert_eq!(parts, [17_408.0, 0.0, 8192.0]);
}

#[test]
fn what_is_moved_apart_passes_a_buffer() {
    let memories = IN_PLACE.replace("holds:", "serial: [Inputs], usable: \"2 GiB @m\", holds:");
    let said = Chip { memories: &memories, ..Chip::default() }.fault();
    for part in ["passes a buffer", "Weights or Activations", "more than the 1"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// Waiting of the memory called `ram` or `buffer`, the first of the profile, in milliseconds.
fn waits(chip: &Chip<'_>, network: &Network) -> f64 {
    at(&chip.profile(), None, |setting| {
        let plan = plan(network, setting);
        let first = plan.steps[0].traffic.iter().find(|t| t.channel == 0).unwrap();
        let free = joulecast::mapping::Transfer { requests: 0.0, ..*first };
        (transfer_time(first, setting).0.0 - transfer_time(&free, setting).0.0) * 1e3
    })
}

#[test]
fn an_engine_that_works_in_place_waits_once_for_each_pass() {
    // Data, filters and results once each.
    assert!((waits(&Chip::default(), &image()) - 3.0).abs() < 1e-9);
    let (_, found) = Chip::default().run(&image());
    assert!(found.latency.0 > 3e-3, "{}", found.latency);
    // 40 columns of results on 16 of the array: the data three times.
    let array = Chip { array: SYSTOLIC, ..Chip::default() };
    let network = product(8, 40, 16, ElementType::Int8);
    assert!((waits(&array, &network) - 5.0).abs() < 1e-9);
}

/// Bytes that the first memory of the profile gives.
fn given(chip: &Chip<'_>, network: &Network) -> f64 {
    let (plan, _) = chip.run(network);
    plan.steps[0].traffic.iter().find(|t| t.channel == 0).unwrap().read.0
}

fn square(kernel: u64) -> Network {
    let (data, filter) = ([1, 32, 32, 32], [16, kernel, kernel, 32]);
    let inputs: [(&[u64], bool); 2] = [(&data, false), (&filter, true)];
    network(convolution(1, 1, false), &inputs, &[1, 32, 32, 16], ElementType::Int8)
}

/// Overlapping windows are read again within a pass, and are no passes: nothing waits for them, and a cache
/// that holds the rows under a window (3 of 1 KiB) sends none of them to the memory behind it.
#[test]
fn overlapping_windows_are_accesses_and_no_passes() {
    let array = Chip { array: SYSTOLIC, ..Chip::default() };
    let lines = SYSTOLIC.replace("precision", "reuses_windows: true, precision");
    let reused = Chip { array: &lines, ..Chip::default() };
    // 18 folds of the sum's depth: their sums come and go, and all that is waited for is passes.
    assert_eq!(waits(&array, &square(3)), waits(&reused, &square(3)));
    assert_eq!(given(&array, &square(3)) - given(&reused, &square(3)), 8.0 * 32768.0);
    let behind = |kibibytes: u64, kernel: u64| {
        let cache = CACHE.replace("64 KiB", &format!("{kibibytes} KiB"));
        let ways = format!("caches: [{cache}],");
        let filters = (kernel * kernel * 32 * 16) as f64;
        let data =
            given(&Chip { ways: &ways, array: SYSTOLIC, ..Chip::default() }, &square(kernel));
        data - filters
    };
    // Partial sums of the folds are no part of it.
    let sums = |kernel: u64| (kernel * kernel * 2 - 1) as f64 * 16384.0 * 4.0;
    assert_eq!(behind(4, 3) - sums(3), 32768.0);
    assert_eq!(behind(4, 1) - sums(1), 32768.0);
    // Rows that do not stay come once for each row of the window.
    assert_eq!(behind(2, 3) - sums(3), 3.0 * 32768.0);
}

#[test]
fn a_missing_line_stops_an_engine_whose_loads_are_instructions() {
    let ways = format!("caches: [{CACHE}],");
    let inline = Chip { ways: &ways, ..Chip::default() };
    // Lines of 32 B of data and filters, and the results, which pass the cache.
    let lines = (8192.0 + 9216.0) / 32.0;
    assert!((waits(&inline, &image()) - (lines + 1.0)).abs() < 1e-6);
    let ahead = ways.replace("bandwidth", "prefetches: true, bandwidth");
    assert!((waits(&Chip { ways: &ahead, ..inline }, &image()) - 3.0).abs() < 1e-9);
    let beside = Chip { engine: "transfers: DoubleBuffered", ways: &ways, ..Chip::default() };
    assert!((waits(&beside, &image()) - 3.0).abs() < 1e-9);
}

#[test]
fn the_latency_of_a_buffer_is_waited_for_too() {
    let memories = staged(1024.0, "m", "20 MB/s", "0 s");
    let slow = memories.replacen("bandwidth", r#"latency: Time("1 ms @m"), bandwidth"#, 1);
    let chip = Chip { engine: "transfers: Serial", ..double_buffered(&slow) };
    // Into it and out of it: two operands and the result.
    assert!((waits(&chip, &image()) - 6.0).abs() < 1e-9);
}

#[test]
fn nothing_works_through_a_cache_or_a_link_that_is_asleep() {
    let asleep = |text: String| {
        text.replace(r#"{"rail": "1 V @m"})]"#, r#"{"rail": "1 V @m"}, asleep: {"far": "off"})]"#)
    };
    let staged = staged(8.0, "m", "1 GB/s", "0 s");
    let (caches, links) = (format!("caches: [{CACHE}],"), format!("links: [{LINK}],"));
    let cached = Chip { ways: &caches, ..Chip::default() };
    let linked = Chip { ways: &links, ..double_buffered(&staged) };
    for (chip, way) in [(cached, "cache `l2`"), (linked, "link `dma`")] {
        let said = Profile::parse("test.ron", &asleep(chip.text())).unwrap_err().to_string();
        assert!(
            said.contains(&format!("engine `unit` is awake and works through {way}")),
            "{said}"
        );
        assert!(said.contains("operating_points[0].asleep.far"), "{said}");
        let profile = chip.profile();
        let point = profile.point(None).unwrap();
        let point = profile.in_states(point, &[("far".into(), "off".into())]).unwrap();
        let setting = Setting { profile: &profile, point: &point, stacks: &[None] };
        let refused = cost(&image().layers[0].work, 0, setting).unwrap_err();
        assert!(matches!(&refused, Refusal::Asleep { domain, .. } if domain == "far"), "{refused}");
    }
    // What does not stand in the way may sleep.
    let elsewhere = Chip { ways: &caches, ..double_buffered(&staged) };
    let text = elsewhere.text().replace(r#"backs: ["ram"]"#, r#"backs: ["other"]"#);
    let text = text.replace(
        "memories: [(",
        &format!("memories: [{}, (", IN_PLACE.replace("\"ram\"", "\"other\"")),
    );
    let text = text.replace(r#"(name: "unit""#, r#"(name: "second", domain: "far", array: Lanes(macs: {Int8: "1 MAC/cycle"}), energy: (per_mac: {Int8: "1 pJ"}), supports: [Conv], memories: ["other"], transfers: Inline), (name: "unit""#);
    let text = text.replace(r#"engines: ["unit"]"#, r#"engines: ["second"]"#);
    parsed(&asleep(text));
}

#[test]
fn the_room_of_a_buffer_is_evidence_for_what_comes_again() {
    let shares = |kibibytes: f64, source: &str, engine: &str, network: &Network| {
        let memories = staged(kibibytes, source, "1 GB/s", "1 us");
        let found = Chip { engine, ..double_buffered(&memories) }.run(network).1;
        let of = |coverage: &joulecast::evidence::Coverage| {
            coverage.shares().find(|(k, _)| *k == Kind::Assumed).map_or(0.0, |(_, share)| share)
        };
        (of(&found.energy_coverage), of(&found.time_coverage))
    };
    let inline = "transfers: Inline";
    assert_eq!(shares(8.0, "m", inline, &image()), (0.0, 0.0));
    // What is fetched again, and equally what is not: the room decides both.
    for kibibytes in [8.0, 1024.0] {
        assert!(shares(kibibytes, "a", inline, &image()).0 > 0.3);
        assert!(shares(kibibytes, "a", "transfers: Serial", &image()).1 > 0.01);
    }
    // Both inputs of a sum come once, whatever the buffer holds; how many pieces they make it does decide.
    let (energy, time) = shares(8.0, "a", "transfers: Serial", &sum());
    assert!(energy == 0.0 && time > 0.5, "{energy} {time}");
}

#[test]
fn room_and_line_of_a_cache_are_evidence_for_what_it_misses() {
    let weakest = |text: &str, array: &str, network: &Network| {
        let ways = format!("caches: [{text}],");
        let (plan, _) = Chip { ways: &ways, array, ..Chip::default() }.run(network);
        plan.steps[0].traffic.iter().find(|t| t.channel == 0).unwrap().energy_kind
    };
    let product = product(8, 40, 16, ElementType::Int8);
    // Read once: whole lines, however many stay. Read three times: those that do not stay come again.
    assert_eq!(weakest(CACHE, LANES, &image()), Kind::Recalled);
    assert_eq!(weakest(CACHE, SYSTOLIC, &product), Kind::Assumed);
    assert_eq!(weakest(&CACHE.replace("@c", "@m"), LANES, &image()), Kind::Measured);
}

#[test]
fn ways_that_nothing_passes_are_faults() {
    let other = |text: &str, from: &str, to: &str| format!("{text}, {}", text.replace(from, to));
    let staged = staged(8.0, "m", "1 GB/s", "0 s");
    let two_caches = format!("caches: [{}],", other(CACHE, "\"l2\"", "\"l1\""));
    let two_links = format!("links: [{}],", other(LINK, "\"dma\"", "\"bus\""));
    let turned =
        LINK.replace(r#"("home", "buffer")"#, r#"("buffer", "home")"#).replace("dma", "bus");
    let turned = format!("links: [{LINK}, {turned}],");
    let hidden = format!("caches: [{}],", CACHE.replace("\"ram\"", "\"home\""));
    let unused = format!("links: [{LINK}],");
    let buffered = || double_buffered(&staged);
    for (chip, message, field) in [
        (
            Chip { ways: &two_caches, ..Chip::default() },
            "engine `unit` works from `ram` through cache `l2` already",
            "caches[1].backs[0]",
        ),
        (
            Chip { ways: &hidden, ..buffered() },
            "engine `unit` works from `home` through buffer `buffer`, not through a cache",
            "caches[0].backs[0]",
        ),
        (
            Chip { ways: &two_links, ..buffered() },
            "`home` and `buffer` are joined by link `dma` already",
            "links[1].joins",
        ),
        (
            Chip { ways: &turned, ..buffered() },
            "`buffer` and `home` are joined by link `dma` already",
            "links[1].joins",
        ),
        (
            Chip { ways: &unused, works_from: r#""home""#, ..buffered() },
            "nothing passes between `home` and `buffer`: no engine works from both of them",
            "links[0].joins",
        ),
    ] {
        let said = chip.fault();
        assert!(said.contains(message) && said.contains(field), "{said}");
    }
    // An engine that does not reach the buffer has the cache.
    let direct = Chip { ways: &hidden, works_from: r#""home""#, ..buffered() };
    let said = direct.fault();
    assert!(!said.contains("cache"), "{said}");
}

#[test]
fn partial_sums_move_as_wide_as_accumulators() {
    // A sum of 64 on 16 rows leaves the array four times and comes back three times.
    let traffic = |engine: &str| {
        let chip = Chip { array: SYSTOLIC, engine, ..Chip::default() };
        let (plan, _) = chip.run(&product(8, 16, 64, ElementType::Int8));
        let ram = plan.steps[0].traffic[0];
        (ram.read.0, ram.write.0)
    };
    let (operands, results) = (8.0 * 64.0 + 16.0 * 64.0, 8.0 * 16.0);
    let wide = traffic("transfers: Inline");
    assert_eq!(wide, (operands + 3.0 * 4.0 * results, results + 3.0 * 4.0 * results));
    let narrow = traffic(r#"transfers: Inline, partial_sum: "2 B @m""#);
    assert_eq!(narrow, (operands + 3.0 * 2.0 * results, results + 3.0 * 2.0 * results));
    // What the array sums up by itself has the width of the output.
    let (plan, _) =
        Chip { array: SYSTOLIC, ..Chip::default() }.run(&product(8, 16, 16, ElementType::Int8));
    assert_eq!(plan.steps[0].traffic[0].write.0, results);
}
