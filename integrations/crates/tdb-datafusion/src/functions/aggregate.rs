//! Aggregate functions of DataFusion over mapped values.

use std::mem::size_of_val;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::functions_aggregate::min_max::{Max, Min, max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::{Sum, sum_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    StatisticsArgs,
};
use datafusion::scalar::ScalarValue;

use super::mapping::Mapping;

/// `sum`, `min` or `max`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MappedAggregate {
    inner: Arc<AggregateUDF>,
    mapping: Mapping,
}

impl MappedAggregate {
    /// Returns the replacement for DataFusion's function with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self { inner: sum_udaf(), mapping: Mapping::Wide },
            "min" => Self { inner: min_udaf(), mapping: Mapping::Ordered },
            "max" => Self { inner: max_udaf(), mapping: Mapping::Ordered },
            _ => return None,
        })
    }

    pub(super) fn is_sum(&self) -> bool {
        self.mapping == Mapping::Wide
    }

    /// Returns `true` if this replaces the given function for values of type `of`.
    pub(super) fn replaces(&self, function: &AggregateUDF, of: &DataType) -> bool {
        let inner = function.inner();
        (inner.is::<Sum>() || inner.is::<Min>() || inner.is::<Max>()) && self.mapping.data_type(of).is_some()
    }

    /// Returns the field with the mapped type.
    fn mapped_field(&self, field: &FieldRef) -> FieldRef {
        match self.mapping.data_type(field.data_type()) {
            Some(data_type) => Arc::new(field.as_ref().clone().with_data_type(data_type)),
            None => field.clone(),
        }
    }

    fn mapped(&self, inner: Box<dyn Accumulator>, to: &DataType) -> Box<dyn Accumulator> {
        Box::new(MappedAccumulator { inner, mapping: self.mapping, to: to.clone() })
    }
}

impl AggregateUDFImpl for MappedAggregate {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        match self.is_sum() {
            true => {
                self.inner.state_fields(StateFieldsArgs { return_field: self.mapped_field(&args.return_field), ..args })
            }
            false => self.inner.state_fields(args),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let to = args.return_type().clone();
        if !self.is_sum() {
            return Ok(one_nan(self.inner.accumulator(args)?, &to));
        }
        let inner =
            self.inner.accumulator(AccumulatorArgs { return_field: self.mapped_field(&args.return_field), ..args })?;
        Ok(self.mapped(inner, &to))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let to = args.return_type().clone();
        if !self.is_sum() {
            return Ok(one_nan(self.inner.create_sliding_accumulator(args)?, &to));
        }
        if args.is_distinct {
            return self.inner.create_sliding_accumulator(args);
        }
        let args = AccumulatorArgs { return_field: self.mapped_field(&args.return_field), ..args };
        Ok(self.mapped(self.inner.create_sliding_accumulator(args)?, &to))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let to = args.return_type().clone();
        let args = AccumulatorArgs { return_field: self.mapped_field(&args.return_field), ..args };
        let inner = self.inner.create_groups_accumulator(args)?;
        Ok(Box::new(MappedGroups { inner, mapping: self.mapping, to, maps_states: !self.is_sum() }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner.reverse_udf() {
            // The reversed function would be DataFusion's.
            ReversedUDAF::Reversed(_) | ReversedUDAF::NotSupported => ReversedUDAF::NotSupported,
            ReversedUDAF::Identical => ReversedUDAF::Identical,
        }
    }

    /// Returns `None` to keep these aggregates out of DataFusion's top-k heaps for groups, where
    /// NaN is less than all numbers.
    fn is_descending(&self) -> Option<bool> {
        None
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(args)
    }
}

/// Wraps a minimum or maximum over all rows. Changes only the bits of NaNs, because DataFusion's
/// order is right otherwise.
fn one_nan(inner: Box<dyn Accumulator>, to: &DataType) -> Box<dyn Accumulator> {
    Box::new(MappedAccumulator { inner, mapping: Mapping::OneNan, to: to.clone() })
}

/// An aggregate over all rows.
#[derive(Debug)]
struct MappedAccumulator {
    inner: Box<dyn Accumulator>,
    mapping: Mapping,
    to: DataType,
}

impl MappedAccumulator {
    fn forward(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        values.iter().map(|values| self.mapping.forward(values)).collect()
    }
}

impl Accumulator for MappedAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = self.forward(values)?;
        self.inner.update_batch(&values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let result = self.inner.evaluate()?.to_array()?;
        ScalarValue::try_from_array(&self.mapping.back(&result, &self.to)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = self.forward(values)?;
        self.inner.retract_batch(&values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}

/// An aggregate per group.
struct MappedGroups {
    inner: Box<dyn GroupsAccumulator>,
    mapping: Mapping,
    to: DataType,
    /// `true` if intermediate states have the type of the results, as for minima.
    maps_states: bool,
}

impl MappedGroups {
    fn forward(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        values.iter().map(|values| self.mapping.forward(values)).collect()
    }

    fn states(&self, states: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        match self.maps_states {
            true => states.iter().map(|states| self.mapping.back(states, &self.to)).collect(),
            false => Ok(states),
        }
    }
}

impl GroupsAccumulator for MappedGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        let values = self.forward(values)?;
        self.inner.update_batch(&values, groups, filter, count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let results = self.inner.evaluate(emit_to)?;
        self.mapping.back(&results, &self.to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let states = self.inner.state(emit_to)?;
        self.states(states)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        match self.maps_states {
            true => {
                let states = self.forward(states)?;
                self.inner.merge_batch(&states, groups, count)
            }
            false => self.inner.merge_batch(states, groups, count),
        }
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        self.states(self.inner.convert_to_state(&self.forward(values)?, filter)?)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}
