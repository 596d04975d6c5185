use proptest::prelude::*;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{Datatype, FormatVersion, Layout, Scalar};

use super::*;
use crate::header::LEGACY_SCHEMA_NAME;

fn header(dense: bool, domain: &[(i32, i32)]) -> FooterHeader {
    let range = |&(lo, hi): &(i32, i32)| DimRange::Fixed { lo: Scalar::I32(lo).key(), hi: Scalar::I32(hi).key() };
    FooterHeader {
        non_empty_domain: Some(NdRange(domain.iter().map(range).collect())),
        last_tile_cells: 1,
        ..FooterHeader::new(FormatVersion::DEFAULT, LEGACY_SCHEMA_NAME, dense)
    }
}

/// A dense schema. Each dimension has a low end, a high end and a tile extent.
fn schema(order: Layout, dimensions: &[(i32, i32, i32)]) -> ArraySchema {
    let mut builder = SchemaBuilder::dense().tile_order(order).attribute(Attribute::new("a", Datatype::UInt8));
    for (index, (low, high, extent)) in dimensions.iter().enumerate() {
        let dimension = Dimension::new(format!("d{index}"), *low..=*high);
        builder = builder.dimension(dimension.with_tile(*extent));
    }
    builder.build().unwrap()
}

fn grid(order: Layout, dimensions: &[(i32, i32, i32)], domain: &[(i32, i32)]) -> Result<DenseGrid> {
    match Tiles::new(&header(true, domain), &schema(order, dimensions))? {
        Tiles::Dense(grid) => Ok(grid),
        Tiles::Sparse(_) => panic!("sparse"),
    }
}

#[test]
fn tiles_are_numbered_in_tile_order() {
    let dimensions = [(1, 8, 2), (1, 9, 3)];
    let row = grid(Layout::RowMajor, &dimensions, &[(3, 6), (1, 9)]).unwrap();
    let numbers = |grid: &DenseGrid| -> Vec<_> {
        [[1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]].iter().map(|tile| grid.index_of(tile).unwrap()).collect()
    };
    assert_eq!(numbers(&row), [0, 1, 2, 3, 4, 5]);
    let col = grid(Layout::ColMajor, &dimensions, &[(3, 6), (1, 9)]).unwrap();
    assert_eq!(numbers(&col), [0, 2, 4, 1, 3, 5]);
    for outside in [&[0, 0][..], &[3, 0], &[1, 3], &[1], &[1, 0, 0]] {
        assert_eq!(row.index_of(outside), None, "{outside:?}");
    }
    assert_eq!((row.tile_count(), row.cells_per_tile()), (6, 6));
}

#[test]
fn edges_of_the_non_empty_domain() {
    let grid = grid(Layout::RowMajor, &[(0, 99, 10), (0, 9, 10)], &[(15, 32), (2, 3)]).unwrap();
    let visible: Vec<_> = (0..4).map(|tile| grid.visible_cells_in(tile)).collect();
    assert_eq!(visible, [Some(5 * 2), Some(10 * 2), Some(3 * 2), None]);
    assert_eq!(grid.visible_cell_count(), 18 * 2);
}

#[test]
fn domains_by_old_consolidation_may_extend_to_the_end_of_the_last_tile() {
    let dimensions = [(1, 10, 4)];
    assert_eq!(grid(Layout::RowMajor, &dimensions, &[(1, 12)]).unwrap().tile_count(), 3);
    for domain in [(1, 13), (0, 5), (6, 5), (i32::MIN, i32::MAX)] {
        let error = grid(Layout::RowMajor, &dimensions, &[domain]).unwrap_err().to_string();
        assert!(error.starts_with("non-empty domain: found keys"), "{domain:?}: {error}");
    }
}

