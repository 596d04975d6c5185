//! Functions of the module `tdb.compat`, which follows the Python interface of the TileDB C++
//! library.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tdb_job::footer_files;
use tdb_maintain::fragment_lists;

use crate::array::{NativeArray, shown_sides};
use crate::error::Result;
use crate::run::briefly;

/// Returns the vacuum files of fragments: path, folder of the consolidated fragment, and whether a
/// vacuum may delete the listed fragments.
#[pyfunction]
pub(crate) fn vacuum_lists(py: Python<'_>, array: &NativeArray) -> Result<Vec<(String, String, bool)>> {
    let lists = briefly(py, || Ok(fragment_lists(&array.array)?))?;
    Ok(lists.into_iter().map(|list| (list.path, list.folder, list.verdict.is_ok())).collect())
}

/// Describes the fragments: folder, schema, and MBRs of the tiles.
#[pyfunction]
pub(crate) fn fragment_details<'py>(
    py: Python<'py>,
    array: &NativeArray,
    with_mbrs: bool,
) -> Result<Vec<Bound<'py, PyDict>>> {
    let fragments = briefly(py, || Ok(array.array.fragments()?))?;
    let each = fragments.iter().map(|fragment| {
        let dict = PyDict::new(py);
        dict.set_item("folder", fragment.folder())?;
        dict.set_item("schema", fragment.schema_name())?;
        if with_mbrs && !fragment.footer().is_dense() {
            let mut all = Vec::new();
            for tile in 0..fragment.tile_count() {
                let sides = briefly(py, || Ok(fragment.mbr(tile)?))?;
                all.push(sides.map(|sides| shown_sides(py, &sides)).transpose()?);
            }
            dict.set_item("mbrs", all)?;
        }
        Ok(dict)
    });
    each.collect()
}

/// Returns the names of the fragments in the newest file of consolidated footers.
#[pyfunction]
pub(crate) fn consolidated_footers(py: Python<'_>, array: &NativeArray) -> Result<Vec<String>> {
    briefly(py, || {
        let array = &array.array;
        let Some(newest) = footer_files(&array.listing()?).into_iter().next() else { return Ok(Vec::new()) };
        let footers = array.small_files().read_footers(&newest.path)?;
        Ok(footers.iter().map(|(name, _)| name.rsplit('/').next().unwrap_or(name).to_owned()).collect())
    })
}
