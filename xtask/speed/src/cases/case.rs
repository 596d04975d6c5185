//! A read of an array, and what cases are made of.

use crate::arrays::SpeedArray;
use crate::workload::Group;
use tdb_reference::model::{AggregateSpec, FilterSpec, Pipeline, QuerySpec};

/// One read of one array.
pub struct Case {
    pub group: Group,
    pub name: String,
    pub array: SpeedArray,
    pub query: QuerySpec,
    /// What is computed of the cells, instead of giving them.
    pub aggregates: Vec<AggregateSpec>,
    pub asking: Asking,
    /// Whether ours gives the whole result as one batch, as the reference library does, instead of batch by batch.
    pub whole: bool,
}

/// How a query with many ranges is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Asking {
    /// As it is.
    Once,
    /// [One query after the other](QuerySpec::one_by_one), of an array that is open.
    OneByOne,
    /// So by the reference library, which has nothing else for points; by ours as points of one query.
    Points,
}

impl Case {
    /// Bytes that are enough for any one column of the result: 24 for each cell that was written.
    pub fn room(&self) -> usize {
        let written: u64 = self.array.writes.iter().map(|write| write.cells).sum();
        match self.query.ranges.is_empty() {
            true => usize::try_from(written * 24).unwrap_or(usize::MAX),
            false => usize::try_from(written * 2).unwrap_or(usize::MAX),
        }
    }
}

pub fn case(group: Group, name: &str, array: SpeedArray, query: QuerySpec) -> Case {
    Case { group, name: name.to_owned(), array, query, aggregates: Vec::new(), asking: Asking::Once, whole: false }
}

pub fn zstd() -> Pipeline {
    [FilterSpec::Zstd { level: Some(3) }].into()
}

pub fn plain() -> Pipeline {
    Pipeline::from([])
}
