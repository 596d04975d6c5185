//! Cells with equal coordinates in a fragment of an array without duplicates.

use tdb_array::tdb_schema::Dimension;
use tdb_array::{Array, ArrayError, Coordinate, Order};
use tdb_types::Scalar;

use super::finding::{Finding, FindingKind, kept};
use super::fragment::Checked;
use tdb_job::Result;

/// The cells of a fragment that repeat the coordinates of other cells.
#[derive(Default)]
struct Repeats {
    cells: u64,
    /// The first repeated coordinates.
    first: Option<String>,
}

impl Checked<'_> {
    /// Reads the fragment in global order, and reports cells with equal coordinates. Cells with
    /// timestamps may have equal coordinates, because they are versions of one cell.
    pub(super) fn check_repeats(&mut self) -> Result<()> {
        let is_allowed = self.fragment.schema().allows_duplicates() || self.fragment.footer().header().has_timestamps;
        if is_allowed {
            return Ok(());
        }
        // Unreadable tiles are already reported.
        let Ok(repeats) = kept(repeats_in(&self.array.of_fragment(self.fragment)))? else { return Ok(()) };
        let Some(first) = repeats.first else { return Ok(()) };
        let what = format!(
            "expected each coordinate once, as the array does not allow duplicates, found {} cells with the coordinates of \
             another one, first at {first}; delete the surplus cells with `tdb delete`",
            repeats.cells
        );
        self.found.push(Finding::wrong(FindingKind::Duplicates, self.folder(), what));
        Ok(())
    }
}

/// Reads the coordinates of an array with one fragment, and counts repeated coordinates.
fn repeats_in(array: &Array) -> Result<Repeats, ArrayError> {
    let names: Vec<&str> = array.schema().dimensions().iter().map(Dimension::name).collect();
    let (mut repeats, mut last) = (Repeats::default(), Vec::new());
    for batch in array.read().select(&names)?.order(Order::Global).batches()? {
        let batch = batch?;
        let columns = names.iter().map(|name| batch.column(name)).collect::<Result<Vec<_>, _>>()?;
        for cell in 0..batch.len() {
            let own = || columns.iter().map(|column| column.cell(cell).unwrap_or_default());
            if own().eq(last.iter().map(Vec::as_slice)) {
                repeats.cells += 1;
                repeats.first.get_or_insert_with(|| text_of(array, &last));
            } else {
                last = own().map(<[u8]>::to_vec).collect();
            }
        }
    }
    Ok(repeats)
}

/// Formats the coordinates of a cell.
fn text_of(array: &Array, coordinates: &[Vec<u8>]) -> String {
    let dimensions = array.schema().dimensions().iter().zip(coordinates);
    let texts = dimensions.map(|(dimension, bytes)| {
        let coordinate = match Scalar::from_le_bytes(dimension.physical(), bytes) {
            Some(scalar) if !dimension.is_var() => Coordinate::from(scalar),
            _ => Coordinate::from(bytes.as_slice()),
        };
        format!("{}={coordinate}", dimension.name())
    });
    texts.collect::<Vec<_>>().join(", ")
}
