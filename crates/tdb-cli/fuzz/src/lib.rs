//! Fuzz bodies, which the drivers in `fuzz_targets` and the ordinary tests run. `tdb-cli` holds them, next to the private parsers.

pub use tdb_cli::fuzzed::{cell, range, rows};
