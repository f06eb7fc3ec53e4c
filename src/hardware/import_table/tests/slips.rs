//! Slips that a table may have: found, named once, and never imported in silence.

use super::{read, refused};
use crate::hardware::{BlockTable, Profile};

const HEADER: &str = "Block,Mode,Rail,V,Dynamic [mW],Leakage [uW]\n";

fn told_of(rows: &str) -> String {
    refused(&format!("{HEADER}{rows}"))
}

#[test]
fn a_row_that_is_there_twice_is_told_whatever_else_is_wrong_with_it() {
    let said = told_of("modem,rx,vdd,,1,1\nmodem,rx,vdd,1.8,x,1\nmodem,rx,vdd,1.8,1,1\n");
    assert_eq!(said.matches("`modem` in mode `rx` is in line 2 already").count(), 2, "{said}");
    assert!(said.ends_with("4 faults in blocks.csv"), "{said}");
}

#[test]
fn a_cell_beyond_the_header_is_named() {
    let said = told_of("modem,rx,vdd,1,8,42,120,late\nlcd,on,vdd,1.8,1,1,,\n");
    assert_eq!(
        said,
        "error: `120` stands in cell 7 of a row, and the header has 6\n --> blocks.csv:2\n  = help: a comma within a cell makes two of it: put the cell in quotes"
    );
    let table = read("Block,Mode,Rail,V,Dynamic [mW],\na,on,r,1,2,spare\n");
    assert_eq!(table.notes, ["column F has no name and is not read"]);
}

#[test]
fn names_that_differ_in_capital_letters_only_are_told() {
    let said =
        told_of("modem,active,vdd,1.8,1,1\nmodem,ACTIVE,vdd,1.8,2,1\nModem,rx,vdd,1.8,2,1\n");
    assert!(said.contains("error: the mode `ACTIVE` differs from `active` in line 2 in capital letters only\n --> blocks.csv:3, column B (Mode)\n  = help: write both the same way"), "{said}");
    assert!(said.contains("error: the block `Modem` differs from `modem` in line 2 in capital letters only\n --> blocks.csv:4, column A (Block)"), "{said}");
    assert!(said.ends_with("2 faults in blocks.csv"), "{said}");
}

#[test]
fn quantities_that_no_block_has_are_taken_for_slips_of_the_unit() {
    let said = refused("Block,Mode,Rail,V,Dynamic [MW]\na,on,r,1.8,42\nb,on,r,1.8,43\n");
    assert_eq!(
        said,
        "error: no block draws 1 MW; is mW meant?\n --> blocks.csv:1, column E (Dynamic [MW])"
    );
    let said = refused(
        "Block,Mode,Rail,V,Dynamic [W],Leakage [mW],Temp [degC]\na,on,r,1.8,425,1,25\nb,on,r,1.8 mV,1,1 MW,25\nc,on,r,1.8,1,1,298\n",
    );
    for (message, place) in [
        ("a dynamic power of 425 W: no block draws more than 100 W; is mW meant?", "2, column E"),
        ("a leakage power of 1 MW: no block draws more than 100 W; is mW meant?", "3, column F"),
        ("a voltage of 1.8 mV: nothing on a chip works below 50 mV; is V meant?", "3, column D"),
        (
            "a temperature of 298 degC: no chip works above 200 °C; is it in kelvin or degrees Fahrenheit?",
            "4, column G",
        ),
    ] {
        let shown = format!("error: {message}\n --> blocks.csv:{place}");
        assert!(said.contains(&shown), "{shown}\n{said}");
    }
    assert!(said.ends_with("4 faults in blocks.csv"), "{said}");
}

#[test]
fn voltages_far_from_those_of_the_rail_question_the_unit() {
    let profile = Profile::load("stm32l4r5").unwrap();
    let onto = |text: &str| {
        let mut table = BlockTable::read("blocks.csv", text.as_bytes(), None).unwrap();
        table.fits(&profile, false).unwrap_err().to_string()
    };
    let said =
        onto("Block,Mode,Rail,V,Dyn\n,,,mV,mW\na,on,vdd,180,1\na,off,vdd,180,0\nb,on,vdd,180,1\n");
    assert_eq!(
        said,
        "error: `a` in mode `on` is stated at 180 mV, and rail `vdd` of profile `stm32l4r5` is at 1.800 V to 3.000 V\n --> blocks.csv:2, column D (V)\n  = help: is the unit of this column right?"
    );
    let said = onto("Block,Mode,Rail,V,Dyn [mW]\na,on,vdd,1.8,1\nb,on,vdd,18,1\n");
    assert!(said.contains("`b` in mode `on` is stated at 18 V"), "{said}");
    assert!(said.contains(" --> blocks.csv:3, column D (V)\n"), "{said}");
    assert!(!said.contains("faults in"), "{said}");
}

