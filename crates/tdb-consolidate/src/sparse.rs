//! Consolidation of sparse fragments by a merge.
//!
//! From format 15 on, all versions of a cell are kept with timestamps, newest first. From format 16
//! on, deleted cells are kept too, with the time and condition of the deletion. Among versions with
//! equal timestamps, only the version that readers see is kept. Before format 15, only the newest
//! version is kept.
//!
//! In a fragment without timestamps, readers see all cells with equal coordinates, even if the
//! array does not allow duplicates. In a fragment with timestamps, these cells would be versions
//! with equal timestamps, and readers would see only one of them. Therefore such a fragment cannot
//! be consolidated, unless a purge leaves at most one of these cells.
//!
//! Stored order is never trusted. If a fragment turns out to be unordered, the merge starts again
//! and sorts each tile of the fragment.

mod batch;
mod columns;
mod fates;
mod fields;
mod gather;
mod heads;
mod input;
mod merge;
mod picked;
mod sink;
mod slice;
mod slices;
mod source;
mod tile;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tdb_cells::Order;
use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;
use tdb_snapshot::{ArrayError, Fragment, FragmentEntry, Result, Snapshot};
use tdb_storage::at_once;
use tdb_types::names::{COMMITS_FOLDER, DELETE_EXTENSION, file_name};
use tdb_types::{Feature, FormatVersion, NameForm, TimestampedName};
use tdb_write::{SealedFragment, Target};

use crate::copied::has_same_order;
use crate::join::{ConsolidatedFragments, FragmentJoin, TileCounts};
use fates::{Numbers, numbers_of};
use input::{Input, Keep, Stop};
use merge::Merge;
use sink::{Output, Sink};
use source::Source;
use tile::Rules;

/// Maximum number of files open at the same time.
const MOST_FILES: usize = 400;

/// Consolidates the fragments. Uses several passes if the tiles do not fit into memory together.
pub(super) fn join(join: &FragmentJoin) -> Result<ConsolidatedFragments> {
    // Load the delete commits once. The restricted snapshots below share them.
    for fragment in join.array.fragments()?.iter().take(1) {
        join.array.deletes_for(fragment)?;
    }
    let mut entries = join.array.directory().fragments.clone();
    // Fragments of earlier passes. They are removed on return, when this list is dropped.
    let mut between: Vec<SealedFragment> = Vec::new();
    loop {
        let groups = groups(join, entries)?;
        if let [group] = &groups[..] {
            let target = Arc::new(pass_target(&join.array, Pass::Last(join))?);
            let Passed { sealed, cells, tiles } = pass(join, group.clone(), Pass::Last(join), &target)?;
            return Ok(ConsolidatedFragments { names: join.names.clone(), target, sealed, cells, tiles });
        }
        let mut next = Vec::with_capacity(groups.len());
        for group in groups {
            if let [_] = &group[..] {
                next.extend(group);
                continue;
            }
            let target = Arc::new(pass_target(&join.array, Pass::Between)?);
            let sealed = pass(join, group, Pass::Between, &target)?.sealed;
            next.extend(sealed.iter().map(|sealed| entry_of(sealed, target.version)));
            between.extend(sealed);
        }
        entries = next;
    }
}

/// Result of a pass.
#[derive(Debug, Default)]
struct Passed {
    sealed: Vec<SealedFragment>,
    cells: u64,
    tiles: TileCounts,
}

/// Purpose of a pass.
#[derive(Clone, Copy, Debug)]
enum Pass<'a> {
    /// An intermediate pass. Keeps all information about cells for the following passes.
    Between,
    Last(&'a FragmentJoin),
}

/// Additional fields of the cells in new fragments: timestamps, and the time and condition of
/// deletions.
#[derive(Clone, Copy, Debug)]
struct Carried {
    times: bool,
    deletes: bool,
}

