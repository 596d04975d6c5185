//! Options of a report.

use tdb_advise::Advise;
use tdb_array::{Array, Monitor};

/// The options of a report.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) advise: Advise,
    pub(crate) dimensions: Vec<String>,
    pub(crate) attribute: Option<String>,
    pub(crate) monitor: Monitor,
}

impl Options {
    /// Returns the indices of the dimensions to draw.
    pub(crate) fn dimensions_of(&self, array: &Array) -> Vec<usize> {
        let dimensions = array.schema().dimensions();
        let find = |name: &String| dimensions.iter().position(|known| known.name() == name);
        let chosen: Vec<usize> = self.dimensions.iter().filter_map(find).take(2).collect();
        match chosen.is_empty() {
            false => chosen,
            // The layout of a matrix, with rows from top to bottom.
            true if array.schema().is_dense() && dimensions.len() > 1 => vec![1, 0],
            true => (0..dimensions.len().min(2)).collect(),
        }
    }
}
