//! Array schemas.

use serde::{Deserialize, Serialize};
use tdb_types::{ArrayType, DataOrder, Datatype, Layout};

use super::{Bytes, Pipeline, WriteSpec};

/// The schema of a new array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArraySpec {
    pub array_type: ArrayType,
    pub dimensions: Vec<DimensionSpec>,
    pub attributes: Vec<AttributeSpec>,
    pub cell_order: Layout,
    pub tile_order: Layout,
    /// Cells per tile of sparse fragments. `None` for the library's default.
    pub capacity: Option<u64>,
    pub allows_dups: bool,
    /// `None` for the library's default, also in the next two fields.
    pub coords_filters: Option<Pipeline>,
    pub offsets_filters: Option<Pipeline>,
    pub validity_filters: Option<Pipeline>,
    pub enumerations: Vec<EnumerationSpec>,
    /// First and last coordinate per dimension.
    pub current_domain: Option<Vec<(Bytes, Bytes)>>,
    pub labels: Vec<LabelSpec>,
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimensionSpec {
    pub name: String,
    pub datatype: Datatype,
    /// First and last coordinate. `None` for strings.
    pub domain: Option<(Bytes, Bytes)>,
    pub extent: Option<Bytes>,
    pub filters: Pipeline,
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributeSpec {
    pub name: String,
    pub datatype: Datatype,
    /// Values per cell. `None` for a variable number.
    pub cell_val_num: Option<u32>,
    pub nullable: bool,
    /// The fill value, and its validity. `None` for the library's default.
    pub fill: Option<(Bytes, bool)>,
    pub filters: Pipeline,
    pub enumeration: Option<String>,
}

/// The values of an enumerated attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnumerationSpec {
    pub name: String,
    pub datatype: Datatype,
    pub cell_val_num: Option<u32>,
    pub ordered: bool,
    pub values: Bytes,
    /// Start of each value, without the end of the last one. For a variable number of values per
    /// cell.
    pub offsets: Option<Vec<u64>>,
}

/// A dimension label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelSpec {
    pub dimension: u32,
    pub name: String,
    pub order: DataOrder,
    pub datatype: Datatype,
    pub filters: Option<Pipeline>,
}

/// A schema evolution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evolution {
    pub add_attributes: Vec<AttributeSpec>,
    pub drop_attributes: Vec<String>,
    pub add_enumerations: Vec<EnumerationSpec>,
    /// Each specification contains only the added values, with offsets relative to the first added
    /// value.
    pub extend_enumerations: Vec<EnumerationSpec>,
    pub drop_enumerations: Vec<String>,
    pub expand_current_domain: Option<Vec<(Bytes, Bytes)>>,
    pub timestamp: Option<u64>,
}

impl ArraySpec {
    fn new(array_type: ArrayType, dimensions: Vec<DimensionSpec>, attributes: Vec<AttributeSpec>) -> Self {
        Self {
            array_type,
            dimensions,
            attributes,
            cell_order: Layout::RowMajor,
            tile_order: Layout::RowMajor,
            capacity: None,
            allows_dups: false,
            coords_filters: None,
            offsets_filters: None,
            validity_filters: None,
            enumerations: Vec::new(),
            current_domain: None,
            labels: Vec::new(),
        }
    }

    /// Creates a dense array with row-major orders.
    pub fn dense(
        dimensions: impl IntoIterator<Item = DimensionSpec>,
        attributes: impl IntoIterator<Item = AttributeSpec>,
    ) -> Self {
        Self::new(ArrayType::Dense, Vec::from_iter(dimensions), Vec::from_iter(attributes))
    }

    /// Creates a sparse array with row-major orders and without duplicates.
    pub fn sparse(
        dimensions: impl IntoIterator<Item = DimensionSpec>,
        attributes: impl IntoIterator<Item = AttributeSpec>,
    ) -> Self {
        Self::new(ArrayType::Sparse, Vec::from_iter(dimensions), Vec::from_iter(attributes))
    }

    pub fn orders(mut self, tile_order: Layout, cell_order: Layout) -> Self {
        self.tile_order = tile_order;
        self.cell_order = cell_order;
        self
    }

    pub fn capacity(mut self, capacity: u64) -> Self {
        self.capacity = Some(capacity);
        self
    }

    pub fn allow_dups(mut self) -> Self {
        self.allows_dups = true;
        self
    }

    pub fn enumeration(mut self, enumeration: EnumerationSpec) -> Self {
        self.enumerations.push(enumeration);
        self
    }

    /// Returns the dimension of a name.
    pub fn dimension(&self, name: &str) -> Option<&DimensionSpec> {
        self.dimensions.iter().find(|dimension| dimension.name == name)
    }

    /// Returns the number of cells of a sparse write.
    pub fn cells_of(&self, write: &WriteSpec) -> usize {
        let column = |dimension: &DimensionSpec| {
            let column = write.cells.iter().find(|column| column.name == dimension.name)?;
            Some(column.count(dimension.datatype.size()))
        };
        self.dimensions.first().and_then(column).unwrap_or(0)
    }

    /// Returns the names of the dimensions, in order.
    pub fn dimension_names(&self) -> impl Iterator<Item = &str> {
        self.dimensions.iter().map(|dimension| dimension.name.as_str())
    }
}
