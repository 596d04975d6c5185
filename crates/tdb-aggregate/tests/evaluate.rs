//! Aggregates, compared with a plain computation over all cells.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use tdb_aggregate::{GroupRow, Groups, KeyField, KeyShape, Measured, Sum, Summary, Total, ValueKind};
use tdb_types::{CellValNum, Cells, Datatype, Offsets, PhysicalType, Scalar, Validity};

/// The cells of a field.
#[derive(Clone, Debug)]
struct Field {
    kind: ValueKind,
    /// The size of a cell in bytes, or `None` if variable.
    size: Option<usize>,
    nullable: bool,
    /// The cells as stored, with NaT in dates and times.
    stored: Vec<Option<Vec<u8>>>,
    cells: Vec<Option<Vec<u8>>>,
}

/// The cells of a field in memory.
struct Memory {
    values: Vec<u8>,
    offsets: Vec<u64>,
    validity: Vec<u8>,
}

impl Field {
    fn memory(&self) -> Memory {
        let mut memory = Memory { values: Vec::new(), offsets: vec![0], validity: Vec::new() };
        for cell in &self.stored {
            let empty = vec![0xff; self.size.unwrap_or(3)];
            memory.values.extend(cell.as_ref().unwrap_or(&empty));
            memory.offsets.push(memory.values.len() as u64);
            memory.validity.push(u8::from(cell.is_some()));
        }
        memory
    }

    fn key(&self) -> KeyField {
        KeyField { kind: self.kind, size: self.size, nullable: self.nullable || self.kind == ValueKind::Time }
    }
}

impl Memory {
    fn cells(&self, field: &Field) -> Cells<'_> {
        let cells = match field.size {
            Some(size) => Cells::fixed(&self.values, size),
            None => Cells::var(Offsets::in_bytes(&self.offsets), &self.values),
        };
        cells.with_validity(field.nullable.then_some(Validity::Bytes(&self.validity)))
    }
}

/// Selects from a few ordinary and special values, to make some cells equal.
fn number(physical: PhysicalType) -> impl Strategy<Value = Vec<u8>> {
    let size = physical.size();
    let special: Vec<f64> =
        vec![0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 1.5];
    let float = prop::sample::select(special).prop_map(move |value| match size {
        4 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    });
    let bytes = prop::sample::select(vec![0u64, 1, 2, u64::MAX, u64::MAX / 2, 1 << 63, 0x7f, 0x80, 0x8000_0000]);
    let integer = bytes.prop_map(move |value| value.to_le_bytes()[..size].to_vec());
    if physical.is_float() { float.boxed() } else { integer.boxed() }
}

fn kinds() -> impl Strategy<Value = (ValueKind, Option<usize>)> {
    let number = prop::sample::select(PhysicalType::ALL.to_vec());
    prop_oneof![
        4 => number.prop_map(|physical| (ValueKind::Number(physical), Some(physical.size()))),
        2 => Just((ValueKind::Time, Some(8))),
        2 => Just((ValueKind::Bytes, None)),
        1 => (1usize..12).prop_map(|size| (ValueKind::Bytes, Some(size))),
        1 => Just((ValueKind::Opaque, None)),
        1 => (1usize..12).prop_map(|size| (ValueKind::Opaque, Some(size))),
    ]
}

fn field(count: usize) -> impl Strategy<Value = Field> {
    (kinds(), any::<bool>()).prop_flat_map(move |((kind, size), nullable)| {
        let bytes = prop::sample::select(vec![0u8, 1, b'a', 0xff]);
        let cell = match (kind.number(), size) {
            (Some(physical), _) => number(physical).boxed(),
            (_, Some(size)) => prop::collection::vec(bytes, size).boxed(),
            (_, None) => prop::collection::vec(bytes, 0..3).boxed(),
        };
        let cell = if nullable { prop::option::of(cell).boxed() } else { cell.prop_map(Some).boxed() };
        prop::collection::vec(cell, count).prop_map(move |stored| {
            let value = |cell: &Option<Vec<u8>>| cell.clone().filter(|cell| !kind.is_null(cell));
            Field { kind, size, nullable, cells: stored.iter().map(value).collect(), stored }
        })
    })
}

/// Several fields with the same number of cells.
fn fields(most: usize) -> impl Strategy<Value = Vec<Field>> {
    (0usize..40).prop_flat_map(move |count| prop::collection::vec(field(count), 1..=most))
}

/// Computes the aggregates cell by cell.
fn plain(kind: ValueKind, cells: &[Option<Vec<u8>>]) -> (u64, u64, Option<f64>, Option<i128>) {
    let values: Vec<&Vec<u8>> = cells.iter().flatten().collect();
    let nulls = (cells.len() - values.len()) as u64;
    let Some(physical) = kind.number() else { return (values.len() as u64, nulls, None, None) };
    let scalars: Vec<Scalar> = values.iter().map(|bytes| Scalar::from_le_bytes(physical, bytes).unwrap()).collect();
    match physical.is_float() {
        true => {
            let values = || scalars.iter().map(|value| value.to_f64());
            // Infinities and NaNs determine the sum.
            let special = values().filter(|value| !value.is_finite()).reduce(|sum, value| sum + value);
            (values().count() as u64, nulls, Some(special.unwrap_or_else(|| values().sum())), None)
        }
        false => (values.len() as u64, nulls, None, Some(scalars.iter().filter_map(|value| value.to_integer()).sum())),
    }
}

