//! Imports of Parquet and Arrow files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::command::{path, tdb, text, told, write};
use crate::export::small_arrays;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int32Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, DurationMicrosecondArray, FixedSizeListArray,
    Float16Array, Float64Array, Int32Array, Int64Array, ListArray, NullArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::OffsetBuffer;
use tdb_arrow::arrow_schema::{DataType, Field};
use tdb_arrow::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder,
};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::tdb_array::{Array, WriteBatch, WriteColumn};

const ENDINGS: [&str; 3] = ["parquet", "arrow", "arrows"];

#[test]
fn exported_arrays_import_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (mut same, mut dense) = (0, 0);
    for fixture in small_arrays() {
        let array = Array::open(fixture.array_dir()).unwrap();
        let given = path(fixture.array_dir()).to_owned();
        for ending in ENDINGS {
            let file = folder.path().join(format!("{}.{ending}", fixture.name()));
            let again = folder.path().join(format!("{}-{ending}", fixture.name()));
            let export = tdb(&["export", &given, path(&file), "--option", "strings=binary"]);
            if !export.status.success() {
                continue;
            }
            let import = tdb(&["import", path(&again), path(&file)]);
            let said = text(&import.stderr);
            if said.contains("0 cells written") || said.contains("encoder for lossy webp") {
                continue;
            }
            assert!(import.status.success(), "{}: {said}", file.display());
            let is_lossy = said.contains("\"webp\"") && !said.contains("lossless = true");
            let difference = text(&tdb(&["diff", &given, path(&again), "--format", "csv"]).stdout);
            // The files lack metadata. Positions outside of the enumeration become null.
            let is_known = |line: &&str| line.starts_with("metadata") || line.contains("{\"\"index\"\":");
            let others = difference.lines().skip(1).find(|line| !is_known(line));
            assert!(is_lossy || others.is_none(), "{}: {difference}", file.display());
            same += 1;
            dense += usize::from(array.schema().is_dense());
        }
    }
    assert!(same > 60 && dense > 10, "{same} {dense}");
}

/// Creates an array of cells 0, 1, … with one attribute.
fn of_attribute(
    path: &Path,
    attribute: Attribute,
    enumeration: Option<Enumeration>,
    column: WriteColumn<'_>,
    cells: i32,
) {
    let dimension = Dimension::new("x", 0i32..=99);
    let mut builder = SchemaBuilder::sparse().dimension(dimension).attribute(attribute);
    if let Some(enumeration) = &enumeration {
        builder = builder.enumeration(EnumerationRef::unplaced(enumeration.name()));
    }
    let mut definition = ArrayDefinition::new(builder.build().unwrap()).unwrap();
    if let Some(enumeration) = enumeration {
        definition = definition.with_enumeration(enumeration).unwrap();
    }
    Array::create(path, &definition).unwrap();
    let x: Vec<i32> = (0..cells).collect();
    Array::open(path).unwrap().write().cells(WriteBatch::new().with("x", &x).with("a", column)).unwrap();
}

/// Exports an array in each format, imports the file, and compares the two arrays.
fn comes_back(folder: &Path, given: &Path, what: &str) {
    for ending in ENDINGS {
        let (file, again) = (folder.join(format!("file.{ending}")), folder.join(format!("again-{ending}")));
        told(&["export", path(given), path(&file)], 0);
        told(&["import", path(&again), path(&file)], 0);
        let difference = tdb(&["diff", path(given), path(&again), "--format", "csv"]);
        assert!(difference.status.success(), "{what} in {ending}: {}", text(&difference.stdout));
    }
}

#[test]
fn no_time_survives_a_round_trip() {
    for datatype in Datatype::ALL.iter().filter(|datatype| datatype.is_datetime() || datatype.is_time()) {
        let folder = tempfile::tempdir().unwrap();
        let given = folder.path().join("given");
        of_attribute(&given, Attribute::new("a", *datatype), None, WriteColumn::values(&[5i64, i64::MIN, 0]), 3);
        comes_back(folder.path(), &given, datatype.name());
    }
}

