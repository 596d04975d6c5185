//! Vacuum: deletion of superseded files.

mod chain;
mod commits;
mod complete;
mod family;
mod footers;
mod fragments;
mod metadata;

use tdb_array::WriteIds;
use tdb_job::{Result, Target};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, METADATA_FOLDER};

use crate::draft::Draft;
use crate::plan::{Job, Plan};

pub use fragments::{FragmentList, IgnoreFile, fragment_lists, ignoring_commits};
pub use metadata::{MetadataList, metadata_lists};

/// Deletion of superseded files. Each function starts one kind of vacuum.
///
/// A vacuum deletes files only if the superseding files exist and are sound. It keeps other files
/// and [reports](crate::Report::left) them. An interruption loses no visible data, and the next run
/// continues.
///
/// ```
/// use tdb_maintain::{Consolidate, Vacuum};
/// use tdb_array::{Group, MetadataValue};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("group");
/// # Group::create(&path)?;
/// for season in ["spring", "summer", "autumn"] {
///     Group::open(&path)?.write_metadata().put("season", MetadataValue::text(season)?).commit()?;
/// }
/// let group = Group::open(&path)?;
/// Consolidate::metadata().plan(&group)?.run()?;
/// let report = Vacuum::all().plan(&group)?.run()?;
/// assert_eq!(report.steps.len(), 4); // three files, and the list of them
/// assert_eq!(Group::open(&path)?.metadata()?.get("season"), Some(&MetadataValue::text("autumn")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "has no effect until a plan runs"]
pub struct Vacuum {
    what: &'static [What],
    delete_files: bool,
    names: WriteIds,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Fragments,
    Commits,
    Footers,
    Metadata,
}

impl Vacuum {
    fn of(what: &'static [What]) -> Self {
        Self { what, delete_files: false, names: WriteIds::new() }
    }

    /// Deletes fragments that this library or the reference library has consolidated into new
    /// fragments.
    pub fn fragments() -> Self {
        Self::of(&[What::Fragments])
    }

    /// Deletes separate commits that a consolidated commits file contains, consolidated commits
    /// files whose visible commits other such files contain, and ignore files without effect.
    pub fn commits() -> Self {
        Self::of(&[What::Commits])
    }

    /// Deletes consolidated footers files if newer such files contain the footers of all their
    /// committed fragments.
    pub fn footers() -> Self {
        Self::of(&[What::Footers])
    }

    /// Deletes metadata files that consolidated files supersede.
    pub fn metadata() -> Self {
        Self::of(&[What::Metadata])
    }

    /// Runs all four kinds of vacuum, one after the other.
    pub fn all() -> Self {
        Self::of(&[What::Fragments, What::Commits, What::Footers, What::Metadata])
    }

    /// Sets whether a vacuum of commits deletes the separate files of consolidated delete commits.
    /// The default is `false`, because release 2.30.0 needs these files to consolidate commits.
    pub fn delete_files(mut self, remove: bool) -> Self {
        self.delete_files = remove;
        self
    }

    /// Sets the source of the unique part in the name of the ignore file, which a vacuum of
    /// fragments may write.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Plans the vacuum of an array or a group. Groups have only metadata.
    ///
    /// # Errors
    /// A folder cannot be listed, or a vacuum file cannot be read.
    pub fn plan(&self, target: impl Into<Target>) -> Result<Plan> {
        Plan::new(target.into(), self.jobs())
    }

    /// Creates one job per kind. The draft of a job depends on the jobs before it.
    fn jobs(&self) -> Vec<Box<dyn Job>> {
        let part = |what: &What| Box::new(Part { what: *what, vacuum: self.clone() }) as Box<dyn Job>;
        self.what.iter().map(part).collect()
    }
}

/// One kind of vacuum.
#[derive(Debug)]
struct Part {
    what: What,
    vacuum: Vacuum,
}

impl Job for Part {
    fn folders(&self) -> &'static [&'static str] {
        match self.what {
            What::Fragments => &["", COMMITS_FOLDER, FRAGMENTS_FOLDER],
            What::Commits => &["", COMMITS_FOLDER],
            What::Footers => &["", COMMITS_FOLDER, FRAGMENT_META_FOLDER],
            What::Metadata => &[METADATA_FOLDER],
        }
    }

    fn draft(&self, target: &Target) -> Result<Draft> {
        match (self.what, target) {
            (What::Metadata, _) => metadata::draft(target),
            (What::Fragments, Target::Array(array)) => fragments::draft(array, &self.vacuum.names),
            (What::Commits, Target::Array(array)) => commits::draft(array, self.vacuum.delete_files),
            (What::Footers, Target::Array(array)) => footers::draft(array),
            // Groups have only metadata.
            (_, Target::Group(_)) => Ok(Draft::default()),
        }
    }
}
