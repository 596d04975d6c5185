//! Consolidation of commits, footers and metadata.

mod commits;
mod footers;
mod metadata;

use tdb_array::{TimeRange, WriteIds};
use tdb_job::{Result, Target};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER, SCHEMA_FOLDER};

use crate::draft::Draft;
use crate::plan::{Job, Plan};
use crate::step::Planned;

/// Consolidation of commit, footer and metadata files. Each function creates one kind of
/// consolidation.
///
/// Consolidation only adds files. The superseded files remain until a [`Vacuum`](crate::Vacuum)
/// deletes them.
///
/// ```
/// use tdb_maintain::{Consolidate, Vacuum};
/// # use tdb_array::Array;
/// # use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// # use tdb_types::Datatype;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// # let rows = Dimension::new("row", 1i32..=100);
/// # let schema = SchemaBuilder::sparse().dimension(rows).attribute(Attribute::new("a", Datatype::Int32)).build()?;
/// # Array::create(&path, schema)?;
/// # for row in 1..=3 {
/// #     Array::open(&path)?.write().cells([("row", &[row]), ("a", &[row])])?;
/// # }
///
/// let array = Array::open(&path)?; // three writes
/// let plan = Consolidate::commits().plan(&array)?;
/// print!("{plan}"); // write __commits/__….con: consolidated commits, … bytes, for 3
/// plan.run()?;
/// let report = Vacuum::commits().plan(&array)?.run()?;
/// assert_eq!(report.steps.len(), 3); // three files fewer
/// assert_eq!(Array::open(&path)?.fragments()?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Consolidate;

impl Consolidate {
    /// Consolidates the commits of all writes and deletes into one file.
    ///
    /// Supports arrays from format 12 on. Also supports arrays before format 7, because their new
    /// files have the current format.
    pub fn commits() -> Consolidation {
        Consolidation::new(Kind::Commits)
    }

    /// Consolidates the footers of all visible fragments into one file. Readers then read all
    /// footers from this file.
    pub fn footers() -> Consolidation {
        Consolidation::new(Kind::Footers)
    }

    /// Consolidates the metadata of an array or group into one file.
    pub fn metadata() -> Consolidation {
        Consolidation::new(Kind::Metadata)
    }
}

/// A consolidation of commit, footer or metadata files, with options. [`plan`](Self::plan) previews
/// the steps.
#[derive(Clone, Debug)]
#[must_use = "has no effect until a plan runs"]
pub struct Consolidation {
    kind: Kind,
    names: WriteIds,
    time: Option<TimeRange>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Commits,
    Footers,
    Metadata,
}

impl Consolidation {
    fn new(kind: Kind) -> Self {
        Self { kind, names: WriteIds::new(), time: None }
    }

    /// Sets the source of the unique part of the new file's name. The timestamps in the name are
    /// always the time range of the superseded files.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Restricts a consolidation of metadata to files written within a time range. The default is
    /// the time range at which the array or group was opened. Has no effect on commits and footers.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// Plans the consolidation of an array or a group. Groups have only metadata.
    ///
    /// # Errors
    /// The format does not support files of this kind, the storage cannot provide the required
    /// URIs, or a file cannot be read. [`MaintainError::Between`](tdb_job::MaintainError::Between)
    /// if another metadata file was written between the metadata files to consolidate, but its time
    /// range extends beyond the requested time range.
    pub fn plan(&self, target: impl Into<Target>) -> Result<Plan> {
        Plan::new(target.into(), vec![Box::new(self.clone())])
    }
}

impl Job for Consolidation {
    fn folders(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Commits => &["", COMMITS_FOLDER],
            Kind::Footers => &["", SCHEMA_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER],
            Kind::Metadata => &[METADATA_FOLDER],
        }
    }

    fn draft(&self, target: &Target) -> Result<Draft> {
        match (self.kind, target) {
            (Kind::Metadata, _) => metadata::draft(target, &self.names, self.time.unwrap_or_else(|| target.time())),
            (Kind::Commits, Target::Array(array)) => commits::draft(array, &self.names),
            (Kind::Footers, Target::Array(array)) => footers::draft(array, &self.names),
            // Groups have only metadata.
            (_, Target::Group(_)) => Ok(Draft::default()),
        }
    }

    fn settle(&self, target: &Target, done: &Draft) -> Result<Option<Planned>> {
        match (self.kind, target) {
            (Kind::Commits, Target::Array(array)) => commits::settle(array, &self.names, done),
            _ => Ok(None),
        }
    }
}
