//! Serialization of facts as fragment metadata.

use std::sync::Arc;

use tdb_array::tdb_fragment::{FragmentBuilder, StoredTile, TileSummary};
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::{Array, ArrayError, ArrayOptions, Fragment, TimeRange};
use tdb_metadata::tdb_generic_tile::GenericTileEncoder;
use tdb_types::names::{FRAGMENT_METADATA, file_name};

use super::facts::Facts;
use super::files::Walked;
use super::lost::Lost;
use super::overlay::Overlay;
use tdb_job::RebuildProblem;
use tdb_job::{MaintainError, Result};

/// Serializes the metadata. Without facts, the MBR of each sparse tile is the whole domain.
pub(super) fn build(
    entry: &Lost,
    walked: &Walked,
    domain: Option<&NdRange>,
    facts: Option<&Facts>,
    encoder: &mut GenericTileEncoder,
) -> Result<Vec<u8>> {
    let shape = &walked.shape;
    let wrap = |source| ArrayError::Fragment { file: entry.folder.clone(), source };
    let name = file_name(&shape.schema_path);
    let mut builder = match domain {
        Some(domain) => {
            let builder = FragmentBuilder::dense(entry.version, &shape.schema, name, domain.clone()).map_err(wrap)?;
            let (expected, tiles) = (builder.tiles().map_err(wrap)?.count(), walked.cells.len() as u64);
            if expected != tiles {
                let why = RebuildProblem::OtherDomain { expected, tiles };
                return Err(MaintainError::Rebuild { path: entry.folder.clone(), why });
            }
            builder
        }
        None => {
            FragmentBuilder::sparse(entry.version, &shape.schema, name).with_cell_times(shape.timestamps, shape.deletes)
        }
    };
    for (number, (field, tiles)) in shape.fields.iter().zip(&walked.tiles).enumerate() {
        for (tile, stored) in tiles.iter().enumerate() {
            let stored = StoredTile {
                fixed: stored.fixed.stored,
                var: stored.var.stored,
                var_unfiltered: stored.var.unfiltered,
                validity: stored.validity.stored,
                summary: facts.map_or_else(TileSummary::default, |facts| facts.summaries[number][tile].clone()),
            };
            builder.push(*field, &stored).map_err(wrap)?;
        }
    }
    if domain.is_none() {
        for (tile, cells) in walked.cells.iter().enumerate() {
            let mbr = facts.map_or_else(|| whole_domain(&shape.schema), |facts| facts.boxes[tile].clone());
            builder.push_mbr(mbr, *cells);
            facts.iter().for_each(|facts| builder.push_bounding_coordinates(&facts.ends[tile]));
        }
    }
    Ok(builder.write(encoder).map_err(wrap)?)
}

fn whole_domain(schema: &ArraySchema) -> NdRange {
    let range = |dimension: &tdb_array::tdb_schema::Dimension| {
        let domain = dimension.domain().and_then(|(lo, hi)| DimRange::between(lo, hi).ok());
        domain.unwrap_or_else(|| DimRange::strings(Vec::new(), Vec::new()))
    };
    NdRange(schema.dimensions().iter().map(range).collect())
}

/// Opens the fragment with provisional metadata that exists only in memory.
pub(super) fn open(whole: &Array, entry: &Lost, metadata: Vec<u8>) -> Result<(Array, Fragment)> {
    let path = format!("{}/{FRAGMENT_METADATA}", entry.folder);
    let storage = Arc::new(Overlay::new(Arc::clone(whole.storage()), path, metadata)?);
    let options = || ArrayOptions::new().like(whole).between(TimeRange::ALL);
    let find = |options: ArrayOptions| -> Result<Option<(Array, Fragment)>> {
        let array = options.open_on(storage.clone())?;
        let is_it = |fragment: &&Fragment| fragment.name() == &entry.name;
        let all = array.fragments()?.iter().find(is_it).cloned();
        let found = match all {
            Some(found) => Some(found),
            None => array.superseded_fragments()?.0.into_iter().find(|fragment| is_it(&fragment)),
        };
        Ok(found.map(|fragment| (array, fragment)))
    };
    // First skip damaged fragments. If this fragment is damaged, open the array again without
    // skipping, to return the error.
    if let Some(found) = find(options().skip_damaged(true))? {
        return Ok(found);
    }
    let none =
        || MaintainError::Rebuild { path: whole.storage().describe(&entry.folder), why: RebuildProblem::NoFragment };
    find(options())?.ok_or_else(none)
}
