//! What kind of file a file is, told by its name and its folder's.

use std::fs;
use std::path::Path;

use tdb_types::TimestampedName;

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
    /// Vacuum and ignore files.
    PathList,
    /// Files that count by being there.
    Marker,
    Unknown,
}

impl FileKind {
    pub(crate) fn of(path: &Path) -> Self {
        // So that `tdb inspect .` and links show what their names hide.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = real.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let beside_metadata = real.with_file_name("__fragment_metadata.tdb").is_file();
        Self::named(&name, folder.as_deref().unwrap_or_default(), beside_metadata)
    }

    fn named(name: &str, folder: &str, beside_metadata: bool) -> Self {
        match name {
            "__array_schema.tdb" => return Self::Schema,
            "__fragment_metadata.tdb" => return Self::FragmentMetadata,
            "__tiledb_group.tdb" | "__lock.tdb" => return Self::Marker,
            _ => {}
        }
        let timestamped = TimestampedName::parse(name).is_some();
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("wrt" | "ok") => Self::Marker,
            Some("vac" | "ign") => Self::PathList,
            Some("con") => Self::ConsolidatedCommits,
            Some("del" | "upd") => Self::Condition,
            Some("meta") => Self::ConsolidatedFooters,
            Some("tdb") if beside_metadata || TimestampedName::parse(folder).is_some() => Self::Data,
            _ => match folder {
                "__schema" if timestamped => Self::Schema,
                "__enumerations" => Self::Enumeration,
                "__meta" if timestamped => Self::Metadata,
                "__group" if timestamped => Self::GroupDetails,
                _ => Self::Unknown,
            },
        }
    }

    /// In the format's words.
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
    fn names_tell() {
        const NAME: &str = "__1_2_0123456789abcdef0123456789abcdef";
        let kind = |name: &str, folder: &str| FileKind::named(name, folder, false);
        assert_eq!(kind("__array_schema.tdb", "array"), FileKind::Schema);
        assert_eq!(kind(NAME, "__schema"), FileKind::Schema);
        assert_eq!(kind("__0123456789abcdef0123456789abcdef_0", "__enumerations"), FileKind::Enumeration);
        assert_eq!(kind(&format!("{NAME}_22.wrt"), "__commits"), FileKind::Marker);
        assert_eq!(kind(&format!("{NAME}_22.vac"), "__commits"), FileKind::PathList);
        assert_eq!(kind("a0_var.tdb", &format!("{NAME}_22")), FileKind::Data);
        assert_eq!(kind("a0.tdb", "somewhere"), FileKind::Unknown);
        assert_eq!(FileKind::named("a0.tdb", "somewhere", true), FileKind::Data);
        assert_eq!(kind(NAME, "__meta"), FileKind::Metadata);
        assert_eq!(kind(&format!("{NAME}_2"), "__group"), FileKind::GroupDetails);
        assert_eq!(kind("notes.txt", "__schema"), FileKind::Unknown);
    }
}
