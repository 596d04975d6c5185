//! The domain of an array.

use tdb_rtree::DimensionKind;
use tdb_types::{ByteReader, ByteWriter, Datatype, Feature, FormatVersion, Result};

use crate::{Dimension, SchemaError};

/// The dimensions of an array, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pub(crate) dimensions: Vec<Dimension>,
}

impl Domain {
    pub(crate) fn new(dimensions: Vec<Dimension>) -> Self {
        Self { dimensions }
    }

    /// Returns the dimensions, in schema order.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Returns the [kind](Dimension::kind) of each dimension, in schema order.
    #[must_use]
    pub fn kinds(&self) -> Vec<DimensionKind> {
        self.dimensions.iter().map(Dimension::kind).collect()
    }

    /// Returns `true` if a dimension has variable length.
    #[must_use]
    pub fn has_var_dimension(&self) -> bool {
        self.dimensions.iter().any(Dimension::is_var)
    }

    /// Returns the number of cells per space tile: the product of the tile extents.
    ///
    /// Defined only for domains of integers, dates and times.
    ///
    /// # Errors
    /// Fails if a dimension has floats or strings, or if the product exceeds `u64::MAX`.
    pub fn cells_per_tile(&self) -> Result<u64, SchemaError> {
        self.dimensions.iter().try_fold(1_u64, |cells, dimension| {
            let what = || format!("dimension {:?}", dimension.name());
            let extent = dimension.extent_cells().ok_or_else(|| {
                SchemaError::invalid(
                    what(),
                    "coordinates are floats or strings, so that tiles have no fixed number of cells",
                )
            })?;
            cells.checked_mul(extent).ok_or_else(|| SchemaError::invalid(what(), "a tile has 2^64 or more cells"))
        })
    }

    /// Parses the domain of a schema of format `version`.
    pub(crate) fn parse(reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self> {
        let shared = match version.has(Feature::CombinedCoordinates) {
            true => Some(Datatype::read(reader, "datatype")?),
            false => None,
        };
        let count = reader.u32("dimension count")?;
        // The smallest dimension takes 7 bytes: the length of an empty name (4), two bounds of one
        // byte, and the flag for a missing tile extent.
        let count = reader.count("dimension count", u64::from(count), 7)?;
        let dimensions = (0..count)
            .map(|index| {
                let name = crate::group_name("dimension", index, 0, reader);
                reader.group(name, |reader| Dimension::parse(reader, version, shared))
            })
            .collect::<Result<_>>()?;
        Ok(Self { dimensions })
    }

    /// Writes the domain in format `version`.
    pub(crate) fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), SchemaError> {
        if version.has(Feature::CombinedCoordinates) {
            // Validation ensures that all dimensions have the same datatype in these versions.
            self.dimensions.first().map_or(Datatype::Int32, Dimension::datatype).write(writer);
        }
        writer.u32(u32::try_from(self.dimensions.len()).unwrap_or(u32::MAX));
        self.dimensions.iter().try_for_each(|dimension| dimension.write(writer, version))
    }
}
