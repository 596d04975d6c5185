//! Labels of many coordinates.

use std::sync::Arc;

use tdb_cells::{CellBuffers, CellsError, Column, ColumnBuffers, Coordinate, pack_validity, range_on};
use tdb_schema::DimensionLabel;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::{Buffer, CellValNum, Datatype, Scalar, ordered_keys};

use super::Label;

impl Label {
    /// Returns the labels of coordinates: a column with the name of the label, and a cell for each
    /// cell of `coordinates`. `coordinates` is a column of the labeled dimension. Coordinates
    /// without a label get the fill value of the label's attribute.
    ///
    /// Each distinct coordinate is read only once.
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
    /// [`ArrayError::Label`] if the column is not of the labeled dimension, or contains a
    /// coordinate outside of the domain. Another error if labels cannot be read.
    pub fn column(&self, coordinates: &Column) -> Result<Column> {
        let found = self.find(coordinates, usize::MAX)?.ok_or_else(|| ArrayError::Label {
            name: self.label.name.clone(),
            why: "too many labels for the memory".to_owned(),
        })?;
        Ok(found.column(coordinates.len()))
    }

    /// Returns the minimum size in bytes of a cell in a column of labels.
    pub(crate) fn least_cell(&self) -> usize {
        let number = self.label.cell_val_num.fixed();
        number.map_or(size_of::<u64>(), |number| (number as usize).saturating_mul(self.label.datatype.size()))
    }

    /// Returns the labels of coordinates. Returns `None` if the distinct labels exceed `limit`
    /// bytes.
    pub(crate) fn find(&self, coordinates: &Column, limit: usize) -> Result<Option<FoundLabels>> {
        self.check_coordinates(coordinates)?;
        let dimension = &self.array.schema().dimensions()[0];
        let mut keys = Vec::new();
        ordered_keys(dimension.physical(), coordinates.bytes(), &mut keys);
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let Some(labels) = self.labels_of(&distinct, limit)? else { return Ok(None) };
        // Usually a coordinate repeats the previous coordinate or follows it directly.
        let mut last = 0;
        let place = |key: &u64| {
            if distinct.get(last) != Some(key) {
                let is_next = distinct.get(last + 1) == Some(key);
                last = if is_next { last + 1 } else { distinct.partition_point(|other| other < key) };
            }
            last
        };
        let places: Vec<usize> = keys.iter().map(place).collect();
        let ends = labels.ends(&places);
        let DimensionLabel { name, datatype, cell_val_num, .. } = &self.label;
        let (name, datatype, cell_val_num) = (name.as_str().into(), *datatype, *cell_val_num);
        Ok(Some(FoundLabels { name, datatype, cell_val_num, labels, places, ends }))
    }

    fn check_coordinates(&self, coordinates: &Column) -> Result<()> {
        let dimension = &self.array.schema().dimensions()[0];
        let is_same = (coordinates.datatype(), coordinates.cell_val_num(), coordinates.name())
            == (dimension.datatype(), dimension.cell_val_num(), &*self.labelled);
        if is_same {
            return Ok(());
        }
        let why = format!(
            "expected coordinates of dimension {:?} ({}), found {:?} ({})",
            self.labelled,
            dimension.datatype(),
            coordinates.name(),
            coordinates.datatype()
        );
        Err(ArrayError::Label { name: self.label.name.clone(), why })
    }

    /// Returns the labels of coordinates with these ascending keys. Returns `None` if the labels
    /// exceed `limit` bytes.
    fn labels_of(&self, keys: &[u64], limit: usize) -> Result<Option<Labels>> {
        let (schema, label) = (self.array.schema(), &self.label);
        let kind = schema.field(&label.attribute).and_then(|field| schema.field_type(field));
        let mut labels = Labels {
            value_size: label.datatype.size(),
            values_per_cell: label.cell_val_num.fixed().map(|number| number as usize),
            nullable: kind.is_some_and(|kind| kind.nullable),
            cells: CellBuffers::default(),
        };
        let dimension = &schema.dimensions()[0];
        let coordinate = |key: u64| Coordinate::from(Scalar::from_key(dimension.physical(), key));
        let mut ranges = Vec::new();
        for run in keys.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                let range = range_on(schema, dimension.name(), &(coordinate(*first)..=coordinate(*last)));
                let (_, range) = range.map_err(|error| match error {
                    // The error names the label, because callers do not know the dimension of the
                    // label's array.
                    CellsError::Range { range, why, .. } => {
                        ArrayError::Label { name: label.name.clone(), why: format!("coordinates {range}: {why}") }
                    }
                    other => other.into(),
                })?;
                ranges.push(range);
            }
        }
        // Without ranges all labels would be read.
        if ranges.is_empty() {
            return Ok(Some(labels));
        }
        let mut reader = self.read(ranges)?;
        while let Some(batch) = reader.next_batch()? {
            labels.append(batch.column(&label.attribute)?);
            if labels.cells.values.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(labels))
    }
}

