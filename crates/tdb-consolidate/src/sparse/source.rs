//! A fragment to merge. Its tiles are unfiltered one by one.

use std::sync::{Arc, OnceLock};

use tdb_cells::order::by_writers::may_differ;
use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::{CellBuffers, TileScratch};
use tdb_fragment::FragmentField;
use tdb_rtree::{DimRange, NdRange, RTree};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot};
use tdb_types::{Feature, PhysicalType, ordered_keys, saturating_len};
use tdb_write::Target;

use super::columns::{Column, Columns, Fated, Times, numbers};
use super::fates::{Fates, Numbers};
use super::fields::{Field, Fields};
use crate::copied::CopiedField;

/// A fragment and its fields to read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) fragment: Fragment,
    rtree: Arc<RTree>,
    fields: Vec<Field>,
    /// Origin of each field of the new fragment.
    origins: Vec<Origin>,
    /// For each field of the new fragment, the field to copy in filtered form. `None` if the field
    /// must be encoded.
    copied: Vec<Option<CopiedField>>,
    dimensions: Vec<usize>,
    /// Index of the timestamps field, if stored.
    times: Option<usize>,
    /// Timestamp of all cells, used if the fragment stores no timestamps.
    time: u64,
    /// Estimated memory of the largest tile in bytes.
    pub(super) tile_memory: usize,
    fates: Fates,
}

/// The origin of a field's cells.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// The field with this index.
    Field(usize),
    /// The fill value, because the fragment lacks the field.
    Fill,
    /// The timestamp of the fragment for all cells.
    Time,
    DeleteTime,
    DeleteIndex,
}

