//! Ranges of dimension labels.

use std::ops::RangeBounds;

use tdb_array::{Array, ArrayError, ArrayOptions, Coordinate, ErrorCategory};
use tdb_types::Scalar;

use crate::arrays::values;

/// `height` increases along `y`: -1.5, 0, 0.25, 8 at 1 to 4. `day` decreases along `x`: 100, 50,
/// 10, 0, -5, -6 at 0 to 5. `name` increases along `x`: a, b, ba, c, d, zz.
fn array() -> Array {
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-dense-labels");
    ArrayOptions::new().open_on(fixture.array_storage()).unwrap()
}

/// Returns the coordinates that correspond to a range of labels.
fn coordinates<C: Into<Coordinate> + Clone>(label: &str, range: impl RangeBounds<C>) -> Option<(i32, i32)> {
    let array = array();
    let label = array.label(label).unwrap();
    let dimension = &array.schema().dimensions()[label.description().dimension as usize];
    let value = |key| match Scalar::from_key(dimension.datatype().physical(), key) {
        Scalar::I32(value) => value,
        other => panic!("{other:?}"),
    };
    label.keys(range).unwrap().map(|(first, last)| (value(first), value(last)))
}

/// Values of `a` that release 2.30.0 reads with a range of one label. `a` counts from 0 in
/// row-major order.
#[test]
fn as_the_reference_library_reads_them() {
    fn read<C: Into<Coordinate> + Clone>(label: &str, range: impl RangeBounds<C>) -> Vec<i32> {
        values(array().read().label_range(label, range).unwrap(), "a")
    }
    assert_eq!(read("height", 0.0..=8.0), (6..24).collect::<Vec<i32>>());
    assert_eq!(read("height", -0.0..=0.1), (6..12).collect::<Vec<i32>>());
    assert_eq!(read("day", -5..=50), [1, 2, 3, 4, 7, 8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22]);
    assert_eq!(read("day", -4..=60), [1, 2, 3, 7, 8, 9, 13, 14, 15, 19, 20, 21]);
    assert_eq!(read("name", "b"..="c"), [1, 2, 3, 7, 8, 9, 13, 14, 15, 19, 20, 21]);
    assert_eq!(read("name", "aa"..="bz"), [1, 2, 7, 8, 13, 14, 19, 20]);
    // If no label is within a range, the reference library fails like this library: "Range
    // contained no values".
}

#[test]
fn increasing() {
    assert_eq!(coordinates("height", -1.5..=8.0), Some((1, 4)));
    assert_eq!(coordinates("height", 0.0..8.0), Some((2, 3)));
    assert_eq!(coordinates("height", -0.0..=-0.0), Some((2, 2)), "zeros are equal");
    assert_eq!(coordinates("height", ..0.1), Some((1, 2)));
    assert_eq!(coordinates("height", 0..), Some((2, 4)));
    assert_eq!(coordinates::<f64>("height", ..), Some((1, 4)));
    assert_eq!(coordinates("height", 0.5..=7.5), None);
    assert_eq!(coordinates("height", 9.0..), None);
    assert_eq!(coordinates("height", ..-2.0), None);
    assert_eq!(coordinates("height", 8.0..=-1.5), None);
}

#[test]
fn decreasing() {
    assert_eq!(coordinates("day", -6..=100), Some((0, 5)));
    assert_eq!(coordinates("day", -5..=50), Some((1, 4)));
    assert_eq!(coordinates("day", -5..50), Some((2, 4)));
    assert_eq!(coordinates("day", ..=9), Some((3, 5)));
    assert_eq!(coordinates("day", 11..), Some((0, 1)));
    assert_eq!(coordinates("day", 11..=49), None);
    assert_eq!(coordinates("day", 101..), None);
}

#[test]
fn strings() {
    assert_eq!(coordinates("name", "b".."c"), Some((1, 2)));
    assert_eq!(coordinates("name", "b"..="c"), Some((1, 3)));
    assert_eq!(coordinates("name", "e"..), Some((5, 5)));
    assert_eq!(coordinates("name", ..=""), None);
}

#[test]
fn invalid_label_ranges_are_rejected() {
    let read = |label: &str, range: std::ops::RangeInclusive<Coordinate>| array().read().label_range(label, range);
    let integer = |value: i32| Coordinate::from(value);
    for (error, words) in [
        (read("width", integer(1)..=integer(2)), "unknown label; the array has \"height\", \"day\", \"name\""),
        (read("name", integer(1)..=integer(2)), "1 is not a valid string_ascii label"),
        (read("day", Coordinate::from(0.5)..=Coordinate::from(1.5)), "0.5 is not a valid datetime_day label"),
        (read("day", integer(1)..=integer(2)), "no label in the range"),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, ArrayError::Label { .. }) && error.to_string().contains(words), "{error}");
        assert_eq!(error.category(), ErrorCategory::Usage);
    }
    assert!(array().label("height").unwrap().array().schema().is_dense());
}

#[test]
fn ranges_of_labels_and_of_coordinates_add_up() {
    let query = array().read().range("y", 1..=1).unwrap();
    let query = query.label_range("name", "zz"..="zz").unwrap().range("x", 0..=0).unwrap();
    assert_eq!(values::<i32>(query, "x"), [0, 5]);
}
