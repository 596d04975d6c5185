//! Literal values. A round trip would hide mistakes common to both directions.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Int16Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Int8Array, Int16Array, Int32Array, RecordBatch,
    StringArray, StringViewArray, Time32MillisecondArray, Time32SecondArray, Time64MicrosecondArray,
    Time64NanosecondArray, TimestampMillisecondArray, TimestampSecondArray,
};
use arrow_schema::DataType;
use tdb_arrow::tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, SchemaBuilder};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::tdb_array::{Order, WriteColumn};
use tdb_arrow::{ArrowOptions, Error, Problem, Reader};

use crate::support::{InMemory, nullable, of_attribute, take, write};

/// Reads the attribute `a` as Arrow, in order.
fn read(array: &InMemory, options: &ArrowOptions) -> ArrayRef {
    let query = array.open().read().select(["a"]).unwrap().order(Order::RowMajor);
    Reader::new(query, options).unwrap().next().unwrap().unwrap().column(0).clone()
}

#[test]
fn units_match_arrow() {
    let second = ArrowOptions::new();
    let milli = ArrowOptions::new().milliseconds_for_seconds();
    let rows: [(Datatype, &ArrowOptions, ArrayRef); 16] = [
        (Datatype::DatetimeYear, &second, Arc::new(Date32Array::from(vec![1096, -731]))),
        (Datatype::DatetimeMonth, &second, Arc::new(Date32Array::from(vec![90, -61]))),
        (Datatype::DatetimeWeek, &second, Arc::new(Date32Array::from(vec![21, -14]))),
        (Datatype::DatetimeDay, &milli, Arc::new(Date32Array::from(vec![3, -2]))),
        (Datatype::DatetimeHr, &second, Arc::new(TimestampSecondArray::from(vec![10_800, -7200]))),
        (Datatype::DatetimeMin, &second, Arc::new(TimestampSecondArray::from(vec![180, -120]))),
        (Datatype::DatetimeSec, &second, Arc::new(TimestampSecondArray::from(vec![3, -2]))),
        (Datatype::DatetimeHr, &milli, Arc::new(TimestampMillisecondArray::from(vec![10_800_000, -7_200_000]))),
        (Datatype::DatetimeSec, &milli, Arc::new(TimestampMillisecondArray::from(vec![3000, -2000]))),
        (Datatype::TimeHr, &second, Arc::new(Time32SecondArray::from(vec![10_800, -7200]))),
        (Datatype::TimeSec, &second, Arc::new(Time32SecondArray::from(vec![3, -2]))),
        (Datatype::TimeMin, &milli, Arc::new(Time32MillisecondArray::from(vec![180_000, -120_000]))),
        (Datatype::TimeSec, &milli, Arc::new(Time32MillisecondArray::from(vec![3000, -2000]))),
        (Datatype::TimeMs, &milli, Arc::new(Time32MillisecondArray::from(vec![3, -2]))),
        (Datatype::TimeUs, &second, Arc::new(Time64MicrosecondArray::from(vec![3, -2]))),
        (Datatype::TimeNs, &second, Arc::new(Time64NanosecondArray::from(vec![3, -2]))),
    ];
    for (datatype, options, expected) in rows {
        let array = of_attribute(Attribute::new("a", datatype), None);
        write(&array, 2, WriteColumn::values(&[3i64, -2]));
        assert_eq!(&read(&array, options), &expected, "{datatype}");
        let back = of_attribute(Attribute::new("a", datatype), None);
        take(&back, expected).unwrap();
        let batch = back.open().read().select(["a"]).unwrap().order(Order::RowMajor).batches().unwrap().next();
        assert_eq!(batch.unwrap().unwrap().columns()[0].values::<i64>().unwrap(), [3, -2], "{datatype}");
    }
}

