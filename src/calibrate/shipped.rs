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
    ($($name:literal),* $(,)?) => {
        &[$(ShippedCase {
            path: concat!("validation/", $name, "/case.ron"),
            text: include_str!(concat!("../../validation/", $name, "/case.ron")),
        }),*]
    };
}

/// All shipped cases, in the order they are listed.
pub fn shipped_cases() -> &'static [ShippedCase] {
    cases!["stm32l4r5"]
}
