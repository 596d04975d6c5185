//! Validation of schemas.
//!
//! [`readable`] checks the rules that readers rely on. Every schema must pass, including schemas of
//! older releases that newer releases reject. [`creatable`] checks the rules of the reference
//! library for new schemas. Builders apply [`creatable`], and apply [`dictionaries`] to all new
//! fields.

mod creatable;
mod dictionary;
mod readable;

pub(crate) use creatable::creatable;
pub(crate) use dictionary::{dictionaries, dictionaries_of};
pub(crate) use readable::readable;

use crate::{Attribute, Dimension, DimensionLabel};

/// Formats the name of a dimension for messages.
fn name_of_dimension(dimension: &Dimension) -> String {
    format!("dimension {:?}", dimension.name())
}

/// Formats the name of an attribute for messages.
fn name_of_attribute(attribute: &Attribute) -> String {
    format!("attribute {:?}", attribute.name())
}

/// Formats the name of a label for messages.
pub(crate) fn name_of_label(label: &DimensionLabel) -> String {
    format!("dimension label {:?}", label.name)
}
