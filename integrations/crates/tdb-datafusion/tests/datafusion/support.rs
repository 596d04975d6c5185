//! Test arrays, and helpers to query them.

use std::path::Path;
use std::sync::Arc;

use tdb_datafusion::datafusion::arrow::array::RecordBatch;
use tdb_datafusion::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tdb_datafusion::datafusion::datasource::MemTable;
use tdb_datafusion::datafusion::datasource::source::DataSourceExec;
use tdb_datafusion::datafusion::error::Result;
use tdb_datafusion::datafusion::physical_plan::ExecutionPlan;
use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::tdb_array::tdb_condition::field;
use tdb_datafusion::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution,
};
use tdb_datafusion::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_datafusion::tdb_array::{Array, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_datafusion::{Opener, Scan, SessionOptions, TableOptions, session};

/// Runs a future.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(future)
}

/// Creates a session on local folders.
pub(crate) fn local(partitions: usize) -> SessionContext {
    local_with(TableOptions::new().partitions(partitions))
}

pub(crate) fn local_with(table: TableOptions) -> SessionContext {
    session(SessionOptions::new(Opener::local()).partitions(3).table(table)).unwrap()
}

/// Returns the rows of a statement as text, in order.
pub(crate) async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<String>> {
    Ok(text(&context.sql(sql).await?.collect().await?))
}

pub(crate) fn text(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let mut lines = Vec::new();
    for batch in batches {
        let columns: Vec<_> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| match column.value(row).to_string() {
                empty if empty.is_empty() => "(empty)".to_owned(),
                text => text,
            });
            lines.push(cells.collect::<Vec<_>>().join(" | "));
        }
    }
    lines
}

pub(crate) fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// Creates an array, and the table `t` for it. The dimension is `x`.
pub(crate) async fn create(context: &SessionContext, path: &Path, columns: &str, more: &str) {
    let (path, dimension) = (path.display(), "'dimensions' 'x'");
    let create =
        format!("CREATE EXTERNAL TABLE t ({columns}) STORED AS TILEDB LOCATION '{path}' OPTIONS ({dimension}{more})");
    rows(context, &create).await.unwrap();
}

/// Returns the statement that copies rows to a new array with the dimension `x`.
pub(crate) fn copy(select: &str, to: impl std::fmt::Display) -> String {
    format!("COPY ({select}) TO '{to}' STORED AS TILEDB OPTIONS ('dimensions' 'x')")
}

/// Checks that an array has neither fragments nor files of any.
pub(crate) fn is_empty(path: &Path) {
    assert!(Array::open(path).unwrap().fragments().unwrap().is_empty());
    assert_eq!(std::fs::read_dir(path.join("__fragments")).unwrap().count(), 0);
}

/// Returns a table in memory with the cells of an array, read without pushdown.
pub(crate) async fn twin(context: &SessionContext, path: &Path) -> Result<Arc<MemTable>> {
    let table = tdb_datafusion::TdbTable::open(
        path.to_str().unwrap(),
        &Opener::local(),
        TableOptions::new().without_pushdown().partitions(1),
    )
    .await?;
    let frame = context.read_table(table)?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    Ok(Arc::new(MemTable::try_new(schema, vec![frame.collect().await?])?))
}

/// Returns the scans of a plan.
pub(crate) fn scans(plan: &Arc<dyn ExecutionPlan>) -> Vec<Scan> {
    let source = plan.downcast_ref::<DataSourceExec>().and_then(|exec| exec.data_source().downcast_ref::<Scan>());
    let mut found: Vec<Scan> = source.cloned().into_iter().collect();
    plan.children().into_iter().for_each(|child| found.extend(scans(child)));
    found
}

/// Reproducible random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

fn string(name: &str) -> Attribute {
    Attribute::new(name, Datatype::StringUtf8).with_cell_val_num(CellValNum::Var)
}

pub(crate) const FLOATS: [f32; 12] = [
    f32::NEG_INFINITY,
    f32::INFINITY,
    f32::NAN,
    -f32::NAN,
    0.0,
    -0.0,
    1.5,
    -1.5,
    30.0,
    f32::MIN,
    f32::MAX,
    f32::MIN_POSITIVE,
];
pub(crate) const LONGS: [i64; 8] = [i64::MIN, i64::MAX, 0, -1, 1, 7, 100, -100];
pub(crate) const STRINGS: [&str; 11] =
    ["", "A", "a", "AC", "ACGT", "é", "z\u{10ffff}", "A%", "A_\\", "twelve bytes", "more than twelve bytes"];
