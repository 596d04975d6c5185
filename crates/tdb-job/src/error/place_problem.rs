use tdb_array::ErrorCategory;

/// The reason why a path cannot be copied, moved or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceProblem {
    /// The path is neither an array nor a group.
    #[error("neither an array nor a group; other files are not copied, moved or removed")]
    Neither,
    /// The destination exists.
    #[error("already exists, and nothing is overwritten")]
    Occupied,
    /// The destination is inside the source.
    #[error("the destination is inside the source")]
    InSource,
    /// The destination is inside an array, which cannot contain other arrays or groups.
    #[error("the destination is inside an array, which cannot contain other arrays or groups")]
    InArray,
    /// The path does not name an entry of a folder, for example because it is the root of a
    /// storage.
    #[error("not the name of an entry in a folder")]
    NoName,
    /// Folders are nested too deeply, possibly because of a cycle of symbolic links.
    #[error("folders are nested too deeply; check for a cycle of symbolic links")]
    TooDeep,
    /// The path is a symbolic link. Its target may belong to another user or array.
    #[error(
        "a symbolic link, and nothing behind a link is removed; name the target of the link, or replace the link by its target"
    )]
    Link,
    /// The temporary path of the copy is a symbolic link to another location.
    #[error("a symbolic link at the temporary path of the copy, and nothing is written behind a link; remove the link")]
    LinkedTemporary,
    /// The array or group has quarantined files, which may be the only copy of data.
    #[error("contains quarantined files that may be the only copy of data; nothing was removed")]
    Quarantined,
    /// The file is not part of the format and would be deleted with the folder.
    #[error("not part of the format, and would be deleted with its folder; move it elsewhere first")]
    Foreign,
    /// The parent folder does not exist.
    #[error("the folder does not exist")]
    NoFolder,
    /// A file of the copy differs from the source.
    #[error("the copy differs from the source; the source is unchanged")]
    Unverified,
}

impl PlaceProblem {
    pub(super) fn category(&self) -> ErrorCategory {
        match self {
            Self::Neither | Self::NoFolder => ErrorCategory::Unavailable,
            Self::Unverified => ErrorCategory::Corrupt,
            _ => ErrorCategory::Usage,
        }
    }
}
