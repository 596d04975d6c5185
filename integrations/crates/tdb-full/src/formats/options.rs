//! Values of `--option`.

use tdb_arrow::ArrowOptions;
use tdb_cli::{Export, Failure, FileOption, Result};

/// Type of strings in the file.
pub(super) const STRINGS: FileOption =
    FileOption { name: "strings", what: "text (rejects invalid UTF-8) or binary (any bytes)" };

/// Returns the option for the compression of pages and batches.
pub(super) const fn compression(what: &'static str) -> FileOption {
    FileOption { name: "compression", what }
}

/// Returns the conversion options.
pub(super) fn arrow_options(export: &Export<'_>) -> Result<ArrowOptions> {
    match export.option(STRINGS.name) {
        None | Some("text") => Ok(ArrowOptions::new()),
        Some("binary") => Ok(ArrowOptions::new().strings_as_binary()),
        Some(other) => Err(wrong(STRINGS, other)),
    }
}

/// Creates the failure for an unknown value of an option.
pub(super) fn wrong(option: FileOption, value: &str) -> Failure {
    Failure::usage(format!("--option {}={value}: unknown value", option.name)).with_hint(option.what)
}
