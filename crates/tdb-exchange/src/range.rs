//! Parser of ranges of coordinates. `pos=100..200` includes both ends, `chrom=a..<b` excludes the
//! end, and `chrom=chr*` selects all strings with a prefix.

use std::ops::{Bound, RangeInclusive};

use tdb_array::{ArrayError, CellsError, Coordinate, Query};
use tdb_rtree::{DimRange, DimensionKind};
use tdb_schema::{ArraySchema, Dimension, DimensionLabel};
use tdb_types::datetime::{self, WrittenError};
use tdb_types::{Datatype, Scalar};

use crate::error::{Error, Result};

/// Both ends of a range. An unbounded end represents the end of the domain.
pub type Ends = (Bound<Coordinate>, Bound<Coordinate>);

/// The target of a range.
#[derive(Clone, Copy, Debug)]
enum Axis<'a> {
    Dimension(&'a Dimension),
    Label(&'a DimensionLabel),
}

impl<'a> Axis<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Dimension(dimension) => dimension.name(),
            Self::Label(label) => &label.name,
        }
    }

    fn datatype(self) -> Datatype {
        match self {
            Self::Dimension(dimension) => dimension.datatype(),
            Self::Label(label) => label.datatype,
        }
    }

    fn is_var(self) -> bool {
        match self {
            Self::Dimension(dimension) => dimension.is_var(),
            Self::Label(label) => label.cell_val_num.fixed().is_none(),
        }
    }
}

/// Adds a range, written as `NAME=LO..HI`, to a query.
///
/// # Errors
/// Fails if the text is not a range, if it does not name a dimension or label, or if the range is
/// invalid for the dimension or label.
pub fn apply(query: Query, schema: &ArraySchema, text: &str) -> Result<Query> {
    let (axis, range) = split_name(schema, text)?;
    let hint = || match axis {
        Axis::Dimension(dimension) => hint(schema, dimension),
        Axis::Label(label) => format!("write {0}=FIRST..LAST, or {0}=VALUE", label.name),
    };
    let wrong = |reason: String| Error::Range { text: text.to_owned(), reason, hint: Some(hint()) };
    let ends = parse(axis, range).map_err(wrong)?;
    let ranged = match axis {
        Axis::Dimension(dimension) => query.range(dimension.name(), ends),
        Axis::Label(label) => query.label_range(&label.name, ends),
    };
    ranged.map_err(|error| match error {
        // Replace the message of the query, which shows dates as numbers.
        ArrayError::Cells(CellsError::Range { why, .. }) => {
            wrong(if why.starts_with("outside") { "outside the domain".to_owned() } else { why })
        }
        other => other.into(),
    })
}

/// Parses a range, written as `NAME=LO..HI`, on an integer dimension. Returns the name of the
/// dimension and the range. An open end becomes the end of the current domain, or of the domain if
/// the array has no current domain.
///
/// # Errors
/// Fails if the text is not a range, or if it does not name an integer dimension.
pub fn of_integers(schema: &ArraySchema, text: &str) -> Result<(String, RangeInclusive<Coordinate>)> {
    let (axis, range) = split_name(schema, text)?;
    let wrong = |reason: String, hint| Error::Range { text: text.to_owned(), reason, hint };
    let Axis::Dimension(dimension) = axis else {
        let hint = "name a dimension; ranges of labels are only for exports of rows".to_owned();
        return Err(wrong("the range names a label".to_owned(), Some(hint)));
    };
    let (start, end) = parse(axis, range).map_err(|why| wrong(why, Some(hint(schema, dimension))))?;
    let index = schema.dimensions().iter().position(|other| other.name() == dimension.name()).unwrap_or(0);
    let whole = |key| Scalar::from_key(dimension.physical(), key).to_integer();
    let known = match schema.limits(index) {
        DimRange::Fixed { lo, hi } => whole(lo).zip(whole(hi)),
        DimRange::Var { .. } => None,
    };
    let (low, high) = known.ok_or_else(|| wrong("not an integer dimension".to_owned(), None))?;
    let integer = |end: Bound<Coordinate>, open: i128, step: i128| match end {
        Bound::Unbounded => Some(open),
        Bound::Included(Coordinate::Integer(at)) => Some(at),
        Bound::Excluded(Coordinate::Integer(at)) => at.checked_add(step),
        Bound::Included(_) | Bound::Excluded(_) => None,
    };
    let ends = integer(start, low, 1).zip(integer(end, high, -1));
    let (start, end) =
        ends.ok_or_else(|| wrong("expected integers, as the dimension has integer coordinates".to_owned(), None))?;
    Ok((dimension.name().to_owned(), Coordinate::Integer(start)..=Coordinate::Integer(end)))
}

