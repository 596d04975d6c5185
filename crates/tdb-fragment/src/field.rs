//! The fields of a fragment, and their slots in the lists of its metadata.

use std::fmt;

use tdb_schema::{ArraySchema, Attribute, Dimension};
use tdb_types::{Feature, FormatVersion, names};

/// A field of a fragment: an attribute, coordinates, or metadata of each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FragmentField {
    /// The attribute with this index in the fragment's schema.
    Attribute(usize),
    /// All coordinates of a cell combined, in the file `__coords.tdb`.
    ///
    /// Later versions store each dimension separately, but keep an empty slot for this field in
    /// every list.
    Coordinates,
    /// The dimension with this index.
    Dimension(usize),
    /// The time of the write of each cell: `u64` milliseconds since 1970.
    Timestamps,
    /// The time of the deletion of each cell: `u64` milliseconds since 1970, or `u64::MAX` if not
    /// deleted.
    DeleteTimestamps,
    /// The index of the processed condition that deleted the cell: `u64`, or `u64::MAX` if not
    /// deleted.
    DeleteConditionIndex,
}

impl FragmentField {
    /// Returns the display name: the name of the attribute or dimension, or the format's name.
    #[must_use]
    pub fn display(self, schema: &ArraySchema) -> String {
        let named = |kind: &str, index: usize, name: Option<&str>| match name {
            Some(name) => format!("{kind} {name:?}"),
            None => format!("{kind} {index}"),
        };
        match self {
            Self::Attribute(index) => named("attribute", index, schema.attributes().get(index).map(Attribute::name)),
            Self::Dimension(index) => {
                named("dimension", index, schema.domain().dimensions().get(index).map(Dimension::name))
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for FragmentField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(index) => write!(f, "attribute {index}"),
            Self::Coordinates => f.write_str(names::COORDINATES),
            Self::Dimension(index) => write!(f, "dimension {index}"),
            Self::Timestamps => f.write_str("__timestamps"),
            Self::DeleteTimestamps => f.write_str("__delete_timestamps"),
            Self::DeleteConditionIndex => f.write_str("__delete_condition_index"),
        }
    }
}

/// A data file of a field. A field has up to three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The cells of a fixed-size field, or the offsets of a variable-size field.
    Fixed,
    /// The values of a variable-size field.
    Var,
    /// The validity of a nullable field: a byte per cell, 0 for null.
    Validity,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Var, Self::Validity];
}

/// The fields of a fragment, in the order of every list of its metadata.
///
/// The order is attributes, `__coords`, dimensions, timestamps, delete timestamps, delete condition
/// index. With combined coordinates (formats 1 to 4), dimensions have no slots, and lists of
/// variable-size data end before `__coords`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlots {
    attributes: usize,
    /// The number of dimensions, or 0 with combined coordinates.
    dimensions: usize,
    combined: bool,
    timestamps: bool,
    delete_metadata: bool,
}

impl FieldSlots {
    /// Creates the slots of a fragment of `version` with the given numbers of attributes and
    /// dimensions.
    #[must_use]
    pub fn new(
        version: FormatVersion,
        attributes: usize,
        dimensions: usize,
        timestamps: bool,
        delete_metadata: bool,
    ) -> Self {
        let combined = version.has(Feature::CombinedCoordinates);
        Self { attributes, dimensions: if combined { 0 } else { dimensions }, combined, timestamps, delete_metadata }
    }

    /// Returns the number of slots in lists of fixed-size data.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes + 1 + self.dimensions + usize::from(self.timestamps) + 2 * usize::from(self.delete_metadata)
    }

    /// Returns `false`, because `__coords` always has a slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the number of slots in lists of variable-size data.
    #[must_use]
    pub fn var_len(&self) -> usize {
        if self.combined { self.attributes } else { self.len() }
    }

    /// Returns the slot of `field`, or `None` if the fragment does not have the field.
    #[must_use]
    pub fn slot(&self, field: FragmentField) -> Option<usize> {
        let after_dimensions = self.attributes + 1 + self.dimensions;
        let after_timestamps = after_dimensions + usize::from(self.timestamps);
        match field {
            FragmentField::Attribute(index) => (index < self.attributes).then_some(index),
            FragmentField::Coordinates => Some(self.attributes),
            FragmentField::Dimension(index) => (index < self.dimensions).then(|| self.attributes + 1 + index),
            FragmentField::Timestamps => self.timestamps.then_some(after_dimensions),
            FragmentField::DeleteTimestamps => self.delete_metadata.then_some(after_timestamps),
            FragmentField::DeleteConditionIndex => self.delete_metadata.then_some(after_timestamps + 1),
        }
    }

    /// Returns the field of a slot, or `None` if the slot does not exist.
    #[must_use]
    pub fn field(&self, slot: usize) -> Option<FragmentField> {
        if slot < self.attributes {
            return Some(FragmentField::Attribute(slot));
        }
        let Some(slot) = slot.checked_sub(self.attributes + 1) else {
            return Some(FragmentField::Coordinates);
        };
        if slot < self.dimensions {
            return Some(FragmentField::Dimension(slot));
        }
        let timestamps = self.timestamps.then_some(FragmentField::Timestamps);
        let deletes = [FragmentField::DeleteTimestamps, FragmentField::DeleteConditionIndex];
        let deletes = deletes.into_iter().filter(|_| self.delete_metadata);
        timestamps.into_iter().chain(deletes).nth(slot - self.dimensions)
    }

    /// Iterates over all fields, in slot order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FragmentField> + use<> {
        let slots = *self;
        (0..slots.len()).map(move |slot| slots.field(slot).unwrap_or(FragmentField::Coordinates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u32) -> FormatVersion {
        FormatVersion::new(number).unwrap()
    }

    #[test]
    fn the_order_of_the_lists() {
        let slots = FieldSlots::new(version(22), 2, 1, true, true);
        let fields: Vec<_> = slots.iter().map(|field| field.to_string()).collect();
        let expected = [
            "attribute 0",
            "attribute 1",
            "__coords",
            "dimension 0",
            "__timestamps",
            "__delete_timestamps",
            "__delete_condition_index",
        ];
        assert_eq!(fields, expected);
        assert_eq!(slots.var_len(), slots.len());
    }

    #[test]
    fn combined_coordinates_leave_no_slots_for_dimensions() {
        let slots = FieldSlots::new(version(4), 2, 3, false, false);
        assert_eq!((slots.len(), slots.var_len()), (3, 2));
        assert_eq!(slots.slot(FragmentField::Dimension(0)), None);
        assert_eq!(slots.slot(FragmentField::Coordinates), Some(2));
    }

    #[test]
    fn slots_and_fields_are_inverse() {
        for (number, timestamps, deletes) in
            [(2, false, false), (5, false, false), (14, true, false), (15, false, true), (22, true, true)]
        {
            let slots = FieldSlots::new(version(number), 3, 2, timestamps, deletes);
            for (slot, field) in slots.iter().enumerate() {
                assert_eq!((slots.slot(field), slots.field(slot)), (Some(slot), Some(field)));
            }
            assert_eq!(slots.field(slots.len()), None);
            assert_eq!(slots.slot(FragmentField::Attribute(3)), None);
        }
    }
}
