//! Opens an array, describes it, and prints its first cells.
//!
//! ```sh
//! cargo run -p tdb --example read -- fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use tdb::Array;

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

    // Batches keep memory bounded for arrays of any size. This example prints ten cells.
    if let Some(batch) = array.read().batches()?.next() {
        let batch = batch?;
        for cell in 0..batch.len().min(10) {
            for column in &batch {
                let shown = match column.cell(cell) {
                    None => "null".to_owned(),
                    Some(bytes) if column.datatype().is_string() => String::from_utf8_lossy(bytes).into_owned(),
                    // For a known type, `column.values::<i32>()` returns all values at once.
                    Some(bytes) => format!("{bytes:?}"),
                };
                print!("{}={shown} ", column.name());
            }
            println!();
        }
    }
    Ok(())
}
