//! Conversion of conditions to the form of delete commits: enumeration values become indices.

use std::sync::Arc;

use tdb_schema::{ArraySchema, Attribute, Enumeration, FieldRef};

use crate::bind::{decisive, is_characters, positions};
use crate::resolve::FindEnumeration;
use crate::{Condition, ConditionError, Literal, Members, Operator, Result};

impl Condition {
    /// Converts the condition to the form stored in delete commits. A field with an enumeration is
    /// compared with indices.
    ///
    /// `enumerations` looks up an enumeration by name.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve). Also fails if a value is missing from its enumeration, if the
    /// index of a value is too large for cells, or if an inequality compares cells of several
    /// `char`.
    pub fn to_stored(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<Arc<Enumeration>>,
    ) -> Result<Self> {
        let resolved = self.resolve(schema, &enumerations)?;
        Storer { schema, enumerations: &enumerations }.node(&resolved)
    }
}

struct Storer<'a> {
    schema: &'a ArraySchema,
    enumerations: &'a FindEnumeration<'a>,
}

impl Storer<'_> {
    fn node(&self, condition: &Condition) -> Result<Condition> {
        let all = |nodes: &[Condition]| nodes.iter().map(|node| self.node(node)).collect::<Result<Vec<_>>>();
        Ok(match condition {
            // Flattens nested combinations, because the reference library evaluates an OR within an
            // OR incorrectly.
            Condition::And(nodes) => all(nodes)?.into_iter().fold(Condition::And(Vec::new()), Condition::and),
            Condition::Or(nodes) => all(nodes)?.into_iter().fold(Condition::Or(Vec::new()), Condition::or),
            Condition::Not(node) => Condition::Not(Box::new(self.node(node)?)),
            Condition::Compare { field, operator, value } => match self.enumerated(field)? {
                Some(enumerated) => {
                    let positions = enumerated.positions(value.bytes())?;
                    match decisive(*operator, &positions) {
                        Some(value) => {
                            let value = Literal::from(value.to_vec());
                            Condition::Compare { field: field.clone(), operator: *operator, value }
                        }
                        None => self.set(field, *operator == Operator::NotEqual, positions.into_iter().collect()),
                    }
                }
                None if self.has_characters(field) => self.characters(field, *operator, value.bytes())?,
                None => condition.clone(),
            },
            Condition::Member { field, negated, values } => {
                let values = match self.enumerated(field)? {
                    Some(enumerated) => {
                        let positions = values.iter().map(|value| enumerated.positions(value));
                        positions.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Members>()
                    }
                    None => values.clone(),
                };
                self.set(field, *negated, values)
            }
            Condition::Null { .. } | Condition::Nan { .. } | Condition::Constant { .. } => condition.clone(),
        })
    }

    /// Returns `true` if cells have several characters. Stored comparisons use only the first
    /// character.
    fn has_characters(&self, field: &str) -> bool {
        let cells = self.schema.field(field).and_then(|field| self.schema.field_type(field));
        cells.is_some_and(is_characters)
    }

    /// Converts a comparison of cells of several characters to a set, because sets compare all
    /// bytes.
    fn characters(&self, field: &str, operator: Operator, value: &[u8]) -> Result<Condition> {
        if operator.is_inequality() {
            return Err(ConditionError::OrderOfCharacters { field: field.to_owned() });
        }
        let cells = self.schema.field(field).and_then(|field| self.schema.field_type(field)?.cell_size());
        // A value of another size equals no cell.
        let values = Some(value).filter(|value| cells == Some(value.len() as u64));
        Ok(self.set(field, operator == Operator::NotEqual, values.into_iter().collect()))
    }

    /// Returns a test for membership. Avoids sets without bytes, which make the array unreadable
    /// for the reference library.
    fn set(&self, field: &str, negated: bool, values: Members) -> Condition {
        let compare = |operator, value: Vec<u8>| Condition::Compare {
            field: field.to_owned(),
            operator,
            value: Literal::from(value),
        };
        if !values.data().is_empty() {
            return Condition::Member { field: field.to_owned(), negated, values };
        }
        if values.iter().len() > 0 {
            // The only value is the empty string.
            return compare(if negated { Operator::NotEqual } else { Operator::Equal }, Vec::new());
        }
        let size = self.schema.field(field).and_then(|field| self.schema.field_type(field)?.cell_size());
        let value = vec![0; size.map_or(1, tdb_types::saturating_len)];
        let (equal, other) = (compare(Operator::Equal, value.clone()), compare(Operator::NotEqual, value));
        if negated { equal.or(other) } else { equal.and(other) }
    }

    /// Returns the attribute and its enumeration, if the field has one.
    fn enumerated(&self, field: &str) -> Result<Option<Enumerated<'_>>> {
        let Some(FieldRef::Attribute(index)) = self.schema.field(field) else { return Ok(None) };
        let attribute = &self.schema.attributes()[index];
        let Some(name) = attribute.enumeration() else { return Ok(None) };
        let missing = || ConditionError::EnumerationMissing { field: field.to_owned(), enumeration: name.to_owned() };
        let enumeration = (self.enumerations)(name).ok_or_else(missing)?;
        Ok(Some(Enumerated { attribute, enumeration }))
    }
}

struct Enumerated<'a> {
    attribute: &'a Attribute,
    enumeration: Arc<Enumeration>,
}

impl Enumerated<'_> {
    fn positions(&self, value: &[u8]) -> Result<Vec<Vec<u8>>> {
        let positions = positions(&self.enumeration, value, self.attribute.datatype());
        if positions.is_empty() {
            return Err(ConditionError::NotEnumerated {
                field: self.attribute.name().to_owned(),
                enumeration: self.enumeration.name().to_owned(),
                value: String::from_utf8_lossy(value).into_owned(),
            });
        }
        Ok(positions)
    }
}
