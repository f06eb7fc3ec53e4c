//! The cases that come with the program, embedded in it.

/// A shipped case.
#[derive(Debug, Clone, Copy)]
pub struct ShippedCase {
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

macro_rules! cases {
    ($($id:literal),* $(,)?) => {
        &[$(ShippedCase {
            path: concat!("validation/", $id, ".ron"),
            text: include_str!(concat!("../../validation/", $id, ".ron")),
        }),*]
    };
}

/// All shipped cases, in the order they are listed.
pub fn shipped_cases() -> &'static [ShippedCase] {
    cases![
        "stm32l4r5/tflm-2.3.1",
        "stm32l4r5/hale-1.0",
        "stm32l4r5/hale-1.0.175",
        "stm32l4r5/microtvm-cmsis-nn",
        "stm32l4r5/microtvm-cmsis-nn-ctuning",
        "stm32l4r5/microtvm-cmsis-nn-krai",
        "stm32l4r5/microtvm-native",
        "stm32l4r5/microtvm-native-ctuning",
        "stm32l4r5/microtvm-native-krai",
        "stm32l4r5/onnc-v1.1",
        "stm32l4r5/plumerai-2023.05",
        "stm32l4r5/plumerai-v0.7",
        "stm32l4r5/plumerai-v1.0",
        "stm32l4r5/x-cube-ai-7.1",
        "stm32l4r5/x-cube-ai-7.3",
        "stm32l4r5/x-cube-ai-7.3-krai",
        "stm32l4r5/x-cube-ai-8.0",
        "stm32l4r5/x-cube-ai-8.1",
        "stm32l4r5/x-cube-ai-9.0",
        "stm32l4r5/x-cube-ai-10.2",
        "stm32u575/hale-1.0",
        "stm32u575/hale-1.0.175",
        "stm32u575/plumerai-2023.05",
        "stm32u575/x-cube-ai-7.1",
        "stm32u575/x-cube-ai-7.3",
        "stm32u575/x-cube-ai-8.1",
        "stm32u575/x-cube-ai-9.0",
        "stm32u575/x-cube-ai-10.2",
        "stm32u585/plumerai-v1.0",
        "stm32u385/x-cube-ai-10.2",
        "stm32h7a3/hale-1.0",
        "stm32h7a3/hale-1.0.175",
        "stm32h7a3/plumerai-2023.05",
        "stm32h7a3/x-cube-ai-7.1",
        "stm32h7a3/x-cube-ai-7.3",
        "stm32h7a3/x-cube-ai-7.3-krai",
        "stm32h7a3/x-cube-ai-7.3-krai-kws",
        "stm32h7a3/x-cube-ai-8.0-krai",
        "stm32h7a3/x-cube-ai-8.1",
        "stm32h7a3/x-cube-ai-9.0",
        "stm32f746/hale-1.0",
        "stm32f746/hale-1.0.175",
        "stm32f746/plumerai-2023.05",
        "stm32f746/plumerai-v0.7",
        "stm32f746/plumerai-v1.0",
        "stm32g0b1/hale-1.0",
        "stm32g0b1/hale-1.0.175",
        "psoc62/hale-1.0.175",
        "psoc62/plumerai-2023.05",
        "psoc62/plumerai-v0.7",
        "psoc62/plumerai-v1.0",
        "m467/onnc-v1.1",
        "nrf5340/microtvm-cmsis-nn",
        "nrf5340/microtvm-cmsis-nn-krai",
        "ra6m4/tflm-v0.7",
        "ra8d1/tflm-v1.2",
        "rx65n/tflm-v0.7",
        "rh850_f1km/hale-1.0.175",
        "andes_d25f/tflm-v0.7",
        "andes_d45/tflm-v0.7",
        "efr32xg24/tflm-mvp-v0.7",
        "efr32xg24/tflm-mvp-v1.0",
        "syntiant_ndp120/tiny-v0.7-30mhz",
        "syntiant_ndp120/tiny-v0.7-98mhz",
        "syntiant_ndp120/tiny-v1.0-30mhz",
        "syntiant_ndp120/tiny-v1.0-98mhz",
        "gap9/mlperf-tiny-v1.0",
        "gap8/greenwaves-mobilenets",
        "gap8/dory-mobilenetv1",
        "max78002/an7664-table4",
        "max78002/an7664-table4-50mhz",
        "eyeriss/jssc2017",
    ]
}
