//! Reads the matching cells of an array as Arrow record batches.
//!
//! ```sh
//! cargo run -p tdb-datafusion --example record_batches -- ../fixtures/v22-by-2.30.0-sparse-2d/array 'a > 570'
//! ```

use tdb_datafusion::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tdb_datafusion::tdb_array::{Array, Order};
use tdb_datafusion::tdb_arrow::{ArrowOptions, Reader, schema};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(condition)) = (arguments.next(), arguments.next()) else {
        return Err("usage: record_batches ARRAY CONDITION".into());
    };
    let array = Array::open(path)?;
    let options = ArrowOptions::new();
    for field in schema(&array, &options)?.fields() {
        println!("{}: {}", field.name(), field.data_type());
    }

    // The batches share the memory of the cells where the layouts agree.
    let query = array.read().order(Order::RowMajor).filter(condition.parse()?);
    for batch in Reader::new(query, &options)? {
        let batch = batch?;
        let format = FormatOptions::new();
        let columns: Result<Vec<_>, _> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &format)).collect();
        let columns = columns?;
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            println!("{}", cells.join(" "));
        }
    }
    Ok(())
}
