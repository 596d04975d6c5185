//! Errors of text parsing, imports and exports.

use std::fmt::Display;
use std::io;

use tdb_array::{ArrayError, CellsError, ErrorCategory};
use tdb_schema::SchemaError;
use tdb_types::Datatype;
use tdb_types::datetime::WrittenError;

/// A result with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure to parse a text, or to import or export cells.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array operation failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The columns do not result in a valid schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Files of columns cannot be read.
    #[error(transparent)]
    Columns(Box<dyn std::error::Error + Send + Sync>),
    /// A file cannot be read, or a temporary file cannot be written.
    #[error("{name}: {source}")]
    Io {
        /// The file.
        name: String,
        /// The reason.
        source: io::Error,
    },
    /// A text is not valid CSV or JSON, or its header is wrong.
    #[error("{name}:{} {reason}", line.map_or_else(String::new, |line| format!("{line}:")))]
    Text {
        /// The file.
        name: String,
        /// The line, or `None` if the error concerns the complete file.
        line: Option<u64>,
        /// The reason.
        reason: String,
        /// An accepted header, if the header is wrong.
        hint: Option<String>,
    },
    /// The rows from this line on cannot be read.
    #[error("{name}:{line}: {reason}")]
    Rows {
        /// The file.
        name: String,
        /// The line.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// A text is not a valid range, or its dimension does not accept the range.
    #[error("range {text:?}: {reason}")]
    Range {
        /// The range, with the name of the dimension.
        text: String,
        /// The reason.
        reason: String,
        /// An accepted range, or the domain, if known.
        hint: Option<String>,
    },
    /// A range does not name a dimension.
    #[error("range {text:?} does not name a dimension")]
    RangeWithoutName {
        /// The range.
        text: String,
        /// The name of a dimension of the array.
        example: String,
    },
    /// A text is not a valid value of a datatype.
    #[error("{text:?} is not a valid value of {datatype}")]
    Value {
        /// The datatype.
        datatype: Datatype,
        /// The text.
        text: String,
    },
    /// A date is ambiguous or outside the range of the datatype.
    #[error(transparent)]
    Date(WrittenError),
    /// No columns are named as dimensions of a new array.
    #[error("the array does not exist, and no dimensions are given for a new array")]
    NoDimensions {
        /// The columns of the files.
        columns: Vec<String>,
    },
    /// No row is available to infer a schema from.
    #[error("the array does not exist, and no row is available to infer the types of the columns")]
    NoRows,
    /// The request for a new array names a column that the files do not have.
    #[error("no column is named {column:?}")]
    NoSuchColumn {
        /// The name.
        column: String,
        /// The columns of the files.
        columns: Vec<String>,
        /// `true` if the request sets the type of the column, `false` if it names the column as a
        /// dimension.
        is_typed: bool,
    },
    /// No datatype fits all values of a column.
    #[error("no type fits column {column:?}: it contains {contents}")]
    NoType {
        /// The column.
        column: String,
        /// A description of the values.
        contents: String,
    },
    /// A column cannot be a dimension.
    #[error("column {column:?} cannot be a dimension: {reason}")]
    NoDimension {
        /// The column.
        column: String,
        /// The reason.
        reason: String,
    },
    /// The files lack a column for a field.
    #[error("no column for field {field:?} of the array")]
    NoColumn {
        /// The field.
        field: String,
        /// The columns of the files.
        columns: Vec<String>,
    },
    /// The array lacks a field for a column.
    #[error("the array has no field {column:?}")]
    NoField {
        /// The column.
        column: String,
        /// The fields of the array.
        fields: Vec<String>,
    },
    /// The definition lacks the values of an enumeration.
    #[error("the schema lacks the values of enumeration {name:?}")]
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
    /// The cell count of a column differs from the row count of its batch.
    #[error("column {column:?}: expected {cells} cells")]
    ColumnLength {
        /// The column.
        column: String,
        /// Expected number of cells.
        cells: usize,
    },
    /// Some rows cannot be imported.
    #[error("cannot import {rejected} of {rows} rows; nothing was written")]
    Rejected {
        /// Number of rejected rows.
        rejected: u64,
        /// Number of rows of all files.
        rows: u64,
    },
    /// Some rows repeat the coordinates of other rows, and the array does not allow duplicates.
    #[error("{repeated} of {rows} rows repeat the coordinates of other rows; nothing was written")]
    Repeated {
        /// Number of repeated rows.
        repeated: u64,
        /// Number of rows that can be imported.
        rows: u64,
        /// `true` if the array is dense.
        is_dense: bool,
    },
    /// The rows for a dense array do not fill a subarray.
    #[error("{rows} rows do not fill the {cells} cells of the subarray {ranges}")]
    NoBox {
        /// Number of rows.
        rows: u64,
        /// Number of cells of the smallest subarray around the rows.
        cells: String,
        /// The ranges of that subarray.
        ranges: String,
    },
    /// A file changed between two passes.
    #[error("{place}: {what}: the file changed during the import")]
    Changed {
        /// The file, with a line if known.
        place: String,
        /// A description of the change.
        what: String,
    },
    /// A cell cannot be written.
    #[error("{place}: {field}: {reason}")]
    Cell {
        /// The file and line.
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

    /// Returns the class of the error, for programs that decide how to react.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Array(error) => error.category(),
            Self::Columns(_) | Self::Io { .. } => ErrorCategory::Unavailable,
            Self::ColumnLength { .. } => ErrorCategory::Corrupt,
            _ => ErrorCategory::Usage,
        }
    }

    /// Returns `true` if the error is in the rows, and not in the request or the environment.
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

    /// Returns a hint for the user. Returns `None` if the message is sufficient.
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
            Self::NoBox { .. } => "import a dense array by complete subarrays, with one row per cell".to_owned(),
            _ => return None,
        })
    }
}
