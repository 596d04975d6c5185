//! Columns with enumerations: their dictionaries have room for being merged, and positions that no value has are null.

use std::path::Path;
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
use tdb_datafusion::tdb_array::tdb_types::{Datatype, Scalar};
use tdb_datafusion::tdb_array::{Array, CreateOptions, Names, NewCells, NewColumn};
use tdb_datafusion::{Opener, ScanPieces, TableOptions};

use crate::support::{local, local_with, rows, run, scans, sorted};

/// An array with an attribute of this type, of an enumeration with these values, and cells with these positions.
fn array(path: &Path, datatype: Datatype, enumeration: Enumeration, column: NewColumn<'_>, cells: i32) {
    let x = Dimension::new("x", Datatype::Int32, Scalar::I32(0), Scalar::I32(9999)).with_tile_extent(Scalar::I32(100));
    let schema = SchemaBuilder::sparse()
        .dimension(x)
        .attribute(Attribute::new("e", datatype).with_enumeration("values"))
        .enumeration(EnumerationRef::unplaced("values"))
        .build()
        .unwrap();
    let definition = ArrayDefinition::new(schema).unwrap().with_enumeration(enumeration).unwrap();
    CreateOptions::new().create(path, &definition).unwrap();
    let x: Vec<i32> = (0..cells).collect();
    Array::open(path).unwrap().write().cells(NewCells::new().with("x", &x).with("e", column)).unwrap();
}

fn strings(values: &[String]) -> Enumeration {
    Enumeration::strings("values", "", Datatype::StringUtf8, values).unwrap()
}

#[test]
fn dictionaries_of_two_scans_merge_though_positions_are_small() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        let values: Vec<String> = (0..127).map(|value| format!("value {value}")).collect();
        let positions: Vec<i8> = (0..127).cycle().take(1270).collect();
        array(&path, Datatype::Int8, strings(&values), NewColumn::values(&positions), 1270);
        let session = local_with(TableOptions::new().partitions(2));
        let sql = format!("SELECT e, x FROM '{}'", path.display());
        let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
        let bytes = scans(&plan)[0].pieces().unwrap().to_bytes();
        // Each executor opens the array and reads the enumeration for itself.
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
    });
}

#[test]
fn positions_of_each_type_are_values_or_null() {
    run(async {
        let values: Vec<String> = ["b", "a", ""].map(str::to_owned).to_vec();
        macro_rules! positions {
            ($datatype:ident, $type:ty) => {
                (Datatype::$datatype, NewColumn::values(&[0 as $type, 1, 2, 3, <$type>::MAX, <$type>::MIN]))
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
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("array");
            array(&path, datatype, strings(&values), column, 6);
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
    });
}

#[test]
fn ordered_ones_compare_as_their_values_do_in_sql() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        let values: Vec<String> = ["low", "middle", "high"].map(str::to_owned).to_vec();
        array(&path, Datatype::UInt8, strings(&values).ordered(), NewColumn::values(&[0u8, 1, 2, 2]), 4);
        let session = local(1);
        let ask = async |whether: &str| {
            sorted(rows(&session, &format!("SELECT x FROM '{}' WHERE {whether}", path.display())).await.unwrap())
        };
        // SQL knows strings: 'high' < 'low' < 'middle'.
        assert_eq!(ask("e < 'low'").await, ["2", "3"]);
        assert_eq!(ask("e >= 'low'").await, ["0", "1"]);
        let sql = format!("SELECT min(e), max(e), count(DISTINCT e) FROM '{}'", path.display());
        assert_eq!(rows(&session, &sql).await.unwrap(), ["high | middle | 3"]);
        // More values come, and rows with them.
        let evolution = SchemaEvolution::new().extend_enumeration("values", ["more"]);
        Array::open(&path).unwrap().evolve(&evolution, &Names::new()).unwrap();
        rows(&session, &format!("INSERT INTO '{}' VALUES (7, 'more'), (8, NULL)", path.display())).await.unwrap();
        assert_eq!(ask("e = 'more'").await, ["7"]);
        assert_eq!(ask("e IS NULL").await, ["8"]);
        let error = rows(&session, &format!("INSERT INTO '{}' VALUES (9, 'most')", path.display())).await.unwrap_err();
        assert!(error.to_string().contains("most"), "{error}");
    });
}
