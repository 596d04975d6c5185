//! Dimensions: the coordinates of cells.

use std::ops::RangeInclusive;

use tdb_filters::FilterPipeline;
use tdb_rtree::DimensionKind;
use tdb_types::{
    ByteReader, ByteWriter, CellValNum, Datatype, DecodeError, Feature, FormatVersion, PhysicalType, Result, Scalar,
};

use crate::scalar_bits::unsigned_bits;
use crate::{SchemaError, Tiling};

/// A dimension of an array: the name, datatype and bounds of a coordinate, and the tile extent.
///
/// The constructors accept any values. Validation happens when the dimension becomes part of an
/// [`ArraySchema`](crate::ArraySchema).
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    filters: FilterPipeline,
    domain: Option<(Scalar, Scalar)>,
    tile_extent: Option<Scalar>,
}

impl Dimension {
    /// Creates a dimension of numbers with the inclusive bounds `domain`, without a tile extent or
    /// filters.
    ///
    /// The datatype is the type of the bounds, such as [`Datatype::Int64`] for `0i64..=99`. Dates
    /// and times need [`with_datatype`](Self::with_datatype).
    #[must_use]
    pub fn new(name: impl Into<String>, domain: RangeInclusive<impl Into<Scalar>>) -> Self {
        let (low, high) = domain.into_inner();
        let (low, high) = (low.into(), high.into());
        let datatype = low.physical().into();
        Self { datatype, cell_val_num: CellValNum::ONE, domain: Some((low, high)), ..Self::string(name) }
    }

