//! Conditions bound to a schema.

use std::sync::Arc;

use tdb_schema::{ArraySchema, Enumeration, FieldRef, FieldType};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar, saturating_len};

use crate::error::{ConditionError, Result};
use crate::literal::is_text;
use crate::resolve::{FindEnumeration, comparable};
use crate::tree::{Condition, Members, Operator};

/// A condition bound to a schema, ready to be [evaluated](Self::evaluate).
#[derive(Clone, Debug, PartialEq)]
pub struct BoundCondition {
    pub(crate) fields: Vec<BoundField>,
    pub(crate) root: Node,
}

/// A field tested by a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundField {
    /// The name of the field.
    pub name: String,
    /// The field of the schema.
    pub field: FieldRef,
    /// The type of the cells.
    pub cells: FieldType,
}

/// A condition without negations or names of fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Constant(bool),
    Test { field: usize, test: Test },
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// A test of a field, with all decisions made that do not depend on cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Matches null cells if `true`, and all other cells if `false`.
    Null(bool),
    /// Matches NaNs if `true`, and all other numbers if `false`.
    Nan(PhysicalType, bool),
    /// A comparison of numbers. The value has exactly the size of a number.
    Number { physical: PhysicalType, operator: Operator, value: Vec<u8> },
    /// A comparison of bytes, in cells of fixed or variable size.
    Bytes { size: Option<usize>, signed: bool, operator: Operator, value: Vec<u8> },
    /// A comparison of the first of several characters in a cell.
    FirstChar { operator: Operator, value: i8 },
    /// Membership of cells of up to 8 bytes, as integers. The values are sorted.
    SmallSet { size: usize, negated: bool, values: Vec<u64> },
    /// Membership in a sorted list of values.
    Set { size: Option<usize>, negated: bool, values: Vec<Vec<u8>> },
}

impl Condition {
    /// Binds a condition of a query to a schema. A field with an enumeration is compared with
    /// values of the enumeration.
    ///
    /// `enumerations` looks up an enumeration by name.
    ///
    /// # Errors
    /// - A field does not exist or cannot be compared.
    /// - A value does not fit the type of its field.
    /// - An inequality uses an unordered enumeration, or `enumerations` does not find an
    ///   enumeration.
    /// - A date is ambiguous, or has the suffix of another unit.
    /// - A field that cannot be NaN is tested for NaN.
    /// - The condition is nested deeper than 1000 levels.
    pub fn bind(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<Arc<Enumeration>>,
    ) -> Result<BoundCondition> {
        let resolved = self.resolve(schema, &enumerations)?;
        Binder { schema, newest: schema, enumerations: Some(&enumerations), fields: Vec::new() }.bind(&resolved)
    }

    /// Binds a condition of a delete commit to the schema of a fragment.
    ///
    /// In stored conditions, a field with an enumeration is compared with indices. An equality
    /// comparison of numbers with an empty value is a test for null.
    ///
    /// Tests of fields missing from `schema` are false. `newest` is the newest schema of the array.
    /// If an attribute was dropped and added with another type, the types in `schema` and `newest`
    /// differ. A test that does not fit the type in `schema` is then false, too.
    ///
    /// # Errors
    /// Fails if a field cannot be compared, if a value does not fit the type of its field, or if a
    /// field that cannot be NaN is tested for NaN.
    pub fn bind_stored(&self, schema: &ArraySchema, newest: &ArraySchema) -> Result<BoundCondition> {
        Binder { schema, newest, enumerations: None, fields: Vec::new() }.bind(self)
    }
}

impl BoundCondition {
    /// Returns the fields of the condition, each once. [`evaluate`](Self::evaluate) expects columns
    /// in this order.
    #[must_use]
    pub fn fields(&self) -> &[BoundField] {
        &self.fields
    }

    /// Returns the result if the condition is a single constant, for example after
    /// [`assuming`](Self::assuming). Returns `None` for every other condition.
    #[must_use]
    pub fn constant(&self) -> Option<bool> {
        match self.root {
            Node::Constant(truth) => Some(truth),
            _ => None,
        }
    }
}

