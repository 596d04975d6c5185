use tdb_types::{ByteReader, ByteWriter, CellValNum, Datatype};

use super::Enumeration;

#[test]
fn values_by_position_and_positions_by_value() {
    let days = Enumeration::strings("days", "__0_0", Datatype::StringUtf8, ["mo", "", "wednesday"]).expect("distinct");
    assert_eq!((days.len(), days.is_empty()), (3, false));
    assert_eq!(days.values().collect::<Vec<_>>(), [&b"mo"[..], b"", b"wednesday"]);
    assert_eq!((days.value(1), days.value(3), days.value(usize::MAX)), (Some(&b""[..]), None, None));
    assert_eq!((days.index_of(b"wednesday"), days.index_of(b"sunday")), (Some(2), None));
    let positions = days.positions();
    assert!(days.values().enumerate().all(|(position, value)| positions[value] == position));

    let numbers = Enumeration::fixed("n", "__0_0", Datatype::UInt16, [1, 0, 2, 0]).expect("distinct");
    assert_eq!((numbers.len(), numbers.value(1), numbers.value(2)), (2, Some(&[2, 0][..]), None));
    assert_eq!(numbers.index_of(&[2, 0]), Some(1));
}

#[test]
fn no_values() {
    let none = Enumeration::fixed("n", "__0_0", Datatype::Float64, []).expect("nothing to repeat");
    assert!(none.is_empty() && none.value(0).is_none() && none.index_of(&[]).is_none());
    let none = Enumeration::strings::<&str>("n", "__0_0", Datatype::StringAscii, []).expect("nothing to repeat");
    assert!(none.is_empty() && none.value(0).is_none() && none.index_of(&[]).is_none());
}

#[test]
fn values_of_several_numbers() {
    let mut writer = ByteWriter::new();
    Enumeration::fixed("n", "__0_0", Datatype::UInt8, [1, 2, 3, 4, 5, 6]).expect("distinct").write(&mut writer);
    let mut bytes = writer.into_bytes();
    // Sets three numbers per value. `at` is the position of `cell_val_num`. The data (6 bytes), the
    // data size (8), the ordered flag (1) and the rest of `cell_val_num` (3) follow.
    let at = bytes.len() - 6 - 8 - 1 - 4;
    bytes[at] = 3;
    let enumeration = Enumeration::parse(&mut ByteReader::new(&bytes)).expect("an enumeration");
    assert_eq!(enumeration.cell_val_num(), CellValNum::from_code(3).expect("a number"));
    assert_eq!((enumeration.len(), enumeration.value(1)), (2, Some(&[4, 5, 6][..])));
    bytes[at] = 4;
    assert!(Enumeration::parse(&mut ByteReader::new(&bytes)).is_err(), "six bytes are not values of four");
}

#[test]
fn enumerations_with_uneven_values_are_not_extended() {
    let uneven = Enumeration::strings("e", "", Datatype::Int32, ["ab", "abcd"]).expect("distinct");
    assert_eq!(uneven.uneven_value(), Some(0));
    for values in [&["efgh"][..], &[]] {
        let error = uneven.clone().extended(values).expect_err("the uneven value prevents it").to_string();
        assert!(error.contains("value 0 of 2 bytes") && error.contains("another datatype"), "{error}");
    }
    let even = Enumeration::strings("e", "", Datatype::Int32, ["abcd"]).expect("distinct");
    assert!(even.clone().extended(["efg"]).is_err());
    assert_eq!(even.extended(["efgh"]).expect("distinct").len(), 2);
}
