//! What the output goes to: a terminal or not, in colour or not.

use std::env;
use std::io::{self, IsTerminal};

use crate::args::ColorChoice;

/// What standard output and standard error are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    color: bool,
    error_color: bool,
}

impl Terminal {
    /// Looks at the process's streams and environment.
    pub(crate) fn detect(choice: ColorChoice) -> Self {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        // <https://no-color.org>: any value but the empty one counts.
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb");
        let color = |terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !unwanted,
        };
        Self { stdout, stderr, color: color(stdout), error_color: color(stderr) }
    }

    /// Whether standard output is to be coloured.
    pub(crate) fn color(self) -> bool {
        self.color
    }

    pub(crate) fn paint(self) -> Paint {
        Paint { on: self.color }
    }

    pub(crate) fn error_paint(self) -> Paint {
        Paint { on: self.error_color }
    }
}

/// Text from files and paths on one line, with nothing in it that would steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_printable(character, &mut shown));
    shown
}

/// Appends a character, escaped if it is one that controls.
pub(crate) fn push_printable(character: char, shown: &mut String) {
    if character.is_control() {
        shown.extend(character.escape_default());
    } else {
        shown.push(character);
    }
}

/// Sets text off, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
