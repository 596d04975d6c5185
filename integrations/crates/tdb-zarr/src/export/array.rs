//! Export of a dense array.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::ThreadPool;
use tdb_array::Array;
use tdb_array::tdb_schema::Dimension;

use super::fields::{self, Plane};
use super::region::Region;
use super::{Export, Exported};
use crate::attributes;
use crate::boxes::{Boxes, count};
use crate::cells::{Cells, Place};
use crate::chunks::Chunks;
use crate::error::{Error, Result};
use crate::mark::Mark;
use crate::new_folder::{NewFolder, group_metadata, write_metadata};
use crate::object::Attributes;
use crate::options::each;

impl Export {
    /// Exports a dense array to a new folder. The folder appears atomically.
    ///
    /// # Errors
    /// - [`Error::Refused`]: Zarr cannot hold the array.
    /// - [`Error::AlreadyThere`]: the folder exists.
    /// - [`Error::Cell`]: Zarr cannot hold a cell.
    /// - [`Error::Stopped`]: the observer returned `false`.
    /// - The array cannot be read, or the folder cannot be written.
    pub fn array(&self, array: &Array, path: impl AsRef<Path>) -> Result<Exported> {
        let folder = NewFolder::new(path.as_ref())?;
        let cells = export(self, array, &folder.path())?;
        folder.finish()?;
        Ok(Exported { arrays: 1, cells })
    }
}

/// Exports an array to a folder. Returns the number of cells read.
pub(super) fn export(export: &Export, array: &Array, folder: &Path) -> Result<u64> {
    if !array.schema().is_dense() {
        let what = array.storage().describe("");
        return Err(Error::refused(what, "the array is sparse; export it to Parquet or CSV"));
    }
    if let Some(label) = array.schema().labels().first() {
        let why = format!("the array has dimension labels, such as {:?}; export it as rows", label.name);
        return Err(Error::refused(array.storage().describe(""), why));
    }
    let region = Region::new(export, array)?;
    let attributes = fields::selected(export, array)?;
    let (planes, fields) = fields::planes(&attributes, export.compression)?;
    let chunks = chunk_shape(export, array, &region)?;
    let mut mark = Mark {
        schema: Some(tdb_schema_text::to_toml(&array.definition()?)?),
        origin: region.origin.clone(),
        fields,
        ..Mark::default()
    };
    let mut told = attributes::of_metadata(array.metadata()?, &mut mark);
    mark.put(&mut told);
    if planes.iter().any(|plane| plane.node.is_some()) || planes.is_empty() {
        write_metadata(folder, &group_metadata(&std::mem::take(&mut told)))?;
    }
    let mut opened = Vec::new();
    for plane in &planes {
        let path = plane.node.as_ref().map_or_else(|| folder.to_owned(), |node| folder.join(node));
        let told = if plane.node.is_none() { std::mem::take(&mut told) } else { Attributes::new() };
        write_metadata(&path, &plane.metadata(array, &region, &chunks, &told)?)?;
        opened.push(plane.open(folder, &region, &chunks)?);
    }
    Writing { export, array, region, planes, chunks: opened, shape: chunks }.write()
}

/// Returns the chunk shape: the requested shape, or the tile extents.
fn chunk_shape(export: &Export, array: &Array, region: &Region) -> Result<Vec<u64>> {
    let extents: Vec<u64> = match &export.chunks {
        None => {
            array.schema().dimensions().iter().map(|tile| Dimension::extent_cells(tile).unwrap_or(u64::MAX)).collect()
        }
        Some(chunks) if chunks.len() == region.shape.len() && chunks.iter().all(|len| *len > 0) => chunks.clone(),
        Some(chunks) => {
            let what = format!("chunks of {chunks:?}");
            return Err(Error::refused(what, format!("expected lengths for {} dimensions", region.shape.len())));
        }
    };
    Ok(extents.into_iter().zip(&region.shape).map(|(extent, len)| extent.min(*len)).collect())
}

/// State of an array export.
struct Writing<'a> {
    export: &'a Export,
    array: &'a Array,
    region: Region,
    planes: Vec<Plane>,
    /// Chunks of each plane.
    chunks: Vec<Chunks>,
    /// Chunk shape.
    shape: Vec<u64>,
}

impl Writing<'_> {
    /// Writes all boxes with written cells. Returns the number of cells.
    fn write(&self) -> Result<u64> {
        if self.planes.is_empty() {
            return Ok(0);
        }
        let work = &self.export.work;
        let cell = self.planes.iter().map(Plane::cell_size).sum();
        let boxes = Boxes::new(&self.region.shape, &self.shape, work.cells_of_box(cell));
        let mut written = BTreeSet::new();
        for fragment in self.array.fragments()? {
            let cells = fragment.non_empty_domain().and_then(|domain| self.region.cells_in(domain));
            if let Some(cells) = cells {
                let refused = |why| Error::refused(self.array.storage().describe(""), why);
                boxes.add_touched(&cells, &mut written).map_err(refused)?;
            }
        }
        let of = written.iter().map(|place| count(&boxes.cells(place))).fold(0, u64::saturating_add);
        let pool = work.pool()?;
        let mut done = 0;
        work.done(done, of)?;
        for place in &written {
            self.write_box(&boxes, place, pool.as_ref())?;
            done += count(&boxes.cells(place));
            work.done(done, of)?;
        }
        Ok(done)
    }

    fn write_box(&self, boxes: &Boxes, place: &[u64], pool: Option<&ThreadPool>) -> Result<()> {
        let in_box = boxes.cells(place);
        let mut all: Vec<Cells> = self.planes.iter().map(|plane| Cells::new(plane.is_var())).collect();
        let names: BTreeSet<&str> = self.planes.iter().map(Plane::attribute).collect();
        let query = self.region.query(self.array, &in_box)?.select(names)?;
        for batch in query.budget(self.export.work.budget / 4).batches()? {
            let batch = batch?;
            for (plane, cells) in self.planes.iter().zip(&mut all) {
                plane.take(&batch, cells)?;
            }
        }
        for (plane, cells) in self.planes.iter().zip(&all) {
            plane.check(cells, || self.region.first_of(&in_box))?;
        }
        let chunks = boxes.chunks_of(place);
        let items: Vec<(usize, &Vec<u64>)> =
            (0..self.planes.len()).flat_map(|plane| chunks.iter().map(move |chunk| (plane, chunk))).collect();
        each(pool, &items, |(index, chunk)| {
            let plane = &self.planes[*index];
            let of_array = boxes.chunk(chunk);
            let place = Place { in_box: &in_box, chunk: &of_array, shape: &self.shape };
            match all[*index].cut(place, &plane.fill) {
                Some(cells) => self.chunks[*index].write(&plane.chunk(chunk), cells),
                None => Ok(()),
            }
        })?;
        Ok(())
    }
}
