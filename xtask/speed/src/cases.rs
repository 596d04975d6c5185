//! What is read.

mod case;
mod many;

use tdb_types::{Datatype, Layout};

pub use case::{Asking, Case};
use case::{case, plain, zstd};

use super::arrays::{SpeedArray, dense, dense_of, layered, many_fragments, sparse, strings};
use tdb_reference::model::{
    AggregateFunction, AggregateSpec, Comparison, Condition, FilterSpec, Pipeline, QuerySpec, RangesSpec, Rule,
    attribute, bytes_of,
};

/// All cases; `scale` multiplies the numbers of cells.
pub fn all(scale: f64) -> Vec<Case> {
    let side = (8192.0 * scale.sqrt() / 512.0).round().max(1.0) as u64 * 512;
    let cells = |millions: f64| (millions * 1e6 * scale).max(1000.0) as u64;
    let mut cases = dense_cases(side);
    cases.extend(filter_cases(side / 2));
    cases.extend(sparse_cases(cells(10.0), cells(5.0), cells(2.0)));
    let all = || QuerySpec::all(Layout::RowMajor);
    cases.extend(condition_cases(side, cells(10.0)));
    cases.extend(aggregate_cases(side, cells(10.0)));
    cases.extend(many::many_cases(side, cells(10.0)));
    cases.push(case("open, 1,000 fragments", many_fragments(false), all()));
    cases.push(case("open, 1,000 fragments, consolidated metadata", many_fragments(true), all()));
    cases
}

fn square(first: i64, len: i64) -> QuerySpec {
    let range = |name: &str| RangesSpec {
        dimension: name.to_owned(),
        ranges: vec![(bytes_of([first]), bytes_of([first + len - 1]))],
    };
    QuerySpec { ranges: vec![range("y"), range("x")], ..QuerySpec::all(Layout::RowMajor) }
}

fn dense_cases(side: u64) -> Vec<Case> {
    let plain = dense("plain", side, plain());
    let zstd = dense("zstd", side, zstd());
    let middle = side as i64 / 2 + 100;
    let all = QuerySpec::all;
    let mut cases = vec![
        case("dense, unfiltered, all", plain.clone(), all(Layout::RowMajor)),
        Case { whole: true, ..case("dense, unfiltered, all, as one", plain.clone(), all(Layout::RowMajor)) },
        case("dense, unfiltered, all, global", plain.clone(), all(Layout::GlobalOrder)),
        case("dense, unfiltered, all, col-major", plain.clone(), all(Layout::ColMajor)),
        case("dense, unfiltered, 2000 x 2000", plain.clone(), square(side as i64 / 4 + 10, 2000.min(side as i64 / 2))),
        case("dense, unfiltered, 64 x 64", plain.clone(), square(middle, 64)),
        case("dense, unfiltered, one point", plain, square(middle, 1)),
        case("dense, zstd, all", zstd.clone(), all(Layout::RowMajor)),
        case("dense, zstd, 64 x 64", zstd.clone(), square(middle, 64)),
        case("dense, zstd, one point", zstd, square(middle, 1)),
        case("dense, eight layers, all", layered(side / 2), all(Layout::RowMajor)),
    ];
    let words = attribute("word", Datatype::StringUtf8).var();
    let words = dense_of("words", side / 4, words, Rule::Word { seed: 9 });
    cases.push(case("dense, strings, all", words.clone(), all(Layout::RowMajor)));
    cases.push(case("dense, strings, 64 x 64", words, square(side as i64 / 8, 64)));
    let nullable = dense_of(
        "int64-delta",
        side / 2,
        attribute("time", Datatype::Int64).filters([FilterSpec::DoubleDelta { reinterpret: None }]),
        Rule::Ascending { seed: 2 },
    );
    cases.push(case("dense, double delta, all", nullable, all(Layout::RowMajor)));
    cases
}

/// Conditions that no tile can meet, that cells in a row meet, and that cells everywhere do.
fn condition_cases(side: u64, ten: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let grid = dense("zstd", side, zstd());
    let where_ = |layout, condition| QuerySpec { condition: Some(condition), ..QuerySpec::all(layout) };
    let above = |name: &str, value: f64| Condition::compare(name, Comparison::Greater, value.to_le_bytes());
    let rows = |first: i64, end: i64| {
        let from = Condition::compare("y", Comparison::GreaterOrEqual, first.to_le_bytes());
        from.and(Condition::compare("y", Comparison::Less, end.to_le_bytes()))
    };
    vec![
        case("condition, sparse, none", plain_points.clone(), where_(Layout::GlobalOrder, above("a", 1e300))),
        case("condition, sparse, in a row", plain_points.clone(), where_(Layout::GlobalOrder, rows(1000, 1100))),
        case("condition, sparse, everywhere", plain_points, where_(Layout::GlobalOrder, above("a", 110.0))),
        case("condition, sparse, zstd, everywhere", zstd_points, where_(Layout::GlobalOrder, above("a", 110.0))),
        case("condition, dense, zstd, none", grid.clone(), where_(Layout::RowMajor, above("value", 1e300))),
        case("condition, dense, zstd, everywhere", grid, where_(Layout::RowMajor, above("value", 110.0))),
    ]
}

