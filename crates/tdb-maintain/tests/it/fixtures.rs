//! Arrays and groups of all releases read the same at every time after consolidation and vacuum.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Case, Placed, differences, group_history};
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{GroupOptions, MetadataValue, Names, TimeRange};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, Vacuum};
use tdb_storage::Storage;
use tdb_testkit::fixtures::{self, Fixture};

/// Number of arrays by outcome.
#[derive(Debug, Default)]
struct Counts {
    arrays: AtomicUsize,
    joined: [AtomicUsize; 3],
    refused: AtomicUsize,
    vacuumed: [AtomicUsize; 4],
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn of(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn arrays_read_as_before_at_every_time() {
    let all: Vec<Fixture> = fixtures::all().into_iter().chain(fixtures::of_older_releases()).collect();
    let (next, counts) = (AtomicUsize::new(0), Counts::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(fixture) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(&Case::of(fixture), &counts);
                }
            });
        }
    });
    let (joined, vacuumed) = (counts.joined.each_ref().map(of), counts.vacuumed.each_ref().map(of));
    println!(
        "{} arrays, joined {joined:?}, {} refused, vacuumed {vacuumed:?}",
        of(&counts.arrays),
        of(&counts.refused)
    );
    assert!(of(&counts.arrays) > 500 && of(&counts.refused) > 50);
    assert!(joined.into_iter().zip([170, 215, 9]).all(|(found, least)| found >= least), "{joined:?}");
    assert!(vacuumed.into_iter().zip([7, 170, 8, 9]).all(|(found, least)| found >= least), "{vacuumed:?}");
}

fn check(case: &Case, counts: &Counts) {
    let name = &case.name;
    count(&counts.arrays);
    let before = case.history();
    let kinds = [Consolidate::commits(), Consolidate::footers(), Consolidate::metadata()];
    for (kind, counter) in kinds.into_iter().zip(&counts.joined) {
        let plan = match kind.plan(&case.array()) {
            Err(MaintainError::NotInFormat { version, .. }) => {
                assert!((7..12).contains(&version.number()), "{name}: {version}");
                count(&counts.refused);
                continue;
            }
            plan => plan.unwrap_or_else(|error| panic!("{name}: {error}")),
        };
        assert_eq!(plan.past().count(), 0, "{name}: nothing is lost before a vacuum");
        let planned: Vec<_> = plan.steps().cloned().collect();
        let report = plan.run().unwrap();
        assert_eq!(report.steps, planned, "{name}");
        if !planned.is_empty() {
            count(counter);
        }
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0], "{name}, {kind:?}");
        assert!(kind.plan(&case.array()).unwrap().is_empty(), "{name}, {kind:?}: once is enough");
    }
    let kinds = [Vacuum::fragments(), Vacuum::commits().delete_files(true), Vacuum::footers(), Vacuum::metadata()];
    let mut past: Vec<TimeRange> = Vec::new();
    for (kind, counter) in kinds.iter().zip(&counts.vacuumed) {
        let plan = kind.plan(&case.array()).unwrap();
        past.extend(plan.past());
        let report = plan.run().unwrap();
        assert!(report.left.is_empty(), "{name}, {kind:?}: {:?}", report.left);
        if !report.steps.is_empty() {
            count(counter);
        }
        assert_eq!(differences(&before, &case.history(), &past), [""; 0], "{name}, {kind:?}");
        assert!(kind.plan(&case.array()).unwrap().is_empty(), "{name}, {kind:?}: once is enough");
    }
    let files = case.files();
    assert!(!files.keys().any(|path| path.ends_with(".vac")), "{name}: {files:?}");
    assert!(files.keys().filter(|path| path.ends_with(".con")).count() <= 1, "{name}");
    assert_eq!(case.array().leftovers().unwrap(), [], "{name}");
    assert!(Vacuum::all().plan(&case.array()).unwrap().is_empty(), "{name}");
}

#[test]
fn groups_read_as_before_at_every_time() {
    let (mut joined, mut groups) = (0, 0);
    for fixture in fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases()) {
        let name = fixture.name();
        let storage: Arc<dyn Storage> = Arc::new(Placed(fixture.group_storage()));
        let key = fixture.expected_group().key().map(EncryptionKey::new);
        let open = || {
            let options = GroupOptions::new().between(TimeRange::ALL);
            let options = key.clone().map_or(options.clone(), |key| options.key(key));
            options.open_on(storage.clone()).unwrap()
        };
        // No fixture has more than one metadata file.
        let seeded = Names::new().seeded(7);
        for (time, text) in [(5, "spring"), (5, "summer"), (1_800_000_000_000, "autumn")] {
            let value = MetadataValue::text(text).unwrap();
            let names = seeded.clone().at(time);
            open()
                .write_metadata()
                .names(names)
                .put("season", value)
                .delete("number")
                .put(text, MetadataValue::text("").unwrap())
                .commit()
                .unwrap();
        }
        let before = group_history(&storage, key.as_ref());
        let report = Consolidate::metadata().plan(&open()).unwrap().run().unwrap();
        joined += usize::from(!report.steps.is_empty());
        assert_eq!(differences(&before, &group_history(&storage, key.as_ref()), &[]), [""; 0], "{name}");
        let plan = Vacuum::all().plan(&open()).unwrap();
        let past: Vec<_> = plan.past().copied().collect();
        let report = plan.run().unwrap();
        assert!(report.left.is_empty(), "{name}: {:?}", report.left);
        assert_eq!(differences(&before, &group_history(&storage, key.as_ref()), &past), [""; 0], "{name}");
        let left = support::files(&*storage);
        assert!(!left.keys().any(|path| path.ends_with(".vac")), "{name}");
        groups += 1;
    }
    assert!(groups > 10 && joined == groups, "{groups} groups, {joined} of them with several files of metadata");
}
