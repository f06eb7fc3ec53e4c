//! Why a run cannot be made.

use super::kernel::KernelError;
use super::load::LoadError;
use super::snapshot::SnapshotError;
use super::supplied::SourceUse;
use crate::mapping::Plan;
use crate::trace::Residuals;
use crate::units::{Joules, Seconds, TimeError};

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// What is asked of it cannot go on.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A snapshot cannot be taken up.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Heat passes no law: numbers of the package lie out of range.
    #[error("the package takes no step: {0}")]
    Heat(#[from] crate::physics::LawError),
    /// The kernel stopped.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The plan has no step that takes time.
    #[error("nothing of `{network}` takes time on this hardware: {reasons}")]
    NothingToRun {
        /// The network.
        network: String,
        /// Why the engines refused.
        reasons: String,
    },
    /// A workload that cannot be.
    #[error("{0}")]
    Workload(String),
    /// A state of rest that no domain has.
    #[error("no domain has a state called `{name}`{}\nhelp: there are {known}", .nearest.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?")))]
    NoSuchState {
        /// The name as given.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
        /// Those there are.
        known: String,
    },
    /// Time or energy beyond what a number holds: the profile's values are out of this world.
    #[error("{network} would take {time} and {energy}: a number of the profile is out of range")]
    OutOfRange {
        /// The network.
        network: String,
        /// The time that came out.
        time: Seconds,
        /// The energy that came out.
        energy: Joules,
    },
    /// The sums of the run disagree: a fault of the program.
    #[error("the sums of joules disagree: {0:?}")]
    Identity(Residuals),
    /// A storage lost something else than was taken from it: a fault of the program.
    #[error(
        "what storage `{name}` lost is not what it gave, burnt and leaked: {residual} of what it held"
    )]
    Stored {
        /// The supply.
        name: String,
        /// The gap over what it held at first.
        residual: f64,
    },
}

impl SimError {
    /// An error when the time or energy of `plan` is not a finite number.
    pub fn unless_finite(plan: &Plan, time: Seconds, energy: Joules) -> Result<(), Self> {
        let orders = time.0.abs().log10() + energy.0.abs().log10();
        // Their product, the energy-delay product, must be a number too.
        if time.0.is_finite() && energy.0.is_finite() && orders < 300.0 {
            return Ok(());
        }
        Err(Self::OutOfRange { network: plan.network.clone(), time, energy })
    }

    /// An error where what a source lost is not what was taken from it.
    pub(super) fn unless_kept(source: &SourceUse) -> Result<(), Self> {
        let residual = source.residual();
        if residual < Residuals::LIMIT {
            return Ok(());
        }
        Err(Self::Stored { name: source.name.clone().unwrap_or_default(), residual })
    }

    /// No step of `plan` takes time: why.
    pub fn nothing(plan: &Plan) -> Self {
        let mut reasons: Vec<_> =
            plan.uncosted.iter().flat_map(|u| u.reasons.iter().cloned()).collect();
        reasons.sort();
        reasons.dedup();
        if reasons.is_empty() {
            reasons.push("it has no layer that computes or moves anything".to_owned());
        }
        Self::NothingToRun { network: plan.network.clone(), reasons: reasons.join("; ") }
    }
}

impl From<TimeError> for SimError {
    fn from(error: TimeError) -> Self {
        Self::Kernel(error.into())
    }
}
