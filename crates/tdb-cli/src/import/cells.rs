//! Rows turned into columns.

use std::collections::{HashMap, HashSet};
use std::result::Result as StdResult;

use tdb_array::{NewCells, NewColumn};
use tdb_rtree::{DimRange, DimensionKind};
use tdb_schema::global_order::make_comparable;
use tdb_schema::{ArraySchema, Enumeration, FieldRef};
use tdb_types::Datatype;

use super::rows::{Entry, Row};
use crate::cells::CellParser;
use crate::failure::{Failure, Result};
use crate::range;

/// The columns of an array's fields, and how to fill them from rows.
#[derive(Debug)]
pub(crate) struct Cells {
    fields: Vec<Field>,
    /// What stands for a null cell in CSV.
    null: String,
    known: HashSet<String>,
    /// Whether columns that the array has no field for are passed over.
    ignore: bool,
    len: usize,
}

#[derive(Debug)]
struct Field {
    name: String,
    /// Which column of a CSV file it is.
    place: Option<usize>,
    parser: CellParser,
    datatype: Datatype,
    nullable: bool,
    is_dimension: bool,
    /// Where coordinates lie.
    bounds: Option<(DimensionKind, DimRange)>,
    column: Column,
}

/// Cells gathered so far.
#[derive(Debug)]
struct Column {
    /// Bytes of a value.
    value_size: usize,
    /// Bytes of a cell; none where they differ.
    cell_size: Option<usize>,
    values: Vec<u8>,
    /// In values, where cells differ in length.
    offsets: Option<Vec<u64>>,
    /// One byte per cell, where cells may be null.
    valid: Option<Vec<u8>>,
}

impl Cells {
    /// For the rows of a file with these columns, if all rows have the same. `enumeration` gives the one of a name.
    ///
    /// # Errors
    /// A field that no column is called like, or a column that the array has no field for.
    pub(crate) fn new(
        schema: &ArraySchema,
        enumeration: impl Fn(&str) -> Result<Enumeration>,
        columns: Option<&[String]>,
        null: &str,
        ignore: bool,
    ) -> Result<Self> {
        let dimensions = (0..schema.dimensions().len()).map(FieldRef::Dimension);
        let all = dimensions.chain((0..schema.attributes().len()).map(FieldRef::Attribute));
        let mut fields = Vec::new();
        for field in all {
            fields.push(Field::new(schema, &enumeration, field)?);
        }
        let known = fields.iter().map(|field| field.name.clone()).collect();
        let mut cells = Self { fields, null: null.to_owned(), known, ignore, len: 0 };
        if let Some(columns) = columns {
            cells.assign(columns)?;
        }
        Ok(cells)
    }

    fn assign(&mut self, columns: &[String]) -> Result<()> {
        let places: HashMap<&str, usize> =
            columns.iter().enumerate().map(|(place, column)| (column.as_str(), place)).collect();
        for field in &mut self.fields {
            field.place = places.get(field.name.as_str()).copied();
            if field.place.is_none() && !field.nullable {
                return Err(Failure::usage(format!(
                    "no column is called {:?}, which a field of the array is",
                    field.name
                ))
                .with_hint(format!("the columns are {}", columns.join(", "))));
            }
        }
        match columns.iter().find(|column| !self.known.contains(*column)) {
            Some(column) if !self.ignore => {
                let fields: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
                Err(Failure::usage(format!("the array has no field {column:?}"))
                    .with_hint(format!("its fields are {}; --ignore-others leaves out all others", fields.join(", "))))
            }
            _ => Ok(()),
        }
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |column: &Column| {
            let offsets = column.offsets.as_ref().map_or(0, |offsets| 8 * offsets.len());
            column.values.len() + offsets + column.valid.as_ref().map_or(0, Vec::len)
        };
        self.fields.iter().map(|field| bytes(&field.column)).sum()
    }

