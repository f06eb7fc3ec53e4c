//! Journeys with the tools around profiles: show, check, new, import-table.

use crate::chips::chip_text;
use crate::command_line::{joulecast, json};
use crate::errors::{file, refused};
use joulecast::hardware::{Profile, shipped_profiles};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const FULL: &str = "tests/fixtures/profiles/full.ron";

/// What a verb says that must succeed.
fn said(arguments: &[&str]) -> String {
    let output = joulecast(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn at(place: &Path, name: &str) -> String {
    place.join(name).to_str().unwrap().to_owned()
}

/// Profiles that ship, and one that uses every feature.
fn profiles() -> Vec<&'static str> {
    shipped_profiles().iter().map(|p| p.name).chain([FULL]).collect()
}

#[test]
fn trees_and_checks_read_as_reviewed() {
    insta::assert_snapshot!("hardware_tree", said(&["hardware", "show", FULL, "--tree"]));
    insta::assert_snapshot!("hardware_check", said(&["hardware", "check", "eyeriss"]));
}

#[test]
fn what_is_drawn_fits_a_terminal() {
    for name in profiles() {
        for arguments in [["show", name, "--tree"], ["check", name, "--"]] {
            let arguments: Vec<&str> =
                ["hardware"].into_iter().chain(arguments).filter(|a| *a != "--").collect();
            let text = said(&arguments);
            let long: Vec<&str> = text.lines().filter(|l| l.chars().count() > 100).collect();
            assert!(long.is_empty(), "{arguments:?}: {long:#?}");
        }
    }
}

#[test]
fn show_has_every_number_with_its_source() {
    for name in profiles() {
        let profile = Profile::load(name).unwrap();
        let numbers = said(&["hardware", "show", name, "--numbers"]);
        let rows: BTreeSet<Vec<&str>> =
            numbers.lines().map(|line| line.split_whitespace().collect()).collect();
        for record in profile.parameters() {
            let row = rows.iter().find(|row| row.first() == Some(&record.name.as_str())).unwrap();
            assert!(row.contains(&record.parameter.kind.name()), "{row:?}");
            assert_eq!(row.last().copied(), record.parameter.source.as_deref().or(Some("none")));
        }
        // Citations are broken over lines.
        let words: Vec<&str> = numbers.split_whitespace().collect();
        let flowing = words.join(" ");
        for (key, source) in &profile.spec().sources {
            let cited = format!("{key} ({}): {}", source.kind.name(), source.citation);
            let cited = cited.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flowing.contains(&cited), "{cited}");
        }
        let tree = said(&["hardware", "show", name, "--tree"]);
        assert!(!tree.contains("on evidence") && !numbers.contains("rail "), "one part each");
        let both = said(&["hardware", "show", name]);
        assert!(both.starts_with(&tree) && both.ends_with(&numbers));
    }
}

/// Kind, name and path of every node of a tree that is named.
fn nodes(node: &Value, found: &mut Vec<(String, String, String)>) {
    for regulator in node["regulators"].as_array().into_iter().flatten() {
        let field = |name: &str| regulator[name].as_str().unwrap().to_owned();
        found.push(("regulator".to_owned(), field("name"), field("path")));
    }
    if node["again"] == true || node["name"].is_null() {
        assert!(node["again"] != true || node["children"].as_array().unwrap().is_empty());
    } else {
        let text = |field: &str| node[field].as_str().unwrap_or("").to_owned();
        found.push((text("kind"), text("name"), text("path")));
    }
    node["children"].as_array().unwrap().iter().for_each(|child| nodes(child, found));
}

