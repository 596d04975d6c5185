//! Attributes, with their Zarr arrays.

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::ThreadPool;
use tdb_array::WriteColumn;
use tdb_array::tdb_types::saturating_len;

use super::convert::Convert;
use super::present;
use crate::boxes::{Boxes, count};
use crate::cells::{Cells, Gathered, Place};
use crate::chunks::Chunks;
use crate::error::{Error, Result};
use crate::node::ArrayNode;
use crate::options::{self, each};

/// An attribute of the new array.
pub(super) struct Field {
    pub(super) attribute: String,
    pub(super) values: Source,
    /// Validity of a nullable attribute.
    pub(super) validity: Option<Source>,
}

/// A Zarr array with the values or the validity of an attribute of the new array.
pub(super) struct Source {
    pub(super) node: ArrayNode,
    chunks: Chunks,
    /// Number of dimensions of the new array. The Zarr array may have one more, for the values of a
    /// cell.
    dimensions: usize,
    pub(super) convert: Convert,
    /// Fill value of a cell in Zarr.
    fill: Vec<u8>,
}

impl Source {
    /// Opens the chunks. `dimensions` is the number of dimensions of the new array, at least one.
    pub(super) fn new(node: ArrayNode, dimensions: usize) -> Result<Self> {
        let chunks = Chunks::open(&node)?;
        let values = node.shape.get(dimensions).copied().unwrap_or(1);
        let fill = node.fill.repeat(saturating_len(values));
        Ok(Self { convert: Convert::of(&node.element), chunks, dimensions, fill, node })
    }

    /// Returns the shape of the new array. A zero-dimensional Zarr array becomes one cell.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.in_dimensions(&self.node.shape)
    }

    /// Returns the chunk shape.
    pub(super) fn chunk_shape(&self) -> Vec<u64> {
        self.in_dimensions(&self.chunks.shape)
    }

    /// Returns `true` if all values of a cell are in the same chunk.
    pub(super) fn has_whole_cells(&self) -> bool {
        self.node.shape.get(self.dimensions..) == self.chunks.shape.get(self.dimensions..)
    }

    fn in_dimensions(&self, lengths: &[u64]) -> Vec<u64> {
        let mut lengths: Vec<u64> = lengths.iter().copied().take(self.dimensions).collect();
        lengths.resize(self.dimensions, 1);
        lengths
    }

    /// Returns the fill value of a cell in the new array.
    pub(super) fn fill(&self) -> Result<Vec<u8>, String> {
        self.convert.cell(&self.fill)
    }

    /// Returns the approximate size of a cell in bytes.
    pub(super) fn cell_size(&self) -> u64 {
        options::cell_size(self.node.element.form.size().is_none(), &self.fill)
    }

    /// Adds the boxes with existing chunks.
    pub(super) fn add_written(&self, boxes: &Boxes, found: &mut BTreeSet<Vec<u64>>) -> Result<()> {
        let (shape, of_chunk) = (self.shape(), self.chunk_shape());
        for file in present::chunks(&self.node)? {
            self.chunks.each_in_file(&file, |chunk| {
                let range = |(dimension, len): (usize, &u64)| {
                    let Some(number) = chunk.get(dimension) else { return 0..*len };
                    let start = number.saturating_mul(of_chunk[dimension]).min(*len);
                    start..start.saturating_add(of_chunk[dimension]).min(*len)
                };
                let cells: Vec<Range<u64>> = shape.iter().enumerate().map(range).collect();
                // A shard may extend beyond the end of the array, and contain chunks there.
                if cells.iter().any(Range::is_empty) {
                    return Ok(());
                }
                boxes.add_touched(&cells, found).map_err(|why| Error::unsupported(&self.node.path, why))
            })?;
        }
        Ok(())
    }

    /// Reads the cells of a box, in the form of the new array.
    fn read(&self, boxes: &Boxes, place: &[u64], pool: Option<&ThreadPool>) -> Result<Result<Cells, String>> {
        let (in_box, shape) = (boxes.cells(place), self.chunk_shape());
        let numbers = boxes.chunks_of(place);
        let read = |number: &Vec<u64>| {
            let further = self.node.shape.len().saturating_sub(self.dimensions);
            let of_zarr: Vec<u64> = number.iter().copied().chain(std::iter::repeat_n(0, further)).collect();
            self.chunks.read(&of_zarr[..self.node.shape.len().min(of_zarr.len())])
        };
        let chunks = each(pool, &numbers, read)?;
        let size = self.node.element.form.size().map(|_| self.fill.len());
        let mut gathered = Gathered::new(size, &self.fill, saturating_len(count(&in_box)));
        for (number, chunk) in numbers.iter().zip(&chunks) {
            if let Some(cells) = chunk {
                gathered.put(Place { in_box: &in_box, chunk: &boxes.chunk(number), shape: &shape }, cells);
            }
        }
        Ok(self.convert.cells(gathered.finish()))
    }
}

impl Field {
    /// Reads the cells of a box as a column to write.
    pub(super) fn column(
        &self,
        boxes: &Boxes,
        place: &[u64],
        pool: Option<&ThreadPool>,
    ) -> Result<Result<WriteColumn<'static>, String>> {
        let cells = match self.values.read(boxes, place, pool)? {
            Ok(cells) => cells,
            Err(why) => return Ok(Err(why)),
        };
        let validity = match &self.validity {
            None => None,
            Some(source) => match source.read(boxes, place, pool)? {
                Ok(truths) => Some(bits(&truths.values)),
                Err(why) => return Ok(Err(why)),
            },
        };
        Ok(Ok(WriteColumn::owned(cells.values, cells.offsets, validity)))
    }

    /// Returns the sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.values).chain(&self.validity)
    }
}

fn bits(truths: &[u8]) -> Vec<u8> {
    let byte = |truths: &[u8]| truths.iter().rev().fold(0, |bits, truth| bits << 1 | u8::from(*truth != 0));
    truths.chunks(8).map(byte).collect()
}