#[test]
fn enumerations_of_every_type_survive_a_round_trip() {
    for datatype in Datatype::ALL.iter().filter(|datatype| **datatype != Datatype::Any) {
        let value = |number: u8| {
            let mut bytes = vec![0; datatype.size()];
            bytes[0] = number;
            bytes
        };
        let mut values = vec![Enumeration::fixed("values", "", *datatype, [value(1), value(0)].concat()).unwrap()];
        if datatype.size() > 1 {
            // Values that end within an element become binary.
            values.push(Enumeration::strings("values", "", *datatype, ["ab", "cde"]).unwrap());
        }
        for values in values {
            let folder = tempfile::tempdir().unwrap();
            let given = folder.path().join("given");
            let attribute = Attribute::new("a", Datatype::UInt8).with_enumeration("values");
            // The last position has no value. It is the fill value.
            of_attribute(&given, attribute, Some(values), WriteColumn::values(&[0u8, 1, 0, 255]), 4);
            comes_back(folder.path(), &given, datatype.name());
        }
    }
}

/// Rows in the form of other programs.
fn rows(from: i64, count: i64) -> RecordBatch {
    let numbers = from..from + count;
    let words = ["a", "bb", "", "dddd"];
    let word = |number: i64| (number % 5 != 4).then_some(words[(number % 4) as usize]);
    let columns: [(&str, ArrayRef); 5] = [
        ("pos", Arc::new(Int64Array::from_iter_values(numbers.clone()))),
        ("word", Arc::new(StringArray::from_iter(numbers.clone().map(word)))),
        ("kind", Arc::new(DictionaryArray::<Int32Type>::from_iter(numbers.clone().map(word)))),
        ("at", Arc::new(TimestampMicrosecondArray::from_iter_values(numbers.clone()))),
        ("x", Arc::new(Float64Array::from_iter_values(numbers.map(|number| number as f64 / 2.0)))),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, name == "word" || name == "kind")),
    )
    .unwrap()
}

#[test]
fn files_of_other_programs_become_new_arrays() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ENDINGS {
        let files = folder.path().join(ending);
        fs::create_dir(&files).unwrap();
        write(&files.join(format!("b.{ending}")), &[rows(70_000, 10), rows(80_000, 5)]);
        write(&files.join(format!("a.{ending}")), &[rows(0, 70_000)]);
        fs::write(files.join("_SUCCESS"), "").unwrap();
        let array = folder.path().join(format!("{ending}-array"));
        let said = told(&["import", path(&array), path(&files), "--dimensions", "pos", "--budget", "1MiB"], 0);
        assert!(said.contains("70015 cells written in ") && !said.contains("in 1 fragment"), "{said}");
        let opened = Array::open(&array).unwrap();
        let kind = opened.schema().attributes().iter().find(|attribute| attribute.name() == "kind").unwrap();
        assert_eq!(kind.enumeration(), Some("kind"));
        // In order of appearance, over all files.
        let values = opened.enumeration("kind").unwrap();
        assert_eq!(values.values().collect::<Vec<_>>(), [&b"a"[..], b"bb", b"", b"dddd"]);
        let cells = told(&["read", path(&array), "--range", "pos=69998..70001", "--format", "csv"], 0);
        let expected = "pos,word,kind,at,x\n69998,\"\",\"\",1970-01-01T00:00:00.069998,34999.0\n\
            69999,,,1970-01-01T00:00:00.069999,34999.5\n70000,a,a,1970-01-01T00:00:00.070000,35000.0\n\
            70001,bb,bb,1970-01-01T00:00:00.070001,35000.5\n";
        assert_eq!(cells.replace("35000,", "35000.0,").replace("34999,", "34999.0,"), expected, "{ending}");
    }
}

