//! Profiles that extend another one: what holds, and where faults are shown.

use crate::command_line::joulecast;
use crate::errors::{file, refused};
use joulecast::hardware::{Array, Profile, RegulatorKind, shipped_profiles, shipped_software};
use joulecast::units::{Hertz, Volts};
use std::path::Path;

fn shipped(name: &str) -> &'static str {
    shipped_profiles().iter().find(|p| p.name == name).unwrap().text
}

fn read(text: &str) -> Profile {
    Profile::parse("mine.ron", text).unwrap_or_else(|e| panic!("{e}"))
}

/// `name: value` for every number of a profile.
fn numbers(profile: &Profile) -> Vec<(String, String)> {
    profile.parameters().into_iter().map(|r| (r.path, r.parameter.written)).collect()
}

fn check(place: &Path, name: &str, text: &str) -> String {
    refused(&["hardware", "check", &file(place, name, text.as_bytes())])
}

/// Line and column of `words` in a text, as errors write them.
fn place_of(file: &str, text: &str, words: &str) -> String {
    let at = text.find(words).unwrap_or_else(|| panic!("{words}"));
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = text[..at].matches('\n').count() + 1;
    format!("{file}:{line}:{}\n", text[start..at].chars().count() + 1)
}

#[test]
fn a_profile_that_says_nothing_is_what_it_extends() {
    for base in shipped_profiles() {
        let profile = read(&format!("(extends: \"{}\")", base.name));
        let alone = Profile::parse(base.path, base.text).unwrap();
        assert_eq!(numbers(&profile), numbers(&alone));
        assert_eq!(profile.links(), alone.links());
        assert_eq!(profile.spec().name, base.name);
        // With all that the base extends behind it.
        let mut chain = vec![base.path.to_owned()];
        chain.extend(alone.extends().iter().map(ToString::to_string));
        assert_eq!(profile.extends(), chain);
    }
}

#[test]
fn one_number_is_overridden_and_all_others_stay() {
    let profile = read(
        r#"(extends: "stm32l4r5", name: "faster", // a comment: (
            domains: [(name: "core", /* not "rail": */ nominal_voltage: "1.3 V @hal_l4")])"#,
    );
    let alone = Profile::load("stm32l4r5").unwrap();
    let changed: Vec<_> = numbers(&profile)
        .into_iter()
        .zip(numbers(&alone))
        .filter(|(mine, theirs)| mine != theirs)
        .map(|(mine, _)| mine.0)
        .collect();
    assert_eq!(changed, ["domains[0].nominal_voltage"]);
    assert_eq!(profile.spec().domains[0].nominal_voltage.get(), Volts(1.3));
    assert_eq!(profile.spec().name, "faster");
}

#[test]
fn items_of_a_name_are_laid_over_in_place_and_new_ones_come_behind() {
    let profile = read(
        r#"(
          extends: "stm32l4r5",
          sources: {"bench": (kind: Measured, citation: "mine")},
          operating_points: [
            (name: "80mhz_1v8", clocks: {"hclk": "72 MHz @bench"}),
            (name: "48mhz", clocks: {"hclk": "48 MHz @bench"}, voltages: {"vdd": "1.8 V @bench", "vcore": "1.2 V @bench"}),
          ],
          regulators: [(name: "ldo", operating_points: ["120mhz_1v8", "120mhz_3v0", "80mhz_1v8", "80mhz_3v0", "26mhz_1v8", "26mhz_3v0", "48mhz"])],
          domains: [(name: "core", states: [(name: "sleep", wake_time: "1 us @bench")])],
        )"#,
    );
    let names = |profile: &Profile| -> Vec<String> {
        profile.spec().operating_points.iter().map(|p| p.name.clone()).collect()
    };
    let mut expected = names(&Profile::load("stm32l4r5").unwrap());
    expected.push("48mhz".to_owned());
    assert_eq!(names(&profile), expected);
    let slower = profile.point(Some("80mhz_1v8")).unwrap();
    assert_eq!(slower.clocks[0].0, Hertz(72e6));
    assert_eq!(slower.voltages[1].0, Volts(1.2), "of the shipped profile");
    let sleep = &profile.spec().domains[0].states[0];
    assert!(sleep.per_cycle.is_some() && sleep.wake_time.is_some());
}

