//! Rules that rewrite statements which DataFusion (55.2) would answer wrongly.

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

/// DataFusion's rules, between those that have to see statements as they were written and those that have to see types.
pub(crate) fn analyzer_rules() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let before: [Arc<dyn AnalyzerRule + Send + Sync>; 3] =
        [Arc::new(ExactTargets), Arc::new(ExactConstants), Arc::new(TimeConstants)];
    let after: [Arc<dyn AnalyzerRule + Send + Sync>; 3] =
        [Arc::new(NotIn), Arc::new(BothZeros), Arc::new(ExactFunctions)];
    before.into_iter().chain(Analyzer::new().rules).chain(after).collect()
}
