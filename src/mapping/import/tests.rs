use super::*;
use crate::cost::Setting;
use crate::hardware::Profile;
use crate::mapping::Network;
use crate::model::{Bindings, load};
use crate::units::Joules;
use std::collections::BTreeMap;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(path("tests/fixtures/tables").join(name)).unwrap()
}

fn folder(name: &str) -> ImportedTable {
    ImportedTable::read(&[path("tests/fixtures/tables").join(name)])
        .unwrap_or_else(|e| panic!("{e}"))
}

fn network(name: &str) -> Network {
    Network::of(&load(name, &Bindings::default()).unwrap()).unwrap()
}

fn example() -> Network {
    network(path("docs/example_model.ron").to_str().unwrap())
}

fn on<T>(profile: &str, use_it: impl FnOnce(Setting<'_>) -> T) -> T {
    let name = path("tests/fixtures/tables").join(profile);
    let profile = Profile::load(name.to_str().unwrap()).unwrap();
    let (point, stacks) = (profile.point(None).unwrap(), profile.stacks(None).unwrap());
    use_it(Setting { profile: &profile, point: &point, stacks: &stacks })
}

fn laid(table: ImportedTable, network: &Network) -> Result<Imported, ImportError> {
    on("npu.ron", |setting| Imported::onto(table, network, &Choices::default(), setting))
}

fn parsed(text: &str) -> ImportedTable {
    ImportedTable::parse("t.csv", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(text: &str) -> String {
    match ImportedTable::parse("t.csv", text.as_bytes()) {
        Ok(table) => panic!("read: {table:?}"),
        Err(error) => error.to_string(),
    }
}

/// A cell of a line of a table replaced; lines and cells from 1.
fn with_cell(text: &str, line: usize, column: usize, new: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut cells: Vec<String> = lines[line - 1].split(',').map(str::to_owned).collect();
    cells[column - 1] = new.to_owned();
    lines[line - 1] = cells.join(",");
    lines.join("\n") + "\n"
}

#[test]
fn tables_are_known_by_their_headers() {
    for (file, tool) in [
        ("vela/per-layer.csv", Tool::Vela),
        ("zigzag/conv_complete.json", Tool::ZigZag),
        ("scale_sim/COMPUTE_REPORT.csv", Tool::ScaleSim),
        ("scale_sim/DETAILED_ACCESS_REPORT.csv", Tool::ScaleSim),
    ] {
        assert_eq!(parsed(&fixture(file)).tool, tool, "{file}");
        assert_eq!(parsed(&format!("\u{feff}\n{}", fixture(file))).tool, tool, "{file}");
    }
    assert_eq!(folder("vela").tool, Tool::Vela);
    let said = refused("name,value\na,1\n");
    assert!(said.contains("no table that is read here\n --> t.csv"), "{said}");
    assert!(said.contains("this one starts with `name`, `value`"), "{said}");
}

#[test]
fn a_vela_table_has_the_bytes_of_its_summary() {
    let table = folder("vela");
    assert_eq!(table.cycles().0, 1096.0);
    assert_eq!(table.files.len(), 3, "{:?}", table.files);
    let (read, write) = table.accesses("sram");
    assert!((read - 1800.0).abs() < 1e-9 && (write - 1000.0).abs() < 1e-9, "{read} {write}");
    let (read, write) = table.accesses("off_chip_flash");
    assert!((read - 480.0).abs() < 1e-9 && write == 0.0, "what no column holds is read");
    // 80 of 327 access cycles.
    let filtered = &table.layers[2].accesses[0];
    assert!((filtered.read + filtered.write - 2800.0 * 80.0 / 327.0).abs() < 1e-9);
    assert!(table.notes.iter().any(|n| n.contains("327 of them at 8.00 B are 93 %")), "2^30 a GB");
    let encoded: Vec<u64> =
        table.layers.iter().filter_map(|l| Some(l.weights.as_ref()?.bytes)).collect();
    assert_eq!(encoded, [256, 96, 0, 0, 96, 0, 0, 0]);
    assert_eq!(table.layers[0].weights.as_ref().unwrap().buffering, "Double");
    assert!(table.layers[1].weights.is_none() && table.layers[8].weights.is_none(), "fused");
    // The file alone finds what lies beside it.
    let alone = path("tests/fixtures/tables/vela/per-layer.csv");
    assert_eq!(ImportedTable::read(&[alone]).unwrap().layers.len(), table.layers.len());
    let alone = parsed(&fixture("vela/per-layer.csv"));
    assert!(alone.layers.iter().all(|layer| layer.accesses.is_empty()));
    assert!(alone.notes[0].contains("bytes are not known"));
}

#[test]
fn rows_go_with_layers_and_their_parts_with_them() {
    let network = example();
    let laid = laid(folder("vela"), &network).unwrap();
    let rows: Vec<(usize, usize)> =
        laid.matches().iter().map(|m| (m.layer, m.rows.len())).collect();
    assert_eq!(rows, [(0, 2), (1, 1), (2, 1), (3, 1), (5, 1), (6, 4)]);
    on("npu.ron", |setting| {
        let plan = laid.plan(&network, setting);
        let stated = plan.steps.iter().flat_map(|s| &s.phases).filter_map(|p| p.stated);
        assert_eq!(stated.map(|s| s.cycles.0).sum::<f64>(), 1096.0);
        assert!(plan.uncosted.is_empty() && (plan.costed_share - 1.0).abs() < 1e-12);
        assert_eq!(plan.steps[5].phases.len(), 3, "the lookup takes no time");
    });
}

#[test]
fn what_the_tool_has_no_row_for_is_not_costed() {
    let network = example();
    let table = folder("scale_sim");
    let laid = laid(table, &network).unwrap();
    let plan = on("npu.ron", |setting| laid.plan(&network, setting));
    let left: Vec<&str> = plan.uncosted.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(left, ["shortcut", "pool", "softmax"], "a view costs nothing");
    assert!(plan.costed_share < 1.0);
    assert!(plan.uncosted[0].reasons[0].contains("SCALE-Sim has no row for it"));
}

#[test]
fn zigzag_takes_accesses_times_costs() {
    let table = folder("zigzag");
    assert!(!table.ordered && table.layers.len() == 3, "the sum over layers is none");
    let pj = |read: f64, write: f64| WordCost {
        read: Joules(read * 1e-12),
        write: Joules(write * 1e-12),
    };
    let (sram, dram) = (pj(416.16, 378.4), pj(700.0, 750.0));
    let levels = [
        ("W0", pj(0.095, 0.095)),
        ("W1", dram),
        ("I0", sram),
        ("I1", dram),
        ("O0", pj(0.021, 0.021)),
        ("O1", sram),
        ("O2", dram),
    ];
    let levels = levels.map(|(level, cost)| (level.to_owned(), cost));
    let mut costs = WordCosts { mac: Joules(0.04e-12), levels: levels.into_iter().collect() };
    for (found, layer) in table.energy(&costs).unwrap().iter().zip(&table.layers) {
        let stated = layer.stated.as_ref().unwrap();
        let near = |a: f64, b: f64| assert!((a * 1e12 / b - 1.0).abs() < 1e-9, "{a} {b}");
        near(found.total().0, stated.total);
        near(found.macs.0, stated.operations);
        assert_eq!(found.levels.len(), stated.levels.len());
        for (level, energy) in &found.levels {
            near(energy.0, stated.levels[level]);
        }
    }
    costs.levels.remove("I1");
    assert!(table.energy(&costs).unwrap_err().to_string().contains("`I1` has no cost of a word"));
    // The older spelling of directions, and a list in one file.
    let arrows = [
        ("rd_out_to_low", "rd v"),
        ("wr_in_by_low", "wr ^"),
        ("rd_out_to_high", "rd ^"),
        ("wr_in_by_high", "wr v"),
    ];
    let text =
        ["conv", "depthwise", "classes"].map(|n| fixture(&format!("zigzag/{n}_complete.json")));
    let mut list = format!("[{}]", text.join(","));
    for (word, arrow) in arrows {
        list = list.replace(word, arrow);
    }
    let list = parsed(&list);
    assert!(list.ordered && list.layers.len() == 3);
    assert_eq!(list.layers[0].accesses, table.layers[1].accesses);
    assert_eq!(list.layers[0].macs, Some(13_824));
}

#[test]
fn a_complete_document_names_its_memories_and_their_ports() {
    let accelerator = r#"{"name": "made_up", "memory_hierarchy": ["x"],
      "mem_hierarchy_dict": {
        "I1": ["MemoryLevel(instance=sram,operands=[I1, O])", "MemoryLevel(instance=dram,operands=[I1])"],
        "I2": ["MemoryLevel(instance=rf_128b,operands=[I2])", "MemoryLevel(instance=elsewhere,operands=[I2])"]},
      "mem_r_bw_dict": {"I1": [128, 64], "I2": [8, 32]},
      "mem_w_bw_dict": {"I1": [256, 64], "I2": [8, 32]}}"#;
    let links =
        r#""layer": {"memory_operand_links": {"O": "O", "W": "I2", "I": "I1"}, "name": "x","#;
    let text = fixture("zigzag/conv_complete.json");
    let text = text.replace(r#""tpu_like""#, accelerator).replace(r#""layer": {"#, links);
    let table = parsed(&text);
    assert_eq!(table.layers[0].name, "x");
    let of = |level: &str| table.layers[0].accesses.iter().find(|a| a.level == level).unwrap();
    assert_eq!((of("I0").word, of("I0").memory.as_deref()), (Some((16.0, 32.0)), Some("sram")));
    assert_eq!((of("O1").word, of("O1").memory.as_deref()), (None, None));
    let mut network = example();
    network.layers.truncate(1);
    on("tpu_like.ron", |setting| {
        let plan = plan_from(&table, &network, &Choices::default(), setting).unwrap();
        let moved = |channel: usize| {
            let own = plan.steps[0].traffic.iter().find(|t| t.channel == channel).unwrap();
            // The parts of a row add up but for rounding.
            (own.read.0.round(), own.write.0.round())
        };
        // W0 by its name, though it stands beside the multipliers; O1 by the profile's port.
        assert_eq!(moved(0), (13_824.0, 216.0));
        assert_eq!(moved(2), (40.0 * 16.0 + 2.0 * 256.0, 3.0 * 32.0 + 2.0 * 256.0));
        // W1 has no namesake: it lives where the profile keeps weights, in the document's words.
        assert_eq!(moved(3), (27.0 * 4.0 + 96.0 * 8.0, 64.0 * 8.0));
    });
}

#[test]
fn each_report_of_scale_sim_gives_what_it_has() {
    let compute = parsed(&fixture("scale_sim/COMPUTE_REPORT.csv"));
    assert_eq!(compute.cycles().0, 1060.0);
    assert_eq!(compute.layers[2].compute.0, 50.0, "without stalls");
    assert!(compute.layers.iter().all(|layer| layer.accesses.is_empty()));
    let detail = parsed(&fixture("scale_sim/DETAILED_ACCESS_REPORT.csv"));
    assert_eq!(detail.accesses("sram"), (1700.0 + 216.0 + 4608.0 + 72.0 + 88.0, 1034.0));
    let said = laid(detail, &example()).unwrap_err().to_string();
    assert!(said.contains("t.csv says how much is moved and not how long it takes"), "{said}");
    assert!(said.contains("COMPUTE_REPORT.csv"), "{said}");
    let both = ["COMPUTE_REPORT.csv", "BANDWIDTH_REPORT.csv"];
    let both = both.map(|file| path("tests/fixtures/tables/scale_sim").join(file));
    let both = ImportedTable::read(&both).unwrap();
    let (read, _) = both.accesses("sram");
    assert!((read - 6684.0).abs() < 1e-9, "mean bandwidth times cycles: {read}");
    assert_eq!(both.accesses("dram"), (0.0, 0.0));
}

#[test]
fn faults_of_a_file_name_line_and_column() {
    let layers = fixture("vela/per-layer.csv");
    let compute = fixture("scale_sim/COMPUTE_REPORT.csv");
    let conv = fixture("zigzag/conv_complete.json");
    for (text, said) in [
        (with_cell(&layers, 4, 6, "-5"), "`-5` is below zero\n --> t.csv:4, column 6 (Op Cycles)"),
        (
            with_cell(&layers, 4, 8, "NaN"),
            "`NaN` is not a finite number\n --> t.csv:4, column 8 (NPU)",
        ),
        (with_cell(&layers, 4, 13, "1.5"), "`1.5` is not a whole number"),
        (with_cell(&layers, 4, 9, "many"), "`many` is not a number"),
        (with_cell(&layers, 4, 6, "1e300"), "`1e300` is more than anything takes"),
        (with_cell(&layers, 4, 6, "299"), "`299` is not the longest of the row's resources"),
        (
            layers.replacen("Op Cycles", "Op Cyclse", 1),
            "no column `Op Cycles`\n --> t.csv:1\n  = help: is it `Op Cyclse`?",
        ),
        (layers.lines().next().unwrap().to_owned(), "there is no layer in this table"),
        (
            layers.trim_end().rsplit_once(',').unwrap().0.to_owned(),
            "this row has 15 cells, and the header has 16\n --> t.csv:11\n  = help: is the file cut short?",
        ),
        (with_cell(&layers, 4, 16, "a,b"), "`b` stands behind the last of 16 columns"),
        (String::new(), "this file is empty"),
        (compute.replacen(" Stall Cycles", " Stalls", 1), "no column `Stall Cycles`"),
        (with_cell(&compute, 3, 4, "9999"), "stall cycles are more than there are"),
        (with_cell(&compute, 3, 1, "x"), "`x` is not a number\n --> t.csv:3, column 1 (LayerID)"),
        (conv.replacen("216", "-216", 1), "is below zero"),
        (conv.replacen("216", "NaN", 1), "no document of ZigZag"),
        (conv.replacen("rd_out_to_low", "sideways", 1), "`sideways` is no direction of an access"),
        (conv.replacen("word_accesses", "words", 1), "no document of ZigZag: missing field"),
    ] {
        let found = refused(&text);
        assert!(found.contains(said), "{said}\n{found}");
    }
    let binary = ImportedTable::parse("t.csv", &[0xff, 0xfe, 0, 1]).unwrap_err().to_string();
    assert!(binary.contains("not UTF-8 text"), "{binary}");
    let huge = ImportedTable::parse("t.csv", &vec![b','; (16 << 20) + 1]).unwrap_err().to_string();
    assert!(huge.contains("more than 16 MiB"), "{huge}");
    let row = layers.lines().nth(3).unwrap();
    let long =
        format!("{}\n{}", layers.lines().next().unwrap(), format!("{row}\n").repeat(100_001));
    assert!(refused(&long).contains("more than 100000 rows"));
    let wide = format!("{}\n", layers.lines().next().unwrap()) + &",".repeat(600);
    assert!(refused(&wide.replace(",,", ",1,")).contains("more than 512 columns"));
}

#[test]
fn a_table_of_another_model_is_one_clear_error() {
    let network = example();
    let layers = fixture("vela/per-layer.csv");
    let lines: Vec<&str> = layers.lines().collect();
    let without = |left: &[usize]| {
        let kept = lines.iter().enumerate().filter(|(i, _)| !left.contains(&(i + 1)));
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let refused = |text: &str, network: &Network| match laid(parsed(text), network) {
        Ok(laid) => panic!("{:?}", laid.matches()),
        Err(error) => error.to_string(),
    };
    // Missing.
    let found = refused(&without(&[4]), &network);
    assert!(found.contains("Add `sum` (0 MACs) is not layer 2 of example"), "{found}");
    assert!(found.contains("`depthwise` (4608 MACs)\n --> t.csv:4\n"), "{found}");
    assert!(found.contains("layer 3, ") && found.contains("are rows missing"), "{found}");
    let found = refused(&without(&[7, 8, 9, 10, 11]), &network);
    assert!(found.contains("the table ends before layer 6 of example"), "{found}");
    // In another order.
    let mut swapped = lines.clone();
    swapped.swap(3, 6);
    let found = refused(&(swapped.join("\n") + "\n"), &network);
    assert!(found.contains("is not layer 2 of example") && found.contains("t.csv:4"), "{found}");
    // Of another model.
    let found = refused(&layers, &self::network("kws_ds_cnn"));
    assert!(found.contains("Conv2D `features` (13824 MACs) is not layer 1 of"), "{found}");
    assert!(found.contains("no layer is like it; nearest is"), "{found}");
    // More rows than layers.
    let more = format!("{layers}{}\n", lines[1]);
    let found = refused(&more, &network);
    assert!(found.contains("comes behind the last layer of example"), "{found}");
    // By name, where the files have no order.
    let mut table = folder("zigzag");
    table.layers[0].name = "clases".to_owned();
    let found = laid(table.clone(), &network).unwrap_err().to_string();
    assert!(found.contains("no layer of example is called like `clases`"), "{found}");
    assert!(found.contains("did it mean `classes`?"), "{found}");
    table.layers.remove(0);
    let found = laid(table, &network).unwrap_err().to_string();
    assert!(found.contains("the table ends before layer 6 of example"), "{found}");
}

#[test]
fn half_the_macs_are_tolerated_where_vela_stores_two_of_four() {
    let network = example();
    let half = with_cell(&fixture("vela/per-layer.csv"), 2, 13, "6912");
    let mut table = parsed(&half);
    assert!(laid(table.clone(), &network).is_err());
    table.halves_macs = true;
    let laid = laid(table, &network).unwrap();
    assert!(laid.matches()[0].halved && !laid.matches()[1].halved);
    let plan = on("npu.ron", |setting| laid.plan(&network, setting));
    assert!(plan.notes.iter().any(|note| note.contains("half of the MACs of conv")), "{plan:?}");
    assert_eq!(plan.steps[0].cost.macs, 13_824);
}

#[test]
fn levels_have_memories_and_words_widths() {
    let network = example();
    let choices = |levels: &[(&str, &str)], words: &[(&str, f64)]| Choices {
        engine: None,
        levels: levels.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        words: words.iter().map(|(a, b)| ((*a).to_owned(), *b)).collect(),
    };
    let tried = |table: &ImportedTable, profile: &str, choices: &Choices| {
        let plan = on(profile, |setting| plan_from(table, &network, choices, setting));
        plan.map_err(|error| error.to_string())
    };
    let (vela, zigzag) = (folder("vela"), folder("zigzag"));
    let said = tried(&vela, "npu.ron", &choices(&[("srma", "npu_sram")], &[])).unwrap_err();
    assert!(said.contains("level `srma` is not there\nhelp: did you mean `sram`?"), "{said}");
    let said = tried(&vela, "npu.ron", &choices(&[("sram", "npu_srma")], &[])).unwrap_err();
    assert!(
        said.contains("memory `npu_srma` is not there\nhelp: did you mean `npu_sram`?"),
        "{said}"
    );
    let moved = tried(&vela, "npu.ron", &choices(&[("sram", "dram")], &[])).unwrap();
    let channels: Vec<usize> = moved.steps[0].traffic.iter().map(|t| t.channel).collect();
    assert_eq!(channels, [1, 2], "flash and the memory asked for");
    let left = tried(&vela, "npu.ron", &choices(&[("sram", "none")], &[])).unwrap();
    assert!(left.steps.iter().flat_map(|s| &s.traffic).all(|t| t.channel == 1));
    // Registers beside the multipliers are none of the memories; ports have widths.
    let plan = tried(&zigzag, "tpu_like.ron", &choices(&[], &[])).unwrap();
    let note =
        |text: &str| assert!(plan.notes.iter().any(|n| n.contains(text)), "{:?}", plan.notes);
    note("level W0 (");
    note("level I0 of ZigZag is memory sram, 256 B a word");
    note("level W1 of ZigZag is memory dram, 8 B a word");
    let of = |channel: usize| plan.steps[0].traffic.iter().find(|t| t.channel == channel).unwrap();
    assert_eq!((of(2).read.0, of(2).write.0), (42.0 * 256.0, 5.0 * 256.0));
    assert_eq!((of(3).read.0, of(3).write.0), (123.0 * 8.0, 64.0 * 8.0));
    // One that states no bytes a cycle has none.
    let said = tried(&zigzag, "npu.ron", &choices(&[("I0", "npu_sram"), ("O1", "npu_sram")], &[]));
    let said = said.unwrap_err();
    assert!(said.contains("how wide a word of level `W1` is"), "{said}");
    let said = tried(&zigzag, "tpu_like.ron", &choices(&[], &[("I0", 0.0)])).unwrap_err();
    assert!(said.contains("a word of level `I0` of 0 B"), "{said}");
    let said = tried(&zigzag, "npu.ron", &choices(&[], &[])).unwrap_err();
    assert!(said.contains("no memory for level `I0` of ZigZag"), "{said}");
    let engine = Choices { engine: Some("npu0".to_owned()), ..Choices::default() };
    let said = tried(&vela, "npu.ron", &engine).unwrap_err();
    assert!(said.contains("engine `npu0` is not there\nhelp: did you mean `npu`?"), "{said}");
}

#[test]
fn files_of_two_runs_or_tools_do_not_mix() {
    let at = |file: &str| path("tests/fixtures/tables").join(file);
    let said = |files: &[&str]| {
        let files: Vec<PathBuf> = files.iter().map(|file| at(file)).collect();
        ImportedTable::read(&files).unwrap_err().to_string()
    };
    let found = said(&["vela/per-layer.csv", "scale_sim/COMPUTE_REPORT.csv"]);
    assert!(found.contains("tables of Vela and of SCALE-Sim are given together"), "{found}");
    let found = said(&["scale_sim/COMPUTE_REPORT.csv", "scale_sim/COMPUTE_REPORT.csv"]);
    assert!(found.contains("this is a second report of cycles, besides"), "{found}");
    assert!(said(&["nothing"]).contains("cannot read"));
    let empty = tempfile::tempdir().unwrap();
    let found = ImportedTable::read(&[empty.path().to_owned()]).unwrap_err().to_string();
    assert!(found.contains("no table of Vela, ZigZag or SCALE-Sim in this folder"), "{found}");
    // A table that is cut short no longer has the cycles of its summary.
    let place = tempfile::tempdir().unwrap();
    let layers = fixture("vela/per-layer.csv");
    let cut: String = layers.lines().take(9).map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("per-layer.csv"), cut).unwrap();
    std::fs::copy(at("vela/summary.csv"), place.path().join("summary.csv")).unwrap();
    let found = ImportedTable::read(&[place.path().to_owned()]).unwrap_err().to_string();
    assert!(found.contains("the cycles of all rows are 1086, and"), "{found}");
    assert!(found.contains("says 1096"), "{found}");
}

/// A table as ZigZag's results are kept in rows.
fn zigzag_rows() -> String {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let words = r#"{"W": [{"rd_out_to_low": 13824, "wr_in_by_high": 216}, {"rd_out_to_low": 27}]}"#;
    let latency = r#"{"data_onloading": 96.0, "computation": 900.0, "data_offloading": 64.0}"#;
    let row = |name: &str, macs: u64| format!("{name},{macs},{},{}\n", cell(words), cell(latency));
    let rows = [row("conv", 13_824), row("depthwise", 4608), row("classes", 80)];
    format!("layer,macs,word_accesses,latency\n{}", rows.concat())
}

#[test]
fn a_table_cut_at_any_byte_is_never_taken_for_a_whole_one() {
    let network = example();
    let conv = fixture("zigzag/conv_complete.json");
    let rest = ["depthwise", "classes"].map(|n| fixture(&format!("zigzag/{n}_complete.json")));
    let list = format!("[{conv},{}]", rest.join(","));
    for text in [
        fixture("scale_sim/COMPUTE_REPORT.csv"),
        zigzag_rows(),
        list,
        fixture("scale_sim/DETAILED_ACCESS_REPORT.csv"),
    ] {
        let whole = parsed(&text);
        for end in 0..text.trim_end().len() {
            let cut = text.as_bytes().get(..end).unwrap();
            let Ok(table) = ImportedTable::parse("t.csv", cut) else { continue };
            if table.layers == whole.layers {
                continue;
            }
            // What ends between two rows is sound in itself, and is missing a layer.
            assert!(table.layers.len() < whole.layers.len(), "{end}");
            let lacks = matching::matched(&table, &network).unwrap_err().to_string();
            assert!(lacks.contains("the table ends before layer"), "{end}: {lacks}");
        }
    }
    let text = fixture("vela/per-layer.csv");
    let cycles: BTreeMap<usize, f64> = (0..text.len())
        .filter_map(|end| Some((end, ImportedTable::parse("cut", &text.as_bytes()[..end]).ok()?)))
        .map(|(end, table)| (end, table.cycles().0))
        .collect();
    let whole = cycles.iter().filter(|(_, cycles)| **cycles == 1096.0);
    let last = text.trim_end().rfind(',').unwrap();
    assert!(whole.clone().count() > 0 && whole.into_iter().all(|(end, _)| *end > last));
}
