//! Boxes: rectangular blocks of chunks, processed one at a time.

use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of chunks per box. Each chunk costs memory and a lookup, however small it is.
const MAX_CHUNKS: u64 = 1 << 16;
/// Maximum number of boxes. Each box is kept in a list, and becomes a fragment on import.
const MAX_BOXES: u64 = 1 << 20;

/// A grid of chunks, divided into boxes.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    /// Number of chunks per box along each dimension.
    of_box: Vec<u64>,
}

impl Boxes {
    /// Creates boxes of up to `cells` cells, or of a single larger chunk.
    pub(crate) fn new(shape: &[u64], chunks: &[u64], cells: u64) -> Self {
        let mut of_box = vec![1; shape.len()];
        let mut room = MAX_CHUNKS;
        let mut len = chunks.iter().fold(1, |len: u64, chunk| len.saturating_mul(*chunk));
        // Extends boxes over whole rows of chunks first, then over several rows, while there is
        // room.
        for dimension in (0..shape.len()).rev() {
            let count = shape[dimension].div_ceil(chunks[dimension]).max(1);
            of_box[dimension] = (cells / len.max(1)).clamp(1, count).min(room);
            room /= of_box[dimension];
            len = len.saturating_mul(of_box[dimension]);
            if of_box[dimension] < count {
                break;
            }
        }
        Self { shape: shape.to_vec(), chunks: chunks.to_vec(), of_box }
    }

    /// Adds the boxes that intersect a range of cells per dimension to `found`.
    ///
    /// # Errors
    /// There are too many boxes.
    pub(crate) fn add_touched(&self, ranges: &[Range<u64>], found: &mut BTreeSet<Vec<u64>>) -> Result<(), String> {
        let sides: Vec<Range<u64>> = (0..ranges.len())
            .map(|dimension| {
                let side = self.side(dimension);
                ranges[dimension].start / side..ranges[dimension].end.div_ceil(side)
            })
            .collect();
        let too_many = || format!("more than {MAX_BOXES} subarrays are needed for this budget; pass a larger budget");
        if count(&sides) > MAX_BOXES {
            return Err(too_many());
        }
        each_place(&sides, |place| {
            found.insert(place.to_vec());
        });
        if found.len() as u64 > MAX_BOXES { Err(too_many()) } else { Ok(()) }
    }

    /// Returns the number of cells of a box along a dimension.
    fn side(&self, dimension: usize) -> u64 {
        self.chunks[dimension].saturating_mul(self.of_box[dimension])
    }

    /// Returns the cells of a box.
    pub(crate) fn cells(&self, place: &[u64]) -> Vec<Range<u64>> {
        let range = |(dimension, number): (usize, &u64)| {
            let start = number * self.side(dimension);
            start..start.saturating_add(self.side(dimension)).min(self.shape[dimension])
        };
        place.iter().enumerate().map(range).collect()
    }

    /// Returns the chunks of a box.
    pub(crate) fn chunks_of(&self, place: &[u64]) -> Vec<Vec<u64>> {
        let range = |(dimension, number): (usize, &u64)| {
            let count = self.shape[dimension].div_ceil(self.chunks[dimension]);
            let start = number * self.of_box[dimension];
            start..(start + self.of_box[dimension]).min(count)
        };
        let ranges: Vec<Range<u64>> = place.iter().enumerate().map(range).collect();
        let mut chunks = Vec::new();
        each_place(&ranges, |chunk| chunks.push(chunk.to_vec()));
        chunks
    }

    /// Returns the cells of a chunk, up to the end of the array.
    pub(crate) fn chunk(&self, chunk: &[u64]) -> Vec<Range<u64>> {
        let range = |(dimension, number): (usize, &u64)| {
            let start = number * self.chunks[dimension];
            start..start.saturating_add(self.chunks[dimension]).min(self.shape[dimension])
        };
        chunk.iter().enumerate().map(range).collect()
    }
}

/// Calls `each` for every position within ranges, in row-major order.
pub(crate) fn each_place(ranges: &[Range<u64>], mut each: impl FnMut(&[u64])) {
    if ranges.iter().any(Range::is_empty) {
        return;
    }
    let mut place: Vec<u64> = ranges.iter().map(|range| range.start).collect();
    loop {
        each(&place);
        let Some(dimension) = (0..ranges.len()).rev().find(|dimension| place[*dimension] + 1 < ranges[*dimension].end)
        else {
            return;
        };
        place[dimension] += 1;
        for behind in dimension + 1..ranges.len() {
            place[behind] = ranges[behind].start;
        }
    }
}

