//! The bytes of a file, and which format they are.

use prost::bytes::Bytes;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes read of what is no plain file and may never end.
const STREAM_LIMIT: u64 = 1 << 30;

/// What a file that Git keeps elsewhere is replaced by begins with.
const POINTER: &[u8] = b"version https://git-lfs";

/// A format that models are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Onnx,
    Ron,
    Tflite,
    /// The configuration of a transformer.
    Configuration,
}

/// All bytes of a file; of a device or a pipe, as many as a model can have.
pub(super) fn bytes(path: &Path) -> io::Result<Bytes> {
    if path.metadata()?.is_file() || path.is_dir() {
        return std::fs::read(path).map(Bytes::from);
    }
    bounded(File::open(path)?, STREAM_LIMIT)
}

fn bounded(stream: impl Read, limit: u64) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    stream.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("it is no plain file and does not end within {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes.into())
}

/// The format of a file by its name and content. The error says why it is none.
pub(super) fn format(path: &str, bytes: &[u8]) -> Result<Format, &'static str> {
    if bytes.is_empty() {
        return Err("the file is empty");
    }
    if bytes.starts_with(POINTER) {
        return Err(
            "it is a Git LFS pointer: fetch the file itself, for example with git lfs pull",
        );
    }
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    let extension = extension.to_ascii_lowercase();
    let text = std::str::from_utf8(bytes).ok().map(str::trim_start);
    // A name that says what a file is holds, whatever is in it.
    let named = matches!(extension.as_str(), "onnx" | "tflite" | "ron");
    match (extension.as_str(), text) {
        ("json", Some(_)) => Ok(Format::Configuration),
        (_, Some(text)) if !named && text.starts_with('{') => Ok(Format::Configuration),
        ("tflite", _) => Ok(Format::Tflite),
        _ if bytes.get(4..8) == Some(b"TFL3") => Ok(Format::Tflite),
        ("onnx", _) => Ok(Format::Onnx),
        ("ron", Some(_)) => Ok(Format::Ron),
        (_, Some(text)) if begins_like_ron(text) => Ok(Format::Ron),
        _ => Err("it is neither TFLite, ONNX (.onnx), RON nor JSON"),
    }
}

/// A value in brackets, a comment, or an attribute of the file.
fn begins_like_ron(text: &str) -> bool {
    ["(", "//", "/*", "#!["].iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_name_in_any_case_and_by_content() {
        let of = |path: &str, bytes: &[u8]| format(path, bytes).ok();
        assert_eq!(of("a.ONNX", b"\x08\x08"), Some(Format::Onnx));
        assert_eq!(of("a.TFLite", b"\x1c\0\0\0"), Some(Format::Tflite));
        assert_eq!(of("a.bin", b"\x1c\0\0\0TFL3"), Some(Format::Tflite));
        assert_eq!(of("a.JSON", b"[1]"), Some(Format::Configuration));
        assert_eq!(of("a", b" {\"a\": 1}"), Some(Format::Configuration));
        assert_eq!(of("a.Ron", b"anything"), Some(Format::Ron));
        for text in ["(name: 1)", "\n// a model\n(", "/* a */ (", "#![enable(unwrap_newtypes)]\n("]
        {
            assert_eq!(of("a.txt", text.as_bytes()), Some(Format::Ron), "{text}");
        }
    }

    #[test]
    fn what_is_no_model_is_said_to_be_none() {
        let said = |path: &str, bytes: &[u8]| format(path, bytes).unwrap_err();
        assert!(
            said("net.py", b"#!/usr/bin/env python\nimport torch\n").contains("neither TFLite")
        );
        assert!(said("net.pt", b"PK\x03\x04\xff\xff").contains("neither TFLite"));
        assert!(said("net.ron", b"\xff\xfe").contains("neither TFLite"));
        assert!(said("net.ron", b"").contains("empty"));
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
        for name in ["net.onnx", "net.tflite", "net.json", "net"] {
            assert!(said(name, pointer).contains("Git LFS pointer"), "{name}");
        }
    }

    #[test]
    fn a_stream_without_end_is_read_up_to_a_bound() {
        let said = bounded(io::repeat(0), 1000).unwrap_err().to_string();
        assert!(said.contains("does not end within 1000 bytes"), "{said}");
        assert_eq!(bounded(&[1u8, 2][..], 2).unwrap(), &[1, 2][..]);
    }
}
