//! Cells that cannot be converted: errors name the field and the cell.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeBinaryArray, NullArray,
    RecordBatch, StringArray, TimestampSecondArray, UInt64Array, new_empty_array,
};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, UnionFields, UnionMode};
use tdb_arrow::tdb_array::tdb_schema::{Attribute, Dimension, Enumeration, SchemaBuilder};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::tdb_array::{Order, WriteColumn};
use tdb_arrow::{ArrowOptions, Error, NewArray, Problem, Reader};

use crate::support::{InMemory, nullable, of_attribute, take, write};

/// Reads the array as Arrow, and returns the batch or the error message.
fn read(array: &InMemory, options: &ArrowOptions) -> Result<RecordBatch, String> {
    let query = array.open().read().order(Order::RowMajor);
    let mut reader = Reader::new(query, options).map_err(|error| error.to_string())?;
    let batch = reader.next().unwrap().map_err(|error| error.to_string());
    if batch.is_err() {
        assert!(reader.next().is_none(), "the reader continues after an error");
    }
    batch
}

fn of(datatype: Datatype) -> InMemory {
    of_attribute(Attribute::new("a", datatype), None)
}

fn var(datatype: Datatype) -> InMemory {
    of_attribute(Attribute::new("a", datatype).with_cell_val_num(CellValNum::Var), None)
}

#[test]
fn invalid_utf8_is_an_error() {
    for datatype in [Datatype::StringUtf8, Datatype::StringAscii] {
        let array = var(datatype);
        write(&array, 3, WriteColumn::strings([&b"ok"[..], b"\xff", b"x"]));
        let expected = r#"cell 1, field "a": not valid UTF-8; read strings as binary to get their bytes"#;
        for options in [ArrowOptions::new(), ArrowOptions::new().small_offsets(), ArrowOptions::new().string_views()] {
            let error = read(&array, &options).unwrap_err();
            assert!(error.ends_with(expected), "{error}");
        }
        let binary = read(&array, &ArrowOptions::new().strings_as_binary()).unwrap();
        assert_eq!(binary.column(1).as_any().downcast_ref::<LargeBinaryArray>().unwrap().value(1), b"\xff");
    }
    // The buffer is valid UTF-8, but the single cells are not.
    let array = var(Datatype::StringUtf8);
    write(&array, 2, WriteColumn::strings([&b"\xc3"[..], b"\xa4"]));
    assert!(read(&array, &ArrowOptions::new()).unwrap_err().contains("cell 0, field \"a\": not valid UTF-8"));
}

#[test]
fn bytes_of_null_cells_are_ignored() {
    let array = nullable(Datatype::StringUtf8, CellValNum::Var);
    write(&array, 3, WriteColumn::strings([&b"ok"[..], b"\xff", b"x"]).with_validity(&[0b101]));
    for options in [ArrowOptions::new().small_offsets(), ArrowOptions::new()] {
        let batch = read(&array, &options).unwrap();
        if let Some(texts) = batch.column(1).as_string_opt::<i64>() {
            assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("ok"), None, Some("x")]);
        }
        assert!(batch.column(1).is_null(1));
    }
}

