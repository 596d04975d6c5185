//! Verification of the coordinates of a sparse fragment: order, MBRs and statistics.

use tdb_array::tdb_fragment::{FragmentField, StatisticsKind};
use tdb_array::tdb_rtree::{DimRange, DimensionKind, NdRange};
use tdb_array::{ArrayError, CellOrderCheck, Fragment, StoredTiles, TileCells, TileReader};
use tdb_types::Cells;

use super::boxes::Boxes;
use super::field::facts_of;
use super::finding::{kept, unreadable};
use super::fragment::{Checked, stretches};
use super::order::{CellOrder, Ends, order_of};
use super::statistics::Comparison;
use super::tile::TileCoordinates;
use tdb_job::Result;

impl Checked<'_> {
    /// Unfilters the coordinates of all tiles, and checks them.
    pub(super) fn check_coordinates(&mut self) -> Result<()> {
        let (fragment, workers) = (self.fragment, self.workers);
        let dimensions = fragment.schema().dim_count();
        let names: Vec<String> = (0..dimensions).map(|index| self.name_of(FragmentField::Dimension(index))).collect();
        let mut fields = Vec::with_capacity(dimensions);
        for (index, name) in names.iter().enumerate() {
            match fragment.stored_tiles(FragmentField::Dimension(index)) {
                Ok(tiles) => fields.push(tiles),
                Err(error) => self.found.push(unreadable(&self.metadata_file(), &error).of_field(name)),
            }
        }
        let Some(first) = fields.first().filter(|_| fields.len() == dimensions) else { return Ok(()) };
        let check = fragment.order_check()?;
        let bytes = fields.iter().map(StoredTiles::bytes).fold(0, u64::saturating_add).max(1 << 20);
        let mut order = CellOrder::new(&check, fragment.schema().domain().kinds());
        let (mut boxes, mut ends) = (Boxes::of(self), Ends::of(self, &names));
        let fields_of = names.iter().enumerate();
        let mut statistics: Vec<Option<Comparison<'_>>> =
            fields_of.map(|(index, name)| self.comparison(FragmentField::Dimension(index), name)).collect();
        for stretch in stretches(fragment.tile_count()) {
            let numbers: Vec<u64> = stretch.clone().collect();
            let read = |tile, reader: &mut TileReader<'_>| read_tile(fragment, &fields, &check, tile, reader);
            let read = workers.map(bytes, numbers, |tile, reader| kept(read(tile, reader)))?;
            let tiles = self.take_tiles(first, stretch.start, read);
            self.report.tiles += fields.len().saturating_sub(1) as u64 * tiles.len() as u64;
            for (index, comparison) in statistics.iter_mut().enumerate() {
                if let Some(comparison) = comparison {
                    comparison.take(tiles.iter().map(|tile| tile.as_ref()?.facts.get(index)));
                }
            }
            for tile in tiles {
                if let Some(boxes) = &mut boxes {
                    boxes.take(tile.as_ref().map(|tile| &tile.mbr));
                }
                ends.iter_mut().for_each(|ends| ends.take(tile.as_ref()));
                order.take(tile);
            }
        }
        if order.finish(self) {
            self.check_repeats()?;
        }
        if let Some(boxes) = boxes {
            boxes.finish(self);
        }
        ends.into_iter().for_each(|ends| self.found.append(ends.found));
        statistics.into_iter().for_each(|comparison| self.finish(comparison));
        Ok(())
    }
}

/// Unfilters the coordinates of a tile and computes the facts to compare. Also returns the number
/// of cells.
fn read_tile(
    fragment: &Fragment,
    fields: &[StoredTiles],
    check: &CellOrderCheck,
    tile: u64,
    reader: &mut TileReader<'_>,
) -> Result<(TileCoordinates, usize), ArrayError> {
    let (schema, tiles) = (fragment.schema(), fragment.footer().tiles());
    let mut columns: Vec<TileCells> = fields.iter().map(|_| TileCells::default()).collect();
    for (field, column) in fields.iter().zip(&mut columns) {
        field.read_into(tile, column, reader)?;
    }
    let cells: Vec<Cells<'_>> = columns.iter().map(TileCells::cells).collect();
    let count = cells.first().map_or(0, Cells::len);
    let kinds = schema.domain().kinds();
    let facts = (0..cells.len()).map(|index| {
        let kind = StatisticsKind::of(schema, FragmentField::Dimension(index));
        facts_of(kind, tiles, schema, tile, &cells[index])
    });
    let range = |(cells, kind): (&Cells<'_>, &DimensionKind)| DimRange::of_cells(cells, *kind);
    let end = |cells: &Cells<'_>| [cells.cell(0).to_vec(), cells.cell(count.saturating_sub(1)).to_vec()];
    let read = TileCoordinates {
        facts: facts.collect(),
        mbr: NdRange(cells.iter().zip(&kinds).filter_map(range).collect()),
        order: order_of(check, &cells),
        ends: if count == 0 { Vec::new() } else { cells.iter().map(end).collect() },
    };
    Ok((read, count * cells.len()))
}
