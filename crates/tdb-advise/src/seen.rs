//! Facts about an array from names, footers and a few sections.

use tdb_array::tdb_fragment::{FragmentField, Part};
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::{ArraySchema, FieldRef};
use tdb_array::tdb_storage::Counters;
use tdb_array::{Array, Fragment};
use tdb_types::CellValNum;

use crate::advice::{Advice, AdviceKind, AdviceLevel, AdvisedCommand, Figure};
use crate::costs::{Costs, MOST_FRAGMENTS, STRONG, scaled};
use crate::report::FieldFacts;
use std::time::Duration;
use tdb_job::{Result, fixed_size};

/// The current state of an array, with facts from its footers and sections.
pub(super) struct Seen {
    pub(super) array: Array,
    pub(super) costs: Costs,
    pub(super) opening: Counters,
    pub(super) fields: Vec<FieldFacts>,
    pub(super) stored: u64,
    pub(super) metadata: u64,
    /// Indices of the fragments whose sections were read.
    pub(super) chosen: Vec<usize>,
}

/// Totals of a field.
struct Sum {
    facts: FieldFacts,
    /// Variable-length values of the selected fragments: filtered and unfiltered size.
    var: (u64, u64),
    tiles: u64,
}

impl Seen {
    pub(super) fn of(array: &Array, costs: Costs) -> Result<Self> {
        let array = array.reopened()?;
        let fragments = array.fragments()?;
        let opening = array.counters();
        let chosen = spread(fragments.len(), MOST_FRAGMENTS);
        let mut sums: Vec<(String, Sum)> = Vec::new();
        for (number, fragment) in fragments.iter().enumerate() {
            add_fragment(&array, fragment, chosen.binary_search(&number).is_ok(), &mut sums)?;
        }
        let fields: Vec<FieldFacts> = sums.into_iter().map(|(_, sum)| sum.finish()).collect();
        let stored = fields.iter().map(FieldFacts::stored_bytes).fold(0, u64::saturating_add);
        // Requests only the file sizes of the chosen fragments. Requests for all fragments would
        // cost as much as consolidated footers save.
        let mut metadata = 0_u64;
        for &number in &chosen {
            let fragment = &fragments[number];
            metadata = metadata.saturating_add(fragment.bytes()?.saturating_sub(data_bytes(fragment)));
        }
        let metadata = scaled(metadata, fragments.len() as u64, chosen.len() as u64);
        Ok(Self { array, costs, opening, fields, stored, metadata, chosen })
    }

    pub(super) fn fragments(&self) -> Result<&[Fragment]> {
        Ok(self.array.fragments()?)
    }

    pub(super) fn schema(&self) -> &ArraySchema {
        self.array.schema()
    }

    /// Returns the number of requests for opening the array for the first time: listings and reads.
    pub(super) fn opening_requests(&self) -> u64 {
        self.opening.lists + self.opening.reads + self.opening.kept
    }

    /// Returns the numbers of tiles and cells in all fragments.
    pub(super) fn counts(&self) -> Result<(u64, u64)> {
        Ok(self.fragments()?.iter().fold((0, 0), |(tiles, cells): (u64, u64), fragment| {
            (tiles.saturating_add(fragment.tile_count()), cells.saturating_add(fragment.cell_count()))
        }))
    }

    /// Returns the fields that queries can select.
    pub(super) fn readable_fields(&self) -> impl Iterator<Item = &FieldFacts> {
        self.fields.iter().filter(|field| !field.name.starts_with("__"))
    }
}

/// Returns up to `most` evenly spread numbers below `count`, including the first and the last.
pub(super) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|number| number * (count - 1) / (most - 1).max(1)).collect()
}

/// Returns the size of a fragment's data files in bytes.
pub(super) fn data_bytes(fragment: &Fragment) -> u64 {
    let files = fragment.footer().slots().iter().flat_map(|field| fragment.files_of(field));
    files.fold(0, |sum, (_, _, bytes)| sum.saturating_add(bytes))
}

