//! Random queries over random arrays: pushdown gives the same rows as the same cells in memory.

use std::path::Path;

use tdb_datafusion::TableOptions;
use tdb_datafusion::datafusion::prelude::SessionContext;

use crate::support::{FLOATS, LONGS, Random, STRINGS, dense, local, local_with, rows, run, sorted, sparse, twin};

struct Asker<'r> {
    random: &'r mut Random,
    columns: Vec<&'static str>,
}

const SPARSE: [&str; 13] = ["x", "name", "y", "f", "g", "n", "u", "s", "e", "day", "t", "b", "c"];
const DENSE: [&str; 12] = ["x", "y", "f", "g", "n", "u", "s", "e", "day", "t", "b", "c"];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn float(value: f64, kind: &str) -> String {
    if value.is_nan() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}CAST('NaN' AS {kind})");
    }
    if value.is_infinite() {
        return format!("CAST('{}inf' AS {kind})", if value < 0.0 { "-" } else { "" });
    }
    format!("CAST('{value:?}' AS {kind})")
}

impl Asker<'_> {
    fn is_dense(&self) -> bool {
        !self.columns.contains(&"name")
    }

    /// Generates a value to compare a column with.
    fn value(&mut self, column: &str) -> String {
        let is_dense = self.is_dense();
        let random = &mut *self.random;
        if random.below(25) == 0 {
            return "NULL".to_owned();
        }
        match column {
            "x" => random.one(&["-2147483648", "2147483637", "2147483647", "0", "1", "-20", "5", "-7"]).to_owned(),
            "y" if is_dense => random.one(&["-20", "-3", "0", "4", "2147483647"]).to_owned(),
            "y" => float(random.one(&[0.0, -0.0, -1.0, 1.0, 2.5, 100.0, f64::NAN, f64::INFINITY]), "DOUBLE"),
            "name" => quoted(random.one(&["", "a", "ab", "b", "chr1", "chr10", "chr2", "~", "zz"])),
            "f" => float(f64::from(random.one(&FLOATS)), "REAL"),
            "g" => float(f64::from(random.one(&FLOATS)) / 3.0, "DOUBLE"),
            "n" => format!(
                "({})",
                random.one(&LONGS).to_string().replace("-9223372036854775808", "-9223372036854775807 - 1")
            ),
            "u" => random.below(256).to_string(),
            "late" => random.one(&["0", "2", "4", "-32768"]).to_owned(),
            "s" => quoted(random.one(&STRINGS)),
            "e" => quoted(random.one(&["PASS", "q10", "", "s50", "unknown"])),
            "day" => random
                .one(&[
                    "DATE '1969-12-31'",
                    "DATE '1970-01-01'",
                    "'2022-01-08'",
                    "'2022-01-08 12:00:00'",
                    "'9999-12-31'",
                ])
                .to_owned(),
            "t" => random
                .one(&[
                    "TIMESTAMP '1970-01-01T00:00:00.007'",
                    "TIMESTAMP '1970-01-01'",
                    "TIMESTAMP '2000-01-01'",
                    "'1970-01-01 00:00:00.0075'",
                    "'9999-12-31'",
                    "TIMESTAMP '0001-01-01'",
                ])
                .to_owned(),
            _ => random.one(&["true", "false"]).to_owned(),
        }
    }

    fn test(&mut self) -> String {
        let column = self.random.one(&self.columns);
        let value = self.value(column);
        if matches!(column, "b" | "c") {
            return self.random.one(&[
                column.to_owned(),
                format!("NOT {column}"),
                format!("{column} = {value}"),
                format!("{column} <> {value}"),
                format!("{column} IS NULL"),
                format!("{column} IS DISTINCT FROM {value}"),
                format!("{column} NOT IN ({value})"),
            ]);
        }
        match self.random.below(12) {
            0 => format!("{column} IS NULL"),
            1 => format!("{column} IS NOT NULL"),
            2 => {
                let values: Vec<String> = (0..1 + self.random.below(5)).map(|_| self.value(column)).collect();
                let not = if self.random.below(3) == 0 { "NOT " } else { "" };
                format!("{column} {not}IN ({})", values.join(", "))
            }
            3 => format!("{column} BETWEEN {value} AND {}", self.value(column)),
            4 if matches!(column, "s" | "e" | "name") => {
                let pattern = self.random.one(&["A%", "%", "", "a_", "%C%", "chr%", "PAS%", "A\\%%", "q10"]);
                let not = if self.random.below(3) == 0 { "NOT " } else { "" };
                format!("{column} {not}LIKE '{pattern}'")
            }
            5 => format!("{column} IS DISTINCT FROM {value}"),
            6 => format!("{column} IS NOT DISTINCT FROM {value}"),
            7 if matches!(column, "s" | "e" | "name") => format!("length({column}) > {}", self.random.below(5)),
            _ => {
                let operator = self.random.one(&["=", "<>", "<", "<=", ">", ">="]);
                if self.random.below(4) == 0 {
                    format!("{value} {operator} {column}")
                } else {
                    format!("{column} {operator} {value}")
                }
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match if depth == 0 { 5 } else { self.random.below(6) } {
            0 => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
            1 | 2 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            3 => format!("NOT ({})", self.condition(depth - 1)),
            _ => self.test(),
        }
    }

    fn query(&mut self) -> String {
        let whether = match self.random.below(6) {
            0 => String::new(),
            _ => format!(" WHERE {}", self.condition(3)),
        };
        let column = self.random.one(&self.columns);
        let other = self.random.one(&self.columns);
        // The order of equal zeros depends on the order of arrival.
        let sortable: Vec<&str> = self.columns.iter().copied().filter(|column| !matches!(*column, "f" | "g")).collect();
        let sortable = self.random.one(&sortable);
        let ordered = self.random.one(&self.columns);
        match self.random.below(10) {
            0 => format!("SELECT count(*) FROM t{whether}"),
            1 => format!("SELECT count({column}), min({ordered}), max({ordered}) FROM t{whether}"),
            2 => format!("SELECT sum(n % 1000), sum(u), count(DISTINCT {column}) FROM t{whether}"),
            3 => format!("SELECT {column}, count(*), min({ordered}) FROM t{whether} GROUP BY {column}"),
            4 => format!("SELECT {sortable} FROM t{whether} ORDER BY {sortable} LIMIT {}", self.random.below(9)),
            // These may overflow.
            8 => format!("SELECT sum(n), max(n - x), min(u * x) FROM t{whether}"),
            9 => format!("SELECT {column}, sum(n) FROM t{whether} GROUP BY {column}"),
            5 => format!("SELECT {other}, {column} FROM t{whether}"),
            6 => {
                let few = self.condition(1);
                format!(
                    "SELECT count(*) FROM t JOIN (SELECT DISTINCT {column} AS k FROM t WHERE {few}) AS o ON t.{column} = o.k{whether}"
                )
            }
            _ => format!("SELECT * FROM t{whether}"),
        }
    }
}

/// Runs a query on both sides, and reports differences.
async fn compare(pushed: &SessionContext, memory: &SessionContext, sql: &str) {
    let ours = rows(pushed, sql).await;
    let theirs = rows(memory, sql).await;
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let (ours, theirs) = (sorted(ours), sorted(theirs));
            if ours != theirs {
                let plan = rows(pushed, &format!("EXPLAIN {sql}")).await.unwrap().join("\n");
                panic!("{sql}\n{plan}\nours: {ours:#?}\ntheirs: {theirs:#?}");
            }
        }
        (Err(_), Err(_)) => {}
        (Ok(ours), Err(theirs)) => panic!("{sql}: ours {ours:?}, theirs {theirs}"),
        (Err(ours), Ok(theirs)) => panic!("{sql}: ours {ours}, theirs {theirs:?}"),
    }
}

