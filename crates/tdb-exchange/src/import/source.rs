//! Where rows come from: files that are read line by line, or column by column.

use tdb_schema::{ArrayDefinition, ArraySchema};
use tdb_types::Datatype;

use super::cells::Cells;
use super::column_files::ColumnFiles;
use super::places::{At, Line};
use crate::error::Result;
use crate::rows::Input;

/// Files that rows are taken from, in passes of which each begins with the first row.
#[derive(Debug)]
pub enum Source {
    /// Files of rows.
    Rows {
        /// Files of CSV or JSON.
        inputs: Vec<Input>,
        /// Texts of null cells in CSV.
        nulls: Vec<String>,
        /// Types of columns of a new array.
        types: Vec<(String, Datatype)>,
    },
    /// Files of columns.
    Columns {
        /// The files.
        files: Box<dyn ColumnFiles>,
        /// Their names.
        names: Vec<String>,
    },
}

/// Who looks at all rows.
pub(super) trait Visitor {
    /// Whether the row of this number is of interest; the first one has the number 1.
    fn wants(&self, number: u64) -> bool;

    /// Rows were pushed, and were the last ones; each is at one of these places.
    ///
    /// # Errors
    /// Why the walk is to end.
    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()>;

    /// A row can't be taken.
    fn rejected(&mut self, at: At, why: &str);

    /// So many bytes of the files were read.
    fn progress(&mut self, done: u64, total: u64);
}

/// What rows are meant for.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) definition: &'a ArrayDefinition,
    /// Whether columns that the array has no field for are passed over.
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
    /// The name of the file, or how many files there are.
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

    /// Where it is, for people.
    pub(super) fn place(&self, line: Line) -> String {
        let name = self.names().nth(line.file()).unwrap_or_default();
        match self {
            Self::Rows { .. } => format!("{name}:{}", line.line()),
            Self::Columns { .. } => format!("{name}, row {}", line.line()),
        }
    }

    /// Where it is, behind a place in perhaps the same file.
    pub(super) fn place_beside(&self, line: Line, other: Line) -> String {
        match self {
            _ if line.file() != other.file() => self.place(line),
            Self::Rows { .. } => format!("line {}", line.line()),
            Self::Columns { .. } => format!("row {}", line.line()),
        }
    }

    /// Hands all rows to the visitor, as far as it wants to see them.
    ///
    /// # Errors
    /// The files can't be read; their columns aren't the array's; what the visitor says.
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

/// How many rows pass between two reports.
const ROWS_OF_A_STEP: u64 = 256;

/// A walk over lines.
struct RowWalk<'a> {
    cells: &'a mut Cells,
    visitor: &'a mut dyn Visitor,
    number: u64,
    nulls: &'a [String],
    /// Bytes of the files before the current one, and of all.
    before: u64,
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

/// A walk over columns.
fn columns(files: &dyn ColumnFiles, target: Target<'_>, cells: &mut Cells, visitor: &mut dyn Visitor) -> Result<()> {
    let names: Vec<String> = files.columns().iter().map(|column| column.name.clone()).collect();
    cells.assign(&names)?;
    let fields: Vec<String> = names.into_iter().filter(|name| cells.has_field(name)).collect();
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
