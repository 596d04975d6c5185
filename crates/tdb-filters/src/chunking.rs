//! The rules by which the writer splits tiles into chunks.

use std::ops::Range;

use tdb_types::{Datatype, Feature, saturating_len};

use crate::stage::strings::Cells;
use crate::{Filter, FilterPipeline, TileKind, TileRole};

/// The chunking rule of a kind of tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunking {
    rule: Rule,
    /// Chunk size in bytes. A chunk exceeds the size only to keep a cell whole.
    limit: usize,
    /// Size of a cell in bytes, or of a value for cells of variable size.
    cell_size: usize,
    /// `true` if empty chunks are dropped.
    drop_empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The entire tile is one chunk.
    Whole,
    /// Chunks of as many cells as fit.
    Even,
    /// Divides the tile into this number of equal parts, and splits each part like `Even`.
    PerDimension(usize),
    /// Chunks of approximately the limit that end at cell boundaries.
    Cells,
}

/// The chunks of a tile: the start of each chunk, and the end of the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cuts(Vec<usize>);

impl Chunking {
    /// Selects the rule and the chunk size of the reference library.
    ///
    /// Since 2.0, chunks have 64 KiB. If the pipeline's chunk size is 0, the entire tile is one
    /// chunk. Other chunk sizes of the pipeline are ignored. Releases before 2.0, which wrote
    /// [`CombinedCoordinates`](Feature::CombinedCoordinates), used the pipeline's chunk size.
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
        // The reference library cannot read any encoding of an empty delta chunk.
        let drop_empty = pipeline.filters.iter().any(|filter| matches!(filter, Filter::Delta { .. }));
        let limit = saturating_len(limit);
        Self { rule, limit, cell_size, drop_empty }
    }

    /// Splits a tile of `len` bytes. Variable-size data without cell offsets are split like cells
    /// of fixed size.
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

    /// Returns the chunk length in bytes, for a tile or part of `len` bytes.
    fn chunk_len(self, len: usize) -> usize {
        (self.limit.min(len) / self.cell_size * self.cell_size).max(self.cell_size)
    }

    fn cut_evenly(self, bytes: Range<usize>) -> Vec<usize> {
        let chunk = self.chunk_len(bytes.len());
        bytes.step_by(chunk).collect()
    }

    /// Splits a tile of variable-size cells at cell boundaries.
    ///
    /// A chunk ends at the first cell that does not fit. The cell is included if the chunk was at
    /// most half full. It is also included if the chunk then has at most one and a half times the
    /// limit. Otherwise the cell starts the next chunk. A cell longer than the limit is then the
    /// only cell of the next chunk.
    ///
    /// If the last cell of the tile does not fit but is included, an empty chunk follows.
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

/// Returns `true` if the filters require a single chunk. WebP does so for any data. Run-length and
/// dictionary encoding do so for strings, from the format version on that stores offsets of ASCII
/// strings in the filtered data. The rule includes UTF-8 strings, even in format versions that do
/// not store their offsets there.
fn is_whole(pipeline: &FilterPipeline, kind: &TileKind) -> bool {
    let has = |matches: fn(&Filter) -> bool| pipeline.filters.iter().any(matches);
    let strings = kind.role == TileRole::VarData && is_text(kind.datatype);
    let whole_strings = strings
        && ((kind.version.has(Feature::RleStringOffsets) && has(|filter| matches!(filter, Filter::Rle { .. })))
            || (kind.version.has(Feature::DictionaryStringOffsets)
                && has(|filter| matches!(filter, Filter::Dictionary { .. }))));
    whole_strings || has(|filter| matches!(filter, Filter::WebP(_)))
}

/// Returns `true` for the datatypes that the string codecs support.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8)
}

#[cfg(test)]
mod tests;
