//! Which shipped profile stands for which system of Vela.

/// An accelerator in a system, and what stands for it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedSystem {
    /// The accelerator, as Vela's summary calls it.
    pub accelerator: &'static str,
    /// The system, as Vela's configuration calls it.
    pub system: &'static str,
    /// The profile.
    pub hardware: &'static str,
    /// Its operating point.
    pub operating_point: &'static str,
}

/// All systems that a shipped profile stands for.
pub const SYSTEMS: [ShippedSystem; 5] = [
    of("Ethos_U55_128", "Ethos_U55_Deep_Embedded", "ethos_u55_128", "deep_embedded_200mhz"),
    of("Ethos_U55_128", "Ethos_U55_High_End_Embedded", "ethos_u55_128", "high_end_500mhz"),
    of("Ethos_U55_256", "Ethos_U55_Deep_Embedded", "ethos_u55_256", "deep_embedded_200mhz"),
    of("Ethos_U55_256", "Ethos_U55_High_End_Embedded", "ethos_u55_256", "high_end_500mhz"),
    of("Ethos_U85_256", "Ethos_U85_SYS_DRAM_Mid", "ethos_u85_256", "dram_mid_1ghz"),
];

const fn of(
    accelerator: &'static str,
    system: &'static str,
    hardware: &'static str,
    operating_point: &'static str,
) -> ShippedSystem {
    ShippedSystem { accelerator, system, hardware, operating_point }
}

/// What stands for an accelerator in a system.
pub(super) fn shipped_system(accelerator: &str, system: &str) -> Option<&'static ShippedSystem> {
    SYSTEMS.iter().find(|own| own.accelerator == accelerator && own.system == system)
}
