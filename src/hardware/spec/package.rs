//! The way of heat from the junction to the air.

use crate::evidence::{FieldPath, Parameter, Parameters, Valued, described};
use crate::units::{Celsius, JoulesPerKelvin, KelvinsPerWatt, Seconds};
use serde::Deserialize;

described! {
    /// The thermal network of package, board and heat sink.
    pub struct Package {
        /// Temperature of the air.
        pub ambient: Valued<Celsius>,
        /// The network.
        pub network: ThermalNetwork,
    }
}

/// A thermal network from the junction outwards.
#[derive(Debug, Clone, Deserialize)]
pub enum ThermalNetwork {
    /// A ladder of physical nodes: each has a capacity to ground and a resistance to the next; that of
    /// the last leads to the air.
    Cauer(Vec<CauerNode>),
    /// A sum of exponentials, as data sheets print it; its parts are no places.
    Foster(Vec<FosterTerm>),
}

super::precision::either_parameter!(ThermalNetwork: Cauer, Foster);

described! {
    /// A node of a ladder.
    pub struct CauerNode {
        /// What it is (`die`).
        pub name: String,
        /// Heat capacity.
        pub capacity: Valued<JoulesPerKelvin>,
        /// Resistance to the next node, or to the air.
        pub resistance: Valued<KelvinsPerWatt>,
    }
}

described! {
    /// A term of a step response.
    pub struct FosterTerm {
        /// Its resistance.
        pub resistance: Valued<KelvinsPerWatt>,
        /// Its time constant.
        pub time_constant: Valued<Seconds>,
    }
}
