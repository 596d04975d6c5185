//! Exact statistics of a scan, from metadata.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use tdb_array::tdb_aggregate::Sum;
use tdb_array::tdb_schema::FieldRef;
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
use tdb_array::{ArrayError, Exactness, Statistics as Found};

use super::Scan;

impl Scan {
    /// Returns statistics over all partitions. Reads metadata, and blocks.
    pub(super) fn whole_statistics(&self) -> Arc<Statistics> {
        // Ignores errors, because unreadable metadata also makes the query fail.
        let found = || self.found().unwrap_or_else(|_| Statistics::new_unknown(&self.schema));
        self.statistics.get_or_init(|| Arc::new(found())).clone()
    }

    fn found(&self) -> Result<Statistics, ArrayError> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        // Metadata cannot predict the effect of a condition, a limit or a dynamic filter.
        if !self.opened.options.pushdown || self.condition.is_some() || self.fetch.is_some() || !self.dynamic.is_empty()
        {
            return Ok(statistics);
        }
        let Some((sides, _)) = self.sides()? else {
            statistics.num_rows = Precision::Exact(0);
            return Ok(statistics);
        };
        let told: Vec<Option<Told>> = self.columns.iter().map(|column| self.told(column)).collect();
        let asked = self.columns.iter().zip(&told).filter(|(_, told)| told.is_some()).map(|(column, _)| column);
        let query = self.query()?;
        let found = query.statistics_of(asked)?;
        let cells = match found.first() {
            Some(first) => first.cells.clone(),
            None => query.cell_count()?,
        };
        statistics.num_rows = match cells {
            _ if self.opened.array_schema().is_dense() => {
                sides.cells().and_then(size).map_or(Precision::Absent, Precision::Exact)
            }
            Exactness::Exact(cells) => size(cells).map_or(Precision::Absent, Precision::Exact),
            Exactness::Unknown(_) => size(self.opened.cells()?).map_or(Precision::Absent, Precision::Inexact),
        };
        if let Precision::Exact(rows) = statistics.num_rows {
            let mut found = found.iter();
            let of_column = |(column, told): (&String, &Option<Told>)| match told.zip(told.and_then(|_| found.next())) {
                Some((told, found)) => of_column(told, found, rows, self.is_dimension(column)),
                None => ColumnStatistics::new_unknown(),
            };
            statistics.column_statistics = self.columns.iter().zip(&told).map(of_column).collect();
        }
        Ok(statistics)
    }

    fn is_dimension(&self, column: &str) -> bool {
        matches!(self.opened.field(column), Some((FieldRef::Dimension(_), _)))
    }

    /// Returns the correspondence of the values of a column to SQL values, or `None` if there is
    /// none.
    fn told(&self, column: &str) -> Option<Told> {
        let (reference, cells) = self.opened.field(column)?;
        let is_enumerated = match reference {
            FieldRef::Attribute(index) => {
                self.opened.array_schema().attributes().get(index).is_some_and(|known| known.enumeration().is_some())
            }
            FieldRef::Dimension(_) => false,
        };
        let field = self.schema.field_with_name(column).ok()?;
        if is_enumerated { None } else { Told::of(cells.datatype, cells.cell_val_num, field.data_type()) }
    }
}

/// Converts the statistics of a column with `rows` rows.
fn of_column(told: Told, found: &Found, rows: usize, is_dimension: bool) -> ColumnStatistics {
    let mut statistics = ColumnStatistics::new_unknown();
    // "No time" is null in SQL, but not counted as null in metadata. Only coordinates are never
    // null.
    if !is_dimension && told.may_have_no_time(found) {
        return statistics;
    }
    // Unwritten cells are rows with the fill value, but not counted in metadata.
    let (Exactness::Exact(values), Exactness::Exact(nulls)) = (&found.count, &found.nulls) else { return statistics };
    if size(values.saturating_add(*nulls)) != Some(rows) {
        return statistics;
    }
    statistics.null_count = size(*nulls).map_or(Precision::Absent, Precision::Exact);
    if !told.has_order(found) {
        return statistics;
    }
    let value = |bytes: &Exactness<Option<Vec<u8>>>| match bytes {
        Exactness::Exact(Some(bytes)) => told.scalar(bytes).map_or(Precision::Absent, Precision::Exact),
        _ => Precision::Absent,
    };
    statistics.min_value = negatable(value(&found.min));
    statistics.max_value = negatable(value(&found.max));
    statistics.sum_value = match (&found.sum, told) {
        // The sum of no values is null in SQL.
        _ if *values == 0 => Precision::Absent,
        (Exactness::Exact(Some(Sum::I64(sum))), Told::Integer(_)) => Precision::Exact(ScalarValue::Int64(Some(*sum))),
        (Exactness::Exact(Some(Sum::U64(sum))), Told::Integer(_)) => Precision::Exact(ScalarValue::UInt64(Some(*sum))),
        _ => Precision::Absent,
    };
    statistics
}