#[test]
fn everything_of_a_profile_hangs_in_its_tree_once() {
    for name in profiles() {
        let document = json(&["hardware", "show", name, "--json"]);
        let mut found = Vec::new();
        document["tree"].as_array().unwrap().iter().for_each(|root| nodes(root, &mut found));
        let spec = Profile::load(name).unwrap().spec().clone();
        let mut wanted = Vec::new();
        let mut all = |kind: &str, list: &str, names: Vec<&String>| {
            for (i, name) in names.into_iter().enumerate() {
                wanted.push((kind.to_owned(), name.clone(), format!("{list}[{i}]")));
            }
        };
        all("supply", "supplies", spec.supplies.iter().map(|x| &x.name).collect());
        all("rail", "rails", spec.rails.iter().map(|x| &x.name).collect());
        all("regulator", "regulators", spec.regulators.iter().map(|x| &x.name).collect());
        all("domain", "domains", spec.domains.iter().map(|x| &x.name).collect());
        all("engine", "engines", spec.engines.iter().map(|x| &x.name).collect());
        all("memory", "memories", spec.memories.iter().map(|x| &x.name).collect());
        all("cache", "caches", spec.caches.iter().map(|x| &x.name).collect());
        all("link", "links", spec.links.iter().map(|x| &x.name).collect());
        all("load", "loads", spec.loads.iter().map(|x| &x.name).collect());
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted);
        let tree = said(&["hardware", "show", name, "--tree"]);
        for (kind, name, _) in wanted {
            // Behind the lines of the tree, `or regulator` among them.
            let label = format!(" {kind} {name}");
            assert!(
                tree.contains(&label) || tree.contains(&format!("\n{}", label.trim())),
                "{label}"
            );
        }
    }
    let document = json(&["hardware", "show", FULL, "--json"]);
    assert_eq!(document["tree"][0]["children"][0]["voltage_v_by_point"]["nominal"], 3.7);
    assert!(document["sources"]["made_up"]["citation"].is_string());
}

#[test]
fn a_rail_of_two_feeds_is_drawn_once() {
    let tree = said(&["hardware", "show", "edge_soc_example", "--tree"]);
    assert_eq!(tree.matches("rail vdd_aon: ").count(), 1, "{tree}");
    assert_eq!(tree.matches("rail vdd_aon, as above").count(), 1, "{tree}");
    assert_eq!(tree.matches("domain aon: ").count(), 1, "{tree}");
}

#[test]
fn check_says_of_headline_numbers_what_estimate_says() {
    for name in ["eyeriss", "stm32l4r5"] {
        let document = json(&["hardware", "check", name, "--json"]);
        let models = document["models"].as_array().unwrap();
        assert_eq!(models.len(), 5);
        for model in models {
            let of = model["model"].as_str().unwrap();
            let estimate = json(&["estimate", of, "--on", name, "--json"]);
            let totals = &estimate["totals"];
            for field in ["energy_j", "latency_s", "energy_j_interval90", "costed_share", "fits"] {
                assert_eq!(model[field], totals[field], "{of} {field}");
            }
            for figure in ["energy", "time"] {
                let own = &model[figure];
                assert_eq!(own["evidence_share"], totals["coverage"][figure]);
                assert_eq!(own["share_by_kind"], totals["coverage"][format!("{figure}_by_kind")]);
                let movers = own["movers"].as_array().unwrap();
                assert!((1..=5).contains(&movers.len()));
                let shares = movers.iter().map(|m| m["variance_share"].as_f64().unwrap());
                assert!(shares.is_sorted_by(|a, b| a >= b), "{movers:?}");
            }
            let top: Vec<&Value> = model["energy"]["movers"].as_array().unwrap().iter().collect();
            let long: Vec<&Value> =
                estimate["energy_uncertainty"].as_array().unwrap().iter().take(5).collect();
            assert_eq!(top, long);
        }
    }
    let slow = json(&["hardware", "check", "stm32l4r5", "--json", "--opp", "26mhz_1v8"]);
    let fast = json(&["hardware", "check", "stm32l4r5", "--json"]);
    let latency = |document: &Value| document["models"][0]["latency_s"].as_f64().unwrap();
    assert!(latency(&slow) > latency(&fast));
    assert!(refused(&["hardware", "check", "stm32l4r5", "--opp", "26mhz"]).contains("26mhz_1v8"));
}

#[test]
fn check_lists_what_rests_on_no_evidence() {
    let text = said(&["hardware", "check", "stm32l4r5"]);
    let part = |from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap();
        rest.split(to).next().unwrap().to_owned()
    };
    assert!(part("unsourced", "\nassumed").contains("temperature = 25 degC ±5 K"));
    assert!(part("\nassumed", "\nrecalled").contains("cycles_per_mac.Conv = 1.8 cycle/MAC ±90 %"));
    assert!(part("\nrecalled", "headline").contains("wake_time = 5 us ±30 % @ds12023"));
    assert!(!text.contains("@lpm01a") && !text.contains("@hal_l4"), "measured, and a data sheet");
}

