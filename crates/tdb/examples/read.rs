//! Opens an array, says what it is, and prints its first cells.
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

    // Batch by batch, however large the array is; ten cells are enough here.
    if let Some(batch) = array.read().batches()?.next() {
        let batch = batch?;
        for cell in 0..batch.len().min(10) {
            for column in &batch {
                let shown = match column.cell(cell) {
                    None => "null".to_owned(),
                    Some(bytes) if column.datatype().is_string() => String::from_utf8_lossy(bytes).into_owned(),
                    // Of one known type, `column.values::<i32>()` gives all of them at once.
                    Some(bytes) => format!("{bytes:?}"),
                };
                print!("{}={shown} ", column.name());
            }
            println!();
        }
    }
    Ok(())
}
