//! What `--option` says.

use tdb_arrow::ArrowOptions;
use tdb_cli::{Export, Failure, FileOption, Result};

/// How strings are written.
pub(super) const STRINGS: FileOption =
    FileOption { name: "strings", what: "text (what is no UTF-8 is refused) or binary (whatever their bytes)" };

/// How pages and batches are compressed.
pub(super) const fn compression(what: &'static str) -> FileOption {
    FileOption { name: "compression", what }
}

/// How cells are told, as far as options say it.
pub(super) fn arrow_options(export: &Export<'_>) -> Result<ArrowOptions> {
    match export.option(STRINGS.name) {
        None | Some("text") => Ok(ArrowOptions::new()),
        Some("binary") => Ok(ArrowOptions::new().strings_as_binary()),
        Some(other) => Err(wrong(STRINGS, other)),
    }
}

/// The failure for a value that an option doesn't know.
pub(super) fn wrong(option: FileOption, value: &str) -> Failure {
    Failure::usage(format!("--option {}={value}: not one that is known", option.name)).with_hint(option.what)
}