impl Pass<'_> {
    /// Returns the requested version, which applies only to the last pass. An intermediate pass
    /// cannot use a format before 5, because such fragments cannot be read before their commit.
    fn asked_version(self) -> Option<FormatVersion> {
        match self {
            Self::Between => None,
            Self::Last(join) => join.version,
        }
    }

    fn carries(self, array: &Snapshot) -> Result<Carried> {
        let version = tdb_write::chosen_version(array.schema(), self.asked_version())?;
        let times = match self {
            Self::Between => version.has(Feature::CellTimestamps),
            Self::Last(_) => version.has(Feature::PartialTimeOverlap),
        };
        Ok(Carried { times, deletes: version.has(Feature::ProcessedConditions) && self.has_deleted(array)? })
    }

    /// Returns `true` if the new fragments may contain deleted cells.
    fn has_deleted(self, array: &Snapshot) -> Result<bool> {
        let start = array.directory().fragments.iter().map(|entry| entry.name.start()).min().unwrap_or(0);
        let mut deletes = array.directory().deletes.iter().map(|path| time_of(path));
        if let Self::Last(FragmentJoin { purge: Some(until), .. }) = self {
            return Ok(deletes.any(|time| time > *until));
        }
        let is_known = array.fragments()?.iter().any(|fragment| fragment.footer().header().has_delete_metadata);
        Ok(is_known || deletes.any(|time| time >= start))
    }
}

fn pass_target(array: &Snapshot, pass: Pass<'_>) -> Result<Target> {
    let Carried { times, deletes } = pass.carries(array)?;
    Target::new(array, pass.asked_version())?.with_cell_times(times, deletes)
}

/// Returns the time of a delete commit.
fn time_of(path: &str) -> u64 {
    TimestampedName::parse(file_name(path)).map_or(u64::MAX, |name| name.end())
}

/// Returns an entry for an uncommitted fragment, so that the next pass can read the fragment.
fn entry_of(sealed: &SealedFragment, version: FormatVersion) -> FragmentEntry {
    let place = sealed.place();
    FragmentEntry { name: place.name.clone(), folder: place.folder.clone(), version, has_coordinates: false }
}

/// Divides the fragments into groups of consecutive fragments. One tile of each fragment of a group
/// must fit into memory at the same time. Except for the last group, a group has at least two
/// fragments, even if their tiles do not fit.
fn groups(join: &FragmentJoin, entries: Vec<FragmentEntry>) -> Result<Vec<Vec<FragmentEntry>>> {
    let target = Target::new(&join.array, join.version)?;
    let most = join.budget / 4 * 3;
    let mut groups: Vec<Vec<FragmentEntry>> = Vec::new();
    let (mut memory, mut files) = (0, 0);
    let array = join.array.restricted_to(entries.clone());
    // On a local storage, opens one source at a time, to limit the number of open files.
    let size = |fragment: &Fragment| -> Result<(usize, usize)> {
        let source = Source::new(&array, &target, &fragment.afresh(), &Numbers::new())?;
        Ok((source.tile_memory, source.files()))
    };
    let profile = array.storage().profile();
    let in_flight = if profile.is_remote() { profile.in_flight } else { 1 };
    let sizes = at_once(in_flight, array.fragments()?, size);
    for (entry, size) in entries.into_iter().zip(sizes) {
        let (own_memory, own_files) = size?;
        match groups.last_mut() {
            Some(group) if group.len() < 2 || memory + own_memory <= most && files + own_files <= MOST_FILES => {
                group.push(entry);
            }
            _ => {
                (memory, files) = (0, 0);
                groups.push(vec![entry]);
            }
        }
        (memory, files) = (memory + own_memory, files + own_files);
    }
    Ok(groups)
}

