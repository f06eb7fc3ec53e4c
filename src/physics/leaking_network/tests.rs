use super::super::thermal_modes::Crossing;
use super::super::thermal_nodes::{ThermalJoin, ThermalNode, ThermalNodes};
use super::*;
use crate::units::{JoulesPerKelvin, KelvinsPerWatt};

const CAPACITIES: [f64; 4] = [0.01, 0.02, 1.0, 25.0];
const JOINS: [(usize, usize, f64); 4] = [(0, 2, 1.2), (1, 2, 0.9), (0, 1, 4.0), (2, 3, 3.0)];
const TO_AIR: f64 = 5.0;
const AMBIENT: f64 = 35.0;
/// Place, leakage at 25 degC, growth.
const SOURCES: [(usize, f64, f64); 3] = [(0, 0.12, 0.03), (0, 0.02, 0.017), (1, 0.08, 0.025)];

fn phone() -> ThermalModes {
    let node = |(i, capacity): (usize, &f64)| ThermalNode {
        capacity: JoulesPerKelvin(*capacity),
        to_air: (i == 3).then_some(KelvinsPerWatt(TO_AIR)),
    };
    let join = |(one, other, resistance)| ThermalJoin {
        between: (one, other),
        resistance: KelvinsPerWatt(resistance),
    };
    let nodes = CAPACITIES.iter().enumerate().map(node).collect();
    let nodes = ThermalNodes::new(nodes, JOINS.into_iter().map(join).collect()).unwrap();
    ThermalModes::of_nodes(&nodes).unwrap()
}

fn source((place, _, growth): (usize, f64, f64)) -> LeakSource {
    LeakSource { place, reference: Celsius(25.0), per_kelvin: PerKelvin(growth) }
}

fn network(sources: &[(usize, f64, f64)]) -> LeakingNetwork {
    let around = Surroundings {
        ambient: Celsius(AMBIENT),
        ceiling: Celsius(250.0),
        sources: sources.iter().copied().map(source).collect(),
        sensors: vec![
            SensorLag { place: 0, time: Seconds(0.05) },
            SensorLag { place: 1, time: Seconds(0.0) },
        ],
    };
    LeakingNetwork::new(phone(), around).unwrap()
}

fn leakage() -> Vec<Watts> {
    SOURCES.iter().map(|(_, leakage, _)| Watts(*leakage)).collect()
}

fn segment<'a>(power: &'a [Watts], leakage: &'a [Watts], duration: f64) -> Segment<'a> {
    Segment { power, leakage, duration: Seconds(duration) }
}

/// Rises of the nodes, the lagged rise at node 0 and the energy of each source, by Runge and Kutta's
/// method of fourth order over the nodes themselves.
#[derive(Clone, Copy)]
struct Reference {
    values: [f64; 8],
}

impl Reference {
    fn slope(values: &[f64; 8], power: &[f64; 2]) -> [f64; 8] {
        let mut slope = [0.0; 8];
        let mut heat = [power[0], power[1], 0.0, -values[3] / TO_AIR];
        for (i, (place, leakage, growth)) in SOURCES.iter().enumerate() {
            let leak = leakage * (growth * (AMBIENT + values[*place] - 25.0)).exp();
            heat[*place] += leak;
            slope[5 + i] = leak;
        }
        for (one, other, resistance) in JOINS {
            let flow = (values[one] - values[other]) / resistance;
            heat[one] -= flow;
            heat[other] += flow;
        }
        for i in 0..4 {
            slope[i] = heat[i] / CAPACITIES[i];
        }
        slope[4] = (values[0] - values[4]) / 0.05;
        slope
    }

