//! Compares random filters with DataFusion's own evaluation of every row. Bypasses the optimizer,
//! which never passes on NOT around AND or constants on the left.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::Int32Type;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr, in_list,
};
use datafusion::physical_plan::PhysicalExpr;
use datafusion::scalar::ScalarValue;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn};
use tdb_storage::{MemoryStorage, Storage};

use super::condition;
use crate::opened::Opened;
use crate::{TableOptions, TdbTable};

type Expr = Arc<dyn PhysicalExpr>;

/// Creates an array with a column of each kind.
fn array() -> Array {
    let x = Dimension::new("x", 0i32..=999).with_tile(10);
    let string = Attribute::new("s", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(x)
        .attribute(Attribute::new("n", Datatype::Int64).nullable(true))
        .attribute(Attribute::new("f", Datatype::Float64))
        .attribute(Attribute::new("b", Datatype::Bool))
        .attribute(Attribute::new("day", Datatype::DatetimeDay).nullable(true))
        .attribute(string.nullable(true))
        .attribute(Attribute::new("e", Datatype::UInt8).with_enumeration("values").nullable(true))
        .enumeration(EnumerationRef::unplaced("values"));
    let values = Enumeration::strings("values", "", Datatype::StringUtf8, ["b", "a", ""]).unwrap();
    let definition = ArrayDefinition::new(schema.build().unwrap()).unwrap().with_enumeration(values).unwrap();
    let storage = Arc::new(MemoryStorage::new()) as Arc<dyn Storage>;
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
    let x: Vec<i32> = (0..240).collect();
    let pick = |step: usize, count: usize| (0..240usize).map(move |row| row / step % count);
    let floats: Vec<f64> = pick(5, 6).map(|value| [0.0, -0.0, 1.5, f64::NAN, -1.5, f64::INFINITY][value]).collect();
    let flags: Vec<u8> = pick(3, 3).map(|value| value as u8).collect();
    let days = pick(7, 6).map(|value| [None, Some(i64::MIN), Some(1 << 31), Some(0i64), Some(-1), Some(19_000)][value]);
    let numbers = pick(1, 5).map(|value| [None, Some(-1), Some(0), Some(1), Some(i64::MAX)][value]);
    let strings = pick(2, 4).map(|value| [None, Some(""), Some("ab"), Some("b")][value]);
    let positions = pick(11, 5).map(|value| [None, Some(0u8), Some(1), Some(2), Some(9)][value]);
    let cells = WriteBatch::new()
        .with("x", &x)
        .with("n", WriteColumn::options(numbers))
        .with("f", &floats)
        .with("b", &flags)
        .with("day", WriteColumn::options(days))
        .with("s", WriteColumn::optional_strings(strings))
        .with("e", WriteColumn::options(positions));
    array.write().cells(cells).unwrap();
    ArrayOptions::new().open_on(storage).unwrap()
}

/// Random integers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % end
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// Generates filters on the columns of a table.
struct Maker<'a> {
    opened: &'a Opened,
    random: Random,
}

