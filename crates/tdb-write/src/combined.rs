//! Coordinates of all dimensions in one file, as before format 5.
//!
//! A tile holds all values of the first dimension, then of the second, and so on. Each dimension is
//! cut into chunks separately. Therefore dimensions are filtered separately, as in later formats,
//! and then concatenated chunk by chunk. Format 1 does this only if the filters include a
//! compressor. Otherwise, format 1 stores all coordinates of a cell together.

use std::ops::Range;

use tdb_cells::TileScratch;
use tdb_filters::{BoundPipeline, ElementTypes, TileKind};
use tdb_fragment::FragmentField;
use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Result, Snapshot};
use tdb_types::{Feature, FormatVersion, names};

use crate::encoder::{EncodedTile, FieldEncoder, coordinates_are_interleaved};
use crate::version::library_version;

/// Size of the chunk count at the start of a filtered tile.
const COUNT_LEN: usize = size_of::<u64>();

/// A combiner of the tiles of all dimensions into the tiles of one file.
#[derive(Debug)]
pub(crate) struct CombinedCoordinates {
    /// Indices of the dimensions among the fields.
    dimensions: Range<usize>,
    /// Pipeline for tiles that store all coordinates of a cell together. `None` if each dimension
    /// is filtered separately.
    interleaved: Option<BoundPipeline>,
}

impl CombinedCoordinates {
    /// Returns `None` if each dimension has a separate file or if the array stores no coordinates.
    pub(super) fn new(array: &Snapshot, schema: &ArraySchema, version: FormatVersion) -> Result<Option<Self>> {
        if !version.has(Feature::CombinedCoordinates) || schema.is_dense() {
            return Ok(None);
        }
        let first = schema.attr_count();
        let dimensions = first..first + schema.dim_count();
        let datatype = schema.dimensions().first().map(tdb_schema::Dimension::datatype);
        let Some(datatype) = datatype.filter(|_| coordinates_are_interleaved(schema, version)) else {
            return Ok(Some(Self { dimensions, interleaved: None }));
        };
        let kind = TileKind::coordinates(datatype, u32::try_from(dimensions.len()).unwrap_or(u32::MAX), version)
            .with_element_types(ElementTypes::of_fragment(version, Some(library_version(version))));
        let wrong = |source| ArrayError::Filters { field: names::COORDINATES.to_owned(), source: Box::new(source) };
        let pipeline = array.access().bind(schema.coords_filters(), kind).map_err(wrong)?;
        Ok(Some(Self { dimensions, interleaved: Some(pipeline) }))
    }

    /// Returns the name under which the fragment stores the field at this index. Returns `None` if
    /// the file of another field includes this field.
    pub(crate) fn stored_as(&self, place: usize, field: FragmentField) -> Option<FragmentField> {
        match place {
            place if place == self.dimensions.start => Some(FragmentField::Coordinates),
            place if self.dimensions.contains(&place) => None,
            _ => Some(field),
        }
    }

    /// Returns the coordinates of the first and the last cell of each tile. All coordinates of the
    /// first cell precede those of the last cell.
    pub(crate) fn ends(&self, tiles: &[Vec<EncodedTile>]) -> Vec<Vec<u8>> {
        let dimensions = &tiles[self.dimensions.clone()];
        let count = dimensions.first().map_or(0, Vec::len);
        let of_tile = |tile: usize| {
            let end = |end: usize| {
                dimensions.iter().filter_map(move |tiles| tiles[tile].ends.as_ref()).flat_map(move |ends| &ends[end])
            };
            end(0).chain(end(1)).copied().collect()
        };
        (0..count).map(of_tile).collect()
    }