#[test]
fn positions_outside_of_the_enumeration() {
    let colours = Enumeration::strings("colours", "", Datatype::StringUtf8, ["red"]).unwrap();
    let array = of_attribute(Attribute::new("a", Datatype::UInt16).with_enumeration("colours"), Some(colours));
    write(&array, 3, WriteColumn::values(&[0u16, 7, u16::MAX]));
    let batch = read(&array, &ArrowOptions::new()).unwrap();
    assert_eq!((batch.column(1).is_null(0), batch.column(1).null_count()), (false, 2));
    let error = read(&array, &ArrowOptions::new().refuse_outside_enumeration()).unwrap_err();
    let expected = r#"cell 1, field "a": position 7 is outside of enumeration "colours" with 1 values"#;
    assert!(error.ends_with(expected), "{error}");

    let blue: DictionaryArray<Int8Type> = vec![Some("red"), None, Some("blue")].into_iter().collect();
    let error = take(&array, Arc::new(blue)).unwrap_err().to_string();
    assert_eq!(error, r#"cell 2, field "a": "blue" is not in enumeration "colours"; extend the enumeration first"#);
    let error = take(&array, Arc::new(StringArray::from(vec!["blue"]))).unwrap_err().to_string();
    assert_eq!(error, r#"cell 0, field "a": "blue" is not in enumeration "colours"; extend the enumeration first"#);
    // Null is allowed as a number outside of the enumeration. A column of another type is rejected.
    take(&array, Arc::new(StringArray::from(vec![Some("red"), None]))).unwrap();
    assert!(matches!(take(&array, Arc::new(Float64Array::from(vec![0.0]))), Err(Error::WrongType { .. })));
}

#[test]
fn unrepresentable_dates_are_errors() {
    let array = of(Datatype::DatetimeYear);
    write(&array, 2, WriteColumn::values(&[30i64, 1 << 40]));
    let error = read(&array, &ArrowOptions::new()).unwrap_err();
    let expected = "cell 1, field \"a\": 1099511627776 of datetime_year is out of range of the target type";
    assert!(error.ends_with(expected), "{error}");
    assert_eq!(read(&array, &ArrowOptions::new().other_dates_as_integers()).unwrap().num_rows(), 2);
    let batch = read(&array, &ArrowOptions::new().far_dates_as_null()).unwrap();
    assert_eq!((batch.column(1).is_null(0), batch.column(1).is_null(1)), (false, true));
    let error = take(&array, Arc::new(Date32Array::from(vec![10_957, 10_958]))).unwrap_err();
    assert_eq!(error.to_string(), "cell 1, field \"a\": 10958 is not a multiple of the unit of datetime_year");
    let seconds = TimestampSecondArray::from(vec![i64::MAX]);
    let error = take(&of(Datatype::DatetimeNs), Arc::new(seconds)).unwrap_err();
    assert!(matches!(error, Error::Cell { cell: 0, problem: Problem::OutOfRange { .. }, .. }), "{error}");
    let array = var(Datatype::DatetimeDay);
    write(&array, 2, WriteColumn::values(&[1i64, 2, i64::MIN, i64::MAX]).with_offsets(&[0, 1, 4]));
    assert!(read(&array, &ArrowOptions::new()).unwrap_err().contains("cell 1, field \"a\""));
    let batch = read(&array, &ArrowOptions::new().far_dates_as_null()).unwrap();
    let list = batch.column(1).as_list::<i64>().value(1);
    assert_eq!((list.len(), list.null_count()), (3, 2));
}

#[test]
fn nulls_in_fields_without_validity_are_errors() {
    let error = take(&of(Datatype::Int32), Arc::new(Int32Array::from(vec![Some(1), None]))).unwrap_err();
    assert_eq!(error.to_string(), "cell 1, field \"a\": null, but the field is not nullable");
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1)]);
    lists.append_value([Some(2), None]);
    let error = take(&var(Datatype::Int32), Arc::new(lists.finish())).unwrap_err();
    assert!(matches!(error, Error::Cell { cell: 1, problem: Problem::NullInList, .. }), "{error}");
}

#[test]
fn numbers_of_another_width() {
    let told = |error: Error| error.to_string();
    let int64 = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values));
    let wide = |values: Vec<i64>| int64(values.into_iter().map(Some).collect());
    take(&of(Datatype::Int8), wide(vec![-128, 127, 0])).unwrap();
    let error = told(take(&of(Datatype::Int8), wide(vec![1, 128])).unwrap_err());
    assert_eq!(error, "cell 1, field \"a\": 128 is not a valid int8");
    let error = told(take(&of(Datatype::UInt64), wide(vec![-1])).unwrap_err());
    assert_eq!(error, "cell 0, field \"a\": -1 is not a valid uint64");
    take(&of(Datatype::Float32), wide(vec![1 << 24, (1 << 24) + 2])).unwrap();
    let error = told(take(&of(Datatype::Float32), wide(vec![(1 << 24) + 1])).unwrap_err());
    assert_eq!(error, "cell 0, field \"a\": 16777217 is not a valid float32");
    take(&of(Datatype::Float64), Arc::new(UInt64Array::from(vec![1 << 63]))).unwrap();
    assert!(take(&of(Datatype::Float64), Arc::new(UInt64Array::from(vec![u64::MAX]))).is_err());
    take(&of(Datatype::Float32), Arc::new(Float64Array::from(vec![0.5, f64::NAN, f64::INFINITY]))).unwrap();
    let error = told(take(&of(Datatype::Float32), Arc::new(Float64Array::from(vec![0.1]))).unwrap_err());
    assert_eq!(error, "cell 0, field \"a\": 0.1 is not a valid float32");
    // Values under nulls are not checked. For lists, the error names the cell of the value.
    let hidden = Int64Array::new(vec![1, 1000].into(), Some(vec![true, false].into()));
    take(&nullable(Datatype::Int8, CellValNum::ONE), Arc::new(hidden)).unwrap();
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), Some(2)]);
    lists.append_value([Some(3), Some(300)]);
    let error = told(take(&var(Datatype::UInt8), Arc::new(lists.finish())).unwrap_err());
    assert_eq!(error, "cell 1, field \"a\": 300 is not a valid uint8");
}

