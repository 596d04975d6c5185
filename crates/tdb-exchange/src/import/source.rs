//! Sources of rows: files of rows and files of columns.

use tdb_schema::{ArrayDefinition, ArraySchema};
use tdb_types::Datatype;

use super::cells::Cells;
use super::column_files::ColumnFiles;
use super::places::{At, Line};
use crate::error::Result;
use crate::rows::Input;

/// Files that provide rows. Each pass over the files begins with the first row.
#[derive(Debug)]
pub enum Source {
    /// Files of rows.
    Rows {
        /// Files of CSV or JSON.
        inputs: Vec<Input>,
        /// Texts that represent null in CSV.
        nulls: Vec<String>,
        /// Types of columns of a new array, by name.
        types: Vec<(String, Datatype)>,
    },
    /// Files of columns.
    Columns {
        /// The files.
        files: Box<dyn ColumnFiles>,
        /// The names of the files.
        names: Vec<String>,
    },
}

/// A consumer of all rows.
pub(super) trait Visitor {
    /// Returns `true` if the row is wanted. Rows are numbered from 1.
    fn wants(&self, number: u64) -> bool;

    /// Handles rows that were appended to the end of `cells`.
    ///
    /// # Errors
    /// An error ends the walk.
    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()>;

    /// Handles a row that cannot be imported.
    fn rejected(&mut self, at: At, why: &str);

    /// Reports that `done` of `total` bytes are read.
    fn progress(&mut self, done: u64, total: u64);
}

/// The array that receives the rows.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) definition: &'a ArrayDefinition,
    /// `true` to skip columns without a field.
    pub(super) ignore_others: bool,
}

impl Target<'_> {
    pub(super) fn schema(&self) -> &ArraySchema {
        self.definition.schema()
    }

    fn cells(&self) -> Result<Cells> {
        let enumeration = |name: &str| self.definition.enumeration(name).cloned();
        Cells::new(self.schema(), enumeration, self.ignore_others)
    }
}

impl Source {
    /// Returns the name of a single file, or the number of files.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.names().collect();
        match &names[..] {
            [name] => (*name).to_owned(),
            names => format!("{} files", names.len()),
        }
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Rows { inputs, .. } => Box::new(inputs.iter().map(Input::name)),
            Self::Columns { names, .. } => Box::new(names.iter().map(String::as_str)),
        }
    }

    /// Returns the position for error messages.
    pub(super) fn place(&self, line: Line) -> String {
        let name = self.names().nth(line.file()).unwrap_or_default();
        match self {
            Self::Rows { .. } => format!("{name}:{}", line.line()),
            Self::Columns { .. } => format!("{name}, row {}", line.line()),
        }
    }

    /// Returns the position for error messages. Leaves out the name of the file if `other` is in
    /// the same file.
    pub(super) fn place_beside(&self, line: Line, other: Line) -> String {
        match self {
            _ if line.file() != other.file() => self.place(line),
            Self::Rows { .. } => format!("line {}", line.line()),
            Self::Columns { .. } => format!("row {}", line.line()),
        }
    }

    /// Passes all wanted rows to the visitor. Returns the cells that the visitor has kept.
    ///
    /// # Errors
    /// Fails if the files cannot be read, if their columns do not match the array, or if the
    /// visitor fails.
    pub(super) fn walk(&self, target: Target<'_>, visitor: &mut dyn Visitor) -> Result<Cells> {
        let mut cells = target.cells()?;
        match self {
            Self::Rows { inputs, nulls, types } => {
                types.iter().for_each(|(name, _)| cells.take_numbers(name));
                let total = inputs.iter().map(|input| input.progress().0).sum();
                let mut walk = RowWalk { cells: &mut cells, visitor, number: 0, nulls, before: 0, total };
                for (file, input) in inputs.iter().enumerate() {
                    walk.file(file, input)?;
                    walk.before += input.progress().0;
                }
            }
            Self::Columns { files, .. } => columns(&**files, target, &mut cells, visitor)?,
        }
        Ok(cells)
    }
}

/// Number of rows between two progress reports.
const ROWS_OF_A_STEP: u64 = 256;

/// A walk over files of rows.
struct RowWalk<'a> {
    cells: &'a mut Cells,
    visitor: &'a mut dyn Visitor,
    number: u64,
    nulls: &'a [String],
    /// Total bytes of the files before the current file.
    before: u64,
    /// Total bytes of all files.
    total: u64,
}

impl RowWalk<'_> {
    fn file(&mut self, file: usize, input: &Input) -> Result<()> {
        let mut rows = input.rows()?;
        match rows.columns() {
            Some(columns) => self.cells.assign(columns)?,
            None => self.cells.assign_nothing(),
        }
        while let Some((line, row)) = rows.next(input.name())? {
            self.number += 1;
            let at = At { number: self.number, line: Line::new(file, line) };
            if self.visitor.wants(self.number) {
                match row.and_then(|row| self.cells.push(row, self.nulls)) {
                    Ok(()) => self.visitor.pushed(self.cells, &[at])?,
                    Err(why) => self.visitor.rejected(at, &why),
                }
            }
            if self.number.is_multiple_of(ROWS_OF_A_STEP) {
                self.visitor.progress(self.before + input.progress().1, self.total);
            }
        }
        Ok(())
    }
}

/// Walks over files of columns.
fn columns(files: &dyn ColumnFiles, target: Target<'_>, cells: &mut Cells, visitor: &mut dyn Visitor) -> Result<()> {
    let names: Vec<String> = files.columns().iter().map(|column| column.name.clone()).collect();
    cells.assign(&names)?;
    let fields: Vec<String> = names.into_iter().filter(|name| cells.known.contains(name)).collect();
    let mut before = 0;
    files.walk(target.definition, &fields, &mut |batch| {
        let at = |row: usize| {
            let number = before + row as u64 + 1;
            At { number, line: Line::new(batch.file, batch.first + row as u64 + 1) }
        };
        let appended = cells.append(&batch, |row| visitor.wants(before + row as u64 + 1))?;
        for (row, why) in &appended.rejected {
            visitor.rejected(at(*row), why);
        }
        let rows: Vec<At> = appended.pushed.iter().map(|row| at(*row)).collect();
        visitor.pushed(cells, &rows)?;
        before += batch.rows as u64;
        let (total, done) = files.progress();
        visitor.progress(done, total);
        Ok(())
    })
}
