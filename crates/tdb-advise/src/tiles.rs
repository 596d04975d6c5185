//! Advice on tiles: the fraction of written cells, and the tile size.

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::Dimension;
use tdb_types::PhysicalType;

use crate::advice::{Advice, AdviceKind, AdvisedCommand, Figure, FigureUnit};
use crate::costs::{SHARE, SMALL_TILE, percent, scaled};
use crate::report::{FieldFacts, FieldTrials};
use crate::seen::Seen;
use tdb_job::{Bytes, Result};

/// Returns advice on dense tiles that extend beyond the written cells.
pub(super) fn fill(seen: &Seen) -> Result<Option<Advice>> {
    let schema = seen.schema();
    let dense = seen.fragments()?.iter().filter(|fragment| fragment.footer().is_dense());
    let (mut visible, mut all, mut hull) = (0_u64, 0_u64, None::<NdRange>);
    for fragment in dense {
        visible = visible.saturating_add(fragment.cell_count());
        all = all.saturating_add(fragment.footer().tiles().cell_count());
        match (&mut hull, fragment.non_empty_domain()) {
            (Some(hull), Some(domain)) => hull.expand(domain),
            (hull, domain) => *hull = domain.cloned(),
        }
    }
    let Some(hull) = hull else { return Ok(None) };
    // A tile extent above the width of the bounding range of all written cells wastes space in each
    // fragment, including future ones.
    let narrower: Vec<(&Dimension, u64, u64)> = (schema.dimensions().iter().zip(&hull.0))
        .filter_map(|(dimension, range)| {
            let (extent, width) = (dimension.extent_cells()?, width(range)?);
            (extent > width).then_some((dimension, extent, width))
        })
        .collect();
    if narrower.is_empty() {
        return Ok(None);
    }
    let then = narrower.iter().fold(all, |cells, (_, extent, width)| scaled(cells, *width, *extent)).max(visible);
    let decoded: u64 = seen.fields.iter().map(FieldFacts::decoded_bytes).fold(0, u64::saturating_add);
    let decoded_then = scaled(decoded, then, all);
    let names: Vec<String> = narrower
        .iter()
        .map(|(dimension, extent, width)| {
            format!("the tile extent of {:?} is {extent}, but the written range is only {width} wide", dimension.name())
        })
        .collect();
    let what = format!(
        "{}% of the cells in tiles were never written, and reads unfilter them too: {}",
        100 - percent(visible, all).min(100),
        names.join("; ")
    );
    let figures = vec![
        Figure::new(
            "written cells per cell of the tiles",
            FigureUnit::Percent,
            percent(visible, all),
            percent(visible, then),
        ),
        Figure::bytes("bytes unfiltered by a complete read", decoded, decoded_then),
    ];
    let saves = seen.costs.decoding(decoded - decoded_then);
    let options = narrower.iter().flat_map(|(dimension, _, width)| extent_option(dimension, *width));
    let remedy = vec![AdvisedCommand::new("migrate", options.collect::<Vec<_>>())];
    Ok(Some(seen.advice(AdviceKind::TileFill, None, what, figures, saves, remedy)))
}

fn width(range: &DimRange) -> Option<u64> {
    match range {
        DimRange::Fixed { lo, hi } => (hi - lo).checked_add(1),
        DimRange::Var { .. } => None,
    }
}

fn extent_option(dimension: &Dimension, extent: u64) -> [String; 2] {
    ["--tile-extent".to_owned(), format!("{}={extent}", dimension.name())]
}

/// Returns advice on tiles that are too large or too small.
pub(super) fn size(seen: &Seen, trials: &[FieldTrials]) -> Result<Option<Advice>> {
    let Some(largest) = seen.readable_fields().max_by_key(|field| (field.tile.0, &field.name)) else { return Ok(None) };
    let (decoded, stored) = largest.tile;
    let wait = seen.costs.of(0, stored).saturating_add(seen.costs.decoding(decoded));
    if wait >= seen.costs.worth && decoded > SMALL_TILE {
        // With tiles below `target`, request latency dominates, and smaller tiles save no time.
        let target = scaled(decoded, seen.costs.bytes_of_a_request(), stored.max(1)).min(decoded).max(SMALL_TILE);
        return Ok(large(seen, largest, target, trials));
    }
    small(seen, largest, trials)
}

