//! An array in another format version, or with other tiles, orders or filters.
//!
//! Nothing of the array itself is changed: all of it goes into a new one. With its history, each fragment becomes a fragment
//! of the same time, in the same order, and schemas, deletes and metadata are copied with theirs, so that the new array reads
//! as the old one at every time. Of fragments that were joined but not vacuumed yet the original ones are copied. Without
//! history one fragment has all cells that there are at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tdb_array::tdb_schema::ArrayDefinition;
use tdb_array::{Array, CreateOptions, Fragment, Join, TimeRange};
use tdb_filters::FilterPipeline;
use tdb_rtree::NdRange;
use tdb_storage::Storage;
use tdb_types::names::{LEGACY_SCHEMA, file_name};
use tdb_types::{Feature, FormatVersion, Layout, Scalar, TimestampedName};

use crate::change::Change;
use crate::copied::Copied;
use crate::{boxes, check, copied, labels};
use tdb_job::Obstacle;
use tdb_job::settled;
use tdb_job::{MaintainError, Result};
use tdb_relocate::building::{Tree, walk};

/// How an array is to be rewritten.
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

/// A rewriting that nothing stands against: what will be done.
#[derive(Debug)]
#[must_use = "nothing is written before `into_folder` or `in_place`"]
pub struct Migration {
    /// At the time that was asked for, without history; else of all times.
    pub(crate) array: Array,
    /// All that lay in its folder before anything was read: what comes later isn't in the new array.
    pub(crate) tree: Tree,
    version: FormatVersion,
    schemas: Vec<NewSchema>,
    /// With history what is copied; else nothing.
    copied: Option<Copied>,
    /// Of a dense array without its history what is written, one fragment each.
    boxes: Vec<NdRange>,
    /// Of the arrays of dimension labels, by their paths below the array.
    pub(crate) labels: BTreeMap<String, Migration>,
    budget: usize,
}

/// A schema of the new array.
#[derive(Debug)]
struct NewSchema {
    /// The path of the one that it comes from.
    path: String,
    name: TimestampedName,
    definition: ArrayDefinition,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationReport {
    /// How many fragments.
    pub fragments: u64,
    /// How many cells they hold, overwritten and deleted ones included.
    pub cells: u64,
    /// How many schemas.
    pub schemas: u64,
    /// How many deletes of cells.
    pub deletes: u64,
    /// How many files of metadata.
    pub metadata: u64,
}

impl Migrate {
    /// Nothing is changed so far: a copy of all that counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The format version of the new array; by default that of the old one.
    pub fn to(mut self, version: FormatVersion) -> Self {
        self.change.version = Some(version);
        self
    }

    /// Another tile extent of a dimension.
    pub fn tile_extent(mut self, dimension: impl Into<String>, extent: Scalar) -> Self {
        self.change.tile_extents.push((dimension.into(), extent));
        self
    }

    /// Another number of cells per tile of a sparse array.
    pub fn capacity(mut self, cells: u64) -> Self {
        self.change.capacity = Some(cells);
        self
    }

    /// Another order of cells in tiles.
    pub fn cell_order(mut self, order: Layout) -> Self {
        self.change.cell_order = Some(order);
        self
    }

    /// Another order of tiles.
    pub fn tile_order(mut self, order: Layout) -> Self {
        self.change.tile_order = Some(order);
        self
    }

    /// Other filters of a field; those that fields share are called `__coords`, `__offsets` and `__validity`.
    pub fn filters(mut self, field: impl Into<String>, filters: FilterPipeline) -> Self {
        self.change.filters.push((field.into(), filters));
        self
    }

    /// Leaves out the history: one fragment with the cells that there are at the time at which the array is open, with the
    /// schema and the metadata of that time. Where a dense array's cells lie far from each other, each part is a fragment.
    pub fn flatten(mut self) -> Self {
        self.flatten = true;
        self
    }