#[test]
fn a_variant_keeps_its_other_fields_and_another_one_replaces_it() {
    let array = |text: &str| read(text).spec().engines[0].array.clone();
    let smaller =
        array(r#"(extends: "eyeriss", engines: [(name: "pe_array", array: Systolic(rows: 16))])"#);
    let Array::Systolic(smaller) = smaller else { panic!("{smaller:?}") };
    assert_eq!((smaller.rows, smaller.columns), (16, 14));
    assert!(smaller.scratchpads.is_some());
    let lanes = array(
        r#"(extends: "eyeriss", engines: [(name: "pe_array", array: Lanes(macs: {Int16: "2 MAC/cycle"}))])"#,
    );
    assert!(matches!(lanes, Array::Lanes { .. }));
    let kind = read(
        r#"(extends: "stm32l4r5", regulators: [(name: "smps", kind: Switching(efficiency: "90 % @smps"))])"#,
    );
    let RegulatorKind::Switching(switching) = &kind.spec().regulators[1].kind else {
        panic!("{kind:?}")
    };
    assert!((switching.efficiency.get().0 - 0.9).abs() < 1e-12);
}

#[test]
fn a_source_is_replaced_with_all_that_it_says() {
    let profile =
        read(r#"(extends: "stm32l4r5", sources: {"runtime": (kind: Measured, citation: "mine")})"#);
    let source = &profile.spec().sources["runtime"];
    assert!(source.condition.is_none() && source.common.is_none());
    assert!(profile.spec().sources.contains_key("element"));
}

#[test]
fn what_is_left_out_is_gone() {
    let profile = read(
        r#"(
          extends: "stm32l4r5",
          without: ["regulators.smps", "operating_points.120mhz_3v0_smps", "domains.core.states.stop2", "software.any-runtime"],
        )"#,
    );
    let base = Profile::load("stm32l4r5").unwrap();
    let (spec, base) = (profile.spec(), base.spec());
    assert_eq!(spec.regulators.len(), base.regulators.len() - 1);
    assert_eq!(spec.operating_points.len(), base.operating_points.len() - 1);
    assert_eq!(spec.domains[0].states.len(), base.domains[0].states.len() - 1);
    assert_eq!(spec.software.len(), base.software.len() - 1);
    assert!(spec.regulators.iter().all(|r| r.name != "smps"));
    assert!(spec.operating_points.iter().all(|p| p.name != "120mhz_3v0_smps"));
    assert!(spec.domains[0].states.iter().all(|s| s.name != "stop2"));
    assert!(spec.software.iter().all(|s| s.name != "any-runtime"));
}

#[test]
fn a_chain_is_laid_file_on_file_from_the_folder_of_each() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("vendor")).unwrap();
    let ground =
        "(extends: \"eyeriss\", name: \"ground\", description: \"d\", temperature: \"30 degC\")";
    file(&place.path().join("vendor"), "ground.ron", ground.as_bytes());
    let middle = "(extends: \"./ground.ron\", name: \"middle\", description: \"of the middle\")";
    let middle = file(&place.path().join("vendor"), "middle.ron", middle.as_bytes());
    let top = file(place.path(), "top.ron", b"(extends: \"vendor/middle.ron\", name: \"top\")");
    let profile = Profile::load(&top).unwrap();
    let spec = profile.spec();
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("top", "of the middle"));
    assert_eq!(profile.extends().len(), 3);
    assert!(profile.extends()[1].ends_with("vendor/ground.ron"), "{:?}", profile.extends());
    // From any folder, and by an absolute path.
    let far = tempfile::tempdir().unwrap();
    let far = file(far.path(), "far.ron", format!("(extends: {middle:?})").as_bytes());
    assert_eq!(Profile::load(&far).unwrap().spec().name, "middle");
    let shown = joulecast(&["hardware", "show", &top]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("laid over") && shown.contains("hardware_profiles/eyeriss.ron"),
        "{shown}"
    );
}

#[test]
fn faults_are_shown_in_the_file_that_says_them() {
    let place = tempfile::tempdir().unwrap();
    let base = shipped("stm32l4r5")
        .replacen("capacity: \"640 KiB", "capacity: \"640 mA", 1)
        .replacen("domain: \"core\", capacity: \"2 MiB", "domain: \"cor\", capacity: \"2 MiB", 1);
    file(place.path(), "base.ron", base.as_bytes());
    let mine = r#"(
  extends: "base.ron", // µ
  name: "mine",
  domains: [(name: "core", /* µ */ rail: "vcor")],
  engines: [(name: "cortex_m4", dispatch: "10 mV")],
)"#;
    let said = check(place.path(), "mine.ron", mine);
    for (file, text, words) in [
        ("mine.ron", mine, "\"vcor\""),
        ("mine.ron", mine, "mV"),
        ("base.ron", &base, "mA @zephyr\", holds"),
        ("base.ron", &base, "\"cor\""),
    ] {
        assert!(said.contains(&place_of(file, text, words)), "{words}\n{said}");
    }
    assert!(said.contains("mine.ron extends this file"), "{said}");
    assert!(said.contains("4 faults: 2 in") && said.contains(", 2 in"), "{said}");
    assert!(said.find("base.ron:") > said.rfind("mine.ron:"), "file by file: {said}");
}

