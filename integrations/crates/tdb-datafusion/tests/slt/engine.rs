//! Engines for the files in this folder, based on the crate `sqllogictest`. Column types: `B`
//! booleans, `I` integers, `R` floats and decimals, `T` text, `D` dates and times, `?` all others.
//! Null is `NULL`, and an empty string is `(empty)`.
//!
//! Engines are `arrays`, `memory` and `cluster`. `skipif memory` marks statements on arrays only,
//! for example tables by URI. The tests of tdb-full include this file as a module, too.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sqllogictest::{AsyncDB, ColumnType, DBOutput, QueryExpect, Record, Runner, strict_column_validator};
use tdb_datafusion::datafusion::arrow::array::{AsArray, RecordBatch};
use tdb_datafusion::datafusion::arrow::datatypes::{DataType, UInt64Type};
use tdb_datafusion::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tdb_datafusion::datafusion::datasource::MemTable;
use tdb_datafusion::datafusion::error::{DataFusionError, Result};
use tdb_datafusion::datafusion::logical_expr::LogicalPlan;
use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::{Opener, SessionOptions, TableOptions, parse, session};

/// Type of a column, as a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind(char);

impl ColumnType for Kind {
    fn from_char(letter: char) -> Option<Self> {
        "BIRTD?".contains(letter).then_some(Self(letter))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        Self(match data_type {
            DataType::Dictionary(_, values) => return Self::of(values),
            DataType::Boolean => 'B',
            data_type if data_type.is_integer() => 'I',
            data_type if data_type.is_numeric() => 'R',
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => 'T',
            data_type if data_type.is_temporal() => 'D',
            _ => '?',
        })
    }
}

/// A session for statements.
pub(crate) struct Engine {
    name: &'static str,
    session: SessionContext,
    /// `true` to run queries on tables in memory with the same cells, read without pushdown.
    in_memory: bool,
}

impl Engine {
    /// Creates an engine on arrays.
    #[allow(dead_code)] // used by the tests of one crate only
    pub(crate) fn arrays(table: TableOptions) -> Result<Self> {
        Ok(Self { name: "arrays", session: local(table)?, in_memory: false })
    }

    /// Creates an engine for queries in memory. Other statements run on arrays.
    #[allow(dead_code)] // used by the tests of one crate only
    pub(crate) fn memory() -> Result<Self> {
        let session = local(TableOptions::new().without_pushdown().partitions(1))?;
        Ok(Self { name: "memory", session, in_memory: true })
    }

    /// Creates an engine on another session.
    #[allow(dead_code)] // used by the tests of one crate only
    pub(crate) fn named(name: &'static str, session: SessionContext) -> Self {
        Self { name, session, in_memory: false }
    }

    /// Copies the current tables to memory.
    async fn twin(&self) -> Result<SessionContext> {
        let twin = local(TableOptions::new())?;
        let schema = self.session.catalog("datafusion").and_then(|catalog| catalog.schema("public"));
        for name in schema.map_or_else(Vec::new, |schema| schema.table_names()) {
            let frame = self.session.table(name.as_str()).await?;
            let schema = frame.schema().as_arrow().clone();
            // Drops the table name from the columns.
            let table = MemTable::try_new(Arc::new(schema), vec![frame.collect().await?])?;
            twin.register_table(name, Arc::new(table))?;
        }
        Ok(twin)
    }
}

fn local(table: TableOptions) -> Result<SessionContext> {
    session(SessionOptions::new(Opener::local()).partitions(3).table(table))
}

/// `true` for read-only statements.
fn is_query(sql: &str) -> bool {
    let word = sql.trim_start_matches(['(', ' ']).split_whitespace().next().unwrap_or_default();
    ["SELECT", "WITH", "VALUES", "TABLE"].contains(&word.to_ascii_uppercase().as_str())
}

#[async_trait]
impl AsyncDB for Engine {
    type Error = DataFusionError;
    type ColumnType = Kind;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<Kind>> {
        let session = if self.in_memory && is_query(sql) { self.twin().await? } else { self.session.clone() };
        let state = session.state();
        let plan = state.statement_to_plan(parse(&state, sql)?).await?;
        let frame = session.execute_logical_plan(plan).await?;
        let changes = matches!(frame.logical_plan(), LogicalPlan::Dml(_) | LogicalPlan::Copy(_));
        let types: Vec<Kind> = frame.schema().fields().iter().map(|field| Kind::of(field.data_type())).collect();
        let batches = frame.collect().await?;
        if changes || types.is_empty() {
            let counts = batches.iter().flat_map(RecordBatch::columns);
            let count = counts.filter_map(|column| column.as_primitive_opt::<UInt64Type>()?.values().first().copied());
            return Ok(DBOutput::StatementComplete(count.sum()));
        }
        let mut rows = Vec::new();
        for batch in &batches {
            push_rows(batch, &mut rows)?;
        }
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        self.name
    }
}

/// Appends the rows of a batch as text.
fn push_rows(batch: &RecordBatch, rows: &mut Vec<Vec<String>>) -> Result<()> {
    let options = FormatOptions::new().with_null("NULL");
    let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    rows.extend((0..batch.num_rows()).map(|row| {
        let cell = |column: &ArrayFormatter<'_>| match column.value(row).to_string() {
            text if text.is_empty() => "(empty)".to_owned(),
            text => text,
        };
        columns.iter().map(cell).collect()
    }));
    Ok(())
}

/// Runs a file on engines from `make`. Returns the number of queries whose rows were compared. With
/// `TDB_SLT_COMPLETE` set, writes the actual rows into the file instead, for review.
pub(crate) async fn run_file(path: &Path, make: impl Fn() -> Result<Engine>) -> usize {
    let mut runner = Runner::new(|| std::future::ready(make()));
    runner.with_column_validator(strict_column_validator);
    if std::env::var_os("TDB_SLT_COMPLETE").is_some() {
        let (rows, value) = (sqllogictest::default_validator, sqllogictest::default_normalizer);
        runner.update_test_file(path, " ", rows, value, strict_column_validator).await.unwrap();
        return 0;
    }
    let records = sqllogictest::parse_file::<Kind>(path).unwrap();
    records.iter().for_each(check_order);
    let is_compared = |record: &Record<Kind>| matches!(record, Record::Query { conditions, expected: QueryExpect::Results { .. }, .. } if conditions.is_empty());
    let compared = records.iter().filter(|record| is_compared(record)).count();
    runner.run_multi_async(records).await.unwrap_or_else(|error| panic!("{error}"));
    compared
}

/// Panics if rows are compared without a sort order. The order would depend on which partition ends
/// first.
fn check_order(record: &Record<Kind>) {
    let Record::Query { sql, loc, expected: QueryExpect::Results { sort_mode: None, results, .. }, .. } = record else {
        return;
    };
    assert!(
        results.len() < 2 || sql.to_ascii_uppercase().contains("ORDER BY"),
        "{loc}: a query of several rows needs `rowsort` or ORDER BY"
    );
}
