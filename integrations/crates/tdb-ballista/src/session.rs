//! Sessions that run queries on a cluster.

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

/// Creates a session with arrays as tables, like [`tdb_datafusion::session`]. Queries run on a
/// cluster.
///
/// The session opens and divides the arrays during planning. The session therefore needs encryption
/// keys and store credentials. Executors need the same, each from the environment. The scheduler
/// needs neither. Arrays are identified by URI, or by a path in a shared folder.
///
/// Ballista overrides some DataFusion settings for missing features. Disabled are, for example,
/// dynamic filters (`enable_dynamic_filter_pushdown`) and hash joins (`prefer_hash_join`).
///
/// # Errors
/// The temporary folder is not usable. The first query reports a missing scheduler.
pub fn session(options: SessionOptions, cluster: &Cluster) -> Result<SessionContext> {
    session_with(options, |builder| on_cluster(builder, cluster))
}

/// Changes a session under construction to run queries on a cluster.
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