#[test]
fn what_the_parser_refuses_is_shown_in_the_file_that_says_it() {
    let place = tempfile::tempdir().unwrap();
    let eyeriss = shipped("eyeriss");
    for (base, mine, file_of, words, message) in [
        (eyeriss.replacen("clock: \"link\"", "clok: \"link\"", 1), "(extends: \"base.ron\")".to_owned(), "base.ron", "clok", "did you mean `clock`?"),
        (eyeriss.to_owned(), "(\n extends: \"base.ron\",\n engines: [(name: \"pe_array\", array: Systolic(rowz: 3))])".to_owned(), "mine.ron", "rowz", "did you mean `rows`?"),
        (eyeriss.to_owned(), "(\n extends: \"base.ron\",\n engines: [(name: \"pe_array\", array: Systolic(rows: 1.5))])".to_owned(), "mine.ron", "1.5", "expected a whole number"),
        (eyeriss.to_owned(), "(\n extends: \"base.ron\",\n rails: [(name: \"x\"), (nam: \"y\")])".to_owned(), "mine.ron", "nam:", "has no field `nam`"),
        (eyeriss.to_owned(), "(\n extends: \"base.ron\",\n without: [\"memories.glb.domain\"])".to_owned(), "base.ron", "), (name: \"glb", "needs a field `domain`"),
        (eyeriss.replacen("rows: 12", "rows: 12 12", 1), "(extends: \"base.ron\")".to_owned(), "base.ron", "12 12", "comma"),
        (eyeriss.to_owned(), "(\n extends: \"base.ron\",\n rails: [(name: \"x]\n)".to_owned(), "mine.ron", "\"x]", "does not end"),
    ] {
        file(place.path(), "base.ron", base.as_bytes());
        let said = check(place.path(), "mine.ron", &mine);
        assert!(said.contains(message), "{message}\n{said}");
        let text = if file_of == "base.ron" { &base } else { &mine };
        let line = place_of(file_of, text, words.trim_start_matches("), "));
        let line = line.split(':').nth(1).unwrap();
        assert!(said.contains(&format!("{file_of}:{line}:")), "{words} {line}\n{said}");
    }
}

#[test]
fn a_reference_of_the_base_to_what_the_file_takes_out_is_shown_in_the_base() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "base.ron", shipped("stm32l4r5").as_bytes());
    let mine = "(extends: \"./base.ron\", without: [\"memories.flash\"])";
    let said = check(place.path(), "mine.ron", mine);
    assert!(said.contains("no memory is called `flash`"), "{said}");
    let base = shipped("stm32l4r5");
    let at = place_of("base.ron", base, "\"flash\"],");
    assert!(said.contains(&at) && said.contains("mine.ron extends this file"), "{at}{said}");
}

#[test]
fn a_number_with_a_source_of_neither_file_is_shown_where_it_is_written() {
    let place = tempfile::tempdir().unwrap();
    let mine = "(\n  extends: \"stm32l4r5\",\n  without: [\"sources.bus\"],\n)";
    let said = check(place.path(), "mine.ron", mine);
    let base = shipped("stm32l4r5");
    let line = base.lines().position(|l| l.contains("@bus")).unwrap() + 1;
    assert!(said.contains(&format!("hardware_profiles/stm32l4r5.ron:{line}:")), "{said}");
    assert!(said.contains("no source is called `bus`"), "{said}");
}

#[test]
fn profiles_that_extend_one_another_are_named() {
    let place = tempfile::tempdir().unwrap();
    file(place.path(), "a.ron", b"(extends: \"b.ron\")");
    let said = check(place.path(), "b.ron", "(\n  extends: \"./a.ron\")");
    assert!(said.contains("b.ron -> ") && said.matches("a.ron").count() >= 2, "{said}");
    assert!(said.contains("a.ron:1:11") && said.contains("profiles extend one another"), "{said}");
    let said = check(place.path(), "c.ron", "(extends: \"c.ron\")");
    assert!(said.contains("c.ron:1:11") && said.contains("c.ron -> "), "{said}");
}