/// Consolidates fragments in one pass.
fn pass(join: &FragmentJoin, entries: Vec<FragmentEntry>, pass: Pass<'_>, target: &Arc<Target>) -> Result<Passed> {
    let array = join.array.restricted_to(entries);
    // Determined for all fragments together, because later passes merge the results of all groups.
    let Carried { times, deletes } = pass.carries(&join.array)?;
    let conditions = conditions(&array, target.version)?;
    let numbers = numbers_of(&conditions);
    let sources = array.fragments()?.iter().filter(|fragment| fragment.tile_count() > 0);
    let sources = sources.map(|fragment| Source::new(&array, target, fragment, &numbers));
    let sources = sources.map(|source| source?.with_copies(target));
    let sources: Vec<Source> = sources.collect::<Result<_>>()?;
    let (names, max_fragment_size) = match pass {
        Pass::Last(_) => (join.names.clone(), join.max_fragment_size),
        Pass::Between => (names_of(join, &array), None),
    };
    let output = Output {
        target: Arc::clone(target),
        names,
        times,
        deletes,
        conditions,
        budget: join.budget,
        max_fragment_size,
    };
    let purge = match pass {
        Pass::Last(join) => join.purge,
        Pass::Between => None,
    };
    let distinct = !array.schema().allows_duplicates();
    merge(&array, &sources, &output, (distinct, Keep { newest: distinct && !times, purge }))
}

/// Copies all cells of a fragment in the order of the destination array.
pub(super) fn copy(join: &FragmentJoin) -> Result<ConsolidatedFragments> {
    let fragments = join.array.fragments()?;
    let header = fragments.first().map(|fragment| fragment.footer().header());
    let (times, deletes) = header.map_or((false, false), |header| (header.has_timestamps, header.has_delete_metadata));
    let target = Arc::new(Target::new(join.destination(), join.version)?.with_cell_times(times, deletes)?);
    let known = conditions(&join.array, FormatVersion::DEFAULT)?;
    let numbers = numbers_of(&known);
    let sources = fragments.iter().filter(|fragment| fragment.tile_count() > 0);
    let sources = sources.map(|fragment| Source::new(&join.array, &target, fragment, &numbers)?.with_copies(&target));
    let sources: Vec<Source> = sources.collect::<Result<_>>()?;
    let output = Output {
        target: Arc::clone(&target),
        names: join.names.clone(),
        times,
        deletes,
        conditions: known.iter().map(|path| name_of_delete(path, target.schema.version())).collect(),
        budget: join.budget,
        max_fragment_size: None,
    };
    let distinct = times && !target.schema.allows_duplicates();
    let passed = merge(&join.array, &sources, &output, (distinct, Keep { newest: false, purge: None }))?;
    let Passed { sealed, cells, tiles } = passed;
    Ok(ConsolidatedFragments { names: join.names.clone(), target, sealed, cells, tiles })
}

/// Returns the path of the copy of a delete commit in an array of this version.
pub(crate) fn name_of_delete(path: &str, version: FormatVersion) -> String {
    let name = TimestampedName::parse(file_name(path)).and_then(|name| Some((name.start(), name.end(), name.uuid()?)));
    let Some((start, end, uuid)) = name else { return path.to_owned() };
    let name = TimestampedName::new(NameForm::Versioned(version.number()), start, end, uuid);
    format!("{COMMITS_FOLDER}/{name}.{DELETE_EXTENSION}")
}

/// Merges the cells of sources and writes them in the order of the destination array. `distinct` is
/// `true` if cells with equal coordinates are versions of one cell.
fn merge(array: &Snapshot, sources: &[Source], output: &Output, (distinct, keep): (bool, Keep)) -> Result<Passed> {
    let mut bounds: Option<tdb_rtree::NdRange> = None;
    for source in sources {
        for tile in 0..source.tile_count() {
            let tile = source.bounds(tile)?;
            match &mut bounds {
                Some(bounds) => bounds.expand(&tile),
                none => *none = Some(tile),
            }
        }
    }
    let Some(bounds) = bounds else { return Ok(Passed::default()) };
    let schema = &output.target.schema;
    let order = CellOrder::new(schema, Order::Global, &bounds.0)?;
    let rules = Rules { order: &order, distinct };
    let resorts = !has_same_order(array.schema(), schema);
    let job = Job { array, sources, rules, keep, output, resorts };
    match order.bits() <= u64::BITS {
        true => job.run::<u64>(),
        false => job.run::<u128>(),
    }
}

