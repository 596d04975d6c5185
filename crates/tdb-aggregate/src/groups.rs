//! Groups of cells with equal keys.

mod column;
mod table;

use std::vec;

use tdb_types::Cells;

use crate::key::{KeyShape, Keys};
use crate::kind::{Measured, ValueKind};
use crate::summary::Summary;
use column::GroupColumn;
use table::Table;

/// Aggregates by group: the number of cells of each group, and a [`Summary`] of each measured
/// field.
///
/// A hash table finds the group of a cell. Groups are returned in the order of their keys. Memory
/// is bounded. If the groups exceed the limit, the upper half of the keys is dropped, and larger
/// keys are ignored from then on. After all cells have been added, [`finish`](Self::finish) returns
/// the groups. If groups were dropped, `finish` also returns an empty `Groups` for the dropped
/// keys, for another pass over the same cells.
#[derive(Debug)]
pub struct Groups {
    shape: KeyShape,
    table: AnyTable,
    cells: Vec<u64>,
    columns: Vec<GroupColumn>,
    memory: usize,
}

#[derive(Debug)]
enum AnyTable {
    Packed(Table<u128>),
    Bytes(Table<[u8]>),
}

/// A group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// The values of the key's fields, in little-endian bytes. `None` for null.
    pub key: Vec<Option<Vec<u8>>>,
    /// The number of cells in the group.
    pub cells: u64,
    /// The summaries of the measured fields, in order.
    pub summaries: Vec<Summary>,
}

/// The number of cells between checks of memory use. The memory of the groups of this many cells is
/// negligible.
const BLOCK: usize = 4096;

/// Runs an expression for either kind of table.
macro_rules! with_table {
    ($table:expr, $inner:ident => $body:expr) => {
        match $table {
            AnyTable::Packed($inner) => $body,
            AnyTable::Bytes($inner) => $body,
        }
    };
}

impl Groups {
    /// Creates an empty set of groups with keys of this shape.
    ///
    /// Each of the `measured` fields gets a summary. `memory` is the approximate limit in bytes.
    #[must_use]
    pub fn new(shape: KeyShape, measured: &[(ValueKind, Measured)], memory: usize) -> Self {
        let table = if shape.packed { AnyTable::Packed(Table::default()) } else { AnyTable::Bytes(Table::default()) };
        let columns = measured.iter().map(|(kind, measured)| GroupColumn::new(*kind, *measured)).collect();
        Self { shape, table, cells: Vec::new(), columns, memory }
    }

    /// Returns an empty set of groups with the same key range, and a separate limit of `memory`
    /// bytes. Add cells to the returned set, then [merge](Self::merge) it.
    #[must_use]
    pub fn part(&self, memory: usize) -> Self {
        let table = match &self.table {
            AnyTable::Packed(table) => AnyTable::Packed(table.part()),
            AnyTable::Bytes(table) => AnyTable::Bytes(table.part()),
        };
        let columns = self.columns.iter().map(GroupColumn::part).collect();
        Self { shape: self.shape.clone(), table, cells: Vec::new(), columns, memory }
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns `true` if there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds all `count` cells, or the cells with indices `picked`.
    ///
    /// `keys` has the cells of the key fields, `measured` the cells of the measured fields. An
    /// entry of `None` adds neither values nor nulls to the summaries of the field.
    pub fn add(&mut self, keys: &[Cells<'_>], measured: &[Option<Cells<'_>>], count: usize, picked: Option<&[u32]>) {
        let mut all = Vec::new();
        let mut groups = Vec::new();
        let cells = picked.map_or(count, <[u32]>::len);
        for start in (0..cells).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(cells);
            let picked = match picked {
                Some(picked) => &picked[block],
                None => {
                    all.clear();
                    all.extend(block.map(|cell| u32::try_from(cell).unwrap_or(u32::MAX)));
                    &all[..]
                }
            };
            self.find(&self.shape.keys(keys, picked), &mut groups);
            self.resize();
            for group in &groups {
                if let Some(cells) = self.cells.get_mut(*group as usize) {
                    *cells = cells.saturating_add(1);
                }
            }
            for (column, cells) in self.columns.iter_mut().zip(measured) {
                if let Some(cells) = cells {
                    column.add(cells, picked, &groups);
                }
            }
            self.keep_to_memory();
        }
    }

