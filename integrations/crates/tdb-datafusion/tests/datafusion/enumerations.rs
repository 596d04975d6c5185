//! Columns with enumerations: dictionary keys are wide enough for merging, and positions without a
//! value are null.

use std::path::PathBuf;
use std::sync::Arc;

use tdb_datafusion::datafusion::arrow::array::{Array as _, AsArray, RecordBatch};
use tdb_datafusion::datafusion::arrow::compute::concat_batches;
use tdb_datafusion::datafusion::arrow::datatypes::DataType;
use tdb_datafusion::datafusion::datasource::MemTable;
use tdb_datafusion::datafusion::datasource::source::DataSourceExec;
use tdb_datafusion::datafusion::physical_plan::collect;
use tdb_datafusion::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution,
};
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_datafusion::{Opener, ScanPieces, TableOptions};
use tempfile::TempDir;

use crate::support::{local, local_with, rows, run, scans, sorted};

/// Creates an array with an attribute of this datatype and enumeration, and cells with these
/// positions.
fn array(datatype: Datatype, enumeration: Enumeration, column: WriteColumn<'_>, cells: i32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let x = Dimension::new("x", 0i32..=9999).with_tile(100);
    let schema = SchemaBuilder::sparse()
        .dimension(x)
        .attribute(Attribute::new("e", datatype).with_enumeration("values"))
        .enumeration(EnumerationRef::unplaced("values"))
        .build()
        .unwrap();
    let definition = ArrayDefinition::new(schema).unwrap().with_enumeration(enumeration).unwrap();
    CreateOptions::new().create(&path, &definition).unwrap();
    let x: Vec<i32> = (0..cells).collect();
    Array::open(&path).unwrap().write().cells(WriteBatch::new().with("x", &x).with("e", column)).unwrap();
    (folder, path)
}

