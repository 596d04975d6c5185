//! Dimensions: the coordinates that cells have.

use tdb_filters::FilterPipeline;
use tdb_rtree::DimensionKind;
use tdb_types::{
    ByteReader, ByteWriter, CellValNum, Datatype, DecodeError, Feature, FormatVersion, PhysicalType, Result, Scalar,
};

use crate::scalar_bits::unsigned_bits;
use crate::{SchemaError, Tiling};

/// One dimension of an array: the name, type and bounds of a coordinate, and how it is cut into space tiles.
///
/// The constructors take anything; whether it makes sense is checked when the dimension becomes part of an
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
    /// A dimension of a fixed-size datatype, with bounds (both inclusive), no tile extent and no filters of its own.
    #[must_use]
    pub fn new(name: impl Into<String>, datatype: Datatype, low: Scalar, high: Scalar) -> Self {
        Self {
            name: name.into(),
            datatype,
            cell_val_num: CellValNum::ONE,
            filters: FilterPipeline::default(),
            domain: Some((low, high)),
            tile_extent: None,
        }
    }

    /// A dimension of ASCII strings, which has neither bounds nor tiles.
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

    /// The same dimension with a tile extent, in values of its datatype.
    #[must_use]
    pub fn with_tile_extent(mut self, extent: Scalar) -> Self {
        self.tile_extent = Some(extent);
        self
    }

    /// The same dimension with filters of its own for its coordinates.
    #[must_use]
    pub fn with_filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The datatype of the coordinates.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How a coordinate lies in memory.
    #[must_use]
    pub fn physical(&self) -> PhysicalType {
        self.datatype.physical()
    }

    /// How many values a coordinate has: one, or any number for strings.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Whether coordinates differ in length.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// What ranges and trees need to know of the dimension.
    #[must_use]
    pub fn kind(&self) -> DimensionKind {
        DimensionKind { datatype: self.datatype, var: self.is_var() }
    }

    /// The filters as the schema states them. None means that the schema's coordinate filters apply: for the filters
    /// that tiles went through ask [`ArraySchema::filters_of`](crate::ArraySchema::filters_of).
    #[must_use]
    pub fn own_filters(&self) -> &FilterPipeline {
        &self.filters
    }

    /// The lowest and the highest coordinate; nothing for strings.
    #[must_use]
    pub fn domain(&self) -> Option<(Scalar, Scalar)> {
        self.domain
    }

    /// The [ordered keys](tdb_types::ordered_key) of the lowest and the highest coordinate; nothing for strings.
    #[must_use]
    pub fn domain_keys(&self) -> Option<(u64, u64)> {
        self.domain.map(|(low, high)| (low.key(), high.key()))
    }

    /// The tile extent as the schema states it. Extents of signed datatypes are to be taken as unsigned: the extent
    /// 200 of an `int8` dimension from -100 to 99 is stored as -56.
    #[must_use]
    pub fn tile_extent(&self) -> Option<Scalar> {
        self.tile_extent
    }

    /// Coordinates per tile, for integers and dates; without a tile extent the whole domain is one tile.
    ///
    /// Nothing for floats and strings.
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

    /// How the dimension is cut into space tiles.
    #[must_use]
    pub fn tiling(&self) -> Tiling {
        Tiling::of(self.domain.map(|(low, _)| low), self.tile_extent)
    }

    /// The tile that the coordinate with this [ordered key](tdb_types::ordered_key) lies in, counted from the domain's
    /// low end. Where many are asked for, [`tiling`](Self::tiling) is faster.
    #[must_use]
    pub fn tile_index(&self, key: u64) -> u64 {
        self.tiling().index(key)
    }

    /// How many tiles the domain has along this dimension: for integers and dates exactly, 1 without a tile extent.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.domain_keys().map_or(1, |(_, high)| self.tile_index(high).saturating_add(1))
    }

    /// The ordered keys of the first and the last coordinate of a tile, for integers and dates. The last tile of a
    /// domain may reach beyond it. Where it reaches beyond the datatype, too, its last coordinate is the datatype's
    /// highest value, although the tile is stored with as many cells as every other.
    ///
    /// Nothing for floats and strings, nor for tiles that the domain doesn't have.
    #[must_use]
    pub fn tile_range(&self, index: u64) -> Option<(u64, u64)> {
        let (low, high) = self.domain_keys()?;
        let extent = self.extent_cells()?;
        let first = low.checked_add(index.checked_mul(extent)?).filter(|first| *first <= high)?;
        let last = first.saturating_add(extent.saturating_sub(1)).min(max_key(self.physical()));
        Some((first, last))
    }

    /// Reads a dimension of a schema of format `version`; `shared` is the domain's datatype, where it has one.
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

    /// Writes the dimension into a schema of format `version`.
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

/// The highest ordered key of a type.
pub(crate) fn max_key(physical: PhysicalType) -> u64 {
    match physical.size() {
        1 => u64::from(u8::MAX),
        2 => u64::from(u16::MAX),
        4 => u64::from(u32::MAX),
        _ => u64::MAX,
    }
}
