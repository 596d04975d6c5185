//! Cells of any type survive a round trip through Arrow.

use arrow_array::RecordBatch;
use proptest::prelude::*;
use tdb_arrow::tdb_array::tdb_schema::{Attribute, Enumeration};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::tdb_array::{Order, WriteColumn};
use tdb_arrow::{ArrowOptions, Reader};

use crate::support::{InMemory, of_attribute, write};

/// A column of cells, and its attribute.
#[derive(Clone, Debug)]
struct Case {
    datatype: Datatype,
    number: Option<u32>,
    nullable: bool,
    /// Bytes of each cell. `None` for null.
    cells: Vec<Option<Vec<u8>>>,
    small: bool,
}

/// Generates a value that both sides can represent.
fn value(datatype: Datatype) -> BoxedStrategy<Vec<u8>> {
    let days = |most: i64| {
        let no_time = Just(i64::MIN);
        prop_oneof![9 => -most..most, 1 => no_time].prop_map(|value| value.to_le_bytes().to_vec()).boxed()
    };
    match datatype {
        Datatype::Bool => (0..2u8).prop_map(|value| vec![value]).boxed(),
        Datatype::StringAscii | Datatype::StringUtf8 | Datatype::GeomWkt => {
            (0..128u8).prop_map(|value| vec![value]).boxed()
        }
        Datatype::DatetimeYear => days(5_000_000),
        Datatype::DatetimeMonth => days(60_000_000),
        Datatype::DatetimeWeek => days(300_000_000),
        Datatype::DatetimeDay | Datatype::TimeSec | Datatype::TimeMs => days(i64::from(i32::MAX)),
        Datatype::DatetimeHr | Datatype::DatetimeMin => days(i64::MAX / 3600),
        Datatype::TimeHr | Datatype::TimeMin => days(i64::from(i32::MAX) / 3600),
        datatype if datatype.is_datetime() || datatype.is_time() => days(i64::MAX),
        datatype => proptest::collection::vec(any::<u8>(), datatype.size()).boxed(),
    }
}

fn case() -> impl Strategy<Value = Case> {
    let datatype = proptest::sample::select(Datatype::ALL);
    let number = prop_oneof![Just(Some(1)), Just(None), (2..5u32).prop_map(Some)];
    (datatype, number, any::<bool>(), any::<bool>()).prop_flat_map(|(datatype, number, nullable, small)| {
        let number = if datatype == Datatype::Any { None } else { number };
        let values = number.map_or(0..6, |number| number as usize..number as usize + 1);
        let cell = proptest::collection::vec(value(datatype), values).prop_map(|values| values.concat());
        let cell = (cell, prop::bool::weighted(0.2)).prop_map(move |(cell, null)| (!nullable || !null).then_some(cell));
        proptest::collection::vec(cell, 1..40).prop_map(move |cells| Case { datatype, number, nullable, cells, small })
    })
}

/// Converts the cells to a column to write.
fn column(case: &Case) -> WriteColumn<'static> {
    let size = case.datatype.size();
    let null = vec![0; size * case.number.unwrap_or(0) as usize];
    let (mut values, mut ends, mut bits) = (Vec::new(), vec![0], vec![0u8; case.cells.len().div_ceil(8)]);
    for (index, cell) in case.cells.iter().enumerate() {
        bits[index / 8] |= u8::from(cell.is_some()) << (index % 8);
        values.extend_from_slice(cell.as_ref().unwrap_or(&null));
        ends.push((values.len() / size) as u64);
    }
    WriteColumn::owned(values, case.number.is_none().then_some(ends), case.nullable.then_some(bits))
}

/// Reads the cells of `a` in order.
fn cells_of(array: &InMemory) -> Vec<Option<Vec<u8>>> {
    let batches = array.open().read().select(["a"]).unwrap().order(Order::RowMajor).batches().unwrap();
    let of_batch = |batch: tdb_arrow::tdb_array::Batch| {
        let column = &batch.columns()[0];
        (0..column.len()).map(|cell| column.cell(cell).map(<[u8]>::to_vec)).collect::<Vec<_>>()
    };
    batches.flat_map(|batch| of_batch(batch.unwrap())).collect()
}

