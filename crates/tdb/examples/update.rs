//! Updates a sparse array in place: overwrites cells, deletes cells, consolidates and vacuums.
//!
//! ```sh
//! cargo run -p tdb-library --example update
//! ```

use std::path::Path;

use tdb::array::WriteIds;
use tdb::condition::field;
use tdb::maintain::{ConsolidateFragments, Vacuum};
use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::Datatype;
use tdb::{Array, Order, WriteBatch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("stock");
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("item", 0u32..=999))
        .attribute(Attribute::new("count", Datatype::Int32))
        .build()?;
    Array::create(&path, schema)?;

    // Fixed times, in milliseconds, keep the example reproducible. The default is the current time.
    let at = |time| WriteIds::new().at(time);
    let cells = WriteBatch::new().with("item", &[1u32, 2, 3, 4]).with("count", &[10i32, 20, 30, 40]);
    Array::open(&path)?.write().ids(at(1)).cells(cells)?;
    let cells = WriteBatch::new().with("item", &[2u32, 4]).with("count", &[25i32, 0]);
    Array::open(&path)?.write().ids(at(2)).cells(cells)?;
    print("overwritten", &path)?;

    // Affects cells that were written up to the time of the deletion.
    Array::open(&path)?.delete_cells(&field("count").eq(0), &at(3))?;
    print("deleted", &path)?;

    // With `purge`, the new fragment omits the deleted cells, for readers of earlier times too.
    let report = ConsolidateFragments::new().purge(true).plan(&Array::open(&path)?)?.run()?;
    for step in report.steps {
        println!("consolidated {} fragments into {}", step.replaced.len(), step.fragments.len());
    }
    let report = Vacuum::fragments().plan(&Array::open(&path)?)?.run()?;
    println!("vacuumed {} files and folders, kept {}", report.steps.len(), report.left.len());
    print("maintained", &path)
}

/// Prints the visible cells and the number of fragments.
fn print(title: &str, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let array = Array::open(path)?;
    let mut cells = Vec::new();
    for batch in array.read().order(Order::RowMajor).batches()? {
        let batch = batch?;
        let counts: &[i32] = batch.column("count")?.values()?;
        cells.extend(batch.column("item")?.values::<u32>()?.iter().copied().zip(counts.iter().copied()));
    }
    println!("{title}: {cells:?}, fragments: {}", array.fragments()?.len());
    Ok(())
}
