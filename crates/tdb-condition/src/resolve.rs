//! Resolution of conditions: conversion of text and numbers to bytes of cells.

use std::borrow::Cow;
use std::sync::Arc;

use tdb_schema::{ArraySchema, Enumeration, FieldRef, FieldType};
use tdb_types::datetime::WrittenError;
use tdb_types::{CellValNum, Datatype, Scalar};

use crate::error::{ConditionError, Result};
use crate::literal::{Literal, LiteralKind, Meaning, is_text, meaning, shown};
use crate::tree::{Condition, Members, Operator};

/// A lookup of enumerations by name.
pub(crate) type FindEnumeration<'a> = dyn Fn(&str) -> Option<Arc<Enumeration>> + 'a;

/// The maximum depth of conditions processed by recursion, above the limit for text and within the
/// capacity of any stack.
const DEEPEST: u32 = 1000;

/// The location of an error in a condition: the index of a test, and the index of a value in the
/// test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) test: usize,
    pub(crate) value: Option<usize>,
}

/// A converter of literals to bytes of cells.
pub(crate) struct Resolver<'a> {
    pub(crate) schema: &'a ArraySchema,
    pub(crate) enumerations: &'a FindEnumeration<'a>,
    /// The location of the last processed value.
    pub(crate) place: Place,
}

/// The cell type and the enumeration of a field.
struct Known {
    cells: FieldType,
    /// The enumeration, if the field has one.
    enumeration: Option<Arc<Enumeration>>,
}

impl Known {
    /// Returns the type of the values that the field is compared with.
    fn values(&self) -> (Datatype, CellValNum) {
        match &self.enumeration {
            Some(enumeration) => (enumeration.datatype(), enumeration.cell_val_num()),
            None => (self.cells.datatype, self.cells.cell_val_num),
        }
    }

    /// Checks the size of a set member. Sets compare bytes, so a text of another size equals no
    /// fixed-size cell, and binding would reject the set.
    fn equals_in_size(&self, field: &str, bytes: &[u8]) -> Result<()> {
        match self.cells.cell_size().map(tdb_types::saturating_len) {
            Some(expected) if self.enumeration.is_none() && bytes.len() != expected => {
                Err(ConditionError::WrongSize { field: field.to_owned(), expected, found: bytes.len() })
            }
            _ => Ok(()),
        }
    }

    /// Returns a test for membership in `members`.
    ///
    /// Sets compare bytes, also in the reference library. For floats, a set therefore gives the
    /// same result as `=` only if the set has no NaN, and either both zeros or no zero.
    fn set(&self, field: &str, negated: bool, mut members: Vec<Cow<'_, [u8]>>) -> Condition {
        let physical = self.cells.datatype.physical();
        if self.enumeration.is_none() && physical.is_float() {
            let float = |bytes: &[u8]| Scalar::from_le_bytes(physical, bytes).map_or(0.0, Scalar::to_f64);
            let nan = members.iter().position(|bytes| float(bytes).is_nan()).map(|index| members[index].to_vec());
            members.retain(|bytes| !float(bytes).is_nan());
            if let (true, Some(nan)) = (members.is_empty(), nan) {
                let operator = if negated { Operator::NotEqual } else { Operator::Equal };
                return Condition::Compare { field: field.to_owned(), operator, value: nan.into() };
            }
            if members.iter().any(|bytes| float(bytes) == 0.0) {
                members.retain(|bytes| float(bytes) != 0.0);
                members.extend([0, 0x80].map(|sign| {
                    let mut zero = vec![0; physical.size()];
                    zero.last_mut().into_iter().for_each(|last| *last = sign);
                    Cow::Owned(zero)
                }));
            }
        }
        let kind = self.kind(members.iter().map(|bytes| &bytes[..]));
        Condition::Member { field: field.to_owned(), negated, values: Members::of_kind(kind, members) }
    }

