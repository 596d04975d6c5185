//! Metadata statistics of the tiles of a fragment, and of the whole fragment.

use std::cell::OnceCell;
use std::ops::Bound;
use std::sync::Arc;

use tdb_aggregate::{CellStatistics, Measured, Summary, ValueKind};
use tdb_fragment::{FragmentField, UntrustedReason};
use tdb_query::InexactReason;
use tdb_query::scan::{FieldSet, KnownTile};
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Attribute, FieldRef};
use tdb_snapshot::{FieldStatistics, Fragment, OutputField, distrust, reliable_statistics};
use tdb_types::{ArrayType, Scalar};

use super::measure::Measures;

/// Metadata statistics of a fragment for measured fields.
#[derive(Debug)]
pub(super) struct KnownTiles {
    fragment: Fragment,
    fields: Vec<KnownField>,
}

#[derive(Debug)]
enum KnownField {
    Nothing,
    /// Only the number of cells is needed.
    Count,
    Statistics(StoredField),
    /// A dimension of a sparse fragment. MBRs contain the minimum and maximum coordinate.
    Coordinates(usize),
    /// The fragment of a sparse array lacks the field. All cells have the fill value.
    Missing(OutputField),
    /// The fragment of a dense array lacks the field, and adds no values.
    NoValues,
}

/// A field of the fragment with possible statistics.
#[derive(Debug)]
struct StoredField {
    field: FragmentField,
    kind: ValueKind,
    /// The statistics of tiles, read on first use.
    tiles: OnceCell<Option<Arc<FieldStatistics>>>,
}

impl KnownTiles {
    /// Determines the source of statistics for each measured field. Reads nothing yet.
    pub(super) fn of(fragment: &Fragment, array: &ArraySchema, measures: &Measures) -> Self {
        let fields = measures.places.iter().map(|place| (&measures.fields[*place], &measures.outputs[*place]));
        let known = |((field, output), (kind, measured)): ((&FieldRef, &OutputField), &(ValueKind, Measured))| {
            match fragment.own_field(array, *field) {
                None if array.array_type() == ArrayType::Dense => KnownField::NoValues,
                None => KnownField::Missing(output.clone()),
                Some(_) if *measured == Measured::COUNT && !output.may_be_null() => KnownField::Count,
                Some(FragmentField::Dimension(index)) if has_exact_boxes(fragment, index) && !measured.sum => {
                    KnownField::Coordinates(index)
                }
                // If the nullability has changed, the statistics count other cells as null.
                Some(own) if is_nullable(fragment, own) != output.nullable => KnownField::Nothing,
                Some(field) => KnownField::Statistics(StoredField { field, kind: *kind, tiles: OnceCell::new() }),
            }
        };
        let fields = fields.zip(&measures.measured).map(known).collect();
        Self { fragment: fragment.clone(), fields }
    }

