//! Array definitions from Arrow schemas.

use std::sync::Arc;

use arrow_array::types::Int16Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader as _, StringViewArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use tdb_arrow::tdb_array::Order;
use tdb_arrow::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::{ArrowOptions, Error, NewArray, Reader, SCHEMA_KEY, definition, schema};

use crate::support::{InMemory, of_attribute};

fn dimension() -> Dimension {
    Dimension::new("d", 0i32..=99)
}

#[test]
fn attributes_support_all_suitable_types() {
    let item = |data_type| Arc::new(Field::new("item", data_type, false));
    let one = CellValNum::ONE;
    let three = CellValNum::Fixed(3.try_into().unwrap());
    let rows = [
        (DataType::Boolean, Datatype::Bool, one),
        (DataType::UInt8, Datatype::UInt8, one),
        (DataType::Float64, Datatype::Float64, one),
        (DataType::Date32, Datatype::DatetimeDay, one),
        (DataType::Date64, Datatype::DatetimeMs, one),
        (DataType::Timestamp(TimeUnit::Second, None), Datatype::DatetimeSec, one),
        (DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Rome".into())), Datatype::DatetimeNs, one),
        (DataType::Time32(TimeUnit::Second), Datatype::TimeSec, one),
        (DataType::Time32(TimeUnit::Millisecond), Datatype::TimeMs, one),
        (DataType::Time64(TimeUnit::Microsecond), Datatype::TimeUs, one),
        (DataType::Duration(TimeUnit::Nanosecond), Datatype::TimeNs, one),
        (DataType::Utf8, Datatype::StringUtf8, CellValNum::Var),
        (DataType::LargeUtf8, Datatype::StringUtf8, CellValNum::Var),
        (DataType::Utf8View, Datatype::StringUtf8, CellValNum::Var),
        (DataType::Binary, Datatype::Blob, CellValNum::Var),
        (DataType::BinaryView, Datatype::Blob, CellValNum::Var),
        (DataType::FixedSizeBinary(3), Datatype::Blob, three),
        (DataType::FixedSizeList(item(DataType::Int16), 3), Datatype::Int16, three),
        (DataType::List(item(DataType::Date32)), Datatype::DatetimeDay, CellValNum::Var),
        (DataType::LargeList(item(DataType::Boolean)), Datatype::Bool, CellValNum::Var),
    ];
    for (data_type, datatype, number) in rows {
        let arrow =
            Schema::new(vec![Field::new("d", DataType::Int32, false), Field::new("a", data_type.clone(), true)]);
        let made = NewArray::new(SchemaBuilder::sparse()).dimension(dimension()).definition(&arrow).unwrap();
        let attribute = &made.schema().attributes()[0];
        let found = (attribute.datatype(), attribute.cell_val_num(), attribute.is_nullable());
        assert_eq!(found, (datatype, number, true), "{data_type}");
        // The new array accepts cells of that schema.
        let array = InMemory::new(&made, None).open();
        let columns = arrow.fields().iter().map(|field| arrow_array::new_empty_array(field.data_type())).collect();
        let empty = RecordBatch::try_new(Arc::new(arrow), columns).unwrap();
        assert_eq!(array.write().cells(tdb_arrow::cells(&empty, &array).unwrap()).unwrap().cells, 0, "{data_type}");
    }
}

#[test]
fn dictionaries_become_enumerations() {
    let colours: DictionaryArray<Int16Type> = [Some("red"), Some("blue"), None, Some("red")].into_iter().collect();
    let places: ArrayRef = Arc::new(Int32Array::from(vec![4, 3, 2, 1]));
    let colour = Field::new("colour", colours.data_type().clone(), true).with_dict_is_ordered(true);
    let arrow = Arc::new(Schema::new(vec![Field::new("d", DataType::Int32, false), colour]));
    let batch = RecordBatch::try_new(arrow.clone(), vec![places.clone(), Arc::new(colours)]).unwrap();
    let mut new = NewArray::new(SchemaBuilder::sparse()).dimension(dimension());
    new.add_dictionaries(&batch).unwrap();
    let made = new.definition(&arrow).unwrap();
    let enumeration = made.enumeration("colour").unwrap();
    assert!(enumeration.is_ordered() && made.schema().attributes()[0].datatype() == Datatype::Int16);
    assert_eq!(enumeration.values().collect::<Vec<_>>(), [b"red" as &[u8], b"blue"]);

    let memory = InMemory::new(&made, None);
    let array = memory.open();
    array.write().cells(tdb_arrow::cells(&batch, &array).unwrap()).unwrap();
    // The same values as plain strings, and as a dictionary in another order.
    let array = memory.open();
    let texts: ArrayRef = Arc::new(StringViewArray::from(vec![Some("blue"), None, Some("red"), Some("blue")]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("d", places.clone(), false), ("colour", texts, true)]).unwrap();
    let again = Int32Array::from(vec![14, 13, 12, 11]);
    let other: DictionaryArray<Int16Type> = [Some("blue"), None, Some("red"), Some("blue")].into_iter().collect();
    array.write().cells(tdb_arrow::cells(&batch, &array).unwrap()).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("d", Arc::new(again) as ArrayRef, false),
        ("colour", Arc::new(other), true),
    ]);
    let batch = batch.unwrap();
    array.write().cells(tdb_arrow::cells(&batch, &array).unwrap()).unwrap();
    let read = memory.open().read().order(Order::RowMajor);
    let batch = Reader::new(read, &ArrowOptions::new()).unwrap().next().unwrap().unwrap();
    let column = arrow_array::cast::AsArray::as_dictionary::<Int16Type>(batch.column(1));
    let texts: Vec<_> = column.downcast_dict::<arrow_array::StringArray>().unwrap().into_iter().collect();
    let half = [Some("blue"), Some("red"), None, Some("blue")];
    assert_eq!(texts, [half, half].concat());
}

