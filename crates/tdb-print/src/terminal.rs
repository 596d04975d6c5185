//! Properties of the output streams, and safe output of untrusted text.

use std::env;
use std::io::{self, IsTerminal};

use crate::color::ColorChoice;

/// Number of characters that are shown at the start of a long message.
const MOST_BEGIN: usize = 1000;
/// Number of characters that are shown at the end of a long message.
const MOST_END: usize = 300;

/// Properties of standard output and standard error.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// `true` if standard output is a terminal.
    pub stdout: bool,
    /// `true` if standard error is a terminal.
    pub stderr: bool,
    color: bool,
    error_color: bool,
}

impl Terminal {
    /// Inspects the output streams and the environment variables of the process.
    pub fn detect(choice: ColorChoice) -> Self {
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        // <https://no-color.org>: any non-empty value disables color.
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb");
        let color = |terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !unwanted,
        };
        Self { stdout, stderr, color: color(stdout), error_color: color(stderr) }
    }

    /// Returns `true` if standard output is colored.
    pub fn color(self) -> bool {
        self.color
    }

    /// Returns the style of standard output.
    pub fn paint(self) -> Paint {
        Paint { on: self.color }
    }

    /// Returns the style of standard error.
    pub fn error_paint(self) -> Paint {
        Paint { on: self.error_color }
    }
}

/// Converts untrusted text to one line. Escapes control characters and characters that change the
/// text direction.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_printable(character, &mut shown));
    shown
}

/// Appends a character. Escapes control characters and characters that change the text direction.
pub(crate) fn push_printable(character: char, shown: &mut String) {
    if character.is_control() || turns_text(character) {
        shown.extend(character.escape_default());
    } else {
        shown.push(character);
    }
}

/// Returns `true` if the character changes the direction of surrounding text.
fn turns_text(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Formats a message on one line. Escapes control characters like [`printable`]. Shortens a very
/// long message to its start and end.
pub fn message(text: &str) -> String {
    let chars = text.chars().count();
    if chars <= MOST_BEGIN + MOST_END {
        return printable(text);
    }
    let (begin, end) = (text.chars().take(MOST_BEGIN), text.chars().skip(chars - MOST_END));
    let (begin, end): (String, String) = (begin.collect(), end.collect());
    format!("{} … {}", printable(&begin), printable(&end))
}

/// Text styles, which have no effect if color is off.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Makes text bold.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Makes text faint.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Makes text bold and red.
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
    fn control_and_direction_characters_are_escaped() {
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