#[test]
fn a_file_of_the_name_of_a_shipped_profile_may_extend_it() {
    let place = tempfile::tempdir().unwrap();
    let mine = file(place.path(), "eyeriss.ron", b"(extends: \"eyeriss\", description: \"mine\")");
    let profile = Profile::load(&mine).unwrap();
    assert_eq!(
        (profile.spec().name.as_str(), profile.spec().description.as_str()),
        ("eyeriss", "mine")
    );
}

#[test]
fn a_chain_has_an_end() {
    let place = tempfile::tempdir().unwrap();
    let link = |i: usize, base: &str| {
        file(place.path(), &format!("{i}.ron"), format!("(extends: \"{base}\")").as_bytes())
    };
    let mut last = link(1, "eyeriss");
    for i in 2..=16 {
        last = link(i, &format!("{}.ron", i - 1));
    }
    let fifteen = place.path().join("15.ron");
    assert_eq!(Profile::load(fifteen.to_str().unwrap()).unwrap().extends().len(), 15);
    assert!(refused(&["hardware", "check", &last]).contains("16th profile of a chain"));
}

#[test]
fn what_is_extended_and_is_not_there_suggests_the_nearest() {
    let place = tempfile::tempdir().unwrap();
    let said = check(place.path(), "mine.ron", "(\n  extends: \"stm32l4r6\",\n)");
    assert!(said.contains("no hardware profile is called `stm32l4r6`"), "{said}");
    assert!(said.contains("mine.ron:2:12") && said.contains("^^^^^^^^^^^ extends"), "{said}");
    assert!(said.contains("did you mean `stm32l4r5`"), "{said}");
    let said = check(place.path(), "mine.ron", "(extends: \"./stm32l4r5.ron\")");
    assert!(said.contains("cannot read ") && said.contains("mine.ron:1:11"), "{said}");
    assert!(said.contains("did you mean `stm32l4r5`"), "{said}");
    let first = shipped_profiles()[0].name;
    assert!(
        check(place.path(), "mine.ron", "(extends: \"\")")
            .contains(&format!("these ship: {first}, "))
    );
    assert!(check(place.path(), "mine.ron", "(extends: 3)").contains("in quotes"));
    let said = check(place.path(), "mine.ron", "(extend: \"eyeriss\")");
    assert!(said.contains("did you mean `extends`?"), "{said}");
    let said = check(
        place.path(),
        "mine.ron",
        &shipped("eyeriss").replacen("(\n", "(without: [\"a\"],\n", 1),
    );
    assert!(said.contains("nothing to take out of"), "{said}");
}

#[test]
fn what_cannot_be_read_is_said_where_it_is_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("folder.ron")).unwrap();
    file(place.path(), "noise.ron", b"(name: \"\xff\xfe\")");
    for (base, message) in [("folder.ron", "it is no file"), ("noise.ron", "valid UTF-8")] {
        let said = check(place.path(), "mine.ron", &format!("(extends: \"{base}\")"));
        assert!(said.contains(message) && said.contains("mine.ron:1:11"), "{said}");
    }
}

#[test]
fn a_path_that_takes_out_nothing_has_a_caret_and_the_nearest() {
    let place = tempfile::tempdir().unwrap();
    let mine = "(\n  extends: \"stm32l4r5\",\n  without: [\"regulators.smsp\", \"domains.core.states.stop2\"],\n)";
    let said = check(place.path(), "mine.ron", mine);
    assert!(said.contains("mine.ron:3:13") && said.contains("^ without[0]"), "{said}");
    assert!(said.contains("hardware_profiles/stm32l4r5.ron has nothing called"), "{said}");
    assert!(said.contains("did you mean `regulators.smps`?"), "{said}");
}

const SMALL: &str = r##"#![enable(implicit_some)]
/* a /* nested */ comment */ (
  extends: "eyeriss", // and another (
  without: ["domains.dram.voltage_exponent", r"memories.glb.holds"],
  name: "µ\"small\"", description: r#"raw "quoted" ("#,
  sources: {"mine": (kind: Assumed, citation: "none"), r"own": (kind: Derived, citation: "'")},
  engines: [(name: "pe_array", array: Systolic((rows: 16)), energy: (per_mac: {Int16: "2 pJ"}))],
)"##;

