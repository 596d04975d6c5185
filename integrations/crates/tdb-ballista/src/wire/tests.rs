use std::collections::HashMap;

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use tdb_testkit::hostile;

use super::*;

fn good() -> Header {
    let dictionary = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::LargeUtf8));
    let pairs = DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Int16, true)), 2);
    let described = HashMap::from([("tdb.enumeration".to_owned(), "kinds".to_owned())]);
    let fields = vec![
        Field::new("pos", DataType::Int64, false),
        Field::new("kind", dictionary, true).with_metadata(described),
        Field::new("when", DataType::Timestamp(TimeUnit::Millisecond, None), false),
        Field::new("pair", pairs, false),
        Field::new("", DataType::LargeBinary, true),
    ];
    let by = |column, descending, nulls_first| (column, SortOptions { descending, nulls_first });
    Header {
        query: u64::MAX - 7,
        uri: "s3://bucket/ü?profile=x".to_owned(),
        schema: Arc::new(Schema::new(fields)),
        orders: vec![vec![by(0, false, true), by(2, true, false)], vec![], vec![by(4, true, true)]],
    }
}

#[test]
fn headers_survive_a_round_trip() {
    let none = Header { uri: String::new(), schema: Arc::new(Schema::empty()), orders: vec![], ..good() };
    for header in [good(), none] {
        let bytes = header.to_bytes().unwrap();
        assert!(is_scan(&bytes));
        assert_eq!(Header::from_bytes(&bytes).unwrap(), header);
    }
    for other in [&b""[..], b"tdb sca", b"tdb part\x01"] {
        assert!(!is_scan(other));
    }
}

#[test]
fn other_versions_are_named() {
    let mut bytes = good().to_bytes().unwrap();
    bytes[VERSION_AT] = VERSION + 1;
    let error = Header::from_bytes(&bytes).unwrap_err();
    let DataFusionError::External(source) = error.find_root() else { panic!("{error:?}") };
    let source = source.downcast_ref::<DecodeError>().unwrap();
    let newer = u32::from(VERSION) + 1;
    assert!(matches!(source.kind(), DecodeErrorKind::UnsupportedVersion { found, .. } if *found == newer), "{source}");
}

#[test]
fn damaged_bytes_are_refused_or_other_scans() {
    let bytes = good().to_bytes().unwrap();
    let decode = |bytes: &[u8]| {
        if let Ok(header) = Header::from_bytes(bytes) {
            // Accepted bytes can be serialized again, and their orders refer to existing columns.
            let again = Header::from_bytes(&header.to_bytes().unwrap()).unwrap();
            assert_eq!(again.orders, header.orders);
        }
    };
    assert!(hostile::truncations(&bytes).all(|bytes| Header::from_bytes(bytes).is_err()));
    assert!(Header::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
    hostile::single_byte_changes(&bytes, decode);
    hostile::seeded_mutations(7, &bytes, if cfg!(debug_assertions) { 20_000 } else { 1_000_000 }, decode);
}

#[test]
fn orders_refer_to_existing_columns() {
    let mut header = good();
    header.orders.push(vec![(5, SortOptions::default())]);
    assert!(Header::from_bytes(&header.to_bytes().unwrap()).is_err());
}