fn strings(values: &[String]) -> Enumeration {
    Enumeration::strings("values", "", Datatype::StringUtf8, values).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn dictionaries_of_two_scans_merge_despite_narrow_positions() {
    let values: Vec<String> = (0..127).map(|value| format!("value {value}")).collect();
    let positions: Vec<i8> = (0..127).cycle().take(1270).collect();
    let (_folder, path) = array(Datatype::Int8, strings(&values), WriteColumn::values(&positions), 1270);
    let session = local_with(TableOptions::new().partitions(2));
    let sql = format!("SELECT e, x FROM '{}'", path.display());
    let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
    let bytes = scans(&plan)[0].pieces().unwrap().to_bytes();
    // Each executor opens the array and reads the enumeration separately.
    let mut all: Vec<RecordBatch> = Vec::new();
    for _ in 0..2 {
        let scan = ScanPieces::from_bytes(&bytes).unwrap().scan(&Opener::local()).unwrap();
        all.extend(collect(DataSourceExec::from_data_source(scan), session.task_ctx()).await.unwrap());
    }
    let [first, .., last] = &all[..] else { panic!("{}", all.len()) };
    let of = |batch: &RecordBatch| batch.column(0).as_any_dictionary().values().to_data();
    assert!(!of(first).ptr_eq(&of(last)), "they would be one dictionary");
    let schema = first.schema();
    let key = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    assert_eq!(schema.field(0).data_type(), &key);
    let merged = concat_batches(&schema, &all).unwrap();
    assert_eq!(merged.num_rows(), 2540);
    let memory = local(1);
    memory.register_table("t", Arc::new(MemTable::try_new(schema, vec![vec![merged], all]).unwrap())).unwrap();
    let counted = rows(&memory, "SELECT count(DISTINCT e), count(e), min(e), max(e) FROM t").await.unwrap();
    assert_eq!(counted, ["127 | 5080 | value 0 | value 99"]);
    let groups = rows(&memory, "SELECT e, count(*) FROM t GROUP BY e").await.unwrap();
    assert_eq!(groups.len(), 127);
    assert!(groups.iter().all(|group| group.ends_with(" | 40")), "{groups:?}");
    let joined = rows(&memory, "SELECT count(*) FROM t a JOIN t b ON a.e = b.e AND a.x = b.x").await.unwrap();
    assert_eq!(joined, [(4 * 4 * 1270).to_string()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn positions_of_each_type_are_values_or_null() {
    let values: Vec<String> = ["b", "a", ""].map(str::to_owned).to_vec();
    macro_rules! positions {
        ($datatype:ident, $type:ty) => {
            (Datatype::$datatype, WriteColumn::values(&[0 as $type, 1, 2, 3, <$type>::MAX, <$type>::MIN]))
        };
    }
    for (datatype, column) in [
        positions!(Int8, i8),
        positions!(UInt8, u8),
        positions!(Int16, i16),
        positions!(UInt16, u16),
        positions!(Int32, i32),
        positions!(UInt32, u32),
        positions!(Int64, i64),
        positions!(UInt64, u64),
    ] {
        let (_folder, path) = array(datatype, strings(&values), column, 6);
        let session = local(1);
        let least = if datatype.name().starts_with('u') { "b" } else { "NULL" };
        let all = rows(&session, &format!("SELECT e FROM '{}' ORDER BY x", path.display())).await.unwrap();
        assert_eq!(all, ["b", "a", "(empty)", "NULL", "NULL", least], "{datatype}");
        let none = rows(&session, &format!("SELECT x FROM '{}' WHERE e IS NULL", path.display())).await.unwrap();
        let wanted = if least == "b" { vec!["3", "4"] } else { vec!["3", "4", "5"] };
        assert_eq!(sorted(none), wanted, "{datatype}");
        let some = rows(&session, &format!("SELECT x FROM '{}' WHERE e <> 'a'", path.display())).await.unwrap();
        let wanted = if least == "b" { vec!["0", "2", "5"] } else { vec!["0", "2"] };
        assert_eq!(sorted(some), wanted, "{datatype}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ordered_enumerations_compare_by_value_in_sql() {
    let values: Vec<String> = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let (_folder, path) = array(Datatype::UInt8, strings(&values).ordered(), WriteColumn::values(&[0u8, 1, 2, 2]), 4);
    let session = local(1);
    let ask = async |whether: &str| {
        sorted(rows(&session, &format!("SELECT x FROM '{}' WHERE {whether}", path.display())).await.unwrap())
    };
    // SQL compares strings: 'high' < 'low' < 'middle'.
    assert_eq!(ask("e < 'low'").await, ["2", "3"]);
    assert_eq!(ask("e >= 'low'").await, ["0", "1"]);
    let sql = format!("SELECT min(e), max(e), count(DISTINCT e) FROM '{}'", path.display());
    assert_eq!(rows(&session, &sql).await.unwrap(), ["high | middle | 3"]);
    // Adds a value, and rows with it.
    let evolution = SchemaEvolution::new().extend_enumeration("values", ["more"]);
    Array::open(&path).unwrap().evolve(&evolution, &WriteIds::new()).unwrap();
    rows(&session, &format!("INSERT INTO '{}' VALUES (7, 'more'), (8, NULL)", path.display())).await.unwrap();
    assert_eq!(ask("e = 'more'").await, ["7"]);
    assert_eq!(ask("e IS NULL").await, ["8"]);
    let error = rows(&session, &format!("INSERT INTO '{}' VALUES (9, 'most')", path.display())).await.unwrap_err();
    assert!(error.to_string().contains("most"), "{error}");
}

/// Creates enumerations of three values for every datatype: single values, pairs, and variable
/// length.
fn of_every_type() -> Vec<(String, Enumeration)> {
    let mut all = Vec::new();
    for datatype in Datatype::ALL.iter().copied().filter(|datatype| *datatype != Datatype::Any) {
        let is_date = datatype.is_datetime() || datatype.is_time();
        let value = |number: u8| {
            let mut bytes = vec![0; datatype.size()];
            bytes[0] = if datatype == Datatype::Bool { number % 2 } else { number + if is_date { 0 } else { 64 } };
            bytes
        };
        let count = if datatype == Datatype::Bool { 2 } else { 3 };
        let numbers: Vec<u8> = (0..count).collect();
        let one: Vec<u8> = numbers.iter().flat_map(|number| value(*number)).collect();
        let two: Vec<u8> = numbers.iter().flat_map(|number| [value(*number), value(0)].concat()).collect();
        let any: Vec<Vec<u8>> = numbers.iter().map(|number| value(*number).repeat(usize::from(*number))).collect();
        let fixed = Enumeration::fixed("values", "", datatype, one).unwrap();
        let pairs = Enumeration::fixed("values", "", datatype, two);
        let pairs = pairs.and_then(|pairs| pairs.with_values_per_value(2.try_into().unwrap()));
        all.push((format!("{datatype} as one"), fixed));
        all.extend(pairs.map(|pairs| (format!("{datatype} as two"), pairs)));
        all.extend(Enumeration::strings("values", "", datatype, any).map(|any| (format!("{datatype} as any"), any)));
    }
    assert!(all.len() > 80, "{}", all.len());
    all
}

#[test]
fn enumerations_of_every_type_are_grouped_compared_and_joined() {
    for (what, enumeration) in of_every_type() {
        let count = enumeration.len();
        // Each value twice, and two positions without a value.
        let positions: Vec<u8> = (0..count as u8).chain(0..count as u8).chain([100, 255]).collect();
        let (_folder, path) =
            array(Datatype::UInt8, enumeration, WriteColumn::values(&positions), positions.len() as i32);
        run(async {
            let session = local_with(TableOptions::new().partitions(2));
            let ask = async |sql: &str| {
                let sql = sql.replace("AT", &format!("'{}'", path.display()));
                rows(&session, &sql).await.unwrap_or_else(|error| panic!("{what}: {sql}: {error}"))
            };
            assert_eq!(ask("SELECT e FROM AT").await.len(), 2 * count + 2, "{what}");
            assert_eq!(ask("SELECT DISTINCT e FROM AT").await.len(), count + 1, "{what}");
            let groups = ask("SELECT e, count(*) FROM AT GROUP BY e").await;
            assert!(
                groups.len() == count + 1 && groups.iter().all(|group| group.ends_with(" | 2")),
                "{what}: {groups:?}"
            );
            assert_eq!(
                ask("SELECT count(e), count(DISTINCT e) FROM AT").await,
                [format!("{} | {count}", 2 * count)],
                "{what}"
            );
            let joined = ask("SELECT count(*) FROM AT AS a JOIN AT AS b ON a.e = b.e").await;
            assert_eq!(joined, [(4 * count).to_string()], "{what}");
            assert_eq!(ask("SELECT count(*) FROM AT WHERE e IS NULL").await, ["2"], "{what}");
            assert_eq!(ask("SELECT e FROM AT ORDER BY e, x LIMIT 3").await.len(), 3, "{what}");
            assert_eq!(ask("SELECT x FROM AT WHERE e = (SELECT e FROM AT WHERE x = 1)").await.len(), 2, "{what}");
            assert_eq!(
                ask("SELECT x FROM AT WHERE e <> (SELECT e FROM AT WHERE x = 1)").await.len(),
                2 * count - 2,
                "{what}"
            );
            assert_eq!(ask("SELECT x FROM AT WHERE e IN (SELECT e FROM AT WHERE x < 2)").await.len(), 4, "{what}");
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boolean_enumerations_are_booleans() {
    let enumeration = Enumeration::fixed("values", "", Datatype::Bool, vec![1u8, 0]).unwrap();
    let (_folder, path) = array(Datatype::Int8, enumeration, WriteColumn::values(&[0i8, 1, 0, 7, -1]), 5);
    let session = local(1);
    let ask =
        async |sql: &str| sorted(rows(&session, &sql.replace("AT", &format!("'{}'", path.display()))).await.unwrap());
    assert_eq!(ask("SELECT x FROM AT WHERE e").await, ["0", "2"]);
    assert_eq!(ask("SELECT x FROM AT WHERE e = true").await, ["0", "2"]);
    assert_eq!(ask("SELECT x FROM AT WHERE NOT e").await, ["1"]);
    assert_eq!(ask("SELECT x FROM AT WHERE e IS NOT TRUE").await, ["1", "3", "4"]);
    assert_eq!(ask("SELECT e, count(*) FROM AT GROUP BY e").await, ["NULL | 2", "false | 1", "true | 2"]);
    let plan = rows(&session, &format!("EXPLAIN SELECT x FROM '{}' WHERE NOT e", path.display())).await.unwrap();
    assert!(!plan.join("\n").contains("FilterExec"), "{plan:?}");
    rows(&session, &format!("INSERT INTO '{}' VALUES (7, false), (8, NULL)", path.display())).await.unwrap();
    assert_eq!(ask("SELECT x FROM AT WHERE NOT e").await, ["1", "7"]);
    let none = Enumeration::fixed("values", "", Datatype::Bool, Vec::new()).unwrap();
    let (_empty, empty) = array(Datatype::UInt8, none, WriteColumn::values(&[0u8, 255]), 2);
    let sql = format!("SELECT e, count(*) FROM '{}' GROUP BY e", empty.display());
    assert_eq!(rows(&session, &sql).await.unwrap(), ["NULL | 2"]);
}
