//! Errors of the engine as exceptions of the module `tdb`.

use arrow_schema::ArrowError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tdb_array::tdb_condition::ConditionError;
use tdb_array::tdb_fragment::FragmentError;
use tdb_array::tdb_schema::SchemaError;
use tdb_array::tdb_schema::tdb_generic_tile::GenericTileError;
use tdb_array::tdb_storage::StorageError;
use tdb_array::{ArrayError, CellsError, ErrorCategory};
use tdb_job::{MaintainError, PlaceProblem};
use tdb_object_store::UrlError;
use tdb_schema_text::SchemaTextError;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error of the engine, or an exception of Python code that the engine called.
#[derive(Debug)]
pub(crate) enum Failure {
    Engine(Box<Engine>),
    Python(PyErr),
}

/// The arguments of an exception.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Name of the class in `tdb._errors`.
    class: &'static str,
    message: String,
    path: Option<String>,
    offset: Option<u64>,
    field: Option<String>,
    cell: Option<u64>,
}

impl Failure {
    fn new(class: &'static str, message: impl ToString) -> Self {
        let (path, offset, field, cell) = (None, None, None, None);
        Self::Engine(Box::new(Engine { class, message: message.to_string(), path, offset, field, cell }))
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new("UsageError", message)
    }

    /// Creates a usage error about a column.
    pub(crate) fn column(field: &str, what: impl std::fmt::Display) -> Self {
        Self::usage(format!("column {field:?}: {what}")).with(|error| error.field = Some(field.to_owned()))
    }

    /// Creates a usage error about a cell of a column.
    pub(crate) fn cell(field: &str, cell: usize, what: impl std::fmt::Display) -> Self {
        Self::usage(format!("cell {cell}, field {field:?}: {what}")).with(|error| {
            error.field = Some(field.to_owned());
            error.cell = Some(cell as u64);
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Engine)) -> Self {
        if let Self::Engine(error) = &mut self {
            change(error);
        }
        self
    }
}

fn class_of(category: ErrorCategory) -> &'static str {
    match category {
        ErrorCategory::Usage => "UsageError",
        ErrorCategory::Corrupt => "DamageError",
        ErrorCategory::Unsupported => "UnsupportedError",
        ErrorCategory::Key => "EncryptionKeyError",
        // `Unavailable`, and categories of newer versions of the library.
        _ => "UnavailableError",
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let class = match &error {
            ArrayError::Cancelled => return Self::Python(PyKeyboardInterrupt::new_err(())),
            ArrayError::NotFound { .. }
            | ArrayError::NotAnArray { .. }
            | ArrayError::NotAGroup { .. }
            | ArrayError::NoMember { .. }
            | ArrayError::Storage(StorageError::NotFound { .. }) => "NotFoundError",
            ArrayError::AlreadyThere { .. } | ArrayError::Storage(StorageError::AlreadyExists { .. }) => {
                "AlreadyExistsError"
            }
            ArrayError::Outdated { .. } => "ConflictError",
            other => class_of(other.category()),
        };
        let (path, offset) = (path_of(&error), offset_of(&error));
        let (field, cell) = match &error {
            ArrayError::Cells(error) => cell_of(error),
            ArrayError::Tile { field, .. } | ArrayError::Filters { field, .. } => (Some(field.clone()), None),
            _ => (None, None),
        };
        Self::new(class, error).with(|made| {
            (made.path, made.offset, made.field, made.cell) = (path, offset, field, cell);
        })
    }
}

fn path_of(error: &ArrayError) -> Option<String> {
    Some(match error {
        ArrayError::NotFound { path }
        | ArrayError::NotAnArray { path, .. }
        | ArrayError::AlreadyThere { path, .. }
        | ArrayError::NotAGroup { path, .. }
        | ArrayError::Outdated { path, .. }
        | ArrayError::Member { group: path, .. }
        | ArrayError::NewMember { group: path, .. }
        | ArrayError::NoMember { group: path, .. }
        | ArrayError::Schema { file: path, .. }
        | ArrayError::Fragment { file: path, .. }
        | ArrayError::Commits { file: path, .. }
        | ArrayError::GenericTile { file: path, .. }
        | ArrayError::Condition { file: path, .. }
        | ArrayError::Tile { file: path, .. }
        | ArrayError::Key { file: path, .. }
        | ArrayError::PartlyEncrypted { encrypted: path, .. }
        | ArrayError::Corrupt { file: path, .. }
        | ArrayError::Unsupported { file: path, .. }
        | ArrayError::Version { file: path, .. } => path.clone(),
        ArrayError::Storage(error) => path_of_storage(error)?,
        _ => return None,
    })
}

fn path_of_storage(error: &StorageError) -> Option<String> {
    Some(match error {
        StorageError::NotFound { path }
        | StorageError::AlreadyExists { path }
        | StorageError::NotAFolder { path }
        | StorageError::NotAFile { path }
        | StorageError::PermissionDenied { path }
        | StorageError::BadPath { path, .. }
        | StorageError::UnexpectedEnd { path, .. }
        | StorageError::Io { path, .. } => path.clone(),
        _ => return None,
    })
}

