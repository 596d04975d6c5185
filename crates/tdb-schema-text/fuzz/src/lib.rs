//! Properties that must hold for arbitrary bytes. Called by the drivers in `fuzz_targets` and by
//! the ordinary tests.
//!
//! The input is a schema as text.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use tdb_schema_text::{additions_from_toml, from_toml, to_toml};

/// Checks that a parsed schema is printed as text that parses and prints identically.
pub fn schema(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = additions_from_toml(text) {
        assert!(!error.to_string().is_empty());
    }
    match from_toml(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(definition) => {
            let printed = to_toml(&definition).unwrap();
            let again = from_toml(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert_eq!(to_toml(&again).unwrap(), printed);
        }
    }
}
