//! The delete and update conditions that were applied to a fragment when it was made.

use tdb_types::{ByteReader, ByteWriter, Result};

/// Which conditions consolidation has already applied to the fragment's cells, so that a reader must not apply them again.
///
/// ```text
/// u64 count | count × { u64 length | path of the condition's commit file, relative to the array }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessedConditions(pub Vec<String>);

impl ProcessedConditions {
    /// Reads the conditions.
    ///
    /// # Errors
    /// Truncated, or a path that isn't UTF-8.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        let count = reader.u64("condition count")?;
        let count = reader.count("conditions", count, 8)?;
        let conditions: Result<Vec<_>> = (0..count).map(|_| reader.string_u64("condition")).collect();
        conditions.map(Self)
    }

    /// Writes what [`parse`](Self::parse) reads.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u64(self.0.len() as u64);
        for condition in &self.0 {
            writer.string_u64(condition);
        }
    }

    /// The place of a condition in the list, which is what the delete condition index of a cell gives.
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
