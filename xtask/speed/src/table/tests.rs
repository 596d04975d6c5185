use tdb_reference::model::Bytes;
use tdb_reference::{TimedRead, TimedReads};

use super::text::{quantiles, time_and_speed};
use super::{Row, summary};
use crate::workload::{Group, Limit};

fn side(seconds: &[f64]) -> TimedReads {
    let run = |seconds: &f64| TimedRead { seconds: *seconds, cpu_seconds: *seconds, open_seconds: 0.0, submits: 1 };
    TimedReads {
        cells: 1_234_567,
        bytes: 0,
        digest: Bytes(vec![1]),
        reads: seconds.iter().map(run).collect(),
        peak_memory: 1 << 20,
    }
}

fn row(theirs: f64, ours: f64) -> Row {
    let (theirs, ours) = (side(&[theirs]), side(&[ours]));
    Row {
        name: "a".to_owned(),
        group: Group::Dense,
        theirs: [theirs.clone(), theirs],
        ours: [ours.clone(), ours],
        limit: None,
    }
}

#[test]
fn median_and_half_interquartile_range_are_shown() {
    assert_eq!(quantiles([5.0, 1.0, 4.0, 2.0, 3.0].into_iter()), [2.0, 3.0, 4.0]);
    assert_eq!(quantiles([7.0].into_iter()), [7.0; 3]);
    assert!(time_and_speed(&side(&[0.8, 1.0, 1.2])).starts_with("1.00 s ± 20 %"));
}

#[test]
fn row_with_different_cells_is_not_same() {
    let mut row = row(2.0, 1.0);
    assert!(row.is_same() && row.line().contains("| 1,234,567 |"));
    row.ours[1].digest = Bytes(vec![2]);
    assert!(!row.is_same());
    row.theirs.iter_mut().chain(&mut row.ours).for_each(|side| side.digest = Bytes::default());
    assert!(!row.is_same(), "missing digests are not equal");
}

#[test]
fn target_is_lower_if_a_codec_dominates() {
    let codec = |seconds| Some(Limit { what: "zlib", seconds, is_codec: true });
    let mut row = row(1.2, 1.0);
    assert!(row.mark() > 1.4);
    row.limit = codec(0.8);
    assert!(row.mark() < 1.2);
    row.limit = codec(0.2);
    assert!(row.mark() > 1.4);
}

#[test]
fn means_are_geometric_and_misses_are_listed() {
    assert!((super::summary::mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-9);
    let text = summary(&[row(8.0, 1.0), row(1.0, 2.0)], 2);
    assert!(text.contains("| all | 2 | **2.0** | 0.5 | 2.0 | 2.0 | 1 | 1 |"), "{text}");
    assert!(text.contains("Below the target: 1.\n\n- a: 0.50 by CPU time"), "{text}");
}

#[test]
fn groups_have_equal_weight() {
    let of_group = |row: Row, group| Row { group, ..row };
    let mut rows = vec![row(1000.0, 1.0), row(1000.0, 1.0), of_group(row(10.0, 1.0), Group::Writes)];
    assert!(summary(&rows, 2).contains("| all | 3 | **100.0** | 1000.0 |"));
    rows.push(of_group(row(1.0, 1.0), Group::Files));
    assert!(summary(&rows, 2).contains("| all | 3 | **100.0** | 1000.0 |"), "files are no part of the means");
}
