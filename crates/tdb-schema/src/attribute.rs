//! Attributes: the values of cells.

use std::borrow::Cow;

use tdb_filters::FilterPipeline;
use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, DecodeError, Feature, FormatVersion, Result};

use crate::SchemaError;

/// The name given to an anonymous attribute in versions without anonymous attributes.
pub(crate) const ANONYMOUS: &str = "__attr";

/// The maximum size of a serialized schema with repeated fill values, in bytes.
const MOST_REPEATED: u64 = 64 << 20;

/// An attribute of an array: a name, a datatype, a fill value and filters.
///
/// The constructors accept any values. Validation happens when the attribute becomes part of an
/// [`ArraySchema`](crate::ArraySchema).
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub(crate) name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    filters: FilterPipeline,
    fill: Fill,
    nullable: bool,
    order: DataOrder,
    enumeration: Option<String>,
}

/// The value of unwritten cells.
#[derive(Clone, Debug, PartialEq)]
struct Fill {
    /// The bytes of a cell. The default of a fixed-size cell is stored as a single value and
    /// repeats to fill the cell.
    pattern: Vec<u8>,
    /// The validity byte: 0 for null. The format stores a whole byte, which this library keeps
    /// unchanged.
    validity: u8,
}

impl Attribute {
    /// Creates an attribute with the default fill value and no filters.
    ///
    /// Cells have a single value, or any number of values for [`Datatype::Any`].
    #[must_use]
    pub fn new(name: impl Into<String>, datatype: Datatype) -> Self {
        Self {
            name: name.into(),
            datatype,
            cell_val_num: if datatype == Datatype::Any { CellValNum::Var } else { CellValNum::ONE },
            filters: FilterPipeline::default(),
            fill: Fill { pattern: datatype.default_fill(), validity: 0 },
            nullable: false,
            order: DataOrder::Unordered,
            enumeration: None,
        }
    }

    /// Sets the number of values per cell and resets the fill value to the default.
    #[must_use]
    pub fn with_cell_val_num(mut self, cell_val_num: CellValNum) -> Self {
        self.cell_val_num = cell_val_num;
        self.fill.pattern = self.datatype.default_fill();
        self
    }

    /// Sets the filters of the values.
    #[must_use]
    pub fn with_filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// Sets the fill value: the little-endian bytes of a cell.
    #[must_use]
    pub fn with_fill_value(mut self, cell: impl Into<Vec<u8>>) -> Self {
        self.set_fill_value(cell.into());
        self
    }

    /// Stores the bytes of a cell as the pattern.
    ///
    /// A cell of repeated defaults is stored as a single value. Equal attributes therefore have
    /// equal patterns.
    fn set_fill_value(&mut self, cell: Vec<u8>) {
        let default = self.datatype.default_fill();
        let is_default = !self.is_var() && cell.chunks(default.len()).all(|value| value == default);
        self.fill.pattern = if is_default && !cell.is_empty() { default } else { cell };
    }

    /// Makes the attribute nullable. Unwritten cells read as null unless `fill_valid` is `true`.
    #[must_use]
    pub fn nullable(mut self, fill_valid: bool) -> Self {
        self.nullable = true;
        self.fill.validity = u8::from(fill_valid);
        self
    }

    /// Declares the sort order of the values across the cells of the array.
    #[must_use]
    pub fn with_order(mut self, order: DataOrder) -> Self {
        self.order = order;
        self
    }

    /// Declares the values as indices into the enumeration `name`.
    #[must_use]
    pub fn with_enumeration(mut self, name: impl Into<String>) -> Self {
        self.enumeration = Some(name.into());
        self
    }

    /// Returns the name. The anonymous attribute has an empty name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns the number of values per cell.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Returns `true` if cells have variable length.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Returns the size of a cell in bytes, or `None` for cells of variable length.
    #[must_use]
    pub fn cell_size(&self) -> Option<u64> {
        let values = self.cell_val_num.fixed()?;
        Some(u64::from(values) * self.datatype.size() as u64)
    }

    /// Returns the filters of the values.
    #[must_use]
    pub fn filters(&self) -> &FilterPipeline {
        &self.filters
    }

    /// Returns `true` if cells may be null.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Returns the declared order of the values.
    #[must_use]
    pub fn order(&self) -> DataOrder {
        self.order
    }

    /// Returns the name of the enumeration that the values index into, or `None` for plain values.
    #[must_use]
    pub fn enumeration(&self) -> Option<&str> {
        self.enumeration.as_deref()
    }

