//! Bounded parsing of JSON metadata and attributes.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::files;

/// Attributes of an array or group.
pub(crate) type Attributes = Map<String, Value>;

/// Maximum size of metadata in bytes.
const MAX_BYTES: u64 = 1 << 26;
/// Maximum number of values in metadata. When parsed, a list of digits takes forty times as many
/// bytes as the text. An object of one member takes hundreds of times as many.
const MAX_VALUES: usize = 1 << 18;
/// Member of version 3 groups that repeats the metadata of all members. It is skipped, because the
/// separate files have the same content.
const CONSOLIDATED: &str = "consolidated_metadata";

/// Reads the JSON object in a file. Returns `None` if the file does not exist.
///
/// # Errors
/// The file is unreadable, contains no object, or exceeds a limit.
pub(crate) fn read(file: &Path) -> Result<Option<Attributes>> {
    let wrong = |why: String| Error::metadata(file, why);
    let Some(bytes) = files::read(file, MAX_BYTES).map_err(Error::io(file))? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| wrong("invalid JSON: not UTF-8".to_owned()))?;
    let scanned = Scanned::of(&text);
    if scanned.values > MAX_VALUES {
        return Err(wrong(format!("{} values exceed the limit of {MAX_VALUES}", scanned.values)));
    }
    match serde_json::from_str(&scanned.without_passed_over(&text)) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(wrong("expected a JSON object".to_owned())),
        Err(error) => Err(wrong(format!("invalid JSON: {error}"))),
    }
}

/// Checks that metadata can be read again.
///
/// # Errors
/// Returns the reason.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let values = Scanned::of(text).values;
    match text.len() as u64 <= MAX_BYTES && values <= MAX_VALUES {
        true => Ok(()),
        false => Err(format!(
            "metadata of {} bytes and {values} JSON values exceed the limits of {MAX_BYTES} bytes and {MAX_VALUES} values",
            text.len()
        )),
    }
}

/// Result of scanning JSON text without parsing. Meaningless for invalid JSON.
struct Scanned {
    /// Upper bound for the number of values, without member names.
    values: usize,
    /// Values to skip when parsing.
    passed_over: Vec<Range<usize>>,
}

impl Scanned {
    fn of(text: &str) -> Self {
        let mut scanned = Self { values: 1, passed_over: Vec::new() };
        let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
        // The last string at the top level. It is a member name if a colon follows.
        let mut last = 0..0;
        // Start of a value to skip, and the number of values before it.
        let mut unwanted: Option<(usize, usize)> = None;
        for (at, byte) in text.bytes().enumerate() {
            if in_text {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = true,
                    b'"' => {
                        in_text = false;
                        last.end = at;
                    }
                    _ => {}
                }
                continue;
            }
            if depth == 1
                && matches!(byte, b',' | b'}')
                && let Some((start, before)) = unwanted.take()
            {
                scanned.values = before;
                scanned.passed_over.push(start..at);
            }
            match byte {
                b'"' => {
                    in_text = true;
                    last = at + 1..at + 1;
                }
                b'{' | b'[' => {
                    depth += 1;
                    scanned.values += 1;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => scanned.values += 1,
                b':' if depth == 1 && text.get(last.clone()) == Some(CONSOLIDATED) => {
                    unwanted = Some((at + 1, scanned.values));
                }
                _ => {}
            }
        }
        scanned
    }

    /// Returns the text with skipped values replaced by null.
    fn without_passed_over<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.passed_over.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut kept, mut from) = (String::new(), 0);
        for range in &self.passed_over {
            kept.push_str(text.get(from..range.start).unwrap_or_default());
            kept.push_str("null");
            from = range.end;
        }
        kept.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(values) => values.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaves = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a\"\\\\,:{}\\[\\]é]{0,6}".prop_map(Value::from),
        ];
        leaves.prop_recursive(4, 40, 6, |inner| {
            let names = prop_oneof![Just(CONSOLIDATED.to_owned()), "[a\"\\\\,:{}]{0,4}"];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((names, inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_counted_and_skipped_values_are_null(mut value in values(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let scanned = Scanned::of(&text);
            let kept: Value = serde_json::from_str(&scanned.without_passed_over(&text)).unwrap();
            if let Some(unwanted) = value.as_object_mut().and_then(|members| members.get_mut(CONSOLIDATED)) {
                *unwanted = Value::Null;
            }
            prop_assert_eq!(&kept, &value);
            // Empty lists and objects count as if they contained a value.
            prop_assert!((count(&value)..=2 * count(&value)).contains(&scanned.values), "{} {text}", scanned.values);
        }
    }

    #[test]
    fn invalid_json_is_scanned() {
        for text in
            ["", "\"", "]]]}", "{\"consolidated_metadata\":", "{\"consolidated_metadata\":1", "\\", "é:é,", "{:,:"]
        {
            let scanned = Scanned::of(text);
            assert!(serde_json::from_str::<Value>(&scanned.without_passed_over(text)).is_err(), "{text}");
        }
        assert!(check(&json!(vec![0; MAX_VALUES - 2]).to_string()).is_ok());
        assert!(check(&json!(vec![0; MAX_VALUES]).to_string()).is_err());
    }
}
