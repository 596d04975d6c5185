//! Properties that must hold for arbitrary bytes. Called by the drivers in `fuzz_targets` and by
//! the ordinary tests.
//!
//! The input is the payload of a delete or update commit, or a condition as text. The rest of the
//! input becomes the cells to evaluate. After a text, the cells begin behind a byte that is invalid
//! in UTF-8.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::sync::Arc;

use tdb_condition::{BoundCondition, BoundField, CellBounds, Condition, ConditionText, Matches, Nulls, Update};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{ByteReader, ByteWriter, CellValNum, Cells, Datatype, Limits, Offsets, Scalar, Spans, Validity};

/// The number of cells to evaluate.
const CELLS: usize = 5;

/// Checks a parsed condition. It must round-trip, with and without recorded spans. Negating twice
/// must only remove NOT. A condition and its negation must never both be true.
pub fn condition(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let parsed = Condition::parse(&mut reader, &Limits::SMALL);
    let spans = Spans::new();
    let recorded = Condition::parse(&mut ByteReader::new(data).recording(&spans, 0), &Limits::SMALL);
    assert_eq!(parsed, recorded, "a record changes nothing");
    let Ok(condition) = parsed else { return };

    let (read, rest) = data.split_at(data.len() - reader.remaining());
    let mut writer = ByteWriter::new();
    condition.write(&mut writer).unwrap();
    assert_eq!(writer.as_slice(), read, "the same bytes again");
    assert_eq!(condition.negation().negation(), condition.without_not());
    let schema = schema();
    assert!(!condition.to_string().is_empty() && !condition.display(&schema).to_string().is_empty());

    let Ok(bound) = condition.bind_stored(&schema, &schema) else { return };
    let negated = condition.negation().bind_stored(&schema, &schema).unwrap();
    let mut columns = Columns::default();
    columns.fill(&bound, rest);
    let cells = columns.cells();
    let (mut truth, mut opposite) = ([true; CELLS], [true; CELLS]);
    bound.evaluate(&cells, &mut truth);
    negated.evaluate(&cells, &mut opposite);
    assert!(truth.iter().zip(&opposite).all(|(truth, opposite)| !(truth & opposite)), "{condition}: {cells:?}");
    // Without cells, only constants can be true.
    bound.evaluate(&vec![None; cells.len()], &mut truth);
}

/// Checks that an update round-trips.
pub fn update(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let Ok(update) = Update::parse(&mut reader, &Limits::SMALL) else { return };
    let mut writer = ByteWriter::new();
    update.write(&mut writer).unwrap();
    assert_eq!(writer.as_slice(), &data[..data.len() - reader.remaining()], "the same bytes again");
}

/// Checks that a text is parsed, or rejected with a position.
///
/// A condition that fits the schema must be displayed as text with the same meaning. A condition
/// and its negation must never both be true. Results over bounds must be correct for all cells.
pub fn text(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0xff);
    let (read, rest) = (&data[..end.unwrap_or(data.len())], &data[end.map_or(data.len(), |end| end + 1)..]);
    let Ok(read) = std::str::from_utf8(read) else { return };
    let text = match read.parse::<ConditionText>() {
        Ok(text) => text,
        Err(error) => return assert!(read.get(error.at()).is_some() && !error.to_string().is_empty(), "{error}"),
    };
    let schema = schema();
    let resolved = match text.resolve(&schema, enumeration) {
        Ok(resolved) => resolved,
        Err(error) => return assert!(read.get(error.at()).is_some() && !error.to_string().is_empty(), "{error}"),
    };
    is_read_again(&schema, text.condition(), &resolved);

    let Ok(bound) = resolved.bind(&schema, enumeration) else { return };
    let negated = resolved.negation().bind(&schema, enumeration).unwrap();
    for (bound, other) in [(&bound, &negated), (&negated, &bound)] {
        let mut columns = Columns::default();
        columns.fill(bound, rest);
        let cells = columns.cells();
        let mut truth = [true; CELLS];
        bound.evaluate(&cells, &mut truth);
        bounds_are_true(bound, &columns, truth, read);
        // All parts are true exactly if the whole condition is true.
        let parts = bound.parts();
        let mut together = [true; CELLS];
        for part in &parts {
            let place = |field| bound.fields().iter().position(|known| known == field).unwrap();
            let cells: Vec<_> = part.fields().iter().map(|field| cells[place(field)]).collect();
            let mut one = [true; CELLS];
            part.evaluate(&cells, &mut one);
            together.iter_mut().zip(one).for_each(|(all, one)| *all &= one);
        }
        assert_eq!(together, truth, "{read:?} in parts");
        // Evaluates the negation over the same cells.
        let place = |field| bound.fields().iter().position(|known| known == field).unwrap();
        let cells: Vec<_> = other.fields().iter().map(|field| cells[place(field)]).collect();
        let mut opposite = [true; CELLS];
        other.evaluate(&cells, &mut opposite);
        assert!(truth.iter().zip(&opposite).all(|(truth, opposite)| !(truth & opposite)), "{read:?}: {cells:?}");
    }
}

