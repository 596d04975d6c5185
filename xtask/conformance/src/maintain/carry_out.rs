//! Runs the operations of a history on either side.

use tdb_array::{Array, ArrayError, TimeRange, WriteIds};
use tdb_cases::defects::repeats_times;
use tdb_cases::entries;
use tdb_cases::history::{Deed, History, Join, Small, Turn};
use tdb_cases::ours::{self, Manner, describe};
use tdb_cases::writer::carry_out;
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, FragmentPlan, Plan, Refusal, Vacuum};
use tdb_reference::{Job, Reference};

/// The result of an operation by tdb.
#[derive(Debug)]
pub enum Done {
    Done,
    /// tdb refused the operation, to prevent a loss of data or because the format lacks the
    /// operation.
    Refused(String),
}

/// Runs an operation with tdb.
///
/// # Errors
/// Fails if the operation fails without being refused.
pub fn by_us(history: &History, turn: &Turn, uri: &str, chance: u64) -> Result<Done, String> {
    let open = || {
        let options = ours::options(&history.case()).threads(1 + (chance % 2) as usize).between(TimeRange::ALL);
        options.open(uri).map_err(|error| describe(&error))
    };
    let failed = |error: ArrayError| describe(&error);
    match &turn.deed {
        Deed::Step(step) => {
            let case = history.case();
            let mut manner = Manner::by(chance);
            // For more than sixteen fragments, the library has no defined order of fragments of one
            // time.
            if repeats_times(&case) {
                manner.max_fragment_size = None;
            }
            ours::carry_out(step, &case, uri, manner)?;
        }
        Deed::Metadata { put, delete, time } => {
            entries::change(open()?.write_metadata().ids(WriteIds::new().at(*time)), put, delete)?;
        }
        Deed::DeleteFragments(start, end) => {
            open()?.delete_fragments(time_range((*start, *end))).map_err(failed)?;
        }
        Deed::Join(join) => {
            return settled(consolidation(join, &open()?)?.plan(&open()?).and_then(FragmentPlan::run).map(drop));
        }
        Deed::Gather(small, between) => {
            let consolidation = match small {
                Small::Commits => Consolidate::commits(),
                Small::Footers => Consolidate::footers(),
                Small::Metadata => Consolidate::metadata(),
            };
            let times = between.map(time_range).into_iter();
            let consolidation = times.fold(consolidation, |consolidation, time| consolidation.between(time));
            return settled(consolidation.plan(&open()?).and_then(Plan::run).map(drop));
        }
        Deed::VacuumFragments | Deed::Vacuum(_) => {
            let vacuum = match turn.deed {
                Deed::Vacuum(Small::Commits) => Vacuum::commits(),
                Deed::Vacuum(Small::Footers) => Vacuum::footers(),
                Deed::Vacuum(Small::Metadata) => Vacuum::metadata(),
                _ => Vacuum::fragments(),
            };
            return settled(vacuum.plan(&open()?).and_then(Plan::run).map(drop));
        }
    }
    Ok(Done::Done)
}

fn settled(outcome: Result<(), MaintainError>) -> Result<Done, String> {
    match outcome {
        Ok(()) => Ok(Done::Done),
        Err(MaintainError::Refused { why, .. }) => Ok(Done::Refused(kind_of(&why).to_owned())),
        Err(MaintainError::Between { .. }) => {
            Ok(Done::Refused("metadata in between extends beyond the time range".to_owned()))
        }
        Err(MaintainError::NotInFormat { what, .. }) => Ok(Done::Refused(format!("formats without {what} files"))),
        Err(error) => match describe(&error) {
            // The library reports the same refusal, which `defects::refused` recognizes.
            told if told.contains("positive_delta") && told.contains("values in ascending order") => {
                Ok(Done::Refused("consolidated cells that do not ascend, with the positive delta filter".to_owned()))
            }
            told => Err(told),
        },
    }
}

/// Describes a refusal without fragment names.
fn kind_of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Between { .. } => "an overlapping fragment has a time in between",
        Refusal::SameTime { .. } => "an overlapping fragment has the same time",
        Refusal::CoversOlder { .. } => "the tiles would cover an older fragment",
        Refusal::Uncovers { .. } => "purging deleted cells would make older cells visible again",
        Refusal::DroppedAttributes { .. } => "values of dropped attributes would be lost for reads of the past",
        Refusal::Amplification { .. } => "too many cells that were never written",
        Refusal::SizeRatio { .. } => "neighboring fragments differ too much in size",
        _ => "other reasons",
    }
}

fn time_range((start, end): (u64, u64)) -> TimeRange {
    TimeRange { start, end }
}

