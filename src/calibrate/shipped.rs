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
        "stm32l4r5/microtvm-cmsis-nn",
        "stm32l4r5/x-cube-ai-8.0",
        "stm32l4r5/x-cube-ai-9.0",
        "stm32l4r5/x-cube-ai-10.2",
        "stm32u575/x-cube-ai-7.1",
        "stm32u575/x-cube-ai-9.0",
        "stm32u575/x-cube-ai-10.2",
        "stm32h7a3/x-cube-ai-8.1",
        "stm32h7a3/x-cube-ai-9.0",
        "gap9/mlperf-tiny-v1.0",
        "gap8/greenwaves-mobilenets",
        "gap8/dory-mobilenetv1",
        "max78002/an7664-table4",
        "eyeriss/jssc2017",
    ]
}
