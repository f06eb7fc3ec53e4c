use super::*;
use crate::cost::Setting;
use crate::hardware::{profile_text, shipped_profiles};
use crate::mapping::Network;
use crate::model::{Bindings, load};
use crate::uncertainty::{Figure, linearised};

const TREE: &str = "domains.core.clock_tree.Charge";
const BUSY: &str = "engines.cortex_m4.energy.per_busy_cycle.Charge";

fn found(numbers: &[(&str, f64)], covariance: &[&[f64]]) -> Fitted {
    let size = numbers.len();
    Fitted {
        numbers: numbers
            .iter()
            .map(|(path, factor)| FittedFactor { path: (*path).into(), factor: *factor })
            .collect(),
        covariance: DMatrix::from_fn(size, size, |i, j| covariance[i][j]),
    }
}

/// Two numbers of 3 and 5 % that go against each other.
fn pair() -> Fitted {
    let (a, b) = (1.03f64.ln(), 1.05f64.ln());
    let both = -0.9 * a * b;
    found(&[(TREE, 1.002_34), (BUSY, 0.9)], &[&[a * a, both], &[both, b * b]])
}

fn written(file: &str, text: &str, fitted: &Fitted, name: &str) -> String {
    fitted_text(file, text, fitted, name, "two captures").unwrap_or_else(|e| panic!("{e}"))
}