fn consolidation(join: &Join, array: &Array) -> Result<ConsolidateFragments, String> {
    let mut consolidation = ConsolidateFragments::new().purge(join.purge).budget(join.budget);
    consolidation = listed(join, array)?.into_iter().fold(consolidation, ConsolidateFragments::fragments);
    consolidation = join.between.map(time_range).into_iter().fold(consolidation, ConsolidateFragments::between);
    consolidation = join.steps.into_iter().fold(consolidation, ConsolidateFragments::steps);
    consolidation = join.min.into_iter().fold(consolidation, ConsolidateFragments::step_min_fragments);
    consolidation = join.max.into_iter().fold(consolidation, ConsolidateFragments::step_max_fragments);
    consolidation = join.ratio.into_iter().fold(consolidation, ConsolidateFragments::step_size_ratio);
    consolidation = join.amplification.into_iter().fold(consolidation, ConsolidateFragments::amplification);
    consolidation = join.max_fragment_size.into_iter().fold(consolidation, ConsolidateFragments::max_fragment_size);
    Ok(consolidation)
}

/// Resolves positions in a list to fragment names. Skips positions without a fragment.
fn listed(join: &Join, array: &Array) -> Result<Option<Vec<String>>, String> {
    let Some(list) = &join.list else { return Ok(None) };
    let fragments = array.fragments().map_err(|error| describe(&error))?;
    let names = list.iter().filter_map(|place| fragments.get(*place)).map(|fragment| fragment.name().to_string());
    Ok(Some(names.collect()))
}

/// Runs an operation with the library.
///
/// # Errors
/// Fails if the library refuses the operation.
pub fn by_them(history: &History, turn: &Turn, reference: &mut Reference, uri: &str) -> tdb_reference::Result<()> {
    match &turn.deed {
        Deed::Step(step) => carry_out(step, reference, uri),
        Deed::Metadata { put, delete, time } => {
            let (uri, put, delete) = (uri.to_owned(), put.clone(), delete.clone());
            reference.done(Job::ChangeMetadata { uri, put, delete, timestamp: Some(*time) })
        }
        Deed::DeleteFragments(start, end) => reference.delete_fragments(uri, (*start, *end)),
        Deed::Join(join) => {
            let options = ours::options(&history.case()).threads(1);
            let list = options.open(uri).map_err(|error| describe(&error)).and_then(|array| listed(join, &array));
            let job = match list.map_err(tdb_reference::Error::Library)? {
                Some(fragments) => Job::ConsolidateFragments { uri: uri.to_owned(), fragments },
                None => Job::Consolidate { uri: uri.to_owned() },
            };
            with_settings(reference, &join_settings(join), job)
        }
        Deed::Gather(small, between) => {
            let mut settings = vec![("sm.consolidation.mode", small.mode().to_owned())];
            settings.extend(time_settings(*between));
            with_settings(reference, &settings, Job::Consolidate { uri: uri.to_owned() })
        }
        Deed::VacuumFragments => reference.vacuum(uri, "fragments"),
        Deed::Vacuum(small) => reference.vacuum(uri, small.mode()),
    }
}

fn join_settings(join: &Join) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("sm.consolidation.mode", "fragments".to_owned()),
        // The default buffer size would fill hundreds of megabytes with zeros each time.
        ("sm.consolidation.buffer_size", "4000000".to_owned()),
        ("sm.consolidation.purge_deleted_cells", join.purge.to_string()),
    ];
    settings.extend(time_settings(join.between));
    settings.extend(join.steps.map(|steps| ("sm.consolidation.steps", steps.to_string())));
    settings.extend(join.min.map(|min| ("sm.consolidation.step_min_frags", min.to_string())));
    settings.extend(join.max.map(|max| ("sm.consolidation.step_max_frags", max.to_string())));
    settings.extend(join.ratio.map(|ratio| ("sm.consolidation.step_size_ratio", ratio.to_string())));
    settings.extend(join.amplification.map(|most| ("sm.consolidation.amplification", most.to_string())));
    settings.extend(join.max_fragment_size.map(|bytes| ("sm.consolidation.max_fragment_size", bytes.to_string())));
    settings
}

fn time_settings(between: Option<(u64, u64)>) -> Vec<(&'static str, String)> {
    between.map_or_else(Vec::new, |(start, end)| {
        vec![
            ("sm.consolidation.timestamp_start", start.to_string()),
            ("sm.consolidation.timestamp_end", end.to_string()),
        ]
    })
}

/// Runs a job with additional settings.
fn with_settings(reference: &mut Reference, settings: &[(&str, String)], job: Job) -> tdb_reference::Result<()> {
    let before = reference.config().clone();
    reference.config().extend(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let outcome = reference.done(job);
    *reference.config() = before;
    outcome
}
