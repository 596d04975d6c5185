//! Rewriting of statements for which DataFusion (55.2) returns incorrect results.

mod exact_functions;
mod expressions;
mod not_in;
mod time_constants;
mod zeros;

use std::sync::Arc;

use datafusion::optimizer::{Analyzer, AnalyzerRule};

use crate::constants::ExactConstants;
use crate::files::ExactTargets;
use exact_functions::ExactFunctions;
use not_in::NotIn;
use time_constants::TimeConstants;
use zeros::BothZeros;

/// Returns DataFusion's rules, preceded by rules on the original statement, and followed by rules
/// that need types.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let before: [Arc<dyn AnalyzerRule + Send + Sync>; 3] =
        [Arc::new(ExactTargets), Arc::new(ExactConstants), Arc::new(TimeConstants)];
    let after: [Arc<dyn AnalyzerRule + Send + Sync>; 3] =
        [Arc::new(NotIn), Arc::new(BothZeros), Arc::new(ExactFunctions)];
    before.into_iter().chain(Analyzer::new().rules).chain(after).collect()
}