impl Source {
    /// Selects the fields to read. `conditions` holds the conditions of the new fragment.
    pub(super) fn new(array: &Snapshot, target: &Target, fragment: &Fragment, conditions: &Numbers) -> Result<Self> {
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
                (Some(tiles), _) => Origin::Field(fields.kept(tiles, size)),
                (None, FragmentField::Timestamps) => Origin::Time,
                (None, FragmentField::DeleteTimestamps) => Origin::DeleteTime,
                (None, FragmentField::DeleteConditionIndex) => Origin::DeleteIndex,
                (None, _) => Origin::Fill,
            });
        }
        let mut dimensions = Vec::with_capacity(schema.dim_count());
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let size = (!dimension.is_var()).then(|| dimension.datatype().size());
            dimensions.push(fields.first(fragment.tiles_of(FragmentField::Dimension(index))?, size));
        }
        let times = match header.has_timestamps {
            true => Some(fields.first(fragment.tiles_of(FragmentField::Timestamps)?, Some(size_of::<u64>()))),
            false => None,
        };
        let fates = Fates::of(array, fragment, conditions, &mut fields)?;
        let rtree = fragment.rtree()?;
        let copied = target.fields.iter().map(|_| None).collect();
        // If a fragment has no timestamps of cells, readers that open the array at a time before
        // the end of its time range see none of its cells. If the new fragment stores no timestamps
        // either, this time only orders versions. The start of the time range then decides.
        let is_dated = target.version.has(Feature::PartialTimeOverlap);
        let time = if is_dated { fragment.name().end() } else { fragment.name().start() };
        let tile_memory = tile_memory(fragment, &fields.0, dimensions.len(), times.is_some());
        let fragment = fragment.clone();
        Ok(Self { fragment, rtree, fields: fields.0, origins, copied, dimensions, times, time, tile_memory, fates })
    }

    /// Prepares copies in filtered form if the first tile of the fragment has the capacity of the
    /// new fragment.
    pub(super) fn with_copies(mut self, target: &Target) -> Result<Self> {
        if self.fragment.footer().cells_in_tile(0) == Some(target.schema.capacity()) {
            let copied = target.fields.iter().map(|encoder| CopiedField::new(&self.fragment, target, encoder));
            self.copied = copied.collect::<Result<_>>()?;
        }
        Ok(self)
    }

    /// Returns `true` if the fragment has a format version whose writers may have stored cells in
    /// another order.
    pub(super) fn is_stored_otherwise(&self, array: &Snapshot) -> bool {
        let version = self.fragment.version();
        may_differ(array.schema(), version) || self.times.is_some() && version.has(Feature::UnorderedVersions)
    }

    /// Returns `true` if the fragment stores a timestamp per cell.
    pub(super) fn has_times(&self) -> bool {
        self.times.is_some()
    }

    /// Returns the number of tiles.
    pub(super) fn tile_count(&self) -> u64 {
        self.fragment.tile_count()
    }

    /// Returns the MBR of a tile.
    pub(super) fn bounds(&self, tile: u64) -> Result<NdRange> {
        self.rtree.bounds(tile).ok_or_else(|| self.corrupt(format!("tile {tile} is missing in the R-tree")))
    }

    /// Returns the number of data files.
    pub(super) fn files(&self) -> usize {
        let parts =
            |field: &Field| 1 + usize::from(field.tiles.var.is_some()) + usize::from(field.tiles.validity.is_some());
        self.fields.iter().map(parts).sum()
    }

    /// Estimates the memory of a tile in bytes.
    pub(super) fn memory_of(&self, tile: u64) -> usize {
        let cells = self.fragment.footer().cells_in_tile(tile).map_or(0, saturating_len);
        let keys = memory_of_keys(cells, self.dimensions.len(), self.has_times());
        self.fields.iter().map(|field| field.memory(tile, cells)).fold(keys, usize::saturating_add)
    }

    /// Unfilters the fields that determine the order and deletion of a tile's cells, or all fields
    /// if `all` is `true`.
    pub(super) fn load(&self, array: &Snapshot, tile: u64, all: bool) -> Result<Columns> {
        let cells = self.fragment.footer().cells_in_tile(tile).unwrap_or(0);
        let limit = (array.limits().tile_bytes / 8).min(u64::from(u32::MAX));
        if cells > limit {
            return Err(self.corrupt(format!("tile {tile} of {cells} cells exceeds the limit of {limit} cells")));
        }
        let cells = saturating_len(cells);
        let (now, missing): (Vec<usize>, Vec<usize>) =
            (0..self.fields.len()).partition(|place| all || self.fields[*place].is_first);
        let memory =
            |places: &[usize]| places.iter().map(|place| self.fields[*place].memory(tile, cells)).sum::<usize>();
        let (weight, missing_bytes) = (memory(&now) as u64, memory(&missing));
        let read =
            array.workers().map(weight, now.clone(), |place, scratch| self.field(place, tile, cells, scratch))?;
        let mut fields: Vec<CellBuffers> = self.fields.iter().map(|_| CellBuffers::default()).collect();
        now.into_iter().zip(read).for_each(|(place, cells)| fields[place] = cells);
        let coordinates = self.coordinates(array, &fields);
        self.check_bounds(array, tile, (&fields, &coordinates))?;
        let times = match self.times {
            Some(place) => Times::Each(numbers(&fields[place])),
            None => Times::All(self.time),
        };
        let fated = self.fates.of_tile(&fields, &times, cells);
        for (place, _) in self.fields.iter().enumerate().filter(|(_, field)| !field.is_kept) {
            fields[place] = CellBuffers::default();
        }
        let fields = fields.into_iter().enumerate();
        let fields = fields.map(|(place, cells)| match missing.contains(&place) {
            true => OnceLock::new(),
            false => OnceLock::from(cells),
        });
        let fields = fields.collect();
        Ok(Columns { fields, missing, missing_bytes, coordinates, times, fated, cells })
    }

    /// Unfilters a tile of the field with this index.
    pub(super) fn field(
        &self,
        place: usize,
        tile: u64,
        cells: usize,
        scratch: &mut TileScratch,
    ) -> Result<CellBuffers> {
        self.fields[place].load(tile, cells, scratch)
    }

    /// Estimates the memory of a tile of the field with this index, in bytes.
    pub(super) fn field_memory(&self, place: usize, tile: u64, cells: usize) -> usize {
        self.fields[place].memory(tile, cells)
    }

    /// Returns the index of the source field for a field of the new fragment. Returns `None` if the
    /// source does not store the field.
    pub(super) fn place_of(&self, field: usize) -> Option<usize> {
        match self.origins[field] {
            Origin::Field(place) => Some(place),
            _ => None,
        }
    }

    /// Returns the field to copy in filtered form, or `None` if the field must be encoded.
    pub(super) fn copied(&self, field: usize) -> Option<&CopiedField> {
        self.copied[field].as_ref()
    }

    fn coordinates(&self, array: &Snapshot, loaded: &[CellBuffers]) -> Vec<Coordinates> {
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

    /// Checks the cells against the MBR in the metadata, because sort keys depend on the MBR.
    fn check_bounds(
        &self,
        array: &Snapshot,
        tile: u64,
        (loaded, coordinates): (&[CellBuffers], &[Coordinates]),
    ) -> Result<()> {
        let bounds = self.bounds(tile)?;
        let dimensions = array.schema().dimensions().iter().zip(&self.dimensions).zip(coordinates);
        for (((dimension, place), coordinates), bounds) in dimensions.zip(&bounds.0) {
            let is_float = matches!(dimension.physical(), PhysicalType::F32 | PhysicalType::F64);
            let found = match coordinates {
                Coordinates::Keys(keys) if !is_float => {
                    let (lo, hi) = keys.iter().fold((u64::MAX, 0), |(lo, hi), key| (lo.min(*key), hi.max(*key)));
                    (!keys.is_empty()).then_some(DimRange::Fixed { lo, hi })
                }
                _ => {
                    let size = if dimension.is_var() { 1 } else { dimension.datatype().size() };
                    DimRange::of_cells(&loaded[*place].cells(size), dimension.kind())
                }
            };
            if found.is_some_and(|found| !bounds.contains(&found)) {
                let what = "cells outside of the range in the metadata";
                return Err(self.corrupt(format!("tile {tile} has {what} along dimension {:?}", dimension.name())));
            }
        }
        Ok(())
    }

    /// Returns the cells of a field of the new fragment.
    pub(super) fn column<'a>(&self, field: usize, columns: &'a Columns) -> Column<'a> {
        match self.origins[field] {
            // A field that is not loaded is not written, so its value does not matter.
            Origin::Field(place) => columns.fields[place].get().map_or(Column::Fill, Column::Cells),
            Origin::Fill => Column::Fill,
            Origin::Time => Column::Number(self.time),
            Origin::DeleteTime => columns.fated.as_ref().map_or(Column::Number(u64::MAX), Fated::times),
            Origin::DeleteIndex => columns.fated.as_ref().map_or(Column::Number(u64::MAX), Fated::indexes),
        }
    }

    #[cold]
    pub(super) fn corrupt(&self, what: String) -> ArrayError {
        ArrayError::Corrupt { file: self.fragment.folder().to_owned(), what }
    }
}

/// Estimates the memory of a fragment's largest tile in bytes.
fn tile_memory(fragment: &Fragment, fields: &[Field], dimensions: usize, has_times: bool) -> usize {
    let cells = fragment.footer().cells_in_tile(0).map_or(0, saturating_len);
    let largest = |field: &Field| {
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
    let keys = memory_of_keys(cells, dimensions, has_times);
    fields.iter().map(largest).fold(keys, usize::saturating_add)
}

/// Returns the bytes of a tile in addition to its fields: keys, timestamps and coordinates. With a
/// single dimension, the keys suffice without coordinates.
fn memory_of_keys(cells: usize, dimensions: usize, has_times: bool) -> usize {
    let keys = if dimensions == 1 { 8 } else { 16 + 8 * dimensions };
    cells.saturating_mul(keys + if has_times { 8 } else { 0 })
}
