//! Rows as the box of a dense array.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{SortColumn, cast, lexsort_to_indices, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt64Type};
use datafusion::error::Result;
use tdb_array::{Array, Coordinate};

use crate::error;

/// Writes rows in any order, which have to be all cells of a box, each once.
///
/// # Errors
/// They aren't; the array can't hold them.
pub(super) fn write(array: &Array, uri: &str, rows: &RecordBatch) -> Result<()> {
    if rows.num_rows() == 0 {
        return Ok(());
    }
    let schema = array.schema();
    let places = 0..schema.dim_count();
    let columns: Vec<ArrayRef> = places.clone().map(|place| rows.column(place).clone()).collect();
    let sort = columns.iter().map(|column| SortColumn { values: column.clone(), options: None });
    let order: UInt32Array = lexsort_to_indices(&sort.collect::<Vec<_>>(), None)?;
    let rows = take_record_batch(rows, &order)?;
    let sides = places.clone().map(|place| Side::of(schema.dimensions()[place].name(), rows.column(place)));
    let sides: Vec<Side> = sides.collect::<Result<_>>()?;
    check_box(uri, &sides, rows.num_rows())?;
    let mut write = array.write();
    for side in &sides {
        let [first, last] = [side.first, side.last].map(Coordinate::Integer);
        write = write.range(&side.name, first..=last).map_err(|error| error::of_array(uri, error))?;
    }
    let attributes: Vec<usize> = (schema.dim_count()..rows.num_columns()).collect();
    let rows = rows.project(&attributes)?;
    let cells = tdb_arrow::cells(&rows, array).map_err(|error| error::of_arrow(uri, error))?;
    write.cells(cells).map_err(|error| error::of_array(uri, error))?;
    Ok(())
}

/// The coordinates of one dimension.
struct Side {
    name: String,
    values: Vec<i128>,
    first: i128,
    last: i128,
}

impl Side {
    fn of(name: &str, column: &ArrayRef) -> Result<Self> {
        let refused = || {
            let what = column.data_type();
            error::plan(format!(
                "INSERT into a dense array takes integer and timestamp coordinates; {name:?} is {what}"
            ))
        };
        if column.null_count() > 0 {
            return Err(error::plan(format!("NULL is no coordinate of {name:?}")));
        }
        let values: Vec<i128> = match column.data_type() {
            DataType::UInt64 => {
                column.as_primitive::<UInt64Type>().values().iter().map(|value| (*value).into()).collect()
            }
            DataType::Date32 => {
                let days = cast(&cast(column, &DataType::Int32)?, &DataType::Int64)?;
                days.as_primitive::<Int64Type>().values().iter().map(|value| (*value).into()).collect()
            }
            data_type if data_type.is_integer() || matches!(data_type, DataType::Timestamp(..)) => {
                let values = cast(column, &DataType::Int64)?;
                values.as_primitive::<Int64Type>().values().iter().map(|value| (*value).into()).collect()
            }
            _ => return Err(refused()),
        };
        let (Some(first), Some(last)) = (values.iter().min(), values.iter().max()) else { return Err(refused()) };
        Ok(Self { name: name.to_owned(), first: *first, last: *last, values })
    }

    fn len(&self) -> Option<usize> {
        usize::try_from(self.last - self.first).ok()?.checked_add(1)
    }
}

/// Whether rows in row-major order are all cells of their box, each once.
fn check_box(uri: &str, sides: &[Side], rows: usize) -> Result<()> {
    let shown = || {
        let sides = sides.iter().map(|side| format!("{} {}..={}", side.name, side.first, side.last));
        sides.collect::<Vec<_>>().join(", ")
    };
    let volume = sides.iter().try_fold(1usize, |volume, side| volume.checked_mul(side.len()?));
    let wrong = |what: String| {
        Err(error::plan(format!("{uri:?} is dense: INSERT takes all cells of a box, each once; {what} of {}", shown())))
    };
    if volume != Some(rows) {
        let cells = volume.map_or_else(|| "more than can be counted".to_owned(), |volume| volume.to_string());
        return wrong(format!("there are {rows} rows for the {cells} cells"));
    }
    let mut stride = rows;
    for side in sides {
        let len = side.len().unwrap_or(1);
        stride /= len;
        let expected = |row: usize| side.first + (row / stride % len) as i128;
        if let Some(row) = (0..rows).find(|row| side.values[*row] != expected(*row)) {
            return wrong(format!("{} {} comes twice, and others are missing", side.name, side.values[row]));
        }
    }
    Ok(())
}
