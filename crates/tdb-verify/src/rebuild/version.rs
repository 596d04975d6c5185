//! Choice between two format versions that have the same form of fragment names.

use tdb_array::tdb_fragment::FragmentField;
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_types::Cells;
use tdb_array::{Array, Fragment, Monitor, StoredTiles, TileReader};
use tdb_types::{Feature, FormatVersion};

use super::facts::Facts;
use super::files::Walked;
use super::lost::Lost;
use super::metadata::{build, open};
use tdb_job::RebuildProblem;
use tdb_job::{MaintainError, Result};

/// Returns the format version of a fragment.
///
/// If the schema has the later of the two possible versions, returns this version. Otherwise
/// prefers the earlier version, which more releases can read. If the layouts of both versions
/// differ, the cells decide. Only format 1 may store all coordinates of a cell together.
pub(super) fn settle(array: &Array, entry: &Lost, walked: &Walked) -> Result<FormatVersion> {
    let (later, schema) = (entry.version, &walked.shape.schema);
    let earlier = later.number().checked_sub(1).and_then(|number| FormatVersion::new(number).ok());
    let Some(earlier) = earlier.filter(|_| later.has(Feature::CombinedCoordinates) && schema.version() < later) else {
        return Ok(later);
    };
    let has_compressor = schema.coords_filters().filters.iter().any(tdb_filters::Filter::is_compressor);
    let is_same_layout = later.has(Feature::FragmentFooter) || has_compressor || schema.dim_count() < 2;
    if is_same_layout || walked.shape.dense {
        return Ok(earlier);
    }
    let attempt = |version: FormatVersion| -> Option<Facts> {
        let entry = Lost { version, ..entry.clone() };
        let encoder = &mut array.small_files().encoder(version).ok()?;
        let metadata = build(&entry, walked, None, None, encoder).ok()?;
        let (array, fragment) = open(array, &entry, metadata).ok()?;
        // If reading fails, the fragment has another version.
        make_sense(&array, &fragment).ok()?.then(|| Facts::of(&array, &fragment, walked).ok())?
    };
    match (attempt(earlier), attempt(later)) {
        (Some(_), None) => Ok(earlier),
        (None, Some(_)) => Ok(later),
        (Some(one), Some(other)) if one.boxes == other.boxes && one.ends == other.ends => Ok(earlier),
        _ => {
            let why = RebuildProblem::Either(earlier.number(), later.number());
            Err(MaintainError::Rebuild { path: array.storage().describe(&entry.folder), why })
        }
    }
}

/// Returns `true` if all cells are in the domain and, if the format guarantees it, in global order.
fn make_sense(array: &Array, fragment: &Fragment) -> Result<bool> {
    let (schema, check) = (fragment.schema(), fragment.order_check()?);
    let dimensions: Vec<StoredTiles> = (0..schema.dim_count())
        .map(|index| fragment.stored_tiles(FragmentField::Dimension(index)))
        .collect::<Result<_, _>>()?;
    let read = |tile: u64, reader: &mut TileReader<'_>| {
        let mut columns = Vec::with_capacity(dimensions.len());
        for tiles in &dimensions {
            columns.push(tiles.read(tile, reader)?.bytes().to_vec());
        }
        let with_dimensions = columns.iter().zip(schema.dimensions());
        let cells: Vec<Cells<'_>> =
            with_dimensions.map(|(bytes, dimension)| Cells::fixed(bytes, dimension.datatype().size())).collect();
        let is_inside = cells.iter().zip(schema.dimensions()).all(|(cells, dimension)| {
            let domain = dimension.domain().and_then(|(lo, hi)| DimRange::between(lo, hi).ok());
            match (DimRange::of_cells(cells, dimension.kind()), domain) {
                (Some(DimRange::Fixed { lo, hi }), Some(DimRange::Fixed { lo: first, hi: last })) => {
                    first <= lo && hi <= last
                }
                _ => true,
            }
        });
        Ok(is_inside && (!check.is_promised() || check.holds(&cells)))
    };
    let numbers: Vec<u64> = (0..dimensions.first().map_or(0, StoredTiles::len)).collect();
    let bytes = dimensions.iter().map(StoredTiles::bytes).sum();
    Ok(array.tile_workers(&Monitor::new()).map(bytes, numbers, read)?.into_iter().all(|holds| holds))
}
