//! Metadata, groups, domains and schemas through time, compared with the reference library.

use std::collections::BTreeSet;

use tdb_array::{Array, ArrayOptions, Group, GroupOptions, Metadata, TimeRange};
use tdb_filters::{EncryptionKey, KeyProblem};
use tdb_rtree::{DimRange, NdRange};
use tdb_testkit::fixtures::{self, Column, Fixture};
use tdb_types::{ArrayType, Scalar, TimestampedName};

use crate::arrays::with_key;

/// Key, datatype and bytes of each entry.
type Entries = Vec<(String, String, Vec<u8>)>;

fn ours(metadata: &Metadata) -> Entries {
    let entry = |(key, value): (std::borrow::Cow<'_, str>, &tdb_array::MetadataValue)| {
        (key.into_owned(), value.datatype().name().to_owned(), value.as_bytes().to_vec())
    };
    metadata.iter().map(entry).collect()
}

fn theirs(metadata: &[fixtures::Metadata]) -> Entries {
    let entry = |entry: &fixtures::Metadata| {
        let column = Column {
            name: String::new(),
            datatype: entry.datatype.clone(),
            cell_val_num: None,
            nullable: false,
            values: vec![entry.value.clone()],
        };
        (entry.key.clone(), entry.datatype.clone(), column.to_bytes().values)
    };
    metadata.iter().map(entry).collect()
}

fn open(fixture: &Fixture, (start, end): (u64, u64)) -> Array {
    let options = with_key(ArrayOptions::new().between(TimeRange { start, end }), fixture);
    options.open_on(fixture.array_storage()).unwrap()
}

#[test]
fn metadata_of_arrays() {
    let (mut with_metadata, mut encrypted) = (0, 0);
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let expected = fixture.expected();
        let array = open(&fixture, (0, u64::MAX));
        assert_eq!(ours(array.metadata().unwrap()), theirs(&expected.metadata), "{}", fixture.name());
        with_metadata += usize::from(!expected.metadata.is_empty());
        encrypted += usize::from(!expected.metadata.is_empty() && expected.encryption_key.is_some());
    }
    assert!(with_metadata >= 2 && encrypted >= 1, "only {with_metadata} with metadata, {encrypted} of them encrypted");
}

/// Keys, datatypes and counts that release 2.30.0 reads from the consolidated fixture, opened
/// between two changes. The consolidated file and the vacuum file count only if completely within
/// the time range.
#[test]
fn consolidated_metadata_through_time() {
    let fixture = fixtures::named("v22-by-2.30.0-dense-metadata-consolidated");
    let shown = |first: u64, last: u64| {
        let time = |step: u64| 1_700_000_000_000 + 1000 * step;
        let array = open(&fixture, (time(first), time(last)));
        let metadata = array.metadata().unwrap();
        metadata.iter().map(|(key, value)| format!("{key}:{}x{}", value.datatype(), value.count())).collect::<Vec<_>>()
    };
    let first =
        [":int32x1", "empty:string_asciix0", "gone:uint8x2", "list:float64x3", "number:int64x1", "text:string_utf8x6"];
    assert_eq!(shown(0, 0), first);
    let second = [
        ":int32x1",
        "bytes:blobx3",
        "empty:string_asciix0",
        "gone:uint8x2",
        "list:float64x3",
        "number:int32x1",
        "text:string_utf8x6",
    ];
    assert_eq!(shown(0, 1), second);
    let both: Vec<_> = second.iter().filter(|entry| !entry.starts_with("gone")).copied().collect();
    assert_eq!(shown(0, 2), both);
    assert_eq!(shown(1, 2), ["bytes:blobx3", "number:int32x1"]);
    assert_eq!(shown(1, 1), ["bytes:blobx3", "number:int32x1"]);
}

/// Key, path relative to the group, and kind of each member.
type Members = BTreeSet<(Option<String>, String, String)>;

fn members(group: &Group) -> Members {
    let member = |member: &tdb_array::Member| {
        let tdb_array::MemberPlace::Inside(path) = &member.place else { panic!("{member:?}") };
        (member.name.clone(), path.clone(), member.kind.to_string())
    };
    group.members().iter().map(member).collect()
}

fn expected_members(members: &[fixtures::GroupMember]) -> Members {
    members.iter().map(|member| (member.name.clone(), member.uri.clone(), member.kind.clone())).collect()
}

