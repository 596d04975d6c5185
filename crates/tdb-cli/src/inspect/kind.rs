//! Detection of the kind of a file from its name and folder.

use tdb_metadata::CommitKind;
use tdb_types::{TimestampedName, names};

use super::located::Located;

/// The kinds of files in arrays and groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Schema,
    Enumeration,
    FragmentMetadata,
    ConsolidatedFooters,
    Data,
    Metadata,
    GroupDetails,
    /// A delete or update commit.
    Condition,
    ConsolidatedCommits,
    /// A vacuum or ignore file.
    PathList,
    /// A marker file. Only the existence of the file matters.
    Marker,
    Unknown,
}

impl FileKind {
    pub(super) fn of(file: &Located) -> Self {
        let is_known = || file.beside(names::FRAGMENT_METADATA).is_there();
        Self::named(file.name(), file.folder(), is_known)
    }

    fn named(name: &str, folder: &str, beside_metadata: impl Fn() -> bool) -> Self {
        match name {
            names::LEGACY_SCHEMA => return Self::Schema,
            names::FRAGMENT_METADATA => return Self::FragmentMetadata,
            names::GROUP_MARKER | names::LOCK_FILE => return Self::Marker,
            _ => {}
        }
        let timestamped = TimestampedName::parse(name).is_some();
        if let Some(kind) = CommitKind::of(name) {
            return match kind {
                CommitKind::Write => Self::Marker,
                CommitKind::Vacuum | CommitKind::Ignore => Self::PathList,
                CommitKind::Consolidated => Self::ConsolidatedCommits,
                CommitKind::Delete | CommitKind::Update => Self::Condition,
                _ => Self::Unknown,
            };
        }
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some(names::FOOTERS_EXTENSION) => Self::ConsolidatedFooters,
            Some(names::DATA_EXTENSION) if TimestampedName::parse(folder).is_some() || beside_metadata() => Self::Data,
            _ => match folder {
                names::SCHEMA_FOLDER if timestamped => Self::Schema,
                names::ENUMERATIONS_FOLDER => Self::Enumeration,
                names::METADATA_FOLDER if timestamped => Self::Metadata,
                names::GROUP_FOLDER if timestamped => Self::GroupDetails,
                _ => Self::Unknown,
            },
        }
    }

    /// Returns the name of the kind in the terms of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Schema => "array schema",
            Self::Enumeration => "enumeration",
            Self::FragmentMetadata => "fragment metadata",
            Self::ConsolidatedFooters => "consolidated fragment metadata",
            Self::Data => "data file",
            Self::Metadata => "metadata",
            Self::GroupDetails => "group details",
            Self::Condition => "delete or update commit",
            Self::ConsolidatedCommits => "consolidated commits",
            Self::PathList => "list of paths",
            Self::Marker => "marker",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_folders_determine_the_kind() {
        const NAME: &str = "__1_2_0123456789abcdef0123456789abcdef";
        let kind = |name: &str, folder: &str| FileKind::named(name, folder, || false);
        assert_eq!(kind("__array_schema.tdb", "array"), FileKind::Schema);
        assert_eq!(kind(NAME, "__schema"), FileKind::Schema);
        assert_eq!(kind("__0123456789abcdef0123456789abcdef_0", "__enumerations"), FileKind::Enumeration);
        assert_eq!(kind(&format!("{NAME}_22.wrt"), "__commits"), FileKind::Marker);
        assert_eq!(kind(&format!("{NAME}_22.vac"), "__commits"), FileKind::PathList);
        assert_eq!(kind("a0_var.tdb", &format!("{NAME}_22")), FileKind::Data);
        assert_eq!(kind("a0.tdb", "somewhere"), FileKind::Unknown);
        assert_eq!(FileKind::named("a0.tdb", "somewhere", || true), FileKind::Data);
        assert_eq!(kind(NAME, "__meta"), FileKind::Metadata);
        assert_eq!(kind(&format!("{NAME}_2"), "__group"), FileKind::GroupDetails);
        assert_eq!(kind("notes.txt", "__schema"), FileKind::Unknown);
    }
}