    /// Adds `count` cells to the group of the first cell of `keys`, without values of the measured
    /// fields.
    pub fn add_same(&mut self, keys: &[Cells<'_>], count: u64) {
        let mut groups = Vec::new();
        self.find(&self.shape.keys(keys, &[0]), &mut groups);
        self.resize();
        let Some(group) = groups.first().map(|group| *group as usize).filter(|group| *group < self.len()) else {
            return;
        };
        self.cells[group] = self.cells[group].saturating_add(count);
        self.keep_to_memory();
    }

    /// Adds the groups of `other`, which must have the same fields and no cell in common.
    pub fn merge(&mut self, other: Self) {
        let mut groups = Vec::new();
        let is_lowered = match (&mut self.table, other.table) {
            (AnyTable::Packed(table), AnyTable::Packed(other)) => table.merge(other, &mut groups),
            (AnyTable::Bytes(table), AnyTable::Bytes(other)) => table.merge(other, &mut groups),
            // Both have the same shape.
            _ => return,
        };
        self.resize();
        for (cells, group) in other.cells.iter().zip(&groups) {
            if let Some(own) = self.cells.get_mut(*group as usize) {
                *own = own.saturating_add(*cells);
            }
        }
        for (column, other) in self.columns.iter_mut().zip(other.columns) {
            column.merge(other, &groups);
        }
        // The merged part may have dropped keys that are present here.
        if is_lowered {
            self.drop_beyond();
        }
        self.keep_to_memory();
    }

    /// Returns the groups in key order. If keys were dropped, also returns an empty set of groups
    /// for these keys.
    pub fn finish(self) -> (impl Iterator<Item = GroupRow>, Option<Self>) {
        let Self { shape, table, cells, columns, memory } = self;
        let rest = match &table {
            AnyTable::Packed(table) => table.rest().map(AnyTable::Packed),
            AnyTable::Bytes(table) => table.rest().map(AnyTable::Bytes),
        };
        let rest = rest.map(|table| {
            let columns = columns.iter().map(GroupColumn::part).collect();
            Self { shape: shape.clone(), table, cells: Vec::new(), columns, memory }
        });
        let keys = match table {
            AnyTable::Packed(table) => SortedKeys::Packed(table.into_sorted().into_iter()),
            AnyTable::Bytes(table) => SortedKeys::Bytes(table.into_sorted().into_iter()),
        };
        let rows = keys.map(move |(key, group)| {
            let group = group as usize;
            GroupRow {
                key: match key {
                    SortedKey::Packed(key) => shape.unpack(key),
                    SortedKey::Bytes(key) => shape.split(&key),
                },
                cells: cells.get(group).copied().unwrap_or(0),
                summaries: columns.iter().map(|column| column.summary(group)).collect(),
            }
        });
        (rows, rest)
    }

    fn find(&mut self, keys: &Keys, groups: &mut Vec<u32>) {
        groups.clear();
        match (&mut self.table, keys) {
            (AnyTable::Packed(table), Keys::Packed(keys)) => table.find(keys.iter(), groups),
            (AnyTable::Bytes(table), Keys::Bytes { ends, bytes }) => {
                let starts = std::iter::once(&0).chain(ends);
                table.find(starts.zip(ends).map(|(start, end)| &bytes[*start..*end]), groups);
            }
            // Keys have the shape of the table.
            _ => {}
        }
    }

    /// Adds entries for new groups.
    fn resize(&mut self) {
        let groups = with_table!(&self.table, table => table.len());
        self.cells.resize(groups, 0);
        self.columns.iter_mut().for_each(|column| column.resize(groups));
    }

    /// Returns the approximate memory use of the groups in bytes.
    fn used(&self) -> usize {
        let table = with_table!(&self.table, table => table.memory());
        table + self.cells.len() * size_of::<u64>() + self.columns.iter().map(GroupColumn::memory).sum::<usize>()
    }

    fn keep_to_memory(&mut self) {
        while self.used() > self.memory && self.len() > 1 {
            with_table!(&mut self.table, table => table.halve());
            self.drop_beyond();
        }
    }

    /// Removes groups outside of the key range.
    fn drop_beyond(&mut self) {
        let kept = with_table!(&mut self.table, table => table.drop_beyond());
        let Some(kept) = kept else { return };
        self.cells = kept.iter().map(|group| self.cells[*group as usize]).collect();
        self.columns.iter_mut().for_each(|column| column.keep(&kept));
    }
}

/// Keys in order, each with its group number.
#[derive(Debug)]
enum SortedKeys {
    Packed(vec::IntoIter<(u128, u32)>),
    Bytes(vec::IntoIter<(Box<[u8]>, u32)>),
}

#[derive(Debug)]
enum SortedKey {
    Packed(u128),
    Bytes(Box<[u8]>),
}

impl Iterator for SortedKeys {
    type Item = (SortedKey, u32);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Packed(keys) => keys.next().map(|(key, group)| (SortedKey::Packed(key), group)),
            Self::Bytes(keys) => keys.next().map(|(key, group)| (SortedKey::Bytes(key), group)),
        }
    }
}
