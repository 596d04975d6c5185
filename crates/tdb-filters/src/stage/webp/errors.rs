//! The filter's name and encoder errors.

use crate::FilterError;

pub(super) const FILTER: &str = "webp";

pub(super) fn could_not_encode(error: &impl ToString) -> FilterError {
    FilterError::Encoder { filter: FILTER, message: error.to_string() }
}
