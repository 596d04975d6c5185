use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_types::{Datatype, NameForm, TimestampedName};

use super::*;

/// Number of cells in a tile along each dimension.
const EXTENT: u64 = 10;

fn schema(dimensions: usize) -> ArraySchema {
    let names = ["x", "y"];
    let of = |name: &str| Dimension::new(name, 0u64..=u64::MAX - EXTENT - 1).with_tile(EXTENT);
    let builder = names[..dimensions].iter().fold(SchemaBuilder::dense(), |all, name| all.dimension(of(name)));
    builder.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap()
}

fn facts(time: u64, sides: &[(u64, u64)]) -> Facts {
    let domain = NdRange(sides.iter().map(|(lo, hi)| DimRange::Fixed { lo: *lo, hi: *hi }).collect());
    Facts {
        name: TimestampedName::new(NameForm::Versioned(22), time, time, time.into()),
        folder: String::new(),
        bytes: 1000,
        domain: Some(domain),
        has_times: false,
        dropped: Vec::new(),
    }
}

fn choice(max: usize) -> Choice {
    Choice { min: None, max, size_ratio: 0.0, amplification: 1.0 }
}

/// Returns the groups and the number of comparisons.
fn parts(dimensions: usize, max: usize, all: &[Facts]) -> (Vec<Vec<usize>>, u64) {
    let (schema, choice) = (schema(dimensions), choice(max));
    let mut partition = Partition::new(&schema, &choice, all);
    let found = partition.groups(|_| true);
    (found.groups, partition.index.compared())
}

fn appended(place: u64, number: u64) -> (u64, u64) {
    (place + number * EXTENT, place + (number + 1) * EXTENT - 1)
}

#[test]
fn two_appenders_become_two_groups() {
    let all: Vec<Facts> =
        (0..20).map(|time| facts(time, &[appended(if time % 2 == 0 { 0 } else { 1_000_000 }, time / 2)])).collect();
    let even_and_odd = [(0..20).step_by(2).collect::<Vec<_>>(), (1..20).step_by(2).collect()];
    assert_eq!(parts(1, usize::MAX, &all).0, even_and_odd);
    let fours: Vec<usize> = parts(1, 4, &all).0.iter().map(Vec::len).collect();
    assert_eq!(fours, [4, 4, 4, 4, 2, 2]);
}

#[test]
fn overlapped_groups_are_closed() {
    // The second fragment is too distant to be grouped, and overlaps the first.
    let all = [facts(1, &[(0, 9), (0, 9)]), facts(2, &[(0, 9), (0, 9999)]), facts(3, &[(0, 9), (0, 9)])];
    let choice = Choice { amplification: 0.9, ..choice(usize::MAX) };
    assert_eq!(groups(&schema(2), &choice, &all, |facts| facts.name.start() != 2).groups, [[0usize; 0]; 0]);
}

#[test]
fn older_fragments_are_not_hidden() {
    let all = [facts(1, &[(8, 9)]), facts(2, &[(0, 1)]), facts(3, &[(3, 4)])];
    assert_eq!(groups(&schema(1), &choice(usize::MAX), &all, |facts| facts.name.start() > 1).groups, [[0usize; 0]; 0]);
}

#[test]
fn a_distant_fragment_does_not_separate_others() {
    // Each fragment overlaps its neighbors, in any order of time. One fragment near the end is
    // distant.
    let places = [7, 2, 11, 0, 14, 5, 9, 3, 16, 1, 12, 6, 18, 4, 10, 15, 8, 1_000_000, 13, 17, 19];
    for sides in [1, 2] {
        let all: Vec<Facts> =
            (0..).zip(places).map(|(time, place)| facts(time, &vec![(place * 6, place * 6 + 11); sides])).collect();
        let expected: Vec<usize> = (0..21).filter(|number| *number != 17).collect();
        let (schema, choice) = (schema(sides), Choice { amplification: 5.0, ..choice(usize::MAX) });
        let found = groups(&schema, &choice, &all, |_| true);
        assert_eq!(found.groups, [expected]);
        let (factor, two) = found.nearest.unwrap();
        assert!(factor > 5.0 && two.len() == 21, "{factor} {two:?}");
    }
}

#[test]
fn comparisons_grow_like_a_sort() {
    for appenders in [1, 2, 50, 1000, 100_000] {
        let mut counts = Vec::new();
        for count in [10_000_u64, 100_000] {
            let all: Vec<Facts> = (0..count)
                .map(|time| facts(time, &[appended(time % appenders * 1_000_000_000, time / appenders)]))
                .collect();
            let (groups, compared) = parts(1, usize::MAX, &all);
            if appenders <= 50 {
                assert_eq!(groups.len() as u64, appenders);
            }
            counts.push(compared / count);
        }
        println!("{appenders} appenders: {counts:?} comparisons for each fragment");
        assert!(counts[1] < 200 && counts[1] < 2 * counts[0] + 20, "{appenders}: {counts:?}");
    }
}
