//! Migration of an array to another format version, or to other tiles, orders or filters.
//!
//! The migration writes a new array and leaves the old one unchanged. By default, the migration
//! keeps the history. Fragments, schemas, deletes and metadata are copied with the same timestamps
//! and order. The new array then reads like the old one at every time. If fragments were
//! consolidated and not vacuumed, the original fragments are copied.
//!
//! Without history, the new array contains only the cells that are visible at the opened time,
//! usually in a single fragment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tdb_array::tdb_schema::ArrayDefinition;
use tdb_array::{Array, CreateOptions, Fragment, FragmentJoin, TimeRange};
use tdb_filters::FilterPipeline;
use tdb_rtree::NdRange;
use tdb_storage::Storage;
use tdb_types::names::{LEGACY_SCHEMA, file_name};
use tdb_types::{Feature, FormatVersion, Layout, NameForm, Scalar, TimestampedName};

use crate::change::Change;
use crate::copied::Copied;
use crate::{boxes, check, copied, labels};
use tdb_job::Obstacle;
use tdb_job::settled;
use tdb_job::{MaintainError, Result};
use tdb_relocate::building::{Tree, walk};

/// Options of a migration.
///
/// ```
/// use tdb_migrate::Migrate;
/// use tdb_array::{Array, CreateOptions};
/// use tdb_types::FormatVersion;
///
/// # let array = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
/// # let folder = tempfile::tempdir()?;
/// # let new = folder.path().join("new");
/// let array = Array::open(array)?;
/// let migration = Migrate::new().to(FormatVersion::new(4)?).plan(&array)?;
/// let report = migration.into_folder(&new, &CreateOptions::new())?;
/// assert_eq!(report.fragments, 2);
/// assert_eq!(Array::open(&new)?.schema().version().number(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Migrate {
    pub(crate) change: Change,
    flatten: bool,
    budget: Option<usize>,
}

/// A planned migration of an array. The plan has no obstacles.
#[derive(Debug)]
#[must_use = "has no effect until `into_folder` or `in_place`"]
pub struct Migration {
    /// The array at the opened time if the history is dropped, otherwise at all times.
    pub(crate) array: Array,
    /// Contents of the folder before reading. Later files are not migrated.
    pub(crate) tree: Tree,
    version: FormatVersion,
    schemas: Vec<NewSchema>,
    /// The copied history. `None` if the history is dropped.
    copied: Option<Copied>,
    /// Subarrays of a dense array without history. Each becomes a fragment.
    boxes: Vec<NdRange>,
    /// Migrations of label arrays, by path below the array.
    pub(crate) labels: BTreeMap<String, Migration>,
    budget: usize,
}

/// A schema of the new array.
#[derive(Debug)]
struct NewSchema {
    /// Path of the old schema.
    path: String,
    name: TimestampedName,
    definition: ArrayDefinition,
}

/// Result of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationReport {
    /// Number of fragments.
    pub fragments: u64,
    /// Number of cells, including overwritten and deleted cells.
    pub cells: u64,
    /// Number of schemas.
    pub schemas: u64,
    /// Number of delete commits.
    pub deletes: u64,
    /// Number of metadata files.
    pub metadata: u64,
}

impl Migrate {
    /// Creates a migration without changes: a copy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format version. The default is the version of the old array.
    pub fn to(mut self, version: FormatVersion) -> Self {
        self.change.version = Some(version);
        self
    }

    /// Sets the tile extent of a dimension.
    pub fn tile_extent(mut self, dimension: impl Into<String>, extent: Scalar) -> Self {
        self.change.tile_extents.push((dimension.into(), extent));
        self
    }

    /// Sets the capacity of a sparse array: the number of cells per tile.
    pub fn capacity(mut self, cells: u64) -> Self {
        self.change.capacity = Some(cells);
        self
    }

    /// Sets the order of cells within tiles.
    pub fn cell_order(mut self, order: Layout) -> Self {
        self.change.cell_order = Some(order);
        self
    }

    /// Sets the order of tiles.
    pub fn tile_order(mut self, order: Layout) -> Self {
        self.change.tile_order = Some(order);
        self
    }

    /// Sets the filters of a field. The names `__coords`, `__offsets` and `__validity` select
    /// shared filters.
    pub fn filters(mut self, field: impl Into<String>, filters: FilterPipeline) -> Self {
        self.change.filters.push((field.into(), filters));
        self
    }