impl Maker<'_> {
    fn constant(&mut self, column: &str) -> Expr {
        let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
        let field = self.opened.schema.field_with_name(column).unwrap();
        let value = match column {
            _ if self.random.below(12) == 0 => ScalarValue::try_from(field.data_type()).unwrap(),
            "x" => ScalarValue::Int32(Some(self.random.one(&[-1, 0, 7, 100, 101, 239, 240]))),
            "n" => ScalarValue::Int64(Some(self.random.one(&[-1, 0, 1, 2, i64::MAX]))),
            "f" => ScalarValue::Float64(Some(self.random.one(&[0.0, -0.0, 1.5, f64::NAN, 1.0, f64::INFINITY]))),
            "b" => ScalarValue::Boolean(Some(self.random.one(&[true, false]))),
            "day" => ScalarValue::Date32(Some(self.random.one(&[0, -1, 19_000, 5]))),
            "e" => text(self.random.one(&["a", "b", "", "c"])).cast_to(field.data_type()).unwrap(),
            _ => text(self.random.one(&["", "a", "ab", "b", "c"])),
        };
        Arc::new(Literal::new(value))
    }

    fn test(&mut self) -> Expr {
        let name = self.random.one(&["x", "n", "f", "b", "day", "s", "e"]);
        let column: Expr = Arc::new(Column::new_with_schema(name, &self.opened.schema).unwrap());
        let constant = self.constant(name);
        match self.random.below(10) {
            0 => Arc::new(IsNullExpr::new(column)),
            1 => Arc::new(IsNotNullExpr::new(column)),
            2 | 3 => {
                let list = (0..1 + self.random.below(3)).map(|_| self.constant(name)).collect();
                in_list(column, list, &(self.random.below(2) == 0), &self.opened.schema).unwrap()
            }
            4 if name == "s" => {
                let pattern = self.random.one(&["a%", "a_", "%", "b", "", "%b", "a%b"]);
                let pattern: Expr = Arc::new(Literal::new(ScalarValue::Utf8View(Some(pattern.to_owned()))));
                Arc::new(LikeExpr::new(self.random.below(2) == 0, self.random.below(4) == 0, column, pattern))
            }
            _ if name == "b" && self.random.below(2) == 0 => column,
            _ => {
                use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
                let operator = self.random.one(&[Eq, NotEq, Lt, LtEq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom]);
                match self.random.below(2) {
                    0 => Arc::new(BinaryExpr::new(column, operator, constant)),
                    _ => Arc::new(BinaryExpr::new(constant, operator, column)),
                }
            }
        }
    }

    fn filter(&mut self, depth: usize) -> Expr {
        match if depth == 0 { 9 } else { self.random.below(8) } {
            0 | 1 => Arc::new(NotExpr::new(self.filter(depth - 1))),
            2 | 3 => Arc::new(BinaryExpr::new(self.filter(depth - 1), Operator::And, self.filter(depth - 1))),
            4 | 5 => Arc::new(BinaryExpr::new(self.filter(depth - 1), Operator::Or, self.filter(depth - 1))),
            _ => self.test(),
        }
    }
}

/// Reads all rows as DataFusion would.
fn rows(opened: &Opened) -> RecordBatch {
    let columns: Vec<String> = opened.schema.fields().iter().map(|field| field.name().clone()).collect();
    let conversion = opened.conversion(&columns).unwrap();
    let batches = opened.array.read().select(&columns).unwrap().batches().unwrap();
    let batches: Vec<RecordBatch> = batches.map(|batch| conversion.record_batch(batch.unwrap()).unwrap()).collect();
    concat_batches(&opened.schema, &batches).unwrap()
}

/// Returns `x` of the cells that match a condition.
fn fulfilling(array: &Array, condition: tdb_array::tdb_condition::Condition) -> BTreeSet<i32> {
    let query = array.read().select(["x"]).unwrap().filter(condition);
    let mut found = BTreeSet::new();
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        found.extend(batch.column("x").unwrap().values::<i32>().unwrap());
    }
    found
}

#[test]
fn filters_match_the_evaluation_of_datafusion() {
    let table = TdbTable::of(&array(), TableOptions::new()).unwrap();
    let opened = &table.opened;
    let rows = rows(opened);
    let x = rows.column_by_name("x").unwrap().as_primitive::<Int32Type>();
    let mut maker = Maker { opened, random: Random(7) };
    let (mut exact, mut wider) = (0, 0);
    for _ in 0..4000 {
        let depth = maker.random.below(4);
        let filter = maker.filter(depth);
        let Ok(truth) = filter.evaluate(&rows).and_then(|truth| truth.into_array(rows.num_rows())) else { continue };
        let wanted: BTreeSet<i32> = truth
            .as_boolean()
            .iter()
            .zip(x.values())
            .filter(|(truth, _)| *truth == Some(true))
            .map(|(_, x)| *x)
            .collect();
        let Some(pushed) = condition(opened, &filter) else { continue };
        let found = match &pushed.condition {
            never if super::is_never(never) => BTreeSet::new(),
            always if super::is_always(always) => x.values().iter().copied().collect(),
            condition => fulfilling(&opened.array, condition.clone()),
        };
        if pushed.exact {
            exact += 1;
            assert_eq!(found, wanted, "{filter}: {:?}", pushed.condition);
        } else {
            wider += 1;
            assert!(found.is_superset(&wanted), "{filter}: {:?}", pushed.condition);
        }
    }
    assert!(exact > 1000 && wider > 300, "{exact} {wider}");
}
