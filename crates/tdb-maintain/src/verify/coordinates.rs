//! The coordinates of a sparse fragment: their order, the boxes around them, their statistics.

use tdb_array::tdb_fragment::{FragmentField, StatisticsKind};
use tdb_array::tdb_rtree::{DimRange, DimensionKind, NdRange};
use tdb_array::{ArrayError, CellOrderCheck, StoredTiles, TileCells, TileReader};
use tdb_types::{Cells, Offsets};

use super::boxes::check_boxes;
use super::field::facts_of;
use super::finding::{Finding, FindingKind, kept, unreadable};
use super::fragment::Checked;
use super::statistics::TileFacts;
use super::tile::TileCoordinates;
use crate::Result;

impl Checked<'_> {
    /// Unfilters the coordinates of all tiles.
    pub(super) fn check_coordinates(&mut self) -> Result<()> {
        let dimensions = self.fragment.schema().dimensions();
        let mut fields = Vec::with_capacity(dimensions.len());
        for index in 0..dimensions.len() {
            match self.fragment.stored_tiles(FragmentField::Dimension(index)) {
                Ok(tiles) => fields.push(tiles),
                Err(error) => {
                    let name = self.name_of(FragmentField::Dimension(index));
                    self.found.push(unreadable(&self.metadata_file(), &error).of_field(&name));
                }
            }
        }
        if fields.len() < dimensions.len() {
            return Ok(());
        }
        let check = self.fragment.order_check()?;
        let numbers: Vec<u64> = (0..self.fragment.tile_count()).collect();
        let bytes = fields.iter().map(StoredTiles::bytes).fold(0, u64::saturating_add).max(1 << 20);
        let read =
            self.workers.map(bytes, numbers, |tile, reader| kept(self.read_tile(&fields, &check, tile, reader)))?;
        let tiles = match fields.first() {
            Some(first) => self.take_tiles(&first.clone(), read),
            None => return Ok(()),
        };
        self.report.tiles += fields.len().saturating_sub(1) as u64 * tiles.len() as u64;
        self.check_order(&check, &tiles);
        check_boxes(self, &tiles);
        self.check_ends(&tiles);
        for index in 0..fields.len() {
            let field = FragmentField::Dimension(index);
            let facts: Vec<Option<TileFacts>> =
                tiles.iter().map(|tile| Some(tile.as_ref()?.facts.get(index)?.clone())).collect();
            self.compare(field, &self.name_of(field), &facts);
        }
        Ok(())
    }

    fn read_tile(
        &self,
        fields: &[StoredTiles],
        check: &CellOrderCheck,
        tile: u64,
        reader: &mut TileReader<'_>,
    ) -> Result<(TileCoordinates, usize), ArrayError> {
        let (schema, tiles) = (self.fragment.schema(), self.fragment.footer().tiles());
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
        Ok((
            TileCoordinates {
                facts: facts.collect(),
                mbr: NdRange(cells.iter().zip(&kinds).filter_map(range).collect()),
                in_order: check.holds(&cells),
                ends: if count == 0 { Vec::new() } else { cells.iter().map(end).collect() },
            },
            count * cells.len(),
        ))
    }

    /// Whether cells come in global order, within tiles and from one tile to the next.
    ///
    /// Writers may have been told not to look, and readers here sort what isn't in order. So it is something to know, and no
    /// proof of damage, which shows in other ways.
    fn check_order(&mut self, check: &CellOrderCheck, tiles: &[Option<TileCoordinates>]) {
        let mut disordered = Vec::new();
        for (tile, pair) in (0u64..).zip(tiles.iter().zip(tiles.iter().skip(1).chain([&None]))) {
            let (Some(own), next) = pair else { continue };
            let ends = next.as_ref().is_none_or(|next| self.is_before(check, own, next));
            if !own.in_order || !ends {
                disordered.push(tile);
            }
        }
        let Some(first) = disordered.first() else { return };
        let why = match check.is_promised() {
            true => "as writers that were told not to check leave them",
            false => "writers of its format had another order",
        };
        let what = format!(
            "cells of {} of {} tiles aren't in global order, or come twice; readers have to sort them ({why})",
            disordered.len(),
            tiles.len()
        );
        self.found.push(Finding::note(FindingKind::CellOrder, self.folder(), what).of_tile(*first));
    }

    /// Whether the last cell of a tile comes before the first one of the next.
    fn is_before(&self, check: &CellOrderCheck, tile: &TileCoordinates, next: &TileCoordinates) -> bool {
        if tile.ends.is_empty() || next.ends.is_empty() {
            return true;
        }
        let kinds = self.fragment.schema().domain().kinds();
        let pairs: Vec<(Vec<u8>, [u64; 3])> =
            tile.ends.iter().zip(&next.ends).map(|(own, next)| pair(&own[1], &next[0])).collect();
        let columns = pairs.iter().zip(&kinds).map(|((bytes, offsets), kind)| match kind.var {
            true => Cells::var(Offsets::in_bytes(offsets), bytes),
            false => Cells::fixed(bytes, kind.datatype.size()),
        });
        check.holds(&columns.collect::<Vec<_>>())
    }

    /// The first and last cells of tiles, where the fragment says them.
    fn check_ends(&mut self, tiles: &[Option<TileCoordinates>]) {
        for index in 0..self.fragment.schema().dim_count() {
            let name = self.name_of(FragmentField::Dimension(index));
            let bounds = match self.fragment.stored_order_bounds(index) {
                Ok(Some(bounds)) => bounds,
                Ok(None) => continue,
                Err(error) => {
                    self.found.push(unreadable(&self.metadata_file(), &error).of_field(&name));
                    continue;
                }
            };
            for (tile, own) in (0u64..).zip(tiles) {
                let Some([first, last]) = own.as_ref().and_then(|tile| tile.ends.get(index)) else { continue };
                if bounds.get(tile) != Some((&first[..], &last[..])) {
                    let what = "the first and last cell in global order aren't those that are stored";
                    let finding = Finding::wrong(FindingKind::CellOrder, self.metadata_file(), what);
                    self.found.push(finding.of_field(&name).of_tile(tile));
                }
            }
        }
    }
}

/// Two cells one after the other, and where they begin and end.
fn pair(first: &[u8], second: &[u8]) -> (Vec<u8>, [u64; 3]) {
    let bytes = [first, second].concat();
    let offsets = [0, first.len() as u64, bytes.len() as u64];
    (bytes, offsets)
}
