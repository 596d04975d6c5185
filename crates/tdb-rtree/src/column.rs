//! Bounds of R-tree nodes in one dimension.

use std::ops::{Bound, Range};

use tdb_types::{ByteReader, ByteWriter, DecodeError, Feature, FormatVersion, Scalar};

use crate::stored::{read_strings, write_strings};
use crate::{DimRange, DimensionKind};

/// The bounds of all nodes in one dimension, contiguous in memory for sequential scans.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Fixed(FixedColumn),
    Var(VarColumn),
}

/// Bounds of a fixed-size type, as [ordered keys](tdb_types::ordered_key) of the stored
/// coordinates.
#[derive(Clone, Debug)]
pub(crate) struct FixedColumn {
    kind: DimensionKind,
    lo: Vec<u64>,
    hi: Vec<u64>,
    /// `true` if the stored bounds of any node are meaningless, because a bound is NaN or the
    /// writer did not compute the range.
    pub(super) has_nan: bool,
    /// `true` if writers of the format version did not compute the bounds. No bound can be trusted.
    uncertain: bool,
}

/// Bounds of strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarColumn {
    /// Lower and upper bound of each node, concatenated.
    bytes: Vec<u8>,
    /// End offsets in `bytes` of each lower and upper bound.
    ends: Vec<usize>,
    /// `true` if nodes with an empty lower bound are unbounded above.
    uncertain: bool,
}

impl Column {
    pub(crate) fn new(kind: DimensionKind) -> Self {
        if kind.var {
            Self::Var(VarColumn::default())
        } else {
            Self::Fixed(FixedColumn { kind, lo: Vec::new(), hi: Vec::new(), has_nan: false, uncertain: false })
        }
    }

    /// Marks bounds as untrusted if writers of the format version compute them wrongly.
    pub(crate) fn distrust(&mut self, version: FormatVersion) {
        match self {
            Self::Var(column) => column.uncertain = version.has(Feature::UncertainStringRanges),
            Self::Fixed(column) => {
                column.uncertain = column.kind.datatype.is_datetime() && version.has(Feature::UncomputedDateRanges);
                column.has_nan |= column.uncertain;
            }
        }
    }

    pub(crate) fn reserve(&mut self, nodes: usize) {
        match self {
            Self::Fixed(column) => {
                column.lo.reserve_exact(nodes);
                column.hi.reserve_exact(nodes);
            }
            Self::Var(column) => column.ends.reserve_exact(nodes.saturating_mul(2)),
        }
    }

    /// Appends the bounds of a node. The caller must check the range's kind and inclusive end.
    pub(crate) fn push(&mut self, range: &DimRange) {
        match (self, range) {
            (Self::Fixed(column), DimRange::Fixed { lo, hi }) => column.push(*lo, *hi),
            (Self::Var(column), DimRange::Var { lo, hi: Bound::Included(hi) }) => column.push(lo, hi),
            _ => debug_assert!(false, "the range is checked"),
        }
    }

    /// Reads the bounds of a node and appends them.
    pub(crate) fn read(&mut self, reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        match self {
            Self::Fixed(column) => column.kind.read_keys(reader).map(|(lo, hi)| column.push(lo, hi)),
            Self::Var(column) => read_strings(reader).map(|(lo, hi)| column.push(lo, hi)),
        }
    }

    /// Returns the stored bounds of a node.
    pub(crate) fn get(&self, node: usize) -> Option<DimRange> {
        match self {
            Self::Fixed(column) => column.get(node).map(|(lo, hi)| DimRange::Fixed { lo, hi }),
            Self::Var(column) => column.get(node).map(|(lo, hi)| DimRange::strings(lo, hi)),
        }
    }

    /// Returns bounds guaranteed to contain all coordinates of a node.
    pub(crate) fn bounds(&self, node: usize) -> Option<DimRange> {
        match self {
            Self::Fixed(column) => column.get(node).map(|(lo, hi)| {
                let (lo, hi) = column.widen(lo, hi);
                DimRange::Fixed { lo, hi }
            }),
            Self::Var(column) => column
                .bounds(node)
                .map(|(lo, hi)| hi.map_or_else(|| DimRange::strings_from(lo), |hi| DimRange::strings(lo, hi))),
        }
    }

    /// Writes the stored bounds of a node.
    pub(crate) fn write(&self, node: usize, writer: &mut ByteWriter) {
        match self {
            Self::Fixed(column) => {
                if let Some((lo, hi)) = column.get(node) {
                    let physical = column.kind.physical();
                    writer.bytes(&tdb_types::from_ordered_key(physical, lo));
                    writer.bytes(&tdb_types::from_ordered_key(physical, hi));
                }
            }
            Self::Var(column) => {
                if let Some((lo, hi)) = column.get(node) {
                    write_strings(lo, hi, writer);
                }
            }
        }
    }

