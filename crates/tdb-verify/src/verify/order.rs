//! Verification of global order, within tiles and between them.

use tdb_array::CellOrderCheck;
use tdb_array::tdb_fragment::GlobalOrderBounds;
use tdb_array::tdb_rtree::DimensionKind;
use tdb_types::{Cells, Offsets};

use super::finding::{Finding, FindingKind, unreadable};
use super::fragment::Checked;
use super::report::Found;
use super::tile::{OrderFound, TileCoordinates};

/// The order of a fragment's cells, checked tile by tile.
///
/// Some writers do not check the order, and readers sort unordered cells. Therefore unordered cells
/// are reported as a note, not as a problem.
pub(super) struct CellOrder<'c> {
    check: &'c CellOrderCheck,
    kinds: Vec<DimensionKind>,
    /// The previous tile, if it is readable. It is judged together with the next tile, because the
    /// next tile decides whether its last cell is in order.
    last: Option<TileCoordinates>,
    taken: u64,
    disordered: u64,
    /// The first unordered tile.
    first: Option<u64>,
    /// `true` if coordinates may repeat although duplicates are not allowed.
    may_repeat: bool,
}

impl<'c> CellOrder<'c> {
    pub(super) fn new(check: &'c CellOrderCheck, kinds: Vec<DimensionKind>) -> Self {
        Self { check, kinds, last: None, taken: 0, disordered: 0, first: None, may_repeat: false }
    }

    /// Adds the next tile. `None` represents an unreadable tile.
    pub(super) fn take(&mut self, next: Option<TileCoordinates>) {
        self.judge_last(next.as_ref());
        self.taken += 1;
        self.last = next;
    }

    fn judge_last(&mut self, next: Option<&TileCoordinates>) {
        let Some(last) = self.last.take() else { return };
        let between = next.map_or(OrderFound::Ascending, |next| self.order_between(&last, next));
        let found = last.order.max(between);
        self.may_repeat |= found != OrderFound::Ascending;
        if found == OrderFound::None {
            self.disordered += 1;
            self.first = self.first.or(self.taken.checked_sub(1));
        }
    }

    /// Compares the last cell of a tile with the first cell of the next tile.
    fn order_between(&self, tile: &TileCoordinates, next: &TileCoordinates) -> OrderFound {
        if tile.ends.is_empty() || next.ends.is_empty() {
            return OrderFound::Ascending;
        }
        let pairs: Vec<(Vec<u8>, [u64; 3])> =
            tile.ends.iter().zip(&next.ends).map(|(own, next)| pair(&own[1], &next[0])).collect();
        let columns = pairs.iter().zip(&self.kinds).map(|((bytes, offsets), kind)| match kind.var {
            true => Cells::var(Offsets::in_bytes(offsets), bytes),
            false => Cells::fixed(bytes, kind.datatype.size()),
        });
        order_of(self.check, &columns.collect::<Vec<_>>())
    }

    /// Reports unordered tiles. Returns `true` if coordinates may repeat although duplicates are
    /// not allowed.
    pub(super) fn finish(mut self, checked: &mut Checked<'_>) -> bool {
        self.judge_last(None);
        let Some(first) = self.first else { return self.may_repeat };
        let why = match self.check.is_promised() {
            true => "as left by writers with disabled checks",
            false => "writers of its format had another order",
        };
        let what = format!(
            "cells of {} of {} tiles are not in global order; readers have to sort them ({why})",
            self.disordered, self.taken
        );
        checked.found.push(Finding::note(FindingKind::CellOrder, checked.folder(), what).of_tile(first));
        self.may_repeat
    }
}

/// Returns the order of consecutive cells.
pub(super) fn order_of(check: &CellOrderCheck, coordinates: &[Cells<'_>]) -> OrderFound {
    match check.holds(coordinates) {
        true => OrderFound::Ascending,
        false if check.holds_with_equal(coordinates) => OrderFound::WithEqual,
        false => OrderFound::None,
    }
}

/// Concatenates two cells. Returns the bytes and the offsets.
fn pair(first: &[u8], second: &[u8]) -> (Vec<u8>, [u64; 3]) {
    let bytes = [first, second].concat();
    let offsets = [0, first.len() as u64, bytes.len() as u64];
    (bytes, offsets)
}

/// The stored first and last coordinates of tiles along one dimension.
pub(super) struct Ends {
    file: String,
    name: String,
    dimension: usize,
    bounds: GlobalOrderBounds,
    taken: u64,
    pub(super) found: Found,
}

impl Ends {
    /// Reads the stored first and last coordinates of a fragment's tiles, for each dimension that
    /// has them. Reports unreadable coordinates.
    pub(super) fn of(checked: &mut Checked<'_>, names: &[String]) -> Vec<Self> {
        let mut all = Vec::new();
        for (dimension, name) in names.iter().enumerate() {
            let (file, name) = (checked.metadata_file(), name.clone());
            match checked.fragment.stored_order_bounds(dimension) {
                Ok(Some(bounds)) => {
                    all.push(Self { file, name, dimension, bounds, taken: 0, found: Found::default() });
                }
                Ok(None) => {}
                Err(error) => checked.found.push(unreadable(&file, &error).of_field(&name)),
            }
        }
        all
    }

    /// Compares the first and last coordinate of the next tile. `None` represents an unreadable
    /// tile.
    pub(super) fn take(&mut self, own: Option<&TileCoordinates>) {
        let tile = self.taken;
        self.taken += 1;
        let Some([first, last]) = own.and_then(|own| own.ends.get(self.dimension)) else { return };
        if self.bounds.get(tile) != Some((&first[..], &last[..])) {
            let what = "the first and last cell in global order differ from the stored bounds";
            let finding = Finding::wrong(FindingKind::CellOrder, self.file.as_str(), what);
            self.found.push(finding.of_field(&self.name).of_tile(tile));
        }
    }
}
