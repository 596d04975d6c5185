//! What fragments' metadata says of the cells of their tiles.

use std::sync::Arc;

use tdb_aggregate::{CellStatistics, Measured, Summary, Total};
use tdb_fragment::{Statistic, Sum, ValueStatistics};
use tdb_schema::{ArraySchema, FieldRef};

use super::measure::Measures;
use crate::Fragment;
use crate::fragment::FieldStatistics;
use crate::read::OutputField;

/// What is known of the tiles of a fragment.
#[derive(Debug)]
pub(super) struct KnownTiles {
    fragment: Fragment,
    fields: Vec<KnownField>,
}

#[derive(Debug)]
enum KnownField {
    /// How many cells a tile has is all that is asked.
    Count,
    Statistics(Arc<FieldStatistics>),
    /// The fragment doesn't have the field: all cells are the same.
    Missing(OutputField),
}

impl KnownTiles {
    /// What a fragment's metadata says of all measured fields; `None` if it says nothing of one.
    pub(super) fn of(fragment: &Fragment, array: &ArraySchema, measures: &Measures) -> Option<Self> {
        let fields = measures.fields().iter().zip(measures.outputs()).skip(measures.keys());
        let known = |((field, output), (_, measured)): ((&FieldRef, &OutputField), &(_, Measured))| match fragment
            .own_field(array, *field)
        {
            None => Some(KnownField::Missing(output.clone())),
            Some(_) if *measured == Measured::COUNT && !output.nullable => Some(KnownField::Count),
            Some(own) => fragment.statistics_of(own).map(KnownField::Statistics),
        };
        let fields = fields.zip(measures.measured()).map(known).collect::<Option<_>>()?;
        Some(Self { fragment: fragment.clone(), fields })
    }

    /// Adds all cells of a tile to the summaries, if enough is known of all of them; whether it is.
    pub(super) fn add(&self, tile: u64, cells: u64, summaries: &mut [Summary]) -> bool {
        let mut sums = summaries.to_vec();
        let all = self.fields.iter().zip(&mut sums).all(|(known, summary)| match known {
            KnownField::Count => summary.add_statistics(&counted(cells, 0)),
            KnownField::Missing(output) => {
                summary.add_repeated(output.fill_valid.then_some(&output.fill), cells);
                true
            }
            KnownField::Statistics(statistics) => {
                let statistics = self.fragment.tile_statistics(statistics, tile);
                of_tile(&statistics, cells).is_some_and(|known| summary.add_statistics(&known))
            }
        });
        if all {
            summaries.clone_from_slice(&sums);
        }
        all
    }
}

fn counted(cells: u64, nulls: u64) -> CellStatistics<'static> {
    CellStatistics { cells, nulls, total: None, bounds: None }
}

/// The statistics that can be relied on; `None` if nulls can't be counted.
fn of_tile<'a>(statistics: &ValueStatistics<'a>, cells: u64) -> Option<CellStatistics<'a>> {
    let trusted_nulls = match statistics.null_count {
        Statistic::Present(nulls) => nulls,
        _ => return None,
    };
    let total = statistics.sum.trusted().map(|sum| match sum {
        Sum::I64(sum) => Total::Signed(sum.into()),
        Sum::U64(sum) => Total::Unsigned(sum.into()),
        Sum::F64(sum) => Total::Float { sum, overflowed: false },
    });
    let bounds = statistics.min.trusted().zip(statistics.max.trusted());
    Some(CellStatistics { total, bounds, ..counted(cells, trusted_nulls) })
}
