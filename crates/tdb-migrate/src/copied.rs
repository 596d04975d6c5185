//! The parts of an array that a migration copies.

use std::collections::BTreeSet;

use tdb_array::{Array, Batch, Fragment, Order, WriteBatch, WriteIds, Written};
use tdb_metadata::{MetadataChange, MetadataValue};
use tdb_rtree::NdRange;
use tdb_types::names::file_name;
use tdb_types::{Feature, FormatVersion, TimestampedName};

use crate::obstacle;
use tdb_job::MetadataFiles;
use tdb_job::Obstacle;
use tdb_job::Result;

/// The history of an array.
#[derive(Debug)]
pub(super) struct Copied {
    /// Fragments, oldest first.
    pub(super) fragments: Vec<Fragment>,
    /// Paths of delete commits.
    pub(super) deletes: Vec<String>,
}

impl Copied {
    /// Collects the history of an array that was opened for all times. Adds obstacles to `against`.
    pub(super) fn of(array: &Array, version: FormatVersion, against: &mut Vec<Obstacle>) -> Result<Self> {
        let inventory = array.commit_inventory(&array.listing()?)?;
        let (replaced, _) = array.superseded_fragments()?;
        let all: Vec<Fragment> = array.fragments()?.iter().chain(&replaced).cloned().collect();
        let there: BTreeSet<&str> = all.iter().map(Fragment::folder).collect();
        let mut left_out: BTreeSet<String> = BTreeSet::new();
        for list in &inventory.vacuums {
            let Some(name) = TimestampedName::parse(file_name(&list.path)) else { continue };
            let is_of =
                |fragment: &&Fragment| (fragment.name().start(), fragment.name().end()) == (name.start(), name.end());
            let joined: Vec<&Fragment> =
                all.iter().filter(is_of).filter(|f| !list.names.iter().any(|n| n == f.folder())).collect();
            // The delete commits applied by the consolidation must still exist.
            let mut are_known = true;
            for fragment in &joined {
                let conditions = fragment.processed_conditions()?;
                are_known &= conditions.iter().all(|path| inventory.paths.contains(path));
            }
            if are_known && list.names.iter().all(|folder| there.contains(folder.as_str())) {
                match &joined[..] {
                    [] => {}
                    [one] => drop(left_out.insert(one.folder().to_owned())),
                    _ => against.push(Obstacle::NotVacuumed(list.path.clone())),
                }
            } else {
                // With cell timestamps, the consolidated fragment contains the full history.
                let is_seen = |folder: &String| there.contains(folder.as_str());
                let has_times = |fragment: &&Fragment| fragment.footer().header().has_timestamps;
                if list.names.iter().any(is_seen) && !joined.iter().all(has_times) {
                    against.push(Obstacle::PartlyGone(list.path.clone()));
                }
                left_out.extend(list.names.iter().cloned());
            }
        }
        let mut fragments: Vec<Fragment> = all.into_iter().filter(|one| !left_out.contains(one.folder())).collect();
        fragments.sort_by(|a, b| a.name().cmp(b.name()));
        for fragment in &fragments {
            against.extend(of_fragment(array, fragment, version));
            if new_date(fragment, version).is_some() {
                let (start, end) = (fragment.name().start(), fragment.name().end());
                let is_between = |time: u64| (start..=end).contains(&time);
                let others = fragments.iter().filter(|other| other.folder() != fragment.folder());
                let deletes =
                    array.directory().deletes.iter().filter_map(|path| TimestampedName::parse(file_name(path)));
                if others.map(|other| other.name().start()).chain(deletes.map(|name| name.start())).any(is_between) {
                    against.push(Obstacle::Between(fragment.name().to_string()));
                }
            }
        }
        let (updates, deletes): (Vec<String>, Vec<String>) =
            array.directory().deletes.iter().cloned().partition(|path| path.ends_with(".upd"));
        against.extend(updates.into_iter().map(Obstacle::Update));
        if !deletes.is_empty() && !version.has(Feature::DeleteCommits) {
            against.push(Obstacle::Deletes(deletes.len()));
        }
        Ok(Self { fragments, deletes })
    }
}

/// Returns the timestamp that replaces the time range of a sparse fragment without cell timestamps.
///
/// Before format 15, readers see such a fragment from the end time on. From format 15 on, readers
/// see the fragment from the start time on. Returns `None` if the time range stays.
pub(super) fn new_date(fragment: &Fragment, version: FormatVersion) -> Option<u64> {
    let (header, name) = (fragment.footer().header(), fragment.name());
    if header.dense || header.has_timestamps || name.start() == name.end() {
        return None;
    }
    match (header.version.has(Feature::PartialTimeOverlap), version.has(Feature::PartialTimeOverlap)) {
        (false, true) => Some(name.end()),
        (true, false) => Some(name.start()),
        _ => None,
    }
}

fn of_fragment(array: &Array, fragment: &Fragment, version: FormatVersion) -> Vec<Obstacle> {
    let (name, header) = (fragment.name().to_string(), fragment.footer().header());
    let mut against = Vec::new();
    let feature = if header.has_delete_metadata { Feature::ProcessedConditions } else { Feature::PartialTimeOverlap };
    if (header.has_timestamps || header.has_delete_metadata) && !version.has(feature) {
        against.push(Obstacle::CellTimes { fragment: name.clone(), since: feature.row().since });
    }
    if version.has(Feature::LegacyFragmentMetadata) && fragment.name().start() != fragment.name().end() {
        against.push(Obstacle::Range(name.clone()));
    }
    if array.schema().is_dense() && !header.dense {
        against.push(Obstacle::SparseInDense(name));
    }
    against
}

