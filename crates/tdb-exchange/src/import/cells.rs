//! Conversion of rows to columns.

use std::collections::{HashMap, HashSet};
use std::result::Result as StdResult;

use tdb_array::{CellProblem, WriteBatch};
use tdb_filters::{FilterError, StorableValues};
use tdb_rtree::{DimRange, DimensionKind};
use tdb_schema::global_order::make_comparable;
use tdb_schema::{ArraySchema, Enumeration, FieldRef};
use tdb_types::Datatype;

use super::column::Column;
use crate::cells::{CellParser, type_of};
use crate::error::{Error, Result};
use crate::range;
use crate::rows::{Entry, Row};

/// The cells of an array's fields as columns, and the parsers of the fields.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(super) fields: Vec<Field>,
    pub(super) known: HashSet<String>,
    /// `true` to skip columns without a field.
    ignore: bool,
    /// `true` if the coordinates of a cell fit into a `u128`.
    are_places_numbers: bool,
    pub(super) len: usize,
}

/// A comparable form of the coordinates of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// The concatenated ordered keys of all coordinates.
    Number(u128),
    Bytes(&'a [u8]),
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// The index of the column in the file. `None` for JSON, or if the file lacks the column.
    place: Option<usize>,
    parser: CellParser,
    datatype: Datatype,
    pub(super) nullable: bool,
    pub(super) is_dimension: bool,
    /// The bounds of valid coordinates. `None` for an attribute.
    bounds: Option<(DimensionKind, DimRange)>,
    /// The values accepted by the filters, or `None` if the filters accept all values.
    storable: Option<StorableValues>,
    pub(super) column: Column,
}

impl Cells {
    /// Creates empty columns for an array of this schema. `enumeration` finds an enumeration by
    /// name.
    ///
    /// # Errors
    /// Fails if an enumeration is missing, or if the filters of a field do not fit its type.
    pub(crate) fn new(
        schema: &ArraySchema,
        enumeration: impl Fn(&str) -> Option<Enumeration>,
        ignore: bool,
    ) -> Result<Self> {
        let fields =
            schema.fields().map(|field| Field::new(schema, &enumeration, field)).collect::<Result<Vec<_>>>()?;
        let known = fields.iter().map(|field| field.name.clone()).collect();
        let mut dimensions = fields.iter().filter(|field| field.is_dimension);
        let size = dimensions.try_fold(0, |sum, field| Some(sum + field.column.cell_size?));
        let are_places_numbers = size.is_some_and(|size| size <= size_of::<u128>());
        Ok(Self { fields, known, ignore, are_places_numbers, len: 0 })
    }

    /// Permits JSON numbers and booleans in a text field.
    pub(super) fn take_numbers(&mut self, name: &str) {
        let field = self.fields.iter_mut().find(|field| field.name == name);
        field.into_iter().for_each(|field| field.parser.take_numbers());
    }

    /// Expects rows with named members, such as JSON objects, from now on.
    pub(super) fn assign_nothing(&mut self) {
        self.fields.iter_mut().for_each(|field| field.place = None);
    }

