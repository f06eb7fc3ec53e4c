//! A new profile from one there is: a copy under another name, or a short file that extends it.

use super::profile::Profile;
use super::shipped::is_shipped;
use super::spec::{Extends, OperatingPoint, PerCycle, ProfileSpec, Regulator, StateLoad};
use super::{HardwareError, shipped_profiles};
use crate::diagnostic::{SpanIndex, patched, quoted};
use crate::evidence::Parameter;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// `name` if a profile may have it.
///
/// # Errors
/// It is empty, or not printable.
pub fn checked_name(name: &str) -> Result<&str, HardwareError> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(HardwareError::Name { name: name.to_owned() });
    }
    Ok(name)
}

/// What a profile in `folder` calls the profile `given` on the command line: a shipped one by its name,
/// a file by its path from there.
pub fn base_name(given: &str, folder: &Path) -> String {
    if shipped_profiles().iter().any(|p| p.name == given) {
        return given.to_owned();
    }
    relative(Path::new(given), folder)
}

/// A path as seen from a folder, with `/` between its parts.
fn relative(path: &Path, folder: &Path) -> String {
    let (path, folder) = (plain(path), plain(folder));
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = path.components().skip(common).map(|c| c.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// An absolute path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// The text of a profile under another name, to stand in `folder`: all else, comments too, stays. What it
/// extends by a path is found from its new place, and a name that it had from there is its own.
///
/// # Errors
/// The name is none, or the text has no name to change.
pub fn copied(file: &str, text: &str, name: &str, folder: &Path) -> Result<String, HardwareError> {
    let own = quoted(checked_name(name)?);
    let index = SpanIndex::of(text);
    let base = index.value("extends").and_then(|span| text.get(span));
    let base = base.and_then(|literal| ron::from_str::<Extends>(literal).ok());
    let own_folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let unmoved =
        base.as_ref().is_some_and(|base| base.names().iter().all(|name| is_shipped(name)));
    let moved = base.map(|base| {
        let moved = base.renamed(|base| match is_shipped(base) {
            true => base.to_owned(),
            false => relative(&own_folder.join(base), folder),
        });
        match moved {
            Extends::One(name) => quoted(&name),
            Extends::Several(names) => {
                let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
                format!("[{}]", names.join(", "))
            }
        }
    });
    match (patched(text, "name", &own), moved) {
        (Some(renamed), None) => Ok(renamed),
        (Some(renamed), Some(_)) if unmoved => Ok(renamed),
        (Some(renamed), Some(moved)) => Ok(patched(&renamed, "extends", &moved).unwrap_or(renamed)),
        (None, Some(moved)) => patched(text, "extends", &format!("{moved},\n  name: {own}"))
            .ok_or_else(|| HardwareError::Nameless { file: file.to_owned() }),
        (None, None) => Err(HardwareError::Nameless { file: file.to_owned() }),
    }
}

/// A file that extends `base`, with changes to try in comments, made of what `profile` holds.
///
/// # Errors
/// The name is none.
pub fn extension(profile: &Profile, base: &str, name: &str) -> Result<String, HardwareError> {
    let spec = profile.spec();
    let (own, from) = (quoted(checked_name(name)?), quoted(base));
    let described = quoted(&format!("{} with changes: say which.", spec.name));
    let mut text = format!(
        "\
// What stands here holds; all else is that of {base}.
// Items of lists are found by their `name`, and an item of a new name comes behind the others.
// Take the // off the examples that you want.
(
  extends: {from},
  name: {own},
  description: {described},

  // Where your numbers come from. A source that {base} has is replaced whole.
  // sources: {{
  //   \"mine\": (kind: Measured, citation: \"what, with what, when\", condition: \"25 degC\"),
  // }},
"
    );
    for example in examples(spec) {
        text.push('\n');
        text.push_str(&example);
    }
    text.push_str(")\n");
    Ok(text)
}

/// Changes that this profile could see.
fn examples(spec: &ProfileSpec) -> Vec<String> {
    let numbers: Vec<String> =
        [engine(spec), domain(spec), memory(spec)].into_iter().flatten().collect();
    let mut examples = Vec::new();
    if !numbers.is_empty() {
        examples.push(format!("  // Other numbers for a block.\n{}", numbers.concat()));
    }
    examples.extend([point(spec), load(spec), without(spec)].into_iter().flatten());
    examples
}

fn mine(parameter: &Parameter) -> String {
    // A value of zero has no spread.
    let spread = if parameter.value == 0.0 { "" } else { " ±10%" };
    quoted(&format!("{}{spread} @mine", parameter.written))
}

fn engine(spec: &ProfileSpec) -> Option<String> {
    let engine = spec.engines.first()?;
    let name = quoted(&engine.name);
    let change = match (engine.energy.per_mac.first_key_value(), &engine.energy.per_busy_cycle) {
        (Some((format, energy)), _) => {
            format!("per_mac: {{{format}: {}}}", mine(energy.parameter()))
        }
        (None, Some(cost)) => format!("per_busy_cycle: {}", cycle(cost)),
        (None, None) => return None,
    };
    Some(format!("  // engines: [(name: {name}, energy: ({change}))],\n"))
}

fn domain(spec: &ProfileSpec) -> Option<String> {
    let (domain, tree) = spec.domains.iter().find_map(|d| Some((d, d.clock_tree.as_ref()?)))?;
    Some(format!(
        "  // domains: [(name: {}, clock_tree: {})],\n",
        quoted(&domain.name),
        cycle(tree)
    ))
}

fn memory(spec: &ProfileSpec) -> Option<String> {
    let memory = spec.memories.first()?;
    let capacity = quoted(&memory.capacity.parameter().written);
    Some(format!("  // memories: [(name: {}, capacity: {capacity})],\n", quoted(&memory.name)))
}

fn cycle(cost: &PerCycle) -> String {
    match cost {
        PerCycle::Energy(v) => format!("Energy({})", mine(v.parameter())),
        PerCycle::Charge(v) => format!("Charge({})", mine(v.parameter())),
    }
}

fn point(spec: &ProfileSpec) -> Option<String> {
    let point = spec.operating_points.first()?;
    let entry =
        |(name, p): (&String, &Parameter)| format!("{}: {}", quoted(name), quoted(&p.written));
    let clocks: Vec<_> = point.clocks.iter().map(|(n, v)| entry((n, v.parameter()))).collect();
    let rails =
        spec.rails.iter().filter_map(|r| Some((&r.name, spec.rail_voltage(point, &r.name)?)));
    let rails: BTreeMap<_, _> = rails.collect();
    let voltages: Vec<_> = rails.iter().map(|(n, v)| entry((n, v.parameter()))).collect();
    let (clocks, voltages) = (clocks.join(", "), voltages.join(", "));
    let mut text = format!(
        "\x20 // One more operating point, with a frequency for every clock and a voltage for every rail.
  // operating_points: [
  //   (name: \"my_point\", clocks: {{{clocks}}}, voltages: {{{voltages}}}),
  // ],
"
    );
    // Those that are used at all points are used at this one too.
    let named = |r: &&Regulator| r.operating_points.contains(&point.name);
    for (i, regulator) in spec.regulators.iter().filter(named).enumerate() {
        if i == 0 {
            text.push_str("  // regulators: [\n");
        }
        let points = regulator.operating_points.iter().map(|p| quoted(p));
        let points: Vec<String> = points.chain([quoted("my_point")]).collect();
        let (name, points) = (quoted(&regulator.name), points.join(", "));
        text.push_str(&format!("  //   (name: {name}, operating_points: [{points}]),\n"));
    }
    if spec.regulators.iter().any(|r| named(&r)) {
        text.push_str("  // ],\n");
    }
    Some(text)
}

fn load(spec: &ProfileSpec) -> Option<String> {
    let rail = spec.rails.last()?;
    let voltage = spec.rail_voltage(spec.operating_points.first()?, &rail.name)?;
    let (rail, volts) = (quoted(&rail.name), quoted(&voltage.parameter().written));
    Some(format!(
        "\x20 // A block that runs no network and draws power by state.
  // loads: [(name: \"my_block\", rail: {rail}, states: [
  //   (name: \"off\", voltage: {volts}, dynamic: \"0 W\"),
  //   (name: \"on\", voltage: {volts}, dynamic: \"10 mW ±50% @mine\"),
  // ])],
"
    ))
}

/// Something that nothing else names.
fn without(spec: &ProfileSpec) -> Option<String> {
    let unnamed = |p: &&OperatingPoint| {
        !spec.regulators.iter().any(|regulator| regulator.operating_points.contains(&p.name))
    };
    let point = spec.operating_points.get(1..)?.iter().rfind(unnamed);
    let chosen = |l: &&StateLoad| {
        !spec.operating_points.iter().any(|point| point.loads.contains_key(&l.name))
    };
    let path = match (
        spec.loads.iter().rfind(chosen),
        spec.software.get(1..).and_then(<[_]>::last),
        point,
    ) {
        (Some(load), _, _) => format!("loads.{}", load.name),
        (_, Some(stack), _) => format!("software.{}", stack.name),
        (_, _, Some(point)) => format!("operating_points.{}", point.name),
        _ => return None,
    };
    Some(format!("  // What is not wanted of it.\n  // without: [{}],\n", quoted(&path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Vec<(String, &'static str, Profile)> {
        let all = shipped_profiles().iter();
        all.map(|p| (p.name.to_owned(), p.text, Profile::parse(p.path, p.text).unwrap())).collect()
    }

    #[test]
    fn a_copy_differs_in_its_name_alone() {
        for (name, text, profile) in shipped() {
            let copy = copied("x.ron", text, "my \"own\"", Path::new("")).unwrap();
            let back = copy.replacen("\"my \\\"own\\\"\"", &format!("{name:?}"), 1);
            assert_eq!(back, text);
            let parsed = Profile::parse("copy.ron", &copy).unwrap();
            assert_eq!(parsed.spec().name, "my \"own\"");
            assert_eq!(parsed.parameters(), profile.parameters());
        }
    }

    #[test]
    fn a_name_is_printable_text() {
        for name in ["", "  ", "a\nb", "\u{7}"] {
            assert!(
                matches!(
                    copied("x.ron", "(name: \"a\")", name, Path::new("")),
                    Err(HardwareError::Name { .. })
                ),
                "{name:?}"
            );
        }
        let nameless = copied("x.ron", "(rails: [])", "a", Path::new(""));
        assert!(matches!(nameless, Err(HardwareError::Nameless { .. })));
    }

    #[test]
    fn an_extension_is_sound_with_and_without_its_examples() {
        for (base, _, profile) in shipped() {
            let text = extension(&profile, &base, "mine").unwrap();
            let plain = Profile::parse("mine.ron", &text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(plain.parameters(), profile.parameters());
            // Sentences stay comments.
            let uncommented = |line: &str| match line.strip_prefix("  // ") {
                Some(code) if !code.ends_with('.') => format!("  {code}\n"),
                _ => format!("{line}\n"),
            };
            let all: String = text.lines().map(uncommented).collect();
            assert!(all.contains("\n  sources: {") && all.contains("\n  loads: ["), "{all}");
            let made = Profile::parse("mine.ron", &all).unwrap_or_else(|e| panic!("{e}\n{all}"));
            assert!(made.point(Some("my_point")).is_ok());
            assert!(made.spec().loads.iter().any(|load| load.name == "my_block"));
            assert_ne!(made.parameters(), profile.parameters());
        }
    }

    #[test]
    fn paths_are_seen_from_the_folder_of_the_new_file() {
        assert_eq!(base_name("eyeriss", Path::new("out")), "eyeriss");
        assert_eq!(base_name("chips/a.ron", Path::new("out/new")), "../../chips/a.ron");
        assert_eq!(base_name("chips/a.ron", Path::new("chips")), "a.ron");
        let text = "(extends: \"base.ron\", name: \"a\")";
        let copy = copied("chips/a.ron", text, "b", Path::new("out")).unwrap();
        assert_eq!(copy, "(extends: \"../chips/base.ron\", name: \"b\")");
        let text = "(extends: \"eyeriss\", name: \"a\")";
        assert_eq!(
            copied("chips/a.ron", text, "b", Path::new("out")).unwrap(),
            "(extends: \"eyeriss\", name: \"b\")"
        );
        let text = "(extends: [\"eyeriss\", \"base.ron\", \"software/cmsis_nn\"], name: \"a\")";
        assert_eq!(
            copied("chips/a.ron", text, "b", Path::new("out")).unwrap(),
            "(extends: [\"eyeriss\", \"../chips/base.ron\", \"software/cmsis_nn\"], name: \"b\")"
        );
        let text = "(extends: r\"base.ron\")";
        let copy = copied("chips/a.ron", text, "b", Path::new("chips")).unwrap();
        assert_eq!(copy, "(extends: \"base.ron\",\n  name: \"b\")", "a name of its own");
    }
}
