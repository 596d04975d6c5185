//! Which cells of an array a command is about.

use std::ffi::OsString;

use tdb_array::{Array, Query};

use crate::failure::Result;
use crate::key::Key;
use crate::time::TimeArgs;
use crate::{condition, range, size, target};
use tdb_types::saturating_len;

/// An array, and which of its cells.
#[derive(Debug, clap::Args)]
pub(crate) struct CellsOf {
    /// The array
    array: OsString,

    /// Restrict a dimension, or the labels of one, both ends included; may be given many times
    #[arg(short, long, value_name = "DIM=FIRST..LAST", help_heading = "Cells")]
    range: Vec<String>,

    /// Take cells that fulfil a condition such as "qual > 30 and chrom in ('chr1', 'chr2')"; of several all must hold
    #[arg(short, long = "where", value_name = "CONDITION", help_heading = "Cells")]
    conditions: Vec<String>,

    #[command(flatten)]
    time: TimeArgs,

    /// About how much memory to use; what doesn't fit is computed in several passes over the array
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size::parse)]
    budget: u64,

    /// Threads to use; 0 means as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

impl CellsOf {
    /// The array, and a query for the cells.
    pub(crate) fn open(&self, key: &Key) -> Result<(Array, Query)> {
        let (_, array) = target::open_array(&self.array, self.threads, &self.time, key, target::local_storage)?;
        let mut query = array.read();
        for text in &self.range {
            query = range::apply(query, array.schema(), text)?;
        }
        if let Some(condition) = condition::all_of(&array, &self.conditions)? {
            query = query.filter(condition);
        }
        Ok((array, query.budget(saturating_len(self.budget))))
    }
}
