//! Which planner a session has.

use std::any::Any;

use datafusion::catalog::Session;

/// DataFusion's planner, but for DELETE from arrays: tables are given what of the condition is about them alone, and nothing of a
/// condition that was found to be always false. What an array deletes doesn't come back.
#[derive(Debug)]
pub(crate) struct ArrayPlanner;

/// Whether statements of a session are planned by it.
pub(crate) fn is_planner_of(session: &dyn Session) -> bool {
    let planner = session.query_planner();
    (&*planner as &dyn Any).is::<ArrayPlanner>()
}
