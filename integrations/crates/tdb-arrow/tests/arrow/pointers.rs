//! Conversions share memory instead of copying it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, TimestampNanosecondType, UInt16Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader as _};
use tdb_arrow::tdb_array::tdb_schema::{Attribute, Enumeration};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::tdb_array::{Batch, Order, WriteColumn};
use tdb_arrow::{ArrowOptions, Conversion, Reader};

use crate::support::{InMemory, of_attribute, write};

/// Returns the column `a` of the only batch, before and after conversion.
fn read(array: &InMemory) -> (Batch, ArrayRef) {
    let query = array.open().read().order(Order::RowMajor);
    let conversion = Conversion::of(&query, &ArrowOptions::new()).unwrap();
    let batch = query.batches().unwrap().next().unwrap().unwrap();
    let record_batch = conversion.record_batch(batch.clone()).unwrap();
    (batch, record_batch.column_by_name("a").unwrap().clone())
}

fn var(datatype: Datatype) -> Attribute {
    Attribute::new("a", datatype).with_cell_val_num(CellValNum::Var)
}

#[test]
fn numbers_and_validity_are_shared() {
    let array = of_attribute(Attribute::new("a", Datatype::Float64).nullable(false), None);
    write(&array, 3, WriteColumn::options([Some(1.5), None, Some(-0.0)]));
    let (batch, arrow) = read(&array);
    let column = batch.column("a").unwrap();
    let floats = arrow.as_primitive::<Float64Type>();
    assert_eq!(floats.values().as_ptr(), column.values::<f64>().unwrap().as_ptr());
    assert_eq!(arrow.nulls().unwrap().inner().values().as_ptr(), column.validity().unwrap().as_ptr());
    assert_eq!(floats.iter().collect::<Vec<_>>(), [Some(1.5), None, Some(-0.0)]);

    let array = of_attribute(Attribute::new("a", Datatype::DatetimeNs), None);
    write(&array, 2, WriteColumn::values(&[7i64, i64::MIN]));
    let (batch, arrow) = read(&array);
    let times = arrow.as_primitive::<TimestampNanosecondType>().values();
    assert_eq!(times.as_ptr(), batch.column("a").unwrap().values::<i64>().unwrap().as_ptr());
}

#[test]
fn strings_binary_and_lists_are_shared() {
    let array = of_attribute(var(Datatype::StringUtf8), None);
    write(&array, 3, WriteColumn::strings(["ä", "", "bc"]));
    let (batch, arrow) = read(&array);
    let (column, strings) = (batch.column("a").unwrap(), arrow.as_string::<i64>());
    assert_eq!(strings.values().as_ptr(), column.bytes().as_ptr());
    assert_eq!(strings.value_offsets().as_ptr().cast::<u64>(), column.offsets().unwrap().as_ptr());
    assert_eq!(strings.iter().flatten().collect::<Vec<_>>(), ["ä", "", "bc"]);

    let array = of_attribute(var(Datatype::UInt16), None);
    write(&array, 2, WriteColumn::values(&[1u16, 2, 3]).with_offsets(&[0, 2, 3]));
    let (batch, arrow) = read(&array);
    let (column, list) = (batch.column("a").unwrap(), arrow.as_list::<i64>());
    assert_eq!(list.value_offsets().as_ptr().cast::<u64>(), column.offsets().unwrap().as_ptr());
    let values = list.values().as_primitive::<UInt16Type>().values();
    assert_eq!(values.as_ptr(), column.values::<u16>().unwrap().as_ptr());

    let pairs = Attribute::new("a", Datatype::Int32).with_cell_val_num(CellValNum::Fixed(2.try_into().unwrap()));
    let array = of_attribute(pairs, None);
    write(&array, 2, WriteColumn::values(&[1i32, 2, 3, 4]));
    let (batch, arrow) = read(&array);
    let values = arrow.as_fixed_size_list().values().as_primitive::<Int32Type>().values();
    assert_eq!(values.as_ptr(), batch.column("a").unwrap().values::<i32>().unwrap().as_ptr());

    let three = Attribute::new("a", Datatype::Blob).with_cell_val_num(CellValNum::Fixed(3.try_into().unwrap()));
    let array = of_attribute(three, None);
    write(&array, 2, WriteColumn::bytes(b"abcdef"));
    let (batch, arrow) = read(&array);
    assert_eq!(arrow.as_fixed_size_binary().value(0).as_ptr(), batch.column("a").unwrap().bytes().as_ptr());
}

#[test]
fn positions_are_the_keys() {
    let colours = Enumeration::strings("colours", "", Datatype::StringUtf8, ["red", "green"]).unwrap().ordered();
    let array = of_attribute(Attribute::new("a", Datatype::Int8).with_enumeration("colours"), Some(colours));
    write(&array, 4, WriteColumn::values(&[1i8, 0, -1, 2]));
    let (batch, arrow) = read(&array);
    let dictionary = arrow.as_dictionary::<Int8Type>();
    assert_eq!(dictionary.keys().values().as_ptr(), batch.column("a").unwrap().values::<i8>().unwrap().as_ptr());
    let values = dictionary.downcast_dict::<arrow_array::StringArray>().unwrap();
    assert_eq!(values.into_iter().collect::<Vec<_>>(), [Some("green"), Some("red"), None, None]);

    // The other direction also borrows, and keeps all properties.
    let open = array.open();
    let reader = Reader::new(open.read(), &ArrowOptions::new()).unwrap();
    assert_eq!(reader.schema().field_with_name("a").unwrap().dict_is_ordered(), Some(true));
    let record_batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let cells = tdb_arrow::cells(&record_batches[0], &open).unwrap();
    assert_eq!(format!("{cells:?}").matches("validity: None").count(), 2, "{cells:?}");
}

#[test]
fn slices_of_batches_are_shared_too() {
    let array = of_attribute(var(Datatype::StringAscii).nullable(false), None);
    write(&array, 20, WriteColumn::optional_strings((0..20).map(|cell| (cell % 3 > 0).then(|| format!("s{cell}")))));
    let query = array.open().read().order(Order::RowMajor);
    let conversion = Conversion::of(&query, &ArrowOptions::new()).unwrap();
    let batch = query.batches().unwrap().next().unwrap().unwrap();
    for (start, end) in [(0, 20), (3, 17), (8, 16), (5, 5), (19, 20)] {
        let slice = batch.slice(start..end);
        let arrow = conversion.record_batch(slice.clone()).unwrap();
        let strings = arrow.column(1).as_string::<i64>();
        assert_eq!(strings.values().as_ptr(), slice.column("a").unwrap().bytes().as_ptr());
        let expected = (start..end).map(|cell| (cell % 3 > 0).then(|| format!("s{cell}")));
        assert!(strings.iter().map(|cell| cell.map(str::to_owned)).eq(expected));
    }
}
