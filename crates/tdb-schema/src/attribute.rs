//! Attributes: the values that cells hold.

use std::borrow::Cow;

use tdb_filters::FilterPipeline;
use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, DecodeError, Feature, FormatVersion, Result};

use crate::SchemaError;

/// What an attribute without a name is called where it must have one.
pub(crate) const ANONYMOUS: &str = "__attr";

/// Bytes up to which a schema may grow by fill values that are one value many times over.
const MOST_REPEATED: u64 = 64 << 20;

/// One attribute of an array: the name, type and filters of a value that every cell has.
///
/// The constructors take anything; whether it makes sense is checked when the attribute becomes part of an
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

/// What cells that were never written read as.
#[derive(Clone, Debug, PartialEq)]
struct Fill {
    /// The bytes of the cell; for the default of fixed-size cells those of one value, which the cell repeats.
    pattern: Vec<u8>,
    /// The validity byte: 0 for null. The format has a whole byte for it, and what a file says is kept.
    validity: u8,
}

impl Attribute {
    /// An attribute with one value per cell (any number for [`Datatype::Any`]), the default fill value, no filters.
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

    /// The same attribute with another number of values per cell; the fill value becomes the default again.
    #[must_use]
    pub fn with_cell_val_num(mut self, cell_val_num: CellValNum) -> Self {
        self.cell_val_num = cell_val_num;
        self.fill.pattern = self.datatype.default_fill();
        self
    }

    /// The same attribute with filters for its values.
    #[must_use]
    pub fn with_filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// The same attribute with a fill value: the little-endian bytes of one cell.
    #[must_use]
    pub fn with_fill_value(mut self, cell: impl Into<Vec<u8>>) -> Self {
        self.set_fill_value(cell.into());
        self
    }

    /// Keeps the bytes of a cell as a pattern; the default as one value, however often the cell repeats it, so that equal
    /// attributes have equal patterns.
    fn set_fill_value(&mut self, cell: Vec<u8>) {
        let default = self.datatype.default_fill();
        let is_default = !self.is_var() && cell.chunks(default.len()).all(|value| value == default);
        self.fill.pattern = if is_default && !cell.is_empty() { default } else { cell };
    }

    /// The same attribute, nullable; unwritten cells read as null unless `fill_valid`.
    #[must_use]
    pub fn nullable(mut self, fill_valid: bool) -> Self {
        self.nullable = true;
        self.fill.validity = u8::from(fill_valid);
        self
    }

    /// The same attribute with the promise that its values are ordered along the array.
    #[must_use]
    pub fn with_order(mut self, order: DataOrder) -> Self {
        self.order = order;
        self
    }

    /// The same attribute, its values being positions in the enumeration of that name.
    #[must_use]
    pub fn with_enumeration(mut self, name: impl Into<String>) -> Self {
        self.enumeration = Some(name.into());
        self
    }

    /// The name; empty for the anonymous attribute.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How many values a cell has.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Whether cells differ in length.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Bytes of one cell, unless cells differ in length.
    #[must_use]
    pub fn cell_size(&self) -> Option<u64> {
        let values = self.cell_val_num.fixed()?;
        Some(u64::from(values) * self.datatype.size() as u64)
    }

    /// The filters of the values.
    #[must_use]
    pub fn filters(&self) -> &FilterPipeline {
        &self.filters
    }

    /// Whether cells may be null.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// The order that the values are promised to have.
    #[must_use]
    pub fn order(&self) -> DataOrder {
        self.order
    }

    /// The name of the enumeration that the values are positions in.
    #[must_use]
    pub fn enumeration(&self) -> Option<&str> {
        self.enumeration.as_deref()
    }

    /// The bytes that unwritten cells read as, to be repeated until a fixed-size cell is full. For cells of variable
    /// length they are the whole cell.
    ///
    /// Old schemas state no fill value and may claim cells of gigabytes; the pattern never is longer than what the file
    /// holds or one value of the datatype.
    #[must_use]
    pub fn fill_pattern(&self) -> &[u8] {
        &self.fill.pattern
    }

    /// The bytes of one unwritten cell: the [pattern](Self::fill_pattern), repeated if need be.
    ///
    /// Who doesn't know where the schema comes from asks first how large a [cell](Self::cell_size) is.
    #[must_use]
    pub fn fill_value(&self) -> Cow<'_, [u8]> {
        let pattern = &self.fill.pattern;
        let size = self.cell_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(pattern.len());
        if size == pattern.len() || pattern.is_empty() {
            return Cow::Borrowed(pattern);
        }
        Cow::Owned(pattern.iter().copied().cycle().take(size).collect())
    }

    /// Whether unwritten cells of a nullable attribute read as valid.
    #[must_use]
    pub fn fill_valid(&self) -> bool {
        self.fill.validity != 0
    }

    /// Reads an attribute of a schema of format `version`.
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

    /// Writes the attribute into a schema of format `version`.
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

    /// Writes the cell out. Where that is a value many times over, few bytes can ask for many: old schemas state none.
    fn write_fill_value(&self, writer: &mut ByteWriter) -> Result<(), SchemaError> {
        let pattern = self.fill.pattern.len() as u64;
        let size = self.cell_size().unwrap_or(pattern);
        if size > pattern && (writer.len() as u64).saturating_add(size) > MOST_REPEATED {
            let what = format!("attribute {:?}", self.name);
            let why = format!("a fill value of {size} bytes can't be stored, as this version has it: too large a cell");
            return Err(SchemaError::invalid(what, why));
        }
        let fill = self.fill_value();
        writer.u64(fill.len() as u64);
        writer.bytes(&fill);
        Ok(())
    }
}
