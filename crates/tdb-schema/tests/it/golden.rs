//! Small schemas as bytes, written by hand from the format specification.

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{
    ArrayDefinition, ArraySchema, Attribute, Dimension, Enumeration, FieldRef, SchemaBuilder, SchemaEvolution,
};
use tdb_types::{ArrayType, ByteReader, ByteWriter, CellValNum, Datatype, FormatVersion, Layout, Scalar};

/// Parses lines of hexadecimal digits. Spaces separate fields.
fn bytes(lines: &[&str]) -> Vec<u8> {
    let digits: String = lines.concat().split_whitespace().collect();
    let byte = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Pipelines: zstd with its default level, no filters, run-length encoding.
const ZSTD: &str = "00000100 01000000  02 05000000 02 ffffffff ";
const NONE: &str = "00000100 00000000 ";
const RLE: &str = "00000100 01000000  04 05000000 04 ffffffff ";

fn read(bytes: &[u8]) -> ArraySchema {
    let mut reader = ByteReader::new(bytes);
    let schema = ArraySchema::parse(&mut reader).expect("a schema");
    assert_eq!(reader.remaining(), 0);
    let mut writer = ByteWriter::new();
    schema.write(&mut writer).expect("it can be written");
    assert_eq!(writer.as_slice(), bytes, "the same bytes again");
    schema
}

#[test]
fn version_1_to_4() {
    for version in ["01", "02", "03", "04"] {
        let schema = read(&bytes(&[
            version,
            "000000   00 01 00  1027000000000000 ", // dense, tiles col-major, cells row-major, capacity 10000
            ZSTD,
            ZSTD,
            "00  02000000 ",                                      // two dimensions of int32
            "04000000 726f7773  01000000 04000000  00 02000000 ", // rows: 1 to 4 by 2
            "00000000           0a000000 13000000  00 0a000000 ", // no name: 10 to 19 by 10
            "02000000 ",                                          // two attributes
            "06000000 5f5f61747472  03 01000000 ",                // __attr, one float64
            NONE,
            "01000000 73  04 ffffffff ", // s, any number of char
            ZSTD,
        ]));
        assert_eq!(schema.version().number().to_string(), version.trim_start_matches('0'));
        assert_eq!((schema.array_type(), schema.allows_duplicates()), (ArrayType::Dense, false));
        assert_eq!((schema.tile_order(), schema.cell_order()), (Layout::ColMajor, Layout::RowMajor));
        assert_eq!(schema.cells_per_tile().expect("a dense array"), 20);
        assert_eq!(schema.field(""), Some(FieldRef::Dimension(1)));
        // Coordinates use the schema's filters. The schema stores no fill values, and the defaults
        // apply.
        assert_eq!(&*schema.filters_of(FieldRef::Dimension(0)), schema.coords_filters());
        assert!(schema.validity_filters().is_empty());
        assert_eq!(*schema.attributes()[0].fill_value(), f64::NAN.to_le_bytes());
        assert_eq!(*schema.attributes()[1].fill_value(), [0x80]);
    }
}

#[test]
fn version_7_has_duplicates_dimension_types_fill_values_and_nulls() {
    let schema = read(&bytes(&[
        "07000000  01  01 00 04  e803000000000000 ", // duplicates, sparse, row-major, Hilbert, capacity 1000
        ZSTD,
        ZSTD,
        RLE,
        "02000000 ",
        "01000000 78  02 01000000 ", // x: float32
        NONE,
        "0800000000000000  000080bf 0000803f  01 ", // from -1 to 1, no tile extent
        "01000000 79  0b ffffffff ",                // y: strings
        ZSTD,
        "0000000000000000  01 ",
        "01000000 ",
        "01000000 61  07 02000000 ", // a: two int16
        NONE,
        "0400000000000000 01000200  01 01 ", // fill (1, 2), nullable, and the fill is valid
    ]));
    assert!(schema.allows_duplicates() && !schema.is_dense());
    assert_eq!(schema.dimensions()[0].domain(), Some((Scalar::F32(-1.0), Scalar::F32(1.0))));
    assert_eq!(schema.dimensions()[1].cell_val_num(), CellValNum::Var);
    let attribute = &schema.attributes()[0];
    assert_eq!((attribute.cell_size(), attribute.is_nullable(), attribute.fill_valid()), (Some(4), true, true));
    assert_eq!(*attribute.fill_value(), [1, 0, 2, 0]);
}

#[test]
fn version_22_from_the_builder() {
    let x = Dimension::new("x", -100i8..=99);
    let schema =
        SchemaBuilder::dense().dimension(x).attribute(Attribute::new("a", Datatype::Bool)).build().expect("a schema");
    let mut writer = ByteWriter::new();
    schema.write(&mut writer).expect("it can be written");
    let expected = bytes(&[
        "16000000  00  00 00 00  1027000000000000 ",
        ZSTD,
        ZSTD,
        RLE,
        "01000000 ",
        "01000000 78  05 01000000 ",
        NONE,
        // The extent is the whole domain, 200. As an int8 its bits are -56.
        "0200000000000000  9c 63  00 c8 ",
        "01000000 ",
        "01000000 61  29 01000000 ",
        NONE,
        "0100000000000000 00  00 00  00  00000000 ", // fill, not nullable, unordered, no enumeration
        "00000000 ",                                 // no labels
        "00000000 ",                                 // no enumerations
        "00000000 01 ",                              // no current domain
    ]);
    assert_eq!(writer.as_slice(), expected);
    let schema = read(&expected);
    let dimension = &schema.dimensions()[0];
    assert_eq!((dimension.tile_extent(), dimension.extent_cells()), (Some(Scalar::I8(-56)), Some(200)));
    assert_eq!((dimension.tile_count(), dimension.tile_range(0), dimension.tile_range(1)), (1, Some((28, 227)), None));
}

/// Release 2.30.0 wrote the same bytes through its C interface.
#[test]
fn current_domain_of_dates() {
    let days = Dimension::new("t", 10957i64..=21915).with_datatype(Datatype::DatetimeDay).with_tile(10);
    let schema = SchemaBuilder::sparse().dimension(days).attribute(Attribute::new("a", Datatype::Int32));
    let definition = ArrayDefinition::new(schema.build().expect("a schema")).expect("no enumeration is missing");
    let year = DimRange::Fixed { lo: Scalar::I64(11323).key(), hi: Scalar::I64(11688).key() };
    let evolution = SchemaEvolution::new().expand_current_domain(NdRange(vec![year]));
    let mut writer = ByteWriter::new();
    evolution.build(&definition).expect("within the domain").schema().write(&mut writer).expect("it can be written");
    let expected = bytes(&[
        "16000000  00  01 00 00  1027000000000000 ",
        ZSTD,
        ZSTD,
        RLE,
        "01000000 ",
        "01000000 74  15 01000000 ",
        NONE,
        "1000000000000000  cd2a000000000000 9b55000000000000  00 0a00000000000000 ",
        "01000000 ",
        "01000000 61  00 01000000 ",
        NONE,
        "0400000000000000 00000080  00 00  00  00000000  00000000  00000000 ",
        "00000000 00  00  3b2c000000000000 a82d000000000000 ", // a rectangle, and its range
    ]);
    assert_eq!(writer.as_slice(), expected);
    read(&expected);
}

#[test]
fn enumerations() {
    let days = Enumeration::strings("days", "__00_0", Datatype::StringUtf8, ["mo", "", "tuesday"]).expect("distinct");
    let numbers = Enumeration::fixed("n", "__01_0", Datatype::Int16, [1, 0, 255, 255]).expect("distinct").ordered();
    let expected_days = bytes(&[
        "00000000  04000000 64617973  06000000 5f5f30305f30  0c ffffffff  00 ",
        "0900000000000000 6d6f 74756573646179 ",
        "1800000000000000 0000000000000000 0200000000000000 0200000000000000",
    ]);
    let expected_numbers =
        bytes(&["00000000  01000000 6e  06000000 5f5f30315f30  07 01000000  01 ", "0400000000000000 0100 ffff"]);
    for (enumeration, expected) in [(days, expected_days), (numbers, expected_numbers)] {
        let mut writer = ByteWriter::new();
        enumeration.write(&mut writer);
        assert_eq!(writer.as_slice(), expected);
        assert_eq!(Enumeration::parse(&mut ByteReader::new(&expected)).expect("an enumeration"), enumeration);
    }
}

#[test]
fn versions_without_a_feature_are_rejected() {
    let version = |number| FormatVersion::new(number).expect("a version");
    let sparse = || {
        let x = Dimension::new("x", 0i32..=9);
        SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::Int32))
    };
    for (since, builder) in [
        (5, sparse().allows_duplicates(true)),
        (5, sparse().dimension(Dimension::string("y"))),
        (6, sparse().attribute(Attribute::new("b", Datatype::Int32).with_fill_value([1, 2, 3, 4]))),
        (7, sparse().attribute(Attribute::new("b", Datatype::Int32).nullable(false))),
        (20, sparse().enumeration(tdb_schema::EnumerationRef { name: "e".into(), file_name: "__e_0".into() })),
    ] {
        for number in 1..=23 {
            let built = builder.clone().version(version(number)).build();
            assert_eq!(built.is_ok(), number >= since, "version {number}: {built:?}");
        }
    }
}