/// Returns the names and contents of the metadata files to copy. If files were consolidated and not
/// vacuumed, these are the original files.
fn metadata_files(array: &Array) -> Result<Vec<(TimestampedName, Vec<MetadataChange>)>> {
    let files = array.small_files();
    let all = MetadataFiles::list(&files)?;
    let there: BTreeSet<&str> = all.files.iter().map(|file| file.name.as_str()).collect();
    let mut left_out: BTreeSet<&str> = BTreeSet::new();
    for list in &all.vacuums {
        match list.targets.iter().all(|name| there.contains(name.as_str())) {
            true => drop(left_out.insert(list.name.as_str())),
            false => left_out.extend(list.targets.iter().map(String::as_str)),
        }
    }
    let counting = all.files.iter().filter(|file| !left_out.contains(file.name.as_str()));
    counting.map(|file| Ok((file.name.clone(), files.read_metadata(&file.path())?))).collect()
}

/// Returns the obstacles in the metadata: of the whole history, or of the opened time if `flatten`
/// is set.
pub(super) fn against_metadata(array: &Array, version: FormatVersion, flatten: bool) -> Result<Vec<Obstacle>> {
    let of = |key: &[u8], value: &MetadataValue| obstacle::of_metadata(key, value.datatype(), version);
    Ok(match flatten {
        true => array.metadata()?.entries().iter().filter_map(|(key, value)| of(key, value)).collect(),
        false => {
            let changes = metadata_files(array)?.into_iter().flat_map(|(_, changes)| changes);
            changes.filter_map(|change| of(&change.key, change.value.as_ref()?)).collect()
        }
    })
}

/// Copies metadata files with the same timestamps. Returns the number of files.
pub(super) fn metadata(array: &Array, new: &Array) -> Result<u64> {
    let mut count = 0;
    for (name, changes) in metadata_files(array)? {
        let mut writer = new.write_metadata().ids(WriteIds::new().like(&name));
        for change in changes {
            writer = match change.value {
                Some(value) => writer.put(change.key, value),
                None => writer.delete(change.key),
            };
        }
        writer.commit()?;
        count += 1;
    }
    Ok(count)
}

/// Writes the metadata of the opened time. Returns the number of files.
pub(super) fn flattened_metadata(array: &Array, new: &Array) -> Result<u64> {
    let entries = array.metadata()?.entries();
    if entries.is_empty() {
        return Ok(0);
    }
    let mut writer = new.write_metadata().ids(names(array));
    for (key, value) in entries {
        writer = writer.put(key.clone(), value.clone());
    }
    writer.commit()?;
    Ok(1)
}

/// Returns the ids for the files of a flattened array. The timestamp is the end time of the newest
/// fragment, but at most the opened time.
fn names(array: &Array) -> WriteIds {
    match array.directory().fragments.iter().map(|entry| entry.name.end().min(array.time().end)).max() {
        Some(time) => WriteIds::new().at(time),
        None => WriteIds::new(),
    }
}

/// Writes the visible cells, limited to the subarrays for a dense array.
pub(super) fn flattened(
    array: &Array,
    new: &Array,
    boxes: &[NdRange],
    (version, budget): (FormatVersion, usize),
) -> Result<Written> {
    if array.schema().is_dense() {
        let mut all = Written::default();
        for one in boxes {
            let copy = new.copy_dense_cells(array, names(array))?.within(one)?;
            let written = copy.budget(budget).version(version).write()?;
            all.fragments.extend(written.fragments);
            all.cells += written.cells;
        }
        return Ok(all);
    }
    let order = |array: &Array| {
        let schema = array.schema();
        let extents: Vec<_> = schema.dimensions().iter().map(tdb_array::tdb_schema::Dimension::tile_extent).collect();
        (schema.cell_order(), schema.tile_order(), extents)
    };
    let fields = |array: &Array| -> Vec<String> {
        let schema = array.schema();
        schema.fields().filter_map(|field| schema.field_name(field).map(str::to_owned)).collect()
    };
    let (from, to) = (fields(array), fields(new));
    let batches = array.read().select(&from)?.order(Order::Global).budget(budget / 2).batches()?;
    let write = new.write().ids(names(array)).version(version).any_utf8().budget(budget / 4);
    if order(array) == order(new) {
        let mut writer = write.global_order()?;
        for batch in batches {
            writer.push(renamed(&batch?, &to))?;
        }
        return Ok(writer.commit()?);
    }
    // Writes one fragment per batch. No cell is in two batches.
    let mut all = Written::default();
    for batch in batches {
        let written = write.clone().cells(renamed(&batch?, &to))?;
        all.fragments.extend(written.fragments);
        all.cells += written.cells;
    }
    Ok(all)
}

/// Renames the fields of a batch to the names in the new array.
fn renamed<'a>(batch: &'a Batch, names: &'a [String]) -> WriteBatch<'a> {
    let columns = names.iter().zip(batch.columns());
    columns.fold(WriteBatch::new(), |cells, (name, column)| cells.with(name.as_str(), column))
}
