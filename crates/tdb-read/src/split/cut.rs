//! Recursive bisection of a box into pieces of about the same weight.

mod places;

use std::ops::Bound;

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::ArraySchema;
use tdb_types::{Layout, PhysicalType, Scalar};

use places::{Cut, Places};

/// A weighted box.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weight {
    pub(super) bounds: NdRange,
    pub(super) amount: f64,
}

/// A box with the weights inside.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) window: NdRange,
    pub(super) weights: Vec<Weight>,
}

impl Piece {
    pub(super) fn weight(&self) -> f64 {
        self.weights.iter().map(|weight| weight.amount).sum()
    }
}

/// The share of a cut tile that each side must read, wherever the cut is. Only few chunks can be
/// skipped.
const ALWAYS: f64 = 0.75;

/// A cutter for boxes of an array.
#[derive(Debug)]
pub(super) struct Cutter<'a> {
    schema: &'a ArraySchema,
    /// The dimensions in order of preference. The dimension along which neighboring tiles are
    /// farthest apart in files comes first.
    order: Vec<usize>,
}

/// A way of cutting a piece in two.
struct Way {
    dimension: usize,
    cut: Cut,
    /// The larger weight of the two sides, per part.
    share: f64,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(schema: &'a ArraySchema) -> Self {
        let mut order: Vec<usize> = (0..schema.dim_count()).collect();
        if schema.tile_order() == Layout::ColMajor {
            order.reverse();
        }
        Self { schema, order }
    }

    /// Cuts a piece into `parts` pieces, or fewer without enough places to cut.
    pub(super) fn cut(&self, piece: Piece, parts: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        // The right side waits on the stack, so that the pieces are in the order of coordinates.
        let mut waiting = vec![(piece, parts)];
        while let Some((piece, parts)) = waiting.pop() {
            let shares = (parts / 2, parts - parts / 2);
            match if parts > 1 { self.best(&piece, shares) } else { None } {
                Some(way) => {
                    let (left, right) = self.divide(piece, &way);
                    waiting.push((right, shares.1));
                    waiting.push((left, shares.0));
                }
                None => pieces.push(piece),
            }
        }
        pieces
    }

    /// Returns the best way to cut a piece. Returns `None` if no cut leaves weight on both sides.
    /// Cuts tiles of dense arrays only for a much better balance.
    fn best(&self, piece: &Piece, shares: (usize, usize)) -> Option<Way> {
        /// The tolerated imbalance for whole tiles.
        const FAIR: f64 = 1.5;
        let whole = self.best_of(piece, shares, false);
        if !self.schema.is_dense() {
            return whole;
        }
        let fair = piece.weight() / (shares.0 + shares.1) as f64;
        match whole {
            Some(whole) if whole.share <= fair * FAIR => Some(whole),
            Some(whole) => {
                let within = self.best_of(piece, shares, true);
                within.filter(|within| within.share * FAIR < whole.share).or(Some(whole))
            }
            None => self.best_of(piece, shares, true),
        }
    }

    fn best_of(&self, piece: &Piece, shares: (usize, usize), within_tiles: bool) -> Option<Way> {
        let mut best: Option<Way> = None;
        for dimension in &self.order {
            let Some(way) = self.way(piece, *dimension, shares, within_tiles) else { continue };
            if best.as_ref().is_none_or(|best| way.share < best.share * (1.0 - 1e-9)) {
                best = Some(way);
            }
        }
        best
    }

    /// Returns the best cut along a dimension. As the cut moves up, the left side grows heavier and
    /// the right side lighter. The best cut is at the crossing.
    fn way(&self, piece: &Piece, dimension: usize, shares: (usize, usize), within_tiles: bool) -> Option<Way> {
        let ranges = piece.weights.iter().filter_map(|weight| weight.bounds.0.get(dimension));
        let window = piece.window.0.get(dimension)?;
        let places = Places::of(self.schema, dimension, window, ranges, within_tiles)?;
        let physical = self.schema.dimensions().get(dimension)?.physical();
        let way = |place: u64| {
            let cut = places.get(place)?;
            let (left, right) = sides(piece, dimension, &cut, physical);
            Some((left / shares.0 as f64, right / shares.1 as f64, cut))
        };
        let (mut low, mut high) = (0, places.last());
        while low < high {
            let middle = low + (high - low) / 2;
            let (left, right, _) = way(middle)?;
            if left >= right { high = middle } else { low = middle + 1 }
        }
        let near = [low.checked_sub(1), Some(low)].into_iter().flatten().filter_map(way);
        let near = near.filter(|(left, right, _)| *left > 0.0 && *right > 0.0);
        let best = near.min_by(|a, b| a.0.max(a.1).total_cmp(&b.0.max(b.1)));
        best.map(|(left, right, cut)| Way { dimension, cut, share: left.max(right) })
    }