    /// Combines the tiles of all dimensions into tiles of the first dimension. `cells` holds the
    /// number of cells per tile.
    pub(crate) fn join(
        &self,
        array: &Snapshot,
        fields: &[FieldEncoder],
        mut tiles: Vec<Vec<EncodedTile>>,
        cells: &[usize],
    ) -> Result<Vec<Vec<EncodedTile>>> {
        let encoders = &fields[self.dimensions.clone()];
        self.check(encoders, cells)?;
        let mut dimensions = tiles.drain(self.dimensions.clone()).map(Vec::into_iter).collect::<Vec<_>>();
        let of_each: Vec<Vec<EncodedTile>> =
            cells.iter().map(|_| dimensions.iter_mut().filter_map(Iterator::next).collect()).collect();
        let joined: Vec<EncodedTile> = match &self.interleaved {
            None => of_each.into_iter().map(|tiles| behind_each_other(encoders, tiles)).collect(),
            Some(pipeline) => {
                let bytes = cells.iter().sum::<usize>() * encoders.iter().map(|field| field.size).sum::<usize>();
                let join = |tiles, scratch: &mut TileScratch| interleaved(pipeline, encoders, tiles, scratch);
                array.workers().map(bytes as u64, of_each, join)?
            }
        };
        tiles.push(joined);
        tiles.extend(self.dimensions.clone().skip(1).map(|_| Vec::new()));
        Ok(tiles)
    }

    /// Checks that readers with these limits accept the combined tiles.
    fn check(&self, encoders: &[FieldEncoder], cells: &[usize]) -> Result<()> {
        let size: usize = encoders.iter().map(|field| field.size).sum();
        let most = cells.iter().copied().max().unwrap_or(0) as u64;
        match encoders.first() {
            Some(first) if most.saturating_mul(size as u64) > first.tile_bytes => {
                Err(first.too_large(most, &format!("of {size} bytes together with the other dimensions")))
            }
            _ => Ok(()),
        }
    }
}

/// Concatenates the chunks of several tiles.
fn behind_each_other(encoders: &[FieldEncoder], tiles: Vec<EncodedTile>) -> EncodedTile {
    let mut tiles = tiles.into_iter();
    let mut all = tiles.next().unwrap_or_default();
    let [chunks, ..] = &mut all.parts;
    for (encoder, tile) in encoders[1..].iter().zip(tiles) {
        let count = count_of(chunks) + count_of(&tile.parts[0]);
        chunks[..COUNT_LEN].copy_from_slice(&count.to_le_bytes());
        chunks.extend_from_slice(&tile.parts[0][COUNT_LEN..]);
        encoder.give_back(tile);
    }
    all.stored.fixed = chunks.len() as u64;
    all
}

fn count_of(tile: &[u8]) -> u64 {
    tile.first_chunk().map_or(0, |count| u64::from_le_bytes(*count))
}

/// Interleaves the cells of several tiles and applies the filters.
fn interleaved(
    pipeline: &BoundPipeline,
    encoders: &[FieldEncoder],
    tiles: Vec<EncodedTile>,
    scratch: &mut TileScratch,
) -> Result<EncodedTile> {
    let sizes: Vec<usize> = encoders.iter().map(|encoder| encoder.size).collect();
    let cell_size: usize = sizes.iter().sum();
    let bytes: usize = tiles.iter().map(|tile| tile.parts[0].len()).sum();
    let mut cells = vec![0; bytes];
    let mut place = 0;
    for (tile, size) in tiles.iter().zip(&sizes) {
        for (cell, value) in cells.chunks_exact_mut(cell_size).zip(tile.parts[0].chunks_exact(*size)) {
            cell[place..][..*size].copy_from_slice(value);
        }
        place += size;
    }
    let mut tiles = tiles.into_iter();
    let mut all = tiles.next().unwrap_or_default();
    encoders[1..].iter().zip(tiles).for_each(|(encoder, tile)| encoder.give_back(tile));
    if let Some(environment) = encoders.first().and_then(|encoder| encoder.encrypted.as_ref()) {
        scratch.filters = std::mem::take(&mut scratch.filters).with_ivs(environment.random_ivs()?);
    }
    let [chunks, ..] = &mut all.parts;
    chunks.clear();
    pipeline
        .encode_tile(&cells, None, chunks, &mut scratch.filters)
        .map_err(|source| ArrayError::Filters { field: names::COORDINATES.to_owned(), source: Box::new(source) })?;
    all.stored.fixed = chunks.len() as u64;
    Ok(all)
}
