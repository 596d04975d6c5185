//! Metrics for EXPLAIN: the number of fragments and tiles read and pruned.

use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use tdb_array::{Plan, PrunedBy};

/// Records the counts of a plan. Attributed to the first partition, because the plan covers all
/// partitions.
pub(super) fn planned(metrics: &ExecutionPlanMetricsSet, plan: &Plan) {
    for (name, count) in counts(plan) {
        MetricBuilder::new(metrics).counter(name, 0).add(usize::try_from(count).unwrap_or(usize::MAX));
    }
}

/// Formats the counts, without zeros.
pub(super) fn summary(plan: &Plan) -> String {
    let counts = counts(plan).into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(", ")
}

fn counts(plan: &Plan) -> Vec<(&'static str, u64)> {
    let fragments = &plan.fragments;
    let pruned = |wanted: fn(&PrunedBy) -> bool| {
        let all = fragments.iter().flat_map(|fragment| &fragment.pruned_by);
        all.filter(|pruned| wanted(&pruned.by)).map(|pruned| pruned.tiles).sum::<u64>()
    };
    vec![
        ("fragments_read", fragments.len() as u64),
        ("fragments_outside_ranges", plan.left_out.region as u64),
        ("fragments_pruned_by_totals", plan.left_out.totals as u64),
        ("fragments_hidden_by_newer", plan.left_out.hidden as u64),
        ("fragments_of_other_times", plan.left_out.time as u64),
        ("tiles_read", plan.tile_count() as u64),
        ("tiles_outside_ranges", fragments.iter().map(|fragment| fragment.outside).sum()),
        ("tiles_hidden_by_newer", fragments.iter().map(|fragment| fragment.hidden).sum()),
        ("tiles_pruned_by_box", pruned(|by| *by == PrunedBy::Box)),
        ("tiles_pruned_by_statistics", pruned(|by| matches!(by, PrunedBy::Statistics(_)))),
        ("tiles_pruned_by_totals", pruned(|by| *by == PrunedBy::Totals)),
        ("tiles_pruned_otherwise", pruned(|by| matches!(by, PrunedBy::Several | PrunedBy::FillValues))),
        ("bytes_planned", plan.bytes()),
    ]
}