    /// Returns the kind of resolved values. Fields with an enumeration store indices, so the kind
    /// must distinguish values from indices.
    fn kind<'a>(&self, values: impl IntoIterator<Item = &'a [u8]>) -> LiteralKind {
        match &self.enumeration {
            Some(enumeration) if !is_text(enumeration.datatype()) => {
                LiteralKind::Number(enumeration.datatype().physical())
            }
            Some(_) if values.into_iter().all(|value| std::str::from_utf8(value).is_ok()) => LiteralKind::Text,
            _ => LiteralKind::Cell,
        }
    }
}

impl Condition {
    /// Converts numbers and text to bytes of cells.
    ///
    /// A date that covers several values, such as a month for a field of days, becomes a range.
    /// Then `=` matches cells within the range, and `<` matches cells before the range.
    ///
    /// `enumerations` looks up an enumeration by name. Comparisons of a field with an enumeration
    /// keep the values of the enumeration. [`bind`](Self::bind) converts these values to indices.
    ///
    /// # Errors
    /// - A field does not exist or cannot be compared.
    /// - A value does not fit the type of its field.
    /// - An inequality uses an unordered enumeration, or `enumerations` does not find an
    ///   enumeration.
    /// - A date is ambiguous, or has the suffix of another unit.
    /// - The condition is nested deeper than 1000 levels.
    pub fn resolve(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<Arc<Enumeration>>,
    ) -> Result<Self> {
        if self.depth() > DEEPEST {
            return Err(ConditionError::TooDeep { most: DEEPEST });
        }
        Resolver { schema, enumerations: &enumerations, place: Place::default() }.node(self)
    }
}

impl Resolver<'_> {
    pub(crate) fn node(&mut self, condition: &Condition) -> Result<Condition> {
        Ok(match condition {
            Condition::And(nodes) => Condition::And(self.nodes(nodes)?),
            Condition::Or(nodes) => Condition::Or(self.nodes(nodes)?),
            Condition::Not(node) => Condition::Not(Box::new(self.node(node)?)),
            Condition::Compare { field, operator, value } => {
                let resolved = self.comparison(field, *operator, value)?;
                self.next_test();
                resolved
            }
            Condition::Member { field, negated, values } => {
                let resolved = self.membership(field, *negated, values)?;
                self.next_test();
                resolved
            }
            // Tests for null and NaN need no values of an enumeration.
            Condition::Null { field, .. } | Condition::Nan { field, .. } | Condition::Constant { field, .. } => {
                self.reference(field)?;
                self.next_test();
                condition.clone()
            }
        })
    }

    fn nodes(&mut self, nodes: &[Condition]) -> Result<Vec<Condition>> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn next_test(&mut self) {
        self.place = Place { test: self.place.test + 1, value: None };
    }

    fn reference(&self, name: &str) -> Result<(FieldRef, FieldType)> {
        let found = self.schema.field(name).and_then(|field| Some((field, self.schema.field_type(field)?)));
        found.ok_or_else(|| ConditionError::UnknownField {
            field: name.to_owned(),
            known: self.schema.fields().filter_map(|field| self.schema.field_name(field)).map(str::to_owned).collect(),
        })
    }

    fn known(&self, name: &str) -> Result<Known> {
        let (field, cells) = self.reference(name)?;
        let FieldRef::Attribute(index) = field else { return Ok(Known { cells, enumeration: None }) };
        let enumeration = self.schema.attributes().get(index).and_then(|attribute| attribute.enumeration());
        let find = |enumeration: &str| {
            let missing =
                || ConditionError::EnumerationMissing { field: name.to_owned(), enumeration: enumeration.to_owned() };
            (self.enumerations)(enumeration).ok_or_else(missing)
        };
        Ok(Known { cells, enumeration: enumeration.map(find).transpose()? })
    }

    fn comparison(&mut self, field: &str, operator: Operator, value: &Literal) -> Result<Condition> {
        let known = self.known(field)?;
        comparable(field, known.cells)?;
        if let Some(enumeration) = &known.enumeration
            && operator.is_inequality()
            && !enumeration.is_ordered()
        {
            let enumeration = enumeration.name().to_owned();
            return Err(ConditionError::Unordered { field: field.to_owned(), enumeration });
        }
        self.place.value = Some(0);
        let compare = |operator, bytes: Vec<u8>| Condition::Compare {
            field: field.to_owned(),
            operator,
            value: Literal::new(known.kind([&bytes[..]]), bytes),
        };
        Ok(match value_of(field, &known, value.bytes(), value.kind())? {
            Meaning::Cell(bytes) => compare(operator, bytes.into_owned()),
            // The comparisons are also correct if `first` exceeds `last`, for a date between two
            // values.
            Meaning::Period(first, last) => {
                let compare = |operator, value: i64| compare(operator, value.to_le_bytes().to_vec());
                match operator {
                    Operator::Less | Operator::GreaterOrEqual => compare(operator, first),
                    Operator::LessOrEqual | Operator::Greater => compare(operator, last),
                    Operator::Equal => {
                        compare(Operator::GreaterOrEqual, first).and(compare(Operator::LessOrEqual, last))
                    }
                    Operator::NotEqual => compare(Operator::Less, first).or(compare(Operator::Greater, last)),
                }
            }
        })
    }

    fn membership(&mut self, field: &str, negated: bool, values: &Members) -> Result<Condition> {
        let known = self.known(field)?;
        comparable(field, known.cells)?;
        let (mut members, mut periods) = (Vec::new(), Vec::new());
        for (index, bytes) in values.iter().enumerate() {
            self.place.value = Some(index);
            match value_of(field, &known, bytes, values.kind())? {
                Meaning::Cell(bytes) => {
                    known.equals_in_size(field, &bytes)?;
                    members.push(bytes);
                }
                Meaning::Period(first, last) => periods.push((first, last)),
            }
        }
        let list = known.set(field, negated, members);
        let within = |(first, last): (i64, i64)| {
            let compare = |operator, value: i64| Condition::Compare {
                field: field.to_owned(),
                operator,
                value: Literal::from(value.to_le_bytes().to_vec()),
            };
            let within = compare(Operator::GreaterOrEqual, first).and(compare(Operator::LessOrEqual, last));
            if negated { within.negation() } else { within }
        };
        let join = if negated { Condition::and } else { Condition::or };
        Ok(periods.into_iter().map(within).fold(list, join))
    }
}

