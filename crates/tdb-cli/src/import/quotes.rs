//! Whether a quote of CSV is still open.

/// Follows bytes of CSV as its reader does, which takes what an open quote has behind it for a field, up to the end.
#[derive(Debug)]
pub(super) struct Quotes {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A field may begin.
    Start,
    /// In a field without quotes, or behind its quotes.
    Plain,
    Quoted,
    /// Behind a quote that ends the field, or is the first of two that stand for one.
    Closing,
}

impl Quotes {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start }
    }

    /// Takes in the bytes that follow.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Quoted, b'"') => State::Closing,
                (State::Quoted, _) | (State::Start | State::Closing, b'"') => State::Quoted,
                (_, b'\n' | b'\r') => State::Start,
                (_, byte) if byte == self.delimiter => State::Start,
                _ => State::Plain,
            };
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == State::Quoted
    }
}

#[cfg(test)]
mod tests {
    use super::Quotes;

    #[test]
    fn open_quotes() {
        for (text, is_open) in [
            ("", false),
            ("a,\"b", true),
            ("a,\"b\"", false),
            ("a,\"b\"\"", true),
            ("a,\"b\"\"c\"\n", false),
            ("a\"b,c", false),
            ("\"a\"b\"c", false),
            ("a\r\n\"", true),
        ] {
            let mut quotes = Quotes::new(b',');
            quotes.pass(text.as_bytes());
            assert_eq!(quotes.is_open(), is_open, "{text:?}");
        }
    }
}
