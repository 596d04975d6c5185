//! Why something can't be copied, moved or removed as asked.

use tdb_array::ErrorCategory;

/// Why something can't be copied, moved or removed as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceProblem {
    /// There is nothing of TileDB.
    #[error("there is neither an array nor a group here, and nothing else is copied, moved or removed")]
    Neither,
    /// Something lies where something is to go.
    #[error("something is there already, and nothing is ever overwritten")]
    Occupied,
    /// The copy would lie in what is copied.
    #[error("it lies in what is to go there")]
    InSource,
    /// Arrays hold no other arrays.
    #[error("it lies in an array, where nothing else belongs")]
    InArray,
    /// A storage names things by paths below its root.
    #[error("it isn't the name of something in a folder")]
    NoName,
    /// Links lead in a circle, or somebody has nested folders beyond measure.
    #[error("folders lie too deep in folders; a link may lead in a circle")]
    TooDeep,
    /// What it leads to may be anybody's.
    #[error(
        "it is a symbolic link, and nothing behind one is removed; name what it leads to, or put that in its place"
    )]
    Link,
    /// A copy would grow elsewhere.
    #[error(
        "it is a symbolic link, where a copy is to grow for a while; nothing is written behind one: remove the link"
    )]
    LinkedTemporary,
    /// It may be the only copy of something.
    #[error("the doctor has moved things here that may still be wanted; nothing was removed")]
    Aside,
    /// Nobody knows whose it is.
    #[error("it isn't of the format, and would go with the folder that it lies in; put it elsewhere first")]
    Foreign,
    /// There is nothing that something could lie in.
    #[error("there is no such folder")]
    NoFolder,
    /// A file of the copy isn't what was copied.
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
