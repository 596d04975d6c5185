//! Words behind a table's name that DataFusion would pass over.

use datafusion::common::not_impl_err;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::sqlparser::ast::TableFactor;

/// Refuses them by name, and leaves all tables to DataFusion.
#[derive(Debug)]
pub(crate) struct PlainRelations;

impl RelationPlanner for PlainRelations {
    fn plan_relation(&self, relation: TableFactor, _: &mut dyn RelationPlannerContext) -> Result<RelationPlanning> {
        match ignored(&relation) {
            Some(what) => not_impl_err!("{what} of table {relation}"),
            None => Ok(RelationPlanning::Original(Box::new(relation))),
        }
    }
}

fn ignored(relation: &TableFactor) -> Option<&'static str> {
    match relation {
        TableFactor::Table {
            sample, version, json_path, with_hints, index_hints, partitions, with_ordinality, ..
        } => {
            let words = [
                ("TABLESAMPLE", sample.is_some()),
                ("FOR SYSTEM_TIME (write 'ARRAY@TIME')", version.is_some()),
                ("a path into JSON", json_path.is_some()),
                ("WITH hints", !with_hints.is_empty()),
                ("index hints", !index_hints.is_empty()),
                ("PARTITION", !partitions.is_empty()),
                ("WITH ORDINALITY", *with_ordinality),
            ];
            words.into_iter().find(|(_, is_there)| *is_there).map(|(word, _)| word)
        }
        TableFactor::Derived { sample: Some(_), .. } => Some("TABLESAMPLE"),
        TableFactor::Function { with_ordinality: true, .. } => Some("WITH ORDINALITY"),
        _ => None,
    }
}