pub(crate) const VALUES: [&str; 4] = ["PASS", "q10", "", "s50"];
/// The first three are null in SQL.
const DAYS: [i64; 8] = [i64::MIN, 1 << 62, -(1 << 32), 0, -1, 19_000, 19_001, 2_000_000_000];

/// Cells of attributes of every kind.
#[derive(Default)]
struct Filled {
    floats: Vec<f32>,
    doubles: Vec<Option<f64>>,
    longs: Vec<Option<i64>>,
    times: Vec<i64>,
    small: Vec<u8>,
    strings: Vec<Option<&'static str>>,
    positions: Vec<Option<u8>>,
    days: Vec<i64>,
    flags: Vec<u8>,
    choices: Vec<Option<u8>>,
}

impl Filled {
    fn new(random: &mut Random, count: usize) -> Self {
        let mut filled = Self::default();
        // Some fragments have ordinary values, and therefore usable statistics.
        let is_tame = random.below(2) == 0;
        for _ in 0..count {
            let some = |random: &mut Random| is_tame || random.below(4) > 0;
            let float = if is_tame { random.below(40) as f32 } else { random.one(&FLOATS) };
            filled.floats.push(float);
            filled.doubles.push(some(random).then_some(f64::from(float) / 3.0));
            let long = if is_tame { random.below(20) as i64 } else { random.one(&LONGS) };
            filled.longs.push(some(random).then_some(long));
            filled.times.push(long);
            filled.small.push(random.below(256) as u8);
            let string = random.one(&STRINGS);
            filled.strings.push(some(random).then_some(string));
            // Includes positions without a value.
            let position = if is_tame { random.below(4) as u8 } else { random.one(&[0, 1, 2, 3, 4, 255]) };
            filled.positions.push(some(random).then_some(position));
            filled.days.push(random.one(if is_tame { &DAYS[3..] } else { &DAYS }));
            filled.flags.push(random.below(3) as u8);
            let choice = if is_tame { random.below(2) as u8 } else { random.one(&[0, 1, 2, 255]) };
            filled.choices.push(some(random).then_some(choice));
        }
        filled
    }

    fn cells(&self) -> WriteBatch<'_> {
        WriteBatch::new()
            .with("f", &self.floats)
            .with("g", WriteColumn::options(self.doubles.iter().copied()))
            .with("n", WriteColumn::options(self.longs.iter().copied()))
            .with("u", &self.small)
            .with("s", WriteColumn::optional_strings(self.strings.iter().copied()))
            .with("e", WriteColumn::options(self.positions.iter().copied()))
            .with("day", &self.days)
            .with("t", &self.times)
            .with("b", &self.flags)
            .with("c", WriteColumn::options(self.choices.iter().copied()))
    }
}

fn with_attributes(builder: SchemaBuilder) -> ArrayDefinition {
    let schema = builder
        .attribute(Attribute::new("f", Datatype::Float32))
        .attribute(Attribute::new("g", Datatype::Float64).nullable(false))
        .attribute(Attribute::new("n", Datatype::Int64).nullable(true))
        .attribute(Attribute::new("u", Datatype::UInt8))
        .attribute(string("s").nullable(false))
        .attribute(Attribute::new("e", Datatype::UInt8).with_enumeration("filters").nullable(false))
        .attribute(Attribute::new("day", Datatype::DatetimeDay))
        .attribute(Attribute::new("t", Datatype::DatetimeMs))
        .attribute(Attribute::new("b", Datatype::Bool))
        .attribute(Attribute::new("c", Datatype::UInt8).with_enumeration("choices").nullable(false))
        .enumeration(EnumerationRef::unplaced("filters"))
        .enumeration(EnumerationRef::unplaced("choices"))
        .build()
        .unwrap();
    let choices = Enumeration::fixed("choices", "", Datatype::Bool, vec![1u8, 0]).unwrap();
    let filters = Enumeration::strings("filters", "", Datatype::StringUtf8, VALUES).unwrap();
    ArrayDefinition::new(schema).unwrap().with_enumeration(filters).unwrap().with_enumeration(choices).unwrap()
}