fn add_fragment(array: &Array, fragment: &Fragment, is_chosen: bool, sums: &mut Vec<(String, Sum)>) -> Result<()> {
    let schema = fragment.schema();
    for field in fragment.footer().slots().iter() {
        let files = fragment.files_of(field);
        if files.is_empty() {
            continue;
        }
        let ((name, number), size) = (shape(schema, field), fixed_size(schema, field));
        let place = match sums.iter().position(|(known, _)| *known == name) {
            Some(place) => place,
            None => {
                sums.push((name.clone(), Sum::new(array, name, number)));
                sums.len() - 1
            }
        };
        let sum = &mut sums[place].1;
        let tiles = fragment.footer().tiles();
        sum.tiles = sum.tiles.saturating_add(tiles.count());
        let cells = tiles.cell_count();
        for (part, _, bytes) in files {
            let (index, decoded) = match part {
                Part::Fixed => (0, cells.saturating_mul(size)),
                Part::Var => (1, 0),
                Part::Validity => (2, cells),
            };
            sum.facts.stored[index] = sum.facts.stored[index].saturating_add(bytes);
            sum.facts.decoded[index] = sum.facts.decoded[index].saturating_add(decoded);
            if part == Part::Var && is_chosen {
                let sizes = fragment.stored_var_sizes(field)?;
                let all = (0..tiles.count()).filter_map(|tile| sizes.get(tile));
                let (whole, largest) =
                    all.fold((0_u64, 0_u64), |(whole, most), size| (whole.saturating_add(size), most.max(size)));
                sum.var = (sum.var.0.saturating_add(bytes), sum.var.1.saturating_add(whole));
                sum.facts.tile.0 = sum.facts.tile.0.max(largest);
            }
        }
        sum.facts.tile.0 = sum.facts.tile.0.max(tiles.cells_in(0).unwrap_or(0).saturating_mul(size));
    }
    Ok(())
}

/// Returns the name of a field, and the number of values per cell.
fn shape(schema: &ArraySchema, field: FragmentField) -> (String, CellValNum) {
    match field {
        FragmentField::Attribute(index) => {
            let attribute = &schema.attributes()[index];
            (attribute.name().to_owned(), attribute.cell_val_num())
        }
        FragmentField::Dimension(index) => {
            let dimension = &schema.dimensions()[index];
            (dimension.name().to_owned(), dimension.cell_val_num())
        }
        other => (other.to_string(), CellValNum::ONE),
    }
}

impl Sum {
    fn new(array: &Array, name: String, cell_val_num: CellValNum) -> Self {
        let schema = array.schema();
        let field = schema.field(&name);
        let filters = match field {
            Some(field) => schema.filters_of(field).to_string(),
            None => schema.coords_filters().to_string(),
        };
        let is_attribute = matches!(field, Some(FieldRef::Attribute(_)));
        let facts =
            FieldFacts { name, is_attribute, cell_val_num, stored: [0; 3], decoded: [0; 3], tile: (0, 0), filters };
        Self { facts, var: (0, 0), tiles: 0 }
    }

    fn finish(self) -> FieldFacts {
        let Self { mut facts, var: (stored, decoded), tiles } = self;
        facts.decoded[1] = scaled(decoded, facts.stored[1], stored);
        facts.tile.1 = facts.stored_bytes() / tiles.max(1);
        facts
    }
}

/// Returns the center of an MBR. Strings use the lower bound.
pub(super) fn middle(domain: &NdRange) -> NdRange {
    let at = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => {
            let key = lo + (hi - lo) / 2;
            DimRange::Fixed { lo: key, hi: key }
        }
        DimRange::Var { lo, .. } => DimRange::strings(lo.clone(), lo.clone()),
    };
    NdRange(domain.0.iter().map(at).collect())
}

impl Costs {
    pub(crate) fn level(&self, saves: Duration) -> AdviceLevel {
        match saves {
            saves if saves < self.worth => AdviceLevel::Note,
            saves if saves < self.worth.saturating_mul(STRONG) => AdviceLevel::Weak,
            _ => AdviceLevel::Strong,
        }
    }
}

impl Seen {
    pub(crate) fn advice(
        &self,
        kind: AdviceKind,
        field: Option<&str>,
        what: String,
        figures: Vec<Figure>,
        saves: Duration,
        remedy: Vec<AdvisedCommand>,
    ) -> Advice {
        Advice { kind, level: self.costs.level(saves), field: field.map(str::to_owned), what, figures, saves, remedy }
    }
}
