//! Units of work: copies of boxes of tiles into a batch.

use std::ops::Range;

use crate::axis::Piece;
use crate::copy::{BoxCopy, Stride};
use crate::layers::{Layers, Owned, TilePlace};
use crate::shape::{Odometer, Positions, Shape};

/// A range of cells of a batch, built by a single worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Range of cells within the batch.
    pub(super) cells: Range<usize>,
    /// Sources of the cells. Offsets in the result are relative to the start of the range.
    pub(super) sources: Vec<Source>,
    /// The boxes of the range, in order.
    pub(super) boxes: Vec<PlacedBox>,
}

/// Cells from a tile of a fragment, or unwritten cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) origin: Origin,
    /// Index of the fragment with the cells, even if the read skips this fragment.
    pub(super) written_by: Option<usize>,
    /// Fragment and tile, if metadata excludes a match of the condition. The read then skips the
    /// tile.
    pub(super) ruled_out: Option<(usize, u64)>,
    /// Sorted by the first cell in the tile.
    pub(super) copies: Vec<BoxCopy>,
}

/// Origin of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Unwritten cells, which read as the fill value. Offsets in the tile have no meaning.
    Fill,
    /// A tile of a fragment, with the fragment's index in the array.
    Tile {
        fragment: usize,
        tile: u64,
        /// Number of cells of the tile.
        cells: u64,
    },
}

/// A box of positions. The cells of the box are consecutive in a [`Work`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedBox {
    /// Offset of the first cell in the work.
    pub(super) base: usize,
    pub(super) positions: Positions,
    /// Distance in the result between neighboring cells along each dimension.
    pub(super) strides: Vec<usize>,
}

/// The pieces along a dimension that belong to the same tile.
struct Group<'a> {
    tile: u64,
    pieces: &'a [Piece],
}

impl Work {
    /// Appends a box of positions. `order` is the order of the cells in the box, slowest dimension
    /// first. The cells of the box must fit into memory.
    pub(super) fn push(&mut self, shape: &Shape, layers: &Layers, positions: Positions, order: &[usize]) {
        let base = self.cells.len();
        let mut strides = vec![0; positions.len()];
        let mut cells = 1;
        for &dimension in order.iter().rev() {
            strides[dimension] = cells;
            cells *= (positions[dimension].end - positions[dimension].start) as usize;
        }
        let placed = PlacedBox { base, positions, strides };
        self.add_sources(shape, layers, &placed, order);
        self.cells.end += cells;
        self.boxes.push(placed);
    }

    /// Returns `true` if at least one cell comes from a tile.
    pub(super) fn has_tiles(&self) -> bool {
        self.sources.iter().any(|source| matches!(source.origin, Origin::Tile { .. }))
    }

    /// Merges the sources of each tile and sorts the sources by position in the files.
    pub(super) fn finish(&mut self) {
        self.sources.sort_by_key(|source| source.origin);
        self.sources.dedup_by(|next, source| {
            let same = next.origin == source.origin;
            if same {
                source.copies.append(&mut next.copies);
            }
            same
        });
        for source in &mut self.sources {
            source.copies.sort_by_key(|copy| copy.from);
        }
    }

    fn add_sources(&mut self, shape: &Shape, layers: &Layers, placed: &PlacedBox, order: &[usize]) {
        let pieces: Vec<Vec<Piece>> = shape
            .axes
            .iter()
            .zip(&placed.positions)
            .map(|(axis, positions)| {
                let mut pieces = axis.pieces(positions.clone());
                pieces.sort_by_key(|piece| piece.tile);
                pieces
            })
            .collect();
        let groups: Vec<Vec<Group<'_>>> = pieces
            .iter()
            .map(|pieces| {
                let groups = pieces.chunk_by(|a, b| a.tile == b.tile);
                groups.map(|pieces| Group { tile: pieces[0].tile, pieces }).collect()
            })
            .collect();
        let all: Vec<Range<u128>> = groups
            .iter()
            .zip(&shape.axes)
            .map(|(groups, axis)| bounds(groups.iter().flat_map(|group| group.pieces), axis.extent))
            .collect();
        let candidates = layers.within(&all);
        if candidates.is_empty() {
            return self.sources.push(unwritten(placed, order));
        }
        let counts = groups.iter().map(|groups| 0..groups.len() as u64).collect();
        let mut tiles = Odometer::new(counts, shape.tile_order.clone());
        let mut owned = Vec::new();
        while let Some(at) = tiles.at() {
            let groups: Vec<&Group<'_>> = groups.iter().zip(at).map(|(groups, &at)| &groups[at as usize]).collect();
            let bounds: Vec<Range<u128>> =
                groups.iter().zip(&shape.axes).map(|(group, axis)| bounds(group.pieces, axis.extent)).collect();
            layers.owners(&bounds, &candidates, &mut owned);
            for owned in owned.drain(..) {
                self.add_source(shape, layers, placed, order, &groups, &owned);
            }
            tiles.advance();
        }
    }