    /// Drops the history. The new array contains only the cells, schema and metadata at the opened
    /// time, usually in one fragment. A dense array with large unwritten parts becomes several
    /// fragments, and so may a sparse array whose order changes.
    pub fn flatten(mut self) -> Self {
        self.flatten = true;
        self
    }

    /// Sets the approximate memory for cells in bytes. The default is 64 MiB.
    ///
    /// If the order of cells in a sparse array changes, overlapping tiles of a fragment are in
    /// memory together, regardless of the budget.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Plans the migration. Reopens the array, and first completes or rolls back an interrupted
    /// consolidation of fragments.
    ///
    /// # Errors
    /// - [`MaintainError::CannotMigrate`] with all obstacles.
    /// - [`MaintainError::Busy`] if another job is consolidating fragments.
    /// - [`MaintainError::Unsettled`] if an interrupted consolidation can be neither completed nor
    ///   rolled back.
    /// - Reading the array fails.
    pub fn plan(&self, array: &Array) -> Result<Migration> {
        let version = self.change.version.unwrap_or(array.schema().version());
        let time = if self.flatten { array.time() } else { TimeRange::ALL };
        // Completes interrupted consolidations, then lists the files, then reads the array. In this
        // order, a later write changes the listing and is detected.
        labels::settle(&settled(array, time)?, self.flatten, time)?;
        let tree = walk(&**array.storage())?.0;
        let array = settled(array, time)?;
        let mut against = Vec::new();
        let schemas = self.schemas(&array, version, &mut against)?;
        let copied = match self.flatten {
            true => None,
            false => Some(Copied::of(&array, version, &mut against)?),
        };
        let boxes = match schemas.last().filter(|_| self.flatten && array.schema().is_dense()) {
            Some(new) => boxes::boxes(&array, new.definition.schema(), &mut against)?,
            None => Vec::new(),
        };
        against.extend(copied::against_metadata(&array, version, self.flatten)?);
        let labels = self.labels(&array, version, &mut against)?;
        if !against.is_empty() {
            let mut seen = BTreeSet::new();
            against.retain(|obstacle| seen.insert(obstacle.to_string()));
            return Err(MaintainError::CannotMigrate { path: array.storage().describe(""), version, against });
        }
        let budget = self.budget.unwrap_or(FragmentJoin::DEFAULT_BUDGET);
        Ok(Migration { array, tree, version, schemas, copied, boxes, labels, budget })
    }

