//! The bounds of many nodes in one dimension.

use std::ops::{Bound, Range};

use tdb_types::{ByteReader, ByteWriter, DecodeError, Feature, FormatVersion, Scalar};

use crate::stored::{read_strings, write_strings};
use crate::{DimRange, DimensionKind};

/// The bounds of nodes in one dimension, one after the other without pointers in between, so that a scan runs through
/// memory in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Fixed(FixedColumn),
    Var(VarColumn),
}

/// Bounds of a fixed-size type, as [ordered keys](tdb_types::ordered_key) of the very coordinates that are stored.
#[derive(Clone, Debug)]
pub(crate) struct FixedColumn {
    kind: DimensionKind,
    lo: Vec<u64>,
    hi: Vec<u64>,
    /// Whether some node bounds nothing, because of a NaN or because nobody computed it.
    has_nan: bool,
    /// Whether no node bounds anything.
    uncertain: bool,
}

/// Bounds that are strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarColumn {
    /// Lower and upper bound of each node in turn.
    bytes: Vec<u8>,
    /// Where in `bytes` the lower and the upper bound of each node end.
    ends: Vec<usize>,
    /// Whether nodes that begin at the empty string may have any strings.
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

    /// Takes into account what writers of the version stored wrongly.
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

    /// Appends the bounds of a node; the caller has checked that the range suits the dimension.
    pub(crate) fn push(&mut self, range: &DimRange) {
        match (self, range) {
            (Self::Fixed(column), DimRange::Fixed { lo, hi }) => column.push(*lo, *hi),
            (Self::Var(column), DimRange::Var { lo, hi: Bound::Included(hi) }) => column.push(lo, hi),
            _ => debug_assert!(false, "a range was not checked"),
        }
    }

    /// Reads and appends the bounds of a node.
    pub(crate) fn read(&mut self, reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        match self {
            Self::Fixed(column) => column.kind.read_keys(reader).map(|(lo, hi)| column.push(lo, hi)),
            Self::Var(column) => read_strings(reader).map(|(lo, hi)| column.push(lo, hi)),
        }
    }

    /// The stored bounds of a node.
    pub(crate) fn get(&self, node: usize) -> Option<DimRange> {
        match self {
            Self::Fixed(column) => column.get(node).map(|(lo, hi)| DimRange::Fixed { lo, hi }),
            Self::Var(column) => column.get(node).map(|(lo, hi)| DimRange::strings(lo, hi)),
        }
    }

    /// The bounds of a node in which all its coordinates lie for certain.
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

    /// Appends a node over `children`, nodes of `from`, with the bounds that the format's writers give it.
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
            _ => debug_assert!(false, "columns of one dimension are of one kind"),
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
            _ => debug_assert!(false, "columns of one dimension are of one kind"),
        }
    }

    /// Whether `parent` covers all of `children`.
    pub(crate) fn covers(&self, parent: usize, children: Range<usize>) -> bool {
        match self {
            Self::Fixed(column) => column.covers(parent, children),
            Self::Var(column) => column.bounds(parent).is_some_and(|(lo, hi)| {
                let within = |end: Option<&[u8]>| hi.is_none_or(|hi| end.is_some_and(|end| end <= hi));
                children.filter_map(|child| column.bounds(child)).all(|child| lo <= child.0 && within(child.1))
            }),
        }
    }

    /// Bytes of memory that the bounds take.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Fixed(column) => size_of_val(&*column.lo) + size_of_val(&*column.hi),
            Self::Var(column) => size_of_val(&*column.bytes) + size_of_val(&*column.ends),
        }
    }
}

impl FixedColumn {
    /// Lower and upper bounds of a run of nodes.
    pub(crate) fn bounds(&self, nodes: Range<usize>) -> (&[u64], &[u64]) {
        (self.lo.get(nodes.clone()).unwrap_or_default(), self.hi.get(nodes).unwrap_or_default())
    }

    /// Whether some bound is NaN; comparisons must then go through [`DimensionKind::widen`].
    pub(crate) fn has_nan(&self) -> bool {
        self.has_nan
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

    /// The bounds of a node in which all its coordinates lie for certain.
    pub(crate) fn bounds_of(&self, node: usize) -> Option<(u64, u64)> {
        self.get(node).map(|(lo, hi)| self.widen(lo, hi))
    }

    /// The bounds in which all coordinates of a node with these stored ones lie.
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
        // A parent that ends at one zero covers a child that ends at the other: queries always ask for both.
        let (lo, hi) = self.kind.widen_zeros(lo, hi);
        lo <= lowest && highest <= hi
    }

    /// Appends the bounds of nodes that lie in `bytes`, which begins at absolute `offset`, `stride` bytes apart, the
    /// first one `at` bytes from the start. An error comes with the number of its node among them.
    pub(crate) fn extend_strided(
        &mut self,
        bytes: &[u8],
        offset: u64,
        stride: usize,
        at: usize,
    ) -> Result<(), (usize, DecodeError)> {
        /// How many nodes are gathered at a time, to stay in the fastest cache.
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

/// Appends the `N` bytes at `at` of each node. With their number known, each is copied by a move or two.
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

    /// Lower and upper bound of a node.
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

/// Columns are equal if what is stored is.
impl PartialEq for FixedColumn {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.lo == other.lo && self.hi == other.hi
    }
}

/// The same.
impl PartialEq for VarColumn {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.ends == other.ends
    }
}

impl VarColumn {
    /// Lower and upper bound of a node, as far as they are certain; no upper one if there is none.
    pub(crate) fn bounds(&self, node: usize) -> Option<(&[u8], Option<&[u8]>)> {
        let (lo, hi) = self.get(node)?;
        Some((lo, (!self.uncertain || !lo.is_empty()).then_some(hi)))
    }
}

/// The bounds of a node over two others, `own` gathered so far and `child` the next.
///
/// Where two floating-point bounds are equal (the two zeros) or can't be compared (NaN), the format's writers keep that
/// of the child that came last, and so must we for the same bytes. It makes a node that doesn't cover its first children
/// if a later one's bounds are numbers and theirs NaN, which is one reason why a tree is checked before it is trusted.
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
