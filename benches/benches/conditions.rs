//! Conditions: parsed, bound, evaluated over a million cells, and excluded by bounds.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tdb_array::tdb_condition::{Condition, ConditionText, field};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{CellValNum, Cells, Datatype, Offsets};

const CELLS: usize = 1 << 20;

fn schema() -> ArraySchema {
    SchemaBuilder::sparse()
        .dimension(Dimension::new("x", 0i64..=1 << 40))
        .attribute(Attribute::new("a", Datatype::Float64))
        .attribute(Attribute::new("b", Datatype::Int32))
        .attribute(Attribute::new("word", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var))
        .build()
        .unwrap()
}

/// Returns reproducible numbers of 24 bits.
fn random() -> impl Iterator<Item = u64> {
    let mut random = SplitMix64::new(1);
    std::iter::repeat_with(move || random.next() >> 40)
}

/// The cells of each field as bytes.
struct Fields {
    a: Vec<u8>,
    b: Vec<u8>,
    words: Vec<u8>,
    offsets: Vec<u64>,
}

impl Fields {
    fn new() -> Self {
        let a = random().take(CELLS).flat_map(|number| (number as f64 / 16_777_216.0).to_le_bytes()).collect();
        let b = random().take(CELLS).flat_map(|number| (number as i32 % 1000).to_le_bytes()).collect();
        let (mut words, mut offsets) = (Vec::new(), vec![0]);
        for number in random().take(CELLS) {
            words.extend_from_slice(format!("word{}", number % 5000).as_bytes());
            offsets.push(words.len() as u64);
        }
        Self { a, b, words, offsets }
    }

    /// Returns the cells of the field with this name.
    fn of(&self, name: &str) -> Cells<'_> {
        match name {
            "a" => Cells::fixed(&self.a, 8),
            "b" => Cells::fixed(&self.b, 4),
            _ => Cells::var(Offsets::in_bytes(&self.offsets), &self.words),
        }
    }
}

fn evaluate(criterion: &mut Criterion) {
    let (schema, fields) = (schema(), Fields::new());
    let mut group = criterion.benchmark_group("condition");
    group.sample_size(20).throughput(Throughput::Elements(CELLS as u64));
    let cases: [(&str, Condition, &[&str]); 6] = [
        ("double, compared", field("a").gt(0.9), &["a"]),
        ("integer, compared", field("b").lt(100), &["b"]),
        ("integer, in a set", field("b").is_in([3, 5, 700, 901]), &["b"]),
        ("string, equal", field("word").eq("word77"), &["word"]),
        ("string, in a set", field("word").is_in(["word1", "word77", "word4999"]), &["word"]),
        ("three parts", field("a").gt(0.5).and(field("b").lt(500)).or(field("word").eq("word1")), &["a", "b", "word"]),
    ];
    for (name, condition, names) in cases {
        let bound = condition.bind(&schema, |_| None).unwrap();
        let cells: Vec<_> = names.iter().map(|name| Some(fields.of(name))).collect();
        assert_eq!(cells.len(), bound.fields().len(), "{name}");
        let mut truth = vec![false; CELLS];
        bound.evaluate(&cells, &mut truth);
        assert!(truth.contains(&true) && truth.contains(&false), "{name}");
        group.bench_function(name, |bencher| bencher.iter(|| bound.evaluate(black_box(&cells), &mut truth)));
    }
    group.finish();
}

fn prepare(criterion: &mut Criterion) {
    let schema = schema();
    let mut group = criterion.benchmark_group("condition, prepared");
    let text = "a > 0.5 and b in (1, 2, 3) and not (word = 'word1' or word >= 'word3')";
    group.bench_function("from text", |bencher| {
        bencher.iter(|| black_box(text).parse::<ConditionText>().unwrap());
    });
    let condition = field("a").gt(0.5).and(field("b").is_in([1, 2, 3])).and(field("word").ge("word3"));
    group.bench_function("bound", |bencher| bencher.iter(|| black_box(&condition).bind(&schema, |_| None).unwrap()));
    group.finish();
}

criterion_group!(benches, evaluate, prepare);
criterion_main!(benches);
