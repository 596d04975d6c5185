//! Groups of cells that are equal in some fields.

mod column;
mod table;

use std::vec;

use tdb_types::Cells;

use crate::key::{KeyShape, Keys};
use crate::kind::{Measured, ValueKind};
use crate::summary::Summary;
use column::GroupColumn;
use table::Table;

/// What is known of the cells of each group: how many there are, and a [`Summary`] of each measured field.
///
/// Groups are told apart by hashes, and given in the order of their keys. They hold about as much memory as they may: where more
/// are found, the greater half of the keys is let go of, and with it all greater keys that come. Once all cells have
/// been added, [`finish`](Self::finish) gives the groups, and what has to be filled with the same cells once more to get
/// the others.
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
    /// The values of the key's fields, in little-endian bytes; `None` is a null.
    pub key: Vec<Option<Vec<u8>>>,
    /// How many cells it has.
    pub cells: u64,
    /// What is known of the measured fields, in their order.
    pub summaries: Vec<Summary>,
}

/// Cells that are looked at before memory is: so few that the groups that they bring don't matter.
const BLOCK: usize = 4096;

/// Runs an expression for the table of either kind.
macro_rules! with_table {
    ($table:expr, $inner:ident => $body:expr) => {
        match $table {
            AnyTable::Packed($inner) => $body,
            AnyTable::Bytes($inner) => $body,
        }
    };
}

impl Groups {
    /// No groups yet, by keys of this shape; of each of the `measured` fields something is to be known. They may take about so
    /// many bytes of `memory`.
    #[must_use]
    pub fn new(shape: KeyShape, measured: &[(ValueKind, Measured)], memory: usize) -> Self {
        let table =
            if shape.is_packed() { AnyTable::Packed(Table::default()) } else { AnyTable::Bytes(Table::default()) };
        let columns = measured.iter().map(|(kind, measured)| GroupColumn::new(*kind, *measured)).collect();
        Self { shape, table, cells: Vec::new(), columns, memory }
    }

    /// Groups without cells that take the same keys, to be filled apart and [merged](Self::merge) then.
    #[must_use]
    pub fn part(&self, memory: usize) -> Self {
        let table = match &self.table {
            AnyTable::Packed(table) => AnyTable::Packed(table.part()),
            AnyTable::Bytes(table) => AnyTable::Bytes(table.part()),
        };
        let columns = self.columns.iter().map(GroupColumn::part).collect();
        Self { shape: self.shape.clone(), table, cells: Vec::new(), columns, memory }
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds cells: those with the indices that are picked, or all `count` of them. `keys` has the cells of the fields that they are
    /// grouped by, `measured` those that are measured; `None` of a field of which they have no values, nor nulls.
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

    /// Adds so many cells of one group, that of the first cell of `keys`, which have no values of the measured fields.
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

    /// Adds the cells of groups of the same fields, of other cells.
    pub fn merge(&mut self, other: Self) {
        let mut groups = Vec::new();
        let is_lowered = match (&mut self.table, other.table) {
            (AnyTable::Packed(table), AnyTable::Packed(other)) => table.merge(other, &mut groups),
            (AnyTable::Bytes(table), AnyTable::Bytes(other)) => table.merge(other, &mut groups),
            // They have the same shape.
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
        // A part may have let go of keys that are here.
        if is_lowered {
            self.drop_beyond();
        }
        self.keep_to_memory();
    }

    /// The groups in the order of their keys, and, if there may be others, what takes them.
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

    /// Makes room for groups that are new.
    fn resize(&mut self) {
        let groups = with_table!(&self.table, table => table.len());
        self.cells.resize(groups, 0);
        self.columns.iter_mut().for_each(|column| column.resize(groups));
    }

    /// Bytes of memory that the groups take, about.
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

    /// Lets go of groups whose keys aren't taken any more.
    fn drop_beyond(&mut self) {
        let kept = with_table!(&mut self.table, table => table.drop_beyond());
        let Some(kept) = kept else { return };
        self.cells = kept.iter().map(|group| self.cells[*group as usize]).collect();
        self.columns.iter_mut().for_each(|column| column.keep(&kept));
    }
}

/// Keys in their order, each with its group.
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
