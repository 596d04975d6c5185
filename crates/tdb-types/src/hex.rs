//! Conversion between bytes and hexadecimal digits.

/// Formats each byte as two lower-case digits.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Decodes an even number of digits, upper or lower case. Returns `None` for any other text,
/// including signs and spaces.
///
/// ```
/// use tdb_types::hex;
///
/// assert_eq!(hex::decode("00fF"), Some(vec![0, 255]));
/// assert_eq!(hex::decode("+f"), None);
/// ```
#[must_use]
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// Decodes two digits. Returns `None` if either is not a hexadecimal digit.
#[must_use]
pub fn byte([high, low]: &[u8; 2]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// Parses hexadecimal digits as a number. Returns `None` for empty text, other characters and
/// numbers of more than 128 bits. Rejects a sign, unlike `from_str_radix`.
#[must_use]
pub fn number(digits: &str) -> Option<u128> {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u128::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_round_trips() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes.clone()));
        assert_eq!(decode(&encode(&bytes).to_uppercase()), Some(bytes));
    }

    #[test]
    fn other_characters_are_rejected() {
        for text in ["0", "+f", "-1", " f", "f ", "0x", "é", "fg"] {
            assert_eq!(decode(text), None, "{text:?}");
        }
        for text in ["", "+f", "-f", " f", "é"] {
            assert_eq!(number(text), None, "{text:?}");
        }
        assert_eq!(number("fF"), Some(255));
    }
}
