//! Creates an array, writes cells twice, and reads some of them back.
//!
//! ```sh
//! cargo run -p tdb-library --example write -- NEW-FOLDER
//! ```

use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::{CellValNum, Datatype};
use tdb::{Array, Order, WriteBatch, WriteColumn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: write NEW-FOLDER")?;
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("position", 0u32..=999_999))
        .attribute(Attribute::new("depth", Datatype::Float32))
        .attribute(Attribute::new("base", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var))
        .build()?;
    Array::create(&path, schema)?;

    // Each write is atomic. Cells of later writes supersede cells with the same coordinates.
    for (positions, depths, bases) in [
        (&[30u32, 10, 20][..], &[1.0f32, 2.0, 3.0][..], ["G", "A", "CC"].as_slice()),
        (&[20, 40], &[9.0, 4.0], &["T", "ACGT"]),
    ] {
        let cells = WriteBatch::new()
            .with("position", WriteColumn::values(positions))
            .with("depth", WriteColumn::values(depths))
            .with("base", WriteColumn::strings(bases));
        let written = Array::open(&path)?.write().cells(cells)?;
        println!("{} cells written", written.cells);
    }

    for batch in Array::open(&path)?.read().range("position", 15..=35)?.order(Order::RowMajor).batches()? {
        let batch = batch?;
        let positions: &[u32] = batch.column("position")?.values()?;
        let depths: &[f32] = batch.column("depth")?.values()?;
        for (cell, (position, depth)) in positions.iter().zip(depths).enumerate() {
            let base = String::from_utf8_lossy(batch.column("base")?.cell_bytes(cell));
            println!("position {position}: depth {depth}, base {base}");
        }
    }
    Ok(())
}
