//! Facts computed from the cells of a fragment: statistics, MBRs, and first and last coordinates.

use tdb_array::tdb_fragment::{FragmentField, StatisticsKind, TileSummary};
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_types::Cells;
use tdb_array::{Array, Fragment, Monitor, TileReader};

use super::files::Walked;
use crate::verify::facts_of;
use tdb_job::Result;

/// Facts that the metadata records about cells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Statistics by field and tile.
    pub(super) summaries: Vec<Vec<TileSummary>>,
    /// MBRs by tile, for sparse fragments.
    pub(super) boxes: Vec<NdRange>,
    /// Bounding coordinates of formats 1 and 2: the first and the last cell of each tile.
    pub(super) ends: Vec<Vec<u8>>,
}

/// Facts about the coordinates of a tile along one dimension.
struct Coordinates {
    range: Option<DimRange>,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Facts {
    pub(super) fn of(array: &Array, fragment: &Fragment, walked: &Walked) -> Result<Self> {
        let mut facts = Self {
            summaries: Vec::with_capacity(walked.shape.fields.len()),
            boxes: walked.cells.iter().map(|_| NdRange(Vec::new())).collect(),
            ends: vec![Vec::new(); walked.cells.len()],
        };
        for field in &walked.shape.fields {
            if *field == FragmentField::Coordinates {
                facts.coordinates(array, fragment)?;
                facts.summaries.push(vec![TileSummary::default(); walked.cells.len()]);
            } else {
                facts.field(array, fragment, *field, walked.shape.dense)?;
            }
        }
        Ok(facts)
    }

    /// Adds the facts about a field with a separate file.
    fn field(&mut self, array: &Array, fragment: &Fragment, field: FragmentField, dense: bool) -> Result<()> {
        let schema = fragment.schema();
        let tiles = fragment.stored_tiles(field)?;
        let kind = StatisticsKind::of(schema, field);
        let dimension = match field {
            FragmentField::Dimension(index) if !dense => Some(schema.dimensions()[index].kind()),
            _ => None,
        };
        let read = |tile: u64, reader: &mut TileReader<'_>| {
            let cells = tiles.read(tile, reader)?;
            let range = dimension.and_then(|kind| DimRange::of_cells(&cells, kind));
            Ok((facts_of(kind, fragment.footer().tiles(), schema, tile, &cells).visible, range))
        };
        let read = array.tile_workers(&Monitor::new()).map(tiles.bytes(), (0..tiles.len()).collect(), read)?;
        let mut of_field = Vec::with_capacity(read.len());
        for (number, (summary, range)) in read.into_iter().enumerate() {
            self.boxes[number].0.extend(range);
            of_field.push(summary);
        }
        self.summaries.push(of_field);
        Ok(())
    }

    /// Adds the facts about all dimensions, which are stored in a combined file.
    fn coordinates(&mut self, array: &Array, fragment: &Fragment) -> Result<()> {
        let mut lasts = vec![Vec::new(); self.ends.len()];
        for (index, dimension) in fragment.schema().dimensions().iter().enumerate() {
            let (kind, tiles) = (dimension.kind(), fragment.stored_tiles(FragmentField::Dimension(index))?);
            let read = |tile: u64, reader: &mut TileReader<'_>| {
                let cells: Cells<'_> = tiles.read(tile, reader)?;
                let end = |cell: Option<&[u8]>| cell.map(<[u8]>::to_vec).unwrap_or_default();
                let (first, last) = (end(cells.fixed_cells().next()), end(cells.fixed_cells().last()));
                Ok(Coordinates { range: DimRange::of_cells(&cells, kind), first, last })
            };
            let read = array.tile_workers(&Monitor::new()).map(tiles.bytes(), (0..tiles.len()).collect(), read)?;
            for (number, Coordinates { range, first, last }) in read.into_iter().enumerate() {
                self.boxes[number].0.extend(range);
                self.ends[number].extend(first);
                lasts[number].extend(last);
            }
        }
        self.ends.iter_mut().zip(lasts).for_each(|(ends, last)| ends.extend(last));
        Ok(())
    }
}