#[test]
fn groups() {
    let (mut seen, mut encrypted) = (0, 0);
    for fixture in fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases()) {
        let expected = fixture.expected_group();
        let group = match expected.key() {
            Some(key) => {
                encrypted += 1;
                let missing = GroupOptions::new().open_on(fixture.group_storage()).unwrap_err();
                assert_eq!(missing.key_problem(), Some(KeyProblem::Missing), "{missing}");
                let mut other = key;
                other[0] ^= 1;
                let wrong = GroupOptions::new().key(EncryptionKey::new(other));
                let wrong = wrong.open_on(fixture.group_storage()).unwrap_err();
                assert_eq!(wrong.key_problem(), Some(KeyProblem::Wrong), "{wrong}");
                GroupOptions::new().key(EncryptionKey::new(key)).open_on(fixture.group_storage()).unwrap()
            }
            None => Group::open(fixture.group_dir()).unwrap(),
        };
        // Fixtures lack empty folders. For a group without members this makes no difference.
        assert_eq!(group.is_legacy(), expected.members.is_empty(), "{}", fixture.name());
        seen += 1;
        assert_eq!(members(&group), expected_members(&expected.members), "{}", fixture.name());
        assert_eq!(ours(group.metadata().unwrap()), theirs(&expected.metadata), "{}", fixture.name());
    }
    assert!(seen >= 3 && encrypted >= 1, "{seen} groups, {encrypted} encrypted");
}

/// Returns the union of the boxes that the reference library reports for fragments within the time
/// range.
fn expected_domain(array: &Array, expected: &fixtures::Expected, time: TimeRange) -> Option<NdRange> {
    let is_sparse = array.schema().array_type() == ArrayType::Sparse;
    let is_visible = |fragment: &&fixtures::Fragment| match is_sparse && fragment.format_version >= 15 {
        true => time.intersects(fragment.timestamps.0, fragment.timestamps.1),
        false => time.contains(fragment.timestamps.0, fragment.timestamps.1),
    };
    let of_fragment = |fragment: &fixtures::Fragment| {
        let sides = fragment.non_empty_domain.iter().zip(array.schema().dimensions());
        let sides = sides.map(|((first, last), dimension)| {
            let bytes = |value: &serde_json::Value| {
                let number = (!dimension.is_var()).then_some(1);
                let (name, datatype) = (String::new(), dimension.datatype().name().to_owned());
                let values = vec![value.clone()];
                Column { name, datatype, cell_val_num: number, nullable: false, values }.to_bytes().values
            };
            let key = |value| Scalar::from_le_bytes(dimension.datatype().physical(), &bytes(value)).unwrap().key();
            match dimension.is_var() {
                true => DimRange::strings(bytes(first), bytes(last)),
                false => DimRange::Fixed { lo: key(first), hi: key(last) },
            }
        });
        NdRange(sides.collect())
    };
    expected.fragments.iter().filter(is_visible).map(of_fragment).reduce(|mut union, range| {
        union.expand(&range);
        union
    })
}

#[test]
fn non_empty_domains_through_time() {
    let mut checked = 0;
    for fixture in fixtures::all() {
        let expected = fixture.expected();
        let mut ends: BTreeSet<u64> = expected.fragments.iter().map(|fragment| fragment.timestamps.1).collect();
        ends.extend(expected.fragments.iter().map(|fragment| fragment.timestamps.0));
        for &end in &ends {
            for start in [0, end] {
                let time = TimeRange { start, end };
                let array = open(&fixture, (start, end));
                // A consolidated fragment outside of the time range does not hide superseded
                // fragments. The expected values do not list superseded fragments.
                if array
                    .fragments()
                    .unwrap()
                    .iter()
                    .any(|ours| expected.fragments.iter().all(|f| f.name != ours.name().as_str()))
                {
                    continue;
                }
                let domain = expected_domain(&array, &expected, time);
                assert_eq!(array.non_empty_domain().unwrap(), domain, "{} within {start}..={end}", fixture.name());
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked} domains");
}

/// Returns the timestamps of a fixture's schemas, in order.
fn schema_times(fixture: &Fixture) -> Vec<u64> {
    let files = fixture.array_files().filter_map(|path| path.strip_prefix("__schema/"));
    files.filter(|path| !path.contains('/')).map(|name| TimestampedName::parse(name).unwrap().start()).collect()
}

#[test]
fn enumerations_are_those_of_the_time() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-enumeration-extended");
    let lengths = schema_times(&fixture).into_iter().map(|time| {
        let enumeration = open(&fixture, (0, time)).enumeration("e").unwrap();
        enumeration.values().map(|value| String::from_utf8_lossy(value).into_owned()).collect::<Vec<_>>()
    });
    let lengths: Vec<_> = lengths.collect();
    assert_eq!(lengths, [vec!["one", "two"], vec!["one", "two", "three", "four"]]);
}

#[test]
fn current_domains_are_those_of_the_time() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-current-domain");
    let domains = schema_times(&fixture).into_iter().map(|time| {
        let array = open(&fixture, (0, time));
        let DimRange::Fixed { lo, hi } = array.schema().current_domain().unwrap().0[1] else { panic!("integers") };
        let value = |key| Scalar::from_key(array.schema().dimensions()[1].datatype().physical(), key);
        (value(lo), value(hi))
    });
    let domains: Vec<_> = domains.collect();
    assert_eq!(domains, [(Scalar::I64(10), Scalar::I64(500)), (Scalar::I64(0), Scalar::I64(9000))]);
}