#[test]
fn unsupported_cells_are_reported_by_file_and_row() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.toml");
    let toml = "array_type = \"sparse\"\n[[dimension]]\nname = \"pos\"\ndatatype = \"int16\"\ndomain = [0, 99]\n\
        tile_extent = 10\n[[attribute]]\nname = \"x\"\ndatatype = \"float32\"\n";
    fs::write(&schema, toml).unwrap();
    let positions: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), Some(100), None, Some(70_000), Some(7)]));
    let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.0, 2.0, 3.0, 0.1]));
    let batch = RecordBatch::try_from_iter_with_nullable([("pos", positions, true), ("x", values, false)]).unwrap();
    for ending in ENDINGS {
        let file = write(&folder.path().join(format!("bad.{ending}")), &[batch.slice(0, 2), batch.slice(2, 3)]);
        let array = folder.path().join(format!("array-{ending}"));
        let words = ["import", path(&array), path(&file), "--schema", path(&schema)];
        let said = told(&words, 1);
        for expected in [
            format!("bad.{ending}, row 2: pos: 100 is outside of the domain 0..99"),
            format!("bad.{ending}, row 3: pos: null, but the field is not nullable"),
            format!("bad.{ending}, row 4: pos: 70000 is not a valid int16"),
            format!("bad.{ending}, row 5: x: 0.1 is not a valid float32"),
            "cannot import 4 of 5 rows; nothing was written".to_owned(),
        ] {
            assert!(said.contains(&expected), "{expected}: {said}");
        }
        assert!(!array.exists());
        told(&[&words[..], &["--skip-rejects"]].concat(), 1);
        assert_eq!(told(&["read", path(&array), "--format", "csv"], 0), "pos,x\n5,0.5\n");
    }
    let array = folder.path().join("array");
    let parquet = folder.path().join("bad.parquet");
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "pass some of the columns pos, x with --dimensions"),
        (&["--dimensions", "x,y"], 2, "no column is named \"y\""),
        (&["--format", "csv", "--dimensions", "pos"], 2, "no column is named \"pos\""),
        (&["--format", "arrow", "--dimensions", "pos"], 3, "not a valid Arrow file or stream"),
    ];
    for (more, code, what) in cases {
        let said = told(&[&["import", path(&array), path(&parquet)], *more].concat(), *code);
        assert!(said.contains(what), "{said}");
    }
    let other = write(&folder.path().join("other.parquet"), &[rows(0, 1)]);
    let said = told(&["import", path(&array), path(&parquet), path(&other), "--dimensions", "pos"], 2);
    assert!(said.contains("other.parquet: has an additional column \"word\", unlike "), "{said}");
    let said = told(&["import", path(&array), path(&folder.path().join("none.parquet")), "--dimensions", "pos"], 5);
    assert!(said.contains("none.parquet"), "{said}");
    assert!(!array.exists());
}

#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for ending in ENDINGS {
        let good =
            fs::read(write(&folder.path().join(format!("good.{ending}")), &[rows(0, 10), rows(20, 10)])).unwrap();
        let bad = folder.path().join(format!("bad.{ending}"));
        for round in 0..60 {
            let mut bytes = good.clone();
            match round % 3 {
                0 => bytes.truncate(random(good.len())),
                1 => {
                    let at = random(good.len());
                    bytes[at] ^= 1 << random(8);
                }
                // Overwrites a size in the metadata.
                _ => {
                    let at = random(good.len() - 8);
                    bytes[at..at + 8].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
                }
            }
            fs::write(&bad, &bytes).unwrap();
            let run = tdb(&["import", path(&array), path(&bad), "--dimensions", "pos", "--dry-run"]);
            let said = text(&run.stderr);
            assert!(run.status.code().is_some_and(|code| code <= 5), "{ending} {round}: {said}");
            assert!(!said.contains("panicked"), "{ending} {round}: {said}");
            refused += usize::from(!run.status.success());
        }
    }
    assert!(refused > 90, "{refused}");
}