    /// Appends a parent node. `children` are its child nodes in `from`. Computes the parent's
    /// bounds like the reference library.
    pub(crate) fn push_parent(&mut self, from: &Self, children: Range<usize>) {
        match (self, from) {
            (Self::Fixed(column), Self::Fixed(from)) => {
                let bounds = children.filter_map(|child| from.get(child));
                if let Some((lo, hi)) = bounds.reduce(|own, child| combine(column.kind, own, child)) {
                    column.push(lo, hi);
                }
            }
            (Self::Var(column), Self::Var(from)) => {
                let bounds = children.filter_map(|child| from.get(child));
                if let Some((lo, hi)) = bounds.reduce(|own, child| (own.0.min(child.0), own.1.max(child.1))) {
                    column.push(lo, hi);
                }
            }
            _ => debug_assert!(false, "columns of a dimension have the same kind"),
        }
    }

    /// Appends the nodes of another column of the same dimension.
    pub(crate) fn append(&mut self, other: &Self) {
        match (self, other) {
            (Self::Fixed(column), Self::Fixed(other)) => {
                column.lo.extend_from_slice(&other.lo);
                column.hi.extend_from_slice(&other.hi);
                column.has_nan |= other.has_nan;
            }
            (Self::Var(column), Self::Var(other)) => {
                let start = column.bytes.len();
                column.ends.extend(other.ends.iter().map(|end| start.saturating_add(*end)));
                column.bytes.extend_from_slice(&other.bytes);
            }
            _ => debug_assert!(false, "columns of a dimension have the same kind"),
        }
    }

    /// Returns `true` if `parent` contains all `children`.
    pub(crate) fn covers(&self, parent: usize, children: Range<usize>) -> bool {
        match self {
            Self::Fixed(column) => column.covers(parent, children),
            Self::Var(column) => column.bounds(parent).is_some_and(|(lo, hi)| {
                let within = |end: Option<&[u8]>| hi.is_none_or(|hi| end.is_some_and(|end| end <= hi));
                children.filter_map(|child| column.bounds(child)).all(|child| lo <= child.0 && within(child.1))
            }),
        }
    }

    /// Returns the memory used by the bounds, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Fixed(column) => size_of_val(&*column.lo) + size_of_val(&*column.hi),
            Self::Var(column) => size_of_val(&*column.bytes) + size_of_val(&*column.ends),
        }
    }
}

impl FixedColumn {
    /// Returns the lower and upper bounds of consecutive nodes.
    pub(crate) fn bounds(&self, nodes: Range<usize>) -> (&[u64], &[u64]) {
        (self.lo.get(nodes.clone()).unwrap_or_default(), self.hi.get(nodes).unwrap_or_default())
    }

    #[inline]
    fn push(&mut self, lo: u64, hi: u64) {
        self.lo.push(lo);
        self.hi.push(hi);
        self.has_nan |= self.kind.bounds_nothing(lo, hi);
    }

    fn get(&self, node: usize) -> Option<(u64, u64)> {
        Some((*self.lo.get(node)?, *self.hi.get(node)?))
    }

    /// Returns bounds guaranteed to contain all coordinates of a node.
    pub(crate) fn bounds_of(&self, node: usize) -> Option<(u64, u64)> {
        self.get(node).map(|(lo, hi)| self.widen(lo, hi))
    }

    /// Converts stored bounds to bounds guaranteed to contain all coordinates.
    pub(crate) fn widen(&self, lo: u64, hi: u64) -> (u64, u64) {
        if self.uncertain { (0, self.kind.max_key()) } else { self.kind.widen(lo, hi) }
    }

    fn covers(&self, parent: usize, children: Range<usize>) -> bool {
        let Some((lo, hi)) = self.get(parent) else { return false };
        let (los, his) = self.bounds(children);
        let lowest = los.iter().copied().min().unwrap_or(u64::MAX);
        let highest = his.iter().copied().max().unwrap_or(0);
        if self.has_nan {
            let mut children = los.iter().zip(his).map(|(lo, hi)| self.widen(*lo, *hi));
            let (lo, hi) = self.widen(lo, hi);
            return children.all(|child| lo <= child.0 && child.1 <= hi);
        }
        // Queries treat `0.0` and `-0.0` as equal. A parent with one zero as a bound therefore
        // contains children with the other zero as a bound.
        let (lo, hi) = self.kind.widen_zeros(lo, hi);
        lo <= lowest && highest <= hi
    }