#[test]
fn sums_agree_to_their_last_digit_and_not_to_a_share() {
    let table = |total: &str| {
        let text = format!(
            "Block,Mode,Rail,V,Dynamic [mW]\na,on,r,1,2.123\nb,on,r,1,3.724\nTotal,,,,{total}\n"
        );
        read(&text).remarks()
    };
    assert!(table("5.847").is_empty() && table("5.85").is_empty() && table("5.848").is_empty());
    assert_eq!(
        table("5.852"),
        [
            "TOTAL DIFFERS: line 4: dynamic power is said to be 5.852 mW, its rows add up to 5.847 mW: 5.000 µW more than the rows"
        ]
    );
    assert_eq!(table("5.84").len(), 1);
}

#[test]
fn the_exception_to_the_decimal_mark_is_blamed_and_not_the_rule() {
    let said = refused(
        "Block;Mode;Rail;V;Dynamic [mW]\na;on;r;1,8;42,5\nb;on;r;1,8;1.200\nc;on;r;1,8;85.5\n",
    );
    assert_eq!(
        said,
        "error: `1.200` has a point where other numbers of this table have a decimal comma\n --> blocks.csv:3, column E (Dynamic [mW])\n\nerror: `85.5` has a point where other numbers of this table have a decimal comma\n --> blocks.csv:4, column E (Dynamic [mW])\n\n2 faults in blocks.csv"
    );
}

#[test]
fn a_sum_may_name_its_mode_or_block() {
    let table = read(
        "Block,Mode,Rail,V,Dynamic [mW]\na,active,r,1,2\na,idle,r,1,1\nb,active,r,1,3\nTotal Active,,,,5\nTotal: idle,,,,1\nTotal: a,,,,3\nTotal: chip,,,,6\nTotal: all,ACTIVE,,,5\n",
    );
    let told: Vec<_> = table.totals.iter().map(|t| (t.line, t.of.as_str(), t.agrees)).collect();
    assert_eq!(
        told,
        [
            (5, "dynamic power in `active`", true),
            (6, "dynamic power in `idle`", true),
            (7, "dynamic power of `a`", true),
            (8, "dynamic power", true),
            (9, "dynamic power in `active`", true),
        ]
    );
    assert_eq!(table.modes(), 3);
    let said = told_of("a,on,r,1,2,\nTotal sleeping,,,,5,\n");
    assert!(said.contains("a row of `Total sleeping` has no mode\n --> blocks.csv:3, column B (Mode)\n  = help: a sum is called `Total`, or `Total` and a mode of the table: it has none called `sleeping`"), "{said}");
}

#[test]
fn a_column_that_is_only_a_unit_of_power_could_be_one() {
    let said = refused("Block,Mode,Rail,V,mW\na,on,r,1,2\n");
    assert_eq!(
        said,
        "error: no column for the dynamic power is known here\n --> blocks.csv:1\n  = help: call it dynamic, dyn, active, switching; `mW` has a unit of power: which one is it? call it, for example, `dynamic mW` or `leakage mW`"
    );
    let table = read("Block,Mode,Rail,V,Dynamic [mW],mW\na,on,r,1,2,3\n");
    assert_eq!(
        table.remarks(),
        ["not read: column F (mW); it could be a power: dynamic or leakage?"]
    );
}

#[test]
fn a_new_rail_that_is_called_like_one_of_the_profile_is_noted() {
    let profile = Profile::load("stm32l4r5").unwrap();
    let mut table = read("Block,Mode,Rail,V,Dynamic [mW]\na,on,vcor,1.2,2\n");
    table.fits(&profile, true).unwrap();
    assert!(
        table.notes[0].ends_with("; the profile has `vcore`: is that meant?"),
        "{:?}",
        table.notes
    );
}

#[test]
fn what_holds_in_many_rows_is_noted_once() {
    let rows: String = (0..24).map(|i| format!("b{i},on,r,1,2,1,4\n")).collect();
    let table =
        read(&format!("Block,Mode,Rail,V,Dynamic [mW],Leakage [mW],Total power [mW]\n{rows}"));
    assert_eq!(
        table.notes,
        [
            "line 2: `b0` in `on` has a total of 4 mW, its parts add up to 3.000 mW; likewise in 23 more rows, down to line 25"
        ]
    );
}
