//! How an array is told as a table.

use std::collections::HashMap;

use datafusion::error::Result;
use tdb_array::TimeRange;

use crate::{error, time};

/// Which cells of a dense array are rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DenseCells {
    /// Those of the smallest box that holds all that was written.
    #[default]
    NonEmptyDomain,
    /// Those of the whole (current) domain, which may be more than can be counted.
    Domain,
}

/// How an array is told as a table, where there is more than one way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "options do nothing until a table is opened with them"]
pub struct TableOptions {
    pub(crate) time: Option<TimeRange>,
    pub(crate) budget: usize,
    pub(crate) partitions: Option<usize>,
    pub(crate) dense: DenseCells,
    pub(crate) binary_strings: bool,
    pub(crate) pushdown: bool,
}

/// Bytes that a partition's scan may take.
const BUDGET: usize = 32 << 20;
/// Less than this isn't worth trying.
pub(crate) const LEAST_BUDGET: usize = 1 << 20;

impl Default for TableOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TableOptions {
    /// The array as it is now; as many partitions as the session wants, each with a budget of 32 MiB.
    pub fn new() -> Self {
        Self {
            time: None,
            budget: BUDGET,
            partitions: None,
            dense: DenseCells::default(),
            binary_strings: false,
            pushdown: true,
        }
    }

    /// The array as it was at the end of this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(self, end: u64) -> Self {
        self.between(TimeRange::until(end))
    }

    /// What was written within a range of time, and nothing else.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// How many bytes each partition of a scan may hold: so many are reserved in the session's memory pool; less where the partitions
    /// together would have more than a quarter of it, or it has less left; 1 MiB at least.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes.max(LEAST_BUDGET);
        self
    }

    /// How many partitions a scan has; by default as many as the session's `target_partitions`, and one of small arrays.
    pub fn partitions(mut self, count: usize) -> Self {
        self.partitions = Some(count.max(1));
        self
    }

    /// Which cells of a dense array are rows.
    pub fn dense(mut self, cells: DenseCells) -> Self {
        self.dense = cells;
        self
    }

    /// Strings as binary, so that none is refused for not being UTF-8.
    pub fn strings_as_binary(mut self) -> Self {
        self.binary_strings = true;
        self
    }

    /// Reads every cell for every query, and says nothing of statistics and orders: for those who want to know what pushing down is
    /// worth, or whether it is right.
    pub fn without_pushdown(mut self) -> Self {
        self.pushdown = false;
        self
    }

    /// With what the options of a statement say: `at`, `between`, `budget`, `partitions`, `dense` (`domain` or `nonempty`),
    /// `strings_as_binary`.
    ///
    /// # Errors
    /// An unknown option or value.
    pub(crate) fn with_sql(mut self, options: &HashMap<String, String>) -> Result<Self> {
        for (key, value) in options {
            let key = key.strip_prefix("format.").unwrap_or(key);
            let wrong = |what: &str| error::plan(format!("option '{key}' is '{value}', and not {what}"));
            self = match key {
                "at" => self.between(TimeRange::until(time::moment(value).ok_or_else(|| wrong("a time"))?.1)),
                "between" => self.between(time::between(value).ok_or_else(|| wrong("FIRST..LAST"))?),
                "budget" => self.budget(value.parse().map_err(|_| wrong("a number of bytes"))?),
                "partitions" => self.partitions(value.parse().map_err(|_| wrong("a number"))?),
                "dense" => match value.as_str() {
                    "domain" => self.dense(DenseCells::Domain),
                    "nonempty" => self.dense(DenseCells::NonEmptyDomain),
                    _ => return Err(wrong("'domain' or 'nonempty'")),
                },
                "strings_as_binary" => match value.as_str() {
                    "true" => self.strings_as_binary(),
                    "false" => Self { binary_strings: false, ..self },
                    _ => return Err(wrong("'true' or 'false'")),
                },
                _ => {
                    let known = "at, between, budget, partitions, dense, strings_as_binary";
                    return Err(error::plan(format!("there is no option '{key}' of tables; there are {known}")));
                }
            };
        }
        Ok(self)
    }

    /// How its cells are told in Arrow's terms.
    pub(crate) fn arrow(&self) -> tdb_arrow::ArrowOptions {
        let options = tdb_arrow::ArrowOptions::new().without_definition().wide_keys().string_views();
        let options = options.far_dates_as_null().float_enumerations_as_values();
        if self.binary_strings { options.strings_as_binary() } else { options }
    }
}
