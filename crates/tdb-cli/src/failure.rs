//! Why the command ends without a result: a message, a hint, an exit code.

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

/// The exit codes, as `docs/cli.md` promises them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command did what it was asked to, and found something wrong.
    Finding = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The bytes are damaged.
    Corrupt = 3,
    /// The bytes are beyond this build.
    Unsupported = 4,
    /// Nothing is there, or it can't be reached.
    Unavailable = 5,
    /// The key of an encrypted array is missing or wrong, or one was given for an array that isn't encrypted.
    Key = 6,
    /// Somebody has pressed Ctrl-C. Shells say the same of a process that the signal has ended.
    Interrupted = 130,
}

/// A result whose error is a [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the command ends without a result.
#[derive(Debug)]
pub struct Failure {
    message: String,
    /// The line of a text that it is about.
    excerpt: Option<Excerpt>,
    hint: Option<String>,
    exit: Exit,
    closed_pipe: bool,
}

impl Failure {
    /// A failure with an exit code, and a message of one line.
    #[must_use]
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), excerpt: None, hint: None, exit, closed_pipe: false }
    }

    /// The command line is wrong.
    #[must_use]
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Somebody has ended the command.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    pub(crate) fn corrupt(message: impl fmt::Display) -> Self {
        Self::new(Exit::Corrupt, message)
    }

    /// A text that is no schema, with the name of its file.
    pub(crate) fn schema_text(file: impl fmt::Display, text: &str, error: &SchemaTextError) -> Self {
        let excerpt = error.span(text).and_then(|span| Excerpt::new(text, span));
        let place =
            excerpt.as_ref().map_or_else(String::new, |Excerpt { line, column, .. }| format!(":{line}:{column}"));
        let failure = Self::usage(format!("{file}{place}: {}", error.message()));
        Self { excerpt, ..failure }.with_hint("docs/schema-text.md has all that may stand in a schema")
    }

    /// A condition that is none, or doesn't fit the array.
    pub(crate) fn condition(error: &ConditionTextError) -> Self {
        let excerpt = Excerpt::new(error.text(), error.at());
        let place = excerpt.as_ref().map_or(0, |excerpt| excerpt.column);
        let failure = Self::usage(format!("--where, character {place}: {}", error.what()));
        Self { excerpt, ..failure }.with_hint("docs/conditions.md has all that may stand in a condition")
    }

    /// With more to say of it.
    pub(crate) fn and(mut self, more: impl fmt::Display) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// What the person may do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same without advice, where the advice is what the person did.
    pub(crate) fn without_hint(mut self) -> Self {
        self.hint = None;
        self
    }

    /// With the line of a text in which these bytes begin, and them marked.
    #[must_use]
    pub fn in_text(mut self, text: &str, bytes: Range<usize>) -> Self {
        self.excerpt = Excerpt::new(text, bytes);
        self
    }

    /// Says on standard error what went wrong, in one line, and what to do, in another; between them what it is about.
    pub(crate) fn report(&self, terminal: Terminal) {
        let paint = terminal.error_paint();
        let mut stderr = io::stderr().lock();
        // There is nowhere left to complain to.
        let _ = writeln!(stderr, "tdb: {} {}", paint.red("error:"), message(&self.message));
        for line in self.excerpt.iter().flat_map(Excerpt::lines) {
            let _ = writeln!(stderr, "{line}");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(stderr, "tdb: {} {}", paint.bold("hint:"), message(hint));
        }
    }

    /// The exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What went wrong, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the person may do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether nobody reads our output any more, which is no failure: `tdb read … | head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// An I/O error of a file or folder.
    pub fn io(path: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(Exit::Unavailable, format!("{path}: not found")),
            io::ErrorKind::PermissionDenied => Self::new(Exit::Unavailable, format!("{path}: permission denied"))
                .with_hint("ask its owner for the right to read it"),
            _ => Self::new(Exit::Unavailable, format!("{path}: {error}")),
        }
    }

    /// An error of writing our output.
    pub(crate) fn output(error: &io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { closed_pipe, ..Self::new(Exit::Unavailable, format!("can't write the output: {error}")) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// In this crate a bare I/O error always comes from writing the output; files say their path.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::output(&error)
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::output(&error),
            other => Self::new(Exit::Unavailable, format!("can't write CSV: {other:?}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::output(&error.into())
    }
}
