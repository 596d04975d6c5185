//! Assembly of columns in two passes: first the fields of the condition, then the others.

use tdb_cells::{Column, Workers};
use tdb_query::BufferPool;
use tdb_snapshot::Result;

use crate::assembly::Assembly;
use crate::fields::Fields;
use crate::filter::{Filter, Matches};
use crate::kept::KeptTiles;
use crate::shape::Shape;
use crate::work::Work;

/// A builder for the columns of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assembler<'a> {
    pub(super) shape: &'a Shape,
    pub(super) fields: &'a Fields,
    /// The condition of the query, if any.
    pub(super) filter: Option<&'a Filter>,
    pub(super) workers: &'a Workers,
}

/// The outcome of an assembly.
pub(super) enum Assembled {
    Cells(AssembledCells),
    /// The cells would exceed the size limit. Holds the bytes of the columns measured so far.
    TooLarge(u128),
}

/// Columns of cells.
pub(super) struct AssembledCells {
    /// Size of the cells in bytes.
    pub(super) bytes: u128,
    /// The fields of the query. Empty if no cell meets the condition and the query returns matching
    /// cells only.
    pub(super) columns: Vec<Column>,
    /// Cells that meet the condition, if the query has a condition.
    pub(super) matches: Option<Matches>,
}

impl Assembler<'_> {
    /// Builds the columns of all fields unless their size exceeds the limit. Sources without a
    /// matching cell are changed to [`Origin::Fill`](crate::work::Origin::Fill) and not read.
    pub(super) fn assemble(
        &self,
        works: &mut [Work],
        (pool, kept): (&mut BufferPool, &mut KeptTiles),
        fits: impl Fn(u128) -> bool,
    ) -> Result<Assembled> {
        let Self { shape, fields, workers, .. } = *self;
        let mut bytes = 0;
        // Returns `None` if the columns built so far exceed the limit together.
        let mut build = |works: &[Work], wanted: &[usize]| -> Result<Option<Vec<Column>>> {
            let mut assembly = Assembly::new((shape, fields, workers), works, wanted, (&mut *pool, &mut *kept));
            bytes += assembly.measure()?;
            if fits(bytes) { assembly.finish().map(Some) } else { Ok(None) }
        };
        let Some(filter) = self.filter else {
            let wanted: Vec<usize> = (0..fields.visible).collect();
            let Some(columns) = build(works, &wanted)? else { return Ok(Assembled::TooLarge(bytes)) };
            return Ok(Assembled::Cells(AssembledCells { bytes, columns, matches: None }));
        };
        let Some(needed) = build(works, &filter.places)? else { return Ok(Assembled::TooLarge(bytes)) };
        let matches = filter.matches(&needed, works);
        if matches.count == 0 && filter.only_matching {
            return Ok(Assembled::Cells(AssembledCells { bytes, columns: Vec::new(), matches: Some(matches) }));
        }
        matches.prune(works);
        let others: Vec<usize> = (0..fields.visible).filter(|index| !filter.places.contains(index)).collect();
        let Some(made) = build(works, &others)? else { return Ok(Assembled::TooLarge(bytes)) };
        let mut columns: Vec<Option<Column>> = vec![None; fields.outputs.len()];
        let made = filter.places.iter().zip(needed).chain(others.iter().zip(made));
        made.for_each(|(index, column)| columns[*index] = Some(column));
        let columns = columns.into_iter().take(fields.visible).flatten().collect();
        Ok(Assembled::Cells(AssembledCells { bytes, columns, matches: Some(matches) }))
    }
}
