//! Columns of cells, those of a condition first.

use tdb_cells::{Column, Workers};
use tdb_query::BufferPool;
use tdb_snapshot::Result;

use crate::assembly::Assembly;
use crate::fields::Fields;
use crate::filter::{Filter, Matches};
use crate::kept::KeptTiles;
use crate::shape::Shape;
use crate::work::Work;

/// Makes the columns of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assembler<'a> {
    pub(super) shape: &'a Shape,
    pub(super) fields: &'a Fields,
    /// What cells must fulfil, if anything.
    pub(super) filter: Option<&'a Filter>,
    pub(super) workers: &'a Workers,
}

/// What came of it.
pub(super) enum Assembled {
    Cells(AssembledCells),
    /// They would take so many bytes, which are too many.
    TooLarge(u128),
}

/// Columns of cells.
pub(super) struct AssembledCells {
    /// Bytes that they took.
    pub(super) bytes: u128,
    /// The fields of the query; none if no cell fulfils the condition and others are left out.
    pub(super) columns: Vec<Column>,
    /// Which cells fulfil the condition, if there is one.
    pub(super) matches: Option<Matches>,
}

impl Assembler<'_> {
    /// Makes the columns of all fields, unless that takes more bytes than fit. Where no cell fulfils the condition, works are told
    /// that nothing need be read.
    pub(super) fn assemble(
        &self,
        works: &mut [Work],
        (pool, kept): (&mut BufferPool, &mut KeptTiles),
        fits: impl Fn(u128) -> bool,
    ) -> Result<Assembled> {
        let Self { shape, fields, workers, .. } = *self;
        let parts = (shape, fields, workers);
        let Some(filter) = self.filter else {
            let wanted: Vec<usize> = (0..fields.visible()).collect();
            let mut assembly = Assembly::new(parts, works, &wanted, (pool, kept));
            let bytes = assembly.measure()?;
            if !fits(bytes) {
                return Ok(Assembled::TooLarge(bytes));
            }
            return Ok(Assembled::Cells(AssembledCells { bytes, columns: assembly.finish()?, matches: None }));
        };
        let mut assembly = Assembly::new(parts, works, filter.needed(), (pool, kept));
        let mut bytes = assembly.measure()?;
        if !fits(bytes) {
            return Ok(Assembled::TooLarge(bytes));
        }
        let needed = assembly.finish()?;
        let matches = filter.matches(&needed, works);
        if matches.count() == 0 && filter.only_matching() {
            return Ok(Assembled::Cells(AssembledCells { bytes, columns: Vec::new(), matches: Some(matches) }));
        }
        matches.prune(works);
        let others: Vec<usize> = (0..fields.visible()).filter(|index| !filter.needed().contains(index)).collect();
        let mut assembly = Assembly::new(parts, works, &others, (pool, kept));
        bytes += assembly.measure()?;
        if !fits(bytes) {
            return Ok(Assembled::TooLarge(bytes));
        }
        let mut columns: Vec<Option<Column>> = vec![None; fields.outputs().len()];
        let made = filter.needed().iter().zip(needed).chain(others.iter().zip(assembly.finish()?));
        made.for_each(|(index, column)| columns[*index] = Some(column));
        let columns = columns.into_iter().take(fields.visible()).flatten().collect();
        Ok(Assembled::Cells(AssembledCells { bytes, columns, matches: Some(matches) }))
    }
}
