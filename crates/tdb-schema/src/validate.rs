//! What a schema must fulfil.
//!
//! [`readable`] is what readers rely on; it is asked of every schema, and lenient wherever some release wrote what later
//! ones refuse. [`creatable`] is what the reference library asks of a schema that it creates; builders are held to it, and to
//! [`dictionaries`] in all that is new.

mod creatable;
mod dictionary;
mod readable;

pub(crate) use creatable::creatable;
pub(crate) use dictionary::{dictionaries, dictionaries_of};
pub(crate) use readable::readable;

use crate::{Attribute, Dimension, DimensionLabel};

/// How messages name a dimension.
fn name_of_dimension(dimension: &Dimension) -> String {
    format!("dimension {:?}", dimension.name())
}

/// How messages name an attribute.
fn name_of_attribute(attribute: &Attribute) -> String {
    format!("attribute {:?}", attribute.name())
}

/// How messages name a label.
pub(crate) fn name_of_label(label: &DimensionLabel) -> String {
    format!("dimension label {:?}", label.name)
}