/// Returns a source of names with the time range of the array's fragments.
fn names_of(join: &FragmentJoin, array: &Snapshot) -> tdb_write::WriteIds {
    let names = array.directory().fragments.iter().map(|entry| &entry.name);
    let start = names.clone().map(TimestampedName::start).min().unwrap_or(0);
    let end = names.map(TimestampedName::end).max().unwrap_or(0);
    join.names.clone().over(start, end)
}

/// Returns the paths of all delete commits, oldest first, including the commits that are already
/// applied to fragments. Returns an empty list for versions that do not store applied commits.
fn conditions(array: &Snapshot, version: FormatVersion) -> Result<Vec<String>> {
    if !version.has(Feature::ProcessedConditions) {
        return Ok(Vec::new());
    }
    let mut all: BTreeMap<(u64, String), ()> = BTreeMap::new();
    for fragment in array.fragments()? {
        all.extend(fragment.processed_conditions()?.into_iter().map(|path| ((time_of(&path), path), ())));
    }
    all.extend(array.directory().deletes.iter().map(|path| ((time_of(path), path.clone()), ())));
    Ok(all.into_keys().map(|(_, path)| path).collect())
}

/// A merge from sources to an output.
struct Job<'a> {
    array: &'a Snapshot,
    sources: &'a [Source],
    rules: Rules<'a>,
    keep: Keep,
    output: &'a Output,
    /// `true` if the source array stores cells in another order than the new fragments.
    resorts: bool,
}

impl Job<'_> {
    fn run<K: Key>(&self) -> Result<Passed> {
        let known = |(index, source): (usize, &Source)| {
            (self.resorts || source.is_stored_otherwise(self.array)).then_some(index)
        };
        let mut unordered: BTreeSet<usize> = self.sources.iter().enumerate().filter_map(known).collect();
        let first = match self.attempt::<K>(&unordered) {
            Err(Stop::OutOfOrder(source)) => source,
            done => return done.map_err(|stop| self.error(stop)),
        };
        // Other fragments may be unordered too. Check all sources now, so that the merge starts
        // again only once.
        for source in 0..self.sources.len() {
            let is_known = source == first || unordered.contains(&source);
            if is_known || !self.input(&unordered).is_in_order::<K>(source)? {
                unordered.insert(source);
            }
        }
        self.attempt::<K>(&unordered).map_err(|stop| self.error(stop))
    }

    fn error(&self, stop: Stop) -> ArrayError {
        match stop {
            Stop::Error(error) => error,
            Stop::OutOfOrder(source) => self.sources[source].corrupt("cannot sort the cells".to_owned()),
            Stop::Repeated(source) => ArrayError::Write(format!(
                "{}: cannot consolidate: expected each coordinate once, as the array does not allow duplicates, found cells of \
                 equal coordinates; delete all but one of them with `tdb delete` and consolidate with --purge-deleted, or leave the \
                 fragment out",
                self.array.storage().describe(self.sources[source].fragment.folder())
            )),
        }
    }

    fn input<'s>(&'s self, unordered: &'s BTreeSet<usize>) -> Input<'s> {
        let Self { array, sources, rules, keep, .. } = *self;
        Input { array, sources, rules, keep, unordered, memory: self.output.budget / 4 }
    }

    fn attempt<K: Key>(&self, unordered: &BTreeSet<usize>) -> Result<Passed, Stop> {
        let output = self.output;
        let mut merge = Merge::<K>::new(self.input(unordered))?;
        let mut sink = Sink::new(output);
        let (window, memory) = (sink.window(), output.budget / 8);
        let mut more = merge.fill(window, memory)?;
        let mut picked = merge.hand_over();
        while more {
            let write = || {
                let taken = sink.take(&picked, false);
                drop(picked);
                taken
            };
            // Pick the next cells while the previous cells are written.
            let (written, filled) = self.array.workers().both(write, || merge.fill(window, memory));
            written?;
            more = filled?;
            picked = merge.hand_over();
        }
        sink.take(&picked, true)?;
        let (cells, tiles) = (sink.cells, sink.tiles);
        Ok(Passed { sealed: sink.finish()?, cells, tiles })
    }
}
