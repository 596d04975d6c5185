//! Rejected schemas, accepted edge cases, and error messages.

use std::fmt::Write;

use tdb_filters::{Filter, FilterPipeline, WebPFormat, WebPOptions};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{
    ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, Result, SchemaBuilder,
};
use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, FormatVersion, Layout, Scalar};

fn int(name: &str, low: i32, high: i32, extent: i32) -> Dimension {
    Dimension::new(name, low..=high).with_tile(extent)
}

fn float(low: f64, high: f64, extent: f64) -> Dimension {
    Dimension::new("f", low..=high).with_tile(extent)
}

fn dense() -> SchemaBuilder {
    SchemaBuilder::dense().dimension(int("x", 1, 10, 5)).attribute(Attribute::new("a", Datatype::Int32))
}

fn sparse() -> SchemaBuilder {
    SchemaBuilder::sparse().dimension(int("x", 1, 10, 5)).attribute(Attribute::new("a", Datatype::Int32))
}

fn var() -> CellValNum {
    CellValNum::Var
}

fn label() -> DimensionLabel {
    let label = DimensionLabel::new(0, "l", DataOrder::Increasing, Datatype::Float64);
    DimensionLabel { uri: "__labels/l0".into(), ..label }
}

fn enumeration(name: &str, file_name: &str) -> EnumerationRef {
    EnumerationRef { name: name.into(), file_name: file_name.into() }
}

