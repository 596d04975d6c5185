//! Errors as plain fields.

use serde_json::{Value, json};
use tdb_array::tdb_storage::StorageError;
use tdb_array::{ArrayError, CellsError, ErrorCategory};

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error of a call.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    category: &'static str,
    message: String,
    path: Option<String>,
    field: Option<String>,
    hint: Option<&'static str>,
}

impl Failure {
    #[allow(clippy::needless_pass_by_value)] // `map_err` passes errors by value
    pub(crate) fn usage(message: impl ToString) -> Self {
        let (path, field, hint) = (None, None, None);
        Self { category: "usage", message: message.to_string(), path, field, hint }
    }

    /// Creates an error about a dimension or a column.
    pub(crate) fn field(field: &str, what: impl std::fmt::Display) -> Self {
        Self { field: Some(field.to_owned()), ..Self::usage(format!("{field:?}: {what}")) }
    }

    /// Creates an error about the memory budget.
    pub(crate) fn memory(message: String) -> Self {
        let hint = Some("select a smaller part, read in batches, or raise the budget");
        Self { category: "memory", hint, ..Self::usage(message) }
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { category, message, path, field, hint } = self;
        json!({ "category": category, "message": message, "path": path, "field": field, "hint": hint })
    }
}

fn category_of(category: ErrorCategory) -> (&'static str, Option<&'static str>) {
    match category {
        ErrorCategory::Usage => ("usage", None),
        ErrorCategory::Corrupt => ("corrupt", Some("restore the file, or run `tdb doctor` on the array")),
        ErrorCategory::Unsupported => ("unsupported", None),
        ErrorCategory::Key => ("key", Some("open the array with the correct key")),
        ErrorCategory::Cancelled => ("cancelled", None),
        // `Unavailable`, and categories of newer versions of the library.
        _ => ("unavailable", None),
    }
}

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let (category, hint) = category_of(error.category());
        let hint = match &error {
            ArrayError::Storage(StorageError::TooLarge { .. }) => Some("raise the memory limit, or read elsewhere"),
            _ => hint,
        };
        Self { category, message: error.to_string(), path: path_of(&error), field: field_of(&error), hint }
    }
}

fn path_of(error: &ArrayError) -> Option<String> {
    Some(match error {
        ArrayError::NotFound { path }
        | ArrayError::NotAnArray { path, .. }
        | ArrayError::NotAGroup { path, .. }
        | ArrayError::Member { group: path, .. }
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
        ArrayError::Storage(error) => error.path().to_owned(),
        _ => return None,
    })
}

fn field_of(error: &ArrayError) -> Option<String> {
    Some(match error {
        ArrayError::Tile { field, .. } | ArrayError::Filters { field, .. } => field.clone(),
        ArrayError::Label { name, .. } | ArrayError::UnknownEnumeration { name, .. } => name.clone(),
        ArrayError::Cells(error) => match error {
            CellsError::Cell { field, .. }
            | CellsError::WrongType { field, .. }
            | CellsError::ColumnShape { field, .. } => field.clone(),
            CellsError::UnknownField { name, .. }
            | CellsError::UnknownColumn { name, .. }
            | CellsError::UnknownDimension { name, .. } => name.clone(),
            CellsError::Range { dimension, .. } | CellsError::Point { dimension, .. } => dimension.clone(),
            _ => return None,
        },
        _ => return None,
    })
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        ArrayError::from(error).into()
    }
}

impl From<CellsError> for Failure {
    fn from(error: CellsError) -> Self {
        ArrayError::from(error).into()
    }
}

impl From<tdb_arrow::Error> for Failure {
    fn from(error: tdb_arrow::Error) -> Self {
        use tdb_arrow::Error as E;
        let field = match &error {
            E::Cell { field, .. }
            | E::Refused { field, .. }
            | E::WrongType { field, .. }
            | E::TooLarge { field, .. }
            | E::MissingField { field, .. } => Some(field.clone()),
            _ => None,
        };
        match error {
            E::Array(error) => error.into(),
            error => Self { field, ..Self::usage(error) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_errors_are_kept() {
        let error = StorageError::UnexpectedEnd { path: "a/f".to_owned(), offset: 3, need: 4, size: 5 };
        let json = Failure::from(error).to_json();
        assert_eq!((&json["category"], &json["path"]), (&json!("corrupt"), &json!("a/f")));
        let json =
            Failure::from(CellsError::UnknownField { name: "b".to_owned(), known: vec!["a".to_owned()] }).to_json();
        assert_eq!((&json["category"], &json["field"], &json["path"]), (&json!("usage"), &json!("b"), &Value::Null));
    }
}
