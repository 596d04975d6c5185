//! From the rows of files to an array: first all of them are looked at, then they are written.

mod append;
mod cells;
mod check;
mod column;
mod dense;
mod dimension;
mod infer;
mod lines;
mod new_array;
mod places;
mod quotes;
mod rows;
mod source;
mod write;

use tdb_array::{Array, Names};
use tdb_schema::ArrayDefinition;

use crate::failure::Result;
use crate::terminal::Terminal;
use source::Target;

pub(crate) use check::Checked;
pub(crate) use rows::{Input, RowsFormat};
pub(crate) use source::Source;

/// Rejected rows that are reported one by one.
const MAX_REPORTED: u64 = 20;

/// How rows are to be understood.
pub(crate) struct Reading {
    pub(crate) source: Source,
    /// Whether columns without a field are passed over.
    pub(crate) ignore_others: bool,
    /// Whether rows that can't be imported are left out, and not a reason to import none.
    pub(crate) skip_rejects: bool,
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) cells: u64,
    pub(crate) fragments: usize,
}

/// How to write.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) names: Names,
    /// Whether of rows with equal coordinates the last one counts.
    pub(crate) keep_last: bool,
    /// Bytes of cells to gather before they are written.
    pub(crate) budget: usize,
}

impl Reading {
    /// What to call the files.
    pub(crate) fn name(&self) -> String {
        self.source.name()
    }

    /// What an array is made from that holds these rows, whose dimensions are these columns.
    ///
    /// # Errors
    /// The files can't be read; they say too little, or hold what no array can.
    pub(crate) fn new_array(&self, dimensions: &[String], allows_duplicates: bool) -> Result<ArrayDefinition> {
        new_array::new_array(&self.source, dimensions, allows_duplicates)
    }

    /// Looks at all rows for those that an array made from this can't take, and reports them.
    ///
    /// # Errors
    /// There are some, and they shall not be skipped; the files can't be read; their columns aren't the array's.
    pub(crate) fn check(&self, definition: &ArrayDefinition, writing: &Writing, terminal: Terminal) -> Result<Checked> {
        check::check(self, self.target(definition), writing, terminal)
    }

    /// Writes the rows that were found good, each time that enough are together as a fragment.
    ///
    /// # Errors
    /// The files have changed; whatever can't be written.
    pub(crate) fn write(
        &self,
        array: &Array,
        definition: &ArrayDefinition,
        checks: (&Checked, &Writing),
        imported: &mut Imported,
        terminal: Terminal,
    ) -> Result<()> {
        write::write(self, array, self.target(definition), checks, imported, terminal)
    }

    fn target<'a>(&self, definition: &'a ArrayDefinition) -> Target<'a> {
        Target { definition, ignore_others: self.ignore_others }
    }
}
