//! The profiles that come with the program, embedded in it.

/// A shipped profile.
#[derive(Debug, Clone, Copy)]
pub struct ShippedProfile {
    /// The name it is found by.
    pub name: &'static str,
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

macro_rules! profiles {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedProfile {
            name: $name,
            path: concat!("hardware_profiles/", $name, ".ron"),
            text: include_str!(concat!("../../hardware_profiles/", $name, ".ron")),
        }),*]
    };
}

/// All shipped profiles, in the order they are listed.
pub fn shipped_profiles() -> &'static [ShippedProfile] {
    profiles![
        "apollo510",
        "coral_edgetpu",
        "edge_soc_example",
        "ethos_u55_128",
        "ethos_u55_256",
        "ethos_u85_256",
        "eyeriss",
        "gap8",
        "gap9",
        "h100",
        "jetson_orin_agx",
        "jetson_xavier_nx",
        "max78002",
        "nrf54l15",
        "raspberry_pi_4",
        "rk3588",
        "stm32h7a3",
        "stm32l4r5",
        "stm32u385",
        "stm32u575",
        "syntiant_ndp120",
        "tpu_v1"
    ]
}
