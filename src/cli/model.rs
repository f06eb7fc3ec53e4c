//! `model`: which models ship, importing, generating and comparing them.

mod compare;

use super::target::ModelArgument;
use super::{Answer, CliError};
use crate::mapping::Network;
use crate::model::{
    ModelError, ModelGraph, families, generate, generators, read_ron, shipped_models,
    stored_parameters, write_ron,
};
use crate::report::{ListedModel, json, model_list_table, write_file};
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// Verbs on models.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // It is made once.
pub(super) enum Model {
    /// Models that ship
    List {
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn a model file of any kind into a RON graph, without weights
    Import {
        #[command(flatten)]
        model: ModelArgument,
        /// The .ron file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Name of the network; the name of the written file when left out
        #[arg(long)]
        name: Option<String>,
        /// Where the network is described
        #[arg(long, value_name = "TEXT")]
        source: Option<String>,
        /// Licence of that description
        #[arg(long, value_name = "TEXT")]
        licence: Option<String>,
        /// A summary as JSON
        #[arg(long)]
        json: bool,
    },
    /// Variants side by side: work, bytes, peak and quality, against the first
    Compare(compare::Compare),
    /// Write a published network as a RON graph, without weights
    #[command(after_help = names())]
    Generate {
        /// Name of the network
        name: String,
        /// The .ron file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// A summary as JSON
        #[arg(long)]
        json: bool,
    },
}

/// What can be generated, for the help.
fn names() -> String {
    let names: Vec<_> = generators().iter().map(|generator| generator.name).collect();
    let families = families().iter().map(|family| {
        let parameters = family.parameters.iter().map(|c| format!("{}={}", c.name, c.default));
        match parameters.collect::<Vec<_>>() {
            none if none.is_empty() => family.name.to_owned(),
            all => format!("{}({})", family.name, all.join(",")),
        }
    });
    let families: Vec<_> = families.collect();
    format!(
        "Networks: {}\nOf families, which may stand wherever a model does: {}",
        names.join(", "),
        families.join(", ")
    )
}

impl Model {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::List { json } => list(*json),
            Self::Import { model, out, name, source, licence, json } => {
                let mut graph = model.load()?;
                let stem = out.file_stem().map(|s| s.to_string_lossy().into_owned());
                graph.name = name.clone().or(stem).unwrap_or(graph.name);
                graph.source = source.clone().or(graph.source);
                graph.licence = licence.clone().or(graph.licence);
                written(&graph, out, *json)
            }
            Self::Compare(compare) => compare.run(),
            Self::Generate { name, out, json } => written(&generate(name)?, out, *json),
        }
    }
}

fn list(as_json: bool) -> Result<Answer, CliError> {
    let rows: Result<Vec<_>, ModelError> = shipped_models()
        .iter()
        .map(|m| {
            let graph = read_ron(m.path, m.text)?;
            let macs = Network::of(&graph)?.macs();
            let parameters = stored_parameters(&graph);
            let ModelGraph { origin, source, licence, .. } = graph;
            let (name, path) = (m.name, m.path);
            Ok(ListedModel { name, path, macs, parameters, origin, source, licence })
        })
        .collect();
    let rows = rows?;
    Ok(if as_json {
        Answer::json(&json::model_list(&rows), true)
    } else {
        Answer::yes(model_list_table(&rows))
    })
}

/// Writes a graph and says what is in it.
fn written(graph: &ModelGraph, out: &Path, as_json: bool) -> Result<Answer, CliError> {
    if out.extension().is_none_or(|e| e != "ron") {
        return Err(CliError::NotRon { what: "model", path: out.to_owned() });
    }
    let text = write_ron(graph)?;
    let network = Network::of(graph)?;
    let profile = if as_json { Some(graph.profile()?) } else { None };
    write_file(out, &text)?;
    if let Some(profile) = profile {
        return Ok(Answer::json(&json::inspect(&profile), true));
    }
    let mut said = format!(
        "{}: {} layers, {} MACs, written to {}\n",
        graph.name,
        network.layers.len(),
        network.macs(),
        out.display()
    );
    for line in graph.transforms.iter().flat_map(|record| record.lines()) {
        said.push_str(&format!("transform: {line}\n"));
    }
    for note in &graph.notes {
        said.push_str(&format!("note: {note}\n"));
    }
    Ok(Answer::yes(said))
}
