//! Reads, writes and other operations on an array.

use serde::{Deserialize, Serialize};
use tdb_types::{Datatype, Layout};

use super::{Bytes, Cells, Condition};

/// A write of one fragment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteSpec {
    pub layout: Layout,
    /// First and last coordinate per dimension of a dense write. `None` for the whole domain.
    pub subarray: Option<Vec<(Bytes, Bytes)>>,
    /// Milliseconds since 1970 in the fragment's name. `None` for the current time.
    pub timestamp: Option<u64>,
    /// Columns of cells. A sparse write includes the coordinates.
    pub cells: Cells,
}

/// A read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuerySpec {
    /// Fields to return. If empty, returns all attributes, and for sparse arrays the dimensions
    /// first.
    pub fields: Vec<String>,
    /// Ranges of dimensions. Other dimensions are not restricted.
    pub ranges: Vec<RangesSpec>,
    pub layout: Layout,
    /// First and last timestamp.
    pub timestamps: Option<(u64, u64)>,
    pub condition: Option<Condition>,
}

impl QuerySpec {
    /// Creates a query of all cells.
    pub fn all(layout: Layout) -> Self {
        Self { fields: Vec::new(), ranges: Vec::new(), layout, timestamps: None, condition: None }
    }

    /// Splits the query. The `i`-th query has the `i`-th range of every dimension.
    pub fn one_by_one(&self) -> Vec<Self> {
        let count = self.ranges.iter().map(|ranges| ranges.ranges.len()).min().unwrap_or(0);
        let only = |ranges: &RangesSpec, index: usize| RangesSpec {
            dimension: ranges.dimension.clone(),
            ranges: vec![ranges.ranges[index].clone()],
        };
        let query = |index| {
            let ranges = self.ranges.iter().map(|ranges| only(ranges, index)).collect();
            Self { ranges, ..self.clone() }
        };
        (0..count).map(query).collect()
    }
}

/// Ranges of a dimension or of a dimension label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangesSpec {
    /// Name of the dimension or label.
    pub dimension: String,
    /// First and last coordinate of each range, both inclusive.
    pub ranges: Vec<(Bytes, Bytes)>,
}

/// A metadata entry of an array or group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataEntry {
    pub key: String,
    pub datatype: Datatype,
    pub count: u32,
    pub value: Bytes,
}

impl MetadataEntry {
    /// Creates an entry with as many values as the bytes contain.
    pub fn new(key: &str, datatype: Datatype, value: impl Into<Bytes>) -> Self {
        let value = value.into();
        Self { key: key.to_owned(), datatype, count: (value.len() / datatype.size()) as u32, value }
    }
}

/// The library's information about a fragment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FragmentSummary {
    pub name: String,
    pub format_version: u32,
    pub dense: bool,
    pub timestamps: (u64, u64),
    pub cells: u64,
    /// First and last coordinate per dimension.
    pub non_empty_domain: Vec<(Bytes, Bytes)>,
    pub schema_name: Option<String>,
    /// Number of MBRs. `None` for dense fragments.
    pub mbrs: Option<u64>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMember {
    pub uri: String,
    pub name: Option<String>,
    pub kind: ObjectKind,
    /// `true` if the URI is relative to the group's folder. Only used to add a member.
    #[serde(default)]
    pub relative: bool,
}

/// The type of the object at a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    Invalid = 0,
    Group = 1,
    Array = 2,
}
