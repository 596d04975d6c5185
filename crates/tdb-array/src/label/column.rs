//! The labels of many coordinates at once.

use tdb_types::{Buffer, Scalar, ordered_keys};

use super::Label;
use crate::column::{Column, ColumnBuffers};
use crate::read::pack_validity;
use crate::{ArrayError, Coordinate, Result};

impl Label {
    /// The labels of some coordinates: a column that is called as the label is, with a cell for each of those of
    /// `coordinates`, a column of the labelled dimension. Coordinates that were never labelled have the fill value of the
    /// label's attribute.
    ///
    /// Each coordinate is read once, however often it is there.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-labels/array");
    /// let array = tdb_array::Array::open(folder)?;
    /// let label = array.label("height")?;                  // of the dimension y
    /// for batch in array.read().select(["y", "x", "a"])?.batches()? {
    ///     let batch = batch?;
    ///     let heights = label.column(batch.column("y")?)?;
    ///     assert_eq!(heights.values::<f64>()?.len(), batch.len());
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayError::WrongType`] if the column is of another type than the labelled dimension; a coordinate outside of the
    /// domain; labels that can't be read.
    pub fn column(&self, coordinates: &Column) -> Result<Column> {
        let dimension = &self.array().schema().dimensions()[0];
        if coordinates.datatype() != dimension.datatype() || coordinates.cell_val_num() != dimension.cell_val_num() {
            let (datatype, asked) = (coordinates.datatype(), dimension.physical());
            return Err(ArrayError::WrongType { field: coordinates.name().to_owned(), datatype, asked });
        }
        let mut keys = Vec::new();
        ordered_keys(dimension.physical(), coordinates.bytes(), &mut keys);
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let labels = self.labels_of(&distinct)?;
        // Mostly the next coordinate is the last one found, or the one behind it.
        let mut last = 0;
        let place = |key: &u64| {
            if distinct.get(last) != Some(key) {
                let is_next = distinct.get(last + 1) == Some(key);
                last = if is_next { last + 1 } else { distinct.partition_point(|other| other < key) };
            }
            last
        };
        let places: Vec<usize> = keys.iter().map(place).collect();
        let name = self.label.name.as_str().into();
        Ok(Column::new(name, self.label.datatype, self.label.cell_val_num, places.len(), labels.gather(&places)))
    }

    /// The labels of coordinates, given by their keys, which ascend.
    fn labels_of(&self, keys: &[u64]) -> Result<Labels> {
        let (schema, label) = (self.array.schema(), &self.label);
        let is_nullable = schema.field(&label.attribute).and_then(|field| schema.field_type(field));
        let mut labels = Labels {
            value_size: label.datatype.size(),
            values_per_cell: label.cell_val_num.fixed().map(|number| number as usize),
            values: Vec::new(),
            offsets: vec![0],
            valid: is_nullable.is_some_and(|kind| kind.nullable).then(Vec::new),
        };
        let dimension = &schema.dimensions()[0];
        let coordinate = |key: u64| Coordinate::from(Scalar::from_key(dimension.physical(), key));
        let mut query = self.array.read().select([&label.attribute])?;
        for run in keys.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                query = query.range(dimension.name(), coordinate(*first)..=coordinate(*last))?;
            }
        }
        // Without a range all labels would be read.
        let batches = if keys.is_empty() { None } else { Some(query.batches()?) };
        for batch in batches.into_iter().flatten() {
            labels.append(batch?.column(&label.attribute)?);
        }
        Ok(labels)
    }
}

/// The labels of distinct coordinates.
struct Labels {
    value_size: usize,
    /// How many values a label has, unless they vary.
    values_per_cell: Option<usize>,
    values: Vec<u8>,
    /// Of labels of variable length: where each begins, in bytes, and at last where the last one ends.
    offsets: Vec<u64>,
    /// Which of them are not null, if some may be.
    valid: Option<Vec<bool>>,
}

impl Labels {
    fn append(&mut self, column: &Column) {
        let base = self.values.len() as u64;
        self.values.extend_from_slice(column.bytes());
        let ends = column.offsets().unwrap_or_default().iter().skip(1);
        self.offsets.extend(ends.map(|end| base + end * self.value_size as u64));
        if let Some(valid) = &mut self.valid {
            valid.extend((0..column.len()).map(|cell| column.is_valid(cell)));
        }
    }

    /// The labels at some places, one after the other.
    fn gather(&self, places: &[usize]) -> ColumnBuffers {
        let mut buffers = match self.values_per_cell {
            Some(number) => self.gather_fixed(places, number * self.value_size),
            None => self.gather_var(places),
        };
        if let Some(valid) = &self.valid {
            let bytes: Vec<u8> = places.iter().map(|place| u8::from(valid[*place])).collect();
            let mut bits = Buffer::new();
            pack_validity(&bytes, &mut bits);
            buffers.validity = Some(bits);
        }
        buffers
    }

    fn gather_fixed(&self, places: &[usize], size: usize) -> ColumnBuffers {
        let mut values = Buffer::zeroed(places.len() * size);
        for (to, place) in values.chunks_exact_mut(size.max(1)).zip(places) {
            to.copy_from_slice(&self.values[place * size..][..size]);
        }
        ColumnBuffers { values, ..ColumnBuffers::default() }
    }

    fn gather_var(&self, places: &[usize]) -> ColumnBuffers {
        let mut values = Buffer::new();
        let mut offsets = Buffer::zeroed((places.len() + 1) * size_of::<u64>());
        let ends = offsets.values_mut::<u64>().unwrap_or_default().iter_mut().skip(1);
        for (end, place) in ends.zip(places) {
            values.extend_from_slice(&self.values[self.offsets[*place] as usize..self.offsets[place + 1] as usize]);
            *end = (values.len() / self.value_size) as u64;
        }
        ColumnBuffers { values, offsets: Some(offsets), validity: None }
    }
}