/// Returns the offset of damaged bytes in the file, or in the structure that the message names.
fn offset_of(error: &ArrayError) -> Option<u64> {
    let of_tile = |error: &GenericTileError| match error {
        GenericTileError::Decode(error) => Some(error.offset()),
        _ => None,
    };
    match error {
        ArrayError::Commits { source, .. }
        | ArrayError::Schema { source: SchemaError::Decode(source), .. }
        | ArrayError::Fragment { source: FragmentError::Decode(source), .. }
        | ArrayError::Condition { source: ConditionError::Decode(source), .. } => Some(source.offset()),
        ArrayError::Schema { source: SchemaError::GenericTile(source), .. }
        | ArrayError::GenericTile { source, .. } => of_tile(source),
        ArrayError::Storage(StorageError::UnexpectedEnd { offset, .. }) => Some(*offset),
        _ => None,
    }
}

fn cell_of(error: &CellsError) -> (Option<String>, Option<u64>) {
    match error {
        CellsError::Cell { field, cell, .. } => (Some(field.clone()), Some(*cell)),
        CellsError::Point { dimension, point, .. } => (Some(dimension.clone()), Some(*point)),
        CellsError::WrongType { field, .. } | CellsError::ColumnShape { field, .. } => (Some(field.clone()), None),
        CellsError::UnknownField { name, .. }
        | CellsError::UnknownDimension { name, .. }
        | CellsError::MissingColumn { name }
        | CellsError::RepeatedColumn { name } => (Some(name.clone()), None),
        CellsError::Range { dimension, .. } => (Some(dimension.clone()), None),
        CellsError::Schema(_) => (None, None),
        _ => (None, None),
    }
}

impl From<CellsError> for Failure {
    fn from(error: CellsError) -> Self {
        ArrayError::from(error).into()
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        ArrayError::from(error).into()
    }
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self::usage(error)
    }
}

impl From<SchemaTextError> for Failure {
    fn from(error: SchemaTextError) -> Self {
        Self::usage(format!("schema: {error}"))
    }
}

impl From<ConditionError> for Failure {
    fn from(error: ConditionError) -> Self {
        Self::usage(error)
    }
}

impl From<UrlError> for Failure {
    fn from(error: UrlError) -> Self {
        Self::usage(error)
    }
}

impl From<MaintainError> for Failure {
    fn from(error: MaintainError) -> Self {
        match error {
            MaintainError::Array(error) => error.into(),
            MaintainError::Storage(error) => error.into(),
            error => {
                let class = match &error {
                    MaintainError::Busy { .. } | MaintainError::Conflict { .. } => "ConflictError",
                    MaintainError::Place { why: PlaceProblem::Neither | PlaceProblem::NoFolder, .. } => "NotFoundError",
                    MaintainError::Place { why: PlaceProblem::Occupied, .. } => "AlreadyExistsError",
                    other => class_of(other.category()),
                };
                let path = match &error {
                    MaintainError::NotInFormat { path, .. }
                    | MaintainError::NoUri { path, .. }
                    | MaintainError::Busy { path, .. }
                    | MaintainError::NotALock { path, .. }
                    | MaintainError::Conflict { path, .. }
                    | MaintainError::Unsettled { path, .. }
                    | MaintainError::Place { path, .. }
                    | MaintainError::Rebuild { path, .. }
                    | MaintainError::CannotMigrate { path, .. }
                    | MaintainError::Folder { path, .. }
                    | MaintainError::Refused { path, .. } => Some(path.clone()),
                    _ => None,
                };
                Self::new(class, error).with(|made| made.path = path)
            }
        }
    }
}

impl From<tdb_arrow::Error> for Failure {
    fn from(error: tdb_arrow::Error) -> Self {
        use tdb_arrow::Error as E;
        let (field, cell) = match &error {
            E::Array(_) => (None, None),
            E::Cell { field, cell, .. } => (Some(field.clone()), Some(*cell as u64)),
            E::Refused { field, .. }
            | E::WrongType { field, .. }
            | E::TooLarge { field, .. }
            | E::MissingField { field, .. } => (Some(field.clone()), None),
            _ => (None, None),
        };
        match error {
            E::Array(error) => error.into(),
            error => Self::usage(error).with(|made| (made.field, made.cell) = (field, cell)),
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<tdb_arrow::Error>() {
                Ok(error) => (*error).into(),
                Err(source) => Self::usage(source),
            },
            error => Self::usage(error),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Engine(error) => Python::attach(|py| error.exception(py).unwrap_or_else(|error| error)),
        }
    }
}

impl Engine {
    fn exception(self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("tdb._errors")?.getattr(self.class)?;
        let places = PyDict::new(py);
        places.set_item("path", self.path)?;
        places.set_item("offset", self.offset)?;
        places.set_item("field", self.field)?;
        places.set_item("cell", self.cell)?;
        Ok(PyErr::from_value(class.call((self.message,), Some(&places))?))
    }
}
