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

use crate::dimension::max_key;
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

/// Whether the last tile of a dimension reaches beyond the highest value of the datatype.
fn last_tile_overflows(dimension: &Dimension) -> bool {
    let (Some((low, high)), Some(extent)) = (dimension.domain_keys(), dimension.extent_cells()) else { return false };
    let tiles_before = dimension.tile_index(high);
    let end = u128::from(low) + (u128::from(tiles_before) + 1) * u128::from(extent);
    end > u128::from(max_key(dimension.physical())) + 1
}
