//! Verification of the tiles of a field. Unfilters each tile and recomputes its statistics.

use tdb_array::tdb_fragment::{FragmentField, StatisticsKind, StatisticsRules, TileSummarizer, Tiles};
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::{ArrayError, StoredTiles, TileReader};
use tdb_types::{Cells, Datatype, Feature};

use super::finding::{kept, unreadable};
use super::fragment::{Checked, stretches};
use super::statistics::{Compared, Comparison, TileFacts};
use super::visible::visible_runs;
use tdb_job::Result;

/// Computes the statistics of a tile.
pub(crate) fn facts_of(
    kind: StatisticsKind,
    tiles: &Tiles,
    schema: &ArraySchema,
    tile: u64,
    cells: &Cells<'_>,
) -> TileFacts {
    let runs = visible_runs(tiles, schema, tile, cells.len());
    let is_whole = runs.clone().next().is_some_and(|run| run.len() == cells.len());
    let mut summariser = TileSummarizer::new(kind);
    runs.into_iter().for_each(|run| summariser.add(cells, run));
    TileFacts { visible: summariser.finish(cells), whole: (!is_whole).then(|| TileSummarizer::whole(kind, cells)) }
}

/// Checks that variable-length cells consist of whole values.
fn check_lengths(
    schema: &ArraySchema,
    field: FragmentField,
    tiles: &StoredTiles,
    cells: &Cells<'_>,
) -> Result<(), ArrayError> {
    let FragmentField::Attribute(index) = field else { return Ok(()) };
    let Some(attribute) = schema.attributes().get(index).filter(|attribute| attribute.is_var()) else { return Ok(()) };
    let size = attribute.datatype().size();
    match cells.var_cells().position(|cell| !cell.len().is_multiple_of(size)) {
        Some(cell) if size > 1 => {
            let what = format!("the length of cell {cell} is not a multiple of the value size of {size} bytes");
            Err(ArrayError::Corrupt { file: tiles.file().to_owned(), what })
        }
        _ => Ok(()),
    }
}

impl<'a> Checked<'a> {
    /// Unfilters all tiles of an attribute or of a field that the schema does not list, and
    /// compares the statistics.
    pub(super) fn check_field(&mut self, field: FragmentField) -> Result<()> {
        let name = self.name_of(field);
        let (fragment, workers) = (self.fragment, self.workers);
        let tiles = fragment.stored_tiles(field);
        let unread = |error: &_| self.found.push(unreadable(&self.metadata_file(), error).of_field(&name));
        let Ok(tiles) = tiles.inspect_err(unread) else { return Ok(()) };
        let kind = StatisticsKind::of(fragment.schema(), field);
        let read = |tile: u64, reader: &mut TileReader<'_>| {
            let cells = tiles.read(tile, reader)?;
            check_lengths(fragment.schema(), field, &tiles, &cells)?;
            Ok((facts_of(kind, fragment.footer().tiles(), fragment.schema(), tile, &cells), cells.len()))
        };
        let mut comparison = self.comparison(field, &name);
        for stretch in stretches(tiles.len()) {
            let numbers: Vec<u64> = stretch.clone().collect();
            let facts = workers.map(tiles.bytes(), numbers, |tile, reader| kept(read(tile, reader)))?;
            let facts = self.take_tiles(&tiles, stretch.start, facts);
            if let Some(comparison) = &mut comparison {
                comparison.take(facts.iter().map(Option::as_ref));
            }
        }
        self.finish(comparison);
        Ok(())
    }

    /// Compares the stored statistics of a field without tiles with the statistics of empty tiles.
    pub(super) fn check_empty(&mut self, field: FragmentField) {
        let Ok(stored) = self.fragment.stored_statistics(field) else { return };
        // The field has no data that confirms the number of tiles, which may therefore be
        // arbitrary.
        let listed = stored.mins.len().max(stored.maxs.len()).max(stored.sums.len()).max(stored.null_counts.len());
        drop(stored);
        let tiles = self.fragment.tile_count().min(listed.max(1) as u64);
        let (mut comparison, facts) = (self.comparison(field, &self.name_of(field)), TileFacts::default());
        for stretch in stretches(tiles) {
            if let Some(comparison) = &mut comparison {
                comparison.take(stretch.map(|_| Some(&facts)));
            }
        }
        self.finish(comparison);
    }

    /// Counts tiles and cells, and reports unreadable tiles. Returns the facts about each tile, or
    /// `None` if the tile is unreadable. `first` is the number of the first tile.
    pub(super) fn take_tiles<T>(
        &mut self,
        tiles: &StoredTiles,
        first: u64,
        read: Vec<Result<(T, usize), ArrayError>>,
    ) -> Vec<Option<T>> {
        let mut facts = Vec::with_capacity(read.len());
        for (tile, read) in (first..).zip(read) {
            self.report.tiles += 1;
            facts.push(match read {
                Ok((read, cells)) => {
                    self.report.cells += cells as u64;
                    Some(read)
                }
                Err(error) => {
                    self.found.push(unreadable(tiles.file(), &error).of_field(tiles.name()).of_tile(tile));
                    None
                }
            });
        }
        facts
    }

    /// Creates the comparison of a field's statistics. Returns `None` for a field without
    /// statistics.
    pub(super) fn comparison(&self, field: FragmentField, name: &str) -> Option<Comparison<'a>> {
        let fragment = self.fragment;
        let (footer, schema) = (fragment.footer(), fragment.schema());
        let (rules, slot) = (StatisticsRules::new(footer, schema, field)?, footer.slot(field)?);
        let datatype = match field {
            FragmentField::Attribute(index) => schema.attributes()[index].datatype(),
            FragmentField::Dimension(index) => schema.dimensions()[index].datatype(),
            _ => Datatype::UInt64,
        };
        // Unreadable statistics are already reported.
        let has_statistics = footer.version().has(Feature::TileStatistics);
        let stored = fragment.stored_statistics(field).ok().filter(|_| has_statistics);
        let totals = self.totals.as_ref().and_then(|totals| totals.0.get(slot)).cloned();
        let of = Compared {
            file: self.metadata_file(),
            name: name.to_owned(),
            datatype,
            rules,
            tiles: footer.tiles(),
            is_lossy: fragment.has_lossy_filters(field),
        };
        Some(Comparison::new(of, StatisticsKind::of(schema, field), stored, totals))
    }

    /// Completes a comparison after all tiles, and adds its findings.
    pub(super) fn finish(&mut self, comparison: Option<Comparison<'_>>) {
        if let Some(comparison) = comparison {
            self.found.append(comparison.finish());
        }
    }
}