#[test]
fn columns_of_another_type() {
    let error = take(&of(Datatype::Int32), Arc::new(Float64Array::from(vec![1.0]))).unwrap_err();
    assert_eq!(error.to_string(), "field \"a\": cannot convert Float64 to one value of int32");
    let error = take(&var(Datatype::StringUtf8), Arc::new(Int32Array::from(vec![1]))).unwrap_err();
    assert_eq!(error.to_string(), "field \"a\": cannot convert Int32 to any number of values of string_utf8");
    for column in [
        Arc::new(StringArray::from(vec!["1"])) as ArrayRef,
        new_empty_array(&DataType::Float16),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(["a"])),
    ] {
        assert!(matches!(take(&of(Datatype::Int32), column), Err(Error::WrongType { .. })));
    }
    // A column of type `Null` fits every field with a representation of null.
    let error = take(&of(Datatype::Int32), Arc::new(NullArray::new(1))).unwrap_err().to_string();
    assert!(error.contains("not nullable"), "{error}");
    for attribute in [Attribute::new("a", Datatype::Int32).nullable(false), Attribute::new("a", Datatype::DatetimeDay)]
    {
        let array = of_attribute(attribute, None);
        take(&array, Arc::new(NullArray::new(1))).unwrap();
        assert_eq!(read(&array, &ArrowOptions::new()).unwrap().column(1).null_count(), 1);
    }
    let open = of(Datatype::Int32).open();
    let batch = RecordBatch::try_from_iter([("b", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    assert_eq!(
        tdb_arrow::cells(&batch, &open).unwrap_err().to_string(),
        r#"unknown field "b"; the array has "d", "a""#
    );
}

#[test]
fn unsupported_types_are_errors() {
    let item = |data_type| Arc::new(Field::new("item", data_type, false));
    let parts = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    let types = [
        DataType::Null,
        DataType::Float16,
        DataType::Decimal32(9, 2),
        DataType::Decimal64(9, 2),
        DataType::Decimal128(9, 2),
        DataType::Decimal256(9, 2),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::Struct(parts.clone()),
        DataType::Map(item(DataType::Struct(parts)), false),
        DataType::Union(UnionFields::empty(), UnionMode::Sparse),
        DataType::RunEndEncoded(item(DataType::Int32), item(DataType::Int32)),
        DataType::ListView(item(DataType::Int32)),
        DataType::LargeListView(item(DataType::Int32)),
        DataType::List(item(DataType::Utf8)),
        DataType::LargeList(item(DataType::List(item(DataType::Int8)))),
        DataType::FixedSizeList(item(DataType::Decimal128(9, 2)), 2),
        DataType::FixedSizeList(item(DataType::Int8), 0),
        DataType::FixedSizeBinary(0),
        DataType::List(item(DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)))),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Float16)),
    ];
    for data_type in types {
        let dimension = Dimension::new("d", 0i32..=9);
        let schema =
            Schema::new(vec![Field::new("d", DataType::Int32, false), Field::new("bad", data_type.clone(), true)]);
        let error = NewArray::new(SchemaBuilder::sparse()).dimension(dimension).definition(&schema).unwrap_err();
        assert!(matches!(&error, Error::Refused { field, .. } if field == "bad"), "{data_type}: {error}");
    }
    let dimension = Dimension::new("d", 0i32..=9);
    let new = NewArray::new(SchemaBuilder::sparse()).dimension(dimension);
    let error = new.clone().definition(&Schema::new(vec![Field::new("d", DataType::Float64, false)])).unwrap_err();
    assert!(matches!(error, Error::WrongType { .. }), "{error}");
    let error = new.definition(&Schema::new(vec![Field::new("a", DataType::Int64, false)])).unwrap_err();
    assert!(matches!(error, Error::MissingField { .. }), "{error}");
}
