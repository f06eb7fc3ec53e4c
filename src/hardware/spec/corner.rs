//! Corners: silicon and conditions that go together.

use crate::evidence::{Valued, described};
use crate::units::{Celsius, Ratio};

described! {
    /// A corner (`TT`, `FF_hot`, `SS_cold`): factors on what the profile states, taken together.
    pub struct Corner {
        /// Name, as `--corner` takes it.
        pub name: String,
        /// Factor on all leakage.
        #[serde(default)]
        pub leakage: Option<Valued<Ratio>>,
        /// Factor on switching energies of engines, clock trees, memories, caches and links in domains
        /// whose energy goes with voltage.
        #[serde(default)]
        pub dynamic: Option<Valued<Ratio>>,
        /// Factor on every clock.
        #[serde(default)]
        pub frequency: Option<Valued<Ratio>>,
        /// Factor on the voltage of every rail that feeds a domain whose energy goes with voltage.
        #[serde(default)]
        pub voltage: Option<Valued<Ratio>>,
        /// Junction temperature.
        #[serde(default)]
        pub temperature: Option<Valued<Celsius>>,
    }
}
