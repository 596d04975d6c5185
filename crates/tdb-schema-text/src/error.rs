//! Errors of texts.

use std::ops::Range;

use tdb_schema::SchemaError;

use crate::span;

/// Why a text is no schema, or a schema can't be text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaTextError {
    /// It is no TOML, or not of the expected form: the message says where.
    #[error(transparent)]
    Toml(TomlError),
    /// A value doesn't fit where it stands.
    #[error("{what}: {why}")]
    Invalid {
        /// Which part of the schema, such as `dimension "rows"`.
        what: String,
        /// What is wrong with it, and what would be right.
        why: String,
        /// The key of the value in the part, where one value is to blame.
        key: Option<&'static str>,
    },
    /// The parts contradict each other or the format.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// Why a text is no TOML, or not of the expected form.
///
/// Of the parser it shows what it prints and no type, so that this crate can take another one without a new major version.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TomlError(Box<toml::de::Error>);

impl From<toml::de::Error> for SchemaTextError {
    fn from(error: toml::de::Error) -> Self {
        Self::Toml(TomlError(Box::new(error)))
    }
}

impl SchemaTextError {
    #[cold]
    pub(crate) fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into(), key: None }
    }

    /// Of the value of a key.
    pub(crate) fn at(mut self, at: &'static str) -> Self {
        if let Self::Invalid { key, .. } = &mut self {
            *key = Some(at);
        }
        self
    }

    /// What is wrong, in one line that doesn't say where.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Toml(error) => error.0.message().to_owned(),
            other => other.to_string(),
        }
    }

    /// The bytes of the text it was read from that are to blame, if they are known.
    #[must_use]
    pub fn span(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Self::Toml(error) => error.0.span(),
            Self::Invalid { what, key, .. } => span::find(text, what, *key),
            Self::Schema(SchemaError::Invalid { what, why } | SchemaError::Unsupported { what, why }) => {
                span::find(text, what, span::key(why))
            }
            Self::Schema(_) => None,
        }
    }
}

/// A result whose error says what is wrong with a text.
pub type Result<T, E = SchemaTextError> = std::result::Result<T, E>;
