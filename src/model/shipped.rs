//! The models that come with the program, embedded in it.

/// A shipped model.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    /// The name it is found by.
    pub name: &'static str,
    /// Its place in the repository.
    pub path: &'static str,
    /// Its RON text.
    pub text: &'static str,
}

/// All shipped models, in the order they are listed.
pub fn shipped_models() -> &'static [ShippedModel] {
    &[]
}
