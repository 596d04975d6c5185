//! Statements that are rejected before planning.

use tdb_datafusion::parse;

use crate::support::local;

/// Returns the error of a statement. `None` if it can be planned.
async fn error(sql: &str) -> Option<String> {
    let session = local(1);
    let state = session.state();
    let statement = match parse(&state, sql) {
        Ok(statement) => statement,
        Err(error) => return Some(error.strip_backtrace()),
    };
    match state.statement_to_plan(statement).await {
        Ok(plan) => session.execute_logical_plan(plan).await.err().map(|error| error.strip_backtrace()),
        Err(error) => Some(error.strip_backtrace()),
    }
}

const TABLE: &str = "(VALUES (1, 2.0), (2, 3.0)) AS t(x, f)";

/// Clauses after `SELECT x FROM …`, and the text expected in the error.
const CLAUSES: [(&str, &str); 19] = [
    ("PREWHERE x = 1", "PREWHERE"),
    ("START WITH x = 1 CONNECT BY PRIOR x = f", "START WITH"),
    ("CONNECT BY PRIOR x = f", "CONNECT BY"),
    ("GROUP BY x WITH ROLLUP", "WITH ROLLUP"),
    ("GROUP BY x WITH CUBE", "WITH CUBE"),
    ("GROUP BY x WITH TOTALS", "WITH TOTALS"),
    ("GROUP BY x GROUPING SETS ((x), ())", "GROUPING SETS"),
    ("FOR UPDATE", "FOR UPDATE"),
    ("FOR SHARE NOWAIT", "FOR SHARE"),
    ("FOR JSON AUTO", "FOR JSON"),
    ("FOR XML AUTO", "FOR XML"),
    ("FOR BROWSE", "FOR BROWSE"),
    ("SETTINGS max_threads = 1", "SETTINGS"),
    ("FORMAT JSON", "FORMAT"),
    ("LIMIT 1 BY x", "LIMIT BY"),
    ("ORDER BY x WITH FILL", "WITH FILL"),
    ("ORDER BY x INTERPOLATE (f)", "INTERPOLATE"),
    ("FETCH FIRST 1 ROWS WITH TIES", "FETCH"),
    ("CLUSTER BY x", "CLUSTER BY"),
];