    /// Takes a row up.
    ///
    /// # Errors
    /// Why it can't be: then nothing of it is.
    pub(crate) fn push(&mut self, row: Row<'_>) -> StdResult<(), String> {
        if let Row::Jsonl(members) = row
            && !self.ignore
            && let Some(name) = members.keys().find(|name| !self.known.contains(*name))
        {
            return Err(format!("the array has no field {name:?}"));
        }
        for index in 0..self.fields.len() {
            let field = &mut self.fields[index];
            let entry = row.entry(&field.name, field.place);
            if let Err(why) = field.push(entry, &self.null) {
                let why = format!("{}: {why}", self.fields[index].name);
                self.fields.iter_mut().for_each(|field| field.column.truncate(self.len));
                return Err(why);
            }
        }
        self.len += 1;
        Ok(())
    }

    /// The coordinates of a cell, as ordered keys; those of strings are left out.
    pub(crate) fn keys(&self, cell: usize, keys: &mut Vec<u64>) {
        keys.clear();
        for field in self.fields.iter().filter(|field| field.is_dimension) {
            let size = field.datatype.size();
            if let Some(bytes) = field.column.values.get(cell * size..(cell + 1) * size) {
                tdb_types::ordered_keys(field.datatype.physical(), bytes, keys);
            }
        }
    }

    /// The coordinates of a cell as bytes that no other coordinates have.
    pub(crate) fn place(&self, cell: usize, place: &mut Vec<u8>) {
        place.clear();
        let mut keys = Vec::new();
        for field in self.fields.iter().filter(|field| field.is_dimension) {
            let coordinate = field.column.cell(cell);
            if field.column.offsets.is_some() {
                place.extend_from_slice(&coordinate.len().to_le_bytes());
                place.extend_from_slice(coordinate);
            } else {
                keys.clear();
                tdb_types::ordered_keys(field.datatype.physical(), coordinate, &mut keys);
                // Zeros of either sign are one place.
                make_comparable(field.datatype.physical(), &mut keys);
                place.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
            }
        }
    }

    /// The cells as columns, of attributes only if it's for a dense array, in the order given if it isn't theirs.
    pub(crate) fn columns(&self, dense: bool, order: Option<&[usize]>) -> NewCells<'_> {
        let stored = self.fields.iter().filter(|field| !dense || !field.is_dimension);
        stored.fold(NewCells::new(), |cells, field| cells.with(field.name.clone(), field.column.new_column(order)))
    }

    /// Forgets all cells.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.fields.iter_mut().for_each(|field| field.column.truncate(0));
    }
}

impl Field {
    fn new(
        schema: &ArraySchema,
        enumeration_of: impl Fn(&str) -> Result<Enumeration>,
        field: FieldRef,
    ) -> Result<Self> {
        let name = schema.field_name(field).unwrap_or_default().to_owned();
        let (datatype, number, nullable, enumeration) = match field {
            FieldRef::Dimension(index) => {
                let dimension = &schema.dimensions()[index];
                (dimension.datatype(), dimension.cell_val_num(), false, None)
            }
            FieldRef::Attribute(index) => {
                let attribute = &schema.attributes()[index];
                let nullable = attribute.is_nullable();
                (attribute.datatype(), attribute.cell_val_num(), nullable, attribute.enumeration())
            }
        };
        let parser = CellParser::new(datatype, number);
        let parser = match enumeration {
            Some(name) => parser.with_enumeration(&enumeration_of(name)?),
            None => parser,
        };
        let value_size = datatype.size();
        let cell_size = number.fixed().map(|number| number as usize * value_size);
        let column = Column {
            value_size,
            cell_size,
            values: Vec::new(),
            offsets: cell_size.is_none().then(|| vec![0]),
            valid: nullable.then(Vec::new),
        };
        let is_dimension = matches!(field, FieldRef::Dimension(_));
        Ok(Self { name, place: None, parser, datatype, nullable, is_dimension, bounds: bounds(schema, field), column })
    }

