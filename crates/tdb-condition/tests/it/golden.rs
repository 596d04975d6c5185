//! Stored conditions as bytes, written by hand like the reference library stores them.

use tdb_condition::{Condition, ConditionError, Update};
use tdb_types::{ByteReader, ByteWriter, DecodeErrorKind, FormatVersion, Limits, Spans};

fn parse(bytes: &[u8]) -> Result<Condition, tdb_types::DecodeError> {
    let mut reader = ByteReader::new(bytes);
    let condition = Condition::parse(&mut reader, &Limits::default())?;
    reader.finish("test")?;
    Ok(condition)
}

fn written(condition: &Condition) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    condition.write(&mut writer).unwrap();
    writer.into_bytes()
}

/// The stored form of a deletion of `n in [1, 3]` by release 2.30.0.
const NOT_IN: [u8; 47] = [
    1, 7, 1, 0, 0, 0, b'n', 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, // two values
    16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, // their offsets
];

#[test]
fn a_deletion_of_members() {
    let condition = parse(&NOT_IN).unwrap();
    assert_eq!(written(&Condition::field("n").is_in([1_i32, 3]).negation()), NOT_IN);
    assert_eq!(condition.to_string(), "n not in (x'01000000', x'03000000')");
    assert_eq!(written(&condition), NOT_IN);
}

#[test]
fn a_deletion_of_two_comparisons() {
    let deleted = Condition::field("a").ge(4_i32).and(Condition::field("a").ne(33_i32));
    let stays = deleted.negation();
    assert_eq!(stays, Condition::field("a").lt(4_i32).or(Condition::field("a").eq(33_i32)));
    let mut bytes = vec![0, 1, 2, 0, 0, 0, 0, 0, 0, 0];
    for (operator, value) in [(0, 4), (4, 33)] {
        bytes.extend([1, operator, 1, 0, 0, 0, b'a', 4, 0, 0, 0, 0, 0, 0, 0, value, 0, 0, 0]);
    }
    assert_eq!(written(&stays), bytes);
    assert_eq!(written(&parse(&bytes).unwrap()), bytes);
}

#[test]
fn spans_cover_every_byte() {
    let spans = Spans::new();
    Condition::parse(&mut ByteReader::new(&NOT_IN).recording(&spans, 0), &Limits::default()).unwrap();
    let spans = spans.into_spans();
    let fields: u64 = spans.iter().filter(|span| !span.bytes.is_empty()).map(|span| span.len).sum();
    assert_eq!(fields, NOT_IN.len() as u64);
    let operator = spans.iter().find(|span| span.name == "operator").unwrap();
    assert_eq!((operator.value.as_str(), operator.meaning.as_str()), ("7", "not in"));
}

#[test]
fn a_file_round_trips() {
    let condition = Condition::field("s").eq("").or(Condition::field("x").le(-1_i64));
    let file = condition.to_file(FormatVersion::DEFAULT).unwrap();
    assert_eq!(written(&Condition::parse_file(&file, &Limits::default(), None).unwrap()), written(&condition));
    assert!(Condition::parse_file(&file[..file.len() - 1], &Limits::default(), None).is_err());
}

#[test]
fn a_test_for_null_is_not_stored() {
    let error = Condition::field("a").is_null().to_file(FormatVersion::DEFAULT).unwrap_err();
    assert!(matches!(&error, ConditionError::NullTest { field } if field == "a"));
    assert_eq!(
        error.to_string(),
        r#"condition: cannot store a test of field "a" for null, because releases of the reference library misread it"#
    );
}

#[test]
fn updates_come_back() {
    let update = Update {
        condition: Condition::field("a").eq(&[7]),
        values: vec![("b".to_owned(), vec![1, 2]), ("c".to_owned(), vec![])],
    };
    let mut writer = ByteWriter::new();
    update.write(&mut writer).unwrap();
    let mut reader = ByteReader::new(writer.as_slice());
    assert_eq!(Update::parse(&mut reader, &Limits::default()).unwrap(), update);
    reader.finish("update").unwrap();
}

#[test]
fn invalid_bytes_are_rejected() {
    let message = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
    assert_eq!(message(&[2]), "condition: node: found 2 at 0x0, expected 0 or 1");
    assert_eq!(message(&[1, 8]), "condition: operator: found 8 at 0x1, expected a code from 0 to 7, 253 or 254");
    assert_eq!(message(&[0, 3]), "condition: operator: found 3 at 0x1, expected 0 (and), 1 (or) or 2 (not)");
    let not_two = [0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(message(&not_two), "condition: count: found 2 at 0x2, expected 1 operand of a negation");
    // The count exceeds the bytes.
    let endless = [0, 0, 255, 255, 255, 255, 255, 255, 255, 255];
    assert!(matches!(parse(&endless).unwrap_err().kind(), DecodeErrorKind::Truncated { .. }));
    // The offsets descend, or do not begin with 0.
    let mut members = NOT_IN;
    members[31] = 5;
    assert!(message(&members).contains("expected ascending offsets from 0 within the values"));
}

#[test]
fn nodes_are_bounded() {
    let all = |nodes: u32| {
        let mut bytes = vec![0, 1];
        bytes.extend(u64::from(nodes - 1).to_le_bytes());
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0].repeat(nodes as usize - 1));
        bytes
    };
    let most = Limits::default().condition_nodes;
    assert!(Condition::parse(&mut ByteReader::new(&all(most)), &Limits::default()).is_ok());
    let error = Condition::parse(&mut ByteReader::new(&all(most + 1)), &Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), DecodeErrorKind::LimitExceeded { limit: "condition_nodes", .. }), "{error}");
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        let mut bytes = [0, 2, 1, 0, 0, 0, 0, 0, 0, 0].repeat(depth);
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    };
    let most = Limits::default().depth as usize;
    assert!(parse(&nested(most - 1)).is_ok());
    let error = parse(&nested(most)).unwrap_err();
    assert!(matches!(error.kind(), DecodeErrorKind::LimitExceeded { limit: "depth", .. }), "{error}");
    assert!(parse(&nested(1 << 20)).is_err());
}