/// Checks that displayed conditions have the same meaning when parsed, both before and after
/// resolution.
fn is_read_again(schema: &ArraySchema, written: &Condition, resolved: &Condition) {
    let read = |printed: &str| match printed.parse::<ConditionText>() {
        Ok(text) => Some(text.resolve(schema, enumeration).unwrap_or_else(|error| panic!("{printed:?}: {error}"))),
        // A date that became a range gets extra parentheses. The text may then exceed the maximum
        // depth.
        Err(error) => {
            assert!(error.what().contains("nested deeper"), "{printed:?}: {error}");
            None
        }
    };
    let printed = resolved.display(schema).to_string();
    // NaNs lose their bits in text, and lists of text and bytes become two lists.
    let comes_back = |printed: &str| !printed.contains("NaN") && !printed.contains("x'");
    if let Some(again) = read(&printed).filter(|_| comes_back(&printed)) {
        assert_eq!(again.display(schema).to_string(), printed);
        let same = |condition: &Condition| condition.bind(schema, enumeration).map_err(|error| error.to_string());
        assert_eq!(same(&again), same(resolved), "{printed:?}");
    }
    let printed = written.to_string();
    if let Some(again) = read(&printed).filter(|_| comes_back(&printed)) {
        assert_eq!(again.display(schema).to_string(), resolved.display(schema).to_string(), "{printed:?}");
    }
}

/// Compares the result over bounds with the results for each cell.
fn bounds_are_true(bound: &BoundCondition, columns: &Columns, truth: [bool; CELLS], text: &str) {
    let known: Vec<_> = bound.fields().iter().zip(&columns.0).map(|(field, column)| bounds_of(field, column)).collect();
    for counts_nulls in [true, false] {
        let matches = bound.over_bounds(|field| {
            let (range, nulls) = &known[field];
            let range = range.as_ref().map(|(low, high)| (&low[..], &high[..]));
            CellBounds { range, nulls: if counts_nulls { *nulls } else { Nulls::Unknown } }
        });
        let is_true = match matches {
            Matches::None => truth.iter().all(|truth| !truth),
            Matches::All => truth.iter().all(|truth| *truth),
            Matches::Unknown => true,
        };
        assert!(is_true, "{text:?} is {matches:?} by {known:?}, but {truth:?}");
    }
}

/// A minimum and a maximum.
type Range = (Vec<u8>, Vec<u8>);

