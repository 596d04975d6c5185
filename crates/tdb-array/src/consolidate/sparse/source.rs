//! A fragment whose cells are joined with those of others: its tiles, unfiltered one at a time.

use std::sync::Arc;

use tdb_fragment::FragmentField;
use tdb_rtree::{DimRange, NdRange, RTree};
use tdb_schema::FieldRef;
use tdb_types::{Feature, ordered_keys, saturating_len};

use super::fates::{Fated, Fates};
use super::tile::{Column, Columns, Times};
use crate::order::by_writers::may_differ;
use crate::order::coordinates::Coordinates;
use crate::tiles::{CellBuffers, FieldTiles, TileScratch};
use crate::write::Target;
use crate::{Array, ArrayError, Fragment, Result};

/// A fragment, and which of its fields are read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) fragment: Fragment,
    rtree: Arc<RTree>,
    fields: Vec<Field>,
    /// Where the cells of each field of the new fragment come from.
    origins: Vec<Origin>,
    dimensions: Vec<usize>,
    /// The place of the cells' times, if they have any.
    times: Option<usize>,
    fates: Fates,
}

/// A field that is read.
#[derive(Debug)]
struct Field {
    tiles: Arc<FieldTiles>,
    /// Bytes of a cell, unless cells differ in length.
    size: Option<usize>,
    /// Whether the new fragment has it, or it is read for the sake of conditions alone.
    is_kept: bool,
}

/// Where the cells of a field come from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// From the field at this place.
    Field(usize),
    /// The fragment doesn't have it: the cells are the fill value.
    Fill,
    /// All cells have the time of the fragment.
    Time,
    DeleteTime,
    DeleteIndex,
}

/// The fields that are read, each once.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

impl Fields {
    /// The place of a field.
    pub(super) fn place(&mut self, tiles: Arc<FieldTiles>, size: Option<usize>, is_kept: bool) -> usize {
        if let Some(known) = self.0.iter().position(|field| Arc::ptr_eq(&field.tiles, &tiles)) {
            self.0[known].is_kept |= is_kept;
            return known;
        }
        self.0.push(Field { tiles, size, is_kept });
        self.0.len() - 1
    }
}