    /// Plans the migrations of label arrays. Only a change of the format version also applies to
    /// labels.
    fn labels(
        &self,
        array: &Array,
        version: FormatVersion,
        against: &mut Vec<Obstacle>,
    ) -> Result<BTreeMap<String, Migration>> {
        let mut labels = BTreeMap::new();
        if !version.has(Feature::DimensionLabels) {
            // Labels are already an obstacle.
            return Ok(labels);
        }
        let own = Self { flatten: self.flatten, budget: self.budget, ..Self::new().to(version) };
        for (uri, (name, array)) in labels::arrays(array, self.flatten)? {
            match own.plan(&array) {
                Ok(migration) => drop(labels.insert(uri, migration)),
                Err(MaintainError::CannotMigrate { against: found, .. }) => {
                    let of_label = |obstacle| Obstacle::Label { label: name.clone(), why: Box::new(obstacle) };
                    against.extend(found.into_iter().map(of_label));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(labels)
    }

    fn schemas(&self, array: &Array, version: FormatVersion, against: &mut Vec<Obstacle>) -> Result<Vec<NewSchema>> {
        let mut paths: Vec<String> = match self.flatten {
            true => vec![array.schema_path().to_owned()],
            false => array.schema_paths().to_vec(),
        };
        if paths.len() > 1 && !version.has(Feature::SchemaFolder) {
            // Unused schemas can be dropped.
            let mut used: BTreeSet<&str> =
                array.fragments()?.iter().map(|f| f.footer().header().schema_name.as_str()).collect();
            used.insert(file_name(array.schema_path()));
            if used.len() > 1 {
                against.push(Obstacle::Schemas(used.len()));
            }
            paths = vec![array.schema_path().to_owned()];
        }
        let several = paths.len() > 1;
        let first =
            array.directory().fragments.iter().chain(&array.directory().replaced).map(|entry| entry.name.start());
        let first = if several { 0 } else { first.min().unwrap_or(1) };
        let mut schemas = Vec::new();
        for path in paths {
            let name = match TimestampedName::parse(file_name(&path)).filter(|_| file_name(&path) != LEGACY_SCHEMA) {
                Some(name) => name,
                // A schema without timestamp comes first.
                None => TimestampedName::new(NameForm::Unversioned, first, first, 1),
            };
            match self.change.apply(&array.by_schema(&path)?.definition()?) {
                Ok(definition) => schemas.push(NewSchema { path, name, definition }),
                Err(found) => against.extend(found),
            }
        }
        Ok(schemas)
    }
}

impl Migration {
    /// Returns the format version of the new array.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// Returns the fragments to copy. Empty if the history is dropped.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.copied.as_ref().map_or(&[], |copied| &copied.fragments)
    }

    /// Returns the number of fragments to write. For a sparse array without history, the number is
    /// an estimate.
    ///
    /// For a dense array without history, each subarray becomes one fragment.
    #[must_use]
    pub fn fragment_count(&self) -> usize {
        match &self.copied {
            Some(copied) => copied.fragments.len(),
            None if self.array.schema().is_dense() => self.boxes.len(),
            None => 1,
        }
    }

    /// Returns `true` if the history is kept.
    #[must_use]
    pub fn keeps_history(&self) -> bool {
        self.copied.is_some()
    }

    /// Returns the definition of the latest schema of the new array. The result is always `Some`,
    /// because each array has a schema.
    #[must_use]
    pub fn definition(&self) -> Option<&ArrayDefinition> {
        Some(&self.schemas.last()?.definition)
    }

    /// Writes the new array into an empty storage, encrypted with the key of `options`. The caller
    /// must keep readers away until completion, and delete the files after an error.
    ///
    /// # Errors
    /// Reading or writing fails, or the new array differs from the old one.
    pub fn into_storage(&self, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<MigrationReport> {
        let mut report = MigrationReport::default();
        let mut by_schema: BTreeMap<&str, Vec<&Fragment>> = BTreeMap::new();
        for fragment in self.fragments() {
            by_schema.entry(&fragment.footer().header().schema_name).or_default().push(fragment);
        }
        let count = self.schemas.len();
        for (number, schema) in self.schemas.iter().enumerate() {
            let options = options.clone().ids(tdb_array::WriteIds::new().like(&schema.name));
            match number {
                0 => options.create_on(storage, &schema.definition)?,
                _ => options.add_schema_on(storage, &schema.definition)?,
            }
            report.schemas += 1;
            let new = self.open(storage, &options)?;
            let mut own = by_schema.remove(file_name(&schema.path)).unwrap_or_default();
            if number + 1 == count {
                // The last schema also gets the fragments whose schema is not copied.
                own.extend(std::mem::take(&mut by_schema).into_values().flatten());
                own.sort_by(|a, b| a.name().cmp(b.name()));
            }
            for fragment in own {
                let copy = new.copy_fragment(&self.array, fragment)?.budget(self.budget).version(self.version);
                let dated = copied::new_date(fragment, self.version);
                let written = dated.map_or(copy.clone(), |time| copy.dated(time)).write()?;
                report.fragments += written.fragments.len() as u64;
                report.cells += written.cells;
            }
        }
        let new = self.open(storage, options)?;
        match &self.copied {
            Some(copied) => {
                for path in &copied.deletes {
                    new.copy_delete(&self.array, path)?;
                    report.deletes += 1;
                }
                report.metadata = copied::metadata(&self.array, &new)?;
            }
            None => {
                let written = copied::flattened(&self.array, &new, &self.boxes, (self.version, self.budget))?;
                report.fragments += written.fragments.len() as u64;
                report.cells += written.cells;
                report.metadata = copied::flattened_metadata(&self.array, &new)?;
            }
        }
        self.write_labels(storage, options)?;
        check::reads_as(&self.array, &self.open(storage, options)?, self.budget)?;
        Ok(report)
    }

    /// Replaces the empty label arrays of the new array.
    fn write_labels(&self, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<()> {
        for (uri, migration) in &self.labels {
            // The empty label array lacks the timestamps and contents of the old schemas.
            if storage.exists(uri)? {
                storage.remove_folder(uri)?;
            }
            storage.create_folder(uri)?;
            migration.into_storage(&storage.sub(uri)?, options)?;
        }
        Ok(())
    }

    fn open(&self, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<Array> {
        Ok(options.array_options().between(TimeRange::ALL).open_on(storage.clone())?)
    }
}
