//! Hardware profiles: what ships, a profile with its tree, what its headline numbers rest on.

use super::pair;
use crate::evidence::Coverage;
use crate::hardware::{
    DomainNode, Feed, ParameterRecord, Profile, RailNode, ShippedProfile, SoftwareSpec, rail_tree,
};
use crate::report::CheckedModel;
use crate::report::tables::MOVERS;
use crate::uncertainty::{Headline, Headlines};
use crate::units::Spread;
use serde_json::{Map, Value, json};

/// `hardware list`.
pub fn hardware_list(profiles: &[(ShippedProfile, Profile)]) -> Value {
    let rows: Vec<Value> = profiles
        .iter()
        .map(|(shipped, profile)| {
            let spec = profile.spec();
            json!({
                "name": spec.name, "kind": spec.kind, "description": spec.description,
                "path": shipped.path, "sourced_share": profile.sourced_share(),
            })
        })
        .collect();
    json!({"schema": "joulecast.hardware_list/1", "profiles": rows})
}

/// `hardware show`: every number with what it rests on, the sources, and the tree of what feeds what. A
/// node of the tree has the `path` that its numbers start with.
pub fn hardware(profile: &Profile) -> Value {
    let mut document = common(profile);
    document.insert("sources".into(), sources(profile));
    let trees = rail_tree(profile);
    let trees = trees.iter().map(|node| root(profile, node)).collect::<Vec<_>>();
    document.insert("tree".into(), json!(trees));
    Value::Object(document)
}

/// `hardware check`: every number with what it rests on, and what the headline numbers of reference
/// models do.
pub fn hardware_check(profile: &Profile, point: &str, models: &[CheckedModel]) -> Value {
    let mut document = common(profile);
    document.insert("operating_point".into(), json!(point));
    document.insert("models".into(), models.iter().map(checked).collect());
    Value::Object(document)
}

/// `hardware check` of a file of software stacks alone.
pub fn software_check(name: &str, software: &SoftwareSpec) -> Value {
    let stacks = software.software.iter().map(|stack| {
        let runtime = stack.runtime.as_ref();
        let runtime = runtime.map(|r| json!({"family": r.family, "versions": r.versions}));
        json!({"name": stack.name, "runtime": runtime, "runs_on": stack.runs_on})
    });
    json!({
        "schema": "joulecast.software/1", "name": name,
        "software": stacks.collect::<Vec<Value>>(),
    })
}

