//! Dimension labels: arrays that map labels to the coordinates of a dimension.

use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, Result};

/// A label of a dimension: the location and the type of the label array.
///
/// The label array is an ordinary dense array. It has a single dimension, with the domain of the
/// labeled dimension, and a single attribute with ordered values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionLabel {
    /// The index of the labeled dimension.
    pub dimension: u32,
    /// The name of the label. Dimensions, attributes and labels share one namespace.
    pub name: String,
    /// `true` if `uri` is relative to the array's folder.
    pub relative: bool,
    /// The URI of the label array, such as `__labels/l0`.
    pub uri: String,
    /// The name of the attribute that holds the labels in the label array.
    pub attribute: String,
    /// The order of the labels along the dimension: increasing or decreasing.
    pub order: DataOrder,
    /// The datatype of the labels.
    pub datatype: Datatype,
    /// The number of values per label: 1, or variable for strings.
    pub cell_val_num: CellValNum,
    /// `true` if the label array was created separately from this array.
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
