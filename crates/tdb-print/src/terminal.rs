//! What the output goes to: a terminal or not, in colour or not.

use std::env;
use std::io::{self, IsTerminal};

use crate::color::ColorChoice;

/// Characters of a long message that are shown of its beginning, and of its end.
const MOST_BEGIN: usize = 1000;
const MOST_END: usize = 300;

/// What standard output and standard error are.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether standard output is a terminal.
    pub stdout: bool,
    /// Whether standard error is a terminal.
    pub stderr: bool,
    color: bool,
    error_color: bool,
}

impl Terminal {
    /// Looks at the process's streams and environment.
    pub fn detect(choice: ColorChoice) -> Self {
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
    pub fn color(self) -> bool {
        self.color
    }

    /// Sets off text on standard output.
    pub fn paint(self) -> Paint {
        Paint { on: self.color }
    }

    /// Sets off text on standard error.
    pub fn error_paint(self) -> Paint {
        Paint { on: self.error_color }
    }
}

/// Text from files and paths on one line, with nothing in it that would steer the terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_printable(character, &mut shown));
    shown
}

/// Appends a character, escaped if it is one that controls.
pub(crate) fn push_printable(character: char, shown: &mut String) {
    if character.is_control() || turns_text(character) {
        shown.extend(character.escape_default());
    } else {
        shown.push(character);
    }
}

/// Whether a character makes those around it stand in another order than they are in.
fn turns_text(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A message on one line; of a very long one, which quotes something, the beginning and the end.
pub fn message(text: &str) -> String {
    let chars = text.chars().count();
    if chars <= MOST_BEGIN + MOST_END {
        return printable(text);
    }
    let (begin, end) = (text.chars().take(MOST_BEGIN), text.chars().skip(chars - MOST_END));
    let (begin, end): (String, String) = (begin.collect(), end.collect());
    format!("{} … {}", printable(&begin), printable(&end))
}

/// Sets text off, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Bold text.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Faint text.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Bold red text.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_escaped() {
        assert_eq!(printable("a\u{9b}31m\u{202e}b\u{2066}\u{200f}é"), r"a\u{9b}31m\u{202e}b\u{2066}\u{200f}é");
    }

    #[test]
    fn long_messages_are_cut() {
        let long = format!("a.toml: {} is too long", "9".repeat(1_000_000));
        let shown = message(&long);
        assert!(shown.len() < 1400 && shown.starts_with("a.toml: 99") && shown.ends_with("9 is too long"), "{shown}");
        assert_eq!(message("short\n"), r"short\n");
    }
}