/// Decimals and half floats are converted with `--type`, and rejected with this hint otherwise.
#[test]
fn decimals_and_half_floats_are_converted_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let decimals = |values: Vec<Option<i128>>| Decimal128Array::from(values).with_precision_and_scale(38, 2).unwrap();
    let halves: Float16Array = [1.5_f32, -0.25, 65504.0]
        .map(|value| Some(<Float16Type as ArrowPrimitiveType>::Native::from_f32(value)))
        .into_iter()
        .collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("x", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("price", Arc::new(decimals(vec![Some(1999), None, Some(300)]))),
        ("half", Arc::new(halves)),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap();
    for ending in ENDINGS {
        let file = write(&folder.path().join(format!("rows.{ending}")), std::slice::from_ref(&batch));
        let array = folder.path().join(ending);
        let import = ["import", path(&array), path(&file), "--dimensions", "x"];
        let refused = told(&import, 4);
        assert!(refused.contains("pass --type price=float64, int64 or string_utf8 to convert it"), "{refused}");
        let refused = told(&[&import[..], &["--type", "price=float64"]].concat(), 4);
        assert!(refused.contains("pass --type half=float64, float32, int64 or string_utf8 to convert it"), "{refused}");
        let types = ["--type", "half=float32", "--type", "price=int64"];
        let rejected = told(&[&import[..], &types].concat(), 1);
        assert!(rejected.contains("row 1: price: 19.99 is not a valid int64"), "{rejected}");
        assert!(!array.exists());
        let unknown = told(&[&import[..], &["--type", "cost=int64"]].concat(), 2);
        assert!(unknown.contains("no column is named \"cost\""), "{unknown}");
        for (datatype, first) in
            [("float64", "19.99"), ("float32", "19.99"), ("string_utf8", "19.99"), ("blob", "31392e3939")]
        {
            let array = folder.path().join(format!("{ending}-{datatype}"));
            let price = format!("price={datatype}");
            let types = ["--dimensions", "x", "--type", &price, "--type", "half=float32"];
            told(&[&["import", path(&array), path(&file)][..], &types].concat(), 0);
            let read = told(&["read", path(&array), "--format", "csv"], 0);
            assert!(read.contains(&format!("1,{first},1.5\n")) && read.contains("\n2,,-0.25\n"), "{read}");
        }
        // Types of an existing array stay. Converted values have to fit them.
        let array = folder.path().join(format!("{ending}-float64"));
        let again = ["import", path(&array), path(&file), "--type", "price=float64", "--type", "half=float32"];
        told(&again, 0);
    }
}

/// Columns of types that arrays lack.
fn odd_columns() -> Vec<(&'static str, ArrayRef)> {
    let half = |value: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value);
    let decimals = || Decimal128Array::from(vec![150, 200, 300]).with_precision_and_scale(9, 2).unwrap();
    let halves = || Float16Array::from_iter_values([1.0, 2.0, 3.0].map(half));
    let keys = || Int32Array::from(vec![0, 1, 2]);
    let lists = |values: ArrayRef| -> ArrayRef {
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([1, 0, 2]), values, None))
    };
    let fixed: ArrayRef = Arc::new(decimals());
    let item = Arc::new(Field::new_list_field(fixed.data_type().clone(), true));
    vec![
        ("decimal", Arc::new(decimals())),
        ("half", Arc::new(halves())),
        ("null", Arc::new(NullArray::new(3))),
        ("dictionary of decimals", Arc::new(DictionaryArray::new(keys(), Arc::new(decimals())))),
        ("dictionary of halves", Arc::new(DictionaryArray::new(keys(), Arc::new(halves())))),
        ("dictionary of nulls", Arc::new(DictionaryArray::new(keys(), Arc::new(NullArray::new(3))))),
        ("list of decimals", lists(Arc::new(decimals()))),
        ("list of halves", lists(Arc::new(halves()))),
        ("list of decimals, three each", Arc::new(FixedSizeListArray::new(item, 1, fixed, None))),
    ]
}

/// Writes a column next to dimension `x`. `None` if the file format lacks the type.
fn file_of(folder: &Path, ending: &str, name: &str, column: &ArrayRef) -> Option<PathBuf> {
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter_with_nullable([("x", x, false), (name, Arc::clone(column), true)]).unwrap();
    let file = folder.join(format!("{}.{ending}", name.replace(' ', "-")));
    // The Parquet writer supports dictionaries of strings and integers.
    let is_odd = |values: &DataType| !matches!(values, DataType::Utf8 | DataType::Int64);
    if ending == "parquet" && matches!(column.data_type(), DataType::Dictionary(_, values) if is_odd(values)) {
        return None;
    }
    Some(write(&file, std::slice::from_ref(&batch)))
}

