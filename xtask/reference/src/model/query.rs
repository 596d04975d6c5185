//! Reads, writes, and what else is asked of an array.

use serde::{Deserialize, Serialize};
use tdb_types::{Datatype, Layout};

use super::{Bytes, Cells, Condition, names};

/// One write, which makes one fragment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteSpec {
    #[serde(with = "names")]
    pub layout: Layout,
    /// For dense arrays: first and last coordinate per dimension, the whole domain if absent.
    pub subarray: Option<Vec<(Bytes, Bytes)>>,
    /// Milliseconds since 1970 in the fragment's name; the clock if absent.
    pub timestamp: Option<u64>,
    /// For sparse arrays with the coordinates among the columns.
    pub cells: Cells,
}

/// One read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuerySpec {
    /// The fields to be returned; if empty all attributes, and for sparse arrays the dimensions before them.
    pub fields: Vec<String>,
    /// Dimensions that aren't named are not restricted.
    pub ranges: Vec<RangesSpec>,
    #[serde(with = "names")]
    pub layout: Layout,
    /// First and last timestamp.
    pub timestamps: Option<(u64, u64)>,
    pub condition: Option<Condition>,
}

impl QuerySpec {
    /// All of an array.
    pub fn all(layout: Layout) -> Self {
        Self { fields: Vec::new(), ranges: Vec::new(), layout, timestamps: None, condition: None }
    }

    /// A query for each of the ranges: the `i`-th has the `i`-th range of every dimension.
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

/// Ranges of one dimension, or of one label of a dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangesSpec {
    /// Or the label.
    pub dimension: String,
    /// First and last coordinate of each, both included.
    pub ranges: Vec<(Bytes, Bytes)>,
}

/// An entry of an array's or group's metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataEntry {
    pub key: String,
    #[serde(with = "names")]
    pub datatype: Datatype,
    pub count: u32,
    pub value: Bytes,
}

/// What the library says about a fragment.
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
    /// The number of minimum bounding rectangles; none for dense fragments.
    pub mbrs: Option<u64>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMember {
    pub uri: String,
    pub name: Option<String>,
    pub kind: ObjectKind,
    /// Whether the URI is relative to the group's folder; only looked at when a member is added.
    #[serde(default)]
    pub relative: bool,
}

/// What a URI stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    Invalid = 0,
    Group = 1,
    Array = 2,
}