struct Binder<'a> {
    schema: &'a ArraySchema,
    newest: &'a ArraySchema,
    enumerations: Option<&'a FindEnumeration<'a>>,
    fields: Vec<BoundField>,
}

impl Binder<'_> {
    fn bind(mut self, condition: &Condition) -> Result<BoundCondition> {
        let root = self.node(&condition.without_not())?;
        Ok(BoundCondition { fields: self.fields, root })
    }

    fn node(&mut self, condition: &Condition) -> Result<Node> {
        Ok(match condition {
            Condition::Compare { field, operator, value } => {
                self.test(field, |binder, place| binder.comparison(place, *operator, value.bytes()))?
            }
            Condition::Member { field, negated, values } => {
                self.test(field, |binder, place| binder.membership(place, *negated, values))?
            }
            Condition::Null { field, negated } => {
                self.test(field, |_, field| Ok(Node::Test { field, test: Test::Null(!negated) }))?
            }
            Condition::Nan { field, negated } => self.test(field, |binder, place| binder.nan(place, !negated))?,
            Condition::Constant { field, truth, .. } => {
                self.test(field, |binder, place| Ok(binder.constant(place, *truth)))?
            }
            Condition::And(nodes) => Node::And(nodes.iter().map(|node| self.node(node)).collect::<Result<_>>()?),
            Condition::Or(nodes) => Node::Or(nodes.iter().map(|node| self.node(node)).collect::<Result<_>>()?),
            // Does not occur, because `without_not` removes all negations.
            Condition::Not(node) => self.node(&node.negation())?,
        })
    }

    /// Binds a test of the field `name`. `bind` gets the index of the field in `fields`.
    fn test(&mut self, name: &str, bind: impl FnOnce(&Self, usize) -> Result<Node>) -> Result<Node> {
        let is_stored = self.enumerations.is_none();
        if is_stored && self.schema.field(name).is_none() {
            return Ok(Node::Constant(false));
        }
        let field = self.field(name)?;
        match bind(self, field) {
            Err(_) if is_stored && !self.is_of_newest_type(field) => Ok(Node::Constant(false)),
            other => other,
        }
    }

    /// Returns `true` if the newest schema has a field of this name and type.
    fn is_of_newest_type(&self, field: usize) -> bool {
        let BoundField { name, cells, .. } = &self.fields[field];
        let newest = self.newest.field(name).and_then(|field| self.newest.field_type(field));
        newest.is_some_and(|newest| (newest.datatype, newest.cell_val_num) == (cells.datatype, cells.cell_val_num))
    }

    /// Returns the index of a field in `fields`, and adds the field if needed.
    fn field(&mut self, name: &str) -> Result<usize> {
        if let Some(known) = self.fields.iter().position(|field| field.name == name) {
            return Ok(known);
        }
        let unknown = || ConditionError::UnknownField { field: name.to_owned(), known: Vec::new() };
        let field = self.schema.field(name).ok_or_else(unknown)?;
        let cells = self.schema.field_type(field).ok_or_else(unknown)?;
        self.fields.push(BoundField { name: name.to_owned(), field, cells });
        Ok(self.fields.len() - 1)
    }

    fn comparison(&self, field: usize, operator: Operator, value: &[u8]) -> Result<Node> {
        let BoundField { name, cells, .. } = &self.fields[field];
        let cells = *cells;
        if let Some(enumeration) = self.enumeration(field)? {
            if operator.is_inequality() && !enumeration.is_ordered() {
                let enumeration = enumeration.name().to_owned();
                return Err(ConditionError::Unordered { field: name.clone(), enumeration });
            }
            let positions = positions(&enumeration, value, cells.datatype);
            return match decisive(operator, &positions) {
                Some(value) => Ok(Node::Test { field, test: compare(name, cells, operator, value)? }),
                // A value missing from the enumeration equals no cell and differs from every cell.
                None if positions.is_empty() => Ok(self.constant(field, operator == Operator::NotEqual)),
                None => self.set(field, operator == Operator::NotEqual, positions),
            };
        }
        if is_nan(cells, value) {
            // A NaN equals no cell and differs from every cell.
            return Ok(self.constant(field, operator == Operator::NotEqual));
        }
        let is_null_test = self.enumerations.is_none() && value.is_empty() && !operator.is_inequality();
        let test = match value.first() {
            _ if is_null_test && !is_text(cells.datatype) => Test::Null(operator == Operator::Equal),
            Some(first) if self.enumerations.is_none() && is_characters(cells) => {
                Test::FirstChar { operator, value: first.cast_signed() }
            }
            _ => compare(name, cells, operator, value)?,
        };
        Ok(Node::Test { field, test })
    }

    /// Returns a test with the same result for all non-null cells. The result is `false` for null
    /// cells.
    fn constant(&self, field: usize, truth: bool) -> Node {
        match truth && self.fields[field].cells.nullable {
            true => Node::Test { field, test: Test::Null(false) },
            false => Node::Constant(truth),
        }
    }

    fn nan(&self, field: usize, wanted: bool) -> Result<Node> {
        let BoundField { name, cells, .. } = &self.fields[field];
        let FieldType { datatype, cell_val_num, .. } = *cells;
        if let Some(enumeration) = self.enumeration(field)?
            && has_floats(&enumeration)
        {
            let values = enumeration.values().enumerate();
            let nans = values.filter(|(_, value)| float(&enumeration, value).is_nan()).map(|(position, _)| position);
            return self.set(field, !wanted, cells_of(nans, datatype));
        }
        if cell_val_num != CellValNum::ONE || !datatype.is_float() {
            return Err(ConditionError::NoNan { field: name.clone(), datatype });
        }
        Ok(Node::Test { field, test: Test::Nan(datatype.physical(), wanted) })
    }

    fn membership(&self, field: usize, negated: bool, values: &Members) -> Result<Node> {
        let BoundField { name, cells, .. } = &self.fields[field];
        let cells = *cells;
        comparable(name, cells)?;
        let members: Vec<Vec<u8>> = match self.enumeration(field)? {
            Some(enumeration) => {
                values.iter().flat_map(|value| positions(&enumeration, value, cells.datatype)).collect()
            }
            None => values.iter().map(<[u8]>::to_vec).collect(),
        };
        self.set(field, negated, members)
    }

    /// Returns a test for membership in `members`.
    fn set(&self, field: usize, negated: bool, mut members: Vec<Vec<u8>>) -> Result<Node> {
        let BoundField { name, cells, .. } = &self.fields[field];
        let size = cell_size(*cells);
        if let Some(size) = size
            && let Some(wrong) = members.iter().find(|value| value.len() != size)
        {
            return Err(wrong_size(name, size, wrong.len()));
        }
        members.sort_unstable();
        members.dedup();
        let test = match size {
            Some(size @ (1 | 2 | 4 | 8)) => {
                let mut values: Vec<u64> = members.iter().map(|value| small(value)).collect();
                values.sort_unstable();
                Test::SmallSet { size, negated, values }
            }
            size => Test::Set { size, negated, values: members },
        };
        Ok(Node::Test { field, test })
    }

    /// Returns the enumeration of a field. Returns `None` for fields without an enumeration, and
    /// for stored conditions, which compare indices.
    fn enumeration(&self, field: usize) -> Result<Option<Arc<Enumeration>>> {
        let BoundField { name, field, .. } = &self.fields[field];
        let (Some(find), FieldRef::Attribute(index)) = (self.enumerations, field) else { return Ok(None) };
        let Some(enumeration) = self.schema.attributes()[*index].enumeration() else { return Ok(None) };
        let missing =
            || ConditionError::EnumerationMissing { field: name.clone(), enumeration: enumeration.to_owned() };
        find(enumeration).map(Some).ok_or_else(missing)
    }
}

