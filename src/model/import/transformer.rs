//! Transformers from their configuration, as model hubs store it (`config.json`).
//!
//! The files are other people's: fields that are not needed are passed over. All that is wrong in
//! those that are is said together, and what changes the arithmetic and is not understood is noted.

mod attention;
mod configuration;
mod family;
mod fields;
mod limits;
mod mixture;
mod storage;
mod unread;

use super::options::{Options, Pass, refused};
use crate::diagnostic::{Report, duplicate_faults};
use crate::model::transformer::{Head, Stem, Transformer, assemble};
use crate::model::{ModelError, ModelGraph};
use configuration::{Configuration, configuration};
use fields::LARGEST;
use std::path::Path;

/// Tokens of a prefill for which no number is asked.
const TOKENS: u64 = 128;

/// Reads a configuration as one pass of its transformer.
pub(super) fn read(path: &str, text: &str, options: &Options) -> Result<ModelGraph, ModelError> {
    let not_a_model = |reason: String| ModelError::NotAModel { path: path.to_owned(), reason };
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|e| not_a_model(format!("it is no transformer configuration in JSON: {e}")))?;
    // Of a field given twice, the last would hold in silence.
    let twice = duplicate_faults(text);
    if !twice.is_empty() {
        return Err(Box::new(Report::new(path, text, twice)).into());
    }
    let Some(fields) = value.as_object() else {
        return Err(not_a_model("a transformer configuration is a JSON object".to_owned()));
    };
    let read = configuration(&name(path, fields), fields);
    let read = read.map_err(|faults| Report::located(path, text, faults))?;
    let Configuration { transformer, mut notes, positions, stored } = read;
    let (pass, note) = pass(path, &transformer, positions, options.pass)?;
    let stored = match options.weights {
        None => stored,
        Some(format) => storage::asked(path, format)?,
    };
    let stored = stored.unwrap_or_else(|| storage::plain(&transformer));
    let mut graph = assemble(&transformer, pass, stored)
        .map_err(|error| too_large(path, options.pass, &error))?;
    graph.notes.extend(note);
    graph.notes.append(&mut notes);
    Ok(graph)
}

/// A transformer whose fields are sound fails by its size alone, which the pass adds to.
fn too_large(path: &str, asked: Option<Pass>, error: &ModelError) -> ModelError {
    let reason = format!("with so many tokens the model is too large to count: {error}");
    match asked {
        Some(Pass::Prefill(_)) => refused(path, "--prefill", &reason),
        Some(Pass::Decode(_)) => refused(path, "--decode", &reason),
        None => ModelError::NotAModel {
            path: path.to_owned(),
            reason: format!("it is too large to count: {error}"),
        },
    }
}

/// What the file calls the network, or the name of the file, or of its folder if that says more.
fn name(path: &str, fields: &serde_json::Map<String, serde_json::Value>) -> String {
    let stated = fields.get("_name_or_path").and_then(|name| name.as_str()).unwrap_or("");
    let stated = stated.rsplit('/').next().filter(|name| !name.is_empty());
    let path = Path::new(path);
    let stem = path.file_stem().filter(|stem| *stem != "config");
    let folder = path.parent().and_then(Path::file_name);
    let by_path = stem.or(folder).map_or("transformer".into(), |name| name.to_string_lossy());
    stated.map_or_else(|| by_path.into_owned(), str::to_owned)
}

/// The pass that is counted, and a note where nobody asked for it.
fn pass(
    path: &str,
    transformer: &Transformer,
    positions: Option<u64>,
    asked: Option<Pass>,
) -> Result<(Pass, Option<String>), ModelError> {
    let (option, tokens) = match asked {
        None => ("--prefill", positions.map_or(TOKENS, |most| most.min(TOKENS))),
        Some(Pass::Prefill(tokens)) => ("--prefill", tokens),
        Some(Pass::Decode(keys)) => ("--decode", keys),
    };
    if tokens == 0 || tokens > LARGEST {
        return Err(refused(
            path,
            option,
            &format!("{tokens} is not a number from 1 to {LARGEST}"),
        ));
    }
    let image = matches!(transformer.stem, Stem::Patches { .. });
    if image && asked.is_some() {
        return Err(refused(path, option, "the image gives the tokens of this model"));
    }
    if matches!(asked, Some(Pass::Decode(_))) && !matches!(transformer.head, Head::Language { .. })
    {
        let reason = "an encoder sees all tokens at once; it keeps no cache";
        return Err(refused(path, option, reason));
    }
    let learned = matches!(transformer.stem, Stem::Tokens { positions: Some(_), .. });
    let mut note = None;
    if let Some(most) = positions.filter(|most| tokens > *most && !image) {
        let reason = format!("{tokens} tokens are more than the {most} positions of this model");
        if learned {
            return Err(refused(path, option, &reason));
        }
        note = Some(reason);
    }
    if asked.is_none() && !image {
        note = Some(format!("{tokens} tokens for lack of --prefill N or --decode C"));
    }
    Ok((asked.unwrap_or(Pass::Prefill(tokens)), note))
}

#[cfg(test)]
mod tests;
