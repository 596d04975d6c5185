//! `tdb sql`: SQL over arrays from a command line. One statement, a file of them, or a prompt; results as all commands of `tdb` print
//! them.
//!
//! [`SqlCommand`] is a command for [`tdb_cli::Extensions`]. What it runs statements on is handed in: a function from [`Settings`] to a
//! `SessionContext`, which may be one of this process or one on a scheduler elsewhere. `docs/sql.md` is its manual.

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
