//! Tables, plots and files a person looks at.

pub mod plot;