    fn push(&mut self, entry: Option<Entry<'_>>, null: &str) -> StdResult<(), String> {
        let is_null = match entry {
            None | Some(Entry::Json(serde_json::Value::Null)) => true,
            Some(Entry::Text(text)) => self.nullable && text == null,
            Some(Entry::Json(_)) => false,
        };
        if is_null && !self.nullable {
            return Err(match entry {
                None => "missing, and the field is not nullable".to_owned(),
                _ => "null, and the field is not nullable".to_owned(),
            });
        }
        let column = &mut self.column;
        let start = column.values.len();
        match entry {
            Some(Entry::Text(text)) if !is_null => self.parser.text(text, &mut column.values)?,
            Some(Entry::Json(value)) if !is_null => self.parser.json(value, &mut column.values)?,
            _ => column.values.resize(column.values.len() + column.cell_size.unwrap_or(0), 0),
        }
        match &self.bounds {
            Some((kind, DimRange::Fixed { lo, hi })) => {
                let mut keys = Vec::new();
                tdb_types::ordered_keys(self.datatype.physical(), &column.values[start..], &mut keys);
                if keys.iter().any(|key| !(lo..=hi).contains(&key)) {
                    let show = |key| range::coordinate(*kind, key);
                    let value = keys.first().map_or_else(String::new, |key| show(*key));
                    return Err(format!("{value} is outside of the domain, {}..{}", show(*lo), show(*hi)));
                }
            }
            Some((kind, range)) if !range.contains_string(&column.values[start..]) => {
                let value = String::from_utf8_lossy(&column.values[start..]);
                return Err(format!("{value:?} is outside of the current domain, {}", range.display(*kind)));
            }
            _ => {}
        }
        if let Some(offsets) = &mut column.offsets {
            offsets.push((column.values.len() / column.value_size) as u64);
        }
        if let Some(valid) = &mut column.valid {
            valid.push(u8::from(!is_null));
        }
        Ok(())
    }
}

/// Where coordinates may lie: in the current domain, if there is one.
fn bounds(schema: &ArraySchema, field: FieldRef) -> Option<(DimensionKind, DimRange)> {
    let FieldRef::Dimension(index) = field else { return None };
    Some((schema.dimensions()[index].kind(), schema.limits(index)))
}

impl Column {
    /// Takes back all cells from `len` on, and what there is of another one.
    fn truncate(&mut self, len: usize) {
        let end = match (&mut self.offsets, self.cell_size) {
            (Some(offsets), _) => {
                offsets.truncate(len + 1);
                offsets.last().map_or(0, |end| *end as usize) * self.value_size
            }
            (None, size) => len * size.unwrap_or(0),
        };
        self.values.truncate(end);
        if let Some(valid) = &mut self.valid {
            valid.truncate(len);
        }
    }

    fn cell(&self, cell: usize) -> &[u8] {
        match (&self.offsets, self.cell_size) {
            (Some(offsets), _) => {
                &self.values[offsets[cell] as usize * self.value_size..offsets[cell + 1] as usize * self.value_size]
            }
            (None, size) => &self.values[cell * size.unwrap_or(0)..(cell + 1) * size.unwrap_or(0)],
        }
    }

    fn new_column(&self, order: Option<&[usize]>) -> NewColumn<'_> {
        let bits = |valid: &mut dyn Iterator<Item = u8>| {
            let valid: Vec<u8> = valid.collect();
            let bit = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
            valid.chunks(8).map(bit).collect::<Vec<u8>>()
        };
        let Some(order) = order else {
            let valid = self.valid.as_ref().map(|valid| bits(&mut valid.iter().copied()));
            return NewColumn::owned(self.values.clone(), self.offsets.clone(), valid);
        };
        let valid = self.valid.as_ref().map(|valid| bits(&mut order.iter().map(|cell| valid[*cell])));
        let (mut values, mut offsets) = (Vec::with_capacity(self.values.len()), self.offsets.as_ref().map(|_| vec![0]));
        for cell in order {
            values.extend_from_slice(self.cell(*cell));
            if let Some(offsets) = &mut offsets {
                offsets.push((values.len() / self.value_size) as u64);
            }
        }
        NewColumn::owned(values, offsets, valid)
    }
}
