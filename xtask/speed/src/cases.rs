//! Cases: reads of arrays.

mod case;
mod conditions;
mod dense;
mod many;
mod sparse;
mod windows;

use crate::arrays::{scaled, scaled_side};
pub use case::{Asking, Case, case};

/// Returns all cases. `scale` multiplies the numbers of cells.
pub fn all(scale: f64) -> Vec<Case> {
    let side = scaled_side(8192, 512, scale);
    let cells = |millions| scaled(millions, scale);
    let mut cases = dense::dense_cases(side);
    cases.extend(dense::chain_cases(side / 2));
    cases.extend(dense::image_cases(scale));
    cases.extend(sparse::sparse_cases(cells(10.0), cells(5.0), cells(2.0)));
    cases.extend(sparse::layer_cases(cells(5.0), cells(2.0)));
    cases.extend(conditions::condition_cases(side, cells(10.0)));
    cases.extend(conditions::aggregate_cases(side, cells(10.0)));
    cases.extend(many::many_cases(side, cells(10.0)));
    cases
}