/// Covers positions inside and outside of the enumeration, and nulls.
#[test]
fn enumerations_of_booleans_and_lists_become_plain_values() {
    let pairs = Enumeration::fixed("values", "", Datatype::Int16, [1i16, 2, 3, 4].map(i16::to_le_bytes).concat());
    let pairs = pairs.unwrap().with_values_per_value(2.try_into().unwrap()).unwrap();
    let booleans = Enumeration::fixed("values", "", Datatype::Bool, vec![1u8, 0]).unwrap();
    let none = Enumeration::fixed("values", "", Datatype::Bool, Vec::new()).unwrap();
    for (enumeration, first) in [(booleans, Some("true")), (pairs, Some("1")), (none, None)] {
        let attribute = || Attribute::new("a", Datatype::UInt8).with_enumeration("values").nullable(false);
        let array = of_attribute(attribute(), Some(enumeration.clone()));
        write(&array, 4, WriteColumn::options([Some(0u8), Some(1), Some(9), None]));
        let found = read(&array, &ArrowOptions::new().wide_keys());
        assert!(!matches!(found.data_type(), DataType::Dictionary(..)), "{found:?}");
        assert_eq!(found.null_count(), if first.is_some() { 2 } else { 4 });
        assert!(first.is_none_or(|first| format!("{found:?}").contains(first)), "{found:?}");
        let back = of_attribute(attribute(), Some(enumeration));
        take(&back, Arc::clone(&found)).unwrap();
        assert_eq!(&read(&back, &ArrowOptions::new()), &found);
    }
}

#[test]
fn null_coordinates_are_errors() {
    let dimension = Dimension::new("t", i64::MIN..=i64::MAX - 10).with_datatype(Datatype::DatetimeMs);
    let schema = SchemaBuilder::sparse().dimension(dimension).attribute(Attribute::new("a", Datatype::Int8));
    let array = InMemory::new(&ArrayDefinition::new(schema.build().unwrap()).unwrap(), None);
    for times in [
        Arc::new(TimestampMillisecondArray::from(vec![Some(1), None])) as ArrayRef,
        Arc::new(TimestampSecondArray::from(vec![Some(1), None])),
    ] {
        let numbers: ArrayRef = Arc::new(Int8Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter_with_nullable([("t", times, true), ("a", numbers, false)]).unwrap();
        let open = array.open();
        let written = tdb_arrow::cells(&batch, &open).and_then(|cells| Ok(open.write().cells(cells)?));
        assert!(written.is_err(), "{written:?}");
    }
}

#[test]
fn slices_of_lists_bits_and_views_convert() {
    let mut lists = ListBuilder::new(Int16Builder::new());
    let mut pairs = FixedSizeListBuilder::new(Int16Builder::new(), 2);
    for first in 0..4i16 {
        lists.append_value((0..first + 1).map(|value| Some(first * 10 + value)));
        pairs.values().append_slice(&[first, first + 100]);
        pairs.append(first != 2);
    }
    let two = CellValNum::Fixed(2.try_into().unwrap());
    let bits = (0..20).map(|cell| (cell % 3 > 0).then_some(cell % 2 == 0));
    let texts = vec![Some("no"), Some("ä"), None, Some("bcd"), Some("no")];
    let columns: [(Datatype, CellValNum, ArrayRef); 6] = [
        (Datatype::Int16, CellValNum::Var, Arc::new(lists.finish())),
        (Datatype::Int16, two, Arc::new(pairs.finish())),
        (Datatype::Bool, CellValNum::ONE, Arc::new(bits.collect::<BooleanArray>())),
        (
            Datatype::Int32,
            CellValNum::ONE,
            Arc::new((0..20).map(|cell| (cell % 7 > 1).then_some(cell)).collect::<Int32Array>()),
        ),
        (Datatype::StringUtf8, CellValNum::Var, Arc::new(StringArray::from(texts))),
        (
            Datatype::StringUtf8,
            CellValNum::Var,
            Arc::new(StringViewArray::from(vec![Some("no"), Some("longer than a view by itself"), None, Some("ä")])),
        ),
    ];
    for (datatype, number, column) in columns {
        // Slices within a byte of validity, at the start of its second byte, and without the last
        // cells.
        for (start, without) in [(1, 0), (1, 1), (3, 2), (8, 0), (9, 0)] {
            let Some(len) = column.len().checked_sub(start + without).filter(|len| *len > 0) else { continue };
            let column = column.slice(start, len);
            let array = nullable(datatype, number);
            take(&array, column.clone()).unwrap();
            let found = read(&array, &ArrowOptions::new().small_offsets());
            match column.as_any().downcast_ref::<StringViewArray>() {
                Some(texts) => assert_eq!(found.as_ref(), &StringArray::from_iter(texts) as &dyn Array),
                // The types differ in the nullability of list values.
                None if !number.is_var() && number != CellValNum::ONE || datatype == Datatype::Int16 => {
                    assert_eq!(format!("{found:?}"), format!("{column:?}"));
                }
                None => assert_eq!(&found, &column),
            }
        }
    }
}

#[test]
fn nulls_within_lists_of_one_size_are_refused() {
    let mut pairs = FixedSizeListBuilder::new(Int16Builder::new(), 2);
    for (values, is_there) in [([None, None], false), ([Some(1), Some(2)], true), ([Some(3), None], true)] {
        pairs.values().append_value(values[0].unwrap_or(0));
        pairs.values().append_option(values[1]);
        pairs.append(is_there);
    }
    let pairs = pairs.finish();
    let array = nullable(Datatype::Int16, CellValNum::Fixed(2.try_into().unwrap()));
    let error = take(&array, Arc::new(pairs.clone())).unwrap_err();
    assert!(matches!(error, Error::Cell { cell: 2, problem: Problem::NullInList, .. }), "{error}");
    // Values under a null cell may be null.
    take(&array, Arc::new(pairs.slice(0, 2))).unwrap();
}

#[test]
fn null_values_of_dictionaries_are_null() {
    let values = Arc::new(StringArray::from(vec![Some("red"), None]));
    let keys = Int8Array::from(vec![Some(0), Some(1), None]);
    let column: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, values));
    let array = nullable(Datatype::StringUtf8, CellValNum::Var);
    take(&array, Arc::clone(&column)).unwrap();
    let expected = StringArray::from(vec![Some("red"), None, None]);
    assert_eq!(read(&array, &ArrowOptions::new().small_offsets()).as_ref(), &expected as &dyn Array);

    let values = Arc::new(Int16Array::from(vec![None, Some(7)]));
    let column = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 1]), values);
    let array = nullable(Datatype::Int16, CellValNum::ONE);
    take(&array, Arc::new(column)).unwrap();
    assert_eq!(read(&array, &ArrowOptions::new()).as_ref(), &Int16Array::from(vec![None, Some(7)]) as &dyn Array);
}

