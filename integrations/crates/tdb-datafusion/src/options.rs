//! Options for arrays as tables.

use std::collections::HashMap;

use datafusion::error::Result;
use tdb_array::TimeRange;

use crate::{error, time};

/// Selects the cells of a dense array that become rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DenseCells {
    /// Cells within the non-empty domain.
    #[default]
    NonEmptyDomain,
    /// Cells of the whole (current) domain, possibly too many to count.
    Domain,
}

/// Options for an array as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "options have no effect until a table is opened with them"]
pub struct TableOptions {
    pub(crate) time: Option<TimeRange>,
    pub(crate) budget: usize,
    pub(crate) partitions: Option<usize>,
    pub(crate) dense: DenseCells,
    pub(crate) binary_strings: bool,
    pub(crate) pushdown: bool,
}

/// Default memory budget of a partition in bytes.
const BUDGET: usize = 32 << 20;
/// Minimum memory budget in bytes.
pub(crate) const LEAST_BUDGET: usize = 1 << 20;

impl Default for TableOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl TableOptions {
    /// Creates the default options: the current state of the array, as many partitions as the
    /// session has, and a budget of 32 MiB each.
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

    /// Reads the array as of the end of this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(self, end: u64) -> Self {
        self.between(TimeRange::until(end))
    }

    /// Reads only fragments written within a time range.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the memory budget of each partition in bytes, reserved in the session's memory pool.
    /// The budget shrinks, to at least 1 MiB, if the partitions together would exceed a quarter of
    /// the pool, or if the pool has less memory left.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes.max(LEAST_BUDGET);
        self
    }

    /// Sets the number of partitions of a scan. The default is `target_partitions` of the session,
    /// or 1 for small arrays.
    pub fn partitions(mut self, count: usize) -> Self {
        self.partitions = Some(count.max(1));
        self
    }

    /// Selects the cells of a dense array that become rows.
    pub fn dense(mut self, cells: DenseCells) -> Self {
        self.dense = cells;
        self
    }

    /// Reads strings as binary, without a UTF-8 check.
    pub fn strings_as_binary(mut self) -> Self {
        self.binary_strings = true;
        self
    }

    /// Disables pushdown: reads every cell for every query, without statistics and orders. Used to
    /// measure and test the pushdown.
    pub fn without_pushdown(mut self) -> Self {
        self.pushdown = false;
        self
    }

    /// Applies the options of a statement: `at`, `between`, `budget`, `partitions`, `dense`
    /// (`domain` or `nonempty`), `strings_as_binary`.
    ///
    /// # Errors
    /// An unknown option or value.
    pub(crate) fn with_sql(mut self, options: &HashMap<String, String>) -> Result<Self> {
        for (key, value) in options {
            let key = key.strip_prefix("format.").unwrap_or(key);
            let wrong = |what: &str| error::plan(format!("option '{key}' is '{value}': expected {what}"));
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
                    return Err(error::plan(format!("unknown table option '{key}'; known options are {known}")));
                }
            };
        }
        Ok(self)
    }

    /// Returns the options of the conversion to Arrow.
    pub(crate) fn arrow(&self) -> tdb_arrow::ArrowOptions {
        let options = tdb_arrow::ArrowOptions::new().without_definition().wide_keys().string_views();
        let options = options.far_dates_as_null().float_enumerations_as_values();
        if self.binary_strings { options.strings_as_binary() } else { options }
    }
}
