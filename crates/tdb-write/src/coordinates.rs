//! Checked and comparable coordinates of new cells.

use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::{CellBuffers, CellProblem, CellsError, Workers};
use tdb_fragment::FragmentField;
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Dimension};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::{Cells, Scalar, ordered_keys};

use crate::check::CheckedCells;

/// Returns the coordinates and their range for each dimension. Fails if a cell is outside of the
/// domain, or of the current domain if the array has one. `cells` must not be empty.
pub(super) fn coordinates(
    schema: &ArraySchema,
    workers: &Workers,
    cells: &CheckedCells<'_>,
    first: u64,
) -> Result<(Vec<Coordinates>, Vec<DimRange>)> {
    let mut columns = Vec::with_capacity(schema.dim_count());
    let mut ranges = Vec::with_capacity(schema.dim_count());
    for column in &cells.fields {
        let FragmentField::Dimension(index) = column.field else { continue };
        workers.check()?;
        let dimension = &schema.dimensions()[index];
        let (coordinates, range) =
            if dimension.is_var() { strings(&column.cells) } else { keys(dimension, &column.cells) };
        let allowed = schema.limits(index);
        if !allowed.contains(&range) {
            return Err(outside(schema, index, &coordinates, &allowed, cells.len, first));
        }
        columns.push(coordinates);
        ranges.push(range);
    }
    Ok((columns, ranges))
}

fn keys(dimension: &Dimension, cells: &Cells<'_>) -> (Coordinates, DimRange) {
    let mut keys = Vec::with_capacity(cells.len());
    ordered_keys(dimension.physical(), cells.values(), &mut keys);
    let (lo, hi) = keys.iter().fold((u64::MAX, 0), |(lo, hi), key| (lo.min(*key), hi.max(*key)));
    (Coordinates::Keys(keys), DimRange::Fixed { lo, hi })
}

fn strings(cells: &Cells<'_>) -> (Coordinates, DimRange) {
    let mut strings = CellBuffers::default();
    strings.push(cells, false);
    let all = || cells.var_cells();
    let (lo, hi) = (all().min().unwrap_or_default().to_vec(), all().max().unwrap_or_default().to_vec());
    (Coordinates::Strings(strings), DimRange::strings(lo, hi))
}

/// Returns an error that names the first cell outside of the domain.
#[cold]
fn outside(
    schema: &ArraySchema,
    index: usize,
    coordinates: &Coordinates,
    allowed: &DimRange,
    len: usize,
    first: u64,
) -> ArrayError {
    let dimension = &schema.dimensions()[index];
    let is_outside = |cell: &usize| match coordinates {
        Coordinates::Keys(keys) => !allowed.contains_key(keys[*cell]),
        Coordinates::Strings(strings) => !allowed.contains_string(strings.string(*cell)),
    };
    let cell = (0..len).find(is_outside).unwrap_or(0);
    let value = match coordinates {
        Coordinates::Keys(keys) => Scalar::from_key(dimension.physical(), keys[cell]).to_string(),
        Coordinates::Strings(strings) => format!("{:?}", String::from_utf8_lossy(strings.string(cell))),
    };
    let current = if schema.current_domain().is_some() { "current domain" } else { "domain" };
    let domain = format!("{current} {}", allowed.display(dimension.kind()));
    let problem = CellProblem::OutsideDomain { value, domain };
    CellsError::Cell { field: dimension.name().to_owned(), cell: first + cell as u64, problem }.into()
}