/// Creates a session with the array as table `t`, and one with its cells in memory.
async fn sides(path: &Path, options: TableOptions) -> (SessionContext, SessionContext) {
    let (pushed, memory) = (local_with(options), local(1));
    let uri = path.to_str().unwrap();
    pushed.sql(&format!("CREATE VIEW t AS SELECT * FROM '{uri}'")).await.unwrap();
    memory.register_table("t", twin(&memory, path).await.unwrap()).unwrap();
    (pushed, memory)
}

async fn ask(path: &Path, seed: u64, columns: &[&'static str], queries: usize, options: TableOptions) {
    let (pushed, memory) = sides(path, options).await;
    let mut random = Random::new(seed);
    let mut asker = Asker { random: &mut random, columns: columns.to_vec() };
    if !asker.is_dense() && rows(&memory, "SELECT late FROM t LIMIT 0").await.is_ok() {
        asker.columns.push("late");
    }
    for _ in 0..queries {
        let sql = asker.query();
        compare(&pushed, &memory, &sql).await;
    }
}

/// Returns the number of arrays. Set `TDB_SQL_ROUNDS` for more.
fn rounds() -> u64 {
    std::env::var("TDB_SQL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
}

#[test]
fn random_queries_of_sparse_arrays_match_memory() {
    for seed in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        sparse(&path, seed, seed % 2 == 1);
        let options = TableOptions::new().partitions(1 + seed as usize % 4);
        run(ask(&path, seed + 1000, &SPARSE, 60, options));
    }
}

#[test]
fn random_queries_of_dense_arrays_match_memory() {
    for seed in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        dense(&path, seed);
        let options = TableOptions::new().partitions(1 + seed as usize % 3);
        run(ask(&path, seed + 2000, &DENSE, 60, options));
    }
}

/// Minima and maxima of floats. Does not distinguish between zeros or between NaNs: the two sides
/// differ, and the cause may be outside of DataFusion. No row is lost.
#[test]
fn top_k_of_floats_loses_no_row() {
    for seed in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        sparse(&path, seed + 50, seed % 2 == 1);
        run(async {
            let (pushed, memory) = sides(&path, TableOptions::new().partitions(1 + seed as usize % 3)).await;
            for column in ["f", "g", "y"] {
                for direction in ["ASC", "DESC", "ASC NULLS FIRST"] {
                    for limit in [1, 2, 5, 17, 40] {
                        let sql = format!("SELECT {column} FROM t ORDER BY {column} {direction} LIMIT {limit}");
                        let of = |lines: Vec<String>| -> Vec<String> {
                            lines.into_iter().map(|line| if line == "-0.0" { "0.0".to_owned() } else { line }).collect()
                        };
                        let (ours, theirs) = (rows(&pushed, &sql).await.unwrap(), rows(&memory, &sql).await.unwrap());
                        assert_eq!(of(ours), of(theirs), "{seed}: {sql}");
                    }
                }
            }
        });
    }
}
