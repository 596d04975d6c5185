//! The result of examining a chunk of cells.

/// Known order of a chunk of cells.
pub(super) enum Ascending {
    /// All cells are in order.
    All,
    /// The first cells, up to this number, are in order.
    Some(usize),
    /// The cells are not in order.
    Never,
}
