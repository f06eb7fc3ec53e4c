//! What a file says of itself, and how it is packed.

use super::{About, ROWS, SCHEMA};
use crate::trace::Origin;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};

/// Properties of every file: packing, metadata.
pub(super) fn properties(about: &About<'_>) -> WriterPropertiesBuilder {
    let version = env!("CARGO_PKG_VERSION");
    WriterProperties::builder()
        .set_created_by(format!("joulecast {version}"))
        .set_compression(Compression::LZ4_RAW)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS))
        .set_key_value_metadata(Some(metadata(about, version)))
}

/// Numbers that seldom repeat: no dictionary.
pub(super) fn plain(builder: WriterPropertiesBuilder, encoding: Encoding) -> WriterProperties {
    let time = "time_ps".into();
    builder
        .set_dictionary_enabled(false)
        .set_encoding(encoding)
        .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED)
        .build()
}

fn metadata(about: &About<'_>, version: &str) -> Vec<KeyValue> {
    let About { header, layout, inferences_per_window } = about;
    let json = |value: serde_json::Result<String>| value.unwrap_or_default();
    let mut pairs = vec![
        ("joulecast.schema", SCHEMA.to_owned()),
        ("joulecast.version", version.to_owned()),
        ("joulecast.format", layout.format.clone()),
        ("joulecast.header", json(serde_json::to_string(header))),
        ("joulecast.remarks", json(serde_json::to_string(&layout.remarks))),
    ];
    let origin = match layout.origin {
        Origin::FirstSample => None,
        Origin::OwnClock(seconds) => Some(serde_json::json!({ "own_clock_s": seconds })),
        Origin::Wall { unix_ns, utc } => {
            Some(serde_json::json!({ "unix_ns": unix_ns, "utc": utc }))
        }
    };
    let inferences = inferences_per_window.map(|count| count.to_string());
    pairs.extend(inferences.map(|count| ("joulecast.inferences_per_window", count)));
    pairs.extend(origin.map(|origin| ("joulecast.origin", origin.to_string())));
    pairs.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect()
}
