//! The fields of a result, and their tiles in each fragment.

use std::sync::Arc;

use tdb_cells::{Pool, WEIGHT_OF_MORE};
use tdb_query::scan::FieldSet;
use tdb_query::{CheckedQuery, Relevant};
use tdb_schema::FieldRef;
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{OutputField, Result, Snapshot, prefetch};

use crate::copy::BoxCopy;
use crate::work::{Origin, Source, Work};

/// The fields of a result, and their tiles in the fragments used so far.
#[derive(Debug)]
pub(super) struct Fields {
    array: Snapshot,
    /// Fields of the query, followed by further fields of its condition.
    pub(super) outputs: Vec<OutputField>,
    /// Number of fields of the query.
    pub(super) visible: usize,
    /// Tiles by field and fragment. `None` until the fragment is loaded.
    tiles: Vec<Vec<Option<Found>>>,
    /// Buffers for strings unfiltered to determine lengths. Successive batches need about the same
    /// memory.
    spares: Pool<Vec<u8>>,
}

/// The tiles of a field in a fragment. `None` if the fragment's schema lacks the field, or has it
/// with an incompatible type. The cells of the fragment then read as the fill value.
type Found = Option<Arc<FieldTiles>>;

impl Fields {
    pub(super) fn new(query: &CheckedQuery) -> Result<Self> {
        let array = query.array.clone();
        let mut outputs = OutputField::all(&query.array, &query.fields)?;
        let visible = outputs.len();
        for needed in query.filter.iter().flat_map(|filter| filter.fields()) {
            if !outputs.iter().any(|output| output.field == needed.field) {
                outputs.push(OutputField::of(array.schema(), needed.field));
            }
        }
        let tiles = vec![vec![None; array.fragments()?.len()]; outputs.len()];
        let fields: Vec<FieldRef> = outputs.iter().map(|output| output.field).collect();
        let attributes: Vec<FieldRef> =
            fields.into_iter().filter(|field| matches!(field, FieldRef::Attribute(_))).collect();
        let filter = query.filter.as_deref().map(std::slice::from_ref).unwrap_or_default();
        // Footers alone determine which cells hide older cells.
        let relevant = Relevant::of(&array, query.region.ranges(), filter, false)?.fragments;
        prefetch((&**array.storage(), array.workers()), array.schema(), &relevant, &attributes)?;
        Ok(Self { array, outputs, visible, tiles, spares: Pool::default() })
    }

    /// Returns the folder of the array, for messages.
    pub(super) fn folder(&self) -> String {
        self.array.storage().describe("")
    }