/// `true` if a cell is "no time" in a nullable field, which Arrow reads as null.
fn becomes_null(case: &Case, cell: &[u8]) -> bool {
    let is_time = case.datatype.is_datetime() || case.datatype.is_time();
    is_time && case.nullable && case.number == Some(1) && cell == i64::MIN.to_le_bytes()
}

/// Reads an array as Arrow, and writes the batches to a new array.
fn there_and_back(array: &InMemory, options: &ArrowOptions) -> InMemory {
    let open = array.open();
    let batches: Vec<RecordBatch> = Reader::new(open.read(), options).unwrap().map(Result::unwrap).collect();
    let copy = InMemory::new(&tdb_arrow::definition(batches[0].schema_ref()).unwrap(), None);
    for batch in &batches {
        let open = copy.open();
        open.write().cells(tdb_arrow::cells(batch, &open).unwrap()).unwrap();
    }
    copy
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn cells_of_any_type_survive_a_round_trip(case in case()) {
        let number = CellValNum::from_code(case.number.unwrap_or(CellValNum::VAR_CODE)).unwrap();
        let attribute = Attribute::new("a", case.datatype).with_cell_val_num(number);
        let attribute = if case.nullable { attribute.nullable(false) } else { attribute };
        let array = of_attribute(attribute, None);
        write(&array, case.cells.len(), column(&case));
        let options = if case.small { ArrowOptions::new().small_offsets() } else { ArrowOptions::new() };
        let expected: Vec<_> = case.cells.iter().map(|cell| cell.clone().filter(|cell| !becomes_null(&case, cell))).collect();
        let copy = there_and_back(&array, &options);
        prop_assert_eq!(cells_of(&copy), expected.clone());
        let copy = there_and_back(&array, &options.strings_as_binary());
        prop_assert_eq!(cells_of(&copy), expected);
    }

    #[test]
    fn positions_survive_a_round_trip(
        positions in proptest::collection::vec(any::<i8>(), 1..60),
        nulls in proptest::collection::vec(any::<bool>(), 60),
        nullable: bool,
        values in 0..100u32,
    ) {
        let texts = (0..values).map(|value| format!("v{value}"));
        let enumeration = Enumeration::strings("e", "", Datatype::StringUtf8, texts).unwrap();
        let attribute = Attribute::new("a", Datatype::Int8).with_enumeration("e");
        let array = of_attribute(if nullable { attribute.nullable(false) } else { attribute }, Some(enumeration));
        let some = positions.iter().zip(&nulls).map(|(position, null)| (!nullable || !null).then_some(*position));
        let expected = some.clone().map(|position| {
            // Positions outside of the enumeration become null in a nullable field, and stay in
            // others.
            let is_null = |position: &i8| nullable && !(0..values as i32).contains(&i32::from(*position));
            position.filter(|position| !is_null(position)).map(|position| vec![position.cast_unsigned()])
        });
        let column = match nullable {
            true => WriteColumn::options(some.clone()),
            false => WriteColumn::values(&positions),
        };
        write(&array, positions.len(), column);
        let copy = there_and_back(&array, &ArrowOptions::new());
        prop_assert_eq!(cells_of(&copy), expected.collect::<Vec<_>>());
    }
}

#[test]
fn no_time_is_null_and_survives_a_round_trip() {
    let times = Datatype::ALL.iter().filter(|datatype| datatype.is_datetime() || datatype.is_time());
    for (datatype, nullable) in times.flat_map(|datatype| [(*datatype, false), (*datatype, true)]) {
        let attribute = Attribute::new("a", datatype);
        let array = of_attribute(if nullable { attribute.nullable(false) } else { attribute }, None);
        write(&array, 3, WriteColumn::values(&[1i64, i64::MIN, 2]));
        let batch = Reader::new(array.open().read(), &ArrowOptions::new()).unwrap().next().unwrap().unwrap();
        assert!(batch.column(1).is_null(1) && batch.column(1).null_count() == 1, "{datatype}");
        let back = cells_of(&there_and_back(&array, &ArrowOptions::new()));
        let none = (!nullable).then(|| i64::MIN.to_le_bytes().to_vec());
        assert_eq!(back[1], none, "{datatype}");
    }
}
