//! Dimension labels: arrays that give the coordinates of a dimension other names.

use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, Result};

/// One label of a dimension: where the array with the labels lies, and what it holds.
///
/// The label array is an ordinary dense array with one dimension, which matches the labelled one, and one attribute
/// whose values are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionLabel {
    /// The labelled dimension's position.
    pub dimension: u32,
    /// The label's name; dimensions, attributes and labels share one space of names.
    pub name: String,
    /// Whether `uri` is relative to the array's folder.
    pub relative: bool,
    /// Where the label array lies, such as `__labels/l0`.
    pub uri: String,
    /// The attribute of the label array that holds the labels.
    pub attribute: String,
    /// The order of the labels along the dimension: increasing or decreasing.
    pub order: DataOrder,
    /// The datatype of the labels.
    pub datatype: Datatype,
    /// How many values a label has: one, or any number for strings.
    pub cell_val_num: CellValNum,
    /// Whether the label array was made outside of this array.
    pub external: bool,
}

impl DimensionLabel {
    pub(crate) fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        Ok(Self {
            dimension: reader.u32("dimension index")?,
            name: reader.string_u32("name")?,
            relative: reader.bool("relative uri")?,
            uri: reader.string_u64("uri")?,
            attribute: reader.string_u32("label attribute")?,
            order: DataOrder::read(reader, "label order")?,
            datatype: Datatype::read(reader, "label datatype")?,
            cell_val_num: CellValNum::read(reader, "values per label")?,
            external: reader.bool("external")?,
        })
    }

    pub(crate) fn write(&self, writer: &mut ByteWriter) {
        writer.u32(self.dimension);
        writer.string_u32(&self.name);
        writer.bool(self.relative);
        writer.string_u64(&self.uri);
        writer.string_u32(&self.attribute);
        self.order.write(writer);
        self.datatype.write(writer);
        self.cell_val_num.write(writer);
        writer.bool(self.external);
    }
}