#[tokio::test(flavor = "multi_thread")]
async fn ignored_clauses_are_refused_by_name() {
    for (clause, named) in CLAUSES {
        let query = format!("SELECT x FROM {TABLE} {clause}");
        for sql in [
            query.clone(),
            format!("EXPLAIN {query}"),
            format!("SELECT * FROM ({query}) AS u"),
            format!("WITH u AS ({query}) SELECT * FROM u"),
            format!("SELECT 1 WHERE 1 IN ({query})"),
            format!("SELECT CASE WHEN EXISTS ({query}) THEN 1 END"),
            format!("SELECT 1 UNION ALL ({query})"),
            format!("SELECT 1 FROM {TABLE} JOIN ({query}) AS u ON t.x IN ({query})"),
            format!("CREATE VIEW v AS {query}"),
            format!("CREATE TABLE v AS {query}"),
            format!("COPY ({query}) TO '/nowhere/x.csv'"),
        ] {
            let error = error(&sql).await;
            assert!(error.as_ref().is_some_and(|error| error.contains(named)), "{sql}: {error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_ignored_words_are_refused_by_name() {
    for (sql, named) in [
        ("SELECT x INTO u FROM (VALUES (1)) AS t(x)", "INTO"),
        ("SELECT 1 FROM (SELECT x INTO u FROM (VALUES (1)) AS t(x)) AS s", "INTO"),
        ("SELECT * FROM (VALUES (1)) AS t(x) GLOBAL JOIN (VALUES (1)) AS u(y) ON x = y", "GLOBAL JOIN"),
        ("SELECT 1 FROM ((VALUES (1)) AS t(x) GLOBAL LEFT JOIN (VALUES (1)) AS u(y) ON x = y)", "GLOBAL JOIN"),
        ("SELECT * ILIKE '%a%' FROM (VALUES (1)) AS t(x)", "ILIKE"),
        ("SELECT TOP 1 x FROM (VALUES (1)) AS t(x)", "TOP"),
        ("WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t LIMIT 9) SELECT x FROM t", "WITH RECURSIVE"),
        ("SELECT abs(DISTINCT x) FROM (VALUES (1)) AS t(x)", "DISTINCT of abs"),
        ("SELECT abs(x) FILTER (WHERE x > 1) FROM (VALUES (1)) AS t(x)", "FILTER of abs"),
        ("SELECT abs(x) OVER () FROM (VALUES (1)) AS t(x)", "OVER of abs"),
        ("SELECT ABS(x) IGNORE NULLS FROM (VALUES (1)) AS t(x)", "NULLS of ABS"),
        ("SELECT abs(x ORDER BY x) FROM (VALUES (1)) AS t(x)", "ORDER BY x of abs"),
        ("SELECT abs(x) WITHIN GROUP (ORDER BY x) FROM (VALUES (1)) AS t(x)", "WITHIN GROUP of abs"),
        ("SELECT unnest([1, 1]) FILTER (WHERE true)", "FILTER of unnest"),
        ("SELECT sum(0.5)(x) FROM (VALUES (1)) AS t(x)", "parameters of sum"),
        ("SELECT count((SELECT 1))", ""),
        ("SELECT row_number() FILTER (WHERE x > 1) OVER () FROM (VALUES (1)) AS t(x)", "FILTER of row_number"),
        ("CREATE TABLE t (x INT PRIMARY KEY)", "PRIMARY KEY"),
        ("CREATE TABLE t (x INT, UNIQUE (x))", "UNIQUE"),
        ("CREATE TABLE t (x INT COMMENT 'a')", "COMMENT"),
        ("CREATE EXTERNAL TABLE t (x INT, PRIMARY KEY (x)) STORED AS CSV LOCATION 'x.csv'", "PRIMARY KEY"),
        ("DROP TABLE t CASCADE", "CASCADE"),
        ("DROP TABLE IF EXISTS t PURGE", "PURGE"),
    ] {
        let error = error(sql).await;
        match named {
            "" => assert_eq!(error, None, "{sql}"),
            named => assert!(error.as_ref().is_some_and(|error| error.contains(named)), "{sql}: {error:?}"),
        }
    }
}

/// Clauses that DataFusion supports still work.
#[tokio::test(flavor = "multi_thread")]
async fn supported_clauses_are_planned() {
    for sql in [
        "SELECT DISTINCT ON (x) x FROM (VALUES (1)) AS t(x) ORDER BY x",
        "SELECT DISTINCT x, count(DISTINCT f) FILTER (WHERE f > 1) FROM (VALUES (1, 2)) AS t(x, f) GROUP BY ROLLUP (x)",
        "SELECT count(DISTINCT x) OVER (PARTITION BY f ORDER BY f) FROM (VALUES (1, 2)) AS t(x, f)",
        "SELECT first_value(x) IGNORE NULLS OVER w FROM (VALUES (1)) AS t(x) WINDOW w AS (ORDER BY x)",
        "SELECT array_agg(x ORDER BY x) FROM (VALUES (1)) AS t(x) HAVING count(*) > 0",
        "SELECT * EXCLUDE (x) FROM (VALUES (1, 2)) AS t(x, f)",
        "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE x < 3) SELECT x FROM t LIMIT 2 OFFSET 1",
        "WITH t AS (SELECT 1 AS x) SELECT x FROM t ORDER BY x",
        "SELECT ceil(f), extract(year FROM d) FROM (VALUES (1.5, DATE '2024-01-01')) AS t(f, d)",
        "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4 ORDER BY 1 NULLS FIRST",
    ] {
        assert_eq!(error(sql).await, None, "{sql}");
    }
}
