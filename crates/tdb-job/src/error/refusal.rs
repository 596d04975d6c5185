use tdb_types::TimestampedName;

/// The reason why a set of fragments is not consolidated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Another fragment overlaps the set, and was written between the fragments of the set.
    #[error(
        "{fragment} overlaps these fragments and was written in between; include {fragment} to keep the order of writes"
    )]
    Between {
        /// The other fragment.
        fragment: TimestampedName,
    },
    /// Another fragment overlaps the set, and has the same timestamp as a fragment of the set.
    #[error(
        "{fragment} overlaps one of these fragments and has the same timestamp, and another value could win; include {fragment} to keep the result"
    )]
    SameTime {
        /// The other fragment.
        fragment: TimestampedName,
    },
    /// The tiles of the new dense fragment would cover an older fragment.
    #[error(
        "the new fragment would cover tiles of {fragment}, which is older and not selected; include {fragment} too"
    )]
    CoversOlder {
        /// The older fragment.
        fragment: TimestampedName,
    },
    /// Purging deleted cells would make older cells visible again.
    #[error(
        "purging the deleted cells would make older cells of {fragment} visible again; include {fragment} too, or keep deleted cells"
    )]
    Uncovers {
        /// The fragment of the older cells.
        fragment: TimestampedName,
    },
    /// A fragment has a time range, but its cells have no timestamps. Another fragment overlaps it
    /// and was written within this time range.
    #[error(
        "the cells of {fragment} have no timestamps, and {other} overlaps the fragment and was written within the same time range: another value could win"
    )]
    Undated {
        /// The fragment without cell timestamps.
        fragment: TimestampedName,
        /// The other fragment.
        other: TimestampedName,
    },
    /// The fragments have values of attributes that were dropped or redefined later. Readers of
    /// earlier times see these values.
    #[error(
        "readers of earlier times would lose the values of attributes that were dropped or redefined since: {}; allow flattening the history to continue",
        names.join(", ")
    )]
    DroppedAttributes {
        /// Names of the attributes.
        names: Vec<String>,
    },
    /// The array has cells updated by a condition.
    #[error("{file}: cells were updated by a condition, which is not supported")]
    Updates {
        /// Path of the commit.
        file: String,
    },
    /// The new dense fragment would contain too many unwritten cells.
    #[error(
        "the new fragment would have {found:.2} times as many cells as the tiles of these fragments: expected at most {allowed:.2}"
    )]
    Amplification {
        /// Number of cells of the new fragment, as a multiple of the number of cells in the tiles
        /// of the original fragments.
        found: f64,
        /// The limit.
        allowed: f64,
    },
    /// No two of the remaining dense fragments can be consolidated without exceeding the limit of
    /// amplification.
    #[error(
        "no two of these fragments fit together: the nearest pair would become a fragment with {found:.2} times as many cells as their tiles: expected at most {allowed:.2}"
    )]
    Apart {
        /// Number of cells in the common MBR of the nearest pair, as a multiple of the number of
        /// cells in their tiles.
        found: f64,
        /// The limit.
        allowed: f64,
    },
    /// The sizes of consecutive fragments differ too much.
    #[error("the sizes of consecutive fragments differ too much: expected a ratio of at least {least}")]
    SizeRatio {
        /// The required ratio of the smaller size to the larger size.
        least: f32,
    },
    /// Vacuum files of formats before 19 store absolute URIs, and the storage has no URIs.
    #[error("files of format versions before 19 store absolute URIs of fragments, and this storage has none")]
    NoUri,
    /// The array has no visible fragment with this name.
    #[error("no visible fragment is named {name}")]
    NoSuchFragment {
        /// The given name.
        name: String,
    },
}
