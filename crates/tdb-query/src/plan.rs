//! Query plans: the tiles and bytes of a query, known before reading cells.

mod left_out;

use std::fmt;
use std::ops::Range;

use tdb_cells::Order;
use tdb_snapshot::Result;
use tdb_snapshot::tiles::PartTiles;
use tdb_types::names::file_name;

pub use left_out::{FragmentsLeftOut, PrunedBy, PrunedTiles};

/// A query plan: the tiles of fragments and the byte ranges of files to be read.
///
/// The text form is the output of `tdb read --explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The order of the result.
    pub order: Order,
    /// The selected fields.
    pub fields: Vec<String>,
    /// The selected labels. Reads of label arrays depend on the coordinates found, and are not part
    /// of the plan.
    pub labels: Vec<String>,
    /// The fragments that are not skipped, oldest first.
    pub fragments: Vec<FragmentPlan>,
    /// The skipped fragments.
    pub left_out: FragmentsLeftOut,
}

/// The part of a plan for a single fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentPlan {
    /// The path of the fragment folder.
    pub folder: String,
    /// The total number of tiles in the fragment.
    pub tile_count: u64,
    /// The number of tiles without a cell in the query's ranges, according to MBRs (sparse
    /// fragments) or the tile grid (dense fragments).
    pub outside: u64,
    /// The number of tiles hidden by newer fragments within the query's ranges (dense arrays).
    pub hidden: u64,
    /// The number of tiles pruned because no cell meets the query's condition.
    pub pruned: usize,
    /// The pruned tiles by the reason for pruning.
    pub pruned_by: Vec<PrunedTiles>,
    /// Selected attributes with late materialization. These attributes are unfiltered only around
    /// cells that meet the condition. Fixed-size cells are unfiltered by chunk, other cells by
    /// tile. The condition's own fields are unfiltered for all tiles not pruned.
    pub late: Vec<String>,
    /// The tiles to read, ascending.
    pub tiles: Vec<PlannedTile>,
    /// The bytes to read, by file.
    pub reads: Vec<FileReads>,
}

/// A tile to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTile {
    /// The index of the tile in the fragment.
    pub tile: u64,
    /// `true` if the whole tile is in the region.
    pub full: bool,
    /// The number of cells in the tile.
    pub cells: u64,
}

/// The byte ranges to read from a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReads {
    /// The field.
    pub field: String,
    /// The path of the data file below the array's folder.
    pub file: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// The byte ranges of the tiles, ascending, with adjacent ranges merged.
    pub ranges: Vec<Range<u64>>,
}

impl FileReads {
    /// Creates the reads for ascending tiles of a field's file.
    ///
    /// # Errors
    /// A tile does not exist.
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
    /// Returns the number of tiles to unfilter, counted once per fragment and not per field.
    #[must_use]
    pub fn tile_count(&self) -> usize {
        self.fragments.iter().map(|fragment| fragment.tiles.len()).sum()
    }

    /// Returns the number of bytes to read from data files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.fragments.iter().flat_map(|fragment| &fragment.reads).map(FileReads::bytes).sum()
    }
}

impl FileReads {
    /// Returns the number of bytes to read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Appends a range at or after the end of the last range.
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
            writeln!(f, "labels    {}; reads of the label arrays are not included", self.labels.join(", "))?;
        }
        writeln!(f, "order     {}", self.order)?;
        writeln!(f, "touches   {} tiles, {} bytes", self.tile_count(), self.bytes())?;
        if self.left_out.count() > 0 {
            let what = if self.left_out.count() == 1 { "fragment" } else { "fragments" };
            writeln!(f, "skipped   {} {what}: {}", self.left_out.count(), self.left_out)?;
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
            1 => writeln!(f, "  skipped 1 tile {why}"),
            tiles => writeln!(f, "  skipped {tiles} tiles {why}"),
        };
        without(self.outside, &"outside of the ranges")?;
        without(self.hidden, &"hidden by newer fragments")?;
        for pruned in &self.pruned_by {
            without(pruned.tiles, &format_args!("that cannot match the condition, according to {}", pruned.by))?;
        }
        if !self.late.is_empty() {
            writeln!(f, "  late    {}: read only where cells match the condition", self.late.join(", "))?;
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

/// Formats runs of tiles, with `~` before tiles only partly in the region.
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
