//! File names of chunks.

use serde_json::{Value, json};

/// Encoding of chunk file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    separator: char,
    /// `true` for the prefix `c` of version 3.
    has_prefix: bool,
}

impl Keys {
    /// The encoding for writing: `c/0/1`.
    pub(crate) const WRITTEN: Self = Self { separator: '/', has_prefix: true };

    /// Returns the encoding as metadata.
    pub(crate) fn to_metadata(&self) -> Value {
        let name = if self.has_prefix { "default" } else { "v2" };
        json!({ "name": name, "configuration": { "separator": self.separator.to_string() } })
    }

    /// Parses the encoding from metadata.
    ///
    /// # Errors
    /// The encoding is unknown.
    pub(crate) fn of_metadata(value: &Value) -> Result<Self, String> {
        let name = value.as_str().or_else(|| value.get("name")?.as_str());
        let separator = value.get("configuration").and_then(|all| all.get("separator")?.as_str());
        let (has_prefix, usual) = match name {
            Some("default") => (true, "/"),
            Some("v2") => (false, "."),
            _ => return Err(format!("unsupported chunk key encoding {value}: expected default or v2")),
        };
        match separator.unwrap_or(usual) {
            "/" => Ok(Self { separator: '/', has_prefix }),
            "." => Ok(Self { separator: '.', has_prefix }),
            other => Err(format!("unsupported separator of chunk keys: {other:?}")),
        }
    }

    /// Returns the path of a chunk, relative to the array.
    pub(crate) fn path(&self, chunk: &[u64]) -> String {
        let prefix = self.has_prefix.then(|| "c".to_owned());
        let parts = prefix.into_iter().chain(chunk.iter().map(u64::to_string));
        let path = parts.collect::<Vec<_>>().join(&self.separator.to_string());
        if path.is_empty() { "0".to_owned() } else { path }
    }

    /// Returns the chunk of a path. Returns `None` for other files.
    pub(crate) fn chunk(&self, path: &str, dimensions: usize) -> Option<Vec<u64>> {
        let mut parts = path.split(self.separator);
        if self.has_prefix && parts.next() != Some("c") {
            return None;
        }
        let number = |part: &str| part.parse().ok().filter(|number: &u64| number.to_string() == part);
        let chunk: Vec<u64> = parts.map(number).collect::<Option<_>>()?;
        match dimensions {
            0 if !self.has_prefix => (chunk == [0]).then(Vec::new),
            _ => (chunk.len() == dimensions).then_some(chunk),
        }
    }

    /// Returns the number of folder levels above the chunks.
    pub(crate) fn depth(&self, dimensions: usize) -> usize {
        match self.separator {
            '/' => dimensions.saturating_sub(usize::from(!self.has_prefix)),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_paths_survive_a_round_trip() {
        for (name, separator, path, depth) in [
            ("default", "/", "c/3/0/12", 3),
            ("default", ".", "c.3.0.12", 0),
            ("v2", ".", "3.0.12", 0),
            ("v2", "/", "3/0/12", 2),
        ] {
            let keys =
                Keys::of_metadata(&json!({ "name": name, "configuration": { "separator": separator } })).unwrap();
            assert_eq!(keys.path(&[3, 0, 12]), path);
            assert_eq!(keys.chunk(path, 3).unwrap(), [3, 0, 12]);
            assert_eq!(keys.depth(3), depth);
            for other in ["c", "zarr.json", "c/3/0", "c/3/0/012", "c/3/0/-1", "3.0.12.1", "0.0.x", ""] {
                assert_eq!(keys.chunk(other, 3), None, "{other}");
            }
            assert_eq!(keys.chunk(&keys.path(&[]), 0), Some(vec![]));
        }
        assert!(Keys::of_metadata(&json!({ "name": "fanout" })).is_err());
    }
}
