//! Networks with the software that runs them.

use super::read::Reader;
use super::{NetworkSpec, PassSpec, Placed};
use crate::cost::Setting;
use crate::hardware::{Point, Profile};
use crate::mapping::{Directions, Network, Objective};
use crate::model::{Bindings, ModelError, ModelGraph, Options, Pass, Transform, apply, load_with};

/// The network of the field at `path`, as it runs on the hardware. `software` is that of all that name
/// none.
pub(super) fn placed(
    reader: &mut Reader,
    path: &str,
    spec: &NetworkSpec,
    software: Option<&str>,
    hardware: Option<&(Profile, Point)>,
) -> Option<Placed> {
    if reader.is_alone() {
        return None;
    }
    let graph = graph(reader, path, spec)?;
    of_graph(reader, path, spec, &graph, software, hardware?)
}

/// More requests than this are not computed together: each then has an inference of its own.
const MOST_TOGETHER: u64 = 32;

/// The networks of two samples, of three, and so on up to `size`; none of a size that no software puts
/// together.
pub(super) fn together(
    reader: &mut Reader,
    path: &str,
    spec: &NetworkSpec,
    software: Option<&str>,
    hardware: Option<&(Profile, Point)>,
    size: u64,
) -> Option<Vec<Network>> {
    if !(2..=MOST_TOGETHER).contains(&size) {
        return Some(Vec::new());
    }
    let one = graph(reader, path, spec)?;
    let mut networks = Vec::new();
    for samples in 2..=size {
        let many = apply(&one, &[Transform::Batch(samples)]);
        let many = reader.tried(format!("{path}.batch.size"), many)?;
        networks.push(of_graph(reader, path, spec, &many, software, hardware?)?.network);
    }
    Some(networks)
}

fn of_graph(
    reader: &mut Reader,
    path: &str,
    spec: &NetworkSpec,
    graph: &ModelGraph,
    software: Option<&str>,
    (profile, point): &(Profile, Point),
) -> Option<Placed> {
    let (name, at) = match &spec.software {
        Some(own) => (Some(own.as_str()), format!("{path}.software")),
        None => (software, "software".to_owned()),
    };
    let stacks = reader.tried(at, profile.stacks(name))?;
    let network = Network::executed(graph, profile.fuses(&stacks));
    let mut network = reader.tried(format!("{path}.model"), network)?;
    let setting = Setting { profile, point, stacks: &stacks };
    network.directions = directions(reader, path, spec, &network, setting)?;
    Some(Placed { network, stacks })
}

fn graph(reader: &mut Reader, path: &str, spec: &NetworkSpec) -> Option<ModelGraph> {
    let pass = spec.pass.as_ref().map(|pass| match pass {
        PassSpec::Prefill(tokens) => Pass::Prefill(*tokens),
        PassSpec::Decode(keys) => Pass::Decode(*keys),
    });
    let bindings = Bindings(spec.bind.clone());
    let options = Options { bindings, pass, ..Options::default() };
    let name = reader.found(&spec.model);
    let loaded = match load_with(&name, &options) {
        Err(ModelError::Ron(_)) => {
            Err(format!("model `{name}` has faults\nhelp: `joulecast inspect {name}` shows them"))
        }
        other => other.map_err(|error| error.to_string()),
    };
    reader.tried(format!("{path}.model"), loaded)
}

fn directions(
    reader: &mut Reader,
    path: &str,
    spec: &NetworkSpec,
    network: &Network,
    setting: Setting<'_>,
) -> Option<Directions> {
    let objective = spec.objective.map_or(Objective::default(), Objective::from);
    let mut sound = true;
    for (i, pin) in spec.place.iter().enumerate() {
        let one = Directions::new(objective, std::slice::from_ref(pin), network, setting.profile);
        let one = one.and_then(|one| one.check(network, setting));
        // What comes first in its words is the option of the command line.
        let one = one.map_err(|error| {
            let said = error.to_string();
            let option = said.strip_prefix("--place ").and_then(|rest| rest.split_once(": "));
            option.map_or(said.clone(), |(_, said)| said.to_owned())
        });
        sound &= reader.tried(format!("{path}.place[{i}]"), one).is_some();
    }
    let directions = Directions::new(objective, &spec.place, network, setting.profile);
    let directions = directions.ok().filter(|_| sound)?;
    Some(Directions { keeps: spec.keep, ..directions })
}
