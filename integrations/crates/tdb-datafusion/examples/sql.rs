//! Queries an array by SQL, and registers it under a name.
//!
//! ```sh
//! cargo run -p tdb-datafusion --example sql -- ../fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use tdb_datafusion::datafusion::arrow::util::pretty::pretty_format_batches;
use tdb_datafusion::{Opener, SessionOptions, session};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: sql ARRAY")?;
    let session = session(SessionOptions::new(Opener::local()))?;

    // A table by path shows the array at the time of the query.
    let sql = format!("SELECT count(*) AS cells, min(a) AS low, max(a) AS high FROM '{path}' WHERE y BETWEEN 0 AND 5");
    println!("{}", pretty_format_batches(&session.sql(&sql).await?.collect().await?)?);

    session.sql(&format!("CREATE EXTERNAL TABLE points STORED AS TILEDB LOCATION '{path}'")).await?.collect().await?;
    let sql = "SELECT y, count(*) AS cells, sum(a) AS total FROM points GROUP BY y ORDER BY total DESC LIMIT 3";
    println!("{}", pretty_format_batches(&session.sql(sql).await?.collect().await?)?);
    Ok(())
}
