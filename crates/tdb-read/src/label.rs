//! Dimension labels: alternative coordinates of a dimension, stored in separate arrays.

mod column;

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use tdb_cells::{Coordinate, Order, scalar_of};
use tdb_dense::DenseReader;
use tdb_query::{CheckedQuery, Memory, Region};
use tdb_rtree::DimRange;
use tdb_schema::{DimensionLabel, FieldRef};
use tdb_snapshot::{ArrayError, Options, Result, Snapshot};
use tdb_storage::check_path;
use tdb_types::{ArrayType, DataOrder, Scalar, saturating_len};

pub(crate) use column::FoundLabels;

/// A dimension label of an array, with the array of the label values.
///
/// The values are ordered along the dimension, increasing or decreasing. A range of values is
/// therefore a range of coordinates.
#[derive(Clone, Debug)]
pub struct Label {
    array: Snapshot,
    label: DimensionLabel,
    /// The name of the labeled dimension.
    labelled: Arc<str>,
}

/// A value of a label, or an end of a range of values.
#[derive(Clone, Debug)]
enum LabelValue {
    Key(u64),
    Bytes(Vec<u8>),
}

impl LabelValue {
    /// Compares two values of the label's type, and hence of the same variant.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Key(a), Self::Key(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Key(_), Self::Bytes(_)) => Ordering::Less,
            (Self::Bytes(_), Self::Key(_)) => Ordering::Greater,
        }
    }

    /// Returns the value. Both zeros have the same key, because they are equal.
    fn of(scalar: Scalar) -> Self {
        Self::Key(match scalar {
            Scalar::F32(0.0) => Scalar::F32(0.0).key(),
            Scalar::F64(0.0) => Scalar::F64(0.0).key(),
            scalar => scalar.key(),
        })
    }
}

