//! Tables of other tools as plans: cycles and bytes are theirs, time, power and energy the profile's.
//!
//! A reader turns the files of one tool into an [`ImportedTable`], which belongs to none. Whose files they
//! are is seen from their headers, not from their names. [`Imported`] holds a table against a network row by
//! row ([`Mismatch`] where they are not of one model) and its levels of memory against a profile, and makes
//! a [`Plan`](super::Plan) at any setting of that profile, so that its numbers can be moved while cycles and
//! bytes stay. A table is also costed by itself, with costs of a word ([`WordCosts`]).

mod costs;
mod error;
mod levels;
mod matching;
mod planned;
mod scale_sim;
mod sheet;
mod source;
mod table;
mod vela;
mod zigzag;

pub use costs::{LayerEnergy, WordCost, WordCosts};
pub use error::{ImportError, Mismatch, Place, TableFault};
pub use levels::Choices;
pub use matching::Matched;
pub use planned::{Imported, plan_from};
pub use table::{
    Access, AccessUnit, Compiled, EncodedWeights, ImportedLayer, ImportedTable, StatedEnergy, Tool,
};

use super::Network;
use source::Source;
use std::path::{Path, PathBuf};

/// What is known of the files of a tool.
struct Reader {
    tool: Tool,
    /// True for a file of this tool.
    knows: fn(&Source) -> bool,
    /// A table from such files, in the order of their names.
    read: fn(&[Source]) -> Result<ImportedTable, ImportError>,
    /// True for a file whose companions lie beside it; nothing where each file stands by itself.
    primary: Option<fn(&Source) -> bool>,
}

/// Readers of all tools.
const READERS: [Reader; 3] = [vela::READER, zigzag::READER, scale_sim::READER];

fn reader(source: &Source) -> Option<&'static Reader> {
    READERS.iter().find(|reader| (reader.knows)(source))
}

impl ImportedTable {
    /// Reads the files of one run of a tool; a folder stands for the tables in it.
    ///
    /// # Errors
    /// A file cannot be read, belongs to no tool or has a fault; the files are of several tools or runs.
    pub fn read(paths: &[PathBuf]) -> Result<Self, ImportError> {
        let mut sources = source::sources(paths)?;
        if let [path] = paths
            && let [only] = sources.as_slice()
            && let Some(primary) = reader(only).and_then(|reader| reader.primary)
            && primary(only)
        {
            // Other tables that lie there are of other runs.
            let companions = source::beside(Path::new(path))?;
            sources.extend(companions.into_iter().filter(|other| !primary(other)));
        }
        Self::of(sources)
    }

    /// Reads a table from its text, which `file` names in errors.
    ///
    /// # Errors
    /// As [`ImportedTable::read`].
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, ImportError> {
        Self::of(vec![Source::of(file, text.to_vec(), true)?])
    }

    /// Its rows by layer of a network, in the order of the layers.
    ///
    /// # Errors
    /// The table is not one of this network.
    pub fn matched(&self, network: &Network) -> Result<Vec<Matched>, ImportError> {
        matching::matched(self, network)
    }

    fn of(sources: Vec<Source>) -> Result<Self, ImportError> {
        let mut own: Option<&'static Reader> = None;
        let mut kept = Vec::with_capacity(sources.len());
        let mut first = None;
        for source in sources {
            first.get_or_insert_with(|| source.file.clone());
            let place = || Place::file(&source.file);
            match (reader(&source), own) {
                (None, _) if source.asked => {
                    let found = sheet::first_headers(&source);
                    return Err(TableFault::Unknown { found }.at(place()));
                }
                (None, _) => continue,
                (Some(reader), Some(before)) if reader.tool != before.tool => {
                    let fault = TableFault::TwoTools { first: before.tool, second: reader.tool };
                    return Err(fault.at(place()));
                }
                (Some(reader), _) => own = Some(reader),
            }
            kept.push(source);
        }
        match own {
            Some(reader) => (reader.read)(&kept),
            None => Err(TableFault::NoTable.at(Place::file(first.as_deref().unwrap_or("")))),
        }
    }
}

#[cfg(test)]
mod tests;
