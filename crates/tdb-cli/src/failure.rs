//! Failures of the command, with message, hint and exit code.

mod excerpt;
mod library;

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

use excerpt::Excerpt;
pub(crate) use library::{FILE_VARIABLE, KEY_VARIABLE, interrupted_migration};
use tdb_condition::ConditionTextError;
use tdb_schema_text::SchemaTextError;

use tdb_print::{Terminal, message};

/// The exit codes, as documented in `docs/reference/cli.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command found a problem or a difference, rejected rows, or was not confirmed.
    Finding = 1,
    /// The command line or an input is wrong.
    Usage = 2,
    /// The data is corrupt.
    Corrupt = 3,
    /// This build or the format does not support the data or the operation.
    Unsupported = 4,
    /// A path does not exist, already exists, is locked, or cannot be accessed.
    Unavailable = 5,
    /// The key of an encrypted array is missing or wrong, or a key was given for an unencrypted
    /// array.
    Key = 6,
    /// Ctrl-C was pressed. Shells report the same code for a process that the signal ended.
    Interrupted = 130,
}

/// A result with a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A failure of the command.
#[derive(Debug)]
pub struct Failure {
    message: String,
    /// The relevant line of a text.
    excerpt: Option<Excerpt>,
    hint: Option<String>,
    exit: Exit,
    closed_pipe: bool,
}

impl Failure {
    /// Creates a failure with an exit code and a message of one line.
    #[must_use]
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), excerpt: None, hint: None, exit, closed_pipe: false }
    }

    /// Creates a failure for a wrong command line.
    #[must_use]
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Creates the failure of an interrupted command.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    pub(crate) fn corrupt(message: impl fmt::Display) -> Self {
        Self::new(Exit::Corrupt, message)
    }

    /// Converts an error of a schema text in `file`.
    pub(crate) fn schema_text(file: impl fmt::Display, text: &str, error: &SchemaTextError) -> Self {
        let excerpt = error.span(text).and_then(|span| Excerpt::new(text, span));
        let place =
            excerpt.as_ref().map_or_else(String::new, |Excerpt { line, column, .. }| format!(":{line}:{column}"));
        let failure = Self::usage(format!("{file}{place}: {}", error.message()));
        Self { excerpt, ..failure }.with_hint("see docs/reference/schema-text.md for the syntax of a schema")
    }

    /// Converts an error of a condition.
    pub(crate) fn condition(error: &ConditionTextError) -> Self {
        let excerpt = Excerpt::new(error.text(), error.at());
        let place = excerpt.as_ref().map_or(0, |excerpt| excerpt.column);
        let failure = Self::usage(format!("--where, character {place}: {}", error.what()));
        Self { excerpt, ..failure }.with_hint("see docs/reference/conditions.md for the syntax of a condition")
    }

    /// Appends to the message.
    pub(crate) fn and(mut self, more: impl fmt::Display) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Replaces the hint, or removes it.
    pub(crate) fn hinted(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// Adds the line of `text` that contains the start of the byte range `bytes`, and marks the
    /// range.
    #[must_use]
    pub fn in_text(mut self, text: &str, bytes: Range<usize>) -> Self {
        self.excerpt = Excerpt::new(text, bytes);
        self
    }

    /// Prints the message, the excerpt and the hint to standard error.
    pub(crate) fn report(&self, terminal: Terminal) {
        let paint = terminal.error_paint();
        let mut stderr = io::stderr().lock();
        // An error of standard error cannot be reported anywhere.
        let _ = writeln!(stderr, "tdb: {} {}", paint.red("error:"), message(&self.message));
        for line in self.excerpt.iter().flat_map(Excerpt::lines) {
            let _ = writeln!(stderr, "{line}");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(stderr, "tdb: {} {}", paint.bold("hint:"), message(hint));
        }
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the message, a single line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the hint for the user.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns `true` if the reader of the output has closed the pipe, as in `tdb read … | head`.
    /// The command then succeeds.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// Converts an I/O error of a file or folder.
    pub fn io(path: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(Exit::Unavailable, format!("{path}: not found")),
            io::ErrorKind::PermissionDenied => {
                Self::new(Exit::Unavailable, format!("{path}: permission denied")).with_hint("ask the owner for access")
            }
            _ => Self::new(Exit::Unavailable, format!("{path}: {error}")),
        }
    }

    /// Converts an I/O error of the output.
    pub(crate) fn output(error: &io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { closed_pipe, ..Self::new(Exit::Unavailable, format!("cannot write the output: {error}")) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// In this crate, bare I/O errors always come from writing the output. Errors of files include
/// their path.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::output(&error)
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::output(&error),
            other => Self::new(Exit::Unavailable, format!("cannot write CSV: {other:?}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::output(&error.into())
    }
}
