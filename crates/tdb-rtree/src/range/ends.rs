//! Minimum and maximum of values.

use tdb_types::{PhysicalType, Scalar, with_physical};

/// Returns the minimum and maximum value, or `None` without values. The first of equal values
/// counts. NaNs are ignored, except in first position.
pub(super) fn of_cells(physical: PhysicalType, cells: &[u8]) -> Option<[Scalar; 2]> {
    Some(with_physical!(physical, T => of_values(cells, T::from_le_bytes)?.map(Scalar::from)))
}

fn of_values<T: Copy + PartialOrd, const SIZE: usize>(cells: &[u8], value: impl Fn([u8; SIZE]) -> T) -> Option<[T; 2]> {
    let mut values = cells.as_chunks::<SIZE>().0.iter().map(|bytes| value(*bytes));
    let first = values.next()?;
    let ends = values.fold([first, first], |[lo, hi], value| {
        [if value < lo { value } else { lo }, if value > hi { value } else { hi }]
    });
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results equal those of comparing scalars one by one.
    #[test]
    fn values_of_each_type_are_compared_as_scalars() {
        let bytes: Vec<u8> = (0..800_u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for physical in PhysicalType::ALL {
            let size = physical.size();
            for cells in [1, 2, 7, 100] {
                let cells = &bytes[..cells * size];
                let mut scalars = cells.chunks(size).filter_map(|bytes| Scalar::from_le_bytes(physical, bytes));
                let first = scalars.next().expect("a cell");
                let ends = scalars.fold([first, first], |[lo, hi], scalar| {
                    [if scalar < lo { scalar } else { lo }, if scalar > hi { scalar } else { hi }]
                });
                let keys = |ends: [Scalar; 2]| ends.map(Scalar::key);
                assert_eq!(of_cells(physical, cells).map(keys), Some(keys(ends)), "{physical:?}");
            }
            assert_eq!(of_cells(physical, &[]), None);
        }
    }

    #[test]
    fn the_first_zero_and_a_leading_nan_count() {
        let ends = |values: &[f64]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            of_cells(PhysicalType::F64, &bytes).map(|ends| ends.map(Scalar::key))
        };
        let key = |value: f64| Scalar::F64(value).key();
        assert_eq!(ends(&[0.0, -0.0]), Some([key(0.0); 2]));
        assert_eq!(ends(&[-0.0, 0.0]), Some([key(-0.0); 2]));
        assert_eq!(ends(&[1.0, f64::NAN, 2.0]), Some([key(1.0), key(2.0)]));
        assert_eq!(ends(&[f64::NAN, 2.0, 1.0]), Some([key(f64::NAN); 2]));
    }
}
