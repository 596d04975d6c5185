//! Progress and rejected rows of an import.

/// A pass over the rows of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// All rows are checked. Progress counts bytes of files.
    Check,
    /// Rows are read and written. Progress counts bytes of files.
    Write,
    /// Rows of a dense array are sorted and written. Progress counts rows.
    Sort,
}

/// A receiver of the reports of an import. `()` ignores them.
pub trait Observer {
    /// Reports that a pass has processed `done` of `total` bytes or rows.
    fn progress(&mut self, _pass: Pass, _done: u64, _total: u64) {}

    /// Reports the end of a pass.
    fn pass_ended(&mut self) {}

    /// Reports a row that cannot be imported. After the first 20,
    /// [`more_rejected`](Self::more_rejected) counts the rest.
    fn rejected(&mut self, _place: &str, _reason: &str) {}

    /// Reports the number of further rows that cannot be imported.
    fn more_rejected(&mut self, _rows: u64) {}
}

impl Observer for () {}