fn compare(name: &str, cells: FieldType, operator: Operator, value: &[u8]) -> Result<Test> {
    comparable(name, cells)?;
    let value = value.to_vec();
    if is_text(cells.datatype) {
        let size = cell_size(cells);
        let signed = size.is_some() && cells.datatype == Datatype::Char;
        return Ok(Test::Bytes { size, signed, operator, value });
    }
    let physical = cells.datatype.physical();
    if value.len() != physical.size() {
        return Err(wrong_size(name, physical.size(), value.len()));
    }
    Ok(Test::Number { physical, operator, value })
}

/// Returns `true` if cells have a fixed number of `char`, greater than 1.
pub(crate) fn is_characters(cells: FieldType) -> bool {
    cells.datatype == Datatype::Char && cells.cell_val_num != CellValNum::ONE && cells.cell_val_num.fixed().is_some()
}

/// Returns `true` if the value is a NaN of the cells' type.
fn is_nan(cells: FieldType, value: &[u8]) -> bool {
    let is_float = cells.cell_val_num == CellValNum::ONE && cells.datatype.is_float();
    is_float && Scalar::from_le_bytes(cells.datatype.physical(), value).is_some_and(|value| value.to_f64().is_nan())
}

/// Converts up to 8 little-endian bytes to an integer.
pub(crate) fn small(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Returns the size of a cell in bytes, or `None` if variable.
fn cell_size(cells: FieldType) -> Option<usize> {
    // No cell in memory can have a size that exceeds the address space.
    cells.cell_size().map(saturating_len)
}

#[cold]
fn wrong_size(name: &str, expected: usize, found: usize) -> ConditionError {
    ConditionError::WrongSize { field: name.to_owned(), expected, found }
}

/// Returns the indices of the enumeration's values that equal `value`, as cells store them.
///
/// The result is empty if no value is equal, or if no cell can store the index. Floats compare as
/// in a column: zeros of both signs are equal, and a NaN equals no value.
pub(crate) fn positions(enumeration: &Enumeration, value: &[u8], datatype: Datatype) -> Vec<Vec<u8>> {
    let number = has_floats(enumeration).then(|| float(enumeration, value));
    let places = match number {
        Some(number) if number.is_nan() => Vec::new(),
        Some(0.0) => {
            let mut negative = vec![0; value.len()];
            let positive = negative.clone();
            negative.last_mut().into_iter().for_each(|byte| *byte = 0x80);
            let mut zeros: Vec<usize> =
                [positive, negative].iter().filter_map(|zero| enumeration.index_of(zero)).collect();
            zeros.sort_unstable();
            zeros
        }
        _ => enumeration.index_of(value).into_iter().collect(),
    };
    cells_of(places, datatype)
}

/// Converts indices to cells. Drops indices too large for a cell.
fn cells_of(positions: impl IntoIterator<Item = usize>, datatype: Datatype) -> Vec<Vec<u8>> {
    let most = datatype.physical().max_integer().unwrap_or(0);
    let held = positions.into_iter().map(|position| position as u64).filter(|position| *position <= most);
    held.filter_map(|position| position.to_le_bytes().get(..datatype.size()).map(<[u8]>::to_vec)).collect()
}

/// Returns the index to compare cells with, given the sorted indices of equal values. Returns
/// `None` if a comparison with a single index is not enough.
pub(crate) fn decisive(operator: Operator, positions: &[Vec<u8>]) -> Option<&[u8]> {
    match (operator, positions) {
        (Operator::Less | Operator::GreaterOrEqual, [first, ..]) => Some(first.as_slice()),
        (Operator::LessOrEqual | Operator::Greater, [.., last]) => Some(last.as_slice()),
        (_, [only]) => Some(only.as_slice()),
        _ => None,
    }
}

fn has_floats(enumeration: &Enumeration) -> bool {
    enumeration.datatype().is_float() && enumeration.cell_val_num() == CellValNum::ONE
}

fn float(enumeration: &Enumeration, value: &[u8]) -> f64 {
    Scalar::from_le_bytes(enumeration.datatype().physical(), value).map_or(f64::NAN, Scalar::to_f64)
}
