//! Sort orders that the array provides at lower cost than a sort.

use datafusion::arrow::compute::SortOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalSortExpr};
use std::sync::Arc;
use tdb_array::{FirstValues, Order};

use super::Scan;

impl Scan {
    /// Returns the array order that satisfies a sort: ascending by leading or by trailing
    /// dimensions. Excludes floats, which SQL sorts differently. Returns `None` if no order of the
    /// array satisfies the sort.
    pub(super) fn order_of(&self, wanted: &[PhysicalSortExpr]) -> Option<(Order, Vec<String>)> {
        let names = wanted.iter().map(|sort| {
            let column = sort.expr.downcast_ref::<Column>()?;
            (!sort.options.descending).then(|| column.name().to_owned())
        });
        self.order_by(names.collect::<Option<_>>()?)
    }

    /// Returns the leading sort column, and the end of its values to start with.
    pub(super) fn first_of(&self, wanted: &[PhysicalSortExpr]) -> Option<(String, FirstValues)> {
        let leading = wanted.first()?;
        let column = leading.expr.downcast_ref::<Column>()?;
        self.opened.field(column.name())?;
        let first = FirstValues { greatest: leading.options.descending, nulls: leading.options.nulls_first };
        Some((column.name().to_owned(), first))
    }

    /// Returns the array order for these columns.
    pub(super) fn order_by(&self, names: Vec<String>) -> Option<(Order, Vec<String>)> {
        let dimensions = self.opened.array_schema().dimensions();
        let is_sorted = |order: &[usize]| {
            names.len() <= order.len()
                && names.iter().zip(order).all(|(name, place)| {
                    let dimension = &dimensions[*place];
                    dimension.name() == name && !dimension.datatype().is_float()
                })
        };
        let rows: Vec<usize> = (0..dimensions.len()).collect();
        let columns: Vec<usize> = rows.iter().rev().copied().collect();
        if names.is_empty() {
            None
        } else if is_sorted(&rows) {
            Some((Order::RowMajor, names))
        } else if is_sorted(&columns) {
            Some((Order::ColMajor, names))
        } else {
            None
        }
    }

    /// Returns the order of each partition's rows for the planner.
    pub(super) fn properties(&self) -> EquivalenceProperties {
        let sorted = |name: &String| {
            let column = Column::new_with_schema(name, &self.schema).ok()?;
            Some(PhysicalSortExpr::new(Arc::new(column), SortOptions { descending: false, nulls_first: false }))
        };
        let Some((_, names)) = &self.order else { return EquivalenceProperties::new(self.schema.clone()) };
        // Columns after a missing column are unordered.
        let order: Vec<PhysicalSortExpr> = names.iter().map_while(sorted).collect();
        if order.is_empty() {
            return EquivalenceProperties::new(self.schema.clone());
        }
        EquivalenceProperties::new_with_orderings(self.schema.clone(), [order])
    }
}
