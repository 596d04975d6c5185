//! What a query would touch: known before a cell is read, and printable.

mod left_out;

use std::fmt;
use std::ops::Range;

use tdb_cells::Order;
use tdb_snapshot::Result;
use tdb_snapshot::tiles::PartTiles;
use tdb_types::names::file_name;

pub use left_out::{FragmentsLeftOut, PrunedBy, PrunedTiles};

/// What a query would touch: which tiles of which fragments, and which bytes of which files.
///
/// It prints as text, which is what `tdb read --explain` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The order of the result.
    pub order: Order,
    /// The selected fields.
    pub fields: Vec<String>,
    /// The selected labels. What is read of their arrays depends on the coordinates that are found, and isn't planned.
    pub labels: Vec<String>,
    /// The fragments that hold something of the region, oldest first.
    pub fragments: Vec<FragmentPlan>,
    /// The other ones.
    pub left_out: FragmentsLeftOut,
}

/// What a query would touch of one fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentPlan {
    /// The fragment's folder.
    pub folder: String,
    /// How many tiles the fragment has in all.
    pub tile_count: u64,
    /// How many tiles have no cell in the query's ranges, as their boxes say.
    pub outside: u64,
    /// How many tiles newer fragments hide, as far as they lie in the query's ranges (dense arrays).
    pub hidden: u64,
    /// How many tiles were left out because no cell of theirs fulfils the query's condition.
    pub pruned: usize,
    /// The same by what says so.
    pub pruned_by: Vec<PrunedTiles>,
    /// Selected attributes of which only what holds a cell that fulfils the condition is unfiltered: of cells of fixed size the
    /// chunks, else the tiles. Of the condition's own fields it is all that wasn't left out.
    pub late: Vec<String>,
    /// The tiles wanted, ascending.
    pub tiles: Vec<PlannedTile>,
    /// The bytes wanted, file by file.
    pub reads: Vec<FileReads>,
}

/// One tile that a query would touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTile {
    /// The tile's index in the fragment.
    pub tile: u64,
    /// Whether the whole of it lies in the region.
    pub full: bool,
    /// How many cells it has.
    pub cells: u64,
}

/// Bytes that a query would read of one data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReads {
    /// The field.
    pub field: String,
    /// The data file below the array's folder.
    pub file: String,
    /// The file's size in bytes.
    pub size: u64,
    /// Where the tiles lie in it: ascending, neighbours merged.
    pub ranges: Vec<Range<u64>>,
}

impl FileReads {
    /// Those of some tiles of one file of a field.
    pub fn of(field: &str, part: &PartTiles, tiles: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut reads =
            Self { field: field.to_owned(), file: part.name.clone(), size: part.file.size(), ranges: Vec::new() };
        for tile in tiles {
            reads.push(part.range(tile)?);
        }
        Ok(reads)
    }
}

impl Plan {
    /// How many tiles would be unfiltered, counted once per fragment and not per field.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.fragments.iter().map(|fragment| fragment.tiles.len()).sum()
    }

    /// How many bytes of data files would be read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.fragments.iter().flat_map(|fragment| &fragment.reads).map(FileReads::bytes).sum()
    }
}

impl FileReads {
    /// How many bytes would be read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Appends a range, which begins at or after the ends of those before it.
    pub(crate) fn push(&mut self, range: Range<u64>) {
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.ranges.push(range),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "fields    {}", self.fields.join(", "))?;
        if !self.labels.is_empty() {
            writeln!(f, "labels    {}; what is read of their arrays comes on top", self.labels.join(", "))?;
        }
        writeln!(f, "order     {}", self.order)?;
        writeln!(f, "touches   {} tiles, {} bytes", self.tile_count(), self.bytes())?;
        if self.left_out.count() > 0 {
            let what = if self.left_out.count() == 1 { "fragment" } else { "fragments" };
            writeln!(f, "left out  {} {what}: {}", self.left_out.count(), self.left_out)?;
        }
        for fragment in &self.fragments {
            fragment.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for FragmentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: u64 = self.tiles.iter().map(|tile| tile.cells).sum();
        writeln!(f, "{}", self.folder)?;
        writeln!(
            f,
            "  tiles   {} of {}, {cells} cells: {}",
            self.tiles.len(),
            self.tile_count,
            tile_list(&self.tiles)
        )?;
        let mut without = |tiles: u64, why: &dyn fmt::Display| match tiles {
            0 => Ok(()),
            1 => writeln!(f, "  without 1 tile {why}"),
            tiles => writeln!(f, "  without {tiles} tiles {why}"),
        };
        without(self.outside, &"outside of the ranges")?;
        without(self.hidden, &"hidden by newer fragments")?;
        for pruned in &self.pruned_by {
            without(pruned.tiles, &format_args!("that can't fulfil the condition, by {}", pruned.by))?;
        }
        if !self.late.is_empty() {
            writeln!(f, "  late    {}: only where cells fulfil the condition", self.late.join(", "))?;
        }
        for reads in &self.reads {
            let ranges: Vec<String> =
                reads.ranges.iter().take(8).map(|range| format!("{}..{}", range.start, range.end)).collect();
            let more = reads.ranges.len().saturating_sub(8);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let file = file_name(&reads.file);
            writeln!(f, "  {:<7} {file} {} bytes: {}{more}", reads.field, reads.bytes(), ranges.join(", "))?;
        }
        Ok(())
    }
}

/// Runs of tiles, `~` before those that lie in the region only in part.
fn tile_list(tiles: &[PlannedTile]) -> String {
    let runs = tiles.chunk_by(|a, b| a.tile + 1 == b.tile && a.full == b.full);
    let mut text: Vec<String> = runs
        .take(16)
        .map(|run| {
            let mark = if run[0].full { "" } else { "~" };
            match run {
                [tile] => format!("{mark}{}", tile.tile),
                [first, .., last] => format!("{mark}{}-{}", first.tile, last.tile),
                [] => String::new(),
            }
        })
        .collect();
    if tiles.chunk_by(|a, b| a.tile + 1 == b.tile && a.full == b.full).nth(16).is_some() {
        text.push("…".to_owned());
    }
    text.join(" ")
}
