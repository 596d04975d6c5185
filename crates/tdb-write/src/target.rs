//! The destination of a write: format version, filters and files.

use std::sync::Arc;

use tdb_cells::TileScratch;
use tdb_fragment::{DenseGrid, FragmentBuilder, FragmentField, Tiles};
use tdb_rtree::NdRange;
use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Environment, Result, Snapshot};
use tdb_types::FormatVersion;
use tdb_types::names::file_name;

use crate::check::stored_fields;
use crate::combined::CombinedCoordinates;
use crate::encoder::{EncodedTile, FieldEncoder};
use crate::version::chosen_version;

/// Properties shared by all cells of a write.
#[derive(Debug)]
pub struct Target {
    /// The array to write to.
    pub array: Snapshot,
    /// Schema of new fragments.
    pub schema: Arc<ArraySchema>,
    /// Format version of new fragments.
    pub version: FormatVersion,
    /// Encoder of each stored field.
    pub fields: Vec<FieldEncoder>,
    /// Combines the coordinates of all dimensions into one file. `None` from format 5 on, and for
    /// dense arrays.
    pub(crate) combined: Option<CombinedCoordinates>,
}

impl Target {
    /// Prepares a write of fragments of `version`. The default is the version that the reference
    /// library would choose.
    ///
    /// # Errors
    /// See [`chosen_version`]. Also fails if a filter does not fit its field, or if a dense tile
    /// exceeds the limit `tile_bytes`.
    pub fn new(array: &Snapshot, version: Option<FormatVersion>) -> Result<Self> {
        let schema = Arc::clone(array.schema());
        let version = chosen_version(&schema, version)?;
        let fields = stored_fields(&schema).map(|stored| FieldEncoder::new(array, &schema, version, &stored));
        let fields: Vec<FieldEncoder> = fields.collect::<Result<_>>()?;
        if schema.is_dense() {
            let cells = schema.cells_per_tile().map_err(|error| ArrayError::Write(error.to_string()))?;
            fields.iter().try_for_each(|field| field.check_dense_tile(cells))?;
        }
        let combined = CombinedCoordinates::new(array, &schema, version)?;
        Ok(Self { fields, array: array.clone(), schema, version, combined })
    }

    /// Adds a field for the timestamps of cells if `times`, and fields for the time and condition
    /// of their deletion if `deletes`.
    ///
    /// # Errors
    /// The filters do not fit the fields.
    pub fn with_cell_times(mut self, times: bool, deletes: bool) -> Result<Self> {
        let deletes = deletes.then_some([FragmentField::DeleteTimestamps, FragmentField::DeleteConditionIndex]);
        for field in times.then_some(FragmentField::Timestamps).into_iter().chain(deletes.into_iter().flatten()) {
            self.fields.push(FieldEncoder::of_times(&self.array, &self.schema, self.version, field)?);
        }
        Ok(self)
    }

    /// Returns the grid of tiles of a dense fragment with this domain.
    ///
    /// # Errors
    /// The array is sparse, or the domain is outside of the array's domain.
    pub fn dense_grid(&self, domain: &NdRange) -> Result<DenseGrid> {
        let builder = FragmentBuilder::dense(self.version, &self.schema, self.schema_name(), domain.clone());
        let tiles = builder.and_then(|builder| builder.tiles());
        let file = || self.array.storage().describe("");
        match tiles.map_err(|source| ArrayError::Fragment { file: file(), source })? {
            Tiles::Dense(grid) => Ok(grid),
            _ => Err(ArrayError::Write("expected a dense array, found a sparse array".to_owned())),
        }
    }

    /// Returns the name under which the fragment stores the field at this index. Returns `None` if
    /// the file of another field includes this field.
    pub(crate) fn stored_as(&self, place: usize) -> Option<FragmentField> {
        let field = self.fields.get(place)?.field;
        self.combined.as_ref().map_or(Some(field), |combined| combined.stored_as(place, field))
    }

    /// Returns the name of the schema file.
    pub fn schema_name(&self) -> &str {
        file_name(self.array.schema_path())
    }

    /// Returns the source of time and random bytes.
    pub fn environment(&self) -> &Environment {
        &self.array.access().environment
    }

    /// Returns the total bytes per cell of all fields, including validity. For a variable-length
    /// field, assumes one offset and one value per cell.
    pub fn cell_size(&self) -> usize {
        self.fields
            .iter()
            .map(|field| field.size + if field.is_var() { 8 } else { 0 } + usize::from(field.nullable))
            .sum()
    }

    /// Encodes the tiles of each field with `encode`, which receives the index of the field and the
    /// tile. `bytes` is the approximate total size of the tiles.
    ///
    /// # Errors
    /// An error of `encode`, or a cancellation.
    pub fn encode_tiles<T: Sync>(
        &self,
        bytes: u64,
        tiles: &[T],
        encode: impl Fn(usize, &T, &mut TileScratch) -> Result<EncodedTile> + Send + Sync,
    ) -> Result<Vec<Vec<EncodedTile>>> {
        let jobs: Vec<(usize, &T)> =
            (0..self.fields.len()).flat_map(|field| tiles.iter().map(move |tile| (field, tile))).collect();
        let job = |(field, tile): (usize, &T), scratch: &mut TileScratch| encode(field, tile, scratch);
        let mut encoded = self.array.workers().map(bytes, jobs, job)?.into_iter();
        Ok(self.fields.iter().map(|_| encoded.by_ref().take(tiles.len()).collect()).collect())
    }
}
