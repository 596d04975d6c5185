//! Iteration over the elements of a JSON array, with one element in memory at a time.

use std::io::{self, BufRead};

/// Maximum bytes of an element. An unclosed element would otherwise fill the memory.
const MAX_LEN: usize = 256 << 20;

const UNCLOSED: &str = "the JSON array is not closed: the file is truncated";

/// An iteration over the elements of an array.
pub(crate) struct Elements {
    input: Box<dyn BufRead>,
    /// Number of completed lines.
    lines: u64,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the bracket that opens the array.
    Start,
    /// After the opening bracket.
    First,
    /// After an element.
    Behind,
    /// After a comma.
    Comma,
    End,
}

/// The result of a step of the iteration.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An element that begins on this line.
    Element(u64),
    /// The file ends too early, on this line or in an element that begins on this line.
    Cut(u64, &'static str),
    /// The array is invalid on this line, and the rest cannot be read.
    Broken(u64, &'static str),
    /// The array and the file have ended.
    End,
}

/// Returns `true` if the input begins with an array, after an optional byte order mark and white
/// space.
pub(super) fn is_array(input: &mut dyn BufRead) -> io::Result<bool> {
    let bytes = input.fill_buf()?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Ok(bytes.trim_ascii_start().starts_with(b"["))
}

impl Elements {
    /// Starts the iteration over the array at the beginning of an input.
    pub(super) fn new(input: Box<dyn BufRead>) -> Self {
        Self { input, lines: 0, place: Place::Start }
    }

    /// Replaces `bytes` by the next element.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> io::Result<Found> {
        bytes.clear();
        loop {
            let next = self.next_mark()?;
            let line = self.lines + 1;
            let broken = |why| Ok(Found::Broken(line, why));
            if next.is_none() && self.place != Place::End {
                self.place = Place::End;
                return Ok(Found::Cut(line, UNCLOSED));
            }
            self.place = match (self.place, next) {
                (_, None) => return Ok(Found::End),
                (Place::End, Some(_)) => return broken("unexpected text after the end of the JSON array"),
                (Place::Start, Some(_)) => {
                    self.input.consume(1);
                    Place::First
                }
                (Place::First | Place::Behind, Some(b']')) => {
                    self.input.consume(1);
                    Place::End
                }
                (Place::Comma, Some(b']')) => {
                    return broken("unexpected comma at the end of the JSON array; delete it");
                }
                (Place::First | Place::Comma, Some(b',')) => {
                    return broken("unexpected comma without a row before it in the JSON array");
                }
                (Place::First | Place::Comma, Some(_)) => return self.element(bytes, line),
                (Place::Behind, Some(b',')) => {
                    self.input.consume(1);
                    Place::Comma
                }
                (Place::Behind, Some(_)) => return broken("expected a comma or the end of the JSON array"),
            };
        }
    }

    /// Skips white space, and returns the next byte without consuming it. Returns `None` at the end
    /// of the file.
    fn next_mark(&mut self) -> io::Result<Option<u8>> {
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let skipped = match self.place {
                Place::Start => bytes.len() - bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).len(),
                _ => 0,
            };
            let blank = skipped + bytes[skipped..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.lines += memchr::memchr_iter(b'\n', &bytes[..blank]).count() as u64;
            let mark = bytes.get(blank).copied();
            self.input.consume(blank);
            if mark.is_some() {
                return Ok(mark);
            }
        }
    }

    /// Reads an element. An object or array ends with its closing bracket. A scalar ends before the
    /// next comma or bracket.
    fn element(&mut self, bytes: &mut Vec<u8>, line: u64) -> io::Result<Found> {
        let (mut depth, mut in_string, mut is_escaped, mut is_closed) = (0_u64, false, false, false);
        loop {
            let buffer = self.input.fill_buf()?;
            let is_over = buffer.is_empty();
            let end = buffer.iter().position(|byte| {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if in_string => is_escaped = true,
                    b'"' => in_string = !in_string,
                    _ if in_string => {}
                    b'{' | b'[' => depth += 1,
                    b',' | b']' | b'}' if depth == 0 => return true,
                    b']' | b'}' => {
                        depth -= 1;
                        is_closed = depth == 0;
                        return is_closed;
                    }
                    _ => {}
                }
                false
            });
            let taken = &buffer[..end.map_or(buffer.len(), |end| end + usize::from(is_closed))];
            bytes.extend_from_slice(taken);
            self.lines += memchr::memchr_iter(b'\n', taken).count() as u64;
            let len = taken.len();
            self.input.consume(len);
            if is_over {
                self.place = Place::End;
                let is_whole = depth == 0 && !in_string;
                return Ok(Found::Cut(
                    line,
                    if is_whole { UNCLOSED } else { "the row is not closed: the file is truncated" },
                ));
            }
            if bytes.len() > MAX_LEN {
                return Ok(Found::Broken(line, "the row exceeds 256 MiB, or is not closed"));
            }
            if end.is_some() {
                self.place = Place::Behind;
                return Ok(Found::Element(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn found(text: &str, capacity: usize) -> Vec<(Found, String)> {
        let mut input = BufReader::with_capacity(capacity, Cursor::new(text.as_bytes().to_vec()));
        assert!(capacity < 8 || is_array(&mut input).unwrap());
        let mut elements = Elements::new(Box::new(input));
        let (mut all, mut bytes) = (Vec::new(), Vec::new());
        loop {
            let found = elements.next(&mut bytes).unwrap();
            let is_last = !matches!(found, Found::Element(_));
            all.push((found, String::from_utf8(bytes.clone()).unwrap()));
            if is_last {
                return all;
            }
        }
    }

    #[test]
    fn elements_are_cut_out() {
        let text = "\u{feff}[{\"a\":\"]},\\\"[\"},\n {\"b\":[1,\n{}]} \n,\n3\n]\n";
        for capacity in [4, 8, 1000] {
            let elements = found(text, capacity);
            let lines: Vec<&Found> = elements.iter().map(|(found, _)| found).collect();
            assert_eq!(lines, [&Found::Element(1), &Found::Element(2), &Found::Element(5), &Found::End]);
            assert_eq!(elements[0].1, "{\"a\":\"]},\\\"[\"}");
        }
        assert_eq!(found("[]", 8)[0].0, Found::End);
    }

    #[test]
    fn broken_arrays_are_reported() {
        for (text, elements, why) in [
            ("[", 0, UNCLOSED),
            ("[{}", 1, UNCLOSED),
            ("[1", 0, UNCLOSED),
            ("[{},", 1, UNCLOSED),
            ("[{},{\"a\":\"", 1, "the row is not closed: the file is truncated"),
            ("[{}\n{}]", 1, "expected a comma or the end of the JSON array"),
            ("[{},\n]", 1, "unexpected comma at the end of the JSON array; delete it"),
            ("[{},,{}]", 1, "unexpected comma without a row before it in the JSON array"),
            ("[,{}]", 0, "unexpected comma without a row before it in the JSON array"),
            ("[{}]\n[]", 1, "unexpected text after the end of the JSON array"),
        ] {
            let all = found(text, 100);
            let (Found::Cut(_, found) | Found::Broken(_, found)) = all.last().unwrap().0 else { panic!("{all:?}") };
            assert_eq!((found, all.len()), (why, elements + 1), "{text}: {all:?}");
        }
    }
}
