//! What fragments' metadata says of the cells of their tiles.

use std::ops::Bound;
use std::sync::Arc;

use tdb_aggregate::{CellStatistics, Measured, Summary, Total};
use tdb_fragment::{Distrust, FragmentField, Statistic, Sum, ValueStatistics};
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Attribute, FieldRef};
use tdb_types::{ArrayType, Scalar};

use super::measure::Measures;
use crate::Fragment;
use crate::fragment::FieldStatistics;
use crate::read::{FieldSet, KnownTile, OutputField, WhyUnknown};

/// What is known of the tiles of a fragment.
#[derive(Debug)]
pub(super) struct KnownTiles {
    fragment: Fragment,
    fields: Vec<KnownField>,
}

#[derive(Debug)]
enum KnownField {
    Nothing,
    /// How many cells a tile has is all that is asked.
    Count,
    Statistics(Arc<FieldStatistics>),
    /// A dimension of a sparse fragment: the boxes of its tiles say its least and greatest coordinates.
    Coordinates(usize),
    /// The fragment doesn't have the field: all cells have the same value.
    Missing(OutputField),
    /// The fragment doesn't have the field, and so no value of it.
    NoValues,
}

impl KnownTiles {
    /// What a fragment's metadata says of the measured fields.
    pub(super) fn of(fragment: &Fragment, array: &ArraySchema, measures: &Measures) -> Self {
        let fields = measures.places().iter().map(|place| (&measures.fields()[*place], &measures.outputs()[*place]));
        let known = |((field, output), (_, measured)): ((&FieldRef, &OutputField), &(_, Measured))| match fragment
            .own_field(array, *field)
        {
            None if array.array_type() == ArrayType::Dense => KnownField::NoValues,
            None => KnownField::Missing(output.clone()),
            Some(_) if *measured == Measured::COUNT && !output.nullable => KnownField::Count,
            Some(FragmentField::Dimension(index)) if has_exact_boxes(fragment, index) && !measured.sum => {
                KnownField::Coordinates(index)
            }
            // A field of another nullability counts other cells as null.
            Some(own) if is_nullable(fragment, own) != output.nullable => KnownField::Nothing,
            Some(own) => fragment.statistics_of(own).map_or(KnownField::Nothing, KnownField::Statistics),
        };
        let fields = fields.zip(measures.measured()).map(known).collect();
        Self { fragment: fragment.clone(), fields }
    }

    /// Adds all cells of a tile to the summaries of fields of which enough is known; which these are.
    pub(super) fn add(&self, tile: KnownTile, summaries: &mut [Summary]) -> FieldSet {
        if !tile.partly {
            // Nothing is added if one isn't known.
            let mut sums = summaries.to_vec();
            let all = self.fields.iter().zip(&mut sums).all(|(known, summary)| self.add_field(known, tile, summary));
            if all {
                summaries.clone_from_slice(&sums);
            }
            return if all { FieldSet::ALL } else { FieldSet::NONE };
        }
        let (mut added, mut all) = (FieldSet::NONE, true);
        for (field, (known, summary)) in self.fields.iter().zip(summaries).enumerate() {
            let is_added = self.add_field(known, tile, summary);
            if is_added {
                added.insert(field);
            }
            all &= is_added;
        }
        if all { FieldSet::ALL } else { added }
    }

    /// Why a tile isn't known.
    pub(super) fn why_unknown(&self, tile: u64, measures: &Measures) -> WhyUnknown {
        let distrust = |(known, (_, measured)): (&KnownField, &(_, Measured))| {
            let KnownField::Statistics(statistics) = known else { return None };
            let found = self.fragment.tile_statistics(statistics, tile);
            let by_sum = measured.sum.then_some(found.sum).and_then(distrust_of);
            let by_bounds =
                measured.bounds.then(|| distrust_of(found.min).or_else(|| distrust_of(found.max))).flatten();
            distrust_of(found.null_count).or(by_sum).or(by_bounds)
        };
        let why = self.fields.iter().zip(measures.measured()).find_map(distrust);
        why.map_or(WhyUnknown::NoStatistics, WhyUnknown::Distrusted)
    }

    /// The least and greatest coordinate in a tile, in the bytes of cells.
    fn ends(&self, dimension: usize, tile: u64) -> Option<(Vec<u8>, Vec<u8>)> {
        let physical = self.fragment.schema().dimensions().get(dimension)?.physical();
        match self.fragment.tile_box(tile)?.0.into_iter().nth(dimension)? {
            DimRange::Fixed { lo, hi } => {
                let bytes = |key| Scalar::from_key(physical, key).to_le_bytes().to_vec();
                Some((bytes(lo), bytes(hi)))
            }
            DimRange::Var { lo, hi: Bound::Included(hi) } => Some((lo, hi)),
            // Old releases wrote boxes of strings whose ends aren't known.
            DimRange::Var { .. } => None,
        }
    }

    fn add_field(&self, known: &KnownField, tile: KnownTile, summary: &mut Summary) -> bool {
        match known {
            KnownField::Nothing => false,
            KnownField::NoValues => true,
            KnownField::Count => summary.add_statistics(&counted(tile.cells, 0)),
            KnownField::Missing(output) => {
                summary.add_repeated(output.fill_cell(), tile.cells);
                true
            }
            KnownField::Coordinates(dimension) => {
                let Some((least, greatest)) = self.ends(*dimension, tile.tile) else { return false };
                summary.add_statistics(&CellStatistics { bounds: Some((&least, &greatest)), ..counted(tile.cells, 0) })
            }
            KnownField::Statistics(statistics) => {
                let statistics = self.fragment.tile_statistics(statistics, tile.tile);
                of_tile(&statistics, tile.cells).is_some_and(|known| summary.add_statistics(&known))
            }
        }
    }
}

/// Whether the boxes of tiles end at cells. Boxes of floats may have been made of NaNs, and zeros of either sign are one coordinate; those
/// of dense tiles are of all cells, whoever wrote them.
fn has_exact_boxes(fragment: &Fragment, dimension: usize) -> bool {
    let datatype = fragment.schema().dimensions().get(dimension).map(tdb_schema::Dimension::datatype);
    fragment.array_type() == ArrayType::Sparse && datatype.is_some_and(|datatype| !datatype.is_float())
}

fn distrust_of<T: Copy>(statistic: Statistic<T>) -> Option<Distrust> {
    match statistic {
        Statistic::Untrustworthy(_, why) => Some(why),
        _ => None,
    }
}

fn is_nullable(fragment: &Fragment, field: FragmentField) -> bool {
    match field {
        FragmentField::Attribute(index) => {
            fragment.schema().attributes().get(index).is_some_and(Attribute::is_nullable)
        }
        _ => false,
    }
}

fn counted(cells: u64, nulls: u64) -> CellStatistics<'static> {
    CellStatistics { cells, nulls, total: None, bounds: None }
}

/// The statistics that can be relied on; `None` if nulls can't be counted.
fn of_tile<'a>(statistics: &ValueStatistics<'a>, cells: u64) -> Option<CellStatistics<'a>> {
    let nulls = statistics.null_count.trusted()?;
    let total = statistics.sum.trusted().map(|sum| match sum {
        Sum::I64(sum) => Total::Signed(sum.into()),
        Sum::U64(sum) => Total::Unsigned(sum.into()),
        Sum::F64(sum) => Total::Float { sum, overflowed: false },
    });
    let bounds = statistics.min.trusted().zip(statistics.max.trusted());
    Some(CellStatistics { total, bounds, ..counted(cells, nulls) })
}
