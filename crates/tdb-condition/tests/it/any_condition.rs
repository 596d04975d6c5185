//! Arbitrary conditions over arbitrary cells, compared with a model.

use std::cmp::Ordering;
use std::sync::Arc;

use proptest::prelude::*;
use tdb_condition::{BoundCondition, CellBounds, Condition, ConditionError, Matches, Nulls, Operator, Value, field};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, Cells, Datatype, Limits, Offsets, Validity};

/// The values of the enumeration of `c`, in order.
const COLOURS: [&str; 3] = ["red", "green", "blue"];
const FLOATS: [f32; 6] = [0.0, -0.0, 1.5, -1.5, f32::NAN, f32::INFINITY];

/// A nullable number `a`, string `s`, index `c` in an ordered enumeration, and float `f`.
#[derive(Clone, Debug)]
struct Row {
    a: Option<i32>,
    s: Option<String>,
    c: Option<u8>,
    f: Option<f32>,
}

fn rows() -> impl Strategy<Value = Row> {
    let a = prop::option::of(prop_oneof![-3..3_i32, Just(i32::MIN), Just(i32::MAX)]);
    let of_floats = prop::option::of(prop::sample::select(FLOATS.to_vec()));
    (a, prop::option::of("[ab]{0,2}"), prop::option::of(0..3_u8), of_floats).prop_map(|(a, s, c, f)| Row { a, s, c, f })
}

fn schema() -> ArraySchema {
    let x = Dimension::new("x", 0i32..=99);
    let attributes = [
        Attribute::new("a", Datatype::Int32),
        Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var),
        Attribute::new("c", Datatype::UInt8).with_enumeration("colours"),
        Attribute::new("f", Datatype::Float32),
    ];
    let builder = SchemaBuilder::sparse().dimension(x).enumeration(EnumerationRef::unplaced("colours"));
    let attributes = attributes.into_iter().map(|attribute| attribute.nullable(false));
    attributes.fold(builder, SchemaBuilder::attribute).build().unwrap()
}

fn colours(name: &str) -> Option<Arc<Enumeration>> {
    let colours = || Enumeration::strings(name, "", Datatype::StringAscii, COLOURS).unwrap().ordered();
    (name == "colours").then(|| Arc::new(colours()))
}

fn bind(condition: &Condition) -> BoundCondition {
    condition.bind(&schema(), colours).unwrap()
}

/// A strategy for conditions. Includes the limits of types, values missing from the enumeration,
/// zeros of both signs and NaNs.
fn conditions() -> impl Strategy<Value = Condition> {
    let number = || prop_oneof![-3..3_i32, Just(i32::MIN), Just(i32::MAX)];
    let string = || "[ab]{0,2}";
    let colour = || prop::sample::select(vec!["red", "green", "blue", "black", ""]);
    let float = || prop::sample::select(FLOATS.to_vec());
    let leaf = prop_oneof![
        tests("a", number()),
        tests("s", string()),
        tests("c", colour()),
        tests("f", float()),
        prop::sample::select(vec!["a", "s", "c", "f"]).prop_map(|name| field(name).is_null()),
        prop::sample::select(vec!["a", "s", "c", "f"]).prop_map(|name| field(name).is_not_null()),
        any::<bool>().prop_map(|is| if is { field("f").is_nan() } else { field("f").is_not_nan() }),
        any::<bool>().prop_map(|truth| Condition::Constant { field: "c".to_owned(), truth, value: vec![0] }),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Condition::Or),
            inner.prop_map(Condition::not),
        ]
    })
}

/// Comparisons of a field, BETWEEN, IN and NOT IN.
fn tests<V: Value + Clone + std::fmt::Debug + 'static>(
    name: &'static str,
    values: impl Strategy<Value = V> + Clone + 'static,
) -> impl Strategy<Value = Condition> {
    let operator = prop::sample::select(Operator::ALL.to_vec());
    let compare = (operator, values.clone()).prop_map(move |(operator, value)| field(name).compare(operator, value));
    let between = (values.clone(), values.clone());
    let between = between.prop_map(move |(low, high)| field(name).ge(low) & field(name).le(high));
    let sets = (prop::collection::vec(values, 0..10), any::<bool>());
    let sets = sets.prop_map(move |(values, negated)| match negated {
        true => field(name).not_in(values),
        false => field(name).is_in(values),
    });
    prop_oneof![compare, between, sets]
}

