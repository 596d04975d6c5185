//! The global order, compared with the order in which the reference library reads the cells of its
//! arrays.

use std::cmp::Ordering;

use tdb_schema::ArraySchema;
use tdb_schema::global_order::{Coordinate, GlobalOrder, make_comparable};
use tdb_schema::hilbert::CoordinateColumn;
use tdb_testkit::fixtures::{self, ColumnBytes, Fixture, Order, Query};
use tdb_types::{Limits, ordered_keys};

/// The coordinates of the cells that a query returned, along each dimension.
struct Coordinates {
    cells: usize,
    columns: Vec<ColumnBytes>,
    keys: Vec<Vec<u64>>,
}

impl Coordinates {
    /// Returns `None` if the query does not return all dimensions.
    fn of(query: &Query, schema: &ArraySchema) -> Option<Self> {
        let column = |name: &str| query.columns.iter().find(|column| column.name == name);
        let columns: Vec<ColumnBytes> = schema
            .dimensions()
            .iter()
            .map(|dimension| Some(column(dimension.name())?.to_bytes()))
            .collect::<Option<_>>()?;
        let keys = columns.iter().zip(schema.dimensions()).map(|(column, dimension)| {
            let mut keys = Vec::new();
            ordered_keys(dimension.physical(), &column.values, &mut keys);
            make_comparable(dimension.physical(), &mut keys);
            keys
        });
        let keys = keys.collect();
        Some(Self { cells: query.cells, columns, keys })
    }

    fn columns(&self) -> Vec<CoordinateColumn<'_>> {
        // The offsets end with the length of the values, which `CoordinateColumn` omits.
        let columns = self.columns.iter().map(|column| match &column.offsets {
            Some(offsets) => CoordinateColumn::Strings { offsets: &offsets[..self.cells], values: &column.values },
            None => CoordinateColumn::Values(&column.values),
        });
        columns.collect()
    }

    fn cell(&self, cell: usize) -> Vec<Coordinate<'_>> {
        let string = |offsets: &[u64]| offsets[cell] as usize..offsets[cell + 1] as usize;
        let coordinates = self.columns.iter().zip(&self.keys).map(|(column, keys)| match &column.offsets {
            Some(offsets) => Coordinate::String(&column.values[string(offsets)]),
            None => Coordinate::Key(keys[cell]),
        });
        coordinates.collect()
    }
}

/// Returns the first schema of an array, or `None` if a key is needed to read it.
fn schema(fixture: &Fixture) -> Option<ArraySchema> {
    let path = fixture.array_files().find(|path| path.starts_with("__schema/__1"))?;
    ArraySchema::parse_file(&fixture.read(path), &Limits::default(), None).ok().map(|(schema, _)| schema)
}

/// Compares two cells like a sorter: leading words, then coordinates.
fn compare(words: &[Vec<u64>], order: &GlobalOrder, cells: &Coordinates, a: usize, b: usize) -> Ordering {
    let leading = words.iter().map(|word| word[a].cmp(&word[b]));
    let (a, b) = (cells.cell(a), cells.cell(b));
    let coordinates = order.cell_dimensions().iter().map(|&dimension| match (a[dimension], b[dimension]) {
        (Coordinate::Key(a), Coordinate::Key(b)) => a.cmp(&b),
        (Coordinate::String(a), Coordinate::String(b)) => a.cmp(b),
        _ => panic!("a dimension has one kind of coordinates"),
    });
    leading.chain(coordinates).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

#[test]
fn cells_match_the_order_of_the_reference_library() {
    let (mut queries, mut cells_seen) = (0, 0);
    for fixture in fixtures::all() {
        let Some(schema) = schema(&fixture).filter(|schema| !schema.is_dense()) else { continue };
        let order = GlobalOrder::new(&schema).expect("an order");
        for query in fixture.expected().queries {
            let Some(cells) = Coordinates::of(&query, &schema) else { continue };
            if query.layout != "global" || query.order != Order::Exact {
                continue;
            }
            let columns = cells.columns();
            let words: Vec<Vec<u64>> = (0..order.leading_word_count())
                .map(|word| {
                    let mut words = Vec::new();
                    order.leading_word(word, &columns, &mut words);
                    assert_eq!(words.len(), cells.cells);
                    words
                })
                .collect();
            for next in 1..cells.cells {
                let place = || format!("{}, {}: cells {} and {next}", fixture.name(), query.name, next - 1);
                let ordering = compare(&words, &order, &cells, next - 1, next);
                assert!(ordering.is_lt() || (ordering.is_eq() && schema.allows_duplicates()), "{}", place());
                let directly = order.compare(&cells.cell(next - 1), &cells.cell(next));
                assert_eq!(directly, ordering, "{}", place());
            }
            queries += 1;
            cells_seen += cells.cells;
        }
    }
    assert!(queries > 40 && cells_seen > 1500, "only {queries} queries, {cells_seen} cells");
}
