//! Values of enumerations.

use tdb_array::Column;
use tdb_array::tdb_cells::ColumnBuffers;
use tdb_array::tdb_schema::Enumeration;
use tdb_array::tdb_types::Buffer;

/// Returns the values as a column, in order of position.
pub(crate) fn column(enumeration: &Enumeration) -> Column {
    let size = enumeration.datatype().size() as u64;
    let offsets = enumeration.cell_val_num().is_var().then(|| {
        let ends = enumeration.offsets().iter().copied().chain([enumeration.data().len() as u64]);
        let bytes: Vec<u8> = ends.flat_map(|offset| (offset / size).to_le_bytes()).collect();
        Buffer::from(bytes)
    });
    let buffers = ColumnBuffers { values: Buffer::from(enumeration.data()), offsets, validity: None };
    let (name, number) = (enumeration.name().into(), enumeration.cell_val_num());
    Column::new(name, enumeration.datatype(), number, enumeration.len(), buffers)
}
