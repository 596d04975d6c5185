use proptest::prelude::*;

use super::*;

/// Returns a tile of up to four dimensions, a box in it, and the order of the dimensions in the
/// result.
fn any_box() -> impl Strategy<Value = (Vec<(usize, usize, usize)>, Vec<usize>)> {
    let dimension = (1usize..7).prop_flat_map(|extent| {
        (0..extent).prop_flat_map(move |start| (Just(extent), Just(start), 1..=extent - start))
    });
    prop::collection::vec(dimension, 1..5).prop_flat_map(|dimensions| {
        let order: Vec<usize> = (0..dimensions.len()).collect();
        (Just(dimensions), Just(order).prop_shuffle())
    })
}

/// Returns the copy, and for each cell the offsets in tile and result.
fn model(dimensions: &[(usize, usize, usize)], order: &[usize]) -> (BoxCopy, Vec<(usize, usize)>) {
    let mut tile_strides = vec![1; dimensions.len()];
    for dimension in (1..dimensions.len()).rev() {
        tile_strides[dimension - 1] = tile_strides[dimension] * dimensions[dimension].0;
    }
    let mut result_strides = vec![0; dimensions.len()];
    let mut stride = 1;
    for &dimension in order.iter().rev() {
        result_strides[dimension] = stride;
        stride *= dimensions[dimension].2;
    }
    let mut cells = vec![(0, 0)];
    for (dimension, &(_, start, len)) in dimensions.iter().enumerate() {
        let next = cells.iter().flat_map(|&(from, to)| {
            let (tile, result) = (tile_strides[dimension], result_strides[dimension]);
            (0..len).map(move |at| (from + (start + at) * tile, to + at * result))
        });
        cells = next.collect();
    }
    let strides = dimensions.iter().enumerate().map(|(dimension, &(_, _, len))| Stride {
        len,
        from: tile_strides[dimension] as u64,
        to: result_strides[dimension],
    });
    (BoxCopy::new(cells[0].0 as u64, cells[0].1, strides), cells)
}

proptest! {
    #[test]
    fn copies_each_cell_to_its_place((dimensions, order) in any_box(), window in 1u64..40) {
        let (copy, cells) = model(&dimensions, &order);
        let tile: Vec<u32> = (0..dimensions.iter().map(|dimension| dimension.0 as u32).product()).collect();
        let mut expected = vec![u32::MAX; cells.len()];
        for &(from, to) in &cells {
            expected[to] = tile[from];
        }
        prop_assert_eq!(copy.cells(), cells.len());
        prop_assert_eq!(copy.last(), cells.last().unwrap().0 as u64);

        let mut result = vec![u32::MAX; cells.len()];
        copy.parts_in(0..tile.len() as u64, &mut |part| part.copy(0, &tile, &mut result));
        prop_assert_eq!(&result, &expected);

        // Window by window, with only the cells of the window available.
        let mut result = vec![u32::MAX; cells.len()];
        for (index, chunk) in tile.chunks(window as usize).enumerate() {
            let start = index as u64 * window;
            let range = start..start + chunk.len() as u64;
            let inside = cells.iter().any(|(from, _)| range.contains(&(*from as u64)));
            let mut parts = 0;
            copy.parts_in(range, &mut |part| {
                parts += 1;
                part.copy(start, chunk, &mut result);
            });
            prop_assert_eq!(parts > 0, inside);
        }
        prop_assert_eq!(&result, &expected);

        // Row by row.
        let mut result = vec![u32::MAX; cells.len()];
        let mut end = 0;
        copy.runs(|from, to, len| {
            assert!(end <= from);
            end = from + len as u64;
            result[to..to + len].copy_from_slice(&tile[from as usize..][..len]);
        });
        prop_assert_eq!(&result, &expected);
    }

    #[test]
    fn cells_may_be_several_units((dimensions, order) in any_box(), units in 1usize..5) {
        let (copy, cells) = model(&dimensions, &order);
        let tile: Vec<u32> = (0..(units * dimensions.iter().map(|dimension| dimension.0).product::<usize>()) as u32).collect();
        let mut expected = vec![u32::MAX; cells.len() * units];
        for &(from, to) in &cells {
            expected[to * units..][..units].copy_from_slice(&tile[from * units..][..units]);
        }
        let mut result = vec![u32::MAX; cells.len() * units];
        copy.in_units(units).parts_in(0..tile.len() as u64, &mut |part| part.copy(0, &tile, &mut result));
        prop_assert_eq!(&result, &expected);
    }
}

#[test]
fn adjacent_loops_are_merged() {
    let strides = [(4, 100, 100), (10, 10, 10), (10, 1, 1)].map(|(len, from, to)| Stride { len, from, to });
    assert_eq!(BoxCopy::new(7, 3, strides), BoxCopy::run(7, 3, 400));
    let strides = [(4, 100, 50), (1, 10, 77), (10, 1, 1)].map(|(len, from, to)| Stride { len, from, to });
    assert_eq!(BoxCopy::new(0, 0, strides).strides.len(), 2);
}
