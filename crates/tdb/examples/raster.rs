//! Reads a dense raster into a `Vec` with a shape: the center, and each third cell as an overview.
//!
//! ```sh
//! cargo run -p tdb-library --example raster -- fixtures/v22-by-2.30.0-dense-2d-row-row/array
//! ```

use std::ops::RangeInclusive;

use tdb::schema::Dimension;
use tdb::{Array, Order};

/// A range of coordinates.
type Span = RangeInclusive<i64>;

/// Values of an attribute in row-major order.
struct Raster {
    shape: [usize; 2],
    values: Vec<i32>,
}

impl Raster {
    /// Reads the first attribute at the given coordinates of both dimensions.
    fn read(array: &Array, y: (&Dimension, Vec<Span>), x: (&Dimension, Vec<Span>)) -> tdb::Result<Self> {
        // Dense arrays have at least one attribute.
        let attribute = array.schema().attributes()[0].name();
        let shape: [usize; 2] = [&y.1, &x.1].map(|spans| spans.iter().map(|span| span.clone().count()).sum());
        let query = array.read().select([attribute])?.ranges(y.0.name(), y.1)?.ranges(x.0.name(), x.1)?;
        let mut values = Vec::with_capacity(shape[0] * shape[1]);
        for batch in query.order(Order::RowMajor).batches()? {
            values.extend_from_slice(batch?.column(attribute)?.values::<i32>()?);
        }
        Ok(Self { shape, values })
    }

    fn print(&self, title: &str) {
        let [rows, columns] = self.shape;
        println!("{title}: {rows} x {columns}");
        self.values.chunks(columns).for_each(|row| println!("{row:?}"));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let array = Array::open(std::env::args().nth(1).ok_or("usage: raster ARRAY")?)?;
    let [y, x] = array.schema().dimensions() else { return Err("expected two dimensions".into()) };
    let (Some(rows), Some(columns)) = (domain(y), domain(x)) else { return Err("expected integers".into()) };

    // Reads only the tiles that intersect the ranges.
    Raster::read(&array, (y, vec![center(&rows)]), (x, vec![center(&columns)]))?.print("center");

    // A stride is a list of ranges of a single coordinate.
    let each_third = |all: Span| all.step_by(3).map(|at| at..=at).collect();
    Raster::read(&array, (y, each_third(rows)), (x, each_third(columns)))?.print("each third cell");
    Ok(())
}

/// Returns the domain of a dimension of integers, or `None` for other dimensions.
fn domain(dimension: &Dimension) -> Option<Span> {
    let (low, high) = dimension.domain()?;
    Some(i64::try_from(low.to_integer()?).ok()?..=i64::try_from(high.to_integer()?).ok()?)
}

/// Returns the middle half of a range.
fn center(all: &Span) -> Span {
    let quarter = (all.end() - all.start() + 1) / 4;
    all.start() + quarter..=all.end() - quarter
}
