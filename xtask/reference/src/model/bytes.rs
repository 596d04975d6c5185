//! Byte strings, serialized as hexadecimal text or as attachments.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A byte string. In JSON it has two hexadecimal digits per byte, or the position of an
/// [attachment](attachments).
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Formats lowercase hexadecimal digits.
    pub fn to_hex(&self) -> String {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    /// Parses hexadecimal digits. Returns `None` for an odd number of digits, or other characters.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|nibble| u8::try_from(nibble).ok());
        let (pairs, rest) = digits.as_bytes().as_chunks();
        let bytes = pairs.iter().map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect::<Option<_>>();
        if rest.is_empty() { bytes.map(Self) } else { None }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.to_hex())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match attachments::put(self) {
            Some(place) => place.serialize(serializer),
            None => serializer.serialize_str(&self.to_hex()),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Hex(String),
            Attached(usize, usize),
        }
        match Form::deserialize(deserializer)? {
            Form::Hex(digits) => Self::from_hex(&digits).ok_or_else(|| D::Error::custom("not hexadecimal")),
            Form::Attached(offset, length) => {
                attachments::get(offset, length).map(Self).ok_or_else(|| D::Error::custom("no such attachment"))
            }
        }
    }
}

/// Serializes offsets as bytes, for `#[serde(with)]`. As JSON numbers they would take longer than
/// the rest.
pub(super) mod words {
    use super::{Bytes, Deserialize, Deserializer, Error, Serialize, Serializer};

    pub(in crate::model) fn serialize<S: Serializer>(
        words: &Option<Vec<u64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = words.as_ref().map(|words| Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect()));
        bytes.serialize(serializer)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u64>>, D::Error> {
        let Some(bytes) = Option::<Bytes>::deserialize(deserializer)? else { return Ok(None) };
        let (words, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(D::Error::custom("not a whole number of words"));
        }
        Ok(Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect()))
    }
}

/// Long byte strings outside of the JSON of a message, because encoding hundreds of millions of
/// hexadecimal digits would take longer than the job. Serialization appends long byte strings to a
/// buffer, and writes offset and length to the JSON. Deserialization takes the bytes from the
/// buffer.
pub mod attachments {
    use std::cell::RefCell;

    /// Minimum length of an attachment. Shorter byte strings stay in the JSON, where people can
    /// read them.
    const SHORTEST: usize = 256;

    thread_local! {
        /// The buffer of the message that this thread is serializing or deserializing. `serde` has
        /// no other way to pass context to nested values.
        static BUFFER: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
    }

    /// Runs `body` with `buffer` for attachments. Returns the result of `body`, and the buffer.
    pub fn with<R>(buffer: Vec<u8>, body: impl FnOnce() -> R) -> (R, Vec<u8>) {
        BUFFER.set(Some(buffer));
        let result = body();
        (result, BUFFER.take().unwrap_or_default())
    }

    pub(super) fn put(bytes: &[u8]) -> Option<(usize, usize)> {
        BUFFER.with_borrow_mut(|buffer| {
            let buffer = buffer.as_mut().filter(|_| bytes.len() >= SHORTEST)?;
            let place = (buffer.len(), bytes.len());
            buffer.extend_from_slice(bytes);
            Some(place)
        })
    }

    pub(super) fn get(offset: usize, length: usize) -> Option<Vec<u8>> {
        BUFFER.with_borrow(|buffer| Some(buffer.as_ref()?.get(offset..offset.checked_add(length)?)?.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, attachments};

    #[test]
    fn long_bytes_are_attachments() {
        let bytes = vec![Bytes(vec![7; 1000]), Bytes(vec![1, 2]), Bytes(vec![9; 300])];
        let (json, attached) = attachments::with(Vec::new(), || serde_json::to_string(&bytes).expect("JSON"));
        assert_eq!((json.as_str(), attached.len()), (r#"[[0,1000],"0102",[1000,300]]"#, 1300));
        let (back, _) = attachments::with(attached, || serde_json::from_str::<Vec<Bytes>>(&json).expect("the same"));
        assert_eq!(back, bytes);
        assert!(serde_json::from_str::<Vec<Bytes>>(&json).is_err(), "the attachments are gone");
    }

    #[test]
    fn hexadecimal_survives_a_round_trip() {
        let bytes = Bytes((0..=255).collect());
        assert_eq!(Bytes::from_hex(&bytes.to_hex()), Some(bytes));
        assert_eq!((Bytes::from_hex("0"), Bytes::from_hex("0g")), (None, None));
    }
}
