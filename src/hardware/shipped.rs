//! The profiles that come with the program, and the software that they name, embedded in it.

/// A shipped profile, or a shipped file of software stacks.
#[derive(Debug, Clone, Copy)]
pub struct ShippedProfile {
    /// The name it is found by; `software/NAME` of software.
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
        "agx_orin_wall",
        "agx_xavier_wall",
        "allwinner_d1",
        "andes_d25f",
        "andes_d45",
        "apollo510",
        "arty_a7_100t",
        "coral_edgetpu",
        "edge_soc_example",
        "efr32xg24",
        "ethos_u55_128",
        "ethos_u55_256",
        "ethos_u85_256",
        "eyeriss",
        "gap8",
        "gap9",
        "h100",
        "jetson_orin_agx",
        "jetson_xavier_nx",
        "m467",
        "max78002",
        "nrf5340",
        "nrf54l15",
        "odroid_n2_wall",
        "psoc62",
        "pynq_z2",
        "ra6m4",
        "ra8d1",
        "raspberry_pi_4",
        "raspberry_pi_4_wall",
        "rh850_f1km",
        "rk3588",
        "rx65n",
        "spacemit_k1",
        "stm32f746",
        "stm32g0b1",
        "stm32h7a3",
        "stm32l4r5",
        "stm32u385",
        "stm32u3c5",
        "stm32u575",
        "stm32u585",
        "syntiant_ndp120",
        "tpu_v1",
        "zedboard_ic",
        "zedboard_kws",
        "zedboard_vww",
    ]
}

macro_rules! software {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedProfile {
            name: concat!("software/", $name),
            path: concat!("hardware_profiles/software/", $name, ".ron"),
            text: include_str!(concat!("../../hardware_profiles/software/", $name, ".ron")),
        }),*]
    };
}

/// Software stacks that profiles extend: no hardware.
pub fn shipped_software() -> &'static [ShippedProfile] {
    software![
        "any_runtime",
        "armnn",
        "cmsis_nn",
        "hale",
        "helium",
        "microtvm",
        "onnc",
        "plumerai",
        "reference_kernels",
        "scalar_m0",
        "scalar_other",
        "silabs_mvp",
        "tflite",
        "tflm_cmsis_nn",
        "x_cube_ai",
    ]
}

/// True where `name` is that of a shipped profile, or of shipped software.
pub(super) fn is_shipped(name: &str) -> bool {
    shipped().any(|file| file.name == name)
}

/// All that ships: profiles and software.
pub(super) fn shipped() -> impl Iterator<Item = &'static ShippedProfile> {
    shipped_profiles().iter().chain(shipped_software())
}