    fn advance(&mut self, power: [f64; 2], duration: f64) {
        let steps = (duration / 2e-4).ceil() as usize;
        let h = duration / steps as f64;
        let moved = |from: &[f64; 8], by: &[f64; 8], h: f64| {
            let mut to = *from;
            to.iter_mut().zip(by).for_each(|(to, by)| *to += h * by);
            to
        };
        for _ in 0..steps {
            let v = self.values;
            let a = Self::slope(&v, &power);
            let b = Self::slope(&moved(&v, &a, h / 2.0), &power);
            let c = Self::slope(&moved(&v, &b, h / 2.0), &power);
            let d = Self::slope(&moved(&v, &c, h), &power);
            for i in 0..8 {
                self.values[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
            }
        }
    }
}

/// The largest error of a temperature [K], of the sensor [K] and of the energy of a source [1] over
/// bursts of these lengths.
fn errors(lengths: &[f64]) -> (f64, f64, f64) {
    let network = network(&SOURCES);
    let leakage = leakage();
    let (mut state, mut reference) = (network.at_rest(), Reference { values: [0.0; 8] });
    let (mut burnt, mut worst) = ([0.0; 3], (0f64, 0f64, 0f64));
    for (i, length) in lengths.iter().enumerate() {
        let power = [[6.0, 0.0], [0.5, 3.0], [0.0, 0.2], [2.5, 2.5]][i % 4];
        let end = network.advance(&mut state, segment(&power.map(Watts), &leakage, *length));
        assert_eq!(end, Ok(HeatEnd::Whole));
        reference.advance(power, *length);
        for (burnt, leaked) in burnt.iter_mut().zip(state.leaked()) {
            *burnt += leaked.0;
        }
        for (place, known) in reference.values[..4].iter().enumerate() {
            let found = network.temperature(&mut state, place).0 - AMBIENT;
            worst.0 = worst.0.max((found - known).abs());
        }
        let sensed = network.sensed(&mut state, 0).0 - AMBIENT;
        worst.1 = worst.1.max((sensed - reference.values[4]).abs());
        assert_eq!(network.sensed(&mut state, 1), network.temperature(&mut state, 1));
    }
    for (burnt, known) in burnt.iter().zip(&reference.values[5..]) {
        worst.2 = worst.2.max((burnt / known - 1.0).abs());
    }
    worst
}

#[test]
fn bursts_of_any_length_follow_a_fine_integration() {
    // Short against the die, like it, long against it, and all of them.
    let cases: [(&[f64], f64); 4] = [
        (&[1e-3; 400], 1e-6),
        (&[0.03; 100], 1e-3),
        (&[2.0; 20], 1e-3),
        (&[1e-3, 0.5, 0.02, 4.0, 1e-4, 9.0, 0.3, 0.01, 12.0], 2e-3),
    ];
    for (lengths, kelvins) in cases {
        let (temperature, sensor, energy) = errors(lengths);
        assert!(temperature < kelvins, "{temperature} K");
        assert!(sensor < kelvins, "{sensor} K");
        assert!(energy < 5e-4, "{energy}");
    }
}

#[test]
fn without_leakage_it_is_the_linear_network() {
    let (network, modes) = (network(&[]), phone());
    let (mut state, mut linear) = (network.at_rest(), modes.at_rest());
    for (first, second, time) in [(8.0, 1.0, 0.01), (0.0, 0.0, 3.0), (2.0, 9.0, 500.0)] {
        let power = [Watts(first), Watts(second)];
        let end = network.advance(&mut state, segment(&power, &[], time));
        assert_eq!(end, Ok(HeatEnd::Whole));
        modes.advance(&mut linear, &power, Seconds(time));
        for (found, known) in network.rises(&mut state).iter().zip(modes.rises(&linear)) {
            assert!((found.0 - known.0).abs() < 1e-11, "{found} {known}");
        }
    }
}

#[test]
fn heat_that_came_is_stored_or_has_left() {
    // What leaves, leaves by node 3, and a source too small to matter shows its integral.
    let mut sources = SOURCES.to_vec();
    sources.push((3, 1e-3, 0.02));
    let network = network(&sources);
    let leakage: Vec<_> = sources.iter().map(|(_, leakage, _)| Watts(*leakage)).collect();
    let mut state = network.at_rest();
    let (mut came, mut left) = (0.0, 0.0);
    for i in 0..3000 {
        let power = [Watts(f64::from(i % 7)), Watts(f64::from(i % 3))];
        let time = 1e-3 * f64::from(1 + i % 5);
        let end = network.advance(&mut state, segment(&power, &leakage, time));
        assert_eq!(end, Ok(HeatEnd::Whole));
        let burnt: f64 = state.leaked().iter().map(|leaked| leaked.0).sum();
        came += time * (power[0].0 + power[1].0) + burnt;
        // Steps as short as these are taken whole.
        left += state.work.foreseen[2] / TO_AIR;
    }
    let rises = network.rises(&mut state);
    let stored: f64 = rises.iter().zip(CAPACITIES).map(|(rise, c)| rise.0 * c).sum();
    assert!((came / (stored + left) - 1.0).abs() < 1e-11, "{came} {stored} {left}");
    assert!(left > 0.001 * came);
}

#[test]
fn a_crossing_that_is_foreseen_is_met() {
    let network = network(&SOURCES);
    let leakage = leakage();
    let mut state = network.at_rest();
    let burst = [Watts(9.0), Watts(0.0)];
    network.advance(&mut state, segment(&burst, &leakage, 0.03)).unwrap();
    let start = network.temperature(&mut state, 0);
    for (place, above, power) in [(0, 3.0, 9.0), (0, 20.0, 6.0), (1, 2.0, 0.0), (2, 5.0, 3.0)] {
        let power = [Watts(power), Watts(0.0)];
        let threshold = match place {
            0 => Celsius(start.0 + above),
            _ => Celsius(network.temperature(&mut state, place).0 + above),
        };
        let whole = segment(&power, &leakage, 300.0);
        let found = network.next_crossing(&mut state, whole, place, threshold, Crossing::Upward);
        let Some(found) = found.unwrap() else {
            assert_eq!(
                (place, above),
                (1, 2.0),
                "only an idle die does not warm its neighbour so far"
            );
            continue;
        };
        let mut there = state.clone();
        network.advance(&mut there, Segment { duration: found, ..whole }).unwrap();
        let met = network.temperature(&mut there, place).0 - threshold.0;
        assert!(met.abs() < 1e-3, "{place} {threshold}: {met} K at {found}");
    }
    let idle = [Watts(0.0)];
    let cooling = segment(&idle, &leakage, 300.0);
    let threshold = Celsius(start.0 - 4.0);
    let down = network.next_crossing(&mut state, cooling, 0, threshold, Crossing::Downward);
    let down = down.unwrap().unwrap();
    network.advance(&mut state, Segment { duration: down, ..cooling }).unwrap();
    assert!((network.temperature(&mut state, 0).0 - threshold.0).abs() < 1e-5);
}

#[test]
fn what_a_bound_rules_out_does_not_happen() {
    let network = network(&SOURCES);
    let leakage = leakage();
    let mut state = network.at_rest();
    let (mut ruled_out, mut reached) = (0, 0);
    for i in 0..60 {
        let power = [Watts(f64::from(i % 5) * 2.0), Watts(f64::from(i % 3))];
        let duration = [0.003, 0.05, 1.0][i as usize % 3];
        let now = network.temperature(&mut state, 0).0;
        for above in [0.5, 2.0, 8.0, 30.0] {
            let threshold = Celsius(now + above);
            let segment = segment(&power, &leakage, duration);
            let mut there = state.clone();
            let mut hottest = f64::MIN;
            for _ in 0..40 {
                let duration = Seconds(duration / 40.0);
                network.advance(&mut there, Segment { duration, ..segment }).unwrap();
                hottest = hottest.max(network.temperature(&mut there, 0).0);
            }
            let may = network.may_reach(&mut state, segment, 0, threshold);
            assert!(may || hottest < threshold.0, "{hottest} against {threshold}");
            ruled_out += usize::from(!may);
            reached += usize::from(hottest >= threshold.0);
        }
        network.advance(&mut state, segment(&power, &leakage, duration)).unwrap();
    }
    assert!(ruled_out > 60 && reached > 30, "{ruled_out} {reached}");
}

#[test]
fn runaway_is_told_and_ends_at_the_ceiling() {
    let network = network(&SOURCES);
    let leakage = leakage();
    let mut state = network.at_rest();
    // 10 K/W to the air: far beyond what a steady temperature exists for.
    let hot = [Watts(12.0), Watts(6.0)];
    let mut told = None;
    let mut end = HeatEnd::Whole;
    for second in 0..4000 {
        end = network.advance(&mut state, segment(&hot, &leakage, 1.0)).unwrap();
        if end == HeatEnd::RunningAway {
            told.get_or_insert(second);
        }
        if matches!(end, HeatEnd::Ceiling { .. }) {
            break;
        }
    }
    assert!(told.is_some(), "it is seen before it gets there");
    let HeatEnd::Ceiling { after, place } = end else { panic!("{end:?}") };
    assert!(after.0 > 0.0 && after.0 <= 1.0 && place < 2);
    assert!((network.temperature(&mut state, place).0 - 250.0).abs() < 1e-6);
    // It stands there for as long as it would go on, and cools once the power is gone.
    let still = network.advance(&mut state, segment(&hot, &leakage, 1.0));
    assert!(matches!(still, Ok(HeatEnd::Ceiling { after: Seconds(0.0), .. })), "{still:?}");
    let off = network.advance(&mut state, segment(&[], &[], 600.0));
    assert_eq!(off, Ok(HeatEnd::Whole));
    assert!(network.temperature(&mut state, 0).0 < 60.0);
    // The whole of it in one call ends as well.
    let mut again = network.at_rest();
    let end = network.advance(&mut again, segment(&hot, &leakage, 1e9)).unwrap();
    assert!(matches!(end, HeatEnd::Ceiling { .. }), "{end:?}");
}

#[test]
fn what_settles_is_not_said_to_run_away() {
    let network = network(&SOURCES);
    let leakage = leakage();
    let mut state = network.at_rest();
    let power = [Watts(1.0), Watts(1.0)];
    let end = network.advance(&mut state, segment(&power, &leakage, 1e5));
    assert_eq!(end, Ok(HeatEnd::Whole));
    // Steady: what comes leaves by the last resistance.
    let burnt: f64 = (0..3).map(|i| network.leakage(&mut state, i, leakage[i]).0).sum();
    let left = (network.temperature(&mut state, 3).0 - AMBIENT) / TO_AIR;
    assert!((2.0 + burnt - left).abs() < 1e-6, "{burnt} {left}");
}

#[test]
fn a_state_that_was_written_down_goes_on_with_the_same_bits() {
    let network = network(&SOURCES);
    let (leakage, hot) = (leakage(), [Watts(7.0), Watts(1.0)]);
    let mut state = network.at_rest();
    network.advance(&mut state, segment(&hot, &leakage, 3.0)).unwrap();
    assert!(!state.remembered.is_empty(), "slopes have moved");
    let text = serde_json::to_string(&state).unwrap();
    let mut again: LeakingState = serde_json::from_str(&text).unwrap();
    for i in 0..50 {
        let power = [Watts(f64::from(i % 9))];
        // Every other time all of it is awake, ten times as large.
        let awake = |leakage: &Watts| *leakage * f64::from(1 + 9 * (i % 2));
        let leakage: Vec<_> = leakage.iter().map(awake).collect();
        for state in [&mut state, &mut again] {
            network.advance(state, segment(&power, &leakage, 0.02)).unwrap();
        }
        assert_eq!(state.leaked(), again.leaked());
        assert_eq!(network.rises(&mut state), network.rises(&mut again));
        assert_eq!(network.sensed(&mut state, 0), network.sensed(&mut again, 0));
    }
}

#[test]
fn what_is_no_number_is_refused_and_changes_nothing() {
    let network = network(&SOURCES);
    let leakage = leakage();
    let mut state = network.at_rest();
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(network.advance(&mut state, segment(&[Watts(bad)], &leakage, 1.0)).is_err());
        assert!(network.advance(&mut state, segment(&[], &[Watts(bad)], 1.0)).is_err());
        assert!(network.advance(&mut state, segment(&[], &leakage, bad)).is_err());
    }
    assert!(network.advance(&mut state, segment(&[], &leakage, -1.0)).is_err());
    assert_eq!(network.temperature(&mut state, 0), Celsius(AMBIENT));
    // Beyond all bounds it is the ceiling that ends it.
    let end = network.advance(&mut state, segment(&[Watts(1e300)], &leakage, 1.0)).unwrap();
    assert!(matches!(end, HeatEnd::Ceiling { .. }), "{end:?}");
    let around = |sources, sensors, ceiling| {
        let ambient = Celsius(AMBIENT);
        let around = Surroundings { ambient, ceiling: Celsius(ceiling), sources, sensors };
        LeakingNetwork::new(phone(), around).is_ok()
    };
    assert!(around(vec![source(SOURCES[0])], Vec::new(), 150.0));
    assert!(!around(vec![source((4, 1.0, 0.02))], Vec::new(), 150.0));
    assert!(!around(vec![source((0, 1.0, f64::NAN))], Vec::new(), 150.0));
    assert!(!around(Vec::new(), vec![SensorLag { place: 9, time: Seconds(0.1) }], 150.0));
    assert!(!around(Vec::new(), vec![SensorLag { place: 0, time: Seconds(-0.1) }], 150.0));
    assert!(!around(Vec::new(), Vec::new(), AMBIENT));
}