#[test]
fn views_share_long_strings() {
    let array = nullable(Datatype::StringUtf8, CellValNum::Var);
    let texts = [
        "",
        "twelve bytes",
        "thirteen byte",
        "ä",
        "a string that no view holds by itself",
        "a string that no view holds",
    ];
    let cells: Vec<Option<&str>> = texts.into_iter().map(Some).chain([None]).collect();
    write(&array, cells.len(), WriteColumn::optional_strings(cells.iter().copied()));
    let query = array.open().read().select(["a"]).unwrap().order(Order::RowMajor);
    let conversion = tdb_arrow::Conversion::of(&query, &ArrowOptions::new().string_views()).unwrap();
    assert_eq!(conversion.schema().field(0).data_type(), &DataType::Utf8View);
    let batch = query.batches().unwrap().next().unwrap().unwrap();
    for cells_of in [0..7, 2..7, 4..5, 6..7, 3..3] {
        let part = batch.slice(cells_of.clone());
        let arrow = conversion.record_batch(part.clone()).unwrap();
        let views = arrow.column(0).as_string_view();
        assert_eq!(views.iter().collect::<Vec<_>>(), cells[cells_of]);
        assert_eq!(views.data_buffers()[0].as_ptr(), part.columns()[0].bytes().as_ptr());
    }
    // Binary and the values of enumerations do not become views.
    let binary = read(&array, &ArrowOptions::new().string_views().strings_as_binary());
    assert_eq!(binary.data_type(), &DataType::LargeBinary);
    let colours = Enumeration::strings("colours", "", Datatype::StringUtf8, ["red"]).unwrap();
    let array = of_attribute(Attribute::new("a", Datatype::UInt8).with_enumeration("colours"), Some(colours));
    write(&array, 1, WriteColumn::values(&[0u8]));
    let dictionary = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
    assert_eq!(read(&array, &ArrowOptions::new().string_views()).data_type(), &dictionary);
}

#[test]
fn views_of_null_cells_are_empty() {
    let array = nullable(Datatype::StringUtf8, CellValNum::Var);
    write(&array, 3, WriteColumn::strings([&b"ok"[..], b"\xff bytes of a null cell", b"x"]).with_validity(&[0b101]));
    let views = read(&array, &ArrowOptions::new().string_views());
    assert_eq!(views.as_string_view().iter().collect::<Vec<_>>(), [Some("ok"), None, Some("x")]);
    views.to_data().validate_full().unwrap();
}
