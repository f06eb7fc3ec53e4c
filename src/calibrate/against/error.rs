//! Why nothing was held against a compiler's estimates.

use crate::hardware::HardwareError;
use crate::mapping::import::ImportError;
use crate::model::ModelError;
use std::path::PathBuf;

/// Why saved runs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// A folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The folder.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// No run that a shipped profile stands for.
    #[error(
        "{} holds no run of Vela that a shipped profile stands for{}\nhelp: a run is a folder with per-layer.csv and summary.csv; profiles stand for {known}",
        folder.display(),
        if left_out.is_empty() { String::new() } else { format!(": {left_out}") }
    )]
    NoRuns {
        /// The folder.
        folder: PathBuf,
        /// The runs that there are, and why they are none.
        left_out: String,
        /// The systems that profiles stand for.
        known: String,
    },
    /// More folders than anyone keeps runs in.
    #[error("{} holds more than {most} entries: give the folder of the runs alone", folder.display())]
    TooMany {
        /// The folder.
        folder: PathBuf,
        /// The most that are looked at.
        most: usize,
    },
    /// The network of a run is missing.
    #[error(
        "{} has no model of run `{run}`\nhelp: none is called {network}.tflite, and none of 8-bit weights has the layers of the run",
        folder.display()
    )]
    NoModel {
        /// The folder.
        folder: PathBuf,
        /// The run.
        run: String,
        /// Its network.
        network: String,
    },
    /// Several models may be the network of a run.
    #[error(
        "{} has several models with the layers of run `{run}`: {candidates}\nhelp: call that of the run {network}.tflite",
        folder.display()
    )]
    SeveralModels {
        /// The folder.
        folder: PathBuf,
        /// The run.
        run: String,
        /// Its network.
        network: String,
        /// Their files.
        candidates: String,
    },
    /// A layer that the profile does not run.
    #[error("{hardware} has no cost of layer `{layer}` of run `{run}`: {reason}")]
    Uncosted {
        /// The run.
        run: String,
        /// The profile.
        hardware: &'static str,
        /// The layer.
        layer: String,
        /// Why.
        reason: String,
    },
    /// A table, or one that is of another network.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A profile.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
}
