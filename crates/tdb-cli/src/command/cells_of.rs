//! Options that select cells of an array.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, stdin};
use std::ops::RangeInclusive;

use tdb_array::{Array, Coordinate, Fragment, Monitor, Query};
use tdb_exchange::{points, range};
use tdb_schema::ArraySchema;
use tdb_types::saturating_len;

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::progress::QueryProgress;
use crate::setter::with;
use crate::time::TimeArgs;
use crate::{condition, interrupt, location, size, target};
use tdb_print::Terminal;

/// A selection of cells of an array.
#[derive(Debug, clap::Args)]
pub(crate) struct WhichCells {
    /// Restrict a dimension or its labels to a range (repeatable). FIRST..<END excludes the end,
    /// and PREFIX* selects strings by prefix
    #[arg(short, long, value_name = "DIM=FIRST..LAST")]
    range: Vec<String>,

    /// Select only cells at points in a CSV file. The header names the dimensions, and each row is
    /// a point. `-` is standard input
    #[arg(long, value_name = "FILE")]
    points: Option<OsString>,

    /// Select cells that match a condition, such as "qual > 30 and chrom in ('chr1', 'chr2')"
    /// (repeatable). Several conditions must all hold
    #[arg(short, long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,

    /// Cover the complete domain of a dense array. Exports and queries with conditions otherwise
    /// cover the bounding box of all written cells
    #[arg(long)]
    all: bool,
}

impl WhichCells {
    /// Returns the ranges, for exports without support for other selections.
    ///
    /// # Errors
    /// Fails if another selection is given, a range is invalid, or a dimension has several ranges.
    pub(crate) fn only_ranges(&self, schema: &ArraySchema) -> Result<Vec<(String, RangeInclusive<Coordinate>)>> {
        let said = [("--points", self.points.is_some()), ("--where", !self.conditions.is_empty())];
        if let Some((option, _)) = said.iter().find(|(_, is_said)| *is_said) {
            let failure = Failure::usage(format!("{option} selects single cells, but this format stores subarrays"));
            return Err(failure.with_hint("select a subarray with --range, or export to Parquet or CSV"));
        }
        let ranges = self.range.iter().map(|text| range::of_integers(schema, text)).collect::<Result<Vec<_>, _>>()?;
        let mut names = HashSet::new();
        match ranges.iter().find(|(name, _)| !names.insert(name.as_str())) {
            Some((name, _)) => Err(Failure::usage(format!(
                "dimension {name:?} has several ranges, but a subarray has one per dimension"
            ))),
            None => Ok(ranges),
        }
    }

    /// Returns `true` if no selection is given.
    pub(crate) fn is_all(&self) -> bool {
        self.range.is_empty() && self.points.is_none() && self.conditions.is_empty()
    }

    pub(crate) fn has_condition(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Restricts a query on a dense array to the bounding box of all written cells, and to the
    /// current domain. Applies to dimensions without a range. Does nothing with `--all` or points.
    pub(crate) fn within_written(&self, mut query: Query, array: &Array) -> Result<Query> {
        let schema = array.schema();
        let fragments = array.fragments()?;
        if self.all || self.points.is_some() || !schema.is_dense() {
            return Ok(query);
        }
        // Old fragments may not store their non-empty domain.
        let domains = fragments.iter().map(Fragment::non_empty_domain).collect::<Option<Vec<_>>>();
        let Some(domains) = domains else { return Ok(query) };
        let asked =
            self.range.iter().map(|text| range::dimension_of(schema, text)).collect::<Result<HashSet<_>, _>>()?;
        let free = (0..schema.dim_count()).filter(|index| !asked.contains(index));
        for index in free {
            let sides = domains.iter().filter_map(|domain| domain.0.get(index)?.intersection(&schema.limits(index)));
            let hull = sides.reduce(|mut hull, side| {
                hull.expand(&side);
                hull
            });
            let Some(hull) = hull else { return Ok(query.boxes([])?) };
            query = query.range(schema.dimensions()[index].name(), range::ends(&schema.dimensions()[index], &hull))?;
        }
        Ok(query)
    }

    /// Adds the selection to a query.
    pub(crate) fn apply(&self, mut query: Query, array: &Array) -> Result<Query> {
        let schema = array.schema();
        for text in &self.range {
            query = range::apply(query, schema, text)?;
        }
        if let Some(file) = &self.points {
            let (name, bytes) = read(file)?;
            query = points::apply(&query, schema, &name, &bytes)?;
        }
        Ok(with(query, condition::all_of(array, &self.conditions)?, Query::filter))
    }
}

/// Returns the name of a file for messages, and its bytes. `-` is standard input.
fn read(file: &OsStr) -> Result<(String, Vec<u8>)> {
    let (name, bytes) = if file == "-" {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), stdin().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        let path = location::local(file)?;
        (path.display().to_string(), fs::read(path))
    };
    let bytes = bytes.map_err(|error| Failure::io(&name, &error))?;
    Ok((name, bytes))
}

/// An array, and a selection of its cells.
#[derive(Debug, clap::Args)]
pub(crate) struct CellsOf {
    /// Path of the array
    array: OsString,

    #[command(flatten)]
    which: WhichCells,

    #[command(flatten)]
    time: TimeArgs,

    /// Approximate memory limit. Larger computations take several passes over the array
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size::parse)]
    budget: u64,

    /// Number of threads, or 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

/// Minimum budget in bytes. A smaller budget saves no memory and takes many more passes.
const LEAST_BUDGET: u64 = 4 << 20;

impl CellsOf {
    /// Opens the array, and creates a query for the cells.
    pub(crate) fn open(&self, key: &Key) -> Result<(Array, Query)> {
        let (_, array) = target::open_to_read(&self.array, self.threads, &self.time, key)?;
        let mut query = self.which.apply(array.read(), &array)?;
        if self.which.has_condition() {
            query = self.which.within_written(query, &array)?;
        }
        Ok((array, query.budget(saturating_len(self.budget.max(LEAST_BUDGET)))))
    }
}

/// Lets Ctrl-C cancel a query, and shows a progress bar until the returned [`QueryProgress`] is
/// dropped.
pub(crate) fn watched(query: Query, terminal: Terminal) -> (Query, QueryProgress) {
    let monitor = Monitor::new();
    interrupt::cancels(&monitor);
    let progress = QueryProgress::of(&monitor, terminal.stderr);
    (query.monitor(&monitor), progress)
}
