//! Notes: advice without an estimate of the saving.

use std::time::Duration;

use tdb_array::Fragment;
use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_array::tdb_schema::FieldRef;
use tdb_types::{Feature, FormatVersion};

use crate::advice::{Advice, AdviceKind, AdviceLevel, AdvisedCommand, Figure};
use crate::seen::Seen;
use tdb_job::Result;
use tdb_maintain::ConsolidateFragments;

/// Features that old formats lack, and the consequences.
const LACKS: [(Feature, &str); 5] = [
    (Feature::PerDimensionFiles, "a range on one dimension reads all dimensions, because they share a file"),
    (Feature::TileStatistics, "conditions on attributes read every tile, because tiles have no statistics"),
    (Feature::CommitsFolder, "commits cannot be consolidated"),
    (Feature::CellTimestamps, "consolidated fragments lose the timestamps of their cells"),
    (Feature::DeleteCommits, "cells cannot be deleted"),
];

/// Returns the notes on an array.
pub(super) fn notes(seen: &Seen) -> Result<Vec<Advice>> {
    let mut notes = Vec::new();
    notes.extend(format(seen));
    notes.extend(statistics(seen)?);
    notes.extend(enumerations(seen));
    notes.extend(checksums(seen)?);
    Ok(notes)
}

fn note(kind: AdviceKind, what: String, figures: Vec<Figure>, remedy: Vec<AdvisedCommand>) -> Advice {
    Advice { kind, level: AdviceLevel::Note, field: None, what, figures, saves: Duration::ZERO, remedy }
}

fn format(seen: &Seen) -> Option<Advice> {
    let version = seen.schema().version();
    let lacks: Vec<&str> = LACKS.iter().filter(|(feature, _)| !version.has(*feature)).map(|(_, what)| *what).collect();
    if lacks.is_empty() {
        return None;
    }
    let newest = FormatVersion::DEFAULT.number();
    let what = format!("the array has format version {version}: {}", lacks.join("; "));
    let figures = vec![Figure::count("format version of the schema", u64::from(version.number()), u64::from(newest))];
    Some(note(
        AdviceKind::Format,
        what,
        figures,
        vec![AdvisedCommand::new("migrate", ["--to".to_owned(), newest.to_string()])],
    ))
}

/// Reports old fragments without tile statistics.
fn statistics(seen: &Seen) -> Result<Option<Advice>> {
    let fragments = seen.fragments()?;
    let is_without = |fragment: &&Fragment| !fragment.version().has(Feature::TileStatistics);
    let without: Vec<&Fragment> = fragments.iter().filter(is_without).collect();
    if without.is_empty() || !seen.array.version_of_new_fragments().has(Feature::TileStatistics) {
        return Ok(None);
    }
    if ConsolidateFragments::new().plan(&seen.array)?.steps().is_empty() {
        return Ok(None);
    }
    let tiles = without.iter().map(|fragment| fragment.tile_count()).sum();
    let what = format!(
        "{} of {} fragments have a format version without tile statistics: conditions on attributes read all of their tiles. Consolidated fragments have statistics",
        without.len(),
        fragments.len()
    );
    let figures = vec![Figure::count("tiles without statistics", tiles, 0)];
    Ok(Some(note(
        AdviceKind::Statistics,
        what,
        figures,
        vec![AdvisedCommand::plain("consolidate"), AdvisedCommand::plain("vacuum")],
    )))
}

fn enumerations(seen: &Seen) -> Option<Advice> {
    let schema = seen.schema();
    let is_used = |name: &str| schema.attributes().iter().any(|attribute| attribute.enumeration() == Some(name));
    let unused: Vec<&str> =
        schema.enumerations().iter().map(|known| known.name.as_str()).filter(|name| !is_used(name)).collect();
    if unused.is_empty() {
        return None;
    }
    let names: Vec<String> = unused.iter().map(|name| format!("{name:?}")).collect();
    let what = format!("no attribute uses the enumerations {}", names.join(", "));
    let figures = vec![Figure::count("unused enumerations", unused.len() as u64, 0)];
    Some(note(AdviceKind::Enumeration, what, figures, Vec::new()))
}

fn checksums(seen: &Seen) -> Result<Option<Advice>> {
    let schema = seen.schema();
    let lists = |field: FieldRef| schema.filters_of(field).into_owned();
    let has_sum = |list: &FilterPipeline| {
        list.filters.iter().any(|filter| matches!(filter, Filter::Md5 | Filter::Sha256 | Filter::Aes256Gcm))
    };
    let without = schema.fields().filter(|field| !has_sum(&lists(*field))).count() as u64;
    if without == 0 || seen.fragments()?.is_empty() {
        return Ok(None);
    }
    let what = "no field has a checksum filter: reads may return wrong cells if the disk damages bytes. Run `tdb verify --digest` to record digests and to compare files with them";
    let figures = vec![Figure::count("fields without a checksum", without, None)];
    Ok((without == schema.fields().count() as u64).then(|| {
        note(
            AdviceKind::Checksum,
            what.to_owned(),
            figures,
            vec![AdvisedCommand::new("verify", ["--digest", "array.sha256"])],
        )
    }))
}