    /// Returns a field with its loaded tiles.
    pub(super) fn field(&self, index: usize) -> Field<'_> {
        Field { output: &self.outputs[index], tiles: &self.tiles[index], spares: &self.spares }
    }

    /// Returns the work of unfiltering `bytes` bytes of a field, in the unit of `Workers`.
    pub(super) fn work(&self, index: usize, bytes: usize) -> u64 {
        self.array.schema().filters_of(self.outputs[index].field).work(bytes as u64)
    }

    /// Returns `true` if a fragment stores one of the fields. [Load](Self::load_fragments) the
    /// fragment first.
    pub(super) fn stores(&self, fragment: usize) -> bool {
        (0..self.outputs.len()).any(|index| self.field(index).tiles_in(fragment).is_some())
    }

    /// Returns the query's fields that a fragment lacks. [Load](Self::load_fragments) the fragment
    /// first.
    pub(super) fn lacking(&self, fragment: usize) -> FieldSet {
        let mut lacking = FieldSet::NONE;
        for (index, output) in self.outputs[..self.visible].iter().enumerate() {
            let is_loaded = self.tiles[index].get(fragment).is_some_and(Option::is_some);
            debug_assert!(is_loaded || matches!(output.field, FieldRef::Dimension(_)));
            if matches!(output.field, FieldRef::Attribute(_)) && self.field(index).tiles_in(fragment).is_none() {
                lacking.insert(index);
            }
        }
        lacking
    }

    /// Loads the tiles of all attributes in the fragments that the works need.
    pub(super) fn load(&mut self, works: &[Work]) -> Result<()> {
        let origins = works.iter().flat_map(|work| &work.sources).filter_map(Source::fragment);
        let mut fragments: Vec<usize> = origins.collect();
        fragments.sort_unstable();
        fragments.dedup();
        self.load_fragments(&fragments)
    }

    pub(super) fn load_fragments(&mut self, fragments: &[usize]) -> Result<()> {
        let missing: Vec<(usize, usize)> = (0..self.outputs.len())
            .filter(|&field| matches!(self.outputs[field].field, FieldRef::Attribute(_)))
            .flat_map(|field| fragments.iter().map(move |&fragment| (field, fragment)))
            .filter(|&(field, fragment)| self.tiles[field][fragment].is_none())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (array, outputs) = (&self.array, &self.outputs);
        let weight = missing.len() as u64 * WEIGHT_OF_MORE;
        let found = array.workers().map(weight, missing.clone(), |(field, fragment), _| {
            array.fragments()?[fragment].field_tiles(array.schema(), outputs[field].field)
        })?;
        for ((field, fragment), found) in missing.into_iter().zip(found) {
            self.tiles[field][fragment] = Some(found);
        }
        Ok(())
    }

    /// Estimates the bytes of the works' cells in all fields.
    pub(super) fn bytes(&self, works: &[Work], cells_per_tile: u64) -> u64 {
        let cells: u64 = works.iter().map(|work| work.cells.len() as u64).sum();
        let fields = (0..self.outputs.len()).map(|index| self.field(index));
        let bytes = fields.map(|field| match field.output.cell_size() {
            Some(_) => field.cell_bytes().saturating_mul(cells),
            None => {
                let values =
                    works.iter().flat_map(|work| &work.sources).map(|source| field.var_bytes(source, cells_per_tile));
                values.fold(field.cell_bytes().saturating_mul(cells), u64::saturating_add)
            }
        });
        bytes.fold(0, u64::saturating_add)
    }
}

/// A field of a result, with its tiles in each loaded fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) output: &'a OutputField,
    tiles: &'a [Option<Found>],
    /// Buffers for strings.
    pub(super) spares: &'a Pool<Vec<u8>>,
}

impl<'a> Field<'a> {
    /// Returns the tiles of a source's fragment. Returns `None` for unwritten cells, or if the
    /// fragment lacks the field.
    pub(super) fn tiles(self, source: &Source) -> Option<&'a FieldTiles> {
        self.tiles_in(source.fragment()?)
    }

    /// Returns the tiles of a fragment, or `None` if the fragment lacks the field.
    pub(super) fn tiles_in(self, fragment: usize) -> Option<&'a FieldTiles> {
        self.tiles.get(fragment)?.as_ref()?.as_deref()
    }

    /// Returns the bytes of each cell, independent of the content. Includes the value, or for
    /// variable length the offset and the bookkeeping, and the validity.
    pub(super) fn cell_bytes(self) -> u64 {
        let value = self.output.cell_size().map_or(16, |size| size as u64);
        value + 2 * u64::from(self.output.nullable)
    }

    /// Estimates the bytes of a source's variable-length cells.
    fn var_bytes(self, source: &Source, cells_per_tile: u64) -> u64 {
        let cells: u64 = source.copies.iter().map(|copy| copy.cells() as u64).sum();
        let size = match (source.origin, self.tiles(source)) {
            (Origin::Tile { tile, .. }, Some(tiles)) => tiles.var_size(tile),
            _ => return cells.saturating_mul(self.output.fill.len() as u64),
        };
        let share = u128::from(size) * u128::from(cells) / u128::from(cells_per_tile.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

impl Source {
    pub(super) fn new(origin: Origin, copies: Vec<BoxCopy>) -> Self {
        let mut source = Self { origin, written_by: None, ruled_out: None, copies };
        source.written_by = source.fragment();
        source
    }

    /// Returns the index of the fragment that the cells are read from.
    pub(super) fn fragment(&self) -> Option<usize> {
        match self.origin {
            Origin::Fill => None,
            Origin::Tile { fragment, .. } => Some(fragment),
        }
    }
}
