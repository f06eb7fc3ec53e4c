use crate::model::{ModelError, ModelGraph};
pub(super) fn read(path: &str, _bytes: &[u8]) -> Result<ModelGraph, ModelError> {
    Err(ModelError::Tflite { path: path.into(), reason: "pending".into() })
}
