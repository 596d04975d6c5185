//! Tiles: their cell counts, bytes and statistics.

use tdb_array::{Array, Fragment};
use tdb_fragment::{FragmentField, Part, StatisticsRules};
use tdb_job::{Bytes, Result, fixed_size};
use tdb_types::{CellValNum, Scalar};

use crate::axis::{bin, ratio, short};
use crate::fragments::columns;
use crate::page::Page;
use crate::picture::{Picture, WIDTH};

/// Maximum number of fragments whose metadata sections are read.
const FRAGMENTS: usize = 64;
/// Maximum number of tiles whose offsets and statistics are read.
const TILES: u64 = 1 << 20;
/// Columns of a histogram.
const BINS: usize = 24;
/// Horizontal parts of a picture of all tiles.
const PARTS: usize = 60;
/// Maximum number of attributes whose statistics are drawn.
const ATTRIBUTES: usize = 6;

pub(crate) fn section(page: &mut Page, array: &Array) -> Result<()> {
    let fragments = array.fragments()?;
    let all: u64 = fragments.iter().map(Fragment::tile_count).sum();
    if all == 0 {
        return Ok(());
    }
    let some = chosen(fragments);
    let of: u64 = some.iter().map(|fragment| fragment.tile_count()).sum();
    let whose = match of == all {
        true => format!("of all {all} tiles"),
        false => format!("of {of} of {all} tiles, in {} of {} fragments", some.len(), fragments.len()),
    };
    page.heading("Tiles");
    page.body.raw("<div class=\"row\">");
    let cells: Vec<u64> = some
        .iter()
        .flat_map(|fragment| (0..fragment.tile_count()).filter_map(|tile| fragment.cells_in_tile(tile)))
        .collect();
    histogram(page, "Cells per tile", &whose, &cells, |cells| cells.to_string());
    let sizes = sizes(&some)?;
    histogram(page, "Stored bytes per tile, all fields together", &whose, &sizes.0, |bytes| Bytes(bytes).to_string());
    let ratios: Vec<u64> = sizes
        .0
        .iter()
        .zip(&sizes.1)
        .filter(|(_, decoded)| **decoded > 0)
        .map(|(stored, decoded)| u64::try_from(u128::from(*stored) * 1000 / u128::from(*decoded)).unwrap_or(u64::MAX))
        .collect();
    #[allow(clippy::cast_precision_loss)] // shown with a few digits
    let shown = |ratio: u64| format!("{:.1}%", ratio as f64 / 10.0);
    histogram(page, "Stored bytes in percent of unfiltered bytes, all fields together", &whose, &ratios, shown);
    for index in 0..array.schema().attr_count().min(ATTRIBUTES) {
        bounds(page, array, &some, index, &whose)?;
    }
    page.body.raw("</div>\n");
    Ok(())
}

/// Returns an even sample of fragments with at most [`TILES`] tiles.
fn chosen(fragments: &[Fragment]) -> Vec<&Fragment> {
    let step = fragments.len().div_ceil(FRAGMENTS).max(1);
    let mut left = TILES;
    (fragments.iter().step_by(step))
        .filter(|fragment| {
            let fits = fragment.tile_count() <= left;
            left -= if fits { fragment.tile_count() } else { 0 };
            fits
        })
        .collect()
}

/// Returns for each tile the stored bytes of all files, and the unfiltered bytes.
fn sizes(fragments: &[&Fragment]) -> Result<(Vec<u64>, Vec<u64>)> {
    let (mut stored, mut decoded) = (Vec::new(), Vec::new());
    for fragment in fragments {
        let start = stored.len();
        let tiles = fragment.tile_count();
        stored.resize(start + usize::try_from(tiles).unwrap_or(0), 0_u64);
        decoded.resize(stored.len(), 0_u64);
        for field in fragment.footer().slots().iter() {
            for (part, _, _) in fragment.files_of(field) {
                let offsets = fragment.stored_offsets(field, part)?;
                let sizes = if part == Part::Var { Some(fragment.stored_var_sizes(field)?) } else { None };
                let width = if part == Part::Validity { 1 } else { fixed_size(fragment.schema(), field) };
                for (place, tile) in (start..stored.len()).zip(0..tiles) {
                    let range = offsets.range(tile).unwrap_or_default();
                    stored[place] = stored[place].saturating_add(range.end.saturating_sub(range.start));
                    let cells = fragment.footer().cells_in_tile(tile).unwrap_or(0);
                    let bytes = match &sizes {
                        Some(sizes) => sizes.get(tile).unwrap_or(0),
                        None => cells.saturating_mul(width),
                    };
                    decoded[place] = decoded[place].saturating_add(bytes);
                }
            }
        }
    }
    Ok((stored, decoded))
}

