//! Query conditions, and deletes by conditions.

use std::ptr;

use super::array::purpose;
use super::calls::{allocate, call};
use super::context::{Context, c_string};
use super::handle::Handle;
use crate::Result;
use crate::model::{Bytes, Condition};

const IN: u32 = 6;
const NOT_IN: u32 = 7;
const AND: u32 = 0;
const OR: u32 = 1;

impl Context {
    pub(crate) fn delete(&self, uri: &str, condition: &Condition, timestamp: Option<u64>) -> Result<()> {
        let array = self.open_to_change(uri, purpose::DELETE, timestamp)?;
        let condition = self.condition(condition)?;
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::DELETE))?;
        call!(self, tiledb_query_set_condition(query.pointer(), condition.pointer()))?;
        call!(self, tiledb_query_submit(query.pointer()))?;
        drop(query);
        self.close(&array)
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<Handle> {
        match condition {
            Condition::Compare { field, comparison, value } => {
                let field = c_string(field)?;
                let handle = allocate!(self, tiledb_query_condition_free, tiledb_query_condition_alloc())?;
                let (bytes, size) =
                    value.as_ref().map_or((ptr::null(), 0), |value| (value.as_ptr().cast(), value.len() as u64));
                let operator = *comparison as u32;
                call!(self, tiledb_query_condition_init(handle.pointer(), field.as_ptr(), bytes, size, operator))?;
                Ok(handle)
            }
            Condition::Member { field, values, negated } => self.membership(field, values, *negated),
            Condition::And(left, right) => self.combination(left, right, AND),
            Condition::Or(left, right) => self.combination(left, right, OR),
            Condition::Not(inner) => {
                let inner = self.condition(inner)?;
                allocate!(self, tiledb_query_condition_free, tiledb_query_condition_negate(inner.pointer()))
            }
        }
    }

    fn membership(&self, field: &str, values: &[Bytes], negated: bool) -> Result<Handle> {
        let field = c_string(field)?;
        let mut offsets = Vec::with_capacity(values.len());
        let mut bytes = Vec::new();
        for value in values {
            offsets.push(bytes.len() as u64);
            bytes.extend_from_slice(value);
        }
        let operator = if negated { NOT_IN } else { IN };
        allocate!(
            self,
            tiledb_query_condition_free,
            tiledb_query_condition_alloc_set_membership(
                field.as_ptr(),
                bytes.as_ptr().cast(),
                bytes.len() as u64,
                offsets.as_ptr().cast(),
                size_of_val(&offsets[..]) as u64,
                operator,
            )
        )
    }

    fn combination(&self, left: &Condition, right: &Condition, operator: u32) -> Result<Handle> {
        let (left, right) = (self.condition(left)?, self.condition(right)?);
        allocate!(
            self,
            tiledb_query_condition_free,
            tiledb_query_condition_combine(left.pointer(), right.pointer(), operator)
        )
    }
}