/// Returns the index of the dimension that a range, written as `NAME=LO..HI`, restricts. For a
/// label, returns the dimension of the label.
///
/// # Errors
/// Fails if the text does not name a dimension or label.
pub fn dimension_of(schema: &ArraySchema, text: &str) -> Result<usize> {
    Ok(match split_name(schema, text)?.0 {
        Axis::Dimension(dimension) => {
            schema.dimensions().iter().position(|other| other.name() == dimension.name()).unwrap_or(0)
        }
        Axis::Label(label) => label.dimension as usize,
    })
}

/// Returns the ends of a range on a numeric dimension. Returns unbounded ends for a range of
/// strings.
pub fn ends(dimension: &Dimension, range: &DimRange) -> Ends {
    let end = |key| Bound::Included(Coordinate::from(Scalar::from_key(dimension.physical(), key)));
    match *range {
        DimRange::Fixed { lo, hi } => (end(lo), end(hi)),
        DimRange::Var { .. } => (Bound::Unbounded, Bound::Unbounded),
    }
}

/// Parses a coordinate of a table of points as a range. A date such as `2020-01` becomes the range
/// of all values within that month.
///
/// # Errors
/// Returns the reason if the text is not a valid coordinate.
pub fn point(dimension: &Dimension, text: &[u8]) -> Result<Ends, String> {
    if dimension.is_var() {
        let bytes = Coordinate::Bytes(text.to_vec());
        return Ok((Bound::Included(bytes.clone()), Bound::Included(bytes)));
    }
    let word = std::str::from_utf8(text).map_err(|_| format!("{:?} is not UTF-8", String::from_utf8_lossy(text)))?;
    let (first, last) = value(Axis::Dimension(dimension), word.trim(), false)?;
    Ok((Bound::Included(first), Bound::Included(last)))
}

/// Returns an example of accepted ranges, or the domain.
fn hint(schema: &ArraySchema, dimension: &Dimension) -> String {
    let index = schema.dimensions().iter().position(|other| other.name() == dimension.name());
    let current = index.zip(schema.current_domain()).and_then(|(index, domain)| domain.0.get(index));
    let name = dimension.name();
    match (current, domain(dimension)) {
        (Some(current), _) => format!("the current domain is {name}={}", show(dimension.kind(), current)),
        (None, Some(domain)) => format!("the domain is {name}={domain}"),
        (None, None) => format!(
            "write {name}=FIRST..LAST, {name}=FIRST.., {name}=..LAST, {name}=FIRST..<END, {name}=PREFIX* or {name}=VALUE"
        ),
    }
}

/// Returns the domain of a dimension as a range, or `None` if its coordinates are strings.
pub fn domain(dimension: &Dimension) -> Option<String> {
    let (lo, hi) = dimension.domain_keys()?;
    Some(show(dimension.kind(), &DimRange::Fixed { lo, hi }))
}

/// Formats a range in the syntax of [`apply`].
pub fn show(kind: DimensionKind, range: &DimRange) -> String {
    let string = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
    match range {
        DimRange::Fixed { lo, hi } => format!("{}..{}", coordinate(kind, *lo), coordinate(kind, *hi)),
        DimRange::Var { lo, hi } => match hi {
            Bound::Included(hi) => format!("{}..{}", string(lo), string(hi)),
            Bound::Excluded(hi) => format!("{}..<{}", string(lo), string(hi)),
            Bound::Unbounded => format!("{}..", string(lo)),
        },
    }
}

/// Formats the coordinate with this ordered key. Formats dates in ISO form.
pub(crate) fn coordinate(kind: DimensionKind, key: u64) -> String {
    scalar(kind.datatype, Scalar::from_key(kind.datatype.physical(), key))
}

/// Formats a coordinate or an extent. Formats dates in ISO form.
fn scalar(datatype: Datatype, value: Scalar) -> String {
    let date = match value {
        Scalar::I64(value) => datetime::display(datatype, value),
        _ => None,
    };
    date.unwrap_or_else(|| match value {
        Scalar::F32(value) => format!("{value:?}"),
        Scalar::F64(value) => format!("{value:?}"),
        other => other.to_string(),
    })
}

