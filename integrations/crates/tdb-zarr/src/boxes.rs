//! Boxes of cells: which chunks they hold, and where the cells of chunks lie in them.

use std::collections::BTreeSet;
use std::ops::Range;

/// A box doesn't have more chunks, however small they are: each takes memory of its own, and time to look for it.
const MAX_CHUNKS: u64 = 1 << 16;
/// More boxes aren't gone through: each is remembered, and becomes a fragment where arrays are made.
const MAX_BOXES: u64 = 1 << 20;

/// A grid of chunks, in boxes of as many of them as are taken at a time.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    /// Chunks of a box along each dimension.
    of_box: Vec<u64>,
}

impl Boxes {
    /// Boxes of about as many cells as `cells`, or of a single chunk if that has more.
    pub(crate) fn new(shape: &[u64], chunks: &[u64], cells: u64) -> Self {
        let mut of_box = vec![1; shape.len()];
        let mut room = MAX_CHUNKS;
        let mut len = chunks.iter().fold(1, |len: u64, chunk| len.saturating_mul(*chunk));
        // Rows first, then rows of rows: as long as there is room, boxes are as wide as the array.
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

    /// The boxes that have cells of a range of cells along each dimension, added to `found`.
    ///
    /// # Errors
    /// They are too many.
    pub(crate) fn add_touched(&self, ranges: &[Range<u64>], found: &mut BTreeSet<Vec<u64>>) -> Result<(), String> {
        let sides: Vec<Range<u64>> = (0..ranges.len())
            .map(|dimension| {
                let side = self.side(dimension);
                ranges[dimension].start / side..ranges[dimension].end.div_ceil(side)
            })
            .collect();
        let too_many = || format!("it has more than {MAX_BOXES} boxes of cells that fit the budget; give a larger one");
        if count(&sides) > MAX_BOXES {
            return Err(too_many());
        }
        each_place(&sides, |place| {
            found.insert(place.to_vec());
        });
        if found.len() as u64 > MAX_BOXES { Err(too_many()) } else { Ok(()) }
    }

    /// Cells of a box along a dimension.
    fn side(&self, dimension: usize) -> u64 {
        self.chunks[dimension].saturating_mul(self.of_box[dimension])
    }

    /// The cells of a box.
    pub(crate) fn cells(&self, place: &[u64]) -> Vec<Range<u64>> {
        let range = |(dimension, number): (usize, &u64)| {
            let start = number * self.side(dimension);
            start..start.saturating_add(self.side(dimension)).min(self.shape[dimension])
        };
        place.iter().enumerate().map(range).collect()
    }

    /// The chunks that a box consists of.
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

    /// The cells of a chunk, without those beyond the end of the array.
    pub(crate) fn chunk(&self, chunk: &[u64]) -> Vec<Range<u64>> {
        let range = |(dimension, number): (usize, &u64)| {
            let start = number * self.chunks[dimension];
            start..start.saturating_add(self.chunks[dimension]).min(self.shape[dimension])
        };
        chunk.iter().enumerate().map(range).collect()
    }
}

/// Goes through all places of some ranges, the last dimension fastest.
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

/// How many cells lie in ranges.
pub(crate) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(1, |count: u64, range| count.saturating_mul(range.end - range.start))
}

/// Goes through the rows of cells that a box and a chunk have in common: the number of the first in the box and in the
/// chunk, and how many they are. The chunk is full: it goes on beyond the end of the array.
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
        // Both lie in memory.
        each(to_memory(at), to_memory(of_chunk), to_memory(len));
    });
}

fn to_memory(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_wide_as_there_is_room() {
        for (cells, expected) in [(1, [1, 1]), (60, [1, 3]), (120, [2, 3]), (u64::MAX, [4, 3])] {
            assert_eq!(Boxes::new(&[37, 6], &[10, 2], cells).of_box, expected, "{cells}");
        }
    }

    #[test]
    fn each_cell_lies_in_one_chunk_of_one_box() {
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
