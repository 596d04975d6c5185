//! Reads a window of a dense array into an `ndarray::Array2`.
//!
//! ```sh
//! cargo run -p tdb-datafusion --example ndarray -- ../fixtures/v22-by-2.30.0-dense-2d-row-row/array
//! ```

use ndarray::{Array2, Axis};
use tdb_datafusion::tdb_array::{Array, Order};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let array = Array::open(std::env::args().nth(1).ok_or("usage: ndarray ARRAY")?)?;
    let (rows, columns) = (-1..=3, 2..=9);
    let shape = (rows.clone().count(), columns.clone().count());
    let query = array.read().select(["a"])?.range("y", rows)?.range("x", columns)?;

    // A large window arrives in several batches.
    let mut cells: Vec<i32> = Vec::with_capacity(shape.0 * shape.1);
    for batch in query.order(Order::RowMajor).batches()? {
        cells.extend_from_slice(batch?.column("a")?.values::<i32>()?);
    }
    let window = Array2::from_shape_vec(shape, cells)?;
    println!("{window}");
    println!("sums of rows: {}", window.sum_axis(Axis(1)));
    Ok(())
}
