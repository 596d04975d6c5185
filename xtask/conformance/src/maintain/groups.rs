//! Group metadata changed, consolidated and vacuumed by both sides alternately.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use tdb_array::{CreateOptions, Group};
use tdb_cases::entries;
use tdb_cases::ours::describe;
use tdb_cases::random::Random;
use tdb_cases::tally::Counts;
use tdb_cases::writer::set_key;
use tdb_maintain::{Consolidate, Plan, Vacuum};
use tdb_reference::model::MetadataEntry;
use tdb_reference::{Job, Reference};

/// Names of counters.
pub const GROUPS: &str = "groups";
pub const TURNS: &str = "turns of groups";

/// Runs the history of a group. Returns a description of the first failure.
pub fn run(seed: u64, reference: &mut Reference, folder: &Path, counts: &mut Counts) -> Result<(), String> {
    set_key(reference, false);
    let random = &mut Random::new(seed);
    let path = folder.join("group");
    let uri = path.to_string_lossy().into_owned();
    CreateOptions::new().create_group(&path).map_err(|error| describe(&error))?;
    let mut expected: BTreeMap<String, MetadataEntry> = BTreeMap::new();
    let turns = random.between(6, 16);
    for turn in 0..turns {
        // Files of different libraries have no defined order within one millisecond.
        thread::sleep(Duration::from_millis(2));
        let is_ours = random.percent(50);
        let what = random.weighted(&[50, 25, 25]);
        let done = match what {
            0 => change(random, reference, (&path, &uri), is_ours, &mut expected),
            _ if is_ours => by_us(&path, what == 1),
            1 => reference.consolidate_group_metadata(&uri).map_err(|error| error.to_string()),
            _ => reference.vacuum_group_metadata(&uri).map_err(|error| error.to_string()),
        };
        let failed = |detail: String| format!("group, turn {turn} ({what}, by tdb: {is_ours}): {detail}");
        done.map_err(failed)?;
        same(reference, (&path, &uri), &expected).map_err(failed)?;
        counts.add(TURNS, 1);
    }
    counts.add(GROUPS, 1);
    Ok(())
}

fn by_us(path: &Path, consolidates: bool) -> Result<(), String> {
    let group = Group::open(path).map_err(|error| describe(&error))?;
    let plan = if consolidates { Consolidate::metadata().plan(&group) } else { Vacuum::all().plan(&group) };
    plan.and_then(Plan::run).map(drop).map_err(|error| describe(&error))
}

fn change(
    random: &mut Random,
    reference: &mut Reference,
    (path, uri): (&Path, &str),
    is_ours: bool,
    expected: &mut BTreeMap<String, MetadataEntry>,
) -> Result<(), String> {
    let put = entries::entries(random);
    let known: Vec<String> = expected.keys().cloned().collect();
    let put_now = |key: &String| put.iter().any(|entry| entry.key == *key);
    let delete: Vec<String> = random.subset(&known, 40).into_iter().filter(|key| !put_now(key)).collect();
    for entry in &put {
        expected.insert(entry.key.clone(), entry.clone());
    }
    for key in &delete {
        expected.remove(key);
    }
    if is_ours {
        let group = Group::open(path).map_err(|error| describe(&error))?;
        return entries::change(group.write_metadata(), &put, &delete);
    }
    let (add, remove) = (Vec::new(), Vec::new());
    let job = Job::ChangeGroup { uri: uri.to_owned(), add, remove, put, delete };
    reference.done(job).map_err(|error| error.to_string())
}

fn same(
    reference: &mut Reference,
    (path, uri): (&Path, &str),
    expected: &BTreeMap<String, MetadataEntry>,
) -> Result<(), String> {
    let group = Group::open(path).map_err(|error| describe(&error))?;
    let own = entries::entries_of(group.metadata().map_err(|error| describe(&error))?);
    let theirs = reference.describe_group(uri).map_err(|error| error.to_string())?.metadata;
    let expected: Vec<_> = expected.values().cloned().collect();
    for (side, got) in [("tdb", own), ("the library", theirs)] {
        if let Some(detail) = super::state::other_metadata(&expected, &got) {
            return Err(format!("{side}: {detail}"));
        }
    }
    Ok(())
}