/// Splits a range into its dimension or label and the text after `=`. Names may contain `=`, so the
/// longest matching name wins.
fn split_name<'a, 't>(schema: &'a ArraySchema, text: &'t str) -> Result<(Axis<'a>, &'t str)> {
    let fits = |axis: Axis<'a>| Some((axis, text.strip_prefix(axis.name())?.strip_prefix('=')?));
    let axes = || schema.dimensions().iter().map(Axis::Dimension).chain(schema.labels().iter().map(Axis::Label));
    let longest = axes().filter_map(fits).max_by_key(|(axis, _)| axis.name().len());
    if let Some(found) = longest {
        return Ok(found);
    }
    let known: Vec<String> = axes().map(|axis| axis.name().to_owned()).collect();
    match text.split_once('=') {
        Some((name, _)) => {
            Err(ArrayError::Cells(CellsError::UnknownDimension { name: name.trim().to_owned(), known }).into())
        }
        None => {
            let example = known.first().map_or("dim", String::as_str).to_owned();
            Err(Error::RangeWithoutName { text: text.to_owned(), example })
        }
    }
}

/// Parses the text after `=`.
fn parse(axis: Axis<'_>, text: &str) -> Result<Ends, String> {
    if let Some(prefix) = prefix(axis, text) {
        return Ok(prefix);
    }
    let (first, rest) = end(text, axis)?;
    if rest.is_empty() {
        let only = first.ok_or("the range is empty; give at least one end, or a value")?;
        return Ok((Bound::Included(only.0), Bound::Included(only.1)));
    }
    let rest = rest.strip_prefix("..").ok_or_else(|| format!("expected `..` at {rest:?}"))?;
    let excluded = rest.strip_prefix('<');
    // Also accept `..=`, Rust's syntax for inclusive ranges.
    let rest = excluded.or(rest.strip_prefix('=')).unwrap_or(rest);
    let (last, rest) = end(rest, axis)?;
    if !rest.is_empty() {
        return Err(format!("unexpected text {rest:?} after the range"));
    }
    let start = first.map_or(Bound::Unbounded, |end| Bound::Included(end.0));
    let end = match (last, excluded) {
        (None, None) => Bound::Unbounded,
        (None, Some(_)) => return Err("expected an end after `..<`".to_owned()),
        (Some(end), None) => Bound::Included(end.1),
        (Some(end), Some(_)) => Bound::Excluded(end.0),
    };
    Ok((start, end))
}

/// Parses an unquoted prefix with a trailing `*` as the range of all strings with that prefix.
/// Returns `None` for other texts and for numeric dimensions.
fn prefix(axis: Axis<'_>, text: &str) -> Option<Ends> {
    let prefix = text.trim().strip_suffix('*').filter(|_| axis.is_var())?;
    if prefix.starts_with('"') || prefix.contains("..") {
        return None;
    }
    let DimRange::Var { lo, hi } = DimRange::prefix(prefix) else { return None };
    Some((Bound::Included(Coordinate::Bytes(lo)), hi.map(Coordinate::Bytes)))
}

/// One end of a range: the value as a start and as an end. Both values differ for a date such as
/// `2020-01`.
type End = (Coordinate, Coordinate);

/// Parses an end, or returns `None` for an open end. Also returns the remaining text.
fn end<'t>(text: &'t str, axis: Axis<'_>) -> Result<(Option<End>, &'t str), String> {
    let text = text.trim_start();
    let (word, rest, quoted) = if text.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let word = strings.next().and_then(Result::ok).ok_or("the quoted string is not closed")?;
        (word, text[strings.byte_offset()..].trim(), true)
    } else {
        let split = text.find("..").unwrap_or(text.len());
        (text[..split].trim().to_owned(), &text[split..], false)
    };
    if word.is_empty() && !quoted {
        return Ok((None, rest));
    }
    value(axis, &word, quoted).map(|end| (Some(end), rest))
}

fn value(axis: Axis<'_>, word: &str, quoted: bool) -> Result<End, String> {
    let datatype = axis.datatype();
    let both = |end: Coordinate| Ok((end.clone(), end));
    if axis.is_var() {
        return both(Coordinate::Bytes(word.as_bytes().to_vec()));
    }
    if datatype.is_datetime() {
        let (first, last) = datetime::read(datatype, word).map_err(|why| match why {
            WrittenError::NotAValue => {
                format!("{word:?} is not a date that {datatype} can represent; write for example 2020-01-31")
            }
            why => why.to_string(),
        })?;
        let date = |value: i64| Coordinate::Integer(i128::from(value));
        return Ok((date(first), date(last)));
    }
    if !quoted && let Ok(number) = word.replace('_', "").parse::<i128>() {
        return both(Coordinate::Integer(number));
    }
    match word.parse::<f64>() {
        Ok(number) if datatype.is_float() && !number.is_nan() => both(Coordinate::Float(number)),
        _ => Err(format!("{word:?} is not a valid coordinate of {datatype}")),
    }
}

#[cfg(test)]
mod tests;
