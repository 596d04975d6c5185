//! Progress and rejected rows of an import.

/// A pass over the rows of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Checks all rows. Progress is measured in bytes of the files.
    Check,
    /// Reads and writes the rows. Progress is measured in bytes of the files.
    Write,
    /// Sorts and writes the rows of a dense array. Progress is measured in rows.
    Sort,
}

/// A receiver of the reports of an import. The implementation for `()` ignores all reports.
pub trait Observer {
    /// Reports that a pass has processed `done` of `total` bytes or rows.
    fn progress(&mut self, _pass: Pass, _done: u64, _total: u64) {}

    /// Reports the end of a pass.
    fn pass_ended(&mut self) {}

    /// Reports a row that cannot be imported. Only the first 20 rows are reported individually.
    /// [`more_rejected`](Self::more_rejected) reports the number of the other rows.
    fn rejected(&mut self, _place: &str, _reason: &str) {}

    /// Reports the number of rows that cannot be imported and were not reported individually.
    fn more_rejected(&mut self, _rows: u64) {}
}

impl Observer for () {}