#[test]
fn types_in_hints_convert_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let mut converted = 0;
    for ((name, column), ending) in odd_columns().iter().flat_map(|column| ENDINGS.map(|ending| (column, ending))) {
        let Some(file) = file_of(folder.path(), ending, name, column) else { continue };
        let array = folder.path().join("array");
        let import = ["import", path(&array), path(&file), "--dimensions", "x"];
        let refused = told(&import, 4);
        let advice = refused.split_once(&format!("hint: pass --type {name}=")).unwrap_or_else(|| panic!("{refused}")).1;
        let words = advice.split([',', ' ', '\n']).filter(|word| *word != "any" && Datatype::from_name(word).is_some());
        for datatype in words {
            let array = folder.path().join(format!("{ending}-{name}-{datatype}").replace(' ', "-"));
            let typed = format!("{name}={datatype}");
            let said = tdb(&["import", path(&array), path(&file), "--dimensions", "x", "--type", &typed]);
            let said = text(&said.stderr);
            // The first decimal, 1.50, is not an integer.
            let is_fraction = datatype == "int64" && name.contains("decimal");
            assert!(
                said.contains("3 cells written") || is_fraction && said.contains("is not a valid int64"),
                "{name} {datatype}: {said}"
            );
            converted += 1;
        }
    }
    assert!(converted > 50, "{converted}");
}

#[test]
fn columns_convert_to_the_requested_type() {
    let folder = tempfile::tempdir().unwrap();
    let texts = |texts: [&str; 3]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let words = |words: [&str; 3]| -> ArrayRef { Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>()) };
    let odd = |name: &str| odd_columns().into_iter().find(|(known, _)| *known == name).unwrap().1;
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2e16, -3.0]));
    let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![0, -1, 1_000_000]));
    let durations: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![0, -1, 1_000_000]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)]));
    let bits: ArrayRef = Arc::new(Int32Array::from(vec![0, 1, 1]));
    for (column, datatype, cells) in [
        (&numbers, "string_utf8", ["1", "", "-3"]),
        (&numbers, "int8", ["1", "", "-3"]),
        (&floats, "int64", ["1", "20000000000000000", "-3"]),
        (&floats, "string_utf8", ["1.0", "2e16", "-3.0"]),
        (&durations, "int64", ["0", "-1", "1000000"]),
        (&times, "int64", ["0", "-1", "1000000"]),
        (&times, "string_utf8", ["1970-01-01T00:00:00", "1969-12-31T23:59:59.999999", "1970-01-01T00:00:01"]),
        (
            &times,
            "datetime_ns",
            ["1970-01-01T00:00:00.000000000", "1969-12-31T23:59:59.999999000", "1970-01-01T00:00:01.000000000"],
        ),
        (&odd("half"), "int32", ["1", "2", "3"]),
        (&odd("null"), "int32", ["", "", ""]),
        (&odd("dictionary of decimals"), "float64", ["1.5", "2.0", "3.0"]),
        (&odd("list of decimals"), "float64", ["[1.5]", "[]", "\"[2.0,3.0]\""]),
        (&odd("list of halves"), "int16", ["[1]", "[]", "\"[2,3]\""]),
        (&texts(["7", "-8", "9"]), "int16", ["7", "-8", "9"]),
        (&texts(["2020-01-31", "0001-01-01", "7"]), "datetime_day", ["2020-01-31", "0001-01-01", "1970-01-08"]),
        (&words(["1.5", "nan", "1.5"]), "float32", ["1.5", "NaN", "1.5"]),
        (&truths, "string_ascii", ["true", "", "false"]),
        (&bits, "bool", ["false", "true", "true"]),
        (&bits, "datetime_day", ["1970-01-01", "1970-01-02", "1970-01-02"]),
    ] {
        for ending in ENDINGS {
            let array = tempfile::tempdir().unwrap().path().join("array");
            let Some(file) = file_of(folder.path(), ending, "a", column) else {
                assert!(matches!(column.data_type(), DataType::Dictionary(..)), "{datatype} {ending}");
                continue;
            };
            let typed = format!("a={datatype}");
            told(&["import", path(&array), path(&file), "--dimensions", "x", "--type", &typed], 0);
            let read = told(&["read", path(&array), "--format", "csv"], 0);
            let expected: String = (1..).zip(cells).map(|(x, cell)| format!("{x},{cell}\n")).collect();
            assert_eq!(read, format!("x,a\n{expected}"), "{ending} {datatype}");
        }
    }
    for (column, datatype, code, why) in [
        (&numbers, "string_utf16", 2, "to string_utf16"),
        (&truths, "int8", 2, "pass another type, or leave out --type a=int8"),
        (&texts(["7", "8.5", "9"]), "int8", 1, "row 2: a: \"8.5\" is not a valid int64"),
        (&texts(["7", "300", "9"]), "int8", 1, "row 2: a: 300 is not a valid int8"),
        (&odd("list of decimals"), "int64", 1, "row 1: a: 1.50 is not a valid int64"),
        (&odd("list of decimals"), "string_utf8", 2, "to string_utf8"),
    ] {
        for ending in ENDINGS {
            let Some(file) = file_of(folder.path(), ending, "a", column) else { continue };
            let typed = format!("a={datatype}");
            let array = folder.path().join("refused");
            let said = told(&["import", path(&array), path(&file), "--dimensions", "x", "--type", &typed], code);
            assert!(said.contains(why), "{ending} {datatype}: {said}");
        }
    }
}

