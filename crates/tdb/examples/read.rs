//! Opens an array, describes it, and prints its first cells.
//!
//! ```sh
//! cargo run -p tdb-library --example read -- fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use tdb::types::Scalar;
use tdb::{Array, Column, Order};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read ARRAY")?;
    let array = Array::open(path)?;
    let schema = array.schema();
    println!("{} array, format {}", schema.array_type(), schema.version());
    for dimension in schema.dimensions() {
        println!("dimension {}: {}", dimension.name(), dimension.datatype());
    }
    for attribute in schema.attributes() {
        println!("attribute {}: {}", attribute.name(), attribute.datatype());
    }

    // Batches keep memory bounded for arrays of any size. This example prints the first batch.
    if let Some(batch) = array.read().order(Order::RowMajor).batch_cells(10).batches()?.next() {
        let batch = batch?;
        for cell in 0..batch.len() {
            let shown = |column: &Column| format!("{}={}", column.name(), text(column, cell));
            println!("{}", batch.columns().iter().map(shown).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(())
}

/// Returns a cell of any type as text. For a known type, `column.values::<i32>()` returns all
/// values at once.
fn text(column: &Column, cell: usize) -> String {
    let Some(bytes) = column.cell(cell) else { return "null".to_owned() };
    if column.datatype().is_string() {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let value = Scalar::from_le_bytes(column.datatype().physical(), bytes);
    // A cell of several values is no scalar.
    value.map_or_else(|| format!("{bytes:?}"), |value| value.to_string())
}
