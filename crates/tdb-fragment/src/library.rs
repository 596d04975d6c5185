//! Detection of the library that wrote a fragment.

use std::ops::Range;

use tdb_filters::ElementTypes;
use tdb_types::{ByteReader, DecodeError, Feature, FormatVersion};

use crate::error::Result;
use crate::footer::FragmentFooter;
use crate::section::SectionId;

/// The size of the library version at the start of a generic tile, in bytes.
const VERSION_LEN: u64 = 4;

impl FragmentFooter {
    /// Returns the byte range of the file that [`element_types`](Self::element_types) needs.
    ///
    /// Returns `None` if the fragment's format version is sufficient.
    #[must_use]
    pub fn element_types_range(&self) -> Option<Range<u64>> {
        if self.version().has(Feature::StageDatatypes) {
            return None;
        }
        // Formats 1 and 2 have no sections. The file begins with the single generic tile.
        let start = self.section_offset(SectionId::RTree).unwrap_or(0);
        Some(start..start.saturating_add(VERSION_LEN))
    }

    /// Returns the rule that determines the input datatype of each filter of the fragment's tiles.
    ///
    /// Since the release that introduced format 20, each filter gets the output datatype of the
    /// previous filter. Newer releases do the same in fragments of old formats. Each release writes
    /// its newest format version into the headers of generic tiles. The first generic tile of the
    /// file contains the R-tree, or the whole metadata in formats 1 and 2.
    ///
    /// `start` has the bytes of [`element_types_range`](Self::element_types_range).
    ///
    /// # Errors
    /// Fails if `start` is too short, or if the stored version is 0.
    pub fn element_types(&self, start: &[u8]) -> Result<ElementTypes> {
        let Some(range) = self.element_types_range() else {
            return Ok(ElementTypes::Stage);
        };
        let mut reader = ByteReader::at(start, range.start);
        let number = reader.u32("generic tile's format version")?;
        // A version above the maximum belongs to a newer library that wrote an old format.
        let library = FormatVersion::new(number.min(FormatVersion::MAX.number())).map_err(|_| {
            let expected = "a supported format version";
            DecodeError::invalid("generic tile's format version", range.start, number, expected)
        })?;
        Ok(ElementTypes::of_fragment(self.version(), Some(library)))
    }
}