    /// About how many bytes cells may take in memory on their way; by default 64 MiB. Where a sparse array gets another order
    /// of cells, tiles of a fragment that lie over each other are there at once, whatever is said here.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// What will be done. The array is opened anew; if a consolidation of its fragments was interrupted, that is finished or
    /// undone first.
    ///
    /// # Errors
    /// [`MaintainError::CannotMigrate`] with all that would be lost or can't be written, if there is any such thing;
    /// [`MaintainError::Busy`] if somebody has just joined fragments, whose cells are there twice for a moment;
    /// [`MaintainError::Unsettled`] if that was interrupted and can't be finished; whatever reading gives.
    pub fn plan(&self, array: &Array) -> Result<Migration> {
        let version = self.change.version.unwrap_or(array.schema().version());
        let time = if self.flatten { array.time() } else { TimeRange::ALL };
        // What is interrupted is seen to before it is noted what there is, and that before anything is read.
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
        let budget = self.budget.unwrap_or(Join::DEFAULT_BUDGET);
        Ok(Migration { array, tree, version, schemas, copied, boxes, labels, budget })
    }

    /// What will be done to the arrays of labels; of the changes that are asked for, the format alone is theirs too.
    fn labels(
        &self,
        array: &Array,
        version: FormatVersion,
        against: &mut Vec<Obstacle>,
    ) -> Result<BTreeMap<String, Migration>> {
        let mut labels = BTreeMap::new();
        if !version.has(Feature::DimensionLabels) {
            // That there are any stands against it already.
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
            // Those by which nothing was written are no loss.
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
        let first = first.min().unwrap_or(1);
        let mut schemas = Vec::new();
        for path in paths {
            let name = match TimestampedName::parse(file_name(&path)).filter(|_| file_name(&path) != LEGACY_SCHEMA) {
                Some(name) => name,
                // It has no time; it comes before all others.
                None => TimestampedName::new(
                    tdb_types::NameForm::Unversioned,
                    if several { 0 } else { first },
                    if several { 0 } else { first },
                    1,
                ),
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
    /// The format version of the new array.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// The fragments that are copied one by one; none if the history is left out.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.copied.as_ref().map_or(&[], |copied| &copied.fragments)
    }

    /// How many fragments will be written: those that are copied, or those with the cells of a dense array without its history, of
    /// which there are several where most of what lies between its cells was never written; of a sparse one the least number.
    #[must_use]
    pub fn fragment_count(&self) -> usize {
        match &self.copied {
            Some(copied) => copied.fragments.len(),
            None if self.array.schema().is_dense() => self.boxes.len(),
            None => 1,
        }
    }

    /// Whether the history is kept.
    #[must_use]
    pub fn keeps_history(&self) -> bool {
        self.copied.is_some()
    }

    /// What the new array's latest schema says.
    #[must_use]
    pub fn definition(&self) -> Option<&ArrayDefinition> {
        Some(&self.schemas.last()?.definition)
    }

    /// Writes the new array at the root of a storage where nothing is, and where nobody looks before it is whole: what is there
    /// after an error is for the caller to remove. Encrypted with the key of `options`.
    ///
    /// # Errors
    /// Something can't be read or written; the new array doesn't read as the old one.
    pub fn into_storage(&self, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<MigrationReport> {
        let mut report = MigrationReport::default();
        let mut by_schema: BTreeMap<&str, Vec<&Fragment>> = BTreeMap::new();
        for fragment in self.fragments() {
            by_schema.entry(&fragment.footer().header().schema_name).or_default().push(fragment);
        }
        let count = self.schemas.len();
        for (number, schema) in self.schemas.iter().enumerate() {
            let options = options.clone().names(tdb_array::Names::new().like(&schema.name));
            match number {
                0 => options.create_on(storage, &schema.definition)?,
                _ => options.add_schema_on(storage, &schema.definition)?,
            }
            report.schemas += 1;
            let new = self.open(storage, &options)?;
            let mut own = by_schema.remove(file_name(&schema.path)).unwrap_or_default();
            if number + 1 == count {
                // With one schema left, others have written nothing.
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

    /// Writes the arrays of labels into the new array, which has empty ones.
    fn write_labels(&self, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<()> {
        for (uri, migration) in &self.labels {
            // What was made with the array knows neither when its schemas were made, nor what else they say.
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
