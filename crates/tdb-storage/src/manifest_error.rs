//! The error of manifests.

/// An error in the text of a [`Manifest`](crate::Manifest).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is not a manifest, for example the HTML page of a web server.
    #[error("not a manifest: expected the first line \"tdb manifest 1\"")]
    NotAManifest,
    /// The manifest has a newer version.
    #[error(
        "unknown version of the manifest: expected \"tdb manifest 1\", found {found:?}; use a newer release of tdb"
    )]
    UnknownVersion {
        /// The first line.
        found: String,
    },
    /// A line is malformed.
    #[error("line {line} of the manifest: {why}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// The violated rule.
        why: &'static str,
    },
    /// Memory is exhausted.
    #[error("the manifest does not fit in memory")]
    OutOfMemory,
}
