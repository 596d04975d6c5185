//! Evolves a schema: adds an attribute, extends an enumeration, and reads old and new cells.
//!
//! ```sh
//! cargo run -p tdb-library --example evolve
//! ```

use tdb::array::WriteIds;
use tdb::condition::field;
use tdb::schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution};
use tdb::types::Datatype;
use tdb::{Array, Order, Query, WriteBatch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("parts");
    // Cells store the indices of the values.
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("part", 0u32..=999))
        .enumeration(EnumerationRef::unplaced("color"))
        .attribute(Attribute::new("paint", Datatype::UInt8).with_enumeration("color"))
        .build()?;
    let colors = Enumeration::strings("color", "", Datatype::StringUtf8, ["red", "green"])?;
    Array::create(&path, ArrayDefinition::new(schema)?.with_enumeration(colors)?)?;
    Array::open(&path)?.write().cells(WriteBatch::new().with("part", &[1u32, 2]).with("paint", &[0u8, 1]))?;

    // The evolution writes a new schema. The fragment does not change. With `nullable(false)`, its
    // cells read as null.
    let weight = Attribute::new("weight", Datatype::Float32).nullable(false);
    let evolution = SchemaEvolution::new().add_attribute(weight).extend_enumeration("color", ["blue"]);
    Array::open(&path)?.evolve(&evolution, &WriteIds::new())?;

    let array = Array::open(&path)?;
    let blue = array.enumeration("color")?.index_of(b"blue").ok_or("unknown color")?;
    let paint = [u8::try_from(blue)?];
    array.write().cells(WriteBatch::new().with("part", &[3u32]).with("paint", &paint).with("weight", &[2.5f32]))?;

    let array = Array::open(&path)?;
    println!("all parts");
    print(&array, array.read())?;
    // Conditions name the values, not the indices.
    println!("blue parts");
    print(&array, array.read().filter(field("paint").eq("blue")))
}

fn print(array: &Array, query: Query) -> Result<(), Box<dyn std::error::Error>> {
    let colors = array.enumeration("color")?;
    for batch in query.order(Order::RowMajor).batches()? {
        let batch = batch?;
        let (paint, weights) = (batch.column("paint")?.values::<u8>()?, batch.column("weight")?);
        for (cell, part) in batch.column("part")?.values::<u32>()?.iter().enumerate() {
            let color = String::from_utf8_lossy(colors.value(paint[cell].into()).unwrap_or_default());
            // Cells of older fragments have the fill value of the attribute, here null.
            let weight = weights.is_valid(cell).then_some(weights.values::<f32>()?[cell]);
            println!("part {part}: {color}, weight {weight:?}");
        }
    }
    Ok(())
}
