//! Reads a result of any size page by page, within a memory budget.
//!
//! ```sh
//! cargo run -p tdb-library --example pages -- fixtures/v22-by-2.30.0-sparse-2d/array 25
//! ```

use tdb::{Array, Order};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: pages ARRAY [CELLS-PER-PAGE]")?;
    let page_cells = arguments.next().map_or(Ok(100_000), |cells| cells.parse::<usize>())?;

    // The budget limits the memory of the query. Pages can be smaller, but not larger.
    let query = Array::open(path)?.read().order(Order::RowMajor).budget(16 << 20).batch_cells(page_cells);
    let plan = query.plan()?;
    println!("{} tiles, {} bytes to read", plan.tile_count(), plan.bytes());

    // The query reads tiles as the loop proceeds. After a `break`, it reads no further tiles.
    for (page, batch) in (1..).zip(query.batches()?) {
        // The next page reuses the memory of a batch that the loop has dropped.
        let batch = batch?;
        println!("page {page}: {} cells in {} bytes", batch.len(), batch.memory());
    }
    Ok(())
}
