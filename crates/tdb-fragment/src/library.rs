//! Which library wrote a fragment, as far as it matters.

use std::ops::Range;

use tdb_filters::ElementTypes;
use tdb_types::{ByteReader, DecodeError, Feature, FormatVersion};

use crate::error::Result;
use crate::footer::FragmentFooter;
use crate::section::SectionId;

/// Bytes at the start of a generic tile that say which library wrote it.
const VERSION_LEN: u64 = 4;

impl FragmentFooter {
    /// The bytes of the file that [`element_types`](Self::element_types) needs; none if the fragment's format version
    /// says enough.
    #[must_use]
    pub fn element_types_range(&self) -> Option<Range<u64>> {
        if self.version().has(Feature::StageDatatypes) {
            return None;
        }
        // Formats 1 and 2 have no sections: the file begins with its one generic tile.
        let start = self.section_offset(SectionId::RTree).unwrap_or(0);
        Some(start..start.saturating_add(VERSION_LEN))
    }

    /// Which datatype the filters saw that the fragment's tiles went through.
    ///
    /// Format 20 came with the release that began to hand each filter the datatype that the one before it gives. Newer
    /// releases do so in fragments of old formats too; but each writes the newest format version that it knows into the
    /// headers of generic tiles, of which the R-tree's is the first one. `start` are the bytes of
    /// [`element_types_range`](Self::element_types_range).
    ///
    /// # Errors
    /// Too few bytes, or no format version.
    pub fn element_types(&self, start: &[u8]) -> Result<ElementTypes> {
        let Some(range) = self.element_types_range() else {
            return Ok(ElementTypes::Stage);
        };
        let mut reader = ByteReader::at(start, range.start);
        let number = reader.u32("generic tile's format version")?;
        // Beyond what this library knows: a newer one, which wrote an old format.
        let library = FormatVersion::new(number.min(FormatVersion::MAX.number())).map_err(|_| {
            let expected = "the version of a library's format";
            DecodeError::invalid("generic tile's format version", range.start, number, expected)
        })?;
        Ok(ElementTypes::of_fragment(self.version(), Some(library)))
    }
}
