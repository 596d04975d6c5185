//! Line numbers of CSV rows for all line endings, and detection of unclosed quotes.

use std::collections::VecDeque;

use super::quotes::Quotes;

/// A line counter. This counter is necessary, because the CSV reader ends a row at the first byte
/// of `\r\n`, and counts only `\n` as a line end. The CSV reader also accepts an unclosed quote at
/// the end of the file.
#[derive(Debug)]
pub(crate) struct Lines {
    quotes: Quotes,
    /// `true` after the end of the file.
    is_end: bool,
    /// Number of bytes read.
    taken: u64,
    /// Positions of line ends after the last requested row, and `true` for each `\r`.
    ends: VecDeque<(u64, bool)>,
    /// Number of line ends before those in `ends`.
    lines: u64,
    /// The position after a `\r` that ended a line.
    behind_return: Option<u64>,
}

impl Lines {
    /// Creates a counter for CSV with this delimiter.
    pub(super) fn new(delimiter: u8) -> Self {
        let (ends, quotes) = (VecDeque::new(), Quotes::new(delimiter));
        Self { quotes, is_end: false, taken: 0, ends, lines: 0, behind_return: None }
    }

    /// Returns `true` if the file ends within quotes.
    pub(super) fn ends_in_quotes(&self) -> bool {
        self.is_end && self.quotes.is_open()
    }

    /// Adds the next bytes. An empty slice marks the end of the file.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.quotes.pass(bytes);
        self.is_end = bytes.is_empty();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        self.ends.extend(ends.map(|place| (self.taken + place as u64, bytes[place] == b'\r')));
        self.taken += bytes.len() as u64;
    }

    /// Returns the line of the row that begins at or after `place`. Skips blank lines. `place` must
    /// not decrease.
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
            // Positions of rows as the CSV reader reports them.
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