#[allow(clippy::cast_precision_loss)] // for pictures
fn histogram(page: &mut Page, title: &str, whose: &str, values: &[u64], show: impl Fn(u64) -> String) {
    let (Some(&low), Some(&high)) = (values.iter().min(), values.iter().max()) else { return };
    if low == high {
        page.fact(title, &format!("{whose}: all have {}", show(low)));
        return;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2];
    let mut counts = vec![0_u64; BINS];
    for value in values {
        let place = (value - low) as f64 / (high - low) as f64;
        counts[bin(place, BINS)] += 1;
    }
    let text = format!("{whose}: minimum {}, median {}, maximum {}", show(low), show(median), show(high));
    let mut picture = Picture::new(112.0, title, text);
    columns(&mut picture, &counts, (2.0, 4.0), (WIDTH - 4.0, 88.0));
    picture.ends(106.0, &show(low), &show(high));
    page.picture(picture);
}

/// Draws the minimum and maximum of an attribute, tile by tile.
fn bounds(page: &mut Page, array: &Array, fragments: &[&Fragment], index: usize, whose: &str) -> Result<()> {
    let attribute = &array.schema().attributes()[index];
    if attribute.cell_val_num() != CellValNum::ONE {
        return Ok(());
    }
    let physical = attribute.datatype().physical();
    let (mut ranges, mut nulls, mut cells) = (Vec::new(), 0_u64, 0_u64);
    for fragment in fragments {
        let schema = fragment.schema();
        let own = schema
            .attributes()
            .iter()
            .position(|own| own.name() == attribute.name() && own.datatype() == attribute.datatype());
        let Some(field) = own.map(FragmentField::Attribute) else { continue };
        let Some(rules) = StatisticsRules::new(fragment.footer(), schema, field) else { continue };
        let statistics = fragment.stored_statistics(field)?;
        for tile in 0..fragment.tile_count() {
            let known = statistics.tile(tile, fragment.footer().tiles(), &rules);
            let value = |bytes: Option<&[u8]>| {
                Some(Scalar::from_le_bytes(physical, bytes?)?.to_f64()).filter(|value| value.is_finite())
            };
            if let (Some(low), Some(high)) = (value(known.min.trusted()), value(known.max.trusted())) {
                ranges.push((low, high));
            }
            nulls = nulls.saturating_add(known.null_count.trusted().unwrap_or(0));
            cells = cells.saturating_add(fragment.cells_in_tile(tile).unwrap_or(0));
        }
    }
    let low = ranges.iter().map(|range| range.0).fold(f64::INFINITY, f64::min);
    let high = ranges.iter().map(|range| range.1).fold(f64::NEG_INFINITY, f64::max);
    if ranges.len() < 2 || low > high {
        return Ok(());
    }
    let mut parts: Vec<Option<(f64, f64)>> = vec![None; PARTS.min(ranges.len())];
    let count = parts.len();
    for (number, range) in ranges.iter().enumerate() {
        let part = &mut parts[number * count / ranges.len()];
        *part = Some(part.map_or(*range, |(low, high)| (low.min(range.0), high.max(range.1))));
    }
    let text = match attribute.is_nullable() {
        true => format!("from {} to {}, {whose}; {nulls} of {cells} cells are null", short(low), short(high)),
        false => format!("from {} to {}, {whose}", short(low), short(high)),
    };
    let mut picture = Picture::new(112.0, format!("Minimum to maximum {} per tile", attribute.name()), text);
    let (top, height) = (16.0, 76.0);
    picture.label(2.0, 11.0, crate::picture::Anchor::Start, WIDTH - 4.0, &short(high));
    picture.label(2.0, 106.0, crate::picture::Anchor::Start, WIDTH - 4.0, &short(low));
    let step = (WIDTH - 4.0) / ratio(count, 1);
    let at = |value: f64| if high > low { (high - value) / (high - low) * height } else { height / 2.0 };
    for (number, part) in parts.iter().enumerate() {
        let Some((least, most)) = *part else { continue };
        let y = top + at(most);
        picture.rect(
            "bar",
            2.0 + step * ratio(number, 1),
            y,
            step * 0.85,
            (at(least) - at(most)).max(1.0),
            &format!("{} to {}", short(least), short(most)),
        );
    }
    page.picture(picture);
    Ok(())
}