/// Returns the result of a comparison, or `None` for nulls and unordered values.
fn compared(name: &str, row: &Row, operator: Operator, value: &[u8]) -> Option<bool> {
    let order = match name {
        "a" => Some(row.a?.cmp(&i32::from_le_bytes(value.try_into().unwrap()))),
        "s" => Some(row.s.as_ref()?.as_bytes().cmp(value)),
        "f" => row.f?.partial_cmp(&f32::from_le_bytes(value.try_into().unwrap())),
        _ => {
            let cell = usize::from(row.c?);
            COLOURS.iter().position(|colour| colour.as_bytes() == value).map(|position| cell.cmp(&position))
        }
    };
    match operator {
        Operator::Less => order.map(Ordering::is_lt),
        Operator::LessOrEqual => order.map(Ordering::is_le),
        Operator::Greater => order.map(Ordering::is_gt),
        Operator::GreaterOrEqual => order.map(Ordering::is_ge),
        Operator::Equal => Some(order == Some(Ordering::Equal)),
        Operator::NotEqual => Some(order != Some(Ordering::Equal)),
    }
}

/// Returns the result of a condition for a row, in three-valued logic as in SQL.
fn model(condition: &Condition, row: &Row) -> Option<bool> {
    let is_null = |name: &str| match name {
        "a" => row.a.is_none(),
        "s" => row.s.is_none(),
        "c" => row.c.is_none(),
        _ => row.f.is_none(),
    };
    let any = |truths: Vec<Option<bool>>| match truths.contains(&Some(true)) {
        true => Some(true),
        false if truths.contains(&None) => None,
        false => Some(false),
    };
    let not = |truth: Option<bool>| truth.map(|truth| !truth);
    match condition {
        Condition::Compare { field, operator, value } => compared(field, row, *operator, value.bytes()),
        Condition::Member { field, .. } | Condition::Constant { field, .. } if is_null(field) => None,
        // IN is an OR of `=`.
        Condition::Member { field, negated, values } => {
            let truth = any(values.iter().map(|value| compared(field, row, Operator::Equal, value)).collect());
            if *negated { not(truth) } else { truth }
        }
        Condition::Null { field, negated } => Some(is_null(field) != *negated),
        Condition::Nan { negated, .. } => Some(row.f?.is_nan() != *negated),
        Condition::Constant { truth, .. } => Some(*truth),
        Condition::And(nodes) => not(any(nodes.iter().map(|node| not(model(node, row))).collect())),
        Condition::Or(nodes) => any(nodes.iter().map(|node| model(node, row)).collect()),
        Condition::Not(node) => not(model(node, row)),
    }
}

/// The cells of each field, and their validity.
struct Columns {
    values: [Vec<u8>; 4],
    offsets: Vec<u64>,
    valid: [Vec<u8>; 4],
}

const NAMES: [&str; 4] = ["a", "s", "c", "f"];

impl Columns {
    fn of(rows: &[Row]) -> Self {
        let text: Vec<&str> = rows.iter().map(|row| row.s.as_deref().unwrap_or("a")).collect();
        let ends = text.iter().scan(0, |end, text| {
            *end += text.len() as u64;
            Some(*end)
        });
        Self {
            offsets: std::iter::once(0).chain(ends).collect(),
            values: [
                rows.iter().flat_map(|row| row.a.unwrap_or(0).to_le_bytes()).collect(),
                text.concat().into_bytes(),
                rows.iter().map(|row| row.c.unwrap_or(1)).collect(),
                rows.iter().flat_map(|row| row.f.unwrap_or(0.0).to_le_bytes()).collect(),
            ],
            valid: [
                rows.iter().map(|row| row.a.is_some().into()).collect(),
                rows.iter().map(|row| row.s.is_some().into()).collect(),
                rows.iter().map(|row| row.c.is_some().into()).collect(),
                rows.iter().map(|row| row.f.is_some().into()).collect(),
            ],
        }
    }

    fn cells(&self, name: &str) -> Cells<'_> {
        match name {
            "a" => Cells::fixed(&self.values[0], 4),
            "s" => Cells::var(Offsets::in_bytes(&self.offsets), &self.values[1]),
            "c" => Cells::fixed(&self.values[2], 1),
            _ => Cells::fixed(&self.values[3], 4),
        }
    }

    /// Evaluates a condition. `validity` has the validity of each field.
    fn truth<'a>(&'a self, bound: &BoundCondition, validity: [Validity<'a>; 4]) -> Vec<bool> {
        let mut truth = vec![true; self.valid[0].len()];
        let cells = bound.fields().iter().map(|field| {
            let index = NAMES.iter().position(|name| *name == field.name).unwrap();
            Some(self.cells(&field.name).with_validity(validity[index]))
        });
        bound.evaluate(&cells.collect::<Vec<_>>(), &mut truth);
        truth
    }
}

