//! Read plans: tiles and bytes to read.

use std::collections::{BTreeSet, HashMap, HashSet};

use tdb_query::scan::FieldSet;
use tdb_query::{CheckedQuery, FileReads, FragmentPlan, FragmentsLeftOut, PlannedTile};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::FieldTiles;

use crate::choice::Choice;
use crate::conditions::Conditions;
use crate::context::Context;
use crate::prune;
use crate::selected::SelectedTile;
use crate::source::Source;

/// Plans a read: the tiles and byte ranges to read of each fragment.
///
/// # Errors
/// The metadata of a fragment cannot be read, or the query was cancelled.
pub fn plan(query: &CheckedQuery) -> Result<(Vec<FragmentPlan>, FragmentsLeftOut)> {
    let (context, choice) = begin(query.clone(), true)?;
    let plans = read_plan(&context, &choice)?;
    let totals = context.by_totals;
    let region = context.array.fragments()?.len() - plans.len() - totals;
    Ok((plans, FragmentsLeftOut { region, totals, ..FragmentsLeftOut::default() }))
}

/// Selects the tiles of a read and assigns engines. Records why tiles were excluded if `explain` is
/// `true`.
pub(super) fn begin(query: CheckedQuery, explain: bool) -> Result<(Context, Choice)> {
    let mut context = prune::context(query, explain)?;
    let choice = Choice::of(&context)?;
    if !choice.in_order.is_empty() {
        context.gather_coordinates()?;
    }
    Ok((context, choice))
}

/// Returns the tiles and bytes to read of each fragment.
pub(super) fn read_plan(context: &Context, choice: &Choice) -> Result<Vec<FragmentPlan>> {
    let streamed = choice.streamed.iter().chain(&choice.in_order);
    let streamed: BTreeSet<(usize, u64)> = streamed.map(|(source, tile)| (*source, tile.tile)).collect();
    let sources = context.sources.iter().enumerate();
    let plans = sources.map(|(index, source)| {
        let is_streamed = |tile: &SelectedTile| streamed.contains(&(index, tile.tile));
        fragment_plan(context, source, is_streamed, |_, _| true)
    });
    plans.collect()
}

/// Returns the tiles and bytes to scan of each fragment. `tiles` are scanned individually, without
/// fields already answered by statistics. The tiles of `choice` are read completely.
pub(super) fn scan_plan(
    context: &Context,
    tiles: &[(usize, SelectedTile, FieldSet)],
    choice: &Choice,
) -> Result<Vec<FragmentPlan>> {
    let added: HashMap<(usize, u64), &FieldSet> =
        tiles.iter().map(|(source, tile, added)| ((*source, tile.tile), added)).collect();
    let others = choice.merged.iter().chain(&choice.sorted);
    let others: HashSet<(usize, u64)> = others.map(|(source, tile)| (*source, tile.tile)).collect();
    let sources = context.sources.iter().enumerate();
    let plans = sources.map(|(index, source)| {
        let is_streamed = |tile: &SelectedTile| added.contains_key(&(index, tile.tile));
        let is_read = |tile: &SelectedTile, field: Option<usize>| {
            let place = (index, tile.tile);
            let is_added = |added: &FieldSet| field.is_some_and(|field| added.contains(field));
            others.contains(&place) || added.get(&place).is_some_and(|added| !is_added(added))
        };
        fragment_plan(context, source, is_streamed, is_read)
    });
    plans.collect()
}

/// Plans the reads of a fragment. `is_read` is `true` for tiles to read, or for selected fields of
/// a tile.
fn fragment_plan(
    context: &Context,
    source: &Source,
    is_streamed: impl Fn(&SelectedTile) -> bool,
    is_read: impl Fn(&SelectedTile, Option<usize>) -> bool,
) -> Result<FragmentPlan> {
    let tiles = source.tiles.iter().filter(|tile| is_read(tile, None));
    let mut plan = FragmentPlan {
        folder: source.fragment.folder().to_owned(),
        tile_count: source.fragment.tile_count(),
        outside: source.fragment.tile_count().saturating_sub((source.tiles.len() + source.pruned) as u64),
        hidden: 0,
        pruned: source.pruned,
        pruned_by: source.pruned_by.clone(),
        late: Vec::new(),
        tiles: tiles
            .map(|tile| PlannedTile { tile: tile.tile, full: tile.full, cells: u64::from(tile.cells) })
            .collect(),
        reads: Vec::new(),
    };
    let mut add = |tiles: &FieldTiles, wanted: &dyn Fn(&SelectedTile) -> bool| -> Result<()> {
        let parts = [Some(&tiles.fixed), tiles.var.as_ref().map(|(part, _)| part), tiles.validity.as_ref()];
        for part in parts.into_iter().flatten() {
            let reads = FileReads::of(
                &tiles.name,
                part,
                source.tiles.iter().filter(|tile| is_read(tile, None) && wanted(tile)).map(|tile| tile.tile),
            )?;
            // Before format version 5, all dimensions share a file.
            if !reads.ranges.is_empty() && !plan.reads.iter().any(|other| other.file == reads.file) {
                plan.reads.push(reads);
            }
        }
        Ok(())
    };
    for (field, tiles) in source.fields.iter().enumerate() {
        if let Some(tiles) = tiles {
            add(tiles, &|tile| is_read(tile, Some(field)))?;
        }
    }
    for (tiles, needs) in source.conditions.iter().flat_map(Conditions::tiles) {
        add(tiles, &needs)?;
    }
    for (dimension, tiles) in source.dimensions.iter().enumerate() {
        if context.field_of_dimension[dimension].is_none() {
            add(tiles, &|tile| !is_streamed(tile) || context.compared(source, tile).needs(dimension))?;
        }
    }
    if let Some(times) = &source.times {
        let by_condition = source.conditions.as_ref().is_some_and(Conditions::need_times);
        let always = source.is_time_limited || by_condition;
        add(times, &|tile| always || context.must_deduplicate() && !is_streamed(tile))?;
    }
    if let Some(deletions) = &source.deletions {
        add(deletions, &|_| true)?;
    }
    Ok(plan)
}