/// Drops a minimum or maximum whose negation overflows. DataFusion negates known bounds if a
/// condition negates the column. An overflow fails the statement, even without a matching row.
fn negatable(end: Precision<ScalarValue>) -> Precision<ScalarValue> {
    let is_signed = end.get_value().is_some_and(|value| value.data_type().is_signed_integer());
    match end.get_value().map(ScalarValue::arithmetic_negate) {
        Some(Err(_)) if is_signed => Precision::Absent,
        _ => end,
    }
}

fn size(count: u64) -> Option<usize> {
    usize::try_from(count).ok()
}

/// Correspondence of a field's values to SQL values.
#[derive(Clone, Copy, Debug)]
enum Told {
    Integer(Datatype),
    Float(Datatype),
    /// Timestamps of the same unit.
    Time(Datatype),
    Text,
}

impl Told {
    fn of(datatype: Datatype, number: CellValNum, arrow: &DataType) -> Option<Self> {
        let is_one = number == CellValNum::ONE;
        Some(match datatype {
            Datatype::StringAscii | Datatype::StringUtf8 if number == CellValNum::Var => {
                (*arrow == DataType::Utf8View).then_some(Self::Text)?
            }
            Datatype::Float32 | Datatype::Float64 if is_one => Self::Float(datatype),
            Datatype::DatetimeSec | Datatype::DatetimeMs | Datatype::DatetimeUs | Datatype::DatetimeNs if is_one => {
                Self::Time(datatype)
            }
            _ if is_one && datatype.is_integer() && arrow.is_integer() => Self::Integer(datatype),
            _ => return None,
        })
    }

    /// Returns `true` if some values may be "no time", the minimum of the type.
    fn may_have_no_time(self, found: &Found) -> bool {
        match (self, &found.min) {
            (Self::Time(_), Exactness::Exact(Some(bytes))) => *bytes == i64::MIN.to_le_bytes(),
            (Self::Time(_), Exactness::Exact(None)) => false,
            (Self::Time(_), Exactness::Unknown(_)) => true,
            _ => false,
        }
    }

    /// Returns `true` if minimum and maximum are the same in SQL, which orders NaNs and signed
    /// zeros.
    fn has_order(self, found: &Found) -> bool {
        if !matches!(self, Self::Float(_)) {
            return true;
        }
        let is_zero = |value: &Exactness<Option<Vec<u8>>>| match value {
            Exactness::Exact(Some(bytes)) => {
                bytes[..].iter().rev().skip(1).all(|byte| *byte == 0) && matches!(bytes.last(), Some(0 | 0x80))
            }
            _ => true,
        };
        // The sum is NaN if any value is.
        let has_no_nan = matches!(&found.sum, Exactness::Exact(Some(Sum::F64(sum))) if sum.is_finite());
        has_no_nan && !is_zero(&found.min) && !is_zero(&found.max)
    }

    fn scalar(self, bytes: &[u8]) -> Option<ScalarValue> {
        use ScalarValue as S;
        let number = |datatype: Datatype| Scalar::from_le_bytes(datatype.physical(), bytes);
        Some(match self {
            Self::Text => S::Utf8View(Some(String::from_utf8(bytes.to_vec()).ok()?)),
            Self::Time(datatype) => {
                let Scalar::I64(value) = number(datatype)? else { return None };
                match datatype {
                    Datatype::DatetimeSec => S::TimestampSecond(Some(value), None),
                    Datatype::DatetimeMs => S::TimestampMillisecond(Some(value), None),
                    Datatype::DatetimeUs => S::TimestampMicrosecond(Some(value), None),
                    _ => S::TimestampNanosecond(Some(value), None),
                }
            }
            Self::Integer(datatype) | Self::Float(datatype) => match number(datatype)? {
                Scalar::I8(value) => S::Int8(Some(value)),
                Scalar::U8(value) => S::UInt8(Some(value)),
                Scalar::I16(value) => S::Int16(Some(value)),
                Scalar::U16(value) => S::UInt16(Some(value)),
                Scalar::I32(value) => S::Int32(Some(value)),
                Scalar::U32(value) => S::UInt32(Some(value)),
                Scalar::I64(value) => S::Int64(Some(value)),
                Scalar::U64(value) => S::UInt64(Some(value)),
                Scalar::F32(value) => S::Float32(Some(value)),
                Scalar::F64(value) => S::Float64(Some(value)),
            },
        })
    }
}