    /// Adds the parts of a tile's pieces within a box that has a single owner.
    fn add_source(
        &mut self,
        shape: &Shape,
        layers: &Layers,
        placed: &PlacedBox,
        order: &[usize],
        groups: &[&Group<'_>],
        owned: &Owned,
    ) {
        let clipped: Vec<Vec<Piece>> = groups
            .iter()
            .zip(&owned.bounds)
            .zip(&shape.axes)
            .map(|((group, bounds), axis)| clip(group.pieces, bounds, axis.extent))
            .collect();
        let tile: Vec<u64> = groups.iter().map(|group| group.tile).collect();
        let layer = owned.layer.map(|layer| layers.get(layer));
        let place = layer.and_then(|layer| Some((layer.fragment, layer.tile(&tile)?)));
        let origin = place.map_or(Origin::Fill, |(fragment, TilePlace { tile, cells, .. })| Origin::Tile {
            fragment,
            tile,
            cells,
        });
        let single = place.and_then(|(_, place)| place.cell);
        let counts = clipped.iter().map(|pieces| 0..pieces.len() as u64).collect();
        let mut combinations = Odometer::new(counts, shape.cell_order.clone());
        let mut copies = Vec::new();
        while let Some(at) = combinations.at() {
            let piece = |dimension: usize| clipped[dimension][at[dimension] as usize];
            copies.push(match (origin, single) {
                (Origin::Fill, _) => fill_copy(placed, order, piece),
                (Origin::Tile { .. }, None) => tile_copy(shape, placed, piece),
                (Origin::Tile { .. }, Some(cell)) => tile_copy(shape, placed, piece).starting_at(cell),
            });
            combinations.advance();
        }
        if copies.is_empty() {
            return;
        }
        match self.sources.last_mut().filter(|source| source.origin == origin) {
            Some(source) => source.copies.append(&mut copies),
            None => self.sources.push(Source::new(origin, copies)),
        }
    }
}

/// Returns the range from the first to the last cell of pieces, counted from the low end of the
/// domain.
pub(super) fn bounds<'a>(pieces: impl IntoIterator<Item = &'a Piece>, extent: u64) -> Range<u128> {
    let ends = |piece: &Piece| {
        let start = u128::from(piece.tile) * u128::from(extent) + u128::from(piece.offset);
        start..start + piece.len as u128
    };
    let all = pieces.into_iter().map(ends).reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
    all.unwrap_or(0..0)
}

/// Returns the parts of the pieces within `bounds`.
pub(super) fn clip(pieces: &[Piece], bounds: &Range<u128>, extent: u64) -> Vec<Piece> {
    let inside = pieces.iter().filter_map(|piece| {
        let tile = u128::from(piece.tile) * u128::from(extent);
        let first = tile + u128::from(piece.offset);
        let start = first.max(bounds.start);
        let end = (first + piece.len as u128).min(bounds.end);
        (start < end).then(|| Piece {
            tile: piece.tile,
            offset: (start - tile) as u64,
            len: (end - start) as usize,
            position: piece.position + (start - first) as usize,
        })
    });
    inside.collect()
}

/// Creates a copy from a tile, in tile order, to the result.
fn tile_copy(shape: &Shape, placed: &PlacedBox, piece: impl Fn(usize) -> Piece) -> BoxCopy {
    let (mut from, mut to) = (0, placed.base);
    for dimension in 0..placed.strides.len() {
        let piece = piece(dimension);
        from += piece.offset * shape.tile_strides[dimension];
        to += piece.position * placed.strides[dimension];
    }
    let strides = shape.cell_order.iter().map(|&dimension| Stride {
        len: piece(dimension).len,
        from: shape.tile_strides[dimension],
        to: placed.strides[dimension],
    });
    BoxCopy::new(from, to, strides)
}

/// Creates a copy in result order, as if the result were the tile.
fn fill_copy(placed: &PlacedBox, order: &[usize], piece: impl Fn(usize) -> Piece) -> BoxCopy {
    let to = |dimension: usize| piece(dimension).position * placed.strides[dimension];
    let to = placed.base + (0..placed.strides.len()).map(to).sum::<usize>();
    let strides = order.iter().map(|&dimension| {
        let stride = placed.strides[dimension];
        Stride { len: piece(dimension).len, from: stride as u64, to: stride }
    });
    BoxCopy::new(to as u64, to, strides)
}

/// Creates the source of a box of unwritten cells.
fn unwritten(placed: &PlacedBox, order: &[usize]) -> Source {
    let cells =
        order.iter().map(|&dimension| (placed.positions[dimension].end - placed.positions[dimension].start) as usize);
    let copies = vec![BoxCopy::run(placed.base as u64, placed.base, cells.product())];
    Source::new(Origin::Fill, copies)
}
