//! A fragment without metadata.

use tdb_array::Array;
use tdb_storage::EntryKind;
use tdb_types::{Feature, FormatVersion, TimestampedName};

use tdb_job::RebuildProblem;
use tdb_job::{MaintainError, Result};

/// The location of the fragment, and the facts that follow from its name.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub(super) name: TimestampedName,
    pub(super) folder: String,
    /// Format version. A name of formats 1 to 4 fits two versions. This field then contains the
    /// later version.
    pub(super) version: FormatVersion,
    /// `true` if the fragment is committed. In formats 1 to 4, the metadata is the commit.
    pub(super) counts: bool,
}

impl Lost {
    /// Finds a committed fragment by name, or an uncommitted fragment of formats 1 to 4.
    pub(super) fn find(array: &Array, name: &str) -> Result<Self> {
        let inventory = array.commit_inventory(&array.listing()?)?;
        let committed = inventory.fragments.into_iter().find(|fragment| fragment.entry.name.as_str() == name);
        if let Some(fragment) = committed {
            let entry = fragment.entry;
            return Ok(Self { name: entry.name, folder: entry.folder, version: entry.version, counts: true });
        }
        let none = || MaintainError::Rebuild { path: array.storage().describe(name), why: RebuildProblem::NoFragment };
        let parsed = TimestampedName::parse(name).filter(|_| !name.contains('.')).ok_or_else(none)?;
        let version = parsed.fragment_version().ok().filter(|version| version.has(Feature::CombinedCoordinates));
        let version = version.ok_or_else(none)?;
        if array.storage().kind(name)? != Some(EntryKind::Folder) {
            return Err(none());
        }
        Ok(Self { name: parsed, folder: name.to_owned(), version, counts: false })
    }
}