#[test]
fn check_says_what_does_not_run_and_what_does_not_fit() {
    let place = tempfile::tempdir().unwrap();
    let array = "Systolic(rows: 4, columns: 4, dataflow: WeightStationary, precision: Int8)";
    let text = chip_text(array, "", "");
    let all = text.split("supports: [").nth(1).unwrap().split(']').next().unwrap();
    let softmax = text.replacen(all, "Softmax", 1).replacen(
        "precision: Int8)",
        "precision: Int8, operations: \"1 op/cycle\")",
        1,
    );
    let path = file(place.path(), "softmax.ron", softmax.as_bytes());
    let said_of = said(&["hardware", "check", &path]);
    assert!(said_of.contains("ad_autoencoder: nothing of it runs here"), "{said_of}");
    assert!(said_of.contains("PARTIAL: ic_resnet8: only "), "{said_of}");
    let small = text.replacen("1 GiB", "1 KiB", 1);
    let path = file(place.path(), "small.ron", small.as_bytes());
    let said_of = said(&["hardware", "check", &path]);
    assert!(said_of.contains("DOES NOT FIT: sww: costed as if it did"), "{said_of}");
}

#[test]
fn a_new_profile_is_sound_as_a_copy_and_as_an_extension() {
    let place = tempfile::tempdir().unwrap();
    for base in shipped_profiles() {
        for (how, file) in [(None, "copy.ron"), (Some("--extends"), "short.ron")] {
            let out = at(place.path(), &format!("{}/{file}", base.name));
            let mut arguments = vec!["hardware", "new", "my chip", "--from", base.name];
            arguments.extend(how);
            arguments.extend(["--out", &out]);
            assert!(said(&arguments).contains("next: joulecast hardware check"));
            assert!(said(&["hardware", "check", &out]).starts_with("my chip: sound"));
            let own = json(&["hardware", "show", &out, "--json"]);
            let theirs = json(&["hardware", "show", base.name, "--json"]);
            assert_eq!(own["parameters"], theirs["parameters"]);
            let mut extends: Vec<Value> = how.map(|_| Value::from(base.path)).into_iter().collect();
            extends.extend(theirs["extends"].as_array().unwrap().clone());
            assert_eq!(own["extends"], Value::from(extends));
        }
        let copy = std::fs::read_to_string(at(place.path(), &format!("{}/copy.ron", base.name)));
        let named = format!("name: \"{}\"", base.name);
        assert_eq!(copy.unwrap(), base.text.replacen(&named, "name: \"my chip\"", 1), "comments");
    }
}

#[test]
fn a_copy_finds_what_it_extends_from_its_new_place() {
    let place = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| said(&[&["hardware", "new"], arguments].concat());
    let (base, above) = (at(place.path(), "base.ron"), at(place.path(), "chips/above.ron"));
    run(&["base", "--from", "eyeriss", "--out", &base]);
    run(&["above", "--from", &base, "--extends", "--out", &above]);
    let copy = at(place.path(), "a/b/copy.ron");
    run(&["copy", "--from", &above, "--out", &copy]);
    assert!(std::fs::read_to_string(&copy).unwrap().contains("extends: \"../../base.ron\""));
    assert!(said(&["hardware", "check", &copy]).starts_with("copy: sound"));
    // A file may leave its name to what it extends.
    let nameless = file(place.path(), "nameless.ron", b"( // mine\n  extends: \"base.ron\",\n)");
    run(&["named", "--from", &nameless, "--out", &copy, "--force"]);
    let text = std::fs::read_to_string(&copy).unwrap();
    assert_eq!(text, "( // mine\n  extends: \"../../base.ron\",\n  name: \"named\",\n)");
    // Nothing extends itself.
    let said =
        refused(&["hardware", "new", "x", "--from", &base, "--extends", "--out", &base, "--force"]);
    assert!(said.contains("extend one another"), "{said}");
    assert!(Profile::load(&base).is_ok(), "and it is still there");
}

