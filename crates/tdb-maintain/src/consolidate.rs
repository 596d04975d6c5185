//! Joining small files.

mod commits;
mod footers;
mod metadata;

use tdb_array::{Names, TimeRange};
use tdb_job::{Result, Target};

use crate::draft::Draft;
use crate::plan::{Job, Plan};
use crate::step::Planned;

/// What may be joined: each function starts one kind of consolidation.
///
/// Consolidation only adds files; what they stand for remains until a [`Vacuum`](crate::Vacuum) removes it.
///
/// ```
/// use tdb_maintain::{Consolidate, Vacuum};
/// # use tdb_array::Array;
/// # use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
/// # use tdb_types::{Datatype, Scalar};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// # let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(1), Scalar::I32(100));
/// # let schema = SchemaBuilder::sparse().dimension(rows).attribute(Attribute::new("a", Datatype::Int32)).build()?;
/// # Array::create(&path, &ArrayDefinition::new(schema)?)?;
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
    /// The commits of all writes and deletes into one file, in arrays of format 12 and later and in those of before 7, which
    /// take what is of today's format.
    pub fn commits() -> Consolidation {
        Consolidation::new(Kind::Commits)
    }

    /// The footers of all fragments that count into one file, so that opening them takes one read.
    pub fn footers() -> Consolidation {
        Consolidation::new(Kind::Footers)
    }

    /// The metadata of an array or group into one file.
    pub fn metadata() -> Consolidation {
        Consolidation::new(Kind::Metadata)
    }
}

/// A consolidation of small files, with its options: [`plan`](Self::plan) says what it would do.
#[derive(Clone, Debug)]
#[must_use = "nothing is done before a plan runs"]
pub struct Consolidation {
    kind: Kind,
    names: Names,
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
        Self { kind, names: Names::new(), time: None }
    }

    /// What makes the name of the new file unique. Its times are those of what it stands for, whatever the names say.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Only what was written within a range of time; of metadata alone, for the others no time is lost. By default it is the
    /// range that the array or group was opened with.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// Plans the consolidation of an array or a group. Of the three kinds, groups have only metadata.
    ///
    /// # Errors
    /// The format has no such files, or the storage cannot express the names that the format requires; a file cannot be read.
    pub fn plan(&self, target: impl Into<Target>) -> Result<Plan> {
        Plan::new(target.into(), vec![Box::new(self.clone())])
    }
}

impl Job for Consolidation {
    fn draft(&self, target: &Target) -> Result<Draft> {
        match (self.kind, target) {
            (Kind::Metadata, _) => metadata::draft(target, &self.names, self.time.unwrap_or_else(|| target.time())),
            (Kind::Commits, Target::Array(array)) => commits::draft(array, &self.names),
            (Kind::Footers, Target::Array(array)) => footers::draft(array, &self.names),
            // Groups have nothing else.
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