fn check(summary: &Summary, kind: ValueKind, cells: &[Option<Vec<u8>>]) {
    let (values, nulls, float, integer) = plain(kind, cells);
    assert_eq!((summary.values(), summary.nulls()), (values, nulls));
    if let Some(expected) = integer {
        let (Total::Signed(sum) | Total::Unsigned(sum)) = summary.total() else { panic!("a sum of floats") };
        assert_eq!(sum, expected);
    }
    if let Some(expected) = float {
        let inputs_finite = cells.iter().flatten().all(|bytes| double(bytes).is_finite());
        match summary.total().sum() {
            // The sum of large values of either sign may overflow, depending on the order.
            (Sum::F64(sum), false) => assert!(inputs_finite && sum == f64::MAX),
            (Sum::F64(sum), true) => {
                // Small values may be lost next to large values, depending on the order.
                let is_large = cells.iter().flatten().any(|bytes| is_large(bytes));
                let same = sum == expected || sum.is_nan() && expected.is_nan();
                assert!(same || is_large && inputs_finite, "{sum} {expected}");
            }
            other => panic!("{other:?} of floats"),
        }
    }
    check_bounds(summary, kind, cells);
}

fn double(bytes: &[u8]) -> f64 {
    match bytes.len() {
        4 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    }
}

fn is_large(bytes: &[u8]) -> bool {
    double(bytes).is_finite() && double(bytes).abs() > 1e30
}

fn check_bounds(summary: &Summary, kind: ValueKind, cells: &[Option<Vec<u8>>]) {
    let values = || cells.iter().flatten();
    match kind.number() {
        None if kind == ValueKind::Opaque => assert_eq!(summary.bounds(), None),
        None => {
            let expected = values().min().map(|min| (&min[..], &values().max().unwrap()[..]));
            assert_eq!(summary.bounds(), expected);
        }
        Some(physical) => {
            let scalar = |bytes: &[u8]| Scalar::from_le_bytes(physical, bytes).unwrap();
            let comparable = || values().map(|bytes| scalar(bytes)).filter(|value| !value.to_f64().is_nan());
            let less = |a: &Scalar, b: &Scalar| a.partial_cmp(b).unwrap();
            let found = summary.bounds().map(|(min, max)| (scalar(min), scalar(max)));
            match (comparable().min_by(less), comparable().max_by(less)) {
                (Some(min), Some(max)) => assert_eq!(found, Some((min, max))),
                _ if cells.iter().any(Option::is_some) => {
                    assert!(found.is_some_and(|(min, max)| min.to_f64().is_nan() && max.to_f64().is_nan()));
                }
                _ => assert_eq!(found, None),
            }
        }
    }
}

/// Returns the representative of equal key values.
fn canonical(kind: ValueKind, cell: &Option<Vec<u8>>) -> Option<Vec<u8>> {
    let cell = cell.as_ref()?;
    match kind {
        ValueKind::Number(PhysicalType::F32) => {
            let value = f32::from_le_bytes(cell[..].try_into().unwrap());
            Some(if value.is_nan() { f32::NAN.to_le_bytes().to_vec() } else { (value + 0.0).to_le_bytes().to_vec() })
        }
        ValueKind::Number(PhysicalType::F64) => {
            let value = f64::from_le_bytes(cell[..].try_into().unwrap());
            Some(if value.is_nan() { f64::NAN.to_le_bytes().to_vec() } else { (value + 0.0).to_le_bytes().to_vec() })
        }
        _ => Some(cell.clone()),
    }
}

/// Compares key values in the order of groups.
fn order(fields: &[Field], a: &GroupRow, b: &GroupRow) -> std::cmp::Ordering {
    let each = fields.iter().zip(a.key.iter().zip(&b.key)).map(|(field, (a, b))| match (a, b) {
        (None, None) => std::cmp::Ordering::Equal,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (Some(_), None) => std::cmp::Ordering::Less,
        (Some(a), Some(b)) => match field.kind.number() {
            Some(physical) => {
                let scalar = |bytes: &[u8]| Scalar::from_le_bytes(physical, bytes).unwrap();
                let (a, b) = (scalar(a), scalar(b));
                let nan = |value: Scalar| value.to_f64().is_nan();
                a.partial_cmp(&b).unwrap_or_else(|| nan(a).cmp(&nan(b)))
            }
            None => a.cmp(b),
        },
    });
    each.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}