#[test]
fn nothing_is_written_over_unless_told_to() {
    let place = tempfile::tempdir().unwrap();
    let mine = file(place.path(), "mine.ron", b"years of work");
    let new = ["hardware", "new", "x", "--from", "eyeriss", "--out", &mine];
    let import = ["hardware", "import-table", "docs/blocks.csv", "--out", &mine];
    for arguments in [&new[..], &import[..]] {
        let said = refused(arguments);
        assert!(said.contains("is there already") && said.contains("--force"), "{said}");
        assert_eq!(std::fs::read(&mine).unwrap(), b"years of work");
    }
    for arguments in [&new[..], &import[..]] {
        said(&[arguments, &["--force"]].concat());
        assert_ne!(std::fs::read(&mine).unwrap(), b"years of work");
    }
    std::fs::create_dir(place.path().join("folder.ron")).unwrap();
    let folder = at(place.path(), "folder.ron");
    let onto = ["hardware", "new", "x", "--from", "eyeriss", "--force", "--out", &folder];
    assert!(refused(&onto).contains("cannot write"));
}

#[test]
fn names_and_places_that_cannot_be_are_refused() {
    let refused_new = |name: &str, more: &[&str]| {
        refused(&[&["hardware", "new", name, "--from", "eyeriss"], more].concat())
    };
    for name in ["", "  ", "a\nb"] {
        assert!(refused_new(name, &["--out", "out/x.ron"]).contains("a name is printable text"));
    }
    for name in ["a/b", "..", "chip.ron", "a\\b"] {
        let said = refused_new(name, &[]);
        assert!(said.contains("cannot be the name of a file") && said.contains("--out FILE"));
    }
    let said = refused_new("x", &["--out", "out/x.txt"]);
    assert!(said.contains("a profile is written as a `.ron` file"), "{said}");
    let said = refused(&["hardware", "new", "x", "--from", "eyeris", "--out", "out/x.ron"]);
    assert!(said.contains("did you mean `eyeriss`?"), "{said}");
    let place = tempfile::tempdir().unwrap();
    let broken = file(place.path(), "broken.ron", b"(name: \"a\", rails: [)");
    let said = refused(&["hardware", "new", "x", "--from", &broken, "--out", "out/x.ron"]);
    assert!(said.contains("broken.ron:1:"), "{said}");
}

/// The commands of a page, and what it shows of what they say.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_worked_example_says_what_its_page_shows() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/blocks_table.md");
    let place = tempfile::tempdir().unwrap();
    let out = at(place.path(), "wearable.ron");
    let command = blocks(page, "sh")[0].replace("out/wearable.ron", &out).replace(['"', '\n'], "");
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let shown = blocks(page, "text")[0].replace("out/wearable.ron", &out);
    assert_eq!(said(&arguments), shown);
    insta::assert_snapshot!("blocks_onto_stm32l4r5", std::fs::read_to_string(&out).unwrap());
    assert!(said(&["hardware", "check", &out]).starts_with("wearable: sound"));
    let estimate = |state: &str| {
        let state = format!("Microphone={state}");
        let arguments = ["estimate", "kws_ds_cnn", "--on", &out, "--json", "--state", &state];
        json(&arguments)["totals"]["mean_w"].as_f64().unwrap()
    };
    let listening = estimate("listening") - estimate("off");
    assert!((listening - 0.65e-3).abs() < 1e-9, "{listening}");
}

#[test]
fn an_import_is_summed_up_as_json() {
    let place = tempfile::tempdir().unwrap();
    let out = at(place.path(), "x.ron");
    let table = ["hardware", "import-table", "docs/blocks.csv", "--json"];
    let onto = ["--onto", "stm32l4r5", "--new-rails", "--out", &out];
    let document = json(&[&table[..], &onto[..]].concat());
    assert_eq!(document["schema"], "joulecast.import_table/1");
    assert_eq!(document["rails"], serde_json::json!(["vdd_radio", "vdd"]));
    assert_eq!(document["blocks"][1]["modes"], serde_json::json!(["on", "off"]));
    assert_eq!(document["unread"][0]["header"], "Owner");
    assert_eq!(document["totals"][1]["agrees"], true);
    assert_eq!(document["text"], Value::Null);
    let printed = json(&table);
    assert_eq!(printed["text"].as_str().unwrap(), said(&table[..3]));
    assert_eq!(printed["path"], Value::Null);
}

