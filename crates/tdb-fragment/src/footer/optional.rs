//! The optional sections at the end of a footer (format 23), each with an identifier and a size.

use tdb_types::{ByteReader, ByteWriter, DecodeError, Result};

/// The identifier of the offsets of the global order bounds.
const GLOBAL_ORDER_BOUNDS: u64 = 0;

/// An optional section of the footer.
///
/// ```text
/// u64 identifier | u32 size | size bytes
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionalSection {
    /// The offsets of the global order bounds.
    GlobalOrderBounds {
        /// Offsets of the generic tiles with the coordinates of first cells, one per dimension.
        mins: Vec<u64>,
        /// Offsets of the generic tiles with the coordinates of last cells, one per dimension.
        maxs: Vec<u64>,
    },
    /// An unknown section, which is written back unchanged.
    Unknown {
        /// The identifier of the section.
        id: u64,
        /// The contents of the section, less than 4 GiB.
        data: Vec<u8>,
    },
}

impl OptionalSection {
    /// Parses the number of sections, then the sections.
    pub(super) fn parse_all(reader: &mut ByteReader<'_>, dimensions: usize) -> Result<Vec<Self>> {
        let count = reader.u32("optional section count")?;
        let count = reader.count("optional sections", u64::from(count), 12)?;
        let sections = (0..count).map(|index| {
            reader.group(|| format!("optional section {index}"), |reader| Self::parse(reader, dimensions))
        });
        sections.collect()
    }

    /// Writes the number of sections, then the sections.
    pub(super) fn write_all(sections: &[Self], writer: &mut ByteWriter) {
        writer.u32(u32::try_from(sections.len()).unwrap_or(u32::MAX));
        for section in sections {
            section.write(writer);
        }
    }

    fn parse(reader: &mut ByteReader<'_>, dimensions: usize) -> Result<Self> {
        let id = reader.u64("identifier")?;
        let offset = reader.offset();
        let size = reader.u32("size")?;
        if id != GLOBAL_ORDER_BOUNDS {
            return Ok(Self::Unknown { id, data: reader.bytes("data", u64::from(size))?.to_vec() });
        }
        reader.explain(|| "global order bounds".to_owned());
        if u64::from(size) != 16 * dimensions as u64 {
            return Err(DecodeError::invalid("size", offset, size, "two offsets of 8 bytes per dimension"));
        }
        let mins = reader.u64_list("global order mins offsets", dimensions as u64)?;
        let maxs = reader.u64_list("global order maxs offsets", dimensions as u64)?;
        Ok(Self::GlobalOrderBounds { mins, maxs })
    }

    fn write(&self, writer: &mut ByteWriter) {
        let size = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        match self {
            Self::GlobalOrderBounds { mins, maxs } => {
                writer.u64(GLOBAL_ORDER_BOUNDS);
                writer.u32(size(8 * (mins.len() + maxs.len())));
                writer.u64_list(mins);
                writer.u64_list(maxs);
            }
            Self::Unknown { id, data } => {
                writer.u64(*id);
                writer.u32(size(data.len()));
                writer.bytes(data);
            }
        }
    }
}
