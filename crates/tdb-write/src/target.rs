//! Where cells go: which version, which filters, which files.

use std::sync::Arc;

use tdb_cells::TileScratch;
use tdb_fragment::FragmentField;
use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Environment, Result, Snapshot};
use tdb_types::FormatVersion;
use tdb_types::names::file_name;

use crate::check::stored_fields;
use crate::combined::CombinedCoordinates;
use crate::encoder::{EncodedTile, FieldEncoder};
use crate::version::chosen_version;

/// What is the same for all cells of one write.
#[derive(Debug)]
pub struct Target {
    /// The array that is written to.
    pub array: Snapshot,
    /// The schema of new fragments.
    pub schema: Arc<ArraySchema>,
    /// The version of new fragments.
    pub version: FormatVersion,
    /// One per stored field.
    pub fields: Vec<FieldEncoder>,
    /// How the coordinates of all dimensions become one file, before format 5.
    pub(crate) combined: Option<CombinedCoordinates>,
}

impl Target {
    /// For new fragments of this version, or else of the one that the reference library would take.
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

    /// The same for fragments whose cells carry their times, or also when and by what they were deleted.
    pub fn with_cell_times(mut self, times: bool, deletes: bool) -> Result<Self> {
        let deletes = deletes.then_some([FragmentField::DeleteTimestamps, FragmentField::DeleteConditionIndex]);
        for field in times.then_some(FragmentField::Timestamps).into_iter().chain(deletes.into_iter().flatten()) {
            self.fields.push(FieldEncoder::of_times(&self.array, &self.schema, self.version, field)?);
        }
        Ok(self)
    }

    /// What the fragment calls the field at this place, whose file it is; nothing if another field's file holds its cells.
    pub(crate) fn stored_as(&self, place: usize) -> Option<FragmentField> {
        let field = self.fields.get(place)?.field;
        self.combined.as_ref().map_or(Some(field), |combined| combined.stored_as(place, field))
    }

    /// The name of the schema's file.
    pub fn schema_name(&self) -> &str {
        file_name(self.array.schema_path())
    }

    /// Where the time and random bytes come from.
    pub fn environment(&self) -> &Environment {
        &self.array.access().environment
    }

    /// Bytes of a cell of each field that has a fixed size, validity included, and some for those that haven't.
    pub fn cell_size(&self) -> usize {
        self.fields
            .iter()
            .map(|field| field.size + if field.is_var() { 8 } else { 0 } + usize::from(field.nullable))
            .sum()
    }

    /// For each field each of the tiles, which together hold about `bytes` bytes, as `encode` makes it of the field's
    /// number and the tile.
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
