//! Opens arrays with few and many fragments, and parses schemas and footers.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_filters::{Filter, FilterPipeline};
use tdb_fragment::FragmentFooter;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{LocalStorage, MemoryStorage, Storage};
use tdb_types::{ByteReader, Datatype, Limits};

/// Number of cells per fragment.
const CELLS: i64 = 100;

/// Returns the schema of a row of `cells` cells with several attributes. Filters make the schema
/// longer.
fn schema(cells: i64, attributes: usize) -> ArraySchema {
    let x = Dimension::new("x", 0i64..=cells - 1);
    let filters = || FilterPipeline::new(vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }]);
    let attribute = |number| Attribute::new(format!("a{number}"), Datatype::Int64).with_filters(filters());
    let builder = SchemaBuilder::dense().dimension(x.with_tile(CELLS));
    (0..attributes).map(attribute).fold(builder, SchemaBuilder::attribute).build().unwrap()
}

/// Writes an array of adjacent fragments.
fn written(storage: &Arc<dyn Storage>, fragments: i64, attributes: usize) {
    let schema = schema(fragments * CELLS, attributes);
    CreateOptions::new().create_on(storage, schema).unwrap();
    let array = ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap();
    let values: Vec<i64> = (0..CELLS).collect();
    for fragment in 0..fragments {
        let cells = (0..attributes)
            .fold(WriteBatch::new(), |cells, number| cells.with(format!("a{number}"), WriteColumn::values(&values)));
        let write =
            array.write().ids(WriteIds::new().at(1 + fragment.cast_unsigned()).seeded(fragment.cast_unsigned()));
        write.range("x", fragment * CELLS..(fragment + 1) * CELLS).unwrap().cells(cells).unwrap();
    }
}

fn opened(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap()
}

fn open(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open");
    group.sample_size(20);
    for fragments in [1, 100, 1000] {
        let folder = tempfile::tempdir().unwrap();
        let storages: [(&str, Arc<dyn Storage>); 2] =
            [("files", Arc::new(LocalStorage::new(folder.path()))), ("memory", Arc::new(MemoryStorage::new()))];
        for (name, storage) in storages {
            written(&storage, fragments, 1);
            group.throughput(Throughput::Elements(fragments.cast_unsigned()));
            group.bench_function(BenchmarkId::new(name, fragments), |bencher| bencher.iter(|| opened(&storage)));
            group.bench_function(BenchmarkId::new(format!("{name}, with footers"), fragments), |bencher| {
                bencher.iter(|| black_box(opened(&storage).fragments().unwrap().len()));
            });
        }
    }
    group.finish();
}

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for attributes in [1, 10, 100] {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        written(&storage, 1, attributes);
        let array = opened(&storage);
        let schema = array.schema();
        let file = schema.to_file().unwrap();
        group.throughput(Throughput::Elements(attributes as u64));
        group.bench_function(BenchmarkId::new("schema", attributes), |bencher| {
            bencher.iter(|| ArraySchema::parse_file(black_box(&file), &Limits::default(), None).unwrap());
        });
        let footer = array.fragments().unwrap()[0].footer_bytes().unwrap().unwrap();
        group.bench_function(BenchmarkId::new("footer", attributes), |bencher| {
            bencher.iter(|| FragmentFooter::parse(ByteReader::new(black_box(&footer)), schema).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, open, parse);
criterion_main!(benches);