/// The labels of cells, before a column is built.
#[derive(Debug)]
pub(crate) struct FoundLabels {
    name: Arc<str>,
    datatype: Datatype,
    cell_val_num: CellValNum,
    labels: Labels,
    /// The index of each cell's label.
    places: Vec<usize>,
    /// For each cell, the total size in bytes of all labels up to and including this cell.
    ends: Vec<usize>,
}

impl FoundLabels {
    /// Returns the memory of the labels of all cells before `cell`, in bytes.
    pub(crate) fn memory_before(&self, cell: usize) -> usize {
        let bytes = cell.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0);
        let offsets = if self.labels.values_per_cell.is_none() { 8 * (cell + 1) } else { 0 };
        let validity = if self.labels.nullable { cell.div_ceil(8) } else { 0 };
        bytes.saturating_add(offsets + validity)
    }

    /// Builds the column for the first `cells` cells.
    pub(crate) fn column(&self, cells: usize) -> Column {
        let buffers = self.labels.gather(&self.places[..cells]);
        Column::new(Arc::clone(&self.name), self.datatype, self.cell_val_num, cells, buffers)
    }
}

/// The labels of distinct coordinates.
#[derive(Debug)]
struct Labels {
    value_size: usize,
    /// The number of values of a label. `None` for variable-length labels.
    values_per_cell: Option<usize>,
    nullable: bool,
    cells: CellBuffers,
}

impl Labels {
    fn append(&mut self, column: &Column) {
        self.cells.push(&column.cells(), self.nullable);
    }

    /// Returns, for each place, the total size in bytes of all labels up to and including this
    /// place.
    fn ends(&self, places: &[usize]) -> Vec<usize> {
        let len = |place: &usize| match self.values_per_cell {
            Some(number) => number * self.value_size,
            None => self.cells.string(*place).len(),
        };
        let ends = places.iter().map(len).scan(0_usize, |end, len| {
            *end = end.saturating_add(len);
            Some(*end)
        });
        ends.collect()
    }

    /// Concatenates the labels at these places.
    fn gather(&self, places: &[usize]) -> ColumnBuffers {
        let mut buffers = match self.values_per_cell {
            Some(number) => self.gather_fixed(places, number * self.value_size),
            None => self.gather_var(places),
        };
        if self.nullable {
            let bytes: Vec<u8> = places.iter().map(|place| self.cells.validity[*place]).collect();
            let mut bits = Buffer::new();
            pack_validity(&bytes, &mut bits);
            buffers.validity = Some(bits);
        }
        buffers
    }

    fn gather_fixed(&self, places: &[usize], size: usize) -> ColumnBuffers {
        let mut values = Buffer::zeroed(places.len() * size);
        for (to, place) in values.chunks_exact_mut(size.max(1)).zip(places) {
            to.copy_from_slice(&self.cells.values[place * size..][..size]);
        }
        ColumnBuffers { values, ..ColumnBuffers::default() }
    }

    fn gather_var(&self, places: &[usize]) -> ColumnBuffers {
        let mut values = Buffer::new();
        let mut offsets = Buffer::zeroed((places.len() + 1) * size_of::<u64>());
        let ends = offsets.values_mut::<u64>().unwrap_or_default().iter_mut().skip(1);
        for (end, place) in ends.zip(places) {
            values.extend_from_slice(self.cells.string(*place));
            *end = (values.len() / self.value_size) as u64;
        }
        ColumnBuffers { values, offsets: Some(offsets), validity: None }
    }
}