    /// Adds all cells of a tile to the summaries of known fields. Returns these fields.
    pub(super) fn add(&self, tile: KnownTile, summaries: &mut [Summary]) -> FieldSet {
        if !tile.partly {
            // Adds all fields or none.
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

    /// Adds all cells of a tile to the summary of a measured field.
    pub(super) fn add_tile(&self, field: usize, tile: KnownTile, summary: &mut Summary) -> Result<(), InexactReason> {
        let Some(known) = self.fields.get(field) else { return Err(InexactReason::NoStatistics) };
        if self.add_field(known, tile, summary) {
            return Ok(());
        }
        let KnownField::Statistics(stored) = known else { return Err(InexactReason::NoStatistics) };
        let Some(statistics) = self.statistics(stored) else { return Err(InexactReason::NoStatistics) };
        Err(unknown(distrust(&self.fragment.tile_statistics(statistics, tile.tile), summary.measured())))
    }

    /// Adds all cells of the fragment to the summary of a measured field. Uses trusted totals, or
    /// else the statistics of all tiles.
    pub(super) fn add_all(&self, field: usize, summary: &mut Summary) -> Result<(), InexactReason> {
        let cells = self.fragment.cell_count();
        match self.fields.get(field).unwrap_or(&KnownField::Nothing) {
            KnownField::Nothing => Err(InexactReason::NoStatistics),
            KnownField::NoValues => Ok(()),
            KnownField::Count => added(summary.add_statistics(&counted(cells, 0))),
            KnownField::Missing(output) => {
                summary.add_repeated(output.fill_cell(), cells);
                Ok(())
            }
            KnownField::Coordinates(dimension) => {
                let hull = self.fragment.rtree().ok().and_then(|rtree| rtree.hull());
                let ends = hull.and_then(|hull| self.ends(*dimension, hull.0.into_iter().nth(*dimension)?));
                let Some((least, greatest)) = ends else { return Err(InexactReason::NoStatistics) };
                added(summary.add_statistics(&between(cells, (&least, &greatest))))
            }
            KnownField::Statistics(stored) => match self.add_totals(stored.field, summary) {
                Ok(()) => Ok(()),
                // If an edge tile makes the totals unreliable, the statistics of this tile are
                // unreliable too.
                Err(Some(why @ UntrustedReason::EdgeTile)) => Err(InexactReason::Distrusted(why)),
                Err(_) => {
                    let folded = self.fragment.folded(stored.field, stored.kind);
                    let known = folded.of(summary.measured()).as_ref();
                    known.map(|known| summary.merge(known)).map_err(|why| unknown(*why))
                }
            },
        }
    }

    /// Adds all cells from totals. Otherwise returns the reason why the totals are not trusted, if
    /// the totals exist.
    fn add_totals(&self, field: FragmentField, summary: &mut Summary) -> Result<(), Option<UntrustedReason>> {
        let totals = self.fragment.totals_of(field).ok_or(None)?;
        let found = self.fragment.judged(&totals).ok_or(None)?;
        let known = reliable_statistics(&found, self.fragment.cell_count());
        match known.is_some_and(|known| summary.add_statistics(&known)) {
            true => Ok(()),
            false => Err(distrust(&found, summary.measured())),
        }
    }

    /// Returns the ends of a range of coordinates as bytes of cells. Returns `None` if the end is
    /// unknown.
    fn ends(&self, dimension: usize, range: DimRange) -> Option<(Vec<u8>, Vec<u8>)> {
        let physical = self.fragment.schema().dimensions().get(dimension)?.physical();
        match range {
            DimRange::Fixed { lo, hi } => {
                let bytes = |key| Scalar::from_key(physical, key).to_le_bytes().to_vec();
                Some((bytes(lo), bytes(hi)))
            }
            DimRange::Var { lo, hi: Bound::Included(hi) } => Some((lo, hi)),
            // Old releases wrote string MBRs with an unknown end.
            DimRange::Var { .. } => None,
        }
    }

    fn statistics<'s>(&self, stored: &'s StoredField) -> Option<&'s FieldStatistics> {
        stored.tiles.get_or_init(|| self.fragment.statistics_of(stored.field)).as_deref()
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
                let side = self.fragment.tile_box(tile.tile).and_then(|all| all.0.into_iter().nth(*dimension));
                let Some((least, greatest)) = side.and_then(|side| self.ends(*dimension, side)) else { return false };
                summary.add_statistics(&between(tile.cells, (&least, &greatest)))
            }
            KnownField::Statistics(stored) => self.statistics(stored).is_some_and(|statistics| {
                let statistics = self.fragment.tile_statistics(statistics, tile.tile);
                reliable_statistics(&statistics, tile.cells).is_some_and(|known| summary.add_statistics(&known))
            }),
        }
    }
}

/// Returns `true` if MBRs end at coordinates of cells. MBRs of floats may come from NaNs, and do
/// not distinguish the signs of zeros. MBRs of dense tiles include unwritten cells.
fn has_exact_boxes(fragment: &Fragment, dimension: usize) -> bool {
    let datatype = fragment.schema().dimensions().get(dimension).map(tdb_schema::Dimension::datatype);
    fragment.array_type() == ArrayType::Sparse && datatype.is_some_and(|datatype| !datatype.is_float())
}

fn is_nullable(fragment: &Fragment, field: FragmentField) -> bool {
    match field {
        FragmentField::Attribute(index) => {
            fragment.schema().attributes().get(index).is_some_and(Attribute::is_nullable)
        }
        _ => false,
    }
}

fn unknown(why: Option<UntrustedReason>) -> InexactReason {
    why.map_or(InexactReason::NoStatistics, InexactReason::Distrusted)
}

fn added(is_added: bool) -> Result<(), InexactReason> {
    is_added.then_some(()).ok_or(InexactReason::NoStatistics)
}

fn counted(cells: u64, nulls: u64) -> CellStatistics<'static> {
    CellStatistics { cells, nulls, total: None, bounds: None }
}

fn between<'a>(cells: u64, bounds: (&'a [u8], &'a [u8])) -> CellStatistics<'a> {
    CellStatistics { cells, nulls: 0, total: None, bounds: Some(bounds) }
}