fn value_of<'a>(field: &str, known: &Known, bytes: &'a [u8], kind: LiteralKind) -> Result<Meaning<'a>> {
    let (datatype, cell_val_num) = known.values();
    let found = meaning(bytes, kind, datatype, cell_val_num).map_err(|why| match why {
        WrittenError::NotAValue => ConditionError::NotAValue {
            field: field.to_owned(),
            value: shown(bytes, kind),
            datatype,
            enumeration: known.enumeration.as_ref().map(|enumeration| enumeration.name().to_owned()),
        },
        why => ConditionError::UnclearDate { field: field.to_owned(), why },
    })?;
    // Values of an enumeration are looked up regardless of length.
    let size = known.cells.cell_size().filter(|_| known.enumeration.is_none() && !is_text(datatype));
    match (&found, size) {
        (Meaning::Cell(bytes), Some(size)) if bytes.len() as u64 != size => {
            let expected = tdb_types::saturating_len(size);
            Err(ConditionError::WrongSize { field: field.to_owned(), expected, found: bytes.len() })
        }
        _ => Ok(found),
    }
}

/// Checks that cells of this type support comparisons, not only tests for null.
pub(crate) fn comparable(name: &str, cells: FieldType) -> Result<()> {
    let FieldType { datatype, cell_val_num, .. } = cells;
    let opaque = datatype.is_bytes() || datatype == Datatype::Any;
    let wide = datatype.is_string() && datatype.size() > 1;
    if is_text(datatype) || (!opaque && !wide && cell_val_num == CellValNum::ONE) {
        return Ok(());
    }
    let values = cell_val_num.fixed().map_or_else(|| "any number".to_owned(), |number| number.to_string());
    Err(ConditionError::NotComparable { field: name.to_owned(), datatype, values })
}