/// Returns the number of cells within ranges.
pub(crate) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(1, |count: u64, range| count.saturating_mul(range.end - range.start))
}

/// Calls `each` for every row of cells in both a box and a chunk. The arguments are the index of
/// the row's first cell within the box, its index within the chunk, and the number of cells in the
/// row. Indices within the chunk refer to the whole chunk, which may extend beyond the array.
pub(crate) fn each_row(
    in_box: &[Range<u64>],
    chunk: &[Range<u64>],
    chunk_shape: &[u64],
    mut each: impl FnMut(usize, usize, usize),
) {
    let Some(last) = chunk_shape.len().checked_sub(1) else {
        each(0, 0, 1);
        return;
    };
    let common: Vec<Range<u64>> = in_box
        .iter()
        .zip(chunk)
        .map(|(in_box, chunk)| in_box.start.max(chunk.start)..in_box.end.min(chunk.end))
        .collect();
    if common.iter().any(Range::is_empty) {
        return;
    }
    let len = common[last].end - common[last].start;
    let mut rows = common.clone();
    rows[last].end = rows[last].start + 1;
    let lengths: Vec<u64> = in_box.iter().map(|range| range.end - range.start).collect();
    each_place(&rows, |row| {
        let (mut at, mut of_chunk) = (0, 0);
        for dimension in 0..=last {
            at = at * lengths[dimension] + (row[dimension] - in_box[dimension].start);
            of_chunk = of_chunk * chunk_shape[dimension] + (row[dimension] - chunk[dimension].start);
        }
        // Both are in memory, so indices fit.
        each(to_memory(at), to_memory(of_chunk), to_memory(len));
    });
}

/// Converts the index or number of cells that are in memory.
pub(crate) fn to_memory(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_fill_the_available_cells() {
        for (cells, expected) in [(1, [1, 1]), (60, [1, 3]), (120, [2, 3]), (u64::MAX, [4, 3])] {
            assert_eq!(Boxes::new(&[37, 6], &[10, 2], cells).of_box, expected, "{cells}");
        }
    }

    #[test]
    fn each_cell_is_in_one_chunk_of_one_box() {
        let (shape, chunks) = ([7, 5, 4], [3, 2, 4]);
        for cells in [1, 30, 50, 100, 1000] {
            let boxes = Boxes::new(&shape, &chunks, cells);
            let mut all = BTreeSet::new();
            boxes.add_touched(&[0..7, 0..5, 0..4], &mut all).unwrap();
            let mut seen = [0; 7 * 5 * 4];
            for place in &all {
                let in_box = boxes.cells(place);
                let mut of_box = vec![0; usize::try_from(count(&in_box)).unwrap()];
                for chunk in boxes.chunks_of(place) {
                    let ranges = boxes.chunk(&chunk);
                    each_row(&in_box, &ranges, &chunks, |at, of_chunk, len| {
                        assert!(of_chunk + len <= 24);
                        of_box[at..at + len].iter_mut().for_each(|seen| *seen += 1);
                    });
                }
                assert!(of_box.iter().all(|seen| *seen == 1));
                each_row(
                    &[0..7, 0..5, 0..4],
                    &in_box,
                    &in_box.iter().map(|r| r.end - r.start).collect::<Vec<_>>(),
                    |at, _, len| {
                        seen[at..at + len].iter_mut().for_each(|seen| *seen += 1);
                    },
                );
            }
            assert!(seen.iter().all(|seen| *seen == 1), "{cells}");
        }
    }

    #[test]
    fn only_boxes_with_wanted_cells_are_found() {
        let boxes = Boxes::new(&[u64::MAX, u64::MAX], &[10, 10], 100);
        let mut found = BTreeSet::new();
        boxes.add_touched(&[95..101, 1 << 60..(1 << 60) + 1], &mut found).unwrap();
        assert_eq!(found.len(), 2);
        assert!(boxes.add_touched(&[0..1 << 40, 0..1], &mut found).is_err());
    }

    #[test]
    fn small_chunks_make_small_boxes() {
        assert_eq!(Boxes::new(&[1 << 40, 100], &[1, 1], 1 << 30).of_box, [655, 100]);
    }
}