proptest! {
    #[test]
    fn summaries(fields in fields(1), picks in prop::collection::vec(any::<bool>(), 40), cut in 0usize..40) {
        let field = &fields[0];
        let memory = field.memory();
        let cells = memory.cells(field);
        let mut all = Summary::new(field.kind, Measured::ALL);
        all.add(&cells, None);
        check(&all, field.kind, &field.cells);
        // Adds only some cells.
        let picked: Vec<u32> = (0..field.cells.len()).filter(|cell| picks[*cell]).map(|cell| cell as u32).collect();
        let mut some = Summary::new(field.kind, Measured::ALL);
        some.add(&cells, Some(&picked));
        let expected: Vec<_> = picked.iter().map(|cell| field.cells[*cell as usize].clone()).collect();
        check(&some, field.kind, &expected);
        // Adds two parts, the second cell by cell.
        let cut = cut.min(field.cells.len());
        let mut parts = Summary::new(field.kind, Measured::ALL);
        parts.add(&cells.slice(0..cut), None);
        let mut rest = Summary::new(field.kind, Measured::ALL);
        field.stored[cut..].iter().for_each(|cell| rest.add_repeated(cell.as_deref(), 1));
        parts.merge(&rest);
        check(&parts, field.kind, &field.cells);
        let mut count = Summary::new(field.kind, Measured::COUNT);
        count.add(&cells, Some(&picked));
        prop_assert_eq!((count.values(), count.nulls()), (some.values(), some.nulls()));
    }

    #[test]
    fn groups(
        fields in fields(4),
        by in 0usize..4,
        memory in prop_oneof![Just(1usize), Just(2000), Just(1 << 20)],
        parts in any::<bool>(),
    ) {
        let by = by.min(fields.len());
        let (keys, measured) = fields.split_at(by);
        let memories: Vec<Memory> = fields.iter().map(Field::memory).collect();
        let cells: Vec<Cells<'_>> = memories.iter().zip(&fields).map(|(memory, field)| memory.cells(field)).collect();
        let count = fields[0].cells.len();

        let mut expected: BTreeMap<Vec<Option<Vec<u8>>>, Vec<usize>> = BTreeMap::new();
        for cell in 0..count {
            let key = keys.iter().map(|field| canonical(field.kind, &field.cells[cell])).collect();
            expected.entry(key).or_default().push(cell);
        }

        let shape = KeyShape::new(keys.iter().map(Field::key).collect());
        let kinds: Vec<_> = measured.iter().map(|field| (field.kind, Measured::ALL)).collect();
        let measured_cells: Vec<_> = cells[by..].iter().copied().map(Some).collect();
        let mut pass = Some(Groups::new(shape, &kinds, memory));
        let mut rows: Vec<GroupRow> = Vec::new();
        while let Some(mut groups) = pass {
            if parts {
                let odd: Vec<u32> = (0..count as u32).filter(|cell| cell % 2 == 1).collect();
                let even: Vec<u32> = (0..count as u32).filter(|cell| cell % 2 == 0).collect();
                for picked in [odd, even] {
                    let mut part = groups.part(memory);
                    part.add(&cells[..by], &measured_cells, count, Some(&picked));
                    groups.merge(part);
                }
            } else {
                groups.add(&cells[..by], &measured_cells, count, None);
            }
            let (found, rest) = groups.finish();
            let before = rows.len();
            rows.extend(found);
            prop_assert!(rest.is_none() || rows.len() > before, "each pass returns groups");
            pass = rest;
        }
        prop_assert_eq!(rows.len(), expected.len());
        prop_assert!(rows.is_sorted_by(|a, b| order(keys, a, b).is_lt()));
        for row in &rows {
            let key: Vec<_> = row.key.iter().zip(keys).map(|(cell, field)| canonical(field.kind, cell)).collect();
            let cells = &expected[&key];
            prop_assert_eq!(row.cells, cells.len() as u64);
            for (summary, field) in row.summaries.iter().zip(measured) {
                let cells: Vec<_> = cells.iter().map(|cell| field.cells[*cell].clone()).collect();
                check(summary, field.kind, &cells);
            }
        }
    }
}

#[test]
fn sums_of_many_cells() {
    let values: Vec<i64> = (0..5000).map(|cell| if cell % 3 == 0 { i64::MIN } else { i64::MAX - cell }).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut summary = Summary::new(ValueKind::of(Datatype::Int64, CellValNum::ONE), Measured::ALL);
    summary.add(&Cells::fixed(&bytes, 8), None);
    assert_eq!(summary.total(), Total::Signed(values.iter().map(|value| i128::from(*value)).sum()));
    let bytes: Vec<u8> = (0..5000u64).flat_map(|cell| (u64::MAX - cell).to_le_bytes()).collect();
    let mut summary = Summary::new(ValueKind::of(Datatype::UInt64, CellValNum::ONE), Measured::ALL);
    summary.add(&Cells::fixed(&bytes, 8), None);
    assert_eq!(summary.total(), Total::Unsigned((0..5000u64).map(|cell| i128::from(u64::MAX - cell)).sum()));
}
