//! Queries and performance targets.

use serde_json::{Value, json};

/// Target of a query, compared with Parquet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    /// At most this multiple of Parquet's time.
    AtMost(f64),
    /// At least this many times as fast as Parquet.
    Faster(f64),
    /// At most this number of seconds, for any size.
    Within(f64),
}

/// Target for reading all rows.
const SCAN: Mark = Mark::AtMost(1.3);
/// Target for few rows, found without reading the rest.
const SELECTIVE: Mark = Mark::Faster(5.0);
/// Target for metadata only.
const METADATA: Mark = Mark::Within(0.005);

/// A query in SQL, and in terms of a data frame.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) sql: String,
    pub(crate) mark: Mark,
    /// Query for TileDB-Py and pandas. See `sides.py`.
    pub(crate) frame: Value,
}

/// Array attribute with plain strings and the dictionary filter, and the corresponding Parquet
/// column. Parquet uses a dictionary by default.
const DICTIONARY: (&str, &str) = ("kind_dictionary", "kind_text");

impl Query {
    /// Returns the SQL for Parquet files.
    pub(crate) fn sql_of_parquet(&self) -> String {
        self.sql.replace(DICTIONARY.0, DICTIONARY.1)
    }
}

/// Number of chromosomes, as in `sides.py`.
const CHROMS: u64 = 22;
/// Average distance of positions, as in `sides.py`.
const SPACING: u64 = 10;
/// Start and end of an hour in the middle, and the start in milliseconds since 1970.
const HOUR: (&str, &str, i64) = ("2026-01-14 09:00:00", "2026-01-14 10:00:00", 1_768_381_200_000);

/// Returns all queries of a table `t` with this number of rows.
pub(crate) fn all(rows: u64) -> Vec<Query> {
    let per_chrom = rows.div_ceil(CHROMS);
    let place = |part: f64| (per_chrom as f64 * part) as u64 / 10 * 10 * SPACING;
    let mut queries = scans();
    queries.extend(boxes(&place, per_chrom));
    queries.extend(filters());
    queries.extend(tops());
    queries.push(Query {
        name: "count, minimum and maximum, without a scan",
        sql: "SELECT count(*), min(pos), max(pos), min(qual), max(qual), min(depth), max(depth), max(time) FROM t"
            .to_owned(),
        mark: METADATA,
        frame: aggregates(
            &["pos", "qual", "depth", "time"],
            &[
                ("count", "pos"),
                ("min", "pos"),
                ("max", "pos"),
                ("min", "qual"),
                ("max", "qual"),
                ("min", "depth"),
                ("max", "depth"),
                ("max", "time"),
            ],
        ),
    });
    queries
}

/// Queries of all rows, with groups.
fn scans() -> Vec<Query> {
    let grouped = |name, by: &str| Query {
        name,
        sql: format!("SELECT {by}, count(*), avg(qual) FROM t GROUP BY {by}"),
        mark: SCAN,
        frame: with(aggregates(&[by, "qual"], &[("count", "qual"), ("mean", "qual")]), "groups", json!([by])),
    };
    let numbers = Query {
        name: "scan: all numbers, by chromosome",
        sql: "SELECT chrom, count(*), sum(pos), avg(qual), avg(score), sum(depth), max(time) FROM t GROUP BY chrom"
            .to_owned(),
        mark: SCAN,
        frame: with(
            aggregates(
                &["chrom", "pos", "qual", "score", "depth", "time"],
                &[
                    ("count", "pos"),
                    ("sum", "pos"),
                    ("mean", "qual"),
                    ("mean", "score"),
                    ("sum", "depth"),
                    ("max", "time"),
                ],
            ),
            "groups",
            json!(["chrom"]),
        ),
    };
    vec![
        grouped("scan: GROUP BY an enumeration", "kind"),
        grouped("scan: GROUP BY a plain string", "kind_text"),
        grouped("scan: GROUP BY a plain string, dictionary filter", DICTIONARY.0),
        numbers,
    ]
}

/// Returns a query for a summary of the few rows that satisfy a condition.
fn summary(name: &'static str, condition: &str, key: &str, value: Value) -> Query {
    let of = [("count", "qual"), ("mean", "qual"), ("sum", "depth")];
    Query {
        name,
        sql: format!("SELECT count(*), avg(qual), sum(depth) FROM t WHERE {condition}"),
        mark: SELECTIVE,
        frame: with(aggregates(&["qual", "depth"], &of), key, value),
    }
}

/// Returns a query for some columns of few rows.
fn selected(name: &'static str, columns: &[&str], clauses: &str, key: &str, value: Value) -> Query {
    let sql = format!("SELECT {} FROM t {clauses}", columns.join(", "));
    Query { name, sql, mark: SELECTIVE, frame: with(frame(columns), key, value) }
}

/// Returns range queries on the dimensions.
fn boxes(place: &dyn Fn(f64) -> u64, per_chrom: u64) -> Vec<Query> {
    let measured = |name, (first_chrom, last_chrom): (u64, u64), (first, last): (u64, u64)| {
        let condition = format!("chrom BETWEEN {first_chrom} AND {last_chrom} AND pos BETWEEN {first} AND {last}");
        summary(name, &condition, "box", json!([[first_chrom, last_chrom], [first, last]]))
    };
    let point = place(0.37);
    let columns = ["chrom", "pos", "qual", "depth", "kind"];
    // Half of the 10,000 rows of a tile.
    let tile = 5_000.min(per_chrom / 4) * SPACING;
    let at_point = format!("WHERE chrom = 7 AND pos = {point}");
    vec![
        measured("box: about a tile", (7, 7), (place(0.4), place(0.4) + tile)),
        measured("box: 9 %", (5, 10), (place(0.33), place(0.66))),
        measured("box: long and thin", (1, CHROMS), (place(0.5), place(0.501))),
        selected("a point", &columns, &at_point, "box", json!([[7, 7], [point, point]])),
    ]
}

/// Columns of queries that return rows.
const COLUMNS: [&str; 4] = ["chrom", "pos", "qual", "depth"];

/// Queries of few rows at any position.
fn filters() -> Vec<Query> {
    let (from, to, start) = HOUR;
    let (few, end) = ("qual >= 99.9998", start + 3_600_000);
    let hour = format!("time >= TIMESTAMP '{from}' AND time < TIMESTAMP '{to}'");
    let milliseconds = json!(format!("time >= {start} and time < {end}"));
    vec![
        selected("filter: few rows", &COLUMNS, &format!("WHERE {few}"), "condition", json!(few)),
        summary("filter: a rare kind", "kind = 'promoter_flank'", "condition", json!("kind == 'promoter_flank'")),
        summary("filter: an hour", &hour, "condition", milliseconds),
    ]
}

/// Queries of the first rows in an order.
fn tops() -> Vec<Query> {
    let (by_value, by_place) = ("ORDER BY qual DESC LIMIT 10", "ORDER BY chrom, pos LIMIT 10");
    vec![
        selected("top 10 by a value", &COLUMNS, by_value, "top", json!(["qual", false, 10])),
        selected("top 10 by place", &COLUMNS, by_place, "top", json!(["place", true, 10])),
    ]
}

/// Describes a query of plain rows.
fn frame(columns: &[&str]) -> Value {
    json!({"columns": columns, "condition": null, "groups": null, "box": null, "top": null, "aggregates": []})
}

fn aggregates(columns: &[&str], of: &[(&str, &str)]) -> Value {
    with(frame(columns), "aggregates", json!(of))
}

fn with(mut frame: Value, key: &str, value: Value) -> Value {
    frame[key] = value;
    frame
}