impl Label {
    /// Opens the dimension label called `name`. The label's array is opened at the time of the
    /// labeled array.
    ///
    /// # Errors
    /// - [`ArrayError::Label`]: the label is unknown, or stored outside of the array.
    /// - [`ArrayError::Corrupt`]: the label's array does not match the label.
    /// - The label's array cannot be opened.
    pub fn open(array: &Snapshot, name: &str) -> Result<Self> {
        let labels = array.schema().labels();
        let fail = |why: String| ArrayError::Label { name: name.to_owned(), why };
        let Some(label) = labels.iter().find(|label| label.name == name) else {
            let known: Vec<_> = labels.iter().map(|label| format!("{:?}", label.name)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(fail(format!("unknown label; the array has {known}")));
        };
        if !label.relative || check_path(&label.uri).is_err() || label.uri.is_empty() {
            return Err(fail(format!(
                "stored outside of the array, at {}; open the label's array at this path",
                label.uri
            )));
        }
        let options = Options::<Snapshot>::new().between(array.time()).access(array.access().clone()).threads(1);
        let values = options.open_on(array.storage().sub(&label.uri)?)?;
        let labelled = array.schema().dimensions().get(saturating_len(label.dimension));
        let labelled = labelled.map_or("", |dimension| dimension.name()).into();
        let own = Self { array: values, label: label.clone(), labelled };
        match own.mismatch(array) {
            Some(what) => Err(ArrayError::Corrupt { file: own.array.storage().describe(""), what }),
            None => Ok(own),
        }
    }

    /// Returns the index of the labeled dimension.
    #[must_use]
    pub fn dimension_index(&self) -> usize {
        saturating_len(self.label.dimension)
    }

    /// Describes a contradiction between the label, the label's array and the labeled array.
    /// Returns `None` if there is no contradiction.
    fn mismatch(&self, labelled: &Snapshot) -> Option<String> {
        let (schema, label) = (self.array.schema(), &self.label);
        let Some(dimension) = labelled.schema().dimensions().get(self.dimension_index()) else {
            return Some(format!(
                "the label belongs to dimension {}, which does not exist in the array",
                label.dimension
            ));
        };
        if !schema.is_dense() || schema.dimensions().len() != 1 {
            return Some("the array of a label must be dense and have one dimension".to_owned());
        }
        if schema.dimensions()[0].datatype() != dimension.datatype() {
            return Some(format!(
                "the datatype of the label's dimension differs from dimension {:?}",
                dimension.name()
            ));
        }
        let Some(FieldRef::Attribute(index)) = schema.field(&label.attribute) else {
            return Some(format!("missing attribute {:?}", label.attribute));
        };
        let attribute = &schema.attributes()[index];
        let types = (attribute.datatype(), attribute.cell_val_num());
        (types != (label.datatype, label.cell_val_num))
            .then(|| format!("the datatype of attribute {:?} differs from the label", label.attribute))
    }

    /// Returns the label as defined in the schema.
    #[must_use]
    pub fn description(&self) -> &DimensionLabel {
        &self.label
    }

    /// Returns the array of the values. This dense array has a single dimension, with the datatype
    /// of the labeled dimension, and an attribute for the values.
    #[must_use]
    pub fn array(&self) -> &Snapshot {
        &self.array
    }

    /// Returns the first and last coordinate with labels in a range, as [ordered
    /// keys](tdb_types::ordered_key). Returns `None` if no label is in the range. Considers only
    /// coordinates in the non-empty domain of the label's array. An
    /// unbounded start or end selects from the first or to the last label.
    ///
    /// # Errors
    /// [`ArrayError::Label`] if an end is not of the label's type. Another error if labels cannot
    /// be read.
    pub fn keys<C: Into<Coordinate> + Clone>(&self, range: impl RangeBounds<C>) -> Result<Option<(u64, u64)>> {
        let start = self.bound(&range.start_bound().cloned().map(Into::into))?;
        let end = self.bound(&range.end_bound().cloned().map(Into::into))?;
        let Some(labelled) = self.array.non_empty_domain()? else { return Ok(None) };
        let Some(&tdb_rtree::DimRange::Fixed { lo, hi }) = labelled.0.first() else { return Ok(None) };
        let below = |value: &LabelValue| match &start {
            Bound::Unbounded => false,
            Bound::Included(start) => value.compare(start).is_lt(),
            Bound::Excluded(start) => value.compare(start).is_le(),
        };
        let above = |value: &LabelValue| match &end {
            Bound::Unbounded => false,
            Bound::Included(end) => value.compare(end).is_gt(),
            Bound::Excluded(end) => value.compare(end).is_ge(),
        };
        let (first, after) = match self.label.order {
            DataOrder::Decreasing => (self.search(lo, hi, above)?, self.search(lo, hi, |value| !below(value))?),
            _ => (self.search(lo, hi, below)?, self.search(lo, hi, |value| !above(value))?),
        };
        // `first` and `after` count from `lo`. `after` may exceed the range of keys, but `after -
        // 1` does not.
        Ok((first < after).then(|| (key_after(lo, first), key_after(lo, after - 1))))
    }

    /// Returns the number of labels from key `lo` to `hi` before the first label rejected by
    /// `before`.
    fn search(&self, lo: u64, hi: u64, before: impl Fn(&LabelValue) -> bool) -> Result<u128> {
        let (mut from, mut to) = (0, u128::from(hi.saturating_sub(lo)) + 1);
        while from < to {
            let middle = from + (to - from) / 2;
            match before(&self.value(key_after(lo, middle))?) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        Ok(from)
    }

    /// Reads the label of a coordinate.
    fn value(&self, key: u64) -> Result<LabelValue> {
        let batch = self.read(vec![DimRange::Fixed { lo: key, hi: key }])?.next_batch()?;
        let column = batch.as_ref().map(|batch| batch.column(&self.label.attribute)).transpose()?;
        let bytes = column.and_then(|column| column.cell(0)).unwrap_or_default();
        if self.label.cell_val_num.fixed().is_none() {
            return Ok(LabelValue::Bytes(bytes.to_vec()));
        }
        let scalar = Scalar::from_le_bytes(self.label.datatype.physical(), bytes);
        scalar.map(LabelValue::of).ok_or_else(|| ArrayError::Corrupt {
            file: self.array.storage().describe(""),
            what: "expected one value per label".to_owned(),
        })
    }

    /// Reads the labels of coordinates in these ranges, within the domain.
    fn read(&self, ranges: Vec<DimRange>) -> Result<DenseReader> {
        let (array, schema) = (self.array.clone(), self.array.schema());
        let fields: Arc<[FieldRef]> = schema.field(&self.label.attribute).into_iter().collect();
        let region = Region::new(&[ranges], vec![schema.limits(0)]);
        let memory = Memory::of(None, ArrayType::Dense, array.workers().threads(), 1, false);
        let (filter, boxes, order) = (None, None, Order::RowMajor);
        DenseReader::new(CheckedQuery { array, fields, filter, only_matching: false, region, boxes, order, memory })
    }

    /// Converts an end of a range to the label's type.
    fn bound(&self, bound: &Bound<Coordinate>) -> Result<Bound<LabelValue>> {
        let value = |coordinate: &Coordinate| {
            let value = match (coordinate, self.label.cell_val_num.fixed()) {
                (Coordinate::Bytes(bytes), None) => Some(LabelValue::Bytes(bytes.clone())),
                (_, None) => None,
                (coordinate, Some(_)) => scalar_of(self.label.datatype.physical(), coordinate).map(LabelValue::of),
            };
            value.ok_or_else(|| ArrayError::Label {
                name: self.label.name.clone(),
                why: format!("{coordinate} is not a valid {} label", self.label.datatype),
            })
        };
        Ok(match bound {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(coordinate) => Bound::Included(value(coordinate)?),
            Bound::Excluded(coordinate) => Bound::Excluded(value(coordinate)?),
        })
    }
}

/// Returns the key that is `count` steps after `lo`. The result must be within the domain.
fn key_after(lo: u64, count: u128) -> u64 {
    lo.saturating_add(u64::try_from(count).unwrap_or(u64::MAX))
}
