//! Judges whether a refused migration is refused with reason.

use tdb_cases::case::{Case, Step};
use tdb_cases::history::Deed;
use tdb_cases::limits;
use tdb_migrate::Obstacle;
use tdb_reference::Release;
use tdb_reference::model::{FilterSpec, MetadataEntry, Pipeline};
use tdb_types::Feature;

use super::moved::Moved;

/// Returns the category of a refusal.
///
/// # Errors
/// Fails if the array does not contain the obstacle, or if the format supports it.
pub(super) fn judge(obstacle: &Obstacle, moved: &Moved, release: Release) -> Result<&'static str, String> {
    let deeds = || moved.history.turns.iter().map(|turn| &turn.deed);
    let lacks = |feature: Feature| !moved.to.has(feature);
    let joins = deeds().any(|deed| matches!(deed, Deed::Join(_))) && !moved.flatten;
    let (name, is_right) = match obstacle {
        Obstacle::Feature { what, .. } if what.starts_with("metadata") => {
            let knows = |entry: &MetadataEntry| limits::knows(release, entry.datatype);
            let is_unknown = |deed: &Deed| matches!(deed, Deed::Metadata { put, .. } if !put.iter().all(knows));
            ("metadata of newer datatypes", deeds().any(is_unknown))
        }
        Obstacle::Feature { .. } | Obstacle::Filter { .. } | Obstacle::Schema(_) => {
            ("features of the schema", lacks_something(moved, release))
        }
        Obstacle::Loses { .. } => ("lossy filters", scales(moved)),
        Obstacle::Schemas(_) => {
            let evolves = deeds().any(|deed| matches!(deed, Deed::Step(Step::Evolve(_))));
            ("several schemas", evolves && lacks(Feature::SchemaFolder))
        }
        Obstacle::Metadata => {
            let has_some = deeds().any(|deed| matches!(deed, Deed::Metadata { .. }));
            ("metadata", has_some && lacks(Feature::MetadataFolder))
        }
        Obstacle::Deletes(_) => {
            let deletes = deeds().any(|deed| matches!(deed, Deed::Step(Step::Delete(..))));
            ("deletes", deletes && lacks(Feature::DeleteCommits))
        }
        Obstacle::CellTimes { .. } => ("times of cells", joins && lacks(Feature::ProcessedConditions)),
        Obstacle::Range(_) => ("fragments of a time range", joins && lacks(Feature::PartialTimeOverlap)),
        Obstacle::Between(_) => ("fragments of a time range with other fragments in between", joins),
        Obstacle::NotVacuumed(_) => ("fragments consolidated into several", joins),
        Obstacle::PartlyGone(_) => ("consolidated fragments with missing sources", joins),
        _ => ("unknown obstacle", false),
    };
    if is_right { Ok(name) } else { Err(format!("refused without reason ({name}): {obstacle}")) }
}

/// `true` if the release could not have created the array.
fn lacks_something(moved: &Moved, release: Release) -> bool {
    let case = Case { array: moved.array(), ..moved.history.case() };
    match limits::fit(case.clone(), release) {
        Some(fit) => fit.array != case.array || fit.all_attributes() != case.all_attributes(),
        None => true,
    }
}

fn scales(moved: &Moved) -> bool {
    let case = moved.history.case();
    let attributes = case.all_attributes();
    let attributes = attributes.iter().map(|attribute| &attribute.filters);
    let dimensions = case.array.dimensions.iter().map(|dimension| &dimension.filters);
    let loses = |pipeline: &Pipeline| {
        let mut filters = pipeline.filters.iter();
        filters.any(|filter| matches!(filter, FilterSpec::ScaleFloat { .. } | FilterSpec::Webp { lossless: false, .. }))
    };
    attributes.chain(dimensions).chain(case.array.coords_filters.iter()).any(loses)
}
