//! The query planner of sessions with arrays.

use std::any::Any;

use datafusion::catalog::Session;

/// DataFusion's planner, with additional checks of DELETE from arrays. DataFusion drops parts of
/// the condition about other tables, and conditions that are always false. An array cannot undo a
/// deletion.
#[derive(Debug)]
pub(crate) struct ArrayPlanner;

/// Returns `true` if the session uses this planner.
pub(crate) fn is_planner_of(session: &dyn Session) -> bool {
    let planner = session.query_planner();
    (&*planner as &dyn Any).is::<ArrayPlanner>()
}
