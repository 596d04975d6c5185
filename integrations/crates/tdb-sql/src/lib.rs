//! `tdb sql`: SQL over arrays from a command line. Runs a statement, a file of statements, or a
//! prompt. Prints results like the other `tdb` commands.
//!
//! [`SqlCommand`] is a command for [`tdb_cli::Extensions`]. A function from [`Settings`] to a
//! `SessionContext` provides the session, in this process or on a scheduler. `docs/guides/sql.md`
//! is the manual.

mod args;
mod command;
mod error;
mod interrupt;
mod missing;
mod panics;
mod plans;
mod prompt;
mod rows;
mod run;
mod session;
mod short_names;
mod statements;

pub use args::SqlArgs;
pub use command::{Settings, SqlCommand};
pub use session::{add_groups, local_session, opener, session_options};
