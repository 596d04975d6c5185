//! Errors of texts and of the arrays that they are for.

use std::fmt::Display;
use std::io;

use tdb_array::{ArrayError, CellsError, ErrorCategory};
use tdb_schema::SchemaError;
use tdb_types::Datatype;
use tdb_types::datetime::WrittenError;

/// A result whose error is an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a text can't be read, or cells can't be exchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array can't be read or written.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// No schema can be built from columns.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Files of columns can't be read.
    #[error(transparent)]
    Columns(Box<dyn std::error::Error + Send + Sync>),
    /// A file can't be read, or a temporary file can't be written.
    #[error("{name}: {source}")]
    Io {
        /// The file.
        name: String,
        /// The reason.
        source: io::Error,
    },
    /// A text is no CSV or JSON, or its header is wrong.
    #[error("{name}:{} {reason}", line.map_or_else(String::new, |line| format!("{line}:")))]
    Text {
        /// The file.
        name: String,
        /// The line, unless it is the whole file.
        line: Option<u64>,
        /// The reason.
        reason: String,
        /// A header that is accepted.
        hint: Option<String>,
    },
    /// No row, or none behind this line, can be read.
    #[error("{name}:{line}: {reason}")]
    Rows {
        /// The file.
        name: String,
        /// The line.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// A text is no range, or the range can't be asked of its dimension.
    #[error("range {text:?}: {reason}")]
    Range {
        /// The range, with its name.
        text: String,
        /// The reason.
        reason: String,
        /// A range that is accepted, or the domain.
        hint: Option<String>,
    },
    /// A range has no name of a dimension.
    #[error("range {text:?} names no dimension")]
    RangeWithoutName {
        /// The range.
        text: String,
        /// A dimension of the array.
        example: String,
    },
    /// A text is no value of a datatype.
    #[error("{text:?} is no value of {datatype}")]
    Value {
        /// The datatype.
        datatype: Datatype,
        /// The text.
        text: String,
    },
    /// A text is an ambiguous date, or a date beyond the datatype.
    #[error(transparent)]
    Date(WrittenError),
    /// No columns are named as the dimensions of a new array.
    #[error("there is no such array, and nothing says what its dimensions are")]
    NoDimensions {
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// There are no rows to infer a schema from.
    #[error("there is no such array, and no row that shows the types of the columns")]
    NoRows,
    /// A column of a new array is named that the files don't have.
    #[error("no column is called {column:?}")]
    NoSuchColumn {
        /// The name.
        column: String,
        /// The columns that there are.
        columns: Vec<String>,
        /// Whether a type was given for it; else it was to be a dimension.
        is_typed: bool,
    },
    /// No type has all values of a column.
    #[error("no type fits column {column:?}: it holds {contents}")]
    NoType {
        /// The column.
        column: String,
        /// The values.
        contents: String,
    },
    /// A column can't be a dimension.
    #[error("column {column:?} can't be a dimension: {reason}")]
    NoDimension {
        /// The column.
        column: String,
        /// The reason.
        reason: String,
    },
    /// Files lack the column of a field.
    #[error("no column is called {field:?}, which a field of the array is")]
    NoColumn {
        /// The field.
        field: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// An array lacks the field of a column.
    #[error("the array has no field {column:?}")]
    NoField {
        /// The column.
        column: String,
        /// The fields that there are.
        fields: Vec<String>,
    },
    /// A definition lacks the values of an enumeration.
    #[error("the schema has no values of enumeration {name:?}")]
    NoEnumeration {
        /// The enumeration.
        name: String,
    },
    /// The filters of a field contradict its type.
    #[error("field {field:?}: {reason}")]
    Field {
        /// The field.
        field: String,
        /// The reason.
        reason: String,
    },
    /// A column has more or fewer cells than its batch has rows.
    #[error("column {column:?} hasn't {cells} cells")]
    ColumnLength {
        /// The column.
        column: String,
        /// Rows of the batch.
        cells: usize,
    },
    /// Some rows can't be imported.
    #[error("{rejected} of {rows} rows can't be imported; nothing was written")]
    Rejected {
        /// How many.
        rejected: u64,
        /// Rows of all files.
        rows: u64,
    },
    /// Some rows have the coordinates of others, and the array allows no duplicates.
    #[error("{repeated} of {rows} rows have the coordinates of others; nothing was written")]
    Repeated {
        /// How many.
        repeated: u64,
        /// Rows that can be imported.
        rows: u64,
        /// Whether the array is dense.
        is_dense: bool,
    },
    /// Rows for a dense array don't fill a box.
    #[error("{rows} rows are not the {cells} cells of the box {ranges} that they lie in")]
    NoBox {
        /// How many rows there are.
        rows: u64,
        /// Cells of the box around them.
        cells: String,
        /// The ranges of the box.
        ranges: String,
    },
    /// A file has changed between two passes over it.
    #[error("{place}: {what}: the file has changed meanwhile")]
    Changed {
        /// The file, with a line if one is known.
        place: String,
        /// What has changed.
        what: String,
    },
    /// A cell can't be written.
    #[error("{place}: {field}: {reason}")]
    Cell {
        /// The file, and its line.
        place: String,
        /// The field.
        field: String,
        /// The reason.
        reason: String,
    },
}

impl From<CellsError> for Error {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}

impl Error {
    pub(crate) fn text(name: &str, line: Option<u64>, reason: &dyn Display) -> Self {
        Self::Text { name: name.to_owned(), line, reason: reason.to_string(), hint: None }
    }

    /// Its class, by which a program decides how to react.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Array(error) => error.category(),
            Self::Columns(_) | Self::Io { .. } => ErrorCategory::Unavailable,
            Self::ColumnLength { .. } => ErrorCategory::Corrupt,
            _ => ErrorCategory::Usage,
        }
    }

    /// Whether rows are at fault, and not the request: mend the rows.
    #[must_use]
    pub fn is_of_rows(&self) -> bool {
        matches!(
            self,
            Self::Rows { .. }
                | Self::Rejected { .. }
                | Self::Repeated { .. }
                | Self::NoBox { .. }
                | Self::Changed { .. }
                | Self::Cell { .. }
        )
    }

    /// How to mend the text.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Text { hint, .. } | Self::Range { hint, .. } => return hint.clone(),
            Self::RangeWithoutName { example, .. } => format!("write for example {example}=FIRST..LAST"),
            Self::Value { datatype, .. } if datatype.is_bytes() || *datatype == Datatype::Any => {
                "write two hexadecimal digits for each byte".to_owned()
            }
            Self::Value { .. } => "check the value and the type".to_owned(),
            Self::NoSuchColumn { columns, .. } | Self::NoColumn { columns, .. } => {
                format!("the columns are {}", columns.join(", "))
            }
            Self::NoField { fields, .. } => format!("the fields are {}", fields.join(", ")),
            Self::NoBox { .. } => {
                "a dense array is written in whole boxes, with one row for each cell; import it by parts".to_owned()
            }
            _ => return None,
        })
    }
}
