//! Query conditions.

use serde::{Deserialize, Serialize};

use super::Bytes;

/// A predicate on the fields of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Compares a field with a value. `None` represents null.
    Compare {
        field: String,
        comparison: Comparison,
        value: Option<Bytes>,
    },
    /// Tests for membership in a set of values, or for non-membership if `negated`.
    Member {
        field: String,
        values: Vec<Bytes>,
        negated: bool,
    },
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    Less = 0,
    LessOrEqual = 1,
    Greater = 2,
    GreaterOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
}

impl Condition {
    /// `true` if the condition contains a test for null.
    pub fn tests_for_null(&self) -> bool {
        match self {
            Self::Compare { value, .. } => value.is_none(),
            Self::Member { .. } => false,
            Self::And(left, right) | Self::Or(left, right) => left.tests_for_null() || right.tests_for_null(),
            Self::Not(inner) => inner.tests_for_null(),
        }
    }

    /// `true` if the condition refers to the field.
    pub fn has_field(&self, name: &str) -> bool {
        match self {
            Self::Compare { field, .. } | Self::Member { field, .. } => field == name,
            Self::And(left, right) | Self::Or(left, right) => left.has_field(name) || right.has_field(name),
            Self::Not(inner) => inner.has_field(name),
        }
    }

    pub fn member<V: Into<Vec<u8>>>(field: &str, values: impl IntoIterator<Item = V>, negated: bool) -> Self {
        let values = values.into_iter().map(|value| Bytes(value.into())).collect();
        Self::Member { field: field.to_owned(), values, negated }
    }

    pub fn compare(field: &str, comparison: Comparison, value: impl Into<Vec<u8>>) -> Self {
        Self::Compare { field: field.to_owned(), comparison, value: Some(Bytes(value.into())) }
    }

    pub fn and(self, other: Self) -> Self {
        Self::And(Box::new(self), Box::new(other))
    }

    pub fn or(self, other: Self) -> Self {
        Self::Or(Box::new(self), Box::new(other))
    }
}
