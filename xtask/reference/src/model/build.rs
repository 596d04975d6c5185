//! Creates coordinates and cells from Rust values.

use tdb_types::Datatype;

use super::{AttributeSpec, Bytes, Column, DimensionSpec, EnumerationSpec, Pipeline, RangesSpec};

/// A value with a little-endian encoding.
pub trait LittleEndian: Copy {
    fn push_to(self, bytes: &mut Vec<u8>);
}

macro_rules! little_endian {
    ($($type:ty),*) => { $(
        impl LittleEndian for $type {
            fn push_to(self, bytes: &mut Vec<u8>) { bytes.extend_from_slice(&self.to_le_bytes()); }
        }
    )* };
}

little_endian!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

/// Encodes values.
pub fn bytes_of<T: LittleEndian>(values: impl IntoIterator<Item = T>) -> Bytes {
    let values = values.into_iter();
    let mut bytes = Vec::with_capacity(values.size_hint().0 * size_of::<T>());
    values.for_each(|value| value.push_to(&mut bytes));
    Bytes(bytes)
}

/// Encodes the first and last coordinate of a range.
pub fn ends<T: LittleEndian>([first, last]: [T; 2]) -> (Bytes, Bytes) {
    (bytes_of([first]), bytes_of([last]))
}

impl RangesSpec {
    /// Creates ranges of numbers, both ends inclusive.
    pub fn new<T: LittleEndian>(dimension: &str, ranges: impl IntoIterator<Item = [T; 2]>) -> Self {
        Self { dimension: dimension.to_owned(), ranges: ranges.into_iter().map(ends).collect() }
    }
}

/// Creates a dimension with an inclusive domain.
pub fn dimension<T: LittleEndian>(name: &str, datatype: Datatype, domain: [T; 2], extent: T) -> DimensionSpec {
    DimensionSpec {
        name: name.to_owned(),
        datatype,
        domain: Some(ends(domain)),
        extent: Some(bytes_of([extent])),
        filters: Pipeline::default(),
    }
}

/// Creates a string dimension.
pub fn string_dimension(name: &str) -> DimensionSpec {
    DimensionSpec {
        name: name.to_owned(),
        datatype: Datatype::StringAscii,
        domain: None,
        extent: None,
        filters: Pipeline::default(),
    }
}

/// Creates an attribute with one value per cell.
pub fn attribute(name: &str, datatype: Datatype) -> AttributeSpec {
    AttributeSpec {
        name: name.to_owned(),
        datatype,
        cell_val_num: Some(1),
        nullable: false,
        fill: None,
        filters: Pipeline::default(),
        enumeration: None,
    }
}

impl DimensionSpec {
    pub fn filters(mut self, filters: impl Into<Pipeline>) -> Self {
        self.filters = filters.into();
        self
    }

    /// Removes the tile extent, which only Hilbert arrays permit.
    pub fn without_extent(mut self) -> Self {
        self.extent = None;
        self
    }
}

impl AttributeSpec {
    pub fn values_per_cell(mut self, number: u32) -> Self {
        self.cell_val_num = Some(number);
        self
    }

    /// Sets a variable number of values per cell.
    pub fn var(mut self) -> Self {
        self.cell_val_num = None;
        self
    }

    pub fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    pub fn filters(mut self, filters: impl Into<Pipeline>) -> Self {
        self.filters = filters.into();
        self
    }

    pub fn fill(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.fill = Some((Bytes(value.into()), false));
        self
    }

    pub fn enumeration(mut self, name: &str) -> Self {
        self.enumeration = Some(name.to_owned());
        self
    }
}

impl EnumerationSpec {
    /// Creates an enumeration of strings.
    pub fn strings(name: &str, datatype: Datatype, ordered: bool, strings: &[&str]) -> Self {
        let Column { values, mut offsets, .. } = var_column(name, strings);
        // The end of the last value is not stored.
        offsets.as_mut().and_then(Vec::pop);
        Self { name: name.to_owned(), datatype, cell_val_num: None, ordered, values, offsets }
    }
}

/// Creates a column of fixed-size cells.
pub fn column<T: LittleEndian>(name: &str, values: impl IntoIterator<Item = T>) -> Column {
    Column { name: name.to_owned(), values: bytes_of(values), offsets: None, validity: None }
}

/// Creates a column of variable-size cells.
pub fn var_column<C: AsRef<[u8]>>(name: &str, cells: impl IntoIterator<Item = C>) -> Column {
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for cell in cells {
        values.extend_from_slice(cell.as_ref());
        offsets.push(values.len() as u64);
    }
    Column { name: name.to_owned(), values: Bytes(values), offsets: Some(offsets), validity: None }
}

/// Adds validity to a column.
pub fn nullable(column: Column, valid: impl IntoIterator<Item = bool>) -> Column {
    let validity = valid.into_iter().map(u8::from).collect::<Vec<_>>();
    Column { validity: Some(Bytes(validity)), ..column }
}
