//! Reports of an import.

/// A pass over the rows of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// All rows are checked. Progress counts bytes of files.
    Check,
    /// Rows are read, and written. Progress counts bytes of files.
    Write,
    /// Rows of a dense array are put into order, and written. Progress counts rows.
    Sort,
}

/// A receiver of the reports of an import. `()` ignores them.
pub trait Observer {
    /// A pass has come to `done` of `total` bytes or rows.
    fn progress(&mut self, _pass: Pass, _done: u64, _total: u64) {}

    /// A pass is over.
    fn pass_ended(&mut self) {}

    /// A row can't be imported. After some of them, [`more_rejected`](Self::more_rejected) counts the others.
    fn rejected(&mut self, _place: &str, _reason: &str) {}

    /// So many rows can't be imported besides those that were reported.
    fn more_rejected(&mut self, _rows: u64) {}
}

impl Observer for () {}