    /// Appends the bounds of all nodes in `bytes`. A node takes `stride` bytes, and the bounds in
    /// this dimension begin at byte `at` of the node. `offset` is the file offset of `bytes`, for
    /// errors. An error also contains the index of the node.
    pub(crate) fn extend_strided(
        &mut self,
        bytes: &[u8],
        offset: u64,
        stride: usize,
        at: usize,
    ) -> Result<(), (usize, DecodeError)> {
        /// Number of nodes gathered at a time, small enough for the L1 cache.
        const BATCH: usize = 128;
        let width = 2 * self.kind.datatype.size();
        let mut gathered = Vec::with_capacity(BATCH * width);
        let mut keys = Vec::with_capacity(BATCH * 2);
        let first = self.lo.len();
        for nodes in bytes.chunks(stride.saturating_mul(BATCH).max(1)) {
            gathered.clear();
            match width {
                2 => gather::<2>(nodes, stride, at, &mut gathered),
                4 => gather::<4>(nodes, stride, at, &mut gathered),
                8 => gather::<8>(nodes, stride, at, &mut gathered),
                _ => gather::<16>(nodes, stride, at, &mut gathered),
            }
            keys.clear();
            tdb_types::ordered_keys(self.kind.physical(), &gathered, &mut keys);
            let pairs = keys.as_chunks::<2>().0;
            if let Some(&[lo, hi]) = pairs.iter().find(|[lo, hi]| lo > hi && self.kind.is_backwards(*lo, *hi)) {
                let before = pairs.iter().take_while(|pair| **pair != [lo, hi]).count();
                let index = self.lo.len().saturating_sub(first).saturating_add(before);
                let place = index.saturating_mul(stride).saturating_add(at) as u64;
                return Err((index, self.kind.backwards(offset.saturating_add(place), lo, hi)));
            }
            self.lo.extend(pairs.iter().map(|pair| pair[0]));
            self.hi.extend(pairs.iter().map(|pair| pair[1]));
            self.has_nan |= pairs.iter().any(|[lo, hi]| self.kind.bounds_nothing(*lo, *hi));
        }
        Ok(())
    }
}

/// Appends `N` bytes of each node, from byte `at` on. A constant length compiles to one or two
/// moves.
fn gather<const N: usize>(nodes: &[u8], stride: usize, at: usize, gathered: &mut Vec<u8>) {
    for node in nodes.chunks_exact(stride.max(1)) {
        if let Some(bounds) = node.get(at..).and_then(<[u8]>::first_chunk::<N>) {
            gathered.extend_from_slice(bounds);
        }
    }
}

impl VarColumn {
    fn push(&mut self, lo: &[u8], hi: &[u8]) {
        for bound in [lo, hi] {
            self.bytes.extend_from_slice(bound);
            self.ends.push(self.bytes.len());
        }
    }

    /// Returns the lower and upper bound of a node.
    pub(crate) fn get(&self, node: usize) -> Option<(&[u8], &[u8])> {
        let first = node.checked_mul(2)?;
        let start = match first.checked_sub(1) {
            None => 0,
            Some(before) => *self.ends.get(before)?,
        };
        let (middle, end) = (*self.ends.get(first)?, *self.ends.get(first.checked_add(1)?)?);
        Some((self.bytes.get(start..middle)?, self.bytes.get(middle..end)?))
    }
}

/// Columns are equal if their stored bounds are equal.
impl PartialEq for FixedColumn {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.lo == other.lo && self.hi == other.hi
    }
}

/// Columns are equal if their stored bounds are equal.
impl PartialEq for VarColumn {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.ends == other.ends
    }
}

impl VarColumn {
    /// Returns bounds guaranteed to contain all strings of a node. The upper bound is `None` if the
    /// node is unbounded above.
    pub(crate) fn bounds(&self, node: usize) -> Option<(&[u8], Option<&[u8]>)> {
        let (lo, hi) = self.get(node)?;
        Some((lo, (!self.uncertain || !lo.is_empty()).then_some(hi)))
    }
}

/// Extends the bounds of a parent by the bounds of its next child. `own` are the bounds over the
/// children so far.
///
/// The reference library keeps the child's bound if two floating-point bounds are equal (the two
/// zeros) or unordered (NaN). This function does the same, for identical bytes. A parent may
/// therefore fail to contain its first children, if they have NaN bounds and a later child has
/// numbers. Readers must therefore check a tree before they trust it.
fn combine(kind: DimensionKind, own: (u64, u64), child: (u64, u64)) -> (u64, u64) {
    if !kind.physical().is_float() {
        return (own.0.min(child.0), own.1.max(child.1));
    }
    let below = |a: u64, b: u64| {
        let (a, b): (Scalar, Scalar) = (kind.scalar(a), kind.scalar(b));
        a < b
    };
    let lo = if below(own.0, child.0) { own.0 } else { child.0 };
    let hi = if below(child.1, own.1) { own.1 } else { child.1 };
    (lo, hi)
}
