//! This program as the command `tdb`: so that what is measured of it is built as all else here, and nothing has to be built before.

use std::process::ExitCode;

use crate::counted_part::counted_part;

/// Names what the program is, if it is set.
pub const VARIABLE: &str = "TDB_XTASK_IS_TDB";
/// Of the variable: all of it is counted.
pub const COUNTED: &str = "counted";

/// Is the command `tdb`, if this process was started for that; `None` if it was started for something else.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    let value = std::env::var_os(VARIABLE)?;
    let mut run = || tdb_cli::run(tdb_cli::Extensions::new());
    Some(if value == COUNTED { counted_part(&mut run) } else { run() })
}