/// Returns the minimum and maximum of a field, or `None` if a value is a NaN.
fn range(name: &str, rows: &[Row]) -> Option<(Vec<u8>, Vec<u8>)> {
    fn ends<T: Copy, const N: usize>(
        values: impl Iterator<Item = T> + Clone,
        order: impl Fn(&T, &T) -> Ordering,
        bytes: impl Fn(T) -> [u8; N],
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        let (low, high) = values.clone().min_by(&order).zip(values.max_by(&order))?;
        Some((bytes(low).to_vec(), bytes(high).to_vec()))
    }
    match name {
        "a" => ends(rows.iter().filter_map(|row| row.a), i32::cmp, i32::to_le_bytes),
        "c" => ends(rows.iter().filter_map(|row| row.c), u8::cmp, u8::to_le_bytes),
        "f" if rows.iter().any(|row| row.f.is_some_and(f32::is_nan)) => None,
        "f" => ends(rows.iter().filter_map(|row| row.f), |a, b| a.partial_cmp(b).unwrap(), f32::to_le_bytes),
        _ => {
            let strings = || rows.iter().filter_map(|row| row.s.as_ref());
            let (low, high) = strings().min().zip(strings().max())?;
            Some((low.as_bytes().to_vec(), high.as_bytes().to_vec()))
        }
    }
}

proptest! {
    #[test]
    fn any_condition_over_any_cells(condition in conditions(), rows in prop::collection::vec(rows(), 0..20)) {
        let (bound, columns) = (bind(&condition), Columns::of(&rows));
        let bits = columns.valid.each_ref().map(|valid| -> Vec<u8> {
            valid.chunks(8).map(|eight| (0..).zip(eight).map(|(bit, valid)| valid << bit).sum()).collect()
        });
        // Tiles have a validity byte per cell, columns a bit.
        let truth = columns.truth(&bound, columns.valid.each_ref().map(|valid| Validity::Bytes(valid)));
        let of_columns = columns.truth(&bound, bits.each_ref().map(|bits| Validity::bits(bits)));
        prop_assert_eq!(&truth, &of_columns);
        for (row, truth) in rows.iter().zip(truth) {
            prop_assert_eq!(truth, model(&condition, row) == Some(true), "{}, {:?}", &condition, row);
        }
    }

    /// Results over bounds are correct for every cell.
    #[test]
    fn results_over_bounds_hold_for_every_cell(
        condition in conditions(),
        rows in prop::collection::vec(rows(), 1..6),
        all_null in prop::sample::subsequence(NAMES.to_vec(), 0..=4),
        says_nulls in any::<bool>(),
    ) {
        let mut rows = rows;
        for row in &mut rows {
            let is_null = |name| all_null.contains(&name);
            row.a = row.a.filter(|_| !is_null("a"));
            row.s = row.s.take().filter(|_| !is_null("s"));
            row.c = row.c.filter(|_| !is_null("c"));
            row.f = row.f.filter(|_| !is_null("f"));
        }
        let (bound, columns) = (bind(&condition), Columns::of(&rows));
        let ranges = NAMES.map(|name| range(name, &rows));
        let found = bound.over_bounds(|place| {
            let index = NAMES.iter().position(|name| *name == bound.fields()[place].name).unwrap();
            let nulls = match columns.valid[index].iter().filter(|valid| **valid == 0).count() {
                _ if !says_nulls => Nulls::Unknown,
                0 => Nulls::None,
                nulls if nulls == rows.len() => Nulls::All,
                _ => Nulls::Unknown,
            };
            CellBounds { range: ranges[index].as_ref().map(|(low, high)| (&low[..], &high[..])), nulls }
        });
        match found {
            Matches::None => prop_assert!(!rows.iter().any(|row| model(&condition, row) == Some(true)), "{}", condition),
            Matches::All => prop_assert!(rows.iter().all(|row| model(&condition, row) == Some(true)), "{}", condition),
            Matches::Unknown => {}
        }
    }

    /// The stored form has the same meaning as the original condition.
    #[test]
    fn stored_conditions_keep_their_meaning(condition in conditions(), rows in prop::collection::vec(rows(), 0..20)) {
        let (schema, columns) = (schema(), Columns::of(&rows));
        match condition.to_stored(&schema, colours) {
            Err(error) => prop_assert!(matches!(error, ConditionError::NotEnumerated { .. }), "{}", error),
            Ok(stored) => {
                let valid = || columns.valid.each_ref().map(|valid| Validity::Bytes(valid));
                let truth = columns.truth(&stored.bind_stored(&schema, &schema).unwrap(), valid());
                prop_assert_eq!(truth, columns.truth(&bind(&condition), valid()), "{}", condition);
            }
        }
    }

    #[test]
    fn any_condition_round_trips(condition in conditions()) {
        let mut writer = tdb_types::ByteWriter::new();
        let written = condition.write(&mut writer);
        if condition.to_string().contains("null") || condition.to_string().contains("nan") {
            prop_assume!(written.is_ok());
        }
        written.unwrap();
        let mut reader = tdb_types::ByteReader::new(writer.as_slice());
        let read = Condition::parse(&mut reader, &Limits::default()).unwrap();
        reader.finish("condition").unwrap();
        let mut again = tdb_types::ByteWriter::new();
        read.write(&mut again).unwrap();
        prop_assert_eq!(again.as_slice(), writer.as_slice());
        prop_assert_eq!(bind(&read), bind(&condition));
    }
}
