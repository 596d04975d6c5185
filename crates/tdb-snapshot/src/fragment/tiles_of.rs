//! The stored tiles of a field, read individually.

use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_fragment::{FragmentField, NameScheme, Part};
use tdb_types::{Cells, Feature};

use super::Fragment;
use crate::tiles::{FieldTiles, tile_len};
use crate::{ArrayError, Result};

/// The tiles of a fragment's field, as stored. Includes cells outside of the non-empty domain,
/// deleted cells, and cells hidden by newer cells.
///
/// ```
/// use tdb_fragment::FragmentField;
/// use tdb_cells::Monitor;
/// use tdb_snapshot::Snapshot;
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
/// let array = Snapshot::open(folder)?;
/// let workers = array.tile_workers(&Monitor::new());
/// let fragment = &array.fragments()?[0];
/// let tiles = fragment.stored_tiles(FragmentField::Attribute(0))?;
/// let counted = workers.map(tiles.bytes(), (0..tiles.len()).collect(), |tile, reader| Ok(tiles.read(tile, reader)?.len()))?;
/// assert_eq!(counted.iter().map(|cells| *cells as u64).sum::<u64>(), fragment.footer().tiles().cell_count());
/// # Ok::<(), tdb_snapshot::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredTiles {
    fragment: Fragment,
    tiles: Arc<FieldTiles>,
    /// The size of a cell in bytes. `None` for variable-length cells.
    size: Option<usize>,
    bytes: u64,
}

/// Per-thread memory for reading tiles, reused from tile to tile.
#[derive(Debug)]
pub struct TileReader<'a> {
    scratch: &'a mut TileScratch,
}

/// The cells of a tile, in reusable memory.
#[derive(Clone, Debug, Default)]
pub struct TileCells {
    buffers: CellBuffers,
    size: Option<usize>,
}

impl TileCells {
    /// Returns a view of the cells.
    #[must_use]
    pub fn cells(&self) -> Cells<'_> {
        self.buffers.cells(self.size.unwrap_or(1))
    }
}

impl<'a> TileReader<'a> {
    pub(crate) fn new(scratch: &'a mut TileScratch) -> Self {
        Self { scratch }
    }
}

impl Fragment {
    /// Returns the tiles of one of the fragment's own fields. Dimensions of a dense fragment have
    /// no tiles.
    ///
    /// # Errors
    /// The fragment does not have the field, data files are missing or too short, or the tile
    /// offsets cannot be read.
    pub fn stored_tiles(&self, field: FragmentField) -> Result<StoredTiles> {
        let combined = self.version().has(Feature::CombinedCoordinates) && matches!(field, FragmentField::Dimension(_));
        let stored = if combined { FragmentField::Coordinates } else { field };
        if self.footer().slot(stored).is_none() {
            return Err(self.error(tdb_fragment::FragmentError::NoSuchField { field }));
        }
        let tiles = self.load_tiles(field)?;
        let bytes = self.files_of(stored).into_iter().map(|(_, _, size)| size).fold(0, u64::saturating_add);
        let size = self.cell_size(field);
        Ok(StoredTiles { fragment: self.clone(), tiles: Arc::new(tiles), size, bytes })
    }

    /// Returns the data files of a field as the metadata states: the part, the path below the
    /// array's folder, and the size in bytes.
    #[must_use]
    pub fn files_of(&self, field: FragmentField) -> Vec<(Part, String, u64)> {
        let scheme = NameScheme::of(self.version());
        let file = |part| {
            let size = self.footer().file_size(field, part).filter(|size| *size > 0)?;
            let name = scheme.data_file(self.schema(), field, part).ok()?;
            Some((part, format!("{}/{name}", self.folder()), size))
        };
        Part::ALL.into_iter().filter_map(file).collect()
    }
}

impl StoredTiles {
    /// Returns the name of the field.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.tiles.name
    }

    /// Returns the number of tiles.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.fragment.tile_count()
    }

    /// Returns `true` if there are no tiles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the total size of the field's data files in bytes. Combined coordinates share a
    /// file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the full path of the file with the fixed-size cells, or with the offsets of
    /// variable-length cells.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.tiles.fixed.path
    }

    /// Unfilters a tile. The cells stay in the reader until the next tile is read.
    ///
    /// # Errors
    /// The tile does not exist, cannot be read or unfiltered, or exceeds the limits.
    pub fn read<'r>(&self, tile: u64, reader: &'r mut TileReader<'_>) -> Result<Cells<'r>> {
        let mut buffers = std::mem::take(&mut reader.scratch.cells);
        let filled = self.fill(tile, &mut buffers, reader.scratch);
        reader.scratch.cells = buffers;
        filled?;
        Ok(reader.scratch.cells.cells(self.size.unwrap_or(1)))
    }

    /// Unfilters a tile into memory of the caller.
    ///
    /// # Errors
    /// The same as [`read`](Self::read).
    pub fn read_into(&self, tile: u64, cells: &mut TileCells, reader: &mut TileReader<'_>) -> Result<()> {
        cells.size = self.size;
        self.fill(tile, &mut cells.buffers, reader.scratch)
    }

    fn fill(&self, tile: u64, out: &mut CellBuffers, scratch: &mut TileScratch) -> Result<()> {
        out.clear();
        let tiles = &*self.tiles;
        let Some(cells) = self.fragment.footer().cells_in_tile(tile) else {
            return Err(ArrayError::Corrupt {
                file: tiles.fixed.path.clone(),
                what: format!("tile {tile} does not exist"),
            });
        };
        let len = |what, bytes| {
            tile_len(what, bytes, tiles.tile_limit).map_err(|source| tiles.fixed.error(tile, &tiles.name, source))
        };
        match self.size {
            Some(size) => {
                out.values.resize(len("the tile", cells.saturating_mul(size as u64))?);
                tiles.fixed(tile, &mut out.values, scratch)?;
            }
            None => tiles.var(tile, len("the cells of the tile", cells)?, out, scratch)?,
        }
        if tiles.validity.is_some() {
            out.validity.resize(len("the validity of the tile", cells)?);
            tiles.validity(tile, &mut out.validity, scratch)?;
        }
        Ok(())
    }
}