impl Source {
    /// `conditions` are the paths of those that the new fragment will know, in the order of their times.
    pub(super) fn new(array: &Array, target: &Target, fragment: &Fragment, conditions: &[String]) -> Result<Self> {
        let schema = array.schema();
        let mut fields = Fields::default();
        let header = fragment.footer().header();
        let mut origins = Vec::with_capacity(target.fields.len());
        for encoder in &target.fields {
            let tiles = match encoder.field {
                FragmentField::Attribute(index) => fragment.field_tiles(schema, FieldRef::Attribute(index))?,
                FragmentField::Dimension(index) => Some(fragment.tiles_of(FragmentField::Dimension(index))?),
                FragmentField::Timestamps if header.has_timestamps => Some(fragment.tiles_of(encoder.field)?),
                _ => None,
            };
            let size = (!encoder.is_var()).then_some(encoder.size);
            origins.push(match (tiles, encoder.field) {
                (Some(tiles), _) => Origin::Field(fields.place(tiles, size, true)),
                (None, FragmentField::Timestamps) => Origin::Time,
                (None, FragmentField::DeleteTimestamps) => Origin::DeleteTime,
                (None, FragmentField::DeleteConditionIndex) => Origin::DeleteIndex,
                (None, _) => Origin::Fill,
            });
        }
        let mut dimensions = Vec::with_capacity(schema.dim_count());
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let size = (!dimension.is_var()).then(|| dimension.datatype().size());
            dimensions.push(fields.place(fragment.tiles_of(FragmentField::Dimension(index))?, size, true));
        }
        let times = match header.has_timestamps {
            true => Some(fields.place(fragment.tiles_of(FragmentField::Timestamps)?, Some(size_of::<u64>()), false)),
            false => None,
        };
        let fates = Fates::of(array, fragment, conditions, &mut fields)?;
        let rtree = fragment.rtree()?;
        Ok(Self { fragment: fragment.clone(), rtree, fields: fields.0, origins, dimensions, times, fates })
    }

    /// Whether cells may lie in another order than that of today, by what is known of the fragment's writers.
    pub(super) fn is_stored_otherwise(&self, array: &Array) -> bool {
        let version = self.fragment.version();
        may_differ(array.schema(), version) || self.times.is_some() && version.has(Feature::UnorderedVersions)
    }

    /// Whether cells carry times of their own.
    pub(super) fn has_times(&self) -> bool {
        self.times.is_some()
    }

    /// How many tiles there are.
    pub(super) fn tile_count(&self) -> u64 {
        self.fragment.tile_count()
    }

    /// The box in which all cells of a tile lie.
    pub(super) fn bounds(&self, tile: u64) -> Result<NdRange> {
        self.rtree.bounds(tile).ok_or_else(|| self.corrupt(format!("there is no tile {tile} in the R-tree")))
    }

    /// How many files are open.
    pub(super) fn files(&self) -> usize {
        let parts =
            |field: &Field| 1 + usize::from(field.tiles.var.is_some()) + usize::from(field.tiles.validity.is_some());
        self.fields.iter().map(parts).sum()
    }

    /// About how many bytes the largest tile takes in memory.
    pub(super) fn tile_memory(&self) -> usize {
        let cells = self.fragment.footer().cells_in_tile(0).map_or(0, saturating_len);
        let field = |field: &Field| {
            let values = match (field.size, &field.tiles.var) {
                (Some(size), _) => cells.saturating_mul(size),
                (None, Some((_, sizes))) => {
                    let most = sizes.iter().max().map_or(0, |size| saturating_len(*size));
                    most.saturating_add(8 * cells)
                }
                (None, None) => 0,
            };
            values.saturating_add(if field.tiles.validity.is_some() { cells } else { 0 })
        };
        // Keys and times come on top; coordinates stay where keys don't say it all, which those of several dimensions may not.
        let keys = if self.dimensions.len() == 1 { 8 } else { 16 + 8 * self.dimensions.len() };
        let times = if self.has_times() { 8 } else { 0 };
        let keys = cells.saturating_mul(keys + times);
        self.fields.iter().map(field).fold(keys, usize::saturating_add)
    }

    /// Unfilters a tile.
    pub(super) fn load(&self, array: &Array, tile: u64) -> Result<Columns> {
        let cells = self.fragment.footer().cells_in_tile(tile).unwrap_or(0);
        let limit = (array.limits().tile_bytes / 8).min(u64::from(u32::MAX));
        if cells > limit {
            return Err(self.corrupt(format!("tile {tile} has {cells} cells, more than the limit of {limit}")));
        }
        let cells = saturating_len(cells);
        let weight = self.tile_memory() as u64;
        let jobs: Vec<&Field> = self.fields.iter().collect();
        let loaded = array.workers().map(weight, jobs, |field, scratch| field.load(tile, cells, scratch))?;
        self.check_bounds(array, tile, &loaded)?;
        let coordinates = self.coordinates(array, &loaded);
        let times = match self.times {
            Some(place) => Times::Each(numbers(&loaded[place])),
            None => Times::All(self.fragment.name().start()),
        };
        let fated = self.fates.of_tile(&loaded, &times, cells);
        let mut columns = Columns { fields: loaded, coordinates, times, fated, cells };
        for (place, field) in self.fields.iter().enumerate() {
            if !field.is_kept {
                columns.fields[place] = CellBuffers::default();
            }
        }
        Ok(columns)
    }

    fn coordinates(&self, array: &Array, loaded: &[CellBuffers]) -> Vec<Coordinates> {
        let dimensions = array.schema().dimensions().iter().zip(&self.dimensions);
        let coordinates = dimensions.map(|(dimension, place)| match dimension.is_var() {
            true => {
                let mut strings = CellBuffers::default();
                strings.push(&loaded[*place].cells(1), false);
                Coordinates::Strings(strings)
            }
            false => {
                let mut keys = Vec::new();
                ordered_keys(dimension.physical(), &loaded[*place].values, &mut keys);
                Coordinates::Keys(keys)
            }
        });
        coordinates.collect()
    }

    /// Keys rely on where the metadata says that a tile lies; that isn't believed.
    fn check_bounds(&self, array: &Array, tile: u64, loaded: &[CellBuffers]) -> Result<()> {
        let bounds = self.bounds(tile)?;
        for ((dimension, place), bounds) in array.schema().dimensions().iter().zip(&self.dimensions).zip(&bounds.0) {
            let size = if dimension.is_var() { 1 } else { dimension.datatype().size() };
            let cells = loaded[*place].cells(size);
            if let Some(found) = DimRange::of_cells(&cells, dimension.kind())
                && !bounds.contains(&found)
            {
                let what = "cells outside of the ranges that its metadata says";
                return Err(self.corrupt(format!("tile {tile} has {what} along dimension {:?}", dimension.name())));
            }
        }
        Ok(())
    }

    /// The cells of a field of the new fragment in a tile of this one.
    pub(super) fn column<'a>(&self, field: usize, columns: &'a Columns) -> Column<'a> {
        match self.origins[field] {
            Origin::Field(place) => Column::Cells(&columns.fields[place]),
            Origin::Fill => Column::Fill,
            Origin::Time => Column::Number(self.fragment.name().start()),
            Origin::DeleteTime => columns.fated.as_ref().map_or(Column::Number(u64::MAX), Fated::times),
            Origin::DeleteIndex => columns.fated.as_ref().map_or(Column::Number(u64::MAX), Fated::indexes),
        }
    }

    #[cold]
    pub(super) fn corrupt(&self, what: String) -> ArrayError {
        ArrayError::Corrupt { file: self.fragment.folder().to_owned(), what }
    }
}

impl Field {
    fn load(&self, tile: u64, cells: usize, scratch: &mut TileScratch) -> Result<CellBuffers> {
        let mut buffers = CellBuffers::default();
        match self.size {
            None => self.tiles.var(tile, cells, &mut buffers, scratch)?,
            Some(size) => {
                let len = cells.checked_mul(size).filter(|len| *len as u64 <= self.tiles.tile_limit);
                let len = len.ok_or_else(|| ArrayError::Unsupported {
                    file: self.tiles.fixed.path.clone(),
                    what: format!(
                        "tile {tile} of {cells} cells of {size} bytes is above the limit; raise `tile_bytes`"
                    ),
                })?;
                buffers.values.resize(len);
                self.tiles.fixed(tile, &mut buffers.values, scratch)?;
            }
        }
        if self.tiles.validity.is_some() {
            buffers.validity.resize(cells);
            self.tiles.validity(tile, &mut buffers.validity, scratch)?;
        }
        Ok(buffers)
    }
}

/// Cells that are numbers of 64 bits.
pub(super) fn numbers(cells: &CellBuffers) -> Vec<u64> {
    let (values, _) = cells.values.as_chunks::<8>();
    values.iter().map(|value| u64::from_le_bytes(*value)).collect()
}
