//! Reads with random conditions of every fixture, compared with a plain evaluator over all cells.

use std::cmp::Ordering;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};
use tdb_array::Order;
use tdb_condition::{Condition, Operator, field};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{Datatype, Scalar};

use crate::arrays::{Cell, Known, Row, is_number, is_text, open_fixture, rows};

/// A test of a field: the field, the cells with the values to compare, and the kind of test.
#[derive(Clone, Debug)]
struct Seed {
    field: Index,
    cells: Vec<Index>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Compare(Operator),
    Member { negated: bool },
    Null { negated: bool },
}

#[derive(Clone, Debug)]
enum Tree {
    Leaf(Seed),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
}

fn trees() -> impl Strategy<Value = Tree> {
    let kind = prop_oneof![
        4 => prop::sample::select(Operator::ALL.to_vec()).prop_map(Kind::Compare),
        1 => any::<bool>().prop_map(|negated| Kind::Member { negated }),
        1 => any::<bool>().prop_map(|negated| Kind::Null { negated }),
    ];
    let cells = prop::collection::vec(any::<Index>(), 1..4);
    let leaf = (any::<Index>(), cells, kind).prop_map(|(field, cells, kind)| Tree::Leaf(Seed { field, cells, kind }));
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::Or),
            inner.prop_map(|tree| Tree::Not(Box::new(tree))),
        ]
    })
}

impl Known {
    /// Returns the condition, and for each cell true, false or `None` for unknown.
    fn condition(&self, tree: &Tree) -> (Condition, Vec<Option<bool>>) {
        match tree {
            Tree::Leaf(seed) => self.leaf(seed),
            Tree::And(trees) => {
                let all: Vec<_> = trees.iter().map(|tree| self.condition(tree)).collect();
                let truth = (0..self.rows.len()).map(|cell| and(all.iter().map(|(_, truth)| truth[cell]))).collect();
                (Condition::And(all.into_iter().map(|(condition, _)| condition).collect()), truth)
            }
            Tree::Or(trees) => {
                let all: Vec<_> = trees.iter().map(|tree| self.condition(tree)).collect();
                let not = |truth: Option<bool>| truth.map(|truth| !truth);
                let any = |cell| not(and(all.iter().map(|(_, truth)| not(truth[cell]))));
                let truth = (0..self.rows.len()).map(any).collect();
                (Condition::Or(all.into_iter().map(|(condition, _)| condition).collect()), truth)
            }
            Tree::Not(tree) => {
                let (condition, truth) = self.condition(tree);
                (!condition, truth.into_iter().map(|truth| truth.map(|truth| !truth)).collect())
            }
        }
    }

    fn leaf(&self, seed: &Seed) -> (Condition, Vec<Option<bool>>) {
        let schema = self.array.schema();
        let place = seed.field.index(self.names.len());
        let name = self.names[place].clone();
        let cells: Vec<&Cell> = self.rows.iter().map(|row| &row[place]).collect();
        let reference = schema.field(&name).unwrap();
        let kind = schema.field_type(reference).unwrap();
        let enumeration = match reference {
            FieldRef::Attribute(index) => schema.attributes()[index].enumeration(),
            FieldRef::Dimension(_) => None,
        };
        let enumeration = enumeration.map(|name| self.array.enumeration(name).unwrap());
        let null = |negated| {
            let truth = cells.iter().map(|cell| Some(cell.is_none() != negated)).collect();
            let field = field(name.clone());
            (if negated { field.is_not_null() } else { field.is_null() }, truth)
        };
        let values: Vec<&Vec<u8>> = cells.iter().copied().flatten().collect();
        if !(is_text(kind) || is_number(kind)) || values.is_empty() {
            return null(seed.cells.len().is_multiple_of(2));
        }
        let chosen: Vec<Vec<u8>> = seed.cells.iter().map(|at| values[at.index(values.len())].clone()).collect();
        // The value in the condition if the field has an enumeration.
        let shown = |cell: &Vec<u8>| match &enumeration {
            None => Some(cell.clone()),
            Some(enumeration) => {
                let position = cell.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte));
                enumeration.value(position).map(<[u8]>::to_vec)
            }
        };
        let Some(shown) = chosen.iter().map(shown).collect::<Option<Vec<_>>>() else { return null(true) };
        match seed.kind {
            Kind::Null { negated } => null(negated),
            Kind::Member { negated } => {
                // An OR of `=`, which for floats is not a comparison of bytes.
                let equals = |cell: &Vec<u8>, value: &Vec<u8>| match kind.datatype {
                    Datatype::Float32 | Datatype::Float64 => compare(kind.datatype, Operator::Equal, cell, value),
                    _ => cell == value,
                };
                let is_in = |cell: &Vec<u8>| chosen.iter().any(|value| equals(cell, value)) != negated;
                let truth = cells.iter().map(|cell| cell.as_ref().map(is_in)).collect();
                let field = field(name);
                (if negated { field.not_in(shown) } else { field.is_in(shown) }, truth)
            }
            Kind::Compare(operator) => {
                let ordered = enumeration.as_ref().is_none_or(|enumeration| enumeration.is_ordered());
                let operator = if ordered { operator } else { Operator::NotEqual };
                let holds = |cell: &Vec<u8>| compare(kind.datatype, operator, cell, &chosen[0]);
                // A comparison with NaN and its negation are both false, except for `!=`.
                let judge = |cell: &Vec<u8>| {
                    let negation = compare(kind.datatype, operator.negation(), cell, &chosen[0]);
                    (holds(cell) != negation).then(|| holds(cell))
                };
                let truth = cells.iter().map(|cell| cell.as_ref().and_then(judge)).collect();
                (field(name).compare(operator, shown[0].clone()), truth)
            }
        }
    }
}

