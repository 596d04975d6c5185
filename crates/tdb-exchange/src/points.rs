//! Tables of points for queries.

use csv::{ByteRecord, ReaderBuilder};
use tdb_array::{ArrayError, CellsError, Query, QueryBox};
use tdb_schema::{ArraySchema, Dimension};

use crate::error::{Error, Result};
use crate::range;
use crate::rows::Quotes;

/// Adds the points of a CSV table to a query. The header names the dimensions. `name` is the name
/// of the table in error messages.
///
/// # Errors
/// Fails if the table is not valid CSV, if the header does not name each dimension exactly once, or
/// if a coordinate is invalid or outside the domain. If a row causes the error, the message names
/// its line.
pub fn apply(query: &Query, schema: &ArraySchema, name: &str, bytes: &[u8]) -> Result<Query> {
    let wrong = |line: u64, reason: &dyn std::fmt::Display| Error::text(name, Some(line), reason);
    if let Some(line) = unclosed_quote(bytes) {
        return Err(wrong(line as u64, &"a quote that begins in this row is not closed"));
    }
    let broken = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.map_or(0, |pos| pos.line());
            wrong(line, &format_args!("found {len} fields, expected {expected_len} as in the header"))
        }
        other => Error::text(name, None, &format_args!("invalid CSV: {other:?}")),
    };
    let mut rows = ReaderBuilder::new().from_reader(bytes);
    let header = rows.byte_headers().map_err(broken)?.clone();
    let columns = columns(schema, &header).map_err(|reason| {
        let names = schema.dimensions().iter().map(Dimension::name).collect::<Vec<_>>().join(",");
        let hint = Some(format!("write the names of the dimensions in the first line: {names}"));
        Error::Text { name: name.to_owned(), line: None, reason, hint }
    })?;
    let (mut points, mut lines) = (Vec::new(), Vec::new());
    let mut row = ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(broken)? {
        let line = row.position().map_or(0, csv::Position::line);
        let mut point = QueryBox::new();
        for (dimension, value) in columns.iter().zip(&row) {
            let dimension = &schema.dimensions()[*dimension];
            let ends = range::point(dimension, value).map_err(|why| wrong(line, &why))?;
            point = point.range(dimension.name(), ends);
        }
        points.push(point);
        lines.push(line);
    }
    query.clone().boxes(points.iter().cloned()).map_err(|error| {
        let ArrayError::Cells(CellsError::Range { dimension, why, .. }) = error else { return error.into() };
        // Find the point outside the domain, to report its line.
        let outside = points.into_iter().position(|point| query.clone().boxes([point]).is_err());
        let line = outside.and_then(|place| lines.get(place)).copied().unwrap_or(0);
        let why = why.split_once(": ").map_or(&*why, |(_, why)| why);
        wrong(line, &format_args!("dimension {dimension:?}: {why}"))
    })
}

/// Returns the first line of the row that has an unclosed quote, or `None` if all quotes are
/// closed.
fn unclosed_quote(bytes: &[u8]) -> Option<usize> {
    let (mut quotes, mut begin) = (Quotes::new(b','), 0);
    for (line, bytes) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if !quotes.is_open() {
            begin = line + 1;
        }
        quotes.pass(bytes);
    }
    quotes.is_open().then_some(begin)
}

/// Returns the dimension index of each column.
fn columns(schema: &ArraySchema, header: &ByteRecord) -> Result<Vec<usize>, String> {
    let dimensions = schema.dimensions();
    let mut columns = Vec::new();
    for name in header {
        // Spreadsheets begin a file with a byte order mark.
        let name = if columns.is_empty() { name.strip_prefix("\u{feff}".as_bytes()).unwrap_or(name) } else { name };
        let shown = String::from_utf8_lossy(name);
        let place = dimensions.iter().position(|dimension| dimension.name().as_bytes() == name);
        let place = place.ok_or_else(|| format!("no dimension is named {shown:?}"))?;
        if columns.contains(&place) {
            return Err(format!("two columns are named {shown:?}"));
        }
        columns.push(place);
    }
    match (0..dimensions.len()).find(|place| !columns.contains(place)) {
        Some(missing) => Err(format!("no column for dimension {:?}", dimensions[missing].name())),
        None => Ok(columns),
    }
}
