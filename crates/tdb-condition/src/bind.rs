//! Conditions bound to a schema: which fields they need, and what is to be tested of each.

use std::sync::Arc;

use tdb_schema::{ArraySchema, Enumeration, FieldRef, FieldType};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar, saturating_len};

use crate::error::{ConditionError, Result};
use crate::literal::is_text;
use crate::resolve::{FindEnumeration, comparable};
use crate::tree::{Condition, Members, Operator};

/// A condition that fits a schema, ready to be [evaluated](Self::evaluate) over cells.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundCondition {
    pub(crate) fields: Vec<BoundField>,
    pub(crate) root: Node,
}

/// A field that a condition needs the cells of.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundField {
    /// Its name.
    pub name: String,
    /// Which field of the schema it is.
    pub field: FieldRef,
    /// How its cells look.
    pub cells: FieldType,
}

/// A condition without negations and names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Constant(bool),
    Test { field: usize, test: Test },
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// What is asked of one field, with everything decided that doesn't depend on cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Whether cells are null, or are not.
    Null(bool),
    /// Whether cells are NaNs, or are not.
    Nan(PhysicalType, bool),
    /// A comparison of numbers; the value has exactly their size.
    Number { physical: PhysicalType, operator: Operator, value: Vec<u8> },
    /// A comparison of bytes, in cells of a fixed number of them or of any.
    Bytes { size: Option<usize>, signed: bool, operator: Operator, value: Vec<u8> },
    /// A comparison of the first of several characters in a cell.
    FirstChar { operator: Operator, value: i8 },
    /// Whether cells of up to 8 bytes are among these, which are sorted; as integers.
    SmallSet { size: usize, negated: bool, values: Vec<u64> },
    /// Whether cells are among these, which are sorted.
    Set { size: Option<usize>, negated: bool, values: Vec<Vec<u8>> },
}

impl Condition {
    /// Holds a condition that people wrote against a schema: fields with an enumeration are compared with its values.
    /// `enumerations` gives the enumeration of a name.
    ///
    /// # Errors
    /// A field that isn't there or can't be compared, a value that isn't of its type, an enumeration without order in an
    /// inequality.
    pub fn bind(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<Arc<Enumeration>>,
    ) -> Result<BoundCondition> {
        let resolved = self.resolve(schema, &enumerations)?;
        Binder { schema, newest: schema, enumerations: Some(&enumerations), fields: Vec::new() }.bind(&resolved)
    }

    /// Holds a condition of a delete commit against the schema of a fragment. In a stored condition, fields with an
    /// enumeration are compared with positions, and a comparison of numbers with no bytes is a test for null.
    ///
    /// Tests of fields that the schema doesn't have fail. So do tests that don't fit a field that `newest`, the array's
    /// newest schema, has as another type: an attribute was dropped and one of its name added, which is what they are of.
    ///
    /// # Errors
    /// A field that can't be compared, or a value that isn't of its type.
    pub fn bind_stored(&self, schema: &ArraySchema, newest: &ArraySchema) -> Result<BoundCondition> {
        Binder { schema, newest, enumerations: None, fields: Vec::new() }.bind(self)
    }
}

impl BoundCondition {
    /// The fields whose cells it needs, each once.
    #[must_use]
    pub fn fields(&self) -> &[BoundField] {
        &self.fields
    }

    /// What the condition is for all cells, if that is known.
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
            // There are none any more; it means the same.
            Condition::Not(node) => self.node(&node.negation())?,
        })
    }

    /// What `bind` makes of the field of that name, given by its place among those that are needed.
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

    /// Whether the newest schema has a field of that name and type.
    fn is_of_newest_type(&self, field: usize) -> bool {
        let BoundField { name, cells, .. } = &self.fields[field];
        let newest = self.newest.field(name).and_then(|field| self.newest.field_type(field));
        newest.is_some_and(|newest| (newest.datatype, newest.cell_val_num) == (cells.datatype, cells.cell_val_num))
    }

    /// The place of a field among those that are needed.
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
                // A value that the enumeration lacks equals no cell and differs from every cell.
                None if positions.is_empty() => Ok(self.constant(field, operator == Operator::NotEqual)),
                None => self.set(field, operator == Operator::NotEqual, positions),
            };
        }
        if is_nan(cells, value) {
            // A NaN equals no cell, and every cell differs from it.
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

    /// A comparison with the same result for all cells that are not null. It is false for null cells.
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

    /// Whether cells are among these, or are not if negated.
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

    /// The enumeration whose values a field is compared with, if that is what is asked for.
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

/// Whether cells have a fixed number of several `char`.
pub(crate) fn is_characters(cells: FieldType) -> bool {
    cells.datatype == Datatype::Char && cells.cell_val_num != CellValNum::ONE && cells.cell_val_num.fixed().is_some()
}

/// Whether a value of the cells' type is a NaN.
fn is_nan(cells: FieldType, value: &[u8]) -> bool {
    let is_float = cells.cell_val_num == CellValNum::ONE && cells.datatype.is_float();
    is_float && Scalar::from_le_bytes(cells.datatype.physical(), value).is_some_and(|value| value.to_f64().is_nan())
}

/// A little-endian integer of up to 8 bytes.
pub(crate) fn small(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Bytes of a cell, unless they vary.
fn cell_size(cells: FieldType) -> Option<usize> {
    // What doesn't fit an address is no cell that could be held; nothing has its size.
    cells.cell_size().map(saturating_len)
}

#[cold]
fn wrong_size(name: &str, expected: usize, found: usize) -> ConditionError {
    ConditionError::WrongSize { field: name.to_owned(), expected, found }
}

/// Positions of the enumeration's values that equal a value, as cells hold them; empty if no cell can hold one. Floats compare
/// as in a column: zeros of both signs are equal, and a NaN equals nothing.
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

/// Positions as cells hold them, without those that are too large for one.
fn cells_of(positions: impl IntoIterator<Item = usize>, datatype: Datatype) -> Vec<Vec<u8>> {
    let most = datatype.physical().max_integer().unwrap_or(0);
    let held = positions.into_iter().map(|position| position as u64).filter(|position| *position <= most);
    held.filter_map(|position| position.to_le_bytes().get(..datatype.size()).map(<[u8]>::to_vec)).collect()
}

/// The position that decides a comparison with equal values; `None` if there are several or none.
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