    fn divide(&self, piece: Piece, way: &Way) -> (Piece, Piece) {
        let Piece { window, weights } = piece;
        let physical =
            self.schema.dimensions().get(way.dimension).map_or(PhysicalType::U8, tdb_schema::Dimension::physical);
        let side = |bounds: &NdRange, is_left: bool| {
            let mut bounds = bounds.clone();
            if let Some(range) = bounds.0.get_mut(way.dimension) {
                *range = way.cut.half(range, is_left);
            }
            bounds
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for weight in weights {
            match weight.bounds.0.get(way.dimension).map(|range| way.cut.below(range, physical)) {
                Some(below) if below <= 0.0 => right.push(weight),
                Some(below) if below < 1.0 => {
                    let part = |is_left: bool, part: f64| Weight {
                        bounds: side(&weight.bounds, is_left),
                        amount: weight.amount * (ALWAYS + (1.0 - ALWAYS) * part),
                    };
                    left.push(part(true, below));
                    right.push(part(false, 1.0 - below));
                }
                _ => left.push(weight),
            }
        }
        (Piece { window: side(&window, true), weights: left }, Piece { window: side(&window, false), weights: right })
    }
}

/// Returns the weights of the two sides of a cut.
fn sides(piece: &Piece, dimension: usize, cut: &Cut, physical: PhysicalType) -> (f64, f64) {
    let (mut left, mut right) = (0.0, 0.0);
    for weight in &piece.weights {
        let below = weight.bounds.0.get(dimension).map_or(1.0, |range| cut.below(range, physical));
        if below > 0.0 {
            left += weight.amount * if below < 1.0 { ALWAYS + (1.0 - ALWAYS) * below } else { 1.0 };
        }
        if below < 1.0 {
            right += weight.amount * if below > 0.0 { ALWAYS + (1.0 - ALWAYS) * (1.0 - below) } else { 1.0 };
        }
    }
    (left, right)
}

impl Cut {
    /// Returns the approximate share of a range below the cut. Exactly 0 or 1 for no or all of the
    /// range.
    fn below(&self, range: &DimRange, physical: PhysicalType) -> f64 {
        /// Strictly between 0 and 1.
        const SOME: f64 = 1e-6;
        match (self, range) {
            (Self::Key(cut), DimRange::Fixed { lo, hi }) => {
                if cut <= lo {
                    0.0
                } else if cut > hi {
                    1.0
                } else {
                    let value = |key: u64| match physical.is_float() {
                        true => Scalar::from_key(physical, key).to_f64(),
                        false => key as f64,
                    };
                    let part = (value(*cut) - value(*lo)) / (value(*hi) - value(*lo));
                    if part.is_nan() { 0.5 } else { part.clamp(SOME, 1.0 - SOME) }
                }
            }
            (Self::String(cut), DimRange::Var { lo, hi }) => {
                let is_all = match hi {
                    Bound::Included(hi) => hi < cut,
                    Bound::Excluded(hi) => hi <= cut,
                    Bound::Unbounded => false,
                };
                if cut <= lo {
                    0.0
                } else if is_all {
                    1.0
                } else {
                    0.5
                }
            }
            _ => 1.0,
        }
    }

    /// Returns the part of a range on a side of the cut. The cut must be within the range.
    fn half(&self, range: &DimRange, is_left: bool) -> DimRange {
        match (self, range, is_left) {
            (Self::Key(cut), DimRange::Fixed { lo, .. }, true) => {
                DimRange::Fixed { lo: *lo, hi: cut.saturating_sub(1) }
            }
            (Self::Key(cut), DimRange::Fixed { hi, .. }, false) => DimRange::Fixed { lo: *cut, hi: *hi },
            (Self::String(cut), DimRange::Var { lo, .. }, true) => DimRange::strings_before(lo.clone(), cut.clone()),
            (Self::String(cut), DimRange::Var { hi, .. }, false) => DimRange::Var { lo: cut.clone(), hi: hi.clone() },
            _ => range.clone(),
        }
    }
}
