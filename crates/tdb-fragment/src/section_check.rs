//! Checks of sections.

use tdb_rtree::RTree;
use tdb_types::ByteReader;

use crate::contents::FragmentContents;
use crate::error::{FragmentError, Result};
use crate::section::SectionId;
use crate::sections::{SectionParser, SectionReader, parse_section};

impl SectionReader<'_> {
    /// Parses a section and discards the result. Returns the size of the section in bytes.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn check(&mut self, id: SectionId, bytes: &[u8]) -> Result<u64> {
        let SectionParser { footer, schema } = self.parser;
        let missing = FragmentError::NoSuchSection { section: id, version: footer.version() };
        let start = footer.section_offset(id).ok_or(missing)?;
        let mut reader = ByteReader::at(bytes, start);
        let mut contents = FragmentContents::new(RTree::empty(&schema.domain().kinds(), RTree::FANOUT), 0);
        contents.fields.resize_with(footer.slots().len(), Default::default);
        let parser = self.parser;
        parse_section(id, &mut reader, self.decoder, |payload| contents.parse_section(id, &parser, payload))?;
        Ok(reader.offset().saturating_sub(start))
    }
}
