//! Selection of tiles that can be copied in filtered form.

use tdb_fragment::{DenseGrid, Tiles};
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot};
use tdb_write::{EncodedTile, Target};

use super::boxes::TileBox;
use crate::copied::{CopiedField, has_same_order};

/// The origin of the tiles of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The cells must be read and encoded.
    Read,
    /// The tiles are copied from the fragment with this index.
    Copied(usize),
}

/// The fragments to consolidate, with the tiles to copy.
#[derive(Debug)]
pub(super) struct Copies<'a> {
    target: &'a Target,
    /// Grid of the new fragment.
    grid: &'a DenseGrid,
    domain: &'a NdRange,
    /// Fragments with cells, oldest first.
    sources: Vec<Source>,
}

/// A fragment to consolidate.
#[derive(Debug)]
struct Source {
    fragment: Fragment,
    bounds: NdRange,
    /// The fields to copy, in the order of the new fragment's fields. `None` if at least one field
    /// cannot be copied in filtered form.
    fields: Option<Vec<CopiedField>>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(array: &Snapshot, target: &'a Target, grid: &'a DenseGrid, domain: &'a NdRange) -> Result<Self> {
        let mut sources = Vec::new();
        for fragment in array.fragments()? {
            let Some(bounds) = fragment.non_empty_domain() else { continue };
            let is_dense = matches!(fragment.footer().tiles(), Tiles::Dense(_));
            let is_alike = is_dense && has_same_order(fragment.schema(), &target.schema);
            let fields = target.fields.iter().map(|encoder| match is_alike {
                true => CopiedField::new(fragment, target, encoder),
                false => Ok(None),
            });
            let fields = fields.collect::<Result<Option<Vec<_>>>>()?;
            sources.push(Source { fragment: fragment.clone(), bounds: bounds.clone(), fields });
        }
        Ok(Self { target, grid, domain, sources })
    }

    /// Divides a box into parts that are consecutive in tile order.
    pub(super) fn divide(&self, tiles: TileBox) -> Vec<(TileBox, Part)> {
        let all: Vec<usize> = (0..self.sources.len()).collect();
        self.parts(tiles, &all)
    }

    /// Divides a box as in [`divide`](Self::divide). `candidates` lists the fragments that may have
    /// cells in the box.
    fn parts(&self, tiles: TileBox, candidates: &[usize]) -> Vec<(TileBox, Part)> {
        let (region, is_whole) = tiles.region(self.grid, self.target, self.domain);
        let touching = |source: &usize| self.sources[*source].bounds.intersects(&region);
        let touching: Vec<usize> = candidates.iter().copied().filter(touching).collect();
        let newest = touching.last().map(|source| (*source, &self.sources[*source]));
        match newest {
            // The newest fragment contains all cells of the box. Tiles that extend beyond the
            // domain are encoded again. Their statistics may include cells outside of the domain,
            // except in fragments that newer releases wrote directly (`UntrustedReason::EdgeTile`).
            Some((source, Source { bounds, fields: Some(_), .. })) if bounds.contains(&region) => {
                if is_whole {
                    return vec![(tiles, Part::Copied(source))];
                }
            }
            Some((_, source)) if source.bounds.contains(&region) => return vec![(tiles, Part::Read)],
            None => return vec![(tiles, Part::Read)],
            Some(_) => {}
        }
        let can_be_copied = touching.iter().any(|source| self.sources[*source].fields.is_some());
        let Some((one, other)) = tiles.halves(self.grid.order()).filter(|_| can_be_copied) else {
            return vec![(tiles, Part::Read)];
        };
        let mut parts = self.parts(one, &touching);
        parts.extend(self.parts(other, &touching));
        // If no tile is copied, read all cells at once.
        match parts.iter().all(|(_, part)| *part == Part::Read) {
            true => vec![(tiles, Part::Read)],
            false => parts,
        }
    }

    /// Returns the stored tiles of a box in filtered form, for each field.
    pub(super) fn encoded(&self, source: usize, tiles: &TileBox) -> Result<Vec<Vec<EncodedTile>>> {
        let Source { fragment, fields, .. } = &self.sources[source];
        let (Tiles::Dense(grid), Some(fields)) = (fragment.footer().tiles(), fields) else {
            return Err(ArrayError::Write("the tiles of the fragment cannot be copied without decoding".to_owned()));
        };
        let numbers = tiles.tiles(self.grid).map(|tile| {
            let missing =
                || ArrayError::Corrupt { file: fragment.folder().to_owned(), what: format!("missing tile {tile:?}") };
            grid.index_of(&tile).ok_or_else(missing)
        });
        let numbers: Vec<u64> = numbers.collect::<Result<_>>()?;
        let cells = grid.cells_per_tile();
        let bytes = (numbers.len() as u64).saturating_mul(cells).saturating_mul(self.target.cell_size() as u64);
        self.target.encode_tiles(bytes, &numbers, |field, tile, scratch| {
            fields[field].tile(&self.target.fields[field], (*tile, cells), None, scratch)
        })
    }
}
