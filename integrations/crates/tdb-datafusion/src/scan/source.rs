//! Implementation of `DataSource`.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::config::ConfigOptions;
use datafusion::datasource::source::DataSource;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr, SortOrderPushdownResult};

use super::{Scan, metrics, stream};
use crate::filter;

impl DataSource for Scan {
    fn open(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        Ok(stream::open(self, partition, &context))
    }

    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if matches!(t, DisplayFormatType::TreeRender) { "\n" } else { ", " };
        let mut parts = vec![format!("array={}", self.uri())];
        parts.push(format!("columns=[{}]", self.columns.join(", ")));
        if let Ok(sides) = self.sides() {
            let schema = self.opened.array_schema();
            let ranges = sides.as_ref().map_or_else(|| vec!["nothing".to_owned()], |(sides, _)| sides.display(schema));
            if !ranges.is_empty() {
                parts.push(format!("ranges=[{}]", ranges.join("; ")));
            }
            if let Some((_, Some(condition))) = &sides {
                parts.push(format!("condition=[{}]", condition.display(schema)));
            }
        }
        if !self.dynamic.is_empty() {
            let filters: Vec<String> = self.dynamic.iter().map(ToString::to_string).collect();
            parts.push(format!("narrowing=[{}]", filters.join("; ")));
        }
        if let Some((order, names)) = &self.order {
            parts.push(format!("order=[{order}: {}]", names.join(", ")));
        }
        if let Some(fetch) = self.fetch {
            parts.push(format!("fetch={fetch}"));
        }
        parts.push(format!("partitions={}", self.partitions));
        if let Ok(plan) = self.query().and_then(|query| query.plan()) {
            parts.push(format!("plan=[{}]", metrics::summary(&plan)));
        }
        f.write_str(&parts.join(separator))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.partitions)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        self.properties()
    }

    fn scheduling_type(&self) -> SchedulingType {
        // Rows come through a channel, which yields.
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        Ok(match partition {
            Some(_) if self.partitions > 1 => Arc::new(Statistics::new_unknown(&self.schema)),
            _ => self.whole_statistics(),
        })
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        self.opened.options.pushdown.then(|| Arc::new(Self { fetch: limit, ..self.changed() }) as _)
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn DataSource>>> {
        let mut places = Vec::new();
        for projected in projection.iter() {
            match projected.expr.downcast_ref::<Column>() {
                Some(column) if column.name() == projected.alias && !places.contains(&column.index()) => {
                    places.push(column.index());
                }
                _ => return Ok(None),
            }
        }
        let schema = Arc::new(self.schema.project(&places)?);
        let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Some(Arc::new(Self { schema, columns, ..self.changed() })))
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        // A filter must not move below a limit.
        if !self.opened.options.pushdown || self.fetch.is_some() {
            return Ok(FilterPushdownPropagation::with_parent_pushdown_result(vec![PushedDown::No; filters.len()]));
        }
        let mut scan = self.changed();
        let (mut results, mut has_changed) = (Vec::with_capacity(filters.len()), false);
        for filter in filters {
            let pushed = if DynamicFilterTracking::classify(&filter).contains_dynamic_filter() {
                scan.dynamic.push(filter);
                has_changed = true;
                PushedDown::No
            } else if let Some(pushed) = filter::condition(&self.opened, &filter) {
                has_changed = true;
                scan.narrowed(pushed.condition);
                if pushed.exact { PushedDown::Yes } else { PushedDown::No }
            } else {
                PushedDown::No
            };
            results.push(pushed);
        }
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(results);
        Ok(if has_changed { propagation.with_updated_node(Arc::new(scan)) } else { propagation })
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn DataSource>>> {
        Ok(match self.order_of(order) {
            Some(found) if self.opened.options.pushdown => {
                let scan = Self { order: Some(found), ..self.changed() };
                SortOrderPushdownResult::Exact { inner: Arc::new(scan) }
            }
            _ => match self.first_of(order) {
                // Partitions start with candidates for the first rows.
                Some(first) if self.opened.options.pushdown => {
                    let scan = Self { first: Some(first), ..self.changed() };
                    SortOrderPushdownResult::Inexact { inner: Arc::new(scan) }
                }
                _ => SortOrderPushdownResult::Unsupported,
            },
        })
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for filter in &self.dynamic {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}
