//! Delete and update conditions already applied to a fragment.

use tdb_types::{ByteReader, ByteWriter, Result};

/// The conditions that consolidation has already applied to the fragment's cells. Readers must not
/// apply them again.
///
/// ```text
/// u64 count | count × { u64 length | path of the condition's commit file, relative to the array }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessedConditions(pub Vec<String>);

impl ProcessedConditions {
    /// Parses the conditions.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or a path is not UTF-8.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        let count = reader.u64("condition count")?;
        let count = reader.count("conditions", count, 8)?;
        let conditions: Result<Vec<_>> = (0..count).map(|_| reader.string_u64("condition")).collect();
        conditions.map(Self)
    }

    /// Writes the conditions, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u64(self.0.len() as u64);
        for condition in &self.0 {
            writer.string_u64(condition);
        }
    }

    /// Returns the index of a condition, as stored in the delete condition index of cells. Returns
    /// `None` for other conditions.
    #[must_use]
    pub fn index_of(&self, path: &str) -> Option<usize> {
        self.0.iter().position(|condition| condition == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let conditions = ProcessedConditions(vec!["__commits/__1_1_0_22.del".to_owned(), String::new()]);
        let mut writer = ByteWriter::new();
        conditions.write(&mut writer);
        let bytes = writer.into_bytes();
        assert_eq!(bytes.len(), 8 + 8 + 24 + 8);
        let mut reader = ByteReader::new(&bytes);
        assert_eq!(ProcessedConditions::parse(&mut reader).unwrap(), conditions);
        reader.finish("conditions").unwrap();
        assert_eq!(conditions.index_of(""), Some(1));
    }

    #[test]
    fn a_count_beyond_the_bytes_is_refused() {
        let bytes = [u64::MAX.to_le_bytes(), [0; 8]].concat();
        assert!(ProcessedConditions::parse(&mut ByteReader::new(&bytes)).is_err());
    }
}
