//! Saved runs of a compiler, and the models that they are of.

use super::AgainstError;
use super::systems::{SYSTEMS, ShippedSystem, shipped_system};
use crate::mapping::Network;
use crate::mapping::import::{Compiled, ImportError, ImportedTable, TableFault, Tool};
use crate::model::{Bindings, ModelGraph, OperandRole, load};
use crate::units::Ratio;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// More entries than a folder of runs or models has.
const ENTRIES_LIMIT: usize = 10_000;

/// A run that is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// A run that is compared.
pub(super) struct SavedRun {
    pub name: String,
    pub table: ImportedTable,
    pub compiled: Compiled,
    pub system: &'static ShippedSystem,
}

/// The runs of a folder: those that a shipped profile stands for, and the others.
pub(super) fn saved_runs(folder: &Path) -> Result<(Vec<SavedRun>, Vec<LeftOut>), AgainstError> {
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    let folders = entries(folder)?.into_iter().filter(|path| path.is_dir());
    for path in folders {
        let table = match ImportedTable::read(std::slice::from_ref(&path)) {
            Err(ImportError::Table { fault: TableFault::NoTable, .. }) => continue,
            other => other?,
        };
        if table.tool != Tool::Vela {
            continue;
        }
        let name = named(&path);
        match system(&table) {
            Ok((compiled, system)) => runs.push(SavedRun { name, table, compiled, system }),
            Err(reason) => left_out.push(LeftOut { run: name, reason }),
        }
    }
    if runs.is_empty() {
        let left_out: Vec<_> = left_out.iter().map(|l| format!("{} {}", l.run, l.reason)).collect();
        let known: Vec<_> =
            SYSTEMS.iter().map(|s| format!("{} in {}", s.accelerator, s.system)).collect();
        let (left_out, known) = (left_out.join("; "), known.join(", "));
        return Err(AgainstError::NoRuns { folder: folder.to_owned(), left_out, known });
    }
    // By system, then by network, however folders are called.
    runs.sort_by(|one, other| {
        let key = |run: &SavedRun| {
            let (own, name) = (&run.compiled, run.name.clone());
            (own.accelerator.clone(), own.system.clone(), own.network.clone(), name)
        };
        key(one).cmp(&key(other))
    });
    Ok((runs, left_out))
}

fn system(table: &ImportedTable) -> Result<(Compiled, &'static ShippedSystem), String> {
    let Some(compiled) = &table.compiled else {
        return Err("has no summary that says what it is of".to_owned());
    };
    let Compiled { accelerator, system, .. } = compiled;
    match shipped_system(accelerator, system) {
        Some(found) => Ok((compiled.clone(), found)),
        None => {
            Err(format!("is of {accelerator} in {system}, which no shipped profile stands for"))
        }
    }
}

/// Encoded weights of a network by row of its table, and how much larger those of a run are: a schedule is
/// kept with few runs, the sum with all.
pub(super) fn encoded_like<'a>(
    run: &'a SavedRun,
    runs: &'a [SavedRun],
) -> Option<(&'a ImportedTable, Ratio)> {
    let has = |run: &SavedRun| run.table.layers.iter().any(|layer| layer.weights.is_some());
    if has(run) {
        return Some((&run.table, Ratio(1.0)));
    }
    let of_network = |other: &&SavedRun| other.compiled.network == run.compiled.network;
    let other = runs.iter().filter(of_network).find(|other| has(other))?;
    let share = run.compiled.encoded?.0 / other.compiled.encoded?.0;
    Some((&other.table, Ratio(share)))
}

/// Models of a folder, read once for each network.
pub(super) struct Models {
    folder: PathBuf,
    files: Vec<PathBuf>,
    found: BTreeMap<String, (PathBuf, ModelGraph)>,
}

impl Models {
    pub fn of(folder: &Path) -> Result<Self, AgainstError> {
        let mut files = entries(folder)?;
        files.retain(|path| path.extension().is_some_and(|e| e == "tflite"));
        Ok(Self { folder: folder.to_owned(), files, found: BTreeMap::new() })
    }

    /// The model of a run: the file that is called as its network, else the only one of 8-bit weights with
    /// the layers of its table (files are renamed).
    pub fn of_run(&mut self, run: &SavedRun) -> Result<&(PathBuf, ModelGraph), AgainstError> {
        let network = run.compiled.network.clone();
        let found = match self.found.remove(&network) {
            Some(known) => known,
            None => self.look_for(run)?,
        };
        Ok(self.found.entry(network).or_insert(found))
    }

    fn look_for(&self, run: &SavedRun) -> Result<(PathBuf, ModelGraph), AgainstError> {
        let network = &run.compiled.network;
        let read = |path: &Path| load(&path.to_string_lossy(), &Bindings::default());
        let mut files = self.files.iter();
        if let Some(path) = files.find(|path| named(&path.with_extension("")) == *network) {
            return Ok((path.clone(), read(path)?));
        }
        // A model that cannot be read is not the one.
        let models = self.files.iter().filter_map(|path| Some((path.clone(), read(path).ok()?)));
        let mut found: Vec<_> = models.filter(|(_, graph)| is_of(&run.table, graph)).collect();
        let candidates = found.iter().map(|(path, _)| named(path)).collect::<Vec<_>>().join(", ");
        let (folder, name, network) = (self.folder.clone(), run.name.clone(), network.clone());
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(AgainstError::NoModel { folder, run: name, network }),
            _ => Err(AgainstError::SeveralModels { folder, run: name, network, candidates }),
        }
    }
}

/// True for a graph of 8-bit weights with the layers of a table.
fn is_of(table: &ImportedTable, graph: &ModelGraph) -> bool {
    let Ok(network) = Network::of(graph) else { return false };
    let operands = network.layers.iter().flat_map(|layer| &layer.work.operands);
    let mut filters = operands.filter(|own| own.constant && own.role == OperandRole::Filter);
    filters.all(|own| own.element.bits() == 8 && !own.element.is_float())
        && table.matched(&network).is_ok()
}

fn named(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What lies in a folder, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, AgainstError> {
    let refused = |source| AgainstError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        found.push(entry.map_err(refused)?.path());
        if found.len() > ENTRIES_LIMIT {
            let folder = folder.to_owned();
            return Err(AgainstError::TooMany { folder, most: ENTRIES_LIMIT });
        }
    }
    found.sort();
    Ok(found)
}
