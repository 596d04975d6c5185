//! On which line the bytes of a file of CSV stand, whatever ends its lines, and whether it ends within quotes.

use std::collections::VecDeque;

use super::quotes::Quotes;

/// Counts lines of what passes. The reader of CSV says where a row begins, but for it a row ends at the first byte of
/// `\r\n`, and lines end at `\n` alone; and it takes a quote that is never closed for one that ends with the file.
#[derive(Debug)]
pub(crate) struct Lines {
    quotes: Quotes,
    /// Whether the last byte has passed.
    is_end: bool,
    /// Bytes that passed.
    taken: u64,
    /// Where ends of lines stand that nobody has asked past, and whether they are `\r`.
    ends: VecDeque<(u64, bool)>,
    /// Lines before those.
    lines: u64,
    /// Behind a `\r` that ended a line.
    behind_return: Option<u64>,
}

impl Lines {
    /// Of CSV with this delimiter.
    pub(super) fn new(delimiter: u8) -> Self {
        let (ends, quotes) = (VecDeque::new(), Quotes::new(delimiter));
        Self { quotes, is_end: false, taken: 0, ends, lines: 0, behind_return: None }
    }

    /// Whether the file has ended within quotes.
    pub(super) fn ends_in_quotes(&self) -> bool {
        self.is_end && self.quotes.is_open()
    }

    /// Takes in the bytes that follow; none at the end.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.quotes.pass(bytes);
        self.is_end = bytes.is_empty();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        self.ends.extend(ends.map(|place| (self.taken + place as u64, bytes[place] == b'\r')));
        self.taken += bytes.len() as u64;
    }

    /// The line of the row that begins at or behind `place`, which never goes back: blank lines are passed over.
    pub(super) fn of_row(&mut self, mut place: u64) -> u64 {
        while let Some(&(end, is_return)) = self.ends.front()
            && end <= place
        {
            self.ends.pop_front();
            place = place.max(end + 1);
            if is_return || self.behind_return != Some(end) {
                self.lines += 1;
            }
            self.behind_return = is_return.then_some(end + 1);
        }
        self.lines + 1
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_end_in_three_ways() {
        for (text, places) in [
            ("a\nb\n\nc\nd", [(0, 1), (2, 2), (4, 4), (7, 5)]),
            // Where the reader of CSV says that rows begin.
            ("a\r\nb\r\n\r\nc\r\nd", [(0, 1), (2, 2), (5, 4), (10, 5)]),
            ("a\rb\r\rc\rd", [(0, 1), (2, 2), (4, 4), (7, 5)]),
        ] {
            let mut lines = Lines::new(b',');
            lines.pass(&text.as_bytes()[..3]);
            lines.pass(&text.as_bytes()[3..]);
            assert_eq!(places.map(|(place, _)| (place, lines.of_row(place))), places, "{text:?}");
        }
    }
}
