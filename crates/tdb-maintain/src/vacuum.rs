//! Removing what was replaced.

mod chain;
mod commits;
mod complete;
mod family;
mod footers;
mod fragments;
mod metadata;

use tdb_array::Names;
use tdb_job::{Result, Target};

use crate::draft::Draft;
use crate::plan::{Job, Plan};

pub use fragments::{FragmentList, IgnoreFile, fragment_lists, ignoring_commits};
pub use metadata::{MetadataList, metadata_lists};

/// What may be removed because something else stands in its place: each function starts one kind of vacuum.
///
/// Nothing is removed before it was seen that what stands in its place is there and sound; what isn't is
/// [left](crate::Report::left) and told. Interrupted anywhere, nothing that counts is lost, and the next run goes on.
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
#[must_use = "nothing is done before a plan runs"]
pub struct Vacuum {
    what: &'static [What],
    delete_files: bool,
    names: Names,
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
        Self { what, delete_files: false, names: Names::new() }
    }

    /// The fragments that others were consolidated from, by either library.
    pub fn fragments() -> Self {
        Self::of(&[What::Fragments])
    }

    /// The commits that were gathered, and the files of gathered commits that newer ones hold.
    pub fn commits() -> Self {
        Self::of(&[What::Commits])
    }

    /// The files of consolidated footers of which newer ones have all that is still there.
    pub fn footers() -> Self {
        Self::of(&[What::Footers])
    }

    /// The files of metadata that were joined.
    pub fn metadata() -> Self {
        Self::of(&[What::Metadata])
    }

    /// All of these, one after the other.
    pub fn all() -> Self {
        Self::of(&[What::Fragments, What::Commits, What::Footers, What::Metadata])
    }

    /// Whether the own files of gathered deletes of cells go too. They don't by default: release 2.30.0 reads them whenever it
    /// consolidates commits, and can't any more without them.
    pub fn delete_files(mut self, remove: bool) -> Self {
        self.delete_files = remove;
        self
    }

    /// What makes the name of the file unique that takes gathered commits of fragments back.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Plans the vacuum of an array or a group. Of the four kinds, groups have only metadata.
    ///
    /// # Errors
    /// A folder cannot be listed; a file that names others cannot be read.
    pub fn plan(&self, target: impl Into<Target>) -> Result<Plan> {
        Plan::new(target.into(), self.jobs())
    }

    /// A part for each kind: what is planned for one rests on the ones before.
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
    fn draft(&self, target: &Target) -> Result<Draft> {
        match (self.what, target) {
            (What::Metadata, _) => metadata::draft(target),
            (What::Fragments, Target::Array(array)) => fragments::draft(array, &self.vacuum.names),
            (What::Commits, Target::Array(array)) => commits::draft(array, self.vacuum.delete_files),
            (What::Footers, Target::Array(array)) => footers::draft(array),
            // Groups have nothing else.
            (_, Target::Group(_)) => Ok(Draft::default()),
        }
    }
}
