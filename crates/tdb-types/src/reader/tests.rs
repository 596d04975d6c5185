use super::*;

#[test]
fn reads_little_endian_and_counts_offsets_from_the_base() {
    let mut reader = ByteReader::at(&[1, 2, 0, 3, 0, 0, 0, 9], 100);
    assert_eq!(reader.u8("a").unwrap(), 1);
    assert_eq!(reader.u16("b").unwrap(), 2);
    assert_eq!(reader.u32("c").unwrap(), 3);
    assert_eq!((reader.offset(), reader.remaining()), (107, 1));
    assert_eq!(reader.finish("d").unwrap_err().to_string(), "d: found 1 unexpected bytes at 0x6b");
}

#[test]
fn a_failed_read_consumes_no_bytes() {
    let mut reader = ByteReader::new(&[1, 2, 3]);
    assert_eq!(reader.u32("x").unwrap_err().to_string(), "x: expected 4 bytes at 0x0, found 3");
    assert_eq!(
        reader.bytes("y", u64::MAX).unwrap_err().kind(),
        &DecodeErrorKind::Truncated { need: u64::MAX, have: 3 }
    );
    assert_eq!(reader.remaining(), 3);
}

#[test]
fn counts_are_bounded_by_the_remaining_bytes() {
    let mut reader = ByteReader::new(&[0; 16]);
    assert!(reader.count("n", 2, 8).is_ok());
    assert!(reader.count("n", 3, 8).is_err());
    assert!(reader.count("n", u64::MAX, 8).is_err());
    assert!(reader.count("n", 17, 0).is_err());
    assert!(reader.u64_list("n", 1 << 61).is_err());
}

#[test]
fn a_sub_reader_keeps_absolute_offsets_and_cannot_leave_its_bytes() {
    let mut reader = ByteReader::at(&[1, 2, 3, 4], 10);
    reader.u8("a").unwrap();
    let mut sub = reader.sub("part", 2).unwrap();
    assert_eq!(sub.offset(), 11);
    assert!(sub.bytes("b", 3).is_err());
    assert_eq!(reader.u8("c").unwrap(), 4);
}

#[test]
fn records_nested_fields() {
    let spans = Spans::new();
    let mut reader = ByteReader::new(&[1, 0, 0, 0, 65, 7]).recording(&spans, 0);
    let name = reader.group(|| "dimension 0".to_owned(), |r| r.string_u32("name")).unwrap();
    assert_eq!(name, "A");
    let list: Vec<_> =
        spans.into_spans().into_iter().map(|s| (s.depth, s.offset, s.len, s.name.into_owned(), s.value)).collect();
    assert_eq!(
        list,
        [
            (0, 0, 5, "dimension 0".to_owned(), String::new()),
            (1, 0, 4, "name".to_owned(), "1".to_owned()),
            (1, 4, 1, "name".to_owned(), "\"A\"".to_owned()),
        ]
    );
}

#[test]
fn a_group_names_its_errors() {
    let mut reader = ByteReader::new(&[9]);
    let error = reader.group(|| "attribute 3".to_owned(), |r| r.bool("nullable")).unwrap_err();
    assert_eq!(error.to_string(), "attribute 3: nullable: found 9 at 0x0, expected 0 or 1");
}
