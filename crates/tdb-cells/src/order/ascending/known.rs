//! What a look at a chunk of cells finds.

/// What is known of a chunk of cells.
pub(super) enum Ascending {
    /// They are in order.
    All,
    /// So many of them are, from the first one on.
    Some(usize),
    /// They are not.
    Never,
}