fn read(file: &str, text: &str) -> Profile {
    Profile::parse(file, text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Name, value and literal without its spread of every number.
fn values(profile: &Profile) -> BTreeMap<String, (f64, Option<String>)> {
    let records = profile.parameters().into_iter();
    records.map(|r| (r.name, (r.parameter.value, r.parameter.source))).collect()
}

const POSTERIOR: &str = r#"posterior: (
    numbers: [
      "domains.core.clock_tree.Charge",
      "engines.cortex_m4.energy.per_busy_cycle.Charge",
    ],
    factor: [
      [0.0295588],
      [-0.0439111, 0.0212671],
    ],
  )"#;

fn source() -> String {
    format!(
        "(kind: Fitted, citation: \"joulecast calibrate bench, version {}: two captures\", condition: \"before: {TREE} 172 uA/MHz ±12% @waiting; {BUSY} 30 uA/MHz ±30% @working\")",
        env!("CARGO_PKG_VERSION")
    )
}

#[test]
fn literals_source_and_block_are_written_in_place() {
    let (file, text) = profile_text("stm32l4r5").unwrap();
    let out = written(&file, &text, &pair(), "bench");
    for (line, before) in [
        (r#"Charge("172.4 uA/MHz ±3% @fit-bench"),"#, r#"Charge("172 uA/MHz ±12% @waiting"),"#),
        (
            r#"(per_busy_cycle: Charge("27 uA/MHz ±5% @fit-bench"))"#,
            r#"(per_busy_cycle: Charge("30 uA/MHz ±30% @working"))"#,
        ),
    ] {
        assert!(out.contains(line) && text.contains(before), "{line}");
    }
    assert!(out.contains(&format!("\n    \"fit-bench\": {},\n  }},", source())), "{out}");
    assert!(out.ends_with(&format!("\n  {POSTERIOR},\n)\n")), "{out}");
    // Of the lines that were there, two have changed.
    let lines: BTreeSet<&str> = out.lines().collect();
    assert_eq!(text.lines().filter(|line| !lines.contains(line)).count(), 2);
}

#[test]
fn what_is_inherited_is_overridden_by_the_least() {
    let text = "(\n  extends: \"stm32l4r5\", // as it ships\n  name: \"mine\",\n)\n";
    let expected = format!(
        "(\n  extends: \"stm32l4r5\", // as it ships\n  name: \"mine\",\n  domains: [(name: \"core\", clock_tree: Charge(\"172.4 uA/MHz ±3% @fit-bench\"))],\n  engines: [(name: \"cortex_m4\", energy: (per_busy_cycle: Charge(\"27 uA/MHz ±5% @fit-bench\")))],\n  sources: {{\"fit-bench\": {}}},\n  {POSTERIOR},\n)\n",
        source()
    );
    assert_eq!(written("mine.ron", text, &pair(), "bench"), expected);
}

#[test]
fn what_is_read_back_is_what_was_fitted() {
    for text in [profile_text("stm32l4r5").unwrap().1.as_ref(), "(extends: \"stm32l4r5\")"] {
        let (before, after) =
            (read("a.ron", text), read("a.ron", &written("a.ron", text, &pair(), "b")));
        for ((name, (old, source)), (again, (new, now))) in
            values(&before).into_iter().zip(values(&after))
        {
            assert_eq!(name, again);
            let factor = pair().numbers.iter().find(|n| n.path == name).map(|n| n.factor);
            assert!((new / old / factor.unwrap_or(1.0) - 1.0).abs() < 5e-5 || old == new, "{name}");
            assert_eq!(now, factor.map_or(source, |_| Some("fit-b".into())), "{name}");
        }
        assert_eq!(after.links().posterior.len(), 2);
    }
}

fn energy_deviation(profile: &Profile) -> f64 {
    let network = Network::of(&load("kws_ds_cnn", &Bindings::default()).unwrap()).unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    let setting = Setting { profile, point: &point, stacks: &stacks };
    linearised(&network, setting).sigma[&Figure::Energy].up
}

#[test]
fn the_interval_is_the_same_however_often_it_is_written() {
    let text = "(extends: \"stm32l4r5\")";
    let once = written("a.ron", text, &pair(), "b");
    let same = Fitted {
        numbers: pair().numbers.into_iter().map(|n| FittedFactor { factor: 1.0, ..n }).collect(),
        ..pair()
    };
    let again = written("a.ron", &once, &same, "c");
    let [one, two] = [&once, &again].map(|text| energy_deviation(&read("a.ron", text)));
    assert!((one / two - 1.0).abs() < 1e-6, "{one} {two}");
    let apart =
        Fitted { covariance: DMatrix::from_diagonal(&pair().covariance.diagonal()), ..pair() };
    let apart = energy_deviation(&read("a.ron", &written("a.ron", text, &apart, "b")));
    assert!(apart > one * 1.0001, "{apart} {one}");
}

#[test]
fn a_fitted_profile_is_fitted_again() {
    let first = written("a.ron", "(extends: \"stm32l4r5\")", &pair(), "one");
    // The same name, all of its numbers: the entry is replaced.
    let same = written("a.ron", &first, &pair(), "one");
    assert_eq!(same.matches("\"fit-one\": ").count(), 1);
    assert!(
        same.contains("before: domains.core.clock_tree.Charge 172.4 uA/MHz ±3% @fit-one;"),
        "{same}"
    );
    // Another name, some of its numbers: both stay, and what the first said of the other number.
    let half = found(&[(TREE, 0.5)], &[&[0.0004]]);
    let second = written("a.ron", &first, &half, "two");
    let profile = read("a.ron", &second);
    assert!(second.contains("\"fit-one\": ") && second.contains("\"fit-two\": "), "{second}");
    let block = profile.spec().posterior.as_ref().unwrap();
    assert_eq!(block.numbers, [BUSY, TREE]);
    let expected = [vec![1.05f64.ln()], vec![0.0, 0.02]];
    for (row, expected) in block.factor.iter().zip(&expected) {
        assert!(row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{row:?}");
    }
    // The rest under a third: nothing cites the first any more.
    let third = written("a.ron", &second, &found(&[(BUSY, 1.0)], &[&[0.0001]]), "three");
    assert!(!third.contains("\"fit-one\": ") && third.contains("\"fit-two\": "), "{third}");
    read("a.ron", &third);
    // A name that another number cites is taken.
    let taken = fitted_text("a.ron", &first, &half, "one", "").unwrap_err();
    assert!(matches!(taken, FittedError::Taken { ref path, .. } if path == BUSY), "{taken}");
}

#[test]
fn a_number_that_follows_from_another_is_written_so() {
    let all = found(&[(TREE, 1.1), (BUSY, 0.9)], &[&[0.0009, 0.0018], &[0.0018, 0.0036]]);
    let profile = read("a.ron", &written("a.ron", "(extends: \"stm32l4r5\")", &all, "b"));
    let block = profile.spec().posterior.as_ref().unwrap();
    assert_eq!(block.factor, [vec![0.03], vec![0.06, 0.0]]);
}

#[test]
fn every_shipped_profile_can_be_fitted() {
    for shipped in shipped_profiles() {
        let profile = Profile::parse(shipped.path, shipped.text).unwrap();
        let records = profile.parameters();
        let moves = |r: &&ParameterRecord| {
            matches!(r.parameter.spread, Some(Spread::LogNormal(s)) if s > 0.0)
                && r.parameter.value > 0.0
        };
        // Clocks and voltages have an order among them.
        let blocks = ["domains.", "engines.", "software."];
        let factor = |name: &str| {
            if blocks.iter().any(|block| name.starts_with(block)) { 0.997 } else { 1.0 }
        };
        let some = records.iter().filter(moves).step_by(4);
        let numbers: Vec<(&str, f64)> =
            some.map(|record| (record.name.as_str(), factor(&record.name))).collect();
        let covariance = DMatrix::from_diagonal_element(numbers.len(), numbers.len(), 0.0001);
        let fitted =
            Fitted { covariance, ..found(&numbers, &vec![&[0.0; 999][..]; numbers.len()]) };
        let over = format!("(extends: {})", quoted(shipped.name));
        for (file, text) in [(shipped.path, shipped.text), ("mine.ron", &over)] {
            let after = read(file, &written(file, text, &fitted, "all"));
            assert_eq!(after.links().posterior.len(), numbers.len(), "{}", shipped.name);
        }
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let text = "(extends: \"stm32l4r5\")";
    let refused = |fitted: &Fitted, name: &str| {
        fitted_text("a.ron", text, fitted, name, "").unwrap_err().to_string()
    };
    let one = |path: &str, factor: f64| found(&[(path, factor)], &[&[0.01]]);
    let near = refused(&one("domains.core.clock_tre.Charge", 1.0), "x");
    assert!(near.ends_with("did you mean `domains.core.clock_tree.Charge`?"), "{near}");
    assert!(refused(&one(TREE, 1.0), "a b").contains("cannot be the name of a fit"));
    assert!(refused(&one("temperature", 1.0), "x").contains("cannot be moved by a factor of 1"));
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&one(TREE, factor), "x").contains("cannot be moved"), "{factor}");
    }
    let twice = found(&[(TREE, 1.0), (TREE, 1.0)], &[&[1.0, 0.0], &[0.0, 1.0]]);
    assert!(refused(&twice, "x").contains("fitted twice"));
    let none = Fitted { covariance: DMatrix::zeros(2, 2), ..one(TREE, 1.0) };
    assert!(refused(&none, "x").contains("the covariance of 1 numbers is none"));
    let efficiency = one("regulators.smps.kind.Switching.efficiency", 2.0);
    let unsound = refused(&efficiency, "x");
    assert!(unsound.contains("not sound") && unsound.contains("100 %"), "{unsound}");
}