fn filters(filters: impl Into<Vec<Filter>>) -> FilterPipeline {
    FilterPipeline::new(filters.into())
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn builders_refuse_what_the_format_forbids() {
    let attribute = |attribute| sparse().attribute(attribute);
    let dimension = |dimension| SchemaBuilder::sparse().dimension(dimension);
    let b = |datatype| Attribute::new("b", datatype);
    let zstd = Filter::Zstd { level: 3 };
    let delta = Filter::Delta { level: -1, reinterpret: None };
    let reinterpreted = |datatype| Filter::DoubleDelta { level: -1, reinterpret: Some(datatype) };
    let bits = Filter::BitWidthReduction { max_window: 256 };
    let format = WebPFormat::Rgb;
    let webp = Filter::WebP(WebPOptions { quality: 1.0, format, lossless: true, y_extent: 0, x_extent: 0 });
    let long = Dimension::new("x", 1i64..=i64::MAX);
    let all = Dimension::new("u", 0u64..=u64::MAX);
    let builders = [
        ("no dimensions", SchemaBuilder::sparse()),
        ("dense without attributes", SchemaBuilder::dense().dimension(int("x", 1, 10, 5))),
        ("dense duplicates", dense().allows_duplicates(true)),
        ("dense hilbert", dense().cell_order(Layout::Hilbert)),
        ("dense strings", dense().dimension(Dimension::string("s"))),
        ("dense types differ", dense().dimension(Dimension::new("y", 0i8..=9))),
        ("capacity", sparse().capacity(0)),
        ("low above high", dimension(int("x", 5, 4, 1))),
        ("extent 0", dimension(int("x", 1, 10, 0))),
        ("negative extent", dimension(int("x", 1, 10, -1))),
        ("extent above domain", dimension(int("x", 1, 10, 11))),
        (
            "last tile of a dense array",
            SchemaBuilder::dense()
                .dimension(long.clone().with_tile(10))
                .attribute(Attribute::new("a", Datatype::Int32)),
        ),
        ("last tile", dimension(long.with_tile(10))),
        ("all of a type", dimension(int("x", i32::MIN, i32::MAX, 10))),
        ("all of 64 bits", dimension(all)),
        ("nan", dimension(float(f64::NAN, 1.0, 1.0))),
        ("infinity", dimension(float(0.0, f64::INFINITY, 1.0))),
        ("nan extent", dimension(float(0.0, 1.0, f64::NAN))),
        ("negative float extent", dimension(float(0.0, 1.0, -1.0))),
        ("float extent above domain", dimension(float(0.0, 1.0, 3.0))),
        ("bool", dimension(Dimension::new("x", 0u8..=1).with_datatype(Datatype::Bool))),
        ("type of bounds", dimension(Dimension::new("x", 0i32..=1).with_datatype(Datatype::Int64))),
        ("type of extent", dimension(int("x", 0, 9, 1).with_tile(1.5))),
        ("extent of strings", dimension(Dimension::string("s").with_tile(1))),
        (
            "17 dimensions",
            (0..17).fold(sparse().cell_order(Layout::Hilbert), |all, index| {
                all.dimension(int(&format!("d{index}"), 0, 9, 1))
            }),
        ),
        ("name twice", attribute(Attribute::new("x", Datatype::Int8))),
        ("reserved name", attribute(Attribute::new("__b", Datatype::Int8))),
        ("any", attribute(b(Datatype::Any).with_cell_val_num(CellValNum::ONE))),
        ("short fill", attribute(b(Datatype::Int32).with_fill_value([1, 2]))),
        ("no fill", attribute(b(Datatype::Char).with_cell_val_num(var()).with_fill_value([]))),
        ("sparse order", attribute(b(Datatype::Int32).with_order(DataOrder::Increasing))),
        ("order of many", dense().attribute(b(Datatype::StringAscii).with_order(DataOrder::Increasing))),
        ("no enumeration", attribute(b(Datatype::Int32).with_enumeration("e"))),
        ("enumerated float", attribute(b(Datatype::Float32).with_enumeration("e")).enumeration(enumeration("e", "f"))),
        ("enumeration file", sparse().enumeration(enumeration("e", "../e"))),
        ("enumeration name", sparse().enumeration(enumeration("", "e"))),
        ("enumeration twice", sparse().enumeration(enumeration("e", "1")).enumeration(enumeration("e", "2"))),
        ("label dimension", sparse().label(DimensionLabel { dimension: 1, ..label() })),
        ("label place", sparse().label(DimensionLabel { uri: "__labels/../../l0".into(), ..label() })),
        ("absolute label", sparse().label(DimensionLabel { relative: false, ..label() })),
        ("label order", sparse().label(DimensionLabel { order: DataOrder::Unordered, ..label() })),
        ("label type", sparse().label(DimensionLabel { datatype: Datatype::Blob, ..label() })),
        ("label strings", sparse().label(DimensionLabel { datatype: Datatype::StringAscii, ..label() })),
        ("label name", sparse().label(DimensionLabel { name: "a".into(), ..label() })),
        (
            "current domain outside",
            sparse().current_domain(NdRange(vec![DimRange::between(Scalar::I32(0), Scalar::I32(5)).expect("a range")])),
        ),
        ("current domain of another shape", sparse().current_domain(NdRange(vec![]))),
        ("current domain of strings", sparse().current_domain(NdRange(vec![DimRange::strings("a", "b")]))),
        (
            "double delta of floats",
            dimension(float(0.0, 1.0, 1.0))
                .coords_filters(filters([Filter::DoubleDelta { level: -1, reinterpret: None }])),
        ),
        ("images in sparse arrays", attribute(b(Datatype::UInt8).with_filters(filters([webp.clone()])))),
        ("images of one dimension", dense().attribute(b(Datatype::UInt8).with_filters(filters([webp])))),
        ("deltas of floats", attribute(b(Datatype::Float32).with_filters(filters([delta])))),
        ("wide deltas", attribute(b(Datatype::UInt16).with_filters(filters([reinterpreted(Datatype::Int32)])))),
        ("deltas of anything", attribute(b(Datatype::Float64).with_filters(filters([reinterpreted(Datatype::Any)])))),
        ("bits of strings", attribute(b(Datatype::StringUtf8).with_filters(filters([bits])))),
        ("late rle", dimension(Dimension::string("s").with_filters(filters([zstd, Filter::Rle { level: -1 }])))),
    ];
    let mut text = String::new();
    for (name, builder) in builders {
        writeln!(text, "{name}: {}", message(builder.build())).expect("text");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn builders_accept_schemas_of_the_reference_library() {
    let (rle, zstd) = (Filter::Rle { level: -1 }, Filter::Zstd { level: 3 });
    let strings = || Dimension::string("s");
    let twice = [rle.clone(), zstd, rle];
    SchemaBuilder::sparse().dimension(strings().with_filters(filters(twice.clone()))).build().expect("a schema");
    SchemaBuilder::sparse().dimension(strings()).coords_filters(filters(twice)).build().expect("a schema");
    for (datatype, other) in [(Datatype::Int32, Datatype::UInt16), (Datatype::Float64, Datatype::Int64)] {
        let delta = Filter::Delta { level: -1, reinterpret: Some(other) };
        let narrow = Attribute::new("b", datatype).with_filters(filters([delta]));
        sparse().attribute(narrow).build().expect("a schema");
    }
}

/// Releases 1.5 to 1.7 cannot use an attribute with an empty name.
#[test]
fn attributes_without_a_name_get_one_before_format_5() {
    let build = |version, name: &str| {
        let builder =
            SchemaBuilder::dense().dimension(int("x", 1, 10, 5)).attribute(Attribute::new(name, Datatype::Int32));
        builder.version(FormatVersion::new(version).unwrap()).build()
    };
    for (version, name, expected) in [(1, "", "__attr"), (4, "", "__attr"), (4, "__attr", "__attr"), (5, "", "")] {
        assert_eq!(build(version, name).unwrap().attributes()[0].name(), expected);
    }
    assert!(build(5, "__attr").is_err() && build(4, "__attr2").is_err());
}

#[test]
fn images_store_sixteen_bits_of_their_size() {
    let image = |width: i64, y_extent, x_extent| {
        let webp = |y_extent, x_extent| {
            let format = WebPFormat::Rgb;
            filters([Filter::WebP(WebPOptions { quality: 1.0, format, lossless: true, y_extent, x_extent })])
        };
        let rows = Dimension::new("y", i64::MIN + 3..=i64::MAX);
        let columns = Dimension::new("x", 1i64..=width);
        let pixels = Attribute::new("p", Datatype::UInt8).with_filters(webp(0, 0));
        let schema = SchemaBuilder::dense().dimension(rows).dimension(columns).attribute(pixels).build()?;
        Ok(*schema.attributes()[0].filters() == webp(y_extent, x_extent))
    };
    assert!(image(0x1_0003, 0xfffd, 3).expect("rows of one pixel, as far as the filter sees"));
    assert!(message(image(0x1_0002, 0, 0)).contains("requires tile rows of whole pixels"));
}

#[test]
fn qualities_of_images() {
    let image = |quality| {
        let options = WebPOptions { quality, format: WebPFormat::Rgb, lossless: false, y_extent: 0, x_extent: 0 };
        let pixels = Attribute::new("p", Datatype::UInt8).with_filters(filters([Filter::WebP(options)]));
        dense().dimension(int("y", 1, 6, 3)).attribute(pixels).build()
    };
    for quality in [0.0, 0.5, 100.0] {
        image(quality).expect("a schema");
    }
    for quality in [-1.0, 100.5, f32::NAN, f32::INFINITY] {
        assert!(message(image(quality)).contains("the WebP filter requires a quality of 0 to 100"));
    }
}

/// Parses `schema` after `change` has modified its bytes.
fn reread(schema: &ArraySchema, change: impl FnOnce(&mut Vec<u8>)) -> Result<ArraySchema> {
    let mut writer = ByteWriter::new();
    schema.write(&mut writer)?;
    let mut bytes = writer.into_bytes();
    change(&mut bytes);
    ArraySchema::parse(&mut ByteReader::new(&bytes))
}

/// Returns the position of `needle` in `bytes`.
fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).expect("it is there")
}

#[test]
fn readers_accept_schemas_of_all_releases() {
    // Extents: as wide as a domain that exceeds the signed type, overflowed to infinity, and zero.
    let wide = Dimension::new("x", -100i8..=99);
    let floats = Dimension::new("f", f64::MIN..=f64::MAX);
    let point = Dimension::new("p", 1.0f32..=1.0);
    for dimension in [wide, floats, point] {
        let schema = SchemaBuilder::sparse().dimension(dimension).build().expect("a schema");
        assert_eq!(reread(&schema, |_| {}).expect("it can be read"), schema);
    }
    // The whole of a small type, and a last tile that extends beyond the type.
    let byte = Dimension::new("b", 1u8..=201).with_tile(100);
    SchemaBuilder::sparse().dimension(byte).build().expect("a schema");
    let byte = Dimension::new("b", 1u8..=200).with_tile(100);
    let schema = SchemaBuilder::sparse().dimension(byte).build().expect("a schema");
    let read = reread(&schema, |bytes| {
        let at = find(bytes, &[1, 200, 0, 100]);
        bytes[at..at + 2].copy_from_slice(&[0, 255]);
    });
    let read = read.expect("it can be read");
    let dimension = &read.dimensions()[0];
    assert_eq!((dimension.tile_count(), dimension.tile_range(2)), (3, Some((200, 255))));
    // The same in dense arrays. With 64-bit dimensions, only early releases created arrays like
    // this.
    let read = reread(&dense().build().expect("a schema"), |bytes| {
        let at = find(bytes, &[1, 0, 0, 0, 10, 0, 0, 0, 0, 5, 0, 0, 0]);
        bytes[at..at + 8].copy_from_slice(&[0, 0, 0, 128, 255, 255, 255, 127]);
    });
    let dimension = read.expect("it can be read").dimensions()[0].clone();
    assert_eq!(dimension.tile_count(), 858_993_460);
    assert_eq!(dimension.tile_range(858_993_459), Some((u32::MAX.into(), u32::MAX.into())));
    let low = (i64::MAX - 24).to_le_bytes();
    let long = Dimension::new("x", i64::MAX - 24..=i64::MAX - 5);
    let long = SchemaBuilder::dense().dimension(long.with_tile(10));
    let long = long.attribute(Attribute::new("a", Datatype::Int32)).build().expect("a schema");
    let read = reread(&long, |bytes| {
        let at = find(bytes, &low);
        bytes[at + 8..at + 16].copy_from_slice(&i64::MAX.to_le_bytes());
    });
    let dimension = read.expect("it can be read").dimensions()[0].clone();
    assert_eq!((dimension.tile_count(), dimension.tile_range(2)), (3, Some((u64::MAX - 4, u64::MAX))));
    // Names rejected only on creation.
    let schema = sparse().attribute(Attribute::new("zz", Datatype::Int8)).build().expect("a schema");
    let read = reread(&schema, |bytes| {
        let at = find(bytes, b"zz");
        bytes[at..at + 2].copy_from_slice(b"__");
    });
    assert_eq!(read.expect("it can be read").attributes()[1].name(), "__");
}

#[test]
fn readers_refuse_what_they_cannot_rely_on() {
    let mut text = String::new();
    let mut check = |name: &str, schema: &ArraySchema, needle: &[u8], replacement: &[u8]| {
        let result = reread(schema, |bytes| {
            let at = find(bytes, needle);
            bytes[at..at + replacement.len()].copy_from_slice(replacement);
        });
        writeln!(text, "{name}: {}", message(result)).expect("text");
    };
    let x = dense().build().expect("a schema");
    let domain = [1, 0, 0, 0, 10, 0, 0, 0, 0, 5, 0, 0, 0];
    check("version 0", &x, &[22, 0, 0, 0], &[0]);
    check("version 24", &x, &[22, 0, 0, 0], &[24]);
    check("low above high", &x, &domain, &[11]);
    check("extent 0", &x, &domain, &[1, 0, 0, 0, 10, 0, 0, 0, 0, 0]);
    check("extent 11", &x, &domain, &[1, 0, 0, 0, 10, 0, 0, 0, 0, 11]);
    check("null flag", &x, &domain, &[1, 0, 0, 0, 10, 0, 0, 0, 2]);
    check("domain size", &x, &[8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], &[0]);
    check("name", &x, b"x", b"a");
    check("not utf-8", &x, b"x", b"\xff");
    check("fill size", &x, &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128], &[3]);
    check("type of a dense dimension", &x, &[b'x', 0, 1, 0, 0, 0], &[b'x', 2]);
    check("type of a dimension", &x, &[b'x', 0, 1, 0, 0, 0], &[b'x', 40]);
    check("no such type", &x, &[b'x', 0, 1, 0, 0, 0], &[b'x', 44]);
    check("values per coordinate", &x, &[b'x', 0, 1, 0, 0, 0], &[b'x', 0, 2]);
    check("values per cell", &x, &[b'a', 0, 1, 0, 0, 0], &[b'a', 0, 0]);
    check("cell order", &x, &[0, 0, 0, 0, 0x10, 0x27], &[0, 0, 0, 2]);
    check("tile order", &x, &[0, 0, 0, 0, 0x10, 0x27], &[0, 0, 4]);
    check("array type", &x, &[0, 0, 0, 0, 0x10, 0x27], &[0, 2]);
    let ranged = NdRange(vec![DimRange::between(Scalar::I32(2), Scalar::I32(3)).expect("a range")]);
    let current = sparse().current_domain(ranged).build().expect("a schema");
    let rectangle = [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
    check("current domain version", &current, &rectangle, &[1]);
    check("current domain type", &current, &rectangle, &[0, 0, 0, 0, 0, 1]);
    check("current domain outside", &current, &rectangle, &[0, 0, 0, 0, 0, 0, 0]);
    let old = sparse().version(tdb_types::FormatVersion::MIN).build().expect("a schema");
    check("name of a file", &old, b"a", b"/");
    insta::assert_snapshot!(text);
}

#[test]
fn old_cells_of_gigabytes_take_no_memory() {
    // Before version 6 no fill value is stored. A few bytes can therefore claim a cell of 32 GiB.
    let version = tdb_types::FormatVersion::new(4).expect("a version");
    let schema = dense().version(version).attribute(Attribute::new("b", Datatype::Int64)).build().expect("a schema");
    let read = reread(&schema, |bytes| {
        let at = find(bytes, &[b'b', 1, 1, 0, 0, 0]);
        bytes[at + 2..at + 6].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    })
    .expect("it can be read");
    assert_eq!(read.attributes()[1].cell_size(), Some(8 * u64::from(u32::MAX - 1)));
    assert_eq!(read.attributes()[1].fill_pattern(), i64::MIN.to_le_bytes());
}

#[test]
fn enumerations_that_contradict_themselves() {
    let strings = |values: &[&str]| Enumeration::strings("e", "__e_0", Datatype::StringUtf8, values);
    let mut text = String::new();
    let mut check = |name: &str, result: Result<Enumeration>| {
        writeln!(text, "{name}: {}", message(result)).expect("text");
    };
    check("none", strings(&[]));
    check("one empty", strings(&[""]));
    check("twice", strings(&["a", "b", "a"]));
    check("no name", Enumeration::fixed("", "__e_0", Datatype::Int8, []));
    check("file", Enumeration::fixed("e", "a/b", Datatype::Int8, []));
    check("half a value", Enumeration::fixed("e", "__e_0", Datatype::Int16, [1, 2, 3]));
    let mut writer = ByteWriter::new();
    strings(&["ab", "c"]).expect("distinct").write(&mut writer);
    let bytes = writer.into_bytes();
    let offsets = bytes.len() - 16;
    for (name, at, byte) in [
        ("version", 0, 1),
        ("first offset", offsets, 1),
        ("falling offsets", offsets + 15, 255),
        ("offset beyond", offsets + 8, 4),
        ("offsets size", offsets - 8, 15),
        ("more offsets", offsets - 8, 24),
        ("fewer offsets", offsets - 8, 0),
    ] {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        let mut reader = ByteReader::new(&bytes);
        let result = Enumeration::parse(&mut reader).and_then(|enumeration| {
            reader.finish("enumeration")?;
            Ok(enumeration)
        });
        check(name, result);
    }
    insta::assert_snapshot!(text);
}

/// Old schemas do not store fill values. A few bytes can therefore claim cells of gigabytes.
#[test]
fn fill_values_of_huge_cells_are_not_written() {
    let huge =
        |values| Attribute::new("h", Datatype::Float64).with_cell_val_num(CellValNum::from_code(values).unwrap());
    let version = |number| FormatVersion::new(number).unwrap();
    let old = dense().attribute(huge(0xffff_fffe)).version(version(5)).build().unwrap();
    assert_eq!(old.attributes()[1].cell_size(), Some(0xffff_fffe * 8));
    let refused = message(SchemaBuilder::from(old).version(FormatVersion::DEFAULT).build());
    assert!(refused.contains("attribute \"h\"") && refused.contains("fill value"), "{refused}");
    // The limit applies to the sum of all fill values.
    let many = (0..9).fold(dense(), |all, index| {
        all.attribute(
            Attribute::new(format!("h{index}"), Datatype::Int8)
                .with_cell_val_num(CellValNum::from_code(8 << 20).unwrap()),
        )
    });
    assert!(message(many.build()).contains("attribute \"h7\""));
    assert!(dense().attribute(huge(1000)).build().is_ok());
}

/// Delta filters that reinterpret their input pass on the new type, like in release 2.30.0.
#[test]
fn filters_are_checked_against_their_input() {
    let as_int16 = Filter::DoubleDelta { level: -1, reinterpret: Some(Datatype::Int16) };
    let delta = |reinterpret| Filter::Delta { level: -1, reinterpret };
    let bits = Filter::BitWidthReduction { max_window: 256 };
    let positive = Filter::PositiveDelta { max_window: 256 };
    let built = |datatype, filters: &[Filter]| {
        let attribute = Attribute::new("b", datatype).with_filters(FilterPipeline::new(filters.to_vec()));
        sparse().attribute(attribute).build().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(built(Datatype::Float64, &[Filter::Bitshuffle, as_int16.clone(), Filter::Md5, bits.clone()]), Ok(()));
    assert_eq!(built(Datatype::Float32, &[as_int16.clone(), delta(None)]), Ok(()));
    assert_eq!(built(Datatype::Float32, &[as_int16.clone(), positive]), Ok(()));
    let told = built(Datatype::Float64, &[as_int16, delta(Some(Datatype::Int32))]).unwrap_err();
    assert!(told.contains("delta cannot reinterpret values of 2 bytes as int32"), "{told}");
    let told = built(Datatype::Int32, &[delta(Some(Datatype::Char)), bits]).unwrap_err();
    assert!(told.contains("bit_width_reduction requires integers"), "{told}");
}
