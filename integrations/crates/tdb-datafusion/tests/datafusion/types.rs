//! Every datatype, as attributes of one, two and variable values per cell, nullable and not.
//! SELECT, `=`, `<`, IS NULL, aggregates and GROUP BY agree with the cells that `tdb-array` reads.
//! Values without a SQL equivalent are errors with the column name.

mod cells;
mod told;

use std::collections::BTreeMap;
use std::path::Path;

use tdb_datafusion::TableOptions;
use tdb_datafusion::datafusion::arrow::array::RecordBatch;
use tdb_datafusion::datafusion::dataframe::DataFrame;
use tdb_datafusion::datafusion::functions_aggregate::expr_fn::{count, max, min};
use tdb_datafusion::datafusion::prelude::{Expr, SessionContext, col, lit};
use tdb_datafusion::datafusion::scalar::ScalarValue;
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, Order};

use crate::support::{local_with, run};
use cells::{NUMBERS, Number, ROWS};
use told::{Key, key, native, type_of};

/// A column with its cells as comparable keys. `None` for null.
struct Known {
    name: String,
    datatype: Datatype,
    number: Number,
    cells: Vec<Option<Key>>,
}

/// Reads the cells of all attributes with `tdb-array`, in the order of the dimension.
fn known(path: &Path, datatype: Datatype) -> Vec<Known> {
    let array = Array::open(path).unwrap();
    let names = array.schema().attributes().iter().map(|attribute| attribute.name().to_owned());
    let mut all: Vec<Known> = names
        .map(|name| {
            let number = NUMBERS.into_iter().find(|number| name.starts_with(number.name())).unwrap();
            Known { name, datatype, number, cells: Vec::new() }
        })
        .collect();
    for batch in array.read().order(Order::RowMajor).batches().unwrap() {
        let batch = batch.unwrap();
        for known in &mut all {
            let column = batch.column(&known.name).unwrap();
            known.cells.extend((0..batch.len()).map(|cell| key(datatype, known.number, column.cell(cell)?)));
        }
    }
    assert!(all.iter().all(|known| known.cells.len() == ROWS));
    all
}

async fn rows(frame: DataFrame) -> Vec<Vec<ScalarValue>> {
    let plan = frame.logical_plan().to_string();
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{plan}: {error}"));
    let row = |batch: &RecordBatch, row| {
        batch.columns().iter().map(|column| ScalarValue::try_from_array(column, row).unwrap()).collect()
    };
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|place| row(batch, place)).collect::<Vec<_>>()).collect()
}

/// Returns the coordinates of the remaining rows, in order.
async fn coordinates(frame: DataFrame) -> Vec<usize> {
    let found = rows(frame.select([col("x")]).unwrap()).await;
    let mut found: Vec<usize> = found.iter().map(|row| row[0].to_string().parse().unwrap()).collect();
    found.sort_unstable();
    found
}

/// Returns the indices of cells that satisfy a predicate.
fn places(known: &Known, wanted: impl Fn(Option<&Key>) -> bool) -> Vec<usize> {
    (0..ROWS).filter(|row| wanted(known.cells[*row].as_ref())).collect()
}

