//! `tdb sql`: in this process, or on a cluster with `--scheduler`.

use datafusion::prelude::SessionContext;
use tdb_ballista::{Cluster, session};
use tdb_cli::{Context, Exit, Failure, Result};
use tdb_sql::{Settings, SqlCommand, add_groups, local_session, opener, session_options};

use super::failed;

/// Option for the number of partitions. Ballista uses it as well.
const PARTITIONS: &str = "datafusion.execution.target_partitions";

/// Returns the command `sql`.
pub(crate) fn sql() -> SqlCommand {
    SqlCommand::new(|settings, context| match &settings.scheduler {
        Some(scheduler) => on_scheduler(scheduler, settings, context),
        None => local_session(settings, context),
    })
}

fn on_scheduler(scheduler: &str, settings: &Settings, context: &Context) -> Result<SessionContext> {
    let mut cluster = Cluster::new(scheduler.parse().map_err(failed)?);
    if let Some((_, count)) = settings.set.iter().rev().find(|(key, _)| key == PARTITIONS) {
        let count =
            count.parse().map_err(|_| Failure::usage(format!("--set {PARTITIONS}: {count} is not a number")))?;
        cluster = cluster.partitions(count);
    }
    let opener = opener(context)?;
    let session = session(session_options(settings, opener.clone())?, &cluster);
    let session = session.map_err(|error| Failure::new(Exit::Unavailable, error.strip_backtrace()))?;
    add_groups(&session, settings, &opener)?;
    Ok(session)
}