fn compare(datatype: Datatype, operator: Operator, cell: &[u8], value: &[u8]) -> bool {
    let order = match datatype {
        Datatype::Char if cell.len() == value.len() => {
            let signed = |bytes: &[u8]| bytes.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>();
            signed(cell).partial_cmp(&signed(value))
        }
        Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8 => cell.partial_cmp(value),
        datatype => {
            let number = |bytes| Scalar::from_le_bytes(datatype.physical(), bytes).unwrap();
            number(cell).partial_cmp(&number(value))
        }
    };
    match operator {
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order != Some(Ordering::Equal),
    }
}

/// Three-valued AND of SQL: false if one is false, true if all are true, else unknown.
fn and(mut all: impl Iterator<Item = Option<bool>> + Clone) -> Option<bool> {
    if all.clone().any(|truth| truth == Some(false)) {
        return Some(false);
    }
    all.all(|truth| truth == Some(true)).then_some(true)
}

/// The fill value shown for a cell that does not match.
fn fill(schema: &ArraySchema, field: FieldRef, cell: &Cell) -> Cell {
    let FieldRef::Attribute(index) = field else { return cell.clone() };
    let attribute = &schema.attributes()[index];
    (!attribute.is_nullable() || attribute.fill_valid()).then(|| attribute.fill_value().into_owned())
}

fn check(fixture: &Fixture, known: &Known, tree: &Tree, order: Order, budget: usize) {
    let (condition, truth) = known.condition(tree);
    let schema = known.array.schema();
    let query = known.array.read().order(order).budget(budget).filter(condition.clone());
    let is_dense = schema.is_dense();
    let context = format!("{}, {order}, {budget}: {}", fixture.name(), condition.display(schema));
    let all = &known.rows;
    let expected: Vec<Row> =
        all.iter().zip(&truth).filter(|(_, truth)| **truth == Some(true)).map(|(row, _)| row.clone()).collect();
    let compared = |query: tdb_array::Query, expected: &[Row]| {
        // Select some fields not needed by the condition, and omit some needed fields.
        let every_second = |part: usize| (0..known.names.len()).filter(move |place| part == 2 || place % 2 == part);
        for part in 0..3 {
            let places: Vec<usize> = every_second(part).collect();
            if places.is_empty() {
                continue;
            }
            let names = places.iter().map(|place| &known.names[*place]);
            let found = rows(query.clone().select(names).unwrap());
            let expected: Vec<Row> =
                expected.iter().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect();
            let sorted = |mut rows: Vec<Row>| {
                if order == Order::Unordered {
                    rows.sort();
                }
                rows
            };
            assert!(sorted(found) == sorted(expected), "{context}, fields {places:?}");
        }
    };
    compared(query.clone().only_matching(), &expected);
    if is_dense {
        let fields: Vec<FieldRef> = known.names.iter().map(|name| schema.field(name).unwrap()).collect();
        let blank = |row: &Row| row.iter().zip(&fields).map(|(cell, field)| fill(schema, *field, cell)).collect();
        let shown =
            all.iter().zip(&truth).map(|(row, truth)| if *truth == Some(true) { row.clone() } else { blank(row) });
        compared(query, &shown.collect::<Vec<_>>());
    }
}

fn over(fixtures: Vec<Fixture>, cases: usize) {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &[7; 32]),
    );
    let mut compared = 0;
    for fixture in fixtures {
        let array = open_fixture(&fixture, 1);
        for order in [Order::RowMajor, Order::Global, Order::Unordered] {
            let known = Known::read(array.clone(), order);
            if known.rows.is_empty() || known.rows.len() > 5_000 {
                continue;
            }
            for case in 0..cases {
                let tree = trees().new_tree(&mut runner).unwrap().current();
                check(&fixture, &known, &tree, order, [1 << 22, 300][case % 2]);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn every_fixture() {
    over(fixtures::all(), 6);
}

#[test]
fn fixtures_of_older_releases() {
    over(fixtures::of_older_releases(), 2);
}
