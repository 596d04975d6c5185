//! The fields of a fragment, and the place of each in the lists of its metadata.

use std::fmt;

use tdb_schema::{ArraySchema, Attribute, Dimension};
use tdb_types::{Feature, FormatVersion, names};

/// Something that a fragment stores one value of per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FragmentField {
    /// The attribute with this index in the fragment's schema.
    Attribute(usize),
    /// All coordinates of a cell in one: what the file `__coords.tdb` holds before dimensions had files of their own. In
    /// later versions the field keeps its place in every list, with nothing behind it.
    Coordinates,
    /// The dimension with this index.
    Dimension(usize),
    /// When the cell was written: `u64` milliseconds since 1970.
    Timestamps,
    /// When the cell was deleted: `u64` milliseconds since 1970, or the largest `u64` if it lives.
    DeleteTimestamps,
    /// Which of the processed conditions deleted the cell: `u64`, or the largest `u64` if it lives.
    DeleteConditionIndex,
}

impl FragmentField {
    /// The field's name for people: that of the attribute or dimension, or the format's own.
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

/// Which of a field's up to three data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The cells of a fixed-size field, the cells' offsets of a variable-size one.
    Fixed,
    /// The values of a variable-size field.
    Var,
    /// A byte per cell of a nullable field, 0 for null.
    Validity,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Var, Self::Validity];
}

/// Which fields a fragment has, and the order in which every list of its metadata names them:
/// attributes, `__coords`, dimensions, timestamps, delete timestamps, delete condition index.
///
/// While coordinates are combined (formats 1 to 4) the dimensions have no place, and the lists about variable-size data
/// end before `__coords`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlots {
    attributes: usize,
    /// 0 while coordinates are combined.
    dimensions: usize,
    combined: bool,
    timestamps: bool,
    delete_metadata: bool,
}

impl FieldSlots {
    /// The fields of a fragment of `version` with so many attributes and dimensions.
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

    /// How many fields the lists about fixed-size data name.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes + 1 + self.dimensions + usize::from(self.timestamps) + 2 * usize::from(self.delete_metadata)
    }

    /// Never: `__coords` always has a place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How many fields the lists about variable-size data name.
    #[must_use]
    pub fn var_len(&self) -> usize {
        if self.combined { self.attributes } else { self.len() }
    }

    /// The place of `field` in the lists, if the fragment has it.
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

    /// The field at a place in the lists.
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

    /// Every field, in the order of the lists.
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
    fn combined_coordinates_leave_no_place_for_dimensions() {
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
