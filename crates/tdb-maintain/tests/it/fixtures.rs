//! Arrays and groups of all releases read the same at every time after consolidation and vacuum.

use crate::support;

use std::sync::Arc;

use crate::support::{Case, Placed, differences, group_history};
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{GroupOptions, MetadataValue, TimeRange, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, Vacuum};
use tdb_storage::Storage;
use tdb_testkit::fixtures;

/// Number of arrays by outcome.
#[derive(Debug, Default)]
struct Counts {
    arrays: u32,
    joined: [u32; 3],
    refused: u32,
    vacuumed: [u32; 4],
}

#[test]
fn arrays_read_as_before_at_every_time() {
    let mut counts = Counts::default();
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        check(&Case::of(&fixture), &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.arrays > 500 && counts.refused > 50, "{counts:?}");
    assert!(counts.joined.into_iter().zip([170, 215, 9]).all(|(found, least)| found >= least), "{counts:?}");
    assert!(counts.vacuumed.into_iter().zip([7, 170, 8, 9]).all(|(found, least)| found >= least), "{counts:?}");
}

fn check(case: &Case, counts: &mut Counts) {
    let name = &case.name;
    counts.arrays += 1;
    let before = case.history();
    let kinds = [Consolidate::commits(), Consolidate::footers(), Consolidate::metadata()];
    for (kind, counter) in kinds.into_iter().zip(&mut counts.joined) {
        let plan = match kind.plan(&case.array()) {
            Err(MaintainError::NotInFormat { version, .. }) => {
                assert!((7..12).contains(&version.number()), "{name}: {version}");
                counts.refused += 1;
                continue;
            }
            plan => plan.unwrap_or_else(|error| panic!("{name}: {error}")),
        };
        assert_eq!(plan.past().count(), 0, "{name}: a consolidation ends reads of earlier times");
        let planned: Vec<_> = plan.steps().cloned().collect();
        let report = plan.run().unwrap();
        assert_eq!(report.steps, planned, "{name}");
        *counter += u32::from(!planned.is_empty());
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0], "{name}, {kind:?}");
        assert!(kind.plan(&case.array()).unwrap().is_empty(), "{name}, {kind:?}: a second plan has steps");
    }
    let kinds = [Vacuum::fragments(), Vacuum::commits().delete_files(true), Vacuum::footers(), Vacuum::metadata()];
    let mut past: Vec<TimeRange> = Vec::new();
    for (kind, counter) in kinds.iter().zip(&mut counts.vacuumed) {
        let plan = kind.plan(&case.array()).unwrap();
        past.extend(plan.past());
        let report = plan.run().unwrap();
        assert!(report.left.is_empty(), "{name}, {kind:?}: {:?}", report.left);
        *counter += u32::from(!report.steps.is_empty());
        assert_eq!(differences(&before, &case.history(), &past), [""; 0], "{name}, {kind:?}");
        assert!(kind.plan(&case.array()).unwrap().is_empty(), "{name}, {kind:?}: a second plan has steps");
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
        let options = GroupOptions::new().between(TimeRange::ALL).key(key.clone());
        let open = || options.open_on(storage.clone()).unwrap();
        // No fixture has more than one metadata file.
        let seeded = WriteIds::new().seeded(7);
        for (time, text) in [(5, "spring"), (5, "summer"), (1_800_000_000_000, "autumn")] {
            let value = MetadataValue::text(text).unwrap();
            let change = open().write_metadata().ids(seeded.clone().at(time)).put("season", value).delete("number");
            change.put(text, MetadataValue::text("").unwrap()).commit().unwrap();
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
