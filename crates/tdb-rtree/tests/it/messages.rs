//! Error messages, and allocation bounds for hostile counts.

use tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_testkit::allocations::peak_while;
use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, Scalar};

const INT: DimensionKind = DimensionKind::fixed(Datatype::Int32);
const FLOAT: DimensionKind = DimensionKind::fixed(Datatype::Float64);
const STRING: DimensionKind = DimensionKind::var(Datatype::StringAscii);

fn bytes(build: impl FnOnce(&mut ByteWriter)) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    build(&mut writer);
    writer.into_bytes()
}

fn refused(kinds: &[DimensionKind], version: u32, build: impl FnOnce(&mut ByteWriter)) -> String {
    let bytes = bytes(build);
    RTree::parse(&mut ByteReader::at(&bytes, 0x100), kinds, FormatVersion::new(version).unwrap())
        .unwrap_err()
        .to_string()
}

/// Writes fanout and number of levels.
fn header(writer: &mut ByteWriter, fanout: u32, levels: u32) {
    writer.u32(fanout);
    writer.u32(levels);
}

#[test]
fn bytes_that_are_no_tree() {
    let messages = [
        refused(&[INT], 22, |_| {}),
        refused(&[], 22, |w| header(w, 10, 0)),
        refused(&[INT], 22, |w| header(w, 1, 0)),
        refused(&[INT], 22, |w| header(w, 10, u32::MAX)),
        refused(&[INT], 22, |w| {
            header(w, 10, 1);
            w.u64(u64::MAX);
        }),
        refused(&[STRING], 22, |w| {
            header(w, 10, 1);
            w.u64_list(&[2, 1, 0, 0, 0]);
        }),
        refused(&[INT], 22, |w| {
            header(w, 10, 2);
            w.u64_list(&[1, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }),
        refused(&[FLOAT, INT], 22, |w| {
            header(w, 10, 1);
            w.u64_list(&[2, 0, 0, 0]);
            w.f64(1.5);
            w.f64(1.0);
            w.u64(0);
        }),
        refused(&[INT, STRING], 22, |w| {
            header(w, 10, 1);
            w.u64_list(&[1, 0, 2, 3, 0]);
        }),
        refused(&[STRING], 22, |w| {
            header(w, 10, 1);
            w.u64_list(&[1, 3, 2]);
            w.bytes(b"b\xffa");
        }),
        refused(&[INT], 4, |w| w.u32(2)),
        refused(&[INT], 3, |w| {
            w.u32(1);
            w.u32(10);
            w.u8(3);
            w.u32(0);
        }),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn what_makes_no_sense() {
    let tree = RTree::build(&[INT, STRING], &[], 10).unwrap();
    let ints = DimRange::between(Scalar::I32(1), Scalar::I32(2)).unwrap();
    let strings = DimRange::strings("a", "b");
    let mut writer = ByteWriter::new();
    let messages = [
        tree.search(&[vec![ints.clone()]]).unwrap_err(),
        tree.search(&[vec![ints.clone()], vec![strings.clone(), ints.clone()]]).unwrap_err(),
        tree.search(&[vec![strings.clone()], vec![]]).unwrap_err(),
        RTree::build(&[INT], &[], 1).unwrap_err(),
        RTree::build(&[INT], &[NdRange(vec![strings.clone()])], 10).unwrap_err(),
        NdRange(vec![DimRange::strings_from("a")]).write(&mut writer, &[STRING]).unwrap_err(),
        NdRange(vec![strings, ints]).write(&mut writer, &[STRING]).unwrap_err(),
        DimRange::between(Scalar::I32(2), Scalar::I32(1)).unwrap_err(),
        DimRange::between(Scalar::F64(0.0), Scalar::F64(f64::NAN)).unwrap_err(),
        DimRange::between(Scalar::I32(2), Scalar::I64(3)).unwrap_err(),
    ]
    .map(|error| error.to_string());
    assert!(writer.is_empty(), "rejected ranges write no bytes");
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn hostile_counts_reserve_nothing() {
    let peak = |kinds: &[DimensionKind], bytes: &[u8]| {
        peak_while(|| {
            RTree::parse(&mut ByteReader::new(bytes), kinds, FormatVersion::DEFAULT).unwrap_err();
        })
    };
    for kinds in [&[INT][..], &[STRING], &[INT, STRING, FLOAT]] {
        for count in [1 << 16, 1 << 32, 1 << 60, u64::MAX] {
            let bytes = bytes(|w| {
                header(w, 10, 1);
                w.u64_list(&[count, 0, 0, 0, 0]);
            });
            assert!(peak(kinds, &bytes) < 2048, "{count} MBRs of {kinds:?}");
        }
    }
    // The densest possible tree: one-byte coordinates, all present except the last.
    let kinds = [DimensionKind::fixed(Datatype::Int8)];
    let mut bytes = bytes(|w| {
        header(w, 10, 1);
        w.u64(100_000);
    });
    bytes.resize(bytes.len() + 2 * 100_000, 0);
    *bytes.last_mut().unwrap() = 0x80;
    assert!(peak(&kinds, &bytes) < 9 * bytes.len() as u64);
}

#[test]
fn ranges_are_displayed_as_intervals() {
    let kinds = [INT, STRING, FLOAT];
    let range = NdRange(vec![
        DimRange::between(Scalar::I32(-1), Scalar::I32(7)).unwrap(),
        DimRange::strings("", b"\x00\xffz".to_vec()),
        DimRange::between(Scalar::F64(0.0), Scalar::F64(-0.0)).unwrap(),
    ]);
    let open = DimRange::strings_from("a");
    assert_eq!(
        format!("{} {} {}", range.display(&kinds), open.display(STRING), DimRange::everything(INT).display(INT)),
        r#"[-1, 7] × ["", "\x00\xffz"] × [-0, 0] ["a", …) [-2147483648, 2147483647]"#
    );
}