    /// Returns the fill pattern: bytes that repeat until a fixed-size cell is full.
    ///
    /// For variable-length cells, the pattern is the whole cell. The pattern is the stored fill
    /// value or a single value of the datatype. It stays small even if an old schema, which stores
    /// no fill value, claims cells of gigabytes.
    #[must_use]
    pub fn fill_pattern(&self) -> &[u8] {
        &self.fill.pattern
    }

    /// Returns the bytes of an unwritten cell: the [pattern](Self::fill_pattern), repeated as
    /// needed.
    ///
    /// For schemas from untrusted sources, check the [cell size](Self::cell_size) first, because
    /// the cell may claim gigabytes.
    #[must_use]
    pub fn fill_value(&self) -> Cow<'_, [u8]> {
        let pattern = &self.fill.pattern;
        let size = self.cell_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(pattern.len());
        if size == pattern.len() || pattern.is_empty() {
            return Cow::Borrowed(pattern);
        }
        Cow::Owned(pattern.iter().copied().cycle().take(size).collect())
    }

    /// Returns `true` if unwritten cells of a nullable attribute read as valid.
    #[must_use]
    pub fn fill_valid(&self) -> bool {
        self.fill.validity != 0
    }

    /// Parses an attribute of a schema of format `version`.
    pub(crate) fn parse(reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self> {
        let mut attribute = {
            let name = reader.string_u32("name")?;
            let datatype = Datatype::read(reader, "datatype")?;
            let cell_val_num = CellValNum::read(reader, "values per cell")?;
            Self::new(name, datatype).with_cell_val_num(cell_val_num)
        };
        attribute.filters = FilterPipeline::parse(reader, version)?;
        if version.has(Feature::FillValue) {
            let cell = attribute.parse_fill_value(reader)?;
            attribute.set_fill_value(cell);
        }
        if version.has(Feature::Validity) {
            attribute.nullable = reader.bool("nullable")?;
            attribute.fill.validity = reader.u8("fill value validity")?;
        }
        if version.has(Feature::AttributeOrder) {
            attribute.order = DataOrder::read(reader, "order")?;
        }
        if version.has(Feature::Enumerations) {
            let name = reader.string_u32("enumeration")?;
            attribute.enumeration = (!name.is_empty()).then_some(name);
        }
        Ok(attribute)
    }

    fn parse_fill_value(&self, reader: &mut ByteReader<'_>) -> Result<Vec<u8>> {
        let offset = reader.offset();
        let size = reader.u64("fill value size")?;
        match self.cell_size() {
            Some(cell) if cell != size => {
                Err(DecodeError::invalid("fill value size", offset, size, "the size of a cell"))
            }
            None if size == 0 => Err(DecodeError::invalid("fill value size", offset, size, "at least 1")),
            _ => Ok(reader.bytes("fill value", size)?.to_vec()),
        }
    }

    /// Writes the attribute in format `version`.
    pub(crate) fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), SchemaError> {
        writer.string_u32(&self.name);
        self.datatype.write(writer);
        self.cell_val_num.write(writer);
        self.filters.write(writer, version)?;
        if version.has(Feature::FillValue) {
            self.write_fill_value(writer)?;
        }
        if version.has(Feature::Validity) {
            writer.bool(self.nullable);
            writer.u8(self.fill.validity);
        }
        if version.has(Feature::AttributeOrder) {
            self.order.write(writer);
        }
        if version.has(Feature::Enumerations) {
            writer.string_u32(self.enumeration.as_deref().unwrap_or_default());
        }
        Ok(())
    }

    /// Writes the fill value of a whole cell.
    ///
    /// Limits the size of repeated values. A few hostile bytes in an old schema, which stores no
    /// fill value, could otherwise request gigabytes.
    fn write_fill_value(&self, writer: &mut ByteWriter) -> Result<(), SchemaError> {
        let pattern = self.fill.pattern.len() as u64;
        let size = self.cell_size().unwrap_or(pattern);
        if size > pattern && (writer.len() as u64).saturating_add(size) > MOST_REPEATED {
            let what = format!("attribute {:?}", self.name);
            let why = format!("a cell of {size} bytes is too large for the fill value that this format version stores");
            return Err(SchemaError::invalid(what, why));
        }
        let fill = self.fill_value();
        writer.u64(fill.len() as u64);
        writer.bytes(&fill);
        Ok(())
    }
}