fn large(seen: &Seen, field: &FieldFacts, target: u64, trials: &[FieldTrials]) -> Option<Advice> {
    let (decoded, stored) = field.tile;
    let then = scaled(stored, target, decoded);
    let time = |stored, decoded| seen.costs.of(0, stored).saturating_add(seen.costs.decoding(decoded));
    let saves = time(stored, decoded).saturating_sub(time(then, target));
    let options = resized(seen, target, decoded)?;
    let what = format!(
        "a read of one cell of {:?} fetches and unfilters a whole tile: {} stored, {} unfiltered",
        field.name,
        Bytes(stored),
        Bytes(decoded)
    );
    let mut figures = vec![
        Figure::bytes("stored bytes per tile", stored, then),
        Figure::bytes("unfiltered bytes per tile", decoded, target),
    ];
    figures.extend(tried(trials, field, target, decoded));
    Some(seen.advice(
        AdviceKind::LargeTiles,
        Some(&field.name),
        what,
        figures,
        saves,
        vec![AdvisedCommand::new("migrate", options)],
    ))
}

fn small(seen: &Seen, field: &FieldFacts, trials: &[FieldTrials]) -> Result<Option<Advice>> {
    let (tiles, _) = seen.counts()?;
    let fragments = seen.fragments()?.len() as u64;
    let (decoded, _) = field.tile;
    let metadata = seen.metadata;
    // With fewer than two tiles per fragment, a larger size changes little, because a tile cannot
    // span fragments.
    if decoded >= SMALL_TILE || decoded == 0 || tiles < fragments.saturating_mul(2) {
        return Ok(None);
    }
    let then = scaled(metadata, decoded, SMALL_TILE);
    let Some(options) = resized(seen, SMALL_TILE, decoded) else { return Ok(None) };
    let what = format!(
        "{tiles} tiles have at most {} per field: the metadata has an offset and statistics for each tile, {} for {} of cells",
        Bytes(decoded),
        Bytes(metadata),
        Bytes(seen.stored)
    );
    let mut figures = vec![
        Figure::bytes("bytes of metadata", metadata, then),
        Figure::count("tiles", tiles, scaled(tiles, decoded, SMALL_TILE).max(fragments)),
    ];
    figures.extend(tried(trials, field, SMALL_TILE, decoded));
    // Larger tiles usually compress better. The trials on a sample show by how much.
    let smaller = tried(trials, field, SMALL_TILE, decoded).and_then(|tried| tried.then).unwrap_or(100).min(100);
    let saved = metadata - then + scaled(seen.stored, 100 - smaller, 100);
    if saved < seen.stored.saturating_add(metadata) / SHARE {
        return Ok(None);
    }
    let saves = seen.costs.of(0, saved);
    Ok(Some(seen.advice(
        AdviceKind::SmallTiles,
        None,
        what,
        figures,
        saves,
        vec![AdvisedCommand::new("migrate", options)],
    )))
}

/// Returns the filtered size of the sample with the tried tile size nearest to `target`, in percent
/// of the size with the current tiles. Returns `None` if either size was not tried.
fn tried(trials: &[FieldTrials], field: &FieldFacts, target: u64, decoded: u64) -> Option<Figure> {
    let trials = trials.iter().find(|trials| trials.name == field.name)?;
    let now = trials.trials.first()?.stored;
    let wanted = percent(target, decoded);
    let (_, then) = trials.sizes.iter().min_by_key(|(share, _)| share.abs_diff(wanted))?;
    Some(Figure::new(
        "filtered size of the sample with tiles of about the proposed size",
        FigureUnit::Percent,
        100,
        percent(*then, now),
    ))
}

/// Returns the options of `tdb migrate` that change the tile size from `now` to `target` bytes.
/// Returns `None` if the size would stay the same, or if a dimension of a dense array has floats or
/// no extent.
fn resized(seen: &Seen, target: u64, now: u64) -> Option<Vec<String>> {
    let schema = seen.schema();
    if !schema.is_dense() {
        let capacity = scaled(schema.capacity(), target, now).max(1).checked_next_power_of_two()?;
        return (capacity != schema.capacity()).then(|| vec!["--capacity".to_owned(), capacity.to_string()]);
    }
    // Scales the extents of all dimensions by the same factor, up to the width of the domain.
    #[allow(clippy::cast_precision_loss)] // a factor to be rounded
    let factor = (target as f64 / now as f64).powf(1.0 / schema.dim_count() as f64);
    let mut options = Vec::new();
    for dimension in schema.dimensions() {
        let (Some(extent), Some((low, high))) = (dimension.extent_cells(), dimension.domain_keys()) else {
            return None;
        };
        if matches!(dimension.physical(), PhysicalType::F32 | PhysicalType::F64) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // saturates
        let wanted = (extent as f64 * factor).round() as u64;
        let wanted = wanted.clamp(1, (high - low).saturating_add(1));
        if wanted != extent {
            options.extend(extent_option(dimension, wanted));
        }
    }
    (!options.is_empty()).then_some(options)
}