    /// Creates a dimension of ASCII strings, without bounds, a tile extent or filters.
    #[must_use]
    pub fn string(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            datatype: Datatype::StringAscii,
            cell_val_num: CellValNum::Var,
            filters: FilterPipeline::default(),
            domain: None,
            tile_extent: None,
        }
    }

    /// Sets the datatype of the coordinates, such as [`Datatype::DatetimeMs`] for bounds of type
    /// `i64`.
    #[must_use]
    pub fn with_datatype(mut self, datatype: Datatype) -> Self {
        self.datatype = datatype;
        self
    }

    /// Sets the tile extent, in values of the datatype. Converts a number of another type to the
    /// type of the domain if the number fits. Otherwise keeps the number, which validation then
    /// rejects.
    #[must_use]
    pub fn with_tile(mut self, extent: impl Into<Scalar>) -> Self {
        let extent = extent.into();
        let converted = self.domain.and_then(|(low, _)| converted(extent, low.physical()));
        self.tile_extent = Some(converted.unwrap_or(extent));
        self
    }

    /// Sets the filters of the coordinates.
    #[must_use]
    pub fn with_filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the datatype of the coordinates.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns the physical type of a coordinate.
    #[must_use]
    pub fn physical(&self) -> PhysicalType {
        self.datatype.physical()
    }

    /// Returns the number of values per coordinate: 1, or variable for strings.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Returns `true` if coordinates have variable length.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Returns the datatype and whether coordinates have variable length, as ranges and R-trees
    /// need them.
    #[must_use]
    pub fn kind(&self) -> DimensionKind {
        DimensionKind { datatype: self.datatype, var: self.is_var() }
    }

    /// Returns the dimension's filters, as stored in the schema.
    ///
    /// If empty, the coordinate filters of the schema apply.
    /// [`ArraySchema::filters_of`](crate::ArraySchema::filters_of) returns the effective filters.
    #[must_use]
    pub fn own_filters(&self) -> &FilterPipeline {
        &self.filters
    }

    /// Returns the lowest and the highest coordinate, or `None` for strings.
    #[must_use]
    pub fn domain(&self) -> Option<(Scalar, Scalar)> {
        self.domain
    }

    /// Returns the [ordered keys](tdb_types::ordered_key) of the lowest and the highest coordinate,
    /// or `None` for strings.
    #[must_use]
    pub fn domain_keys(&self) -> Option<(u64, u64)> {
        self.domain.map(|(low, high)| (low.key(), high.key()))
    }

    /// Returns the tile extent as stored in the schema, or `None` if the schema has no extent.
    ///
    /// Extents of signed datatypes are unsigned values. For example, the extent 200 of an `int8`
    /// dimension from -100 to 99 is stored as -56.
    #[must_use]
    pub fn tile_extent(&self) -> Option<Scalar> {
        self.tile_extent
    }

    /// Returns the number of coordinates per tile, for integers, dates and times.
    ///
    /// Without a tile extent, this is the number of coordinates in the domain. Returns `None` for
    /// floats and strings.
    #[must_use]
    pub fn extent_cells(&self) -> Option<u64> {
        let (low, high) = self.domain_keys()?;
        if self.datatype.is_float() {
            return None;
        }
        Some(match self.tile_extent {
            Some(extent) => unsigned_bits(extent),
            None => high.wrapping_sub(low).saturating_add(1),
        })
    }

    /// Returns the mapping from coordinates to space tiles.
    #[must_use]
    pub fn tiling(&self) -> Tiling {
        Tiling::of(self.domain.map(|(low, _)| low), self.tile_extent)
    }

    /// Returns the index of the tile that contains a coordinate, counted from the low end of the
    /// domain. Returns 0 for strings and without a tile extent.
    ///
    /// `key` is the [ordered key](tdb_types::ordered_key) of the coordinate. For many lookups,
    /// [`tiling`](Self::tiling) is faster.
    #[must_use]
    pub fn tile_index(&self, key: u64) -> u64 {
        self.tiling().index(key)
    }

    /// Returns the number of tiles along this dimension, or 1 without a tile extent. For floats,
    /// rounding may change the number.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.domain_keys().map_or(1, |(_, high)| self.tile_index(high).saturating_add(1))
    }

    /// Returns the ordered keys of the first and the last coordinate of a tile, for integers, dates
    /// and times.
    ///
    /// The last tile may extend beyond the domain. If the last tile would also exceed the datatype,
    /// the last coordinate is the datatype's maximum. Dense fragments still store the full number
    /// of cells of this tile.
    ///
    /// Returns `None` for floats, strings, and tiles outside of the domain.
    #[must_use]
    pub fn tile_range(&self, index: u64) -> Option<(u64, u64)> {
        let (low, high) = self.domain_keys()?;
        let extent = self.extent_cells()?;
        let first = low.checked_add(index.checked_mul(extent)?).filter(|first| *first <= high)?;
        let last = first.saturating_add(extent.saturating_sub(1)).min(max_key(self.physical()));
        Some((first, last))
    }

    /// Parses a dimension of a schema of format `version`. `shared` is the common datatype of all
    /// dimensions, in versions that store it once per domain.
    pub(crate) fn parse(reader: &mut ByteReader<'_>, version: FormatVersion, shared: Option<Datatype>) -> Result<Self> {
        let name = reader.string_u32("name")?;
        let mut dimension = match shared {
            Some(datatype) => Self { datatype, cell_val_num: CellValNum::ONE, ..Self::string(name) },
            None => Self {
                datatype: Datatype::read(reader, "datatype")?,
                cell_val_num: CellValNum::read(reader, "values per cell")?,
                filters: FilterPipeline::parse(reader, version)?,
                ..Self::string(name)
            },
        };
        dimension.domain = dimension.parse_domain(reader, version)?;
        if !reader.bool("null tile extent")? {
            dimension.tile_extent = Some(dimension.parse_scalar(reader, "tile extent")?);
        }
        Ok(dimension)
    }

    fn parse_domain(&self, reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Option<(Scalar, Scalar)>> {
        if version.has(Feature::PerDimensionFiles) {
            let offset = reader.offset();
            let expected = if self.is_var() { 0 } else { 2 * self.datatype.size() as u64 };
            let size = reader.u64("domain size")?;
            if size != expected {
                let expected = "two values of the datatype, or 0 for strings";
                return Err(DecodeError::invalid("domain size", offset, size, expected));
            }
        }
        if self.is_var() {
            return Ok(None);
        }
        Ok(Some((self.parse_scalar(reader, "domain low")?, self.parse_scalar(reader, "domain high")?)))
    }

    fn parse_scalar(&self, reader: &mut ByteReader<'_>, field: &'static str) -> Result<Scalar> {
        let offset = reader.offset();
        let bytes = reader.bytes(field, self.datatype.size() as u64)?;
        let value = Scalar::from_le_bytes(self.physical(), bytes)
            .ok_or_else(|| DecodeError::invalid(field, offset, bytes.len(), "one value of the datatype"))?;
        reader.explain(|| value.to_string());
        Ok(value)
    }

    /// Writes the dimension in format `version`.
    pub(crate) fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), SchemaError> {
        writer.string_u32(&self.name);
        if version.has(Feature::PerDimensionFiles) {
            self.datatype.write(writer);
            self.cell_val_num.write(writer);
            self.filters.write(writer, version)?;
            writer.u64(self.domain.map_or(0, |_| 2 * self.datatype.size() as u64));
        }
        if let Some((low, high)) = self.domain {
            writer.bytes(&low.to_le_bytes());
            writer.bytes(&high.to_le_bytes());
        }
        writer.bool(self.tile_extent.is_none());
        if let Some(extent) = self.tile_extent {
            writer.bytes(&extent.to_le_bytes());
        }
        Ok(())
    }
}

/// Returns the highest ordered key of a type.
pub(crate) fn max_key(physical: PhysicalType) -> u64 {
    u64::MAX >> (64 - 8 * physical.size())
}

/// Converts a tile extent to another type. Integer types, also signed types, hold the extent as
/// unsigned bits. Returns `None` for an integer that is negative or does not fit, and for a float
/// if `to` is an integer type.
fn converted(number: Scalar, to: PhysicalType) -> Option<Scalar> {
    match to {
        _ if number.physical() == to => Some(number),
        PhysicalType::F32 => Some(Scalar::F32(number.to_f64() as f32)),
        PhysicalType::F64 => Some(Scalar::F64(number.to_f64())),
        _ => {
            let bytes = u64::try_from(number.to_integer()?).ok()?.to_le_bytes();
            let (value, rest) = bytes.split_at(to.size());
            Scalar::from_le_bytes(to, value).filter(|_| rest.iter().all(|byte| *byte == 0))
        }
    }
}
