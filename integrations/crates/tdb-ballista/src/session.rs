//! Sessions whose queries run on a cluster.

use std::sync::Arc;

use ballista_core::extension::SessionConfigExt as _;
use ballista_core::optimizer::{ballista_default_optimizer_rules, with_ballista_optimizer_rules};
use datafusion::error::Result;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use tdb_datafusion::{SessionOptions, session_with};

use crate::cluster::Cluster;
use crate::codec::PhysicalCodec;
use crate::planner::ClusterPlanner;

/// A session whose tables are arrays, as [`tdb_datafusion::session`] makes them, and whose queries run on a cluster.
///
/// The session plans: it opens the arrays, and divides them. So it needs their keys and the credentials of their stores, and so do the
/// executors, each from its own environment; the scheduler needs none. What all of them know an array by is its URI, or a path of a folder
/// that they share.
///
/// Ballista sets some of DataFusion's settings, as it can't do what they are for: filters that become known while a query runs
/// (`enable_dynamic_filter_pushdown`) and hash joins (`prefer_hash_join`) are off among them.
///
/// # Errors
/// The temporary folder can't be used. Whether there is a scheduler shows when the first query runs.
pub fn session(options: SessionOptions, cluster: &Cluster) -> Result<SessionContext> {
    session_with(options, |builder| on_cluster(builder, cluster))
}

/// The same of a session that is about to be made otherwise: what it would run here it runs on a cluster.
#[must_use]
pub fn on_cluster(mut builder: SessionStateBuilder, cluster: &Cluster) -> SessionStateBuilder {
    let planner = ClusterPlanner::new(cluster.clone(), builder.query_planner().take());
    let config = builder.config().take().unwrap_or_default();
    let config = config
        .with_target_partitions(cluster.partitions)
        .upgrade_for_ballista()
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::of_plans()))
        .with_ballista_grpc_client_max_message_size(cluster.message_bytes);
    let rules = match builder.optimizer().take() {
        Some(optimizer) => with_ballista_optimizer_rules(&optimizer.rules),
        None => ballista_default_optimizer_rules(),
    };
    builder.with_config(config).with_optimizer_rules(rules).with_query_planner(Arc::new(planner))
}
