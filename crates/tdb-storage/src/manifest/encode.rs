//! Percent-encoding of paths.

use std::fmt::{self, Write};

/// A path with percent-encoded special characters.
pub(super) struct Encoded<'a>(pub(super) &'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            if is_plain(char) {
                f.write_char(char)?;
            } else {
                char.encode_utf8(&mut [0; 4]).bytes().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
            }
        }
        Ok(())
    }
}

/// Returns `true` for characters without encoding, and for `%`.
pub(super) fn is_text(char: char) -> bool {
    !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}')
}

fn is_plain(char: char) -> bool {
    char != '%' && is_text(char)
}

/// Decodes a path. Returns `None` if a `%` has no two hexadecimal digits, or the bytes are not
/// UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
