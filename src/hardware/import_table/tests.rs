use super::*;
use crate::evidence::Kind;
use crate::hardware::Profile;

mod slips;

fn read(text: &str) -> BlockTable {
    BlockTable::read("blocks.csv", text.as_bytes(), None).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(text: &str) -> String {
    match BlockTable::read("blocks.csv", text.as_bytes(), None) {
        Err(error) => error.to_string(),
        Ok(table) => panic!("{table:?}"),
    }
}

const ENGLISH: &str = "\
Block,Mode,Rail,Voltage [V],Dynamic [mW],Leakage [uW]
modem,rx,vdd_io,1.8,42.5,120
,idle,,1.8,0.5,120
display,on,vdd_io,1.8,31,
";

#[test]
fn a_plain_table_is_read() {
    let table = read(ENGLISH);
    assert_eq!(table.blocks.len(), 2);
    let modem = &table.blocks[0];
    assert_eq!(
        (modem.name.as_str(), modem.rail.as_str(), modem.modes.len()),
        ("modem", "vdd_io", 2)
    );
    assert_eq!(modem.modes[0].dynamic.written, "42.5 mW");
    assert!((modem.modes[0].leakage.as_ref().unwrap().value.0 - 120e-6).abs() < 1e-18);
    assert_eq!(modem.modes[1].line, 3, "an empty cell repeats the block above");
    assert_eq!(table.blocks[1].modes[0].leakage, None);
    assert!(table.notes.is_empty() && table.unread.is_empty(), "{table:?}");
}

/// The same table as other tools write it.
#[test]
fn delimiters_decimals_units_and_marks_make_no_difference() {
    let same = |text: &str| {
        let (table, english) = (read(text), read(ENGLISH));
        let plain = |t: &BlockTable| -> Vec<(String, String, String, String)> {
            let modes = t.blocks.iter().flat_map(|b| b.modes.iter().map(move |m| (b, m)));
            let text = |(b, m): (&Block, &BlockMode)| {
                (b.name.clone(), b.rail.clone(), m.name.clone(), m.dynamic.written.clone())
            };
            modes.map(text).collect()
        };
        assert_eq!(plain(&table), plain(&english), "{text}");
    };
    same(
        "\u{feff}IP;Power state;Supply;VDD (V);Switching power (mW);Static (uW)\nmodem;rx;vdd_io;1,8;42,5;120\n;idle;;1,8;0,5;120\ndisplay;on;vdd_io;1,8;31;\n",
    );
    same(
        "Instance\tState\tRail\tVoltage\tDyn\tLeak\n\t\t\tV\tmW\tuW\nmodem\trx\tvdd_io\t1.8\t42.5\t120\n\tidle\t\t1.8\t0.5\t120\ndisplay\ton\tvdd_io\t1.8\t31\t-\n",
    );
    same(
        "sep=;\nBlock;Mode;Rail;V;P_dyn_mW;P_leak [µW]\r\nmodem;rx;vdd_io;1,8;42,5;120\r\n;idle;;1,8;0,5;120\r\ndisplay;on;vdd_io;1,8;31;n/a\r\n",
    );
    same(
        "Power of the board, third revision\n\n# measured nowhere\n\"Block\",\"Mode\",\"Rail\",\"Voltage\",\"Dynamic\",\"Leakage\"\n\"modem\",\"rx\",\"vdd_io\",\"1.8 V\",\"42.5 mW\",\"120 uW\"\n,idle,,1.8 V,0.5 mW,120 uW\ndisplay,,,,,\n,on,vdd_io,1.8 V,31 mW,\n",
    );
}

#[test]
fn a_table_in_the_wide_characters_of_a_spreadsheet_is_read() {
    let wide: Vec<u8> = "\u{feff}"
        .chars()
        .chain(ENGLISH.replace(',', "\t").chars())
        .flat_map(|c| (c as u16).to_le_bytes())
        .collect();
    assert_eq!(BlockTable::read("blocks.csv", &wide, None).unwrap().modes(), 3);
}

#[test]
fn what_is_no_table_is_refused() {
    let refused = |bytes: &[u8]| BlockTable::read("t.csv", bytes, None).unwrap_err().to_string();
    assert_eq!(refused(b"PK\x03\x04rest"), "t.csv: this is a spreadsheet: export the sheet as CSV");
    assert_eq!(
        refused(b"Block,Mode\nm\xb5,a\n"),
        "t.csv: line 2 is not UTF-8 text: save the table as `CSV UTF-8`"
    );
    assert_eq!(refused(b""), "error: there is no row of a block below the header\n --> t.csv:1");
}

#[test]
fn sums_are_held_against_their_rows_and_not_imported() {
    let table = read(
        "Block,Mode,Rail,V,Dynamic [mW],Leakage [mW],Total [mW]\na,run,r,1,10,1,11\nb,run,r,1,20,2,22.5\nSubtotal,run,,,30,3,\nc,run,r,1,5,0,5\nTotal,,,,36,3,\n",
    );
    assert_eq!(table.blocks.len(), 3);
    let told: Vec<_> = table.totals.iter().map(|t| (t.line, t.of.as_str(), t.agrees)).collect();
    assert_eq!(
        told,
        [
            (4, "dynamic power in `run`", true),
            (4, "leakage power in `run`", true),
            (6, "dynamic power", false),
            (6, "leakage power", true),
        ]
    );
    assert!((table.totals[2].sum.0 - 0.035).abs() < 1e-15);
    assert_eq!(
        table.notes,
        ["line 3: `b` in `run` has a total of 22.5 mW, its parts add up to 22.00 mW"]
    );
}

#[test]
fn faults_are_told_together_with_line_and_column() {
    let said = refused(
        "Block,Mode,Rail,Voltage [V],Dynamic [mW],Leakage [mW]\nmodem,rx,vdd_io,,42,1\nmodem,tx,vdd_io,1.8,lots,1\nmodem,idle,vdd_io,1.8,-3,1\n\nmodem,idle,vdd_io,1.8,3,1\nmodem,idle,vdd_io,1.8,4,1\npll,on,,1.8,4,1\nmodem,off,vdd,1.8,0,0\nlcd,on,vdd_io,1.8,,\nlcd,,vdd_io,1.8,1,\n",
    );
    assert_eq!(
        said,
        "\
error: `modem` in mode `rx` has no voltage
 --> blocks.csv:2, column D (Voltage [V])

error: `lots` is not a number
 --> blocks.csv:3, column E (Dynamic [mW])

error: a dynamic power of -3 is below zero
 --> blocks.csv:4, column E (Dynamic [mW])

error: `modem` in mode `idle` is in line 4 already
 --> blocks.csv:6, column B (Mode)

error: `modem` in mode `idle` is in line 4 already
 --> blocks.csv:7, column B (Mode)

error: `pll` has no rail
 --> blocks.csv:8, column C (Rail)
  = help: write one into this cell, or give --rail NAME for blocks without

error: `modem` is on rail `vdd_io` in line 2 and on `vdd` here
 --> blocks.csv:9, column C (Rail)
  = help: a block has one rail: give its parts names of their own

error: `lcd` in mode `on` has no power: write 0 where it draws none
 --> blocks.csv:10, column E (Dynamic [mW])

error: a row of `lcd` has no mode
 --> blocks.csv:11, column B (Mode)

9 faults in blocks.csv"
    );
}

#[test]
fn columns_and_units_that_are_not_there_are_told_once() {
    let said = refused("Block,Mode,Rail,Voltage,Watts\na,run,r,1,2\nb,run,r,1,2\n");
    assert!(said.contains("error: no column for the dynamic power is known here\n --> blocks.csv:1\n  = help: call it dynamic, dyn, active, switching; this table has `Block`, `Mode`, `Rail`, `Voltage`, `Watts`"), "{said}");
    assert!(said.contains("error: the voltage has no unit\n --> blocks.csv:1, column D (Voltage)\n  = help: write it into the header, such as `Voltage [V]`, or into a row below"), "{said}");
    assert!(said.ends_with("2 faults in blocks.csv"), "{said}");
    let said = refused("Block,Mode,Rail,Voltage [V],Dynamic [MHz]\na,run,r,1,2\nb,run,r,1,2\n");
    assert_eq!(
        said,
        "error: `MHz` is not a unit of power, expected one like \"40 mW\"\n --> blocks.csv:1, column E (Dynamic [MHz])"
    );
    let said = refused("Block,Mode,Rail,Voltage [V],Dynamic [mw]\na,run,r,1,2\n");
    assert!(said.contains("unknown unit `mw`, did you mean `mW`?"), "{said}");
    let said = refused("Block,Mode,Rail,Voltage [V],VDD [V],Dynamic [mW]\na,run,r,1,2,3\n");
    assert!(said.contains("error: this is a second column for the voltage, besides column D (Voltage [V]): leave one out\n --> blocks.csv:1, column E (VDD [V])"), "{said}");
}

#[test]
fn a_number_that_can_be_read_as_two_is_refused() {
    let said = refused(
        "Block,Mode,Rail,Voltage [V],Dynamic [mW]\na,run,r,1.8,\"1,234.5\"\nb,run,r,1.8,\"1,5\"\n",
    );
    assert_eq!(
        said,
        "\
error: `1,234.5` has separators of thousands: leave them out
 --> blocks.csv:2, column E (Dynamic [mW])

error: `1,5` has a comma where other numbers of this table have a decimal point
 --> blocks.csv:3, column E (Dynamic [mW])

2 faults in blocks.csv"
    );
}

#[test]
fn a_power_that_is_not_split_is_dynamic_and_said_to_be() {
    let table = read("Block,Rail,V,Power [mW],Owner\na,r,1,10,x\n");
    assert_eq!(table.blocks[0].modes[0].name, "on");
    let owner =
        UnreadColumn { letter: "E".into(), header: "Owner".into(), near: None, power: false };
    assert_eq!(table.unread, [owner]);
    assert_eq!(
        table.notes,
        [
            "column `Power [mW]` is not split: all of it is taken as dynamic power",
            "no column of modes: every block has the one mode `on`",
        ]
    );
}

#[test]
fn a_mode_that_draws_nothing_may_stand_at_zero_volt() {
    let table = read("Block,Mode,Rail,V,Dynamic [mW]\na,off,r,0,0\na,run,r,1.1,5\n");
    assert_eq!(table.blocks[0].modes[0].voltage.written, "1.1 V");
    assert!(table.notes[0].contains("is at 0 V and draws nothing: written at 1.1 V"), "{table:?}");
    let said = refused("Block,Mode,Rail,V,Dynamic [mW]\na,off,r,0,1\n");
    assert!(said.contains("draws power at zero volt"), "{said}");
}

fn terms(kind: Kind, percent: Option<f64>) -> Terms {
    let spread = percent.map(|p| crate::units::Spread::LogNormal((p / 100.0).ln_1p()));
    Terms { kind, spread, initial: None }
}

fn near(spread: Option<crate::units::Spread>, sigma: f64) -> bool {
    matches!(spread, Some(crate::units::Spread::LogNormal(s)) if (s - sigma).abs() < 1e-12)
}

/// A profile with the parts of a fragment put where they belong.
fn wrapped(fragment: &str) -> Profile {
    let between = |start: &str, end: &str| {
        let from = fragment.find(start).unwrap() + start.len();
        &fragment[from..from + fragment[from..].find(end).unwrap()]
    };
    let rails = between("rails: [", "],\n");
    let sources = between("sources: {", "\n  },\n");
    let loads = between("loads: [", "\n  ],\n)");
    let names = rails.matches("name: ").count();
    let voltages: Vec<String> = rails
        .split("name: ")
        .skip(1)
        .map(|r| format!("{}: \"1 V\"", r.split(')').next().unwrap()))
        .collect();
    assert_eq!(names, voltages.len());
    let text = format!(
        "(schema: \"joulecast.profile/1\", name: \"w\", kind: SystemOnChip, description: \"\",
        sources: {{{sources}}}, temperature: \"25 degC\", rails: [(name: \"core\"), {rails}],
        operating_points: [(name: \"p\", clocks: {{\"c\": \"1 MHz\"}}, voltages: {{\"core\": \"1 V\", {}}})],
        domains: [(name: \"d\", rail: \"core\", clock: \"c\", nominal_voltage: \"1 V\")],
        memories: [(name: \"m\", domain: \"d\", capacity: \"1 KiB\", bandwidth: PerCycle(\"1 B/cycle\"))],
        engines: [(name: \"e\", domain: \"d\", array: Systolic(rows: 1, columns: 1, dataflow: WeightStationary, precision: Int8),
          energy: (per_mac: {{Int8: \"1 pJ\"}}), supports: [Conv], memories: [\"m\"], transfers: Serial)],
        loads: [{loads}])",
        voltages.join(", ")
    );
    Profile::parse("w.ron", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn the_fragment_is_part_of_a_sound_profile() {
    let table = read(
        "Block,Mode,Rail,V,Dynamic [mW],Leakage [uW],Temp [C],Freq [MHz]\n\"lcd \"\"main\"\"\",on,io,1.8,31,20,85,60\n,off,io,1.8,0,0,85,\npll,on,core a,0.8,2,,,\n",
    );
    let fragment = profile_fragment(&table, None, &terms(Kind::Measured, Some(20.0)));
    let profile = wrapped(&fragment);
    let loads = &profile.spec().loads;
    assert_eq!(loads.len(), 2);
    assert_eq!(loads[0].name, "lcd \"main\"");
    assert_eq!(loads[1].rail, "core a");
    let on = &loads[0].states[0];
    let dynamic = on.dynamic.parameter();
    assert!((dynamic.value - 0.031).abs() < 1e-15);
    assert_eq!(dynamic.kind, Kind::Measured);
    assert!(near(dynamic.spread, 1.2f64.ln()), "{dynamic:?}");
    let Some(crate::hardware::LoadLeakage::Growing(law)) = &on.leakage else {
        panic!("{fragment}")
    };
    assert!((law.temperature.get().0 - 85.0).abs() < 1e-12);
    assert_eq!(law.per_kelvin.kind(), Kind::Assumed, "the table does not say it");
    assert!(fragment.contains("// at 60 MHz"), "{fragment}");
    assert!(matches!(loads[0].states[1].leakage, Some(crate::hardware::LoadLeakage::Constant(_))));
}

#[test]
fn a_table_without_temperatures_has_constant_leakage() {
    let fragment = profile_fragment(&read(ENGLISH), Some("mine"), &terms(Kind::Assumed, None));
    assert!(fragment.contains("leakage: Constant(\"120 uW @table\")"), "{fragment}");
    assert!(fragment.contains("  name: \"mine\",\n"), "{fragment}");
    assert!(!fragment.contains("leakage_growth"), "{fragment}");
    let profile = wrapped(&fragment);
    let spread = profile.spec().loads[0].states[0].dynamic.parameter().spread;
    assert!(near(spread, 1.4f64.ln()), "what is assumed is not exact: {spread:?}");
}

#[test]
fn blocks_go_onto_a_profile_that_has_their_rails() {
    let shipped = crate::hardware::shipped_profiles().iter().find(|p| p.name == "eyeriss").unwrap();
    let profile = Profile::parse(shipped.path, shipped.text).unwrap();
    let mut table =
        read("Block,Mode,Rail,V,Dynamic [mW]\npanel,on,vdd_cor,1.0,5\nglb,on,vdd_core,1.0,5\n");
    let said = table.fits(&profile, false).unwrap_err().to_string();
    assert_eq!(
        said,
        "\
error: profile `eyeriss` has no rail `vdd_cor`
 --> blocks.csv:2, column C (Rail)
  = help: did you mean `vdd_core`? --new-rails adds rails that are not there

error: profile `eyeriss` has something called `glb` in a trace already
 --> blocks.csv:3
  = help: give the block another name

2 faults in blocks.csv"
    );
    let mut table = read("Block,Mode,Rail,V,Dynamic [mW]\npanel,on,vdd_core,1.5,5\n");
    table.fits(&profile, false).unwrap();
    assert!(table.notes[0].contains("`panel` is stated at 1.5 V"), "{:?}", table.notes);
    let text = profile_onto(&table, "mine", "eyeriss", &profile, &terms(Kind::Datasheet, None));
    assert!(text.contains("\n(\n  extends: \"eyeriss\",\n  name: \"mine\",\n"), "{text}");
    let made = Profile::parse("mine.ron", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(made.spec().loads[0].states[0].dynamic.kind(), Kind::Datasheet);
    // Blocks upon blocks: the first table keeps its source.
    let mut table = read("Block,Mode,Rail,V,Dynamic [mW]\nlcd,on,vdd_core,1.0,7\n");
    table.fits(&made, false).unwrap();
    let text = profile_onto(&table, "more", "x.ron", &made, &terms(Kind::Measured, None));
    assert!(
        text.contains("\"table_2\": (kind: Measured") && text.contains("7 mW @table_2"),
        "{text}"
    );
}

#[test]
fn rails_that_a_profile_lacks_come_with_the_blocks() {
    let profile = Profile::load("stm32l4r5").unwrap();
    let mut table = read(
        "Block,Mode,Rail,V,Dynamic [mW]\nradio,rx,vdd_rf,1.8,5\nradio,tx,vdd_rf,3.3,5\nlcd,on,vdd,3.0,9\n",
    );
    table.fits(&profile, true).unwrap();
    assert!(table.notes[0].contains("rail `vdd_rf` is new") && table.notes.len() == 1, "{table:?}");
    assert!(table.notes[0].contains("at 3.3 V, the highest stated"), "{table:?}");
    let terms = Terms { initial: Some("tx".into()), ..terms(Kind::Measured, Some(10.0)) };
    let text = profile_onto(&table, "mine", "stm32l4r5", &profile, &terms);
    let made = Profile::parse("mine.ron", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(made.spec().rails.len(), 3, "vdd is there already");
    for point in &made.spec().operating_points {
        assert!((point.voltages["vdd_rf"].get().0 - 3.3).abs() < 1e-12);
        assert_eq!(point.voltages.len(), 3);
    }
    let point = made.point(None).unwrap();
    assert_eq!(point.load_states, [1, 0], "tx, and the only state of the display");
    assert!(text.contains("// note: rail `vdd_rf` is new"), "{text}");
}

#[test]
fn a_column_of_unknown_name_is_named_with_the_nearest() {
    let table =
        read("Block,Mode,Rail,V,Dynamic [mW],Leakge [uW],Owner,Freqency\na,on,r,1,2,3,x,9\n");
    assert_eq!(
        table.remarks(),
        [
            "not read: column F (Leakge [uW]); did you mean `leakage`?",
            "not read: column G (Owner)",
            "not read: column H (Freqency); did you mean `frequency`?",
        ]
    );
    let said = refused("Block,Mode,Rail,Voltge [V],Dynamic [mW]\na,on,r,1,2\n");
    assert_eq!(
        said,
        "error: no column for the voltage is known here\n --> blocks.csv:1\n  = help: call it voltage, vdd, v, supply voltage; is it `Voltge [V]`?"
    );
}

#[test]
fn a_condition_in_a_header_is_told_and_not_read() {
    let table = read("Block,Mode,Rail,V,Dynamic (mW) @ TT 25C\na,on,r,1,2\n");
    assert_eq!(table.remarks(), ["note: column `Dynamic (mW) @ TT 25C`: `TT 25C` is not read"]);
}

#[test]
fn a_sum_that_is_not_that_of_its_rows_is_remarked_on() {
    let table = read("Block,Mode,Rail,V,Dynamic [mW]\na,on,r,1,2\nb,on,r,1,3\nTotal,,,,6\n");
    assert_eq!(
        table.remarks(),
        [
            "TOTAL DIFFERS: line 4: dynamic power is said to be 6.000 mW, its rows add up to 5.000 mW: 1.000 mW more than the rows"
        ]
    );
}

#[test]
fn rows_without_a_block_and_names_that_cannot_be_printed_are_refused() {
    let said = refused("Block,Mode,Rail,V,Dynamic [mW]\n,on,r,1,2\n\"a\u{7}\",on,r,1,2\n");
    assert_eq!(
        said,
        "\
error: this row has no block, and no row above it has one
 --> blocks.csv:2, column A (Block)

error: the name of the block has characters that cannot be printed
 --> blocks.csv:3, column A (Block)

2 faults in blocks.csv"
    );
}

#[test]
fn an_argument_names_the_rail_of_blocks_that_have_none() {
    let text = "Block,Mode,Rail,V,Dynamic [mW]\na,on,,1,2\nb,on,vio,1,3\n";
    let table = BlockTable::read("t.csv", text.as_bytes(), Some("vdd")).unwrap();
    assert_eq!(table.rails(), ["vdd", "vio"]);
    let text = "Block,Mode,V,Dynamic [mW]\na,on,1,2\n";
    assert!(BlockTable::read("t.csv", text.as_bytes(), Some("vdd")).is_ok());
    assert!(refused(text).contains("rail, supply, power domain, power rail, or give --rail NAME"));
}

/// Whatever is left of a file, the answer is a table or an error that can be shown.
#[test]
fn a_table_cut_or_changed_anywhere_never_panics() {
    let text = "sep=;\nBlock;Mode;Rail;V;P_dyn [mW];Leak [µW];T\na;on;r;1,8;42,5;1,2;25 °C\nTotal;;;;42,5;;\n";
    let tried = |bytes: &[u8]| match BlockTable::read("t.csv", bytes, None) {
        Ok(table) => drop(profile_fragment(&table, None, &terms(Kind::Assumed, None))),
        Err(error) => assert!(!error.to_string().is_empty()),
    };
    for at in 0..=text.len() {
        tried(&text.as_bytes()[..at]);
        tried(&text.as_bytes()[at..]);
        for word in [&b"\""[..], b";", b",", b"\n", b"\xff", b"-", b"1e999", b"'", b"\x00"] {
            tried(&[&text.as_bytes()[..at], word, &text.as_bytes()[at..]].concat());
        }
    }
}

#[test]
fn a_table_of_no_power_team_is_refused() {
    let said = refused(&format!("{}\n{}\n", "Block;".repeat(50_000), "1;".repeat(50_000)));
    assert_eq!(said, "blocks.csv: more than 1000 columns: this is no table of blocks");
    let said = refused(&format!("Block,V\n{}", "a,1\n".repeat(20_001)));
    assert_eq!(said, "blocks.csv: more than 20000 rows: this is no table of blocks");
}

#[test]
fn columns_are_lettered_as_in_a_spreadsheet() {
    let letters: Vec<_> = [0, 25, 26, 51, 52, 701, 702].into_iter().map(letter).collect();
    assert_eq!(letters, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
}
