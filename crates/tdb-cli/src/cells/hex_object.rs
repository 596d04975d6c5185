//! JSON objects that stand for bytes: `{"hex":"00ff"}`.

use serde_json::Value;

/// The digits of a JSON object that stands for bytes.
pub(crate) fn hex_member(value: &Value) -> Option<&str> {
    value.as_object().filter(|members| members.len() == 1)?.get("hex")?.as_str()
}
