//! Aggregates: reads that return numbers instead of cells.

use tdb_types::Datatype;

use super::array::Field;
use super::buffers::FieldBuffer;
use super::calls::{allocate_in_context, call};
use super::context::{Context, c_string};
use super::handle::Handle;
use super::symbols::Ptr;
use crate::model::{AggregateFunction, AggregateSpec, QuerySpec, ReadColumn};
use crate::{Error, Result};

/// Buffer size in bytes of a minimum or maximum of variable size.
const STRING_ROOM: usize = 1 << 20;

impl Context {
    /// Computes aggregates of the cells of a read. Returns a column with one cell per aggregate, in
    /// the given order. Ignores the fields of the read.
    pub(crate) fn aggregate(
        &self,
        uri: &str,
        spec: &QuerySpec,
        aggregates: &[AggregateSpec],
    ) -> Result<Vec<ReadColumn>> {
        let array = self.open_to_read(uri, spec.timestamps)?;
        let mut buffers = self.aggregate_buffers(&array, aggregates)?;
        self.aggregate_into(&array, spec, aggregates, &mut buffers)?;
        self.close(&array)?;
        Ok(buffers.iter().map(FieldBuffer::column).collect())
    }

    /// Allocates buffers for one result cell per aggregate.
    pub(super) fn aggregate_buffers(&self, array: &Handle, aggregates: &[AggregateSpec]) -> Result<Vec<FieldBuffer>> {
        let schema = self.schema_of(array)?;
        let buffer = |aggregate: &AggregateSpec| {
            let field = match &aggregate.field {
                None => None,
                Some(name) => self.select_fields(&schema, std::slice::from_ref(name))?.pop(),
            };
            let result = result_of(aggregate, field)?;
            let room = if result.cell_val_num.is_none() { STRING_ROOM } else { 0 };
            let mut buffer = FieldBuffer::with_room(result, 0)?;
            buffer.resize(room, 1);
            Ok(buffer)
        };
        aggregates.iter().map(buffer).collect()
    }

    /// Runs a query that has only aggregates. Returns the number of submissions.
    pub(super) fn aggregate_into(
        &self,
        array: &Handle,
        spec: &QuerySpec,
        aggregates: &[AggregateSpec],
        buffers: &mut [FieldBuffer],
    ) -> Result<usize> {
        let query = self.read_query(array, spec)?;
        let channel =
            allocate_in_context!(self, tiledb_query_channel_free, tiledb_query_get_default_channel(query.pointer()))?;
        for aggregate in aggregates {
            self.apply(&query, &channel, aggregate)?;
        }
        let mut submits = 1;
        while !self.submit(&query, buffers)? {
            submits += 1;
        }
        Ok(submits)
    }

    /// Adds an aggregate to a query.
    fn apply(&self, query: &Handle, channel: &Handle, aggregate: &AggregateSpec) -> Result<()> {
        let output = c_string(&aggregate.to_string())?;
        let mut constant: Ptr = std::ptr::null_mut();
        // The library owns this constant. Do not free it.
        match aggregate.function {
            AggregateFunction::Count => call!(self, tiledb_aggregate_count_get(&mut constant)),
            AggregateFunction::Sum => call!(self, tiledb_channel_operator_sum_get(&mut constant)),
            AggregateFunction::Min => call!(self, tiledb_channel_operator_min_get(&mut constant)),
            AggregateFunction::Max => call!(self, tiledb_channel_operator_max_get(&mut constant)),
            AggregateFunction::Mean => call!(self, tiledb_channel_operator_mean_get(&mut constant)),
            AggregateFunction::NullCount => call!(self, tiledb_channel_operator_null_count_get(&mut constant)),
        }?;
        let Some(field) = &aggregate.field else {
            return call!(self, tiledb_channel_apply_aggregate(channel.pointer(), output.as_ptr(), constant));
        };
        let field = c_string(field)?;
        let operation = allocate_in_context!(
            self,
            tiledb_aggregate_free,
            tiledb_create_unary_aggregate(query.pointer(), constant, field.as_ptr())
        )?;
        call!(self, tiledb_channel_apply_aggregate(channel.pointer(), output.as_ptr(), operation.pointer()))
    }
}

/// Returns the datatype and nullability of an aggregate's result.
fn result_of(aggregate: &AggregateSpec, field: Option<Field>) -> Result<Field> {
    let name = aggregate.to_string();
    let number = |datatype, nullable| Field { name: name.clone(), datatype, cell_val_num: Some(1), nullable };
    Ok(match (aggregate.function, field) {
        (AggregateFunction::Count, None) | (AggregateFunction::NullCount, Some(_)) => number(Datatype::UInt64, false),
        (AggregateFunction::Mean, Some(field)) => number(Datatype::Float64, field.nullable),
        (AggregateFunction::Min | AggregateFunction::Max, Some(field)) => Field { name, ..field },
        (AggregateFunction::Sum, Some(field)) => {
            let datatype = match field.datatype.physical() {
                physical if physical.is_float() => Datatype::Float64,
                physical if physical.is_signed_integer() => Datatype::Int64,
                _ => Datatype::UInt64,
            };
            number(datatype, field.nullable)
        }
        _ => return Err(Error::Library(format!("{name} is not an aggregate"))),
    })
}
