use tdb_array::ErrorCategory;

/// Reason why a path cannot be copied, moved or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceProblem {
    /// The path is neither an array nor a group.
    #[error("there is neither an array nor a group here, and nothing else is copied, moved or removed")]
    Neither,
    /// The destination exists.
    #[error("something is there already, and nothing is ever overwritten")]
    Occupied,
    /// The destination is inside the source.
    #[error("it lies in what is to go there")]
    InSource,
    /// The destination is inside an array. An array contains no other array.
    #[error("it lies in an array, where nothing else belongs")]
    InArray,
    /// The path is not a name below the root of a storage.
    #[error("it isn't the name of something in a folder")]
    NoName,
    /// Folders are nested too deeply, possibly because of a cycle of symbolic links.
    #[error("folders lie too deep in folders; a link may lead in a circle")]
    TooDeep,
    /// The path is a symbolic link. The target may belong to someone else.
    #[error(
        "it is a symbolic link, and nothing behind one is removed; name what it leads to, or put that in its place"
    )]
    Link,
    /// The temporary path of the copy is a symbolic link to a different place.
    #[error(
        "it is a symbolic link, where a copy is to grow for a while; nothing is written behind one: remove the link"
    )]
    LinkedTemporary,
    /// The array or group has quarantined files, possibly the only copy of the data.
    #[error("the doctor has moved things here that may still be wanted; nothing was removed")]
    Aside,
    /// The file is not part of the format and would be deleted with the folder.
    #[error("it isn't of the format, and would go with the folder that it lies in; put it elsewhere first")]
    Foreign,
    /// The parent folder does not exist.
    #[error("there is no such folder")]
    NoFolder,
    /// A file of the copy differs from the source.
    #[error("it isn't what was copied; the source is left as it is")]
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