fn common(profile: &Profile) -> Map<String, Value> {
    let spec = profile.spec();
    let parameters: Vec<Value> = profile.parameters().into_iter().map(parameter).collect();
    let points: Vec<&str> = spec.operating_points.iter().map(|p| p.name.as_str()).collect();
    let software: Vec<&str> = spec.software.iter().map(|p| p.name.as_str()).collect();
    let document = json!({
        "schema": "joulecast.hardware/1",
        "name": spec.name, "kind": spec.kind, "description": spec.description,
        "extends": profile.extends(),
        "operating_points": points, "software": software,
        "sourced_share": profile.sourced_share(),
        "notes": profile.gaps(),
        "parameters": parameters,
    });
    match document {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn parameter(record: ParameterRecord) -> Value {
    let p = record.parameter;
    let spread = match p.spread {
        None => Value::Null,
        Some(Spread::LogNormal(sigma)) => json!({"relative": sigma.exp_m1()}),
        Some(Spread::Normal(sd)) => json!({"absolute": sd}),
    };
    json!({
        "path": record.path, "name": record.name, "written": p.written, "value_si": p.value, "unit_si": p.unit,
        "spread": spread, "kind": p.kind.name(), "source": p.source,
    })
}

fn sources(profile: &Profile) -> Value {
    let sources = profile.spec().sources.iter().map(|(key, source)| {
        let common = source.common.map(|spread| spread.0.exp_m1());
        let source = json!({
            "kind": source.kind.name(), "citation": source.citation,
            "condition": source.condition, "common_relative": common,
        });
        (key.clone(), source)
    });
    Value::Object(sources.collect())
}

fn node(kind: &str, name: &str, path: String, children: Vec<Value>) -> Map<String, Value> {
    let mut node = Map::new();
    node.insert("kind".into(), json!(kind));
    node.insert("name".into(), json!(name));
    node.insert("path".into(), json!(path));
    node.insert("children".into(), Value::Array(children));
    node
}

fn root(profile: &Profile, at: &RailNode) -> Value {
    let child = rail(profile, at);
    match at.feed {
        Feed::Supply(Some(index)) => {
            let name = profile.spec().supplies.get(index).map_or("", |s| s.name.as_str());
            Value::Object(node("supply", name, format!("supplies[{index}]"), vec![child]))
        }
        _ => json!({"kind": "supply", "name": null, "path": null, "children": [child]}),
    }
}

/// A rail with the regulators that feed it.
fn rail(profile: &Profile, at: &RailNode) -> Value {
    let spec = profile.spec();
    let name = spec.rails.get(at.rail).map_or("", |rail| rail.name.as_str());
    let mut children: Vec<Value> = at.domains.iter().map(|d| domain(profile, d)).collect();
    let loads = at.loads.iter().filter_map(|load| Some((*load, spec.loads.get(*load)?)));
    children.extend(loads.map(|(index, load)| {
        let mut node = node("load", &load.name, format!("loads[{index}]"), Vec::new());
        let states: Vec<&str> = load.states.iter().map(|s| s.name.as_str()).collect();
        node.insert("states".into(), json!(states));
        Value::Object(node)
    }));
    children.extend(at.rails.iter().map(|below| rail(profile, below)));
    let mut node = node("rail", name, format!("rails[{}]", at.rail), children);
    node.insert("again".into(), json!(at.again));
    let voltages = spec
        .operating_points
        .iter()
        .filter_map(|p| Some((p.name.clone(), json!(spec.rail_voltage(p, name)?.get()))));
    node.insert("voltage_v_by_point".into(), Value::Object(voltages.collect()));
    if let Feed::Regulators(indices) = &at.feed {
        let regulators = indices.iter().filter_map(|index| {
            let regulator = spec.regulators.get(*index)?;
            let points: Vec<&str> = spec.operating_points.iter().map(|p| p.name.as_str()).collect();
            let used: Vec<_> = points.into_iter().filter(|p| regulator.in_use_at(p)).collect();
            let path = format!("regulators[{index}]");
            Some(json!({"name": regulator.name, "path": path, "operating_points": used}))
        });
        node.insert("regulators".into(), regulators.collect());
    }
    Value::Object(node)
}

fn domain(profile: &Profile, at: &DomainNode) -> Value {
    let spec = profile.spec();
    let Some(domain) = spec.domains.get(at.domain) else { return Value::Null };
    let mut children = Vec::new();
    let mut add = |kind: &str,
                   list: &str,
                   indices: &[usize],
                   name: &dyn Fn(usize) -> Option<String>| {
        for index in indices {
            let name = name(*index).unwrap_or_default();
            children.push(Value::Object(node(kind, &name, format!("{list}[{index}]"), Vec::new())));
        }
    };
    add("engine", "engines", &at.engines, &|i| Some(spec.engines.get(i)?.name.clone()));
    add("memory", "memories", &at.memories, &|i| Some(spec.memories.get(i)?.name.clone()));
    add("cache", "caches", &at.caches, &|i| Some(spec.caches.get(i)?.name.clone()));
    add("link", "links", &at.links, &|i| Some(spec.links.get(i)?.name.clone()));
    let mut node = node("domain", &domain.name, format!("domains[{}]", at.domain), children);
    node.insert("clock".into(), json!(domain.clock));
    let states: Vec<&str> = domain.states.iter().map(|s| s.name.as_str()).collect();
    node.insert("states".into(), json!(states));
    Value::Object(node)
}

fn checked(of: &CheckedModel) -> Value {
    let Some(Headlines { costed_share, fits, energy, time, .. }) = &of.headlines else {
        return json!({"model": of.model, "runs": false});
    };
    json!({
        "model": of.model, "runs": true, "costed_share": costed_share, "fits": fits,
        "energy_j": energy.value, "energy_j_interval90": pair(energy.interval),
        "latency_s": time.value, "latency_s_interval90": pair(time.interval),
        "energy": grounds(energy), "time": grounds(time),
    })
}

fn grounds(headline: &Headline) -> Value {
    let movers = headline.movers.iter().take(MOVERS).map(
        |c| json!({"name": c.name, "effect_of_one_sigma": c.effect, "variance_share": c.share}),
    );
    json!({
        "evidence_share": headline.evidence.share(),
        "share_by_kind": by_kind(&headline.evidence),
        "movers": movers.collect::<Vec<_>>(),
    })
}

/// Share of each kind of source.
pub(super) fn by_kind(coverage: &Coverage) -> Value {
    coverage.shares().map(|(kind, share)| (kind.name().to_owned(), json!(share))).collect()
}
