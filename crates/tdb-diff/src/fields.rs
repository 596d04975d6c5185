//! Common fields of two arrays.

use std::sync::Arc;

use tdb_array::{Array, Batch, Column};
use tdb_schema::{ArraySchema, Attribute, Enumeration};
use tdb_types::{Datatype, PhysicalType, Scalar};

use tdb_job::Result;

/// The compared fields: all dimensions, and the common attributes with comparable cells.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) names: Vec<String>,
    /// Names in the second array.
    pub(super) names_in_b: Vec<String>,
    /// Number of dimensions.
    pub(super) dimensions: usize,
    /// Type of each dimension, or `None` for a string dimension.
    physical: Vec<Option<PhysicalType>>,
    /// Enumerations of each field, if they differ.
    values: Vec<Option<EnumeratedValues>>,
}

/// Differing enumerations of an attribute.
#[derive(Debug)]
struct EnumeratedValues {
    datatype: Datatype,
    a: Arc<Enumeration>,
    b: Arc<Enumeration>,
}

impl Fields {
    /// Matches fields by name or by position.
    ///
    /// Returns `None` if the array types or the dimensions differ. With `by_place`, also returns
    /// `None` if an attribute has no comparable counterpart.
    pub(super) fn of(a: &Array, b: &Array, by_place: bool) -> Result<Option<Self>> {
        let dimensions = || a.schema().dimensions().iter().zip(b.schema().dimensions());
        let is_same = a.schema().array_type() == b.schema().array_type()
            && a.schema().dimensions().len() == b.schema().dimensions().len()
            && dimensions().all(|(a, b)| (by_place || a.name() == b.name()) && a.datatype() == b.datatype());
        let attributes = pairs(a.schema(), b.schema(), by_place);
        if !is_same
            || (by_place && attributes.len() != a.schema().attributes().len().max(b.schema().attributes().len()))
        {
            return Ok(None);
        }
        let physical = dimensions().map(|(dimension, _)| (!dimension.is_var()).then(|| dimension.physical())).collect();
        let mut fields = Self { physical, ..Self::default() };
        for (dimension, other) in dimensions() {
            fields.push(dimension.name(), other.name(), None);
        }
        fields.dimensions = fields.names.len();
        for (attribute, other) in attributes {
            let enumerations = match (attribute.enumeration(), other.enumeration()) {
                (Some(own), Some(others)) => Some((a.enumeration(own)?, b.enumeration(others)?)),
                _ => None,
            };
            let differ = enumerations.filter(|(a, b)| (a.data(), a.offsets()) != (b.data(), b.offsets()));
            let values = differ.map(|(a, b)| EnumeratedValues { datatype: attribute.datatype(), a, b });
            fields.push(attribute.name(), other.name(), values);
        }
        Ok(Some(fields))
    }

    fn push(&mut self, name: &str, name_in_b: &str, values: Option<EnumeratedValues>) {
        self.names.push(name.to_owned());
        self.names_in_b.push(name_in_b.to_owned());
        self.values.push(values);
    }

    /// Compares the coordinates of two cells, first dimension first.
    pub(super) fn compare(&self, (a, at): (&Batch, usize), (b, other): (&Batch, usize)) -> std::cmp::Ordering {
        let columns = a.columns().iter().zip(b.columns()).zip(&self.physical);
        let ordering = columns.map(|((a, b), physical)| {
            let (a, b) = (a.cell_bytes(at), b.cell_bytes(other));
            let key =
                |bytes: &[u8]| physical.and_then(|physical| Scalar::from_le_bytes(physical, bytes)).map(Scalar::key);
            match physical {
                Some(_) => key(a).cmp(&key(b)),
                None => a.cmp(b),
            }
        });
        ordering.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    }

    /// Returns `true` if two cells have the same value of a field.
    pub(super) fn is_equal(&self, field: usize, (a, at): (&Column, usize), (b, other): (&Column, usize)) -> bool {
        match (a.cell(at), b.cell(other), &self.values[field]) {
            (None, None, _) => true,
            (Some(a), Some(b), None) => a == b,
            (Some(a), Some(b), Some(values)) => values.of(&values.a, a) == values.of(&values.b, b),
            _ => false,
        }
    }

    /// Encodes the first cell of a batch. Cells with equal values have equal encodings, in both
    /// arrays.
    pub(super) fn values_of(&self, batch: &Batch, is_a: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut push = |kind: u8, value: &[u8]| {
            bytes.push(kind);
            bytes.extend((value.len() as u64).to_le_bytes());
            bytes.extend_from_slice(value);
        };
        for (column, values) in batch.columns().iter().zip(&self.values) {
            match (column.cell(0), values) {
                (None, _) => push(0, &[]),
                (Some(cell), None) => push(1, cell),
                (Some(cell), Some(values)) => {
                    let enumeration = if is_a { &values.a } else { &values.b };
                    for meaning in values.of(enumeration, cell) {
                        match meaning {
                            Meaning::Value(value) => push(2, value),
                            Meaning::Position(position) => push(3, position),
                        }
                    }
                    push(4, &[]);
                }
            }
        }
        bytes
    }

    /// Returns `true` if all fields have equal bytes. A `false` result does not exclude equal
    /// values.
    pub(super) fn are_surely_equal(&self, a: &Batch, b: &Batch) -> bool {
        let columns = a.columns().iter().zip(b.columns());
        self.values.iter().all(Option::is_none) && columns.into_iter().all(|(a, b)| has_equal_bytes(a, b))
    }
}

/// Returns the matching attributes with comparable cells.
fn pairs<'s>(a: &'s ArraySchema, b: &'s ArraySchema, by_place: bool) -> Vec<(&'s Attribute, &'s Attribute)> {
    let others = b.attributes();
    let pair = |(place, attribute): (usize, &'s Attribute)| {
        let other = match by_place {
            true => others.get(place),
            false => others.iter().find(|other| other.name() == attribute.name()),
        };
        other.filter(|other| is_comparable(attribute, other)).map(|other| (attribute, other))
    };
    a.attributes().iter().enumerate().filter_map(pair).collect()
}

/// Returns `true` if the cells of two attributes are comparable. Nullability and fill values do not
/// matter.
fn is_comparable(a: &Attribute, b: &Attribute) -> bool {
    (a.datatype(), a.cell_val_num(), a.enumeration().is_some())
        == (b.datatype(), b.cell_val_num(), b.enumeration().is_some())
}

fn has_equal_bytes(a: &Column, b: &Column) -> bool {
    let lengths = |column: &Column| {
        column.offsets().map(|offsets| offsets.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>())
    };
    a.bytes() == b.bytes() && lengths(a) == lengths(b) && (0..a.len()).all(|cell| a.is_valid(cell) == b.is_valid(cell))
}

/// Meaning of an enumeration position.
#[derive(Debug, PartialEq)]
enum Meaning<'a> {
    Value(&'a [u8]),
    /// Position beyond the end of the enumeration.
    Position(&'a [u8]),
}

impl EnumeratedValues {
    fn of<'a>(&self, enumeration: &'a Enumeration, cell: &'a [u8]) -> Vec<Meaning<'a>> {
        let size = self.datatype.size().max(1);
        let meaning = |position: &'a [u8]| {
            let number = Scalar::from_le_bytes(self.datatype.physical(), position).and_then(Scalar::to_integer);
            let value = number.and_then(|number| enumeration.value(usize::try_from(number).ok()?));
            value.map_or(Meaning::Position(position), Meaning::Value)
        };
        cell.chunks(size).map(meaning).collect()
    }
}