#[test]
fn dictionaries_of_booleans_become_booleans() {
    let values: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let column: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(vec![Some(1), None, Some(0)]), values));
    for ending in ["arrow", "arrows"] {
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(folder.path(), ending, "a", &column).unwrap();
        let array = folder.path().join("array");
        told(&["import", path(&array), path(&file), "--dimensions", "x"], 0);
        assert_eq!(told(&["read", path(&array), "--format", "csv"], 0), "x,a\n1,false\n2,\n3,true\n");
        assert_eq!(Array::open(&array).unwrap().schema().attributes()[0].datatype(), Datatype::Bool);
    }
}

#[test]
fn columns_without_a_type_become_nulls_of_the_field() {
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    for (datatype, nullable, cells) in
        [("float64", true, ",,"), ("string_utf8", true, ",,"), ("datetime_day", false, ",,"), ("int32", false, "null")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (schema, array) = (folder.path().join("schema.toml"), folder.path().join("array"));
        let var = if datatype == "string_utf8" { "values_per_cell = \"var\"\n" } else { "" };
        let toml = format!(
            "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int64\"\ndomain = [0, 9]\n\
             [[attribute]]\nname = \"a\"\ndatatype = \"{datatype}\"\nnullable = {nullable}\n{var}"
        );
        fs::write(&schema, toml).unwrap();
        told(&["create", path(&array), "--schema", path(&schema)], 0);
        for ending in ENDINGS {
            let file = file_of(folder.path(), ending, "a", &nulls).unwrap();
            let said = told(&["import", path(&array), path(&file)], if cells == "null" { 1 } else { 0 });
            assert!(cells != "null" || said.contains("row 1: a: null, but the field is not nullable"), "{said}");
        }
        let read = told(&["read", path(&array), "--format", "csv"], 0);
        let expected = if cells == "null" { "x,a\n" } else { "x,a\n1,\n2,\n3,\n" };
        assert_eq!(read, expected, "{datatype}");
    }
}

#[test]
fn hint_about_decimal_coordinates_works() {
    let folder = tempfile::tempdir().unwrap();
    let decimals: ArrayRef =
        Arc::new(Decimal128Array::from(vec![100, 200, 300]).with_precision_and_scale(9, 2).unwrap());
    for ending in ENDINGS {
        let file = file_of(folder.path(), ending, "price", &decimals).unwrap();
        let array = folder.path().join(ending);
        let refused = told(&["import", path(&array), path(&file), "--dimensions", "price"], 4);
        assert!(refused.contains("pass --type price=float64, int64 or string_utf8 to convert it"), "{refused}");
        for datatype in ["float64", "int64", "string_utf8"] {
            let array = folder.path().join(format!("{ending}-{datatype}"));
            let typed = format!("price={datatype}");
            told(&["import", path(&array), path(&file), "--dimensions", "price", "--type", &typed], 0);
        }
    }
}

#[test]
fn hint_about_invalid_utf_8_works() {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("given");
    let attribute = Attribute::new("a", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    of_attribute(&given, attribute, None, WriteColumn::strings([&b"a\xff"[..], b"", b"b"]), 3);
    for ending in ENDINGS {
        let (file, again) = (folder.path().join(format!("file.{ending}")), folder.path().join(ending));
        let refused = told(&["export", path(&given), path(&file)], 4);
        assert!(refused.contains("hint: pass --option strings=binary to write strings as bytes"), "{refused}");
        told(&["export", path(&given), path(&file), "--option", "strings=binary"], 0);
        told(&["import", path(&again), path(&file)], 0);
        told(&["diff", path(&given), path(&again)], 0);
    }
}