#[test]
fn definition_keeps_only_present_fields() {
    let array = of_attribute(Attribute::new("a", Datatype::UInt8), None).open();
    let arrow = schema(&array, &ArrowOptions::new()).unwrap();
    assert_eq!(definition(&arrow).unwrap().schema(), array.schema().as_ref());
    let metadata = arrow.metadata().clone();
    let mut fields: Vec<_> = arrow.fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[1] = Field::new("b", DataType::Utf8, false);
    let changed = definition(&Schema::new_with_metadata(fields, metadata.clone())).unwrap();
    let names: Vec<_> = changed.schema().attributes().iter().map(Attribute::name).collect();
    assert_eq!((names, changed.schema().capacity()), (vec!["b"], array.schema().capacity()));
    let error = definition(&Schema::new_with_metadata(arrow.fields()[1..].to_vec(), metadata)).unwrap_err();
    assert!(matches!(&error, Error::MissingField { field, .. } if field == "d"), "{error}");

    let without = schema(&array, &ArrowOptions::new().without_definition()).unwrap();
    assert!(!without.metadata().contains_key(SCHEMA_KEY));
    assert!(matches!(definition(&without), Err(Error::NoDefinition)));
    let mut broken = without.metadata().clone();
    broken.insert(SCHEMA_KEY.to_owned(), "capacity = \"many\"".to_owned());
    let broken = Schema::new_with_metadata(without.fields().clone(), broken);
    assert!(matches!(definition(&broken), Err(Error::Definition { .. })));
}

#[test]
fn empty_readers_have_a_schema() {
    let array = of_attribute(Attribute::new("a", Datatype::Bool), None).open();
    let reader = Reader::new(array.read(), &ArrowOptions::new()).unwrap();
    assert_eq!(reader.schema().field(1).data_type(), &DataType::Boolean);
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 0);
}