    /// Expects rows of a file with these columns from now on.
    ///
    /// # Errors
    /// Fails if a non-nullable field has no column. Also fails if a column has no field, unless
    /// such columns are ignored.
    pub(super) fn assign(&mut self, columns: &[String]) -> Result<()> {
        let places: HashMap<&str, usize> =
            columns.iter().enumerate().map(|(place, column)| (column.as_str(), place)).collect();
        for field in &mut self.fields {
            field.place = places.get(field.name.as_str()).copied();
            if field.place.is_none() && !field.nullable {
                return Err(Error::NoColumn { field: field.name.clone(), columns: columns.to_vec() });
            }
        }
        match columns.iter().find(|column| !self.known.contains(*column)) {
            Some(column) if !self.ignore => {
                let fields = self.fields.iter().map(|field| field.name.clone()).collect();
                Err(Error::NoField { column: column.clone(), fields })
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes of memory of all columns.
    pub(crate) fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.column.bytes()).sum()
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Returns the reason if the row is invalid. The columns then stay unchanged.
    pub(crate) fn push(&mut self, row: Row<'_>, nulls: &[String]) -> StdResult<(), String> {
        if let Row::Json(members) = row
            && !self.ignore
            && let Some(name) = members.keys().find(|name| !self.known.contains(*name))
        {
            return Err(format!("the array has no field {name:?}"));
        }
        for index in 0..self.fields.len() {
            let field = &mut self.fields[index];
            let entry = row.entry(&field.name, field.place);
            if let Err(why) = field.push(entry, nulls) {
                let why = format!("{}: {why}", self.fields[index].name);
                self.fields.iter_mut().for_each(|field| field.column.truncate(self.len));
                return Err(why);
            }
        }
        self.len += 1;
        Ok(())
    }

    /// Replaces `keys` by the ordered keys of the coordinates of a cell. Skips string dimensions.
    pub(crate) fn keys(&self, cell: usize, keys: &mut Vec<u64>) {
        keys.clear();
        for field in self.fields.iter().filter(|field| field.is_dimension) {
            let size = field.datatype.size();
            if let Some(bytes) = field.column.values.get(cell * size..(cell + 1) * size) {
                tdb_types::ordered_keys(field.datatype.physical(), bytes, keys);
            }
        }
    }

    /// Returns the coordinates of a cell in a form that is equal only for equal coordinates.
    /// `bytes` is scratch memory for coordinates that do not fit into a number.
    pub(super) fn place<'a>(&self, cell: usize, bytes: &'a mut Vec<u8>) -> Place<'a> {
        let dimensions = self.fields.iter().filter(|field| field.is_dimension);
        if self.are_places_numbers {
            let number = dimensions.fold(0, |number, field| {
                let bits = 8 * field.datatype.size();
                number << bits | u128::from(field.comparable_key(cell))
            });
            return Place::Number(number);
        }
        bytes.clear();
        for field in dimensions {
            if field.column.is_var() {
                let coordinate = field.column.cell(cell);
                bytes.extend_from_slice(&coordinate.len().to_le_bytes());
                bytes.extend_from_slice(coordinate);
            } else {
                bytes.extend_from_slice(&field.comparable_key(cell).to_le_bytes());
            }
        }
        Place::Bytes(bytes)
    }

    /// Returns the first `count` cells as columns, or the cells in `order` if given. If `dense`,
    /// leaves out the dimensions.
    pub(crate) fn columns(&self, dense: bool, count: usize, order: Option<&[usize]>) -> WriteBatch<'_> {
        let stored = self.fields.iter().filter(|field| !dense || !field.is_dimension);
        stored.fold(WriteBatch::new(), |cells, field| {
            cells.with(field.name.clone(), field.column.new_column(count, order))
        })
    }

    pub(crate) fn remove_first(&mut self, count: usize) {
        self.len -= count;
        self.fields.iter_mut().for_each(|field| field.column.remove_first(count));
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.fields.iter_mut().for_each(|field| field.column.truncate(0));
    }
}

impl Field {
    fn new(
        schema: &ArraySchema,
        enumeration_of: impl Fn(&str) -> Option<Enumeration>,
        field: FieldRef,
    ) -> Result<Self> {
        let name = schema.field_name(field).unwrap_or_default().to_owned();
        let (datatype, number, nullable, enumeration) = type_of(schema, field);
        let parser = CellParser::new(datatype, number);
        let parser = match enumeration {
            Some(name) => {
                let missing = || Error::NoEnumeration { name: name.to_owned() };
                parser.with_enumeration(&enumeration_of(name).ok_or_else(missing)?)
            }
            None => parser,
        };
        let column = Column::new(datatype, number, nullable);
        let is_dimension = matches!(field, FieldRef::Dimension(_));
        let storable = StorableValues::of(&schema.filters_in(schema.version(), field), datatype);
        let storable = storable.map_err(|error| Error::Field { field: name.clone(), reason: error.to_string() })?;
        let bounds = bounds(schema, field);
        Ok(Self { name, place: None, parser, datatype, nullable, is_dimension, bounds, storable, column })
    }

