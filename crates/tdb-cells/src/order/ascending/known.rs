//! The result of examining a chunk of cells.

/// Known order of a chunk of cells.
pub(super) enum Ascending {
    /// All cells are in order.
    All,
    /// This number of leading cells is in order.
    Some(usize),
    /// The cells are not in order.
    Never,
}