/// Returns the range of a column's values, unless one is a NaN, and the presence of nulls.
fn bounds_of(field: &BoundField, column: &Column) -> (Option<Range>, Nulls) {
    let (data, extents, validity) = column;
    let size = extents.as_ref().map_or(1, |size| *size);
    let is_valid = |index: usize| validity.as_ref().is_none_or(|validity| validity[index] != 0);
    let nulls = match (0..CELLS).filter(|index| !is_valid(*index)).count() {
        0 => Nulls::None,
        CELLS => Nulls::All,
        _ => Nulls::Unknown,
    };
    let mut values: Vec<&[u8]> =
        data.chunks(size).enumerate().filter(|(index, _)| is_valid(*index)).map(|(_, cell)| cell).collect();
    let datatype = field.cells.datatype;
    if matches!(datatype, Datatype::Char | Datatype::StringAscii) {
        values.sort_unstable();
    } else {
        let number = |bytes: &&[u8]| Scalar::from_le_bytes(datatype.physical(), bytes);
        if values.iter().any(|value| number(value).is_none_or(|value| value.to_f64().is_nan())) {
            return (None, nulls);
        }
        values.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap());
    }
    let range = values.first().zip(values.last()).map(|(low, high)| (low.to_vec(), high.to_vec()));
    (range, nulls)
}

/// Returns an enumeration for the fields of the schema.
fn enumeration(name: &str) -> Option<Arc<Enumeration>> {
    let values = ["red", "b", "blue", "7", "it's \"\\"];
    Some(Arc::new(Enumeration::strings(name, "file", Datatype::StringAscii, values).unwrap()))
}

/// A schema with fields of every kind. Names are single letters.
pub fn schema() -> ArraySchema {
    let mut builder = SchemaBuilder::sparse().dimension(Dimension::new("x", 0i32..=99));
    let kinds = [
        ("a", Datatype::Int32, CellValNum::ONE),
        ("b", Datatype::UInt8, CellValNum::ONE),
        ("c", Datatype::Float64, CellValNum::ONE),
        ("d", Datatype::StringAscii, CellValNum::Var),
        ("e", Datatype::Char, CellValNum::ONE),
        ("f", Datatype::DatetimeNs, CellValNum::ONE),
        ("g", Datatype::Blob, CellValNum::Var),
        ("h", Datatype::UInt16, CellValNum::ONE),
    ];
    for (name, datatype, values) in kinds {
        let attribute = Attribute::new(name, datatype).with_cell_val_num(values);
        builder = builder.attribute(if name < "d" { attribute.nullable(false) } else { attribute });
    }
    let reference = EnumerationRef { name: "colours".to_owned(), file_name: "file".to_owned() };
    builder = builder.attribute(Attribute::new("and", Datatype::DatetimeDay));
    builder = builder.attribute(Attribute::new("k", Datatype::Int32).with_enumeration("colours").nullable(true));
    builder = builder.attribute(Attribute::new("not a word", Datatype::UInt8).with_enumeration("colours"));
    builder.enumeration(reference).build().unwrap()
}

/// Cells built from arbitrary bytes.
#[derive(Default)]
struct Columns(Vec<Column>);

/// Values, the size of a cell or the offsets of cells of variable length, and validity.
type Column = (Vec<u8>, Result<usize, Vec<u64>>, Option<Vec<u8>>);

impl Columns {
    fn fill(&mut self, bound: &BoundCondition, bytes: &[u8]) {
        let mut bytes = bytes.iter().copied().chain(std::iter::repeat(0));
        for field in bound.fields() {
            let size = field.cells.cell_size().map_or(1, |size| size as usize);
            let values = bytes.by_ref().take(CELLS * size).collect();
            let extents = if field.cells.is_var() { Err((0..=CELLS as u64).collect()) } else { Ok(size) };
            let validity = field.cells.nullable.then(|| bytes.by_ref().take(CELLS).map(|byte| byte & 1).collect());
            self.0.push((values, extents, validity));
        }
    }

    fn cells(&self) -> Vec<Option<Cells<'_>>> {
        let columns = self.0.iter().map(|(data, extents, validity)| {
            let cells = match extents {
                Err(offsets) => Cells::var(Offsets::in_bytes(offsets), data),
                Ok(size) => Cells::fixed(data, *size),
            };
            Some(cells.with_validity(validity.as_deref().map(Validity::Bytes)))
        });
        columns.collect()
    }
}