#[test]
fn the_last_tile_may_end_beyond_the_datatype() {
    let dimensions = [(0, i32::MAX, 250_000)];
    let grid = grid(Layout::RowMajor, &dimensions, &[(2_147_249_998, i32::MAX - 1)]).unwrap();
    let along = grid.dimensions()[0];
    assert_eq!((along.first, along.count, along.extent), (8588, 2, 250_000));
    assert_eq!((along.before, along.behind), (249_998, 250_000 - 233_647));
    assert_eq!([grid.visible_cells_in(0), grid.visible_cells_in(1)], [Some(2), Some(233_647)]);
    assert_eq!(grid.visible_cell_count(), 233_649);
}

#[test]
fn grids_that_overflow_are_rejected() {
    let whole = [(i32::MIN, i32::MAX - 1, 1); 3];
    let error = grid(Layout::RowMajor, &whole, &[(i32::MIN, i32::MAX - 1); 3]).unwrap_err();
    assert!(error.to_string().starts_with("tiles of the fragment"), "{error}");
    let error = grid(Layout::RowMajor, &[(0, 100, 10)], &[]).unwrap_err();
    assert!(error.to_string().starts_with("non-empty domain"), "{error}");
}

#[test]
fn sparse_tiles() {
    let dimension = Dimension::new("d", 0i32..=9);
    let schema = SchemaBuilder::sparse().capacity(100).dimension(dimension).build().unwrap();
    let with = |count, last| {
        let header = FooterHeader { sparse_tile_count: count, last_tile_cells: last, ..header(false, &[(0, 9)]) };
        Tiles::new(&header, &schema)
    };
    let tiles = with(3, 7).unwrap();
    assert_eq!([0, 2, 3].map(|tile| tiles.cells_in(tile)), [Some(100), Some(7), None]);
    assert_eq!((tiles.cell_count(), tiles.visible_cell_count()), (207, 207));
    let none = with(0, 0).unwrap();
    assert_eq!((none.cells_in(0), none.cell_count()), (None, 0));
    for (count, last) in [(1, 0), (1, 101), (u64::MAX, 1)] {
        assert!(with(count, last).is_err(), "{count} tiles, {last} cells in the last");
    }
    let dense = Tiles::new(&header(true, &[(0, 9)]), &schema).unwrap_err();
    assert!(dense.to_string().contains("a dense fragment"), "{dense}");
}

proptest! {
    /// Compares the grid with a count, cell by cell, of the tiles of the non-empty domain.
    #[test]
    fn grid_against_cells(
        extents in prop::collection::vec(1..6i32, 1..4),
        corners in prop::collection::vec((0..12i32, 0..12i32), 3),
        col_major: bool,
    ) {
        let order = if col_major { Layout::ColMajor } else { Layout::RowMajor };
        let dimensions: Vec<_> = extents.iter().map(|extent| (-3, 8, *extent)).collect();
        let domain: Vec<_> =
            corners.iter().take(extents.len()).map(|(a, b)| (a.min(b) - 3, a.max(b) - 3)).collect();
        let grid = grid(order, &dimensions, &domain).unwrap();
        let mut cells = std::collections::BTreeMap::<u64, u64>::new();
        let mut cell: Vec<i32> = domain.iter().map(|(lo, _)| *lo).collect();
        loop {
            let tile: Vec<u64> = cell.iter().zip(&extents).map(|(at, extent)| ((at + 3) / extent) as u64).collect();
            let number = grid.index_of(&tile).unwrap();
            for (dimension, index) in tile.iter().enumerate() {
                prop_assert_eq!(grid.tile_index(number, dimension), Some(*index));
            }
            *cells.entry(number).or_default() += 1;
            let Some(next) = (0..cell.len()).rev().find(|at| cell[*at] < domain[*at].1) else { break };
            cell[next] += 1;
            for after in next + 1..cell.len() {
                cell[after] = domain[after].0;
            }
        }
        let expected: Vec<_> = (0..grid.tile_count()).map(|tile| (tile, grid.visible_cells_in(tile).unwrap())).collect();
        prop_assert_eq!(cells.into_iter().collect::<Vec<_>>(), expected);
    }
}