/// Depth and length that no profile has, and that must neither end the program nor take for ever.
#[test]
fn an_extending_profile_of_any_size_is_answered() {
    let nested = |open: &str, close: &str, depth: usize| {
        let text = [&open.repeat(depth), "1", &close.repeat(depth)].concat();
        let text = format!("(extends: \"eyeriss\", name: {text})");
        assert!(!Profile::parse("deep.ron", &text).unwrap_err().to_string().is_empty());
    };
    for depth in [100, 119, 125, 130, 20_000] {
        nested("[", "]", depth);
        nested("A(", ")", depth);
        nested("(a: ", ")", depth);
        nested("{1: ", "}", depth);
        nested("Some(", ")", depth);
        nested("/*", "*/", depth);
    }
    let sources: String =
        (0..20_000).map(|i| format!("\"s{i}\": (kind: Assumed, citation: \"c\"),")).collect();
    let long = "x".repeat(100_000);
    let text = format!("(extends: \"eyeriss\", name: \"{long}\", sources: {{{sources}}})");
    assert!(read(&text).spec().sources.len() > 20_000);
    let text =
        format!("(extends: \"eyeriss\", without: [\"{long}\", \"{}\"])", "rails.".repeat(20_000));
    assert!(Profile::parse("long.ron", &text).unwrap_err().to_string().contains("2 faults"));
}

/// Whatever is left of a file, the answer is a profile or an error that can be shown.
#[test]
fn an_extending_profile_cut_or_changed_anywhere_never_panics() {
    let tried = |text: &str| {
        if let Err(error) = Profile::parse("cut.ron", text) {
            assert!(!error.to_string().is_empty());
        }
    };
    for at in (0..=SMALL.len()).filter(|&i| SMALL.is_char_boundary(i)) {
        tried(&SMALL[..at]);
        tried(&SMALL[at..]);
        for word in ["\"", "(", ")", "]", ",", "/*", "//", "'", "r#", "\\", "é", ":", "Some("] {
            tried(&[&SMALL[..at], word, &SMALL[at..]].concat());
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_fields_over_a_shipped_profile_are_an_error_or_a_profile(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "name", "engines", "sources", "without", "rails", "extends", ":", ",", "(", ")", "[",
                "]", "{", "}", "\"eyeriss\"", "\"rails.vdd_core\"", "Some", "Systolic", "1.5", "r#\"",
                "\"#", "/*", "*/", "//", "\n", "'", "µ", "b\"", "-", "name: \"pe_array\"",
            ]),
            0..40,
        )
    ) {
        let text = format!("(extends: \"eyeriss\", {})", words.concat());
        if let Err(error) = Profile::parse("any.ron", &text) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The two examples that a reader meets: of the page on profiles, and in the file to start from.
#[test]
fn the_examples_of_leaving_a_block_out_are_sound() {
    let page = include_str!("../docs/profiles.md");
    let start = page.find("(\n  extends: \"edge_soc_example\"").unwrap();
    let shown = &page[start..start + page[start..].find("```").unwrap()];
    let profile = read(shown);
    assert!(profile.spec().engines.iter().all(|e| e.name != "gpu"));
    assert!(profile.gaps().is_empty(), "{:?}", profile.gaps());
    let text = shipped("edge_soc_example");
    let start = text.find("//   (\n").unwrap();
    let end = start + text[start..].find("//   )").unwrap() + "//   )".len();
    let shown = text[start..end].replace("//", "");
    let profile = read(&shown);
    assert!(profile.spec().engines.iter().all(|e| e.name != "dsp"));
    assert!(profile.gaps().is_empty(), "{:?}", profile.gaps());
}

#[test]
fn what_a_list_names_last_lies_over_the_others_and_own_words_over_all() {
    let place = tempfile::tempdir().unwrap();
    for (name, rest) in [
        ("ground.ron", "extends: \"eyeriss\", name: \"ground\", description: \"of the ground\""),
        (
            "first.ron",
            "name: \"first\", temperature: \"31 degC\", sources: {\"a\": (kind: Assumed, citation: \"first\")}",
        ),
        ("last.ron", "name: \"last\", temperature: \"32 degC\""),
    ] {
        file(place.path(), name, format!("({rest})").as_bytes());
    }
    let top = "(extends: [\"ground.ron\", \"first.ron\", \"last.ron\"], name: \"top\")";
    let top = file(place.path(), "top.ron", top.as_bytes());
    let profile = Profile::load(&top).unwrap();
    let spec = profile.spec();
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("top", "of the ground"));
    assert!((spec.temperature.get().0 - 32.0).abs() < 1e-9);
    assert_eq!(spec.sources["a"].citation, "first");
    let ends: Vec<bool> = ["last.ron", "first.ron", "ground.ron", "eyeriss.ron"]
        .iter()
        .zip(profile.extends())
        .map(|(end, file)| file.ends_with(end))
        .collect();
    assert_eq!(ends, [true; 4], "{:?}", profile.extends());
}