async fn check(session: &SessionContext, known: &Known) {
    let what = format!("{} as {}", known.datatype, known.name);
    let table = || async { session.table("t").await.unwrap() };
    let column = || col(known.name.as_str());
    let schema = table().await.schema().as_arrow().clone();
    let field = schema.field_with_name(&known.name).unwrap();
    assert_eq!(field.data_type(), &type_of(known.datatype, known.number), "{what}");
    // SELECT
    let selected = table().await.select([col("x"), column()]).unwrap().sort(vec![col("x").sort(true, true)]).unwrap();
    let values: Vec<ScalarValue> = rows(selected).await.into_iter().map(|mut row| row.remove(1)).collect();
    let keys: Vec<Option<Key>> = values.iter().map(native).collect();
    assert_eq!(keys, known.cells, "{what}");
    // Filters by the minimum, a middle value and the maximum.
    let mut sorted: Vec<&Key> = known.cells.iter().flatten().collect();
    sorted.sort();
    for wanted in [sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]] {
        let place = known.cells.iter().position(|cell| cell.as_ref() == Some(wanted)).unwrap();
        let value = || lit(values[place].clone());
        type Compare = fn(&Key, &Key) -> bool;
        let tests: [(&str, Expr, Compare); 4] = [
            ("=", column().eq(value()), |cell, wanted| cell == wanted),
            ("<", column().lt(value()), |cell, wanted| cell < wanted),
            (">=", column().gt_eq(value()), |cell, wanted| cell >= wanted),
            ("<>", column().not_eq(value()), |cell, wanted| cell != wanted),
        ];
        for (operator, test, is_true) in tests {
            let found = coordinates(table().await.filter(test).unwrap()).await;
            let expected = places(known, |cell| cell.is_some_and(|cell| is_true(cell, wanted)));
            assert_eq!(found, expected, "{what} {operator} {wanted:?}");
        }
    }
    let null = table().await.filter(column().is_null()).unwrap();
    assert_eq!(coordinates(null).await, places(known, |cell| cell.is_none()), "{what} IS NULL");
    let not_null = table().await.filter(column().is_not_null()).unwrap();
    assert_eq!(coordinates(not_null).await, places(known, |cell| cell.is_some()), "{what} IS NOT NULL");
    // Aggregates
    let aggregates = table().await.aggregate(vec![], vec![count(column()), min(column()), max(column())]).unwrap();
    let found = rows(aggregates).await.remove(0);
    assert_eq!(found[0], ScalarValue::Int64(Some(sorted.len() as i64)), "{what}");
    assert_eq!(
        [native(&found[1]).as_ref(), native(&found[2]).as_ref()],
        [sorted.first().copied(), sorted.last().copied()],
        "{what}"
    );
    // GROUP BY
    let grouped = table().await.aggregate(vec![column()], vec![count(lit(1))]).unwrap();
    let groups = rows(grouped).await.into_iter().map(|row| (native(&row[0]), row[1].to_string().parse().unwrap()));
    let mut wanted: BTreeMap<Option<Key>, usize> = BTreeMap::new();
    known.cells.iter().for_each(|cell| *wanted.entry(cell.clone()).or_default() += 1);
    let mut found = BTreeMap::new();
    groups.for_each(|(group, count)| assert!(found.insert(group, count).is_none(), "{what}: a group twice"));
    assert_eq!(found, wanted, "{what}");
}

/// Compares the columns of a datatype with native reads, and returns their number.
fn compare(datatype: Datatype) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    cells::write(&path, datatype);
    let known = known(&path, datatype);
    run(async {
        let session = local_with(TableOptions::new().partitions(2));
        let uri = path.to_str().unwrap();
        session.sql(&format!("CREATE VIEW t AS SELECT * FROM '{uri}'")).await.unwrap();
        for known in &known {
            check(&session, known).await;
        }
    });
    known.len()
}

#[test]
fn every_datatype_matches_native_reads() {
    let columns: usize = std::thread::scope(|scope| {
        let half = Datatype::ALL.len().div_ceil(2);
        let of_some = |some: &[Datatype]| some.iter().copied().map(compare).sum::<usize>();
        let running: Vec<_> = Datatype::ALL.chunks(half).map(|some| scope.spawn(move || of_some(some))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // All cell value numbers, nullable and not. `any` is always of variable length.
    assert_eq!(columns, 43 * 6 + 2);
}

/// Coordinates are never null. A coordinate without a SQL value is an error with the column name.
#[test]
fn coordinates_without_sql_value_name_the_column() {
    for (datatype, value) in [
        (Datatype::DatetimeYear, 6_000_000),
        (Datatype::DatetimeMonth, i64::MAX - 1),
        (Datatype::DatetimeWeek, 306_783_379),
        (Datatype::DatetimeDay, 1 << 31),
        (Datatype::DatetimeHr, 1 << 62),
        (Datatype::DatetimeMin, i64::MIN + 1),
        (Datatype::TimeHr, 1_000_000),
        (Datatype::TimeMs, 1 << 62),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        cells::write_one(&path, datatype, value);
        run(async {
            let session = local_with(TableOptions::new().partitions(1));
            let uri = path.to_str().unwrap();
            let asked =
                async |column: &str| crate::support::rows(&session, &format!("SELECT {column} FROM '{uri}'")).await;
            let error = asked("odd").await.unwrap_err().to_string();
            let words = "is out of range of the target";
            assert!(error.contains(words) && error.contains("odd") && error.contains(uri), "{datatype}: {error}");
            assert_eq!(asked("a").await.unwrap(), ["7"]);
        });
    }
}
