use std::ops::Bound;

use tdb_cases::case::{Case, Question};
use tdb_cases::evaluation::{Evaluator, parts};
use tdb_cases::selection::{Interval, Selection};
use tdb_reference::model::{ArraySpec, Bytes, QuerySpec, RangesSpec, ReadColumn, ReadResult, column, dimension};
use tdb_types::{Datatype, Layout};

use super::{join, sorted};

/// Returns a case with two dimensions of integers from 0 to 9.
fn case() -> Case {
    let dimensions = ["y", "x"].map(|name| dimension(name, Datatype::Int32, [0i32, 9], 5)).to_vec();
    let array = ArraySpec::sparse(dimensions, Vec::new());
    Case::of(array)
}

fn value(value: i32) -> Bytes {
    Bytes(value.to_le_bytes().to_vec())
}

fn half_open(low: i32, high: i32) -> Vec<Interval> {
    vec![Interval::Ends(Bound::Included(value(low)), Bound::Excluded(value(high)))]
}

fn question(selection: Selection) -> Question {
    Question { selection, ..Question::of(QuerySpec::all(Layout::RowMajor)) }
}

fn cells(places: &[(i32, i32)]) -> ReadResult {
    let of = |name: &str, values: Vec<i32>| ReadColumn {
        datatype: Datatype::Int32,
        cell_val_num: Some(1),
        column: column(name, values),
    };
    let (y, x) = places.iter().copied().unzip();
    ReadResult { cells: places.len(), columns: vec![of("y", y), of("x", x)], submits: 1 }
}

#[test]
fn parts_contain_the_cells_of_the_evaluator() {
    let case = case();
    let points = vec![vec![value(1), value(2)], vec![value(9), value(0)], vec![value(1), value(2)]];
    // Two overlapping boxes, a touching box, and a box outside of the ranges.
    let boxes = vec![
        vec![half_open(0, 4), half_open(2, 8)],
        vec![half_open(2, 6), Vec::new()],
        vec![half_open(6, 7), half_open(0, 1)],
        vec![half_open(8, 9), half_open(5, 6)],
    ];
    let mut question = question(Selection { points: Some(points), boxes: Some(boxes), ..Selection::default() });
    let ranges = [(0, 2), (1, 5), (9, 9)].map(|(low, high)| (value(low), value(high))).to_vec();
    question.query.ranges = vec![RangesSpec { dimension: "y".to_owned(), ranges }];
    let evaluator = Evaluator::new(&case, &question);
    let parts = parts(&case, &question).expect("few");
    let holds = |y: i32, x: i32| {
        parts.iter().any(|part| {
            part.iter().zip([y, x]).all(|(side, at)| match side {
                Some(range) => Interval::closed(range).holds(Datatype::Int32, &at.to_le_bytes()),
                None => true,
            })
        })
    };
    let mut wanted = 0;
    for (y, x) in (0..10i32).flat_map(|y| (0..10i32).map(move |x| (y, x))) {
        let is_wanted = evaluator.holds(&[&y.to_le_bytes(), &x.to_le_bytes()]);
        assert_eq!(is_wanted, holds(y, x), "{y}, {x}");
        wanted += usize::from(is_wanted);
    }
    // 2 rows of the first box, 4 of the second, and two points. The first box contains one of the
    // points.
    assert_eq!(wanted, 2 * 6 + 4 * 10 + 1);
}

#[test]
fn cells_in_several_boxes_count_once_and_duplicates_stay() {
    let case = case();
    let joined = join(&case, &[cells(&[(1, 1), (5, 5), (5, 5)]), cells(&[(5, 5), (0, 7), (5, 5)])]);
    let joined = sorted(&case, &question(Selection::default()), &joined.expect("alike"));
    assert_eq!(joined, cells(&[(0, 7), (1, 1), (5, 5), (5, 5)]));
    let unlike = join(&case, &[cells(&[(5, 5), (5, 5)]), cells(&[(5, 5)])]);
    assert!(unlike.is_err_and(|text| text.contains("at the same coordinates: 1 and 2")));
}