#[test]
fn what_two_extend_alike_is_no_cycle() {
    let profile = read(r#"(extends: ["stm32l4r5", "software/cmsis_nn"], name: "mine")"#);
    assert_eq!(numbers(&profile), numbers(&Profile::load("stm32l4r5").unwrap()));
}

#[test]
fn a_wrong_name_of_a_list_is_shown_at_its_place() {
    let place = tempfile::tempdir().unwrap();
    for (list, at, said) in [
        (
            "[\"eyeriss\",\n\"software/cmsis_n\"]",
            "mine.ron:2:1",
            "did you mean `software/cmsis_nn`",
        ),
        ("[\"eyeriss\",\n\"eyeriss\"]", "mine.ron:2:1", "is extended twice"),
        ("[\"eyeriss\",\n3]", "mine.ron:2:1", "a text in quotes is expected"),
        ("[\"eyeriss\",\n\"mine.ron\"]", "mine.ron:2:1", "profiles extend one another"),
        ("3", "mine.ron:1:11", "a text in quotes is expected"),
    ] {
        let shown = check(
            place.path(),
            "mine.ron",
            &format!("(extends:{list})").replace("(extends:", "(extends: "),
        );
        assert!(shown.contains(said) && shown.contains(at), "{list}: {shown}");
    }
    let several = vec!["\"eyeriss\""; 40].join(", ");
    let shown = check(place.path(), "mine.ron", &format!("(extends: [{several}])"));
    assert!(shown.contains("more than 32"), "{shown}");
}

#[test]
fn files_that_each_extend_two_end_soon() {
    let place = tempfile::tempdir().unwrap();
    for i in 0..12 {
        let (own, next) = (format!("{i}.ron"), i + 1);
        for (side, name) in [("a", format!("a{own}")), ("b", format!("b{own}"))] {
            let text = format!("(extends: [\"a{next}.ron\", \"b{next}.ron\"], name: \"{side}\")");
            file(place.path(), &name, text.as_bytes());
        }
    }
    for side in ["a", "b"] {
        file(place.path(), &format!("{side}12.ron"), b"(extends: \"eyeriss\")");
    }
    let shown = refused(&["hardware", "check", place.path().join("a0.ron").to_str().unwrap()]);
    assert!(shown.contains("more than 64 files"), "{shown}");
}

#[test]
fn software_alone_is_checked_and_is_no_hardware() {
    for software in shipped_software() {
        let shown = joulecast(&["hardware", "check", software.name]);
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.starts_with(&format!("{}: sound", software.name)), "{shown}");
        let shown = refused(&["estimate", "kws_ds_cnn", "--on", software.name]);
        assert!(shown.contains("no hardware profile") && shown.contains(software.name), "{shown}");
    }
    let place = tempfile::tempdir().unwrap();
    let text = r#"(
  schema: "joulecast.profile/1", sources: {},
  software: [
    (name: "a", runs_on: [], cycles_per_mac: {Conv: "0 cycle/MAC", StemConv: "1 cycle/MAC @b"}),
    (name: "a", runs_on: ["Cortex-M4"], blocks: (positions: 0, channels: 1)),
  ],
)"#;
    let shown = check(place.path(), "mine.ron", text);
    for said in [
        "runs on at least one",
        "must be above zero",
        "no source is called `b`",
        "two stacks `a`",
        "holds at least one result",
        "mine.ron:4:",
        "5 faults",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let shown = check(place.path(), "slip.ron", &text.replace("runs_on", "run_on"));
    assert!(shown.contains("slip.ron:4:") && shown.contains("runs_on"), "{shown}");
    let path = file(place.path(), "mine.ron", text.as_bytes());
    let shown = refused(&["hardware", "show", &path]);
    assert!(shown.contains("stacks alone") && shown.contains("mine.ron"), "{shown}");
    assert!(Profile::load("software/nothing").is_err());
}
