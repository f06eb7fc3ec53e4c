//! Names of a package as indices.

/// Names of a package as indices. Without a package all lists are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatLinks {
    /// Node that each domain heats.
    pub domain_node: Vec<usize>,
    /// Node that each engine heats.
    pub engine_node: Vec<usize>,
    /// Node that each state load heats.
    pub load_node: Vec<usize>,
    /// Node that each regulator heats.
    pub regulator_node: Vec<usize>,
    /// Node of each sensor.
    pub sensor_node: Vec<usize>,
    /// Sensor of each throttling.
    pub throttle_sensor: Vec<usize>,
    /// Clocks that each throttling caps, in the order of its list.
    pub throttle_clocks: Vec<Vec<String>>,
    /// What the critical trip looks at.
    pub critical: Option<CriticalAt>,
}

/// What a critical trip looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CriticalAt {
    /// A node, at once.
    Node(usize),
    /// The readings of a sensor.
    Sensor(usize),
}