/// Generates the coordinates of one fragment, for dimensions x (int32, whole domain), name (string)
/// and y (float64).
fn coordinates(random: &mut Random, count: usize) -> (Vec<i32>, Vec<&'static str>, Vec<f64>) {
    const XS: [i32; 6] = [i32::MIN, i32::MAX - 10, 0, -1, 1, 5];
    let mut all: Vec<(i32, &'static str, u64)> = (0..count)
        .map(|_| {
            let x = if random.below(3) == 0 { random.one(&XS) } else { random.below(50) as i32 - 25 };
            let y = random.one(&[0.0f64, -1.0, 1.0, 2.5, 100.0, -100.0]);
            (x, random.one(&["", "a", "ab", "b", "chr1", "chr10", "~"]), y.to_bits())
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    let x = all.iter().map(|cell| cell.0).collect();
    let name = all.iter().map(|cell| cell.1).collect();
    (x, name, all.iter().map(|cell| f64::from_bits(cell.2)).collect())
}

/// Creates a sparse array of overlapping fragments, with deletes and a later attribute.
pub(crate) fn sparse(path: &Path, seed: u64, duplicates: bool) {
    let mut random = Random::new(seed);
    let x = Dimension::new("x", i32::MIN..=i32::MAX - 10).with_tile(10);
    let y = Dimension::new("y", -100.0f64..=100.0);
    let builder = SchemaBuilder::sparse().dimension(x).dimension(Dimension::string("name")).dimension(y);
    let definition = with_attributes(builder.capacity(7).allows_duplicates(duplicates));
    CreateOptions::new().ids(WriteIds::new().at(1000)).create(path, &definition).unwrap();
    let fragments = 1 + random.below(4);
    for fragment in 0..fragments {
        let time = 1000 + 10 * (fragment as u64 + 1);
        let count = 1 + random.below(60);
        let (xs, names, ys) = coordinates(&mut random, count);
        let array = Array::open(path).unwrap();
        let has_late = array.schema().field("late").is_some();
        let late: Vec<i16> = (0..xs.len()).map(|_| random.below(5) as i16).collect();
        let filled = Filled::new(&mut random, xs.len());
        let names = WriteColumn::strings(names);
        let mut cells = filled.cells().with("x", &xs).with("name", names).with("y", &ys);
        if has_late {
            cells = cells.with("late", &late);
        }
        array.write().ids(WriteIds::new().at(time)).cells(cells).unwrap();
        if random.below(3) == 0 {
            let condition = field("u").lt(random.below(80) as u8);
            Array::open(path).unwrap().delete_cells(&condition, &WriteIds::new().at(time + 1)).unwrap();
        }
        if !has_late && random.below(2) == 0 {
            let array = Array::open(path).unwrap();
            let evolution = SchemaEvolution::new().add_attribute(Attribute::new("late", Datatype::Int16));
            array.evolve(&evolution, &WriteIds::new().at(time + 2)).unwrap();
        }
    }
}

/// Creates a dense array with some boxes written.
pub(crate) fn dense(path: &Path, seed: u64) {
    let mut random = Random::new(seed);
    let side = |name: &str, extent: i32| Dimension::new(name, -20i32..=1_000_000).with_tile(extent);
    let definition = with_attributes(SchemaBuilder::dense().dimension(side("x", 4)).dimension(side("y", 3)));
    CreateOptions::new().ids(WriteIds::new().at(1000)).create(path, &definition).unwrap();
    for fragment in 0..random.below(4) {
        let (x, y) = (random.below(30) as i32 - 20, random.below(30) as i32 - 20);
        let (width, height) = (1 + random.below(9) as i32, 1 + random.below(9) as i32);
        let filled = Filled::new(&mut random, (width * height) as usize);
        let write = Array::open(path).unwrap().write().ids(WriteIds::new().at(1000 + 10 * (fragment as u64 + 1)));
        let write = write.range("x", x..x + width).unwrap().range("y", y..y + height).unwrap();
        write.cells(filled.cells()).unwrap();
    }
}
