//! Tracking of open quotes in CSV.

/// A state machine that interprets quotes like the CSV reader. An unclosed quote extends the field
/// to the end of the file.
#[derive(Debug)]
pub(crate) struct Quotes {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of a field.
    Start,
    /// In an unquoted field, or after the closing quote.
    Plain,
    Quoted,
    /// After a quote that closes the field or begins an escaped quote.
    Closing,
}

impl Quotes {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start }
    }

    /// Adds the next bytes.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) {
        while let Some(place) = memchr::memchr(b'"', bytes) {
            let (before, rest) = bytes.split_at(place);
            self.pass_others(before);
            self.step(b'"');
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.pass_others(bytes);
    }

    /// Adds bytes without quotes. Outside of quotes, only the last byte determines the state.
    fn pass_others(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last()
            && self.state != State::Quoted
        {
            self.step(*last);
        }
    }

    fn step(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::Closing,
            (State::Quoted, _) | (State::Start | State::Closing, b'"') => State::Quoted,
            (_, b'\n' | b'\r') => State::Start,
            (_, byte) if byte == self.delimiter => State::Start,
            _ => State::Plain,
        };
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Quoted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// Processes single bytes.
    fn plain(bytes: &[u8]) -> Quotes {
        let mut quotes = Quotes::new(b',');
        bytes.iter().for_each(|byte| quotes.step(*byte));
        quotes
    }

    proptest! {
        #[test]
        fn all_at_once_is_as_byte_by_byte(text in r#"["a,\r\n]{0,40}"#, cut in any::<prop::sample::Index>()) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
            let mut quotes = Quotes::new(b',');
            quotes.pass(first);
            prop_assert_eq!(quotes.state, plain(first).state);
            quotes.pass(second);
            prop_assert_eq!(quotes.state, plain(bytes).state);
        }
    }
}
