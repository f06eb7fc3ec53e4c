//! One event.

use super::super::ReadFault;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An event as it stands in the file; fields that are not needed are not kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub(super) ph: String,
    #[serde(deserialize_with = "text")]
    pub(super) name: String,
    #[serde(deserialize_with = "text")]
    pub(super) cat: String,
    ts: Value,
    dur: Value,
    #[serde(deserialize_with = "text")]
    pub(super) pid: String,
    #[serde(deserialize_with = "text")]
    pub(super) tid: String,
    #[serde(deserialize_with = "text")]
    pub(super) id: String,
    args: Value,
}

/// Text, or a number as text.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

impl Event {
    /// When \[us\].
    pub(super) fn ts(&self) -> Result<f64, ReadFault> {
        number("ts", &self.ts)
    }

    /// How long \[us\].
    pub(super) fn dur(&self) -> Result<f64, ReadFault> {
        match self.dur {
            Value::Null => Ok(0.0),
            ref dur => number("dur", dur),
        }
    }

    pub(super) fn args(&self) -> Option<&Map<String, Value>> {
        self.args.as_object()
    }

    /// Number of the inference, as this program writes it.
    pub(super) fn inference(&self) -> Option<u64> {
        self.args()?.get("inference")?.as_u64()
    }
}

fn number(column: &str, value: &Value) -> Result<f64, ReadFault> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite()).ok_or_else(|| ReadFault::Number {
        column: column.into(),
        text: value.to_string().chars().take(40).collect(),
    })
}

/// A value of a counter; nothing for what is no value at all. Not-a-number is `null` by now.
pub(super) fn counted(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}
