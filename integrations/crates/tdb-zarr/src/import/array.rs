//! Import of a Zarr array as a dense array.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_storage::Storage;
use tdb_array::{Array, Coordinate, WriteBatch};

use super::field::{Field, Source};
use super::foreign::{self, Plan};
use super::{Import, Imported, marked};
use crate::attributes;
use crate::boxes::{Boxes, count};
use crate::error::{Error, Result};
use crate::mark::Mark;
use crate::node::{ArrayNode, Node};
use crate::object::Attributes;

/// Maximum number of written cells, if cells missing in Zarr have to be written.
const MAX_FILLED: u64 = 1 << 32;

/// Imports a Zarr array.
pub(super) fn import(
    import: &Import,
    mut node: ArrayNode,
    storage: &Arc<dyn Storage>,
    imported: &mut Imported,
) -> Result<()> {
    let path = node.path.clone();
    let told = std::mem::take(&mut node.attributes);
    let mark = Mark::of(&told);
    let plan = match mark.schema {
        None => foreign::plan(node)?,
        Some(_) => match marked::plan(&mark, &path, Some(node)) {
            Ok(plan) => plan,
            Err(why) => {
                imported.notes.push(misfit(&path, &why));
                match Node::read(&path)? {
                    Some(Node::Array(node)) => foreign::plan(*node)?,
                    _ => return Err(Error::NotZarr { path }),
                }
            }
        },
    };
    make(import, &path, &plan, (&told, &mark), storage, imported)
}

/// Formats the note about a mark that contradicts the Zarr data.
pub(super) fn misfit(path: &Path, why: &str) -> String {
    format!("{}: ignoring the recorded definition of the original array, which no longer fits ({why})", path.display())
}

/// Creates an array, and writes its cells.
pub(super) fn make(
    import: &Import,
    path: &Path,
    plan: &Plan,
    (told, mark): (&Attributes, &Mark),
    storage: &Arc<dyn Storage>,
    imported: &mut Imported,
) -> Result<()> {
    import.create.create_on(storage, &plan.definition)?;
    let array: Array = import.create.array_options().threads(import.work.threads).open_on(Arc::clone(storage))?;
    let metadata = array.write_metadata().ids(import.names.clone());
    let put = attributes::to_metadata(told, mark).into_iter();
    put.fold(metadata, |all, (key, value)| all.put(key, value)).commit()?;
    imported.cells += write(import, path, plan, &array)?;
    imported.arrays += 1;
    Ok(())
}

/// Writes all boxes with written cells.
fn write(import: &Import, path: &Path, plan: &Plan, array: &Array) -> Result<u64> {
    let work = &import.work;
    let Some(first) = plan.fields.first() else { return Ok(0) };
    let cell = plan.fields.iter().flat_map(Field::sources).map(Source::cell_size).sum();
    let shape = first.values.shape();
    let boxes = Boxes::new(&shape, &first.values.chunk_shape(), work.cells_of_box(cell));
    let mut written = BTreeSet::new();
    if plan.fields.iter().any(|field| field.values.fill().is_ok_and(|fill| fill.is_empty())) {
        let whole: Vec<_> = shape.iter().map(|len| 0..*len).collect();
        if count(&whole) > MAX_FILLED {
            let why =
                "the fill value is an empty string, which arrays do not support, and the cells are too many to write";
            return Err(Error::unsupported(path, why));
        }
        boxes.add_touched(&whole, &mut written).map_err(|why| Error::unsupported(path, why))?;
    } else {
        for source in plan.fields.iter().flat_map(Field::sources) {
            source.add_written(&boxes, &mut written)?;
        }
    }
    let of = written.iter().map(|place| count(&boxes.cells(place))).fold(0, u64::saturating_add);
    let pool = work.pool()?;
    let mut done = 0;
    work.done(done, of)?;
    for place in &written {
        let in_box = boxes.cells(place);
        let first: Vec<i128> =
            plan.origin.iter().zip(&in_box).map(|(at, range)| at + i128::from(range.start)).collect();
        let mut cells = WriteBatch::new();
        for field in &plan.fields {
            let column = field.column(&boxes, place, pool.as_ref())?.map_err(|why| Error::Cell {
                field: field.attribute.clone(),
                near: first.clone(),
                why,
            })?;
            cells = cells.with(field.attribute.as_str(), column);
        }
        let mut write = array.write().ids(import.names.clone());
        for ((dimension, start), range) in array.schema().dimensions().iter().zip(&first).zip(&in_box) {
            let last = start + i128::from(range.end - range.start) - 1;
            write = write.range(dimension.name(), Coordinate::Integer(*start)..=Coordinate::Integer(last))?;
        }
        write.cells(cells)?;
        done += count(&in_box);
        work.done(done, of)?;
    }
    Ok(done)
}
