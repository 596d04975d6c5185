//! Where a writer cuts a tile into chunks.

use std::ops::Range;

use tdb_types::{Datatype, Feature, saturating_len};

use crate::stage::strings::Cells;
use crate::{Filter, FilterPipeline, TileKind, TileRole};

/// How tiles are cut, as far as it doesn't depend on the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunking {
    rule: Rule,
    /// Bytes of a chunk that no cell forces to be longer.
    limit: usize,
    /// Bytes of a cell, or of a value of variable-size cells.
    cell_size: usize,
    /// Whether chunks without bytes are left out.
    drop_empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The tile is one chunk.
    Whole,
    /// Chunks of so many cells as fit.
    Even,
    /// The same, within so many equal parts of the tile.
    PerDimension(usize),
    /// Chunks of about so many bytes, which end with cells.
    Cells,
}

/// The chunks of one tile: where each starts, and where the last ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cuts(Vec<usize>);

impl Chunking {
    /// The reference library's writers since 2.0 cut at 64 KiB whatever the pipeline says, unless it says 0; those
    /// before, which wrote [`CombinedCoordinates`](Feature::CombinedCoordinates), did as the pipeline says.
    pub(crate) fn new(pipeline: &FilterPipeline, kind: &TileKind, cell_size: usize) -> Self {
        let obeys = kind.version.has(Feature::CombinedCoordinates);
        let limit = if obeys { pipeline.max_chunk_size.max(1) } else { FilterPipeline::DEFAULT_MAX_CHUNK_SIZE };
        let rule = match kind.role {
            _ if !obeys && pipeline.max_chunk_size == 0 => Rule::Whole,
            _ if is_whole(pipeline, kind) => Rule::Whole,
            TileRole::Coordinates { dimensions } => Rule::PerDimension(saturating_len(dimensions).max(1)),
            TileRole::VarData => Rule::Cells,
            TileRole::Fixed | TileRole::Offsets | TileRole::Validity | TileRole::Generic => Rule::Even,
        };
        // The reference library can't read the deltas of nothing, whichever way they are written.
        let drop_empty = pipeline.filters.iter().any(|filter| matches!(filter, Filter::Delta { .. }));
        let limit = saturating_len(limit);
        Self { rule, limit, cell_size, drop_empty }
    }

    /// The chunks of a tile of `len` bytes. Variable-size data without the offsets of their cells are cut evenly.
    pub(crate) fn cut(self, len: usize, cells: Option<Cells<'_>>) -> Cuts {
        let mut starts = match (self.rule, cells) {
            (Rule::Whole, _) => vec![0],
            (Rule::Cells, Some(cells)) => self.cut_at_cells(len, cells),
            (Rule::Even | Rule::Cells, _) => self.cut_evenly(0..len),
            (Rule::PerDimension(dimensions), _) => {
                let part = len / dimensions;
                let parts =
                    (0..dimensions).take(len).flat_map(|index| self.cut_evenly(index * part..(index + 1) * part));
                parts.collect()
            }
        };
        starts.push(len);
        if self.drop_empty {
            starts.dedup();
            if len == 0 {
                starts.clear();
            }
        }
        Cuts(starts)
    }

    /// Bytes of a chunk in a tile, or part of one, of `len` bytes.
    fn chunk_len(self, len: usize) -> usize {
        (self.limit.min(len) / self.cell_size * self.cell_size).max(self.cell_size)
    }

    fn cut_evenly(self, bytes: Range<usize>) -> Vec<usize> {
        let chunk = self.chunk_len(bytes.len());
        bytes.step_by(chunk).collect()
    }

    /// A chunk that a cell would make longer is closed after the cell if it is not yet half full or would become at
    /// most half as long again, else before it; a cell longer than a chunk is a chunk of its own. When the last cell
    /// closes its chunk, an empty one follows.
    fn cut_at_cells(self, len: usize, cells: Cells<'_>) -> Vec<usize> {
        let chunk = self.chunk_len(len);
        let mut starts = vec![0];
        if len == chunk {
            return starts;
        }
        let (half, half_more) = (chunk / 2, chunk.saturating_add(chunk / 2));
        let (mut end, mut in_chunk) = (0, 0);
        let mut left = cells.len();
        for cell in cells.iter() {
            let start = end;
            end += cell.len();
            left -= 1;
            let longer = in_chunk + cell.len();
            if longer <= chunk {
                in_chunk = longer;
            } else if in_chunk <= half || longer <= half_more {
                starts.push(end);
                in_chunk = 0;
            } else {
                starts.push(start);
                in_chunk = cell.len();
                if cell.len() > chunk {
                    if left > 0 {
                        starts.push(end);
                    }
                    in_chunk = 0;
                }
            }
        }
        starts
    }
}

impl Cuts {
    pub(crate) fn len(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.windows(2).map(|ends| ends[0]..ends[1])
    }
}

/// Whether tiles are not cut because of what the filters do: strings with a filter of whole strings (even where the
/// version doesn't let it carry offsets), and images.
fn is_whole(pipeline: &FilterPipeline, kind: &TileKind) -> bool {
    let has = |matches: fn(&Filter) -> bool| pipeline.filters.iter().any(matches);
    let strings = kind.role == TileRole::VarData && is_text(kind.datatype);
    let whole_strings = strings
        && ((kind.version.has(Feature::RleStringOffsets) && has(|filter| matches!(filter, Filter::Rle { .. })))
            || (kind.version.has(Feature::DictionaryStringOffsets)
                && has(|filter| matches!(filter, Filter::Dictionary { .. }))));
    whole_strings || has(|filter| matches!(filter, Filter::WebP(_)))
}

/// The strings that filters of whole strings work on.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8)
}

#[cfg(test)]
mod tests;
