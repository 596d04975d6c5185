//! Follows an array as it grows: refreshes the snapshot, and reads only the new fragments.
//!
//! ```sh
//! cargo run -p tdb-library --example follow
//! ```

use std::collections::HashSet;
use std::path::Path;

use tdb::array::FragmentEntry;
use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::Datatype;
use tdb::{Array, Order, WriteBatch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rain");
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("hour", 0u32..=9_999))
        .attribute(Attribute::new("rain", Datatype::Float32))
        .build()?;
    Array::create(&path, schema)?;

    let mut array = Array::open(&path)?;
    let mut seen = HashSet::new();
    for poll in 1..=3 {
        // In practice, another process writes.
        write(&path, poll)?;

        // Lists the folders again. Parsed schemas and fragment metadata stay in memory.
        array = array.refreshed(None)?;
        // Fragments never change. If other processes consolidate the array, use
        // `ArrayOptions::between` instead, because a new fragment may then contain known cells.
        let fragments = array.directory().fragments.iter();
        let new: Vec<FragmentEntry> =
            fragments.filter(|fragment| seen.insert(fragment.name.clone())).cloned().collect();
        println!("poll {poll}: {} new fragments", new.len());
        for batch in array.restricted_to(new).read().order(Order::RowMajor).batches()? {
            println!("new hours: {:?}", batch?.column("hour")?.values::<u32>()?);
        }
    }
    println!("{} fragments in total", array.fragments()?.len());
    Ok(())
}

/// Writes two fragments of two hours each.
fn write(path: &Path, day: u32) -> tdb::Result<()> {
    for start in [24 * day, 24 * day + 12] {
        let hours = [start, start + 6];
        Array::open(path)?.write().cells(WriteBatch::new().with("hour", &hours).with("rain", &[0.5f32, 2.0]))?;
    }
    Ok(())
}