    fn push(&mut self, entry: Option<Entry<'_>>, nulls: &[String]) -> StdResult<(), String> {
        let is_null = match entry {
            None | Some(Entry::Json(serde_json::Value::Null)) => true,
            Some(Entry::Text(text)) => text.is_null(nulls, self.parser.may_be_empty()),
            Some(Entry::Json(_)) => false,
        };
        let values = &mut self.column.values;
        let start = values.len();
        match entry {
            _ if is_null && self.nullable => {
                self.column.end_cell(true);
                return Ok(());
            }
            None => return Err("missing, but the field is not nullable".to_owned()),
            // NaT is printed as null. Therefore null in a non-nullable date field is stored as NaT.
            Some(_) if is_null && self.parser.no_time(values) => {}
            Some(Entry::Text(text)) => self.parser.text(text.text, values)?,
            Some(Entry::Json(serde_json::Value::Null)) => {
                return Err("null, but the field is not nullable".to_owned());
            }
            Some(Entry::Json(value)) => self.parser.json(value, values)?,
        }
        self.check(&self.column.values[start..])?;
        self.column.end_cell(false);
        Ok(())
    }

    /// Returns the bytes of NaT, for a null in a non-nullable field. Returns `None` if the field
    /// has no NaT.
    pub(super) fn no_time(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        (!self.nullable && self.parser.no_time(&mut bytes)).then_some(bytes)
    }

    /// Returns the ordered key of the coordinate of a cell. Both zeros of a float have the same
    /// key.
    fn comparable_key(&self, cell: usize) -> u64 {
        let physical = self.datatype.physical();
        let mut key = [tdb_types::ordered_key(physical, self.column.cell(cell))];
        make_comparable(physical, &mut key);
        key[0]
    }

    /// Returns `true` if the field can hold only some values of its type.
    pub(super) fn is_restricted(&self) -> bool {
        self.bounds.is_some() || self.storable.is_some()
    }

    /// Checks a coordinate against the bounds, and the values against the filters.
    ///
    /// # Errors
    /// Returns the reason, which contains the value and the bounds.
    pub(super) fn check(&self, cell: &[u8]) -> StdResult<(), String> {
        check(&self.bounds, self.datatype, cell)?;
        match self.storable.map_or(Ok(()), |storable| storable.check(cell)) {
            Ok(()) => Ok(()),
            Err(FilterError::OutOfRange { filter, value, expected, .. }) => {
                Err(CellProblem::Unstorable { filter, value, expected }.to_string())
            }
            Err(other) => Err(other.to_string()),
        }
    }
}

fn check(bounds: &Option<(DimensionKind, DimRange)>, datatype: Datatype, coordinate: &[u8]) -> StdResult<(), String> {
    match bounds {
        Some((kind, DimRange::Fixed { lo, hi })) => {
            let key = tdb_types::ordered_key(datatype.physical(), coordinate);
            if !(*lo..=*hi).contains(&key) {
                let [value, lo, hi] = [key, *lo, *hi].map(|key| range::coordinate(*kind, key));
                return Err(format!("{value} is outside of the domain {lo}..{hi}"));
            }
            Ok(())
        }
        Some((kind, range)) if !range.contains_string(coordinate) => {
            let value = String::from_utf8_lossy(coordinate);
            Err(format!("{value:?} is outside of the current domain {}", range.display(*kind)))
        }
        _ => Ok(()),
    }
}

/// Returns the bounds of valid coordinates: the current domain, or else the domain. Returns `None`
/// for an attribute.
fn bounds(schema: &ArraySchema, field: FieldRef) -> Option<(DimensionKind, DimRange)> {
    let FieldRef::Dimension(index) = field else { return None };
    Some((schema.dimensions()[index].kind(), schema.limits(index)))
}
