//! `model`: which models ship, and importing a file.

use super::target::ModelArgument;
use super::{Answer, CliError};
use crate::model::{ModelError, read_ron, shipped_models, write_ron};
use crate::report::{FolderError, json, model_list_table};
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// Verbs on models.
#[derive(Debug, Subcommand)]
pub(super) enum Model {
    /// Models that ship
    List {
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn a .tflite or .onnx file into a RON graph, without weights
    Import {
        #[command(flatten)]
        model: ModelArgument,
        /// The .ron file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Name of the network; the name of the written file when left out
        #[arg(long)]
        name: Option<String>,
        /// A summary as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Model {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::List { json } => list(*json),
            Self::Import { model, out, name, json } => import(model, out, name.as_deref(), *json),
        }
    }
}

fn list(as_json: bool) -> Result<Answer, CliError> {
    let rows: Result<Vec<_>, ModelError> = shipped_models()
        .iter()
        .map(|m| {
            let layers = read_ron(m.path, m.text)?.layers()?;
            let macs = layers.iter().map(|l| l.work.macs).sum::<u64>();
            let parameters = layers.iter().map(|l| l.work.parameters).sum::<u64>();
            Ok((m.name, m.path, macs, parameters))
        })
        .collect();
    let rows = rows?;
    Ok(if as_json {
        Answer::json(&json::model_list(&rows), true)
    } else {
        Answer::yes(model_list_table(&rows))
    })
}

fn import(
    model: &ModelArgument,
    out: &Path,
    name: Option<&str>,
    as_json: bool,
) -> Result<Answer, CliError> {
    let mut graph = model.load()?;
    let stem = out.file_stem().map(|s| s.to_string_lossy().into_owned());
    graph.name = name.map(str::to_owned).or(stem).unwrap_or(graph.name);
    let text = write_ron(&graph)?;
    write_whole(out, &text)?;
    let network = crate::mapping::Network::of(&graph)?;
    let live = graph.live_activation_bytes();
    if as_json {
        return Ok(Answer::json(&json::inspect(&graph, &network, &live), true));
    }
    let macs: u64 = network.layers.iter().map(|l| l.work.macs).sum();
    let mut said = format!(
        "{}: {} layers, {macs} MACs, written to {}\n",
        graph.name,
        network.layers.len(),
        out.display()
    );
    for note in &graph.notes {
        said.push_str(&format!("note: {note}\n"));
    }
    Ok(Answer::yes(said))
}

/// Writes a file under a temporary name beside it and renames it, so that it is never half there.
fn write_whole(path: &Path, text: &str) -> Result<(), FolderError> {
    let io = |source| FolderError::Io { path: path.to_owned(), source };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(io)?;
    let staging = tempfile::Builder::new().prefix(".joulecast-").tempdir_in(parent).map_err(io)?;
    let staged = staging.path().join("file");
    std::fs::write(&staged, text).map_err(io)?;
    std::fs::rename(&staged, path).map_err(io)
}