/// Count, sum, least and greatest value of one attribute: of all cells, of those in a box, and of those that fulfil a condition.
fn aggregate_cases(side: u64, ten: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let layers = sparse("layers", ten / 2, 8, plain(), Layout::RowMajor);
    let plain_grid = dense("plain", side, plain());
    let zstd_grid = dense("zstd", side, zstd());
    let all = QuerySpec::all(Layout::RowMajor);
    let above = |name: &str| {
        let condition = Condition::compare(name, Comparison::Greater, 110.0_f64.to_le_bytes());
        QuerySpec { condition: Some(condition), ..all.clone() }
    };
    let middle = square(side as i64 / 4 + 10, 2000.min(side as i64 / 2));
    let of = |name: &str, array: &SpeedArray, field: &str, query: &QuerySpec| {
        let functions = [AggregateFunction::Sum, AggregateFunction::Min, AggregateFunction::Max];
        let mut aggregates: Vec<_> = functions.iter().map(|function| AggregateSpec::of(*function, field)).collect();
        // Of dense arrays the library counts the cells that don't fulfil the condition, too.
        if query.condition.is_none() || field == "a" {
            aggregates.push(AggregateSpec::count());
        }
        Case { aggregates, ..case(&format!("aggregates, {name}"), array.clone(), query.clone()) }
    };
    vec![
        of("sparse, all", &plain_points, "a", &all),
        of("sparse, box", &plain_points, "a", &square(1000, 2000)),
        of("sparse, zstd, box", &zstd_points, "a", &square(1000, 2000)),
        of("sparse, condition", &plain_points, "a", &above("a")),
        of("sparse, zstd, condition", &zstd_points, "a", &above("a")),
        of("sparse, eight fragments", &layers, "a", &all),
        of("dense, all", &plain_grid, "value", &all),
        of("dense, 2000 x 2000", &plain_grid, "value", &middle),
        of("dense, zstd, 2000 x 2000", &zstd_grid, "value", &middle),
        of("dense, condition", &plain_grid, "value", &above("value")),
    ]
}

fn filter_cases(side: u64) -> Vec<Case> {
    let pipelines: [(&str, Pipeline); 8] = [
        ("gzip", [FilterSpec::Gzip { level: Some(6) }].into()),
        ("lz4", [FilterSpec::Lz4 { level: None }].into()),
        ("bzip2", [FilterSpec::Bzip2 { level: Some(1) }].into()),
        ("byteshuffle-zstd", [FilterSpec::Byteshuffle, FilterSpec::Zstd { level: Some(3) }].into()),
        ("bitshuffle-lz4", [FilterSpec::Bitshuffle, FilterSpec::Lz4 { level: None }].into()),
        ("xor-zstd", [FilterSpec::Xor, FilterSpec::Zstd { level: Some(3) }].into()),
        ("float-scale", [FilterSpec::ScaleFloat { factor: 1.0 / 128.0, offset: 0.0, byte_width: 4 }].into()),
        ("sha256", [FilterSpec::ChecksumSha256].into()),
    ];
    pipelines
        .into_iter()
        .map(|(name, pipeline)| {
            case(&format!("dense, {name}, all"), dense(name, side, pipeline), QuerySpec::all(Layout::RowMajor))
        })
        .collect()
}

fn sparse_cases(ten: u64, five: u64, two: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let layers = sparse("layers", ten / 2, 8, plain(), Layout::RowMajor);
    let hilbert = sparse("hilbert", five, 1, plain(), Layout::Hilbert);
    let hilbert_layers = sparse("hilbert-layers", two, 4, plain(), Layout::Hilbert);
    let strings = strings(two);
    let all = QuerySpec::all;
    let box_of = |first, len, layout| QuerySpec { layout, ..square(first, len) };
    vec![
        case("sparse, unfiltered, global", plain_points.clone(), all(Layout::GlobalOrder)),
        case("sparse, unfiltered, row-major", plain_points.clone(), all(Layout::RowMajor)),
        case("sparse, unfiltered, col-major", plain_points.clone(), all(Layout::ColMajor)),
        case("sparse, unfiltered, box, global", plain_points.clone(), box_of(1000, 2000, Layout::GlobalOrder)),
        case("sparse, unfiltered, box, row-major", plain_points.clone(), box_of(1000, 2000, Layout::RowMajor)),
        case("sparse, unfiltered, 64 x 64", plain_points, box_of(3000, 64, Layout::RowMajor)),
        case("sparse, zstd coordinates, global", zstd_points.clone(), all(Layout::GlobalOrder)),
        case("sparse, zstd coordinates, row-major", zstd_points, all(Layout::RowMajor)),
        case("sparse, eight fragments, global", layers.clone(), all(Layout::GlobalOrder)),
        case("sparse, eight fragments, row-major", layers, all(Layout::RowMajor)),
        case("sparse, Hilbert, global", hilbert.clone(), all(Layout::GlobalOrder)),
        case("sparse, Hilbert, row-major", hilbert, all(Layout::RowMajor)),
        case("sparse, Hilbert, four fragments, global", hilbert_layers, all(Layout::GlobalOrder)),
        case("sparse, strings, global", strings.clone(), all(Layout::GlobalOrder)),
        case("sparse, strings, row-major", strings, all(Layout::RowMajor)),
    ]
}