#[test]
fn an_import_that_cannot_be_says_why_and_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let out = at(place.path(), "x.ron");
    let import = |table: &str, more: &[&str]| {
        let said = refused(&[&["hardware", "import-table", table, "--out", &out], more].concat());
        assert!(!Path::new(&out).exists());
        said
    };
    let faulty = file(
        place.path(),
        "t.csv",
        b"Block,Mode,Rail,Voltage [V],Dynamic [mW]\na,on,vdd,,1\na,off,vdd,1,x\n",
    );
    let told = import(&faulty, &["--onto", "stm32l4r5"]);
    assert!(told.starts_with("error: `a` in mode `on` has no voltage\n --> "), "{told}");
    assert!(
        told.contains("t.csv:2, column D (Voltage [V])\n\nerror: `x` is not a number\n --> "),
        "{told}"
    );
    assert!(told.contains("t.csv:3, column E") && told.contains("2 faults in "), "{told}");
    let told = import("docs/blocks.csv", &["--onto", "stm32l4r5"]);
    assert!(told.contains("no rail `vdd_radio`") && told.contains("--new-rails"), "{told}");
    let taken = file(place.path(), "u.csv", b"Block,Mode,Rail,V,Dyn [mW]\nflash,on,vdd,1.8,1\n");
    let told = import(&taken, &["--onto", "stm32l4r5"]);
    assert!(told.contains("something called `flash`"), "{told}");
    assert!(import("nowhere.csv", &[]).contains("cannot read nowhere.csv"));
    assert!(import("docs", &[]).contains("cannot read docs"));
    assert!(import("docs/blocks.csv", &["--onto", "eyeris"]).contains("did you mean `eyeriss`?"));
    for spread in ["lots", "±5 mW", "±20% @x", "-3%", ""] {
        let told = import("docs/blocks.csv", &["--spread", spread]);
        assert!(told.starts_with("error: --spread: "), "{spread}: {told}");
    }
    assert!(import("docs/blocks.csv", &["--name", " "]).contains("printable text"));
    let told = import("docs/blocks.csv", &["--initial", "of"]);
    assert!(told.contains("no block of docs/blocks.csv has a mode `of`; did you mean `off`?"));
}

/// Names come through the merge of an extending profile as they stand in the table.
#[test]
fn names_of_any_characters_come_through() {
    let place = tempfile::tempdir().unwrap();
    let names = ["a \"b\"", "c\\d", "µ–(e): [f], {g}", "//h", "/* i", "r#\"j\"#", "'k"];
    let mut table = "Block,Mode,Rail,V,Dynamic [mW]\n".to_owned();
    for name in names {
        let cell = format!("\"{}\"", name.replace('"', "\"\""));
        table.push_str(&format!("{cell},{cell},{cell},1.8,1\n"));
    }
    let (table, out) = (file(place.path(), "t.csv", table.as_bytes()), at(place.path(), "x.ron"));
    said(&["hardware", "import-table", &table, "--onto", "eyeriss", "--new-rails", "--out", &out]);
    let again = at(place.path(), "y.ron");
    said(&["hardware", "new", "y \\\"", "--from", &out, "--extends", "--out", &again]);
    let profile = Profile::load(&again).unwrap();
    assert_eq!(profile.spec().name, "y \\\"");
    let loads = profile.spec().loads.iter();
    let found: Vec<_> = loads.map(|l| [&*l.name, &*l.rail, &*l.states[0].name]).collect();
    assert_eq!(found, names.map(|name| [name; 3]));
    said(&["hardware", "check", &again]);
    said(&["hardware", "show", &again]);
}

#[test]
fn a_new_profile_without_a_name_takes_that_of_its_file_or_of_its_base() {
    let place = tempfile::tempdir().unwrap();
    let new = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_joulecast");
        let mut command = std::process::Command::new(program);
        command.args(["hardware", "new", "--from", "edge_soc_example"]).args(arguments);
        assert!(command.current_dir(place.path()).output().unwrap().status.success());
    };
    new(&[]);
    new(&["--out", "chip7.ron"]);
    for name in ["my_edge_soc_example", "chip7"] {
        let file = place.path().join(format!("{name}.ron"));
        assert_eq!(Profile::load(file.to_str().unwrap()).unwrap().spec().name, name);
    }
}
