//! A picture of a sample of the cells.

use tdb_array::{Array, Coordinate, Fragment, Monitor, Order, TileReader};
use tdb_fragment::FragmentField;
use tdb_job::Result;
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{CellValNum, Scalar};

use crate::axis::{Axis, bin, short};
use crate::fragments::{columns, corner};
use crate::grid::{Grid, draw};
use crate::options::Options;
use crate::page::Page;
use crate::picture::{Anchor, Picture, WIDTH};

/// Maximum number of positions along each side of a picture of dense cells.
const PLACES: (u64, u64) = (60, 36);
/// Maximum bytes to read for a picture.
const READ: u64 = 64 << 20;
/// Maximum number of tiles to read of a sparse array.
const TILES: u64 = 64;
/// Maximum number of cells to draw from these tiles.
const CELLS: usize = 200_000;

pub(crate) fn section(page: &mut Page, array: &Array, dimensions: &[usize], options: &Options) -> Result<()> {
    let Some(domain) = array.non_empty_domain()? else { return Ok(()) };
    let picture = match array.schema().is_dense() {
        true => dense(array, &domain, dimensions, options.attribute.as_deref())?,
        false => sparse(array, dimensions, &options.monitor)?,
    };
    if let Some(picture) = picture {
        page.heading("Cells");
        page.body.raw("<div class=\"row\">");
        page.picture(picture);
        page.body.raw("</div>\n");
    }
    Ok(())
}

/// Returns up to `most` evenly spread coordinates of a range.
fn strided(range: &DimRange, most: u64) -> Vec<u64> {
    let DimRange::Fixed { lo, hi } = *range else { return Vec::new() };
    let count = (hi - lo).saturating_add(1).min(most.max(1));
    let at = |number: u64| u128::from(hi - lo) * u128::from(number) / u128::from((count - 1).max(1));
    (0..count).map(|number| lo + u64::try_from(at(number)).unwrap_or(0)).collect()
}

fn dense(array: &Array, domain: &NdRange, dimensions: &[usize], attribute: Option<&str>) -> Result<Option<Picture>> {
    let schema = array.schema();
    let is_number = |name: &&str| {
        let known = schema.attributes().iter().find(|known| known.name() == *name);
        known.is_some_and(|known| known.cell_val_num() == CellValNum::ONE)
    };
    let mut names = schema.attributes().iter().map(tdb_schema::Attribute::name);
    let Some(name) = attribute.filter(|name| is_number(name)).or_else(|| names.find(is_number)) else {
        return Ok(None);
    };
    let (across, down) = match dimensions {
        [across] => (*across, None),
        [across, down, ..] => (*across, Some(*down)),
        [] => return Ok(None),
    };
    let (mut wide, mut tall) = PLACES;
    let query = loop {
        let mut query = array.read().select([name])?.order(Order::RowMajor);
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let most = if index == across {
                wide
            } else if Some(index) == down {
                tall
            } else {
                1
            };
            let points = strided(&domain.0[index], most).into_iter().map(|key| {
                let at: Coordinate = Scalar::from_key(dimension.physical(), key).into();
                at.clone()..=at
            });
            query = query.ranges(dimension.name(), points.collect::<Vec<_>>())?;
        }
        if query.plan()?.bytes() <= READ {
            break query;
        }
        if wide + tall <= 4 {
            return Ok(None);
        }
        (wide, tall) = ((wide / 2).max(1), (tall / 2).max(1));
    };
    let known = schema.attributes().iter().find(|known| known.name() == name);
    let fill = known.map(|known| known.fill_value().into_owned()).unwrap_or_default();
    let mut values: Vec<Option<f64>> = Vec::new();
    for batch in query.budget(32 << 20).batches()? {
        let batch = batch?;
        let column = batch.column(name)?;
        let physical = column.datatype().physical();
        values.extend((0..column.len()).map(|cell| {
            let bytes = column.cell(cell).filter(|bytes| **bytes != *fill)?;
            Some(Scalar::from_le_bytes(physical, bytes)?.to_f64()).filter(|value| value.is_finite())
        }));
    }
    let axis = |index: usize| Axis::of(&schema.dimensions()[index], std::iter::once(&domain.0[index]));
    let columns = strided(&domain.0[across], wide).len();
    if down.is_some_and(|down| across < down) {
        values = transposed(&values, columns);
    }
    Ok(Some(heat(name, &values, columns, &axis(across), down.map(axis).as_ref())))
}

/// Converts column-major order to row-major order.
fn transposed(values: &[Option<f64>], columns: usize) -> Vec<Option<f64>> {
    let rows = values.len() / columns.max(1);
    (0..rows).flat_map(|row| (0..columns).map(move |column| values[column * rows + row])).collect()
}

fn heat(name: &str, values: &[Option<f64>], across: usize, x: &Axis, y: Option<&Axis>) -> Picture {
    let known = || values.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let shade = |value: f64| bin(if high > low { (value - low) / (high - low) } else { 0.5 }, 8);
    let shades: Vec<Option<usize>> = values.iter().map(|value| value.map(shade)).collect();
    let text = match low <= high {
        true => format!(
            "values in {} cells of a grid over the written domain: from {} (pale) to {} (dark); cells without a value are left out",
            values.len(),
            short(low),
            short(high)
        ),
        false => {
            format!("{} cells of a grid over the written domain, all without a value", values.len())
        }
    };
    let height = if y.is_some() { 200.0 } else { 30.0 };
    let mut picture = Picture::new(height + 34.0, format!("Values of {name}"), text);
    match y {
        Some(y) => corner(&mut picture, x, y, 16.0 + height + 13.0),
        None => {
            picture.label(2.0, 11.0, Anchor::Start, WIDTH - 4.0, &x.name);
            picture.ends(16.0 + height + 13.0, &x.low, &x.high);
        }
    }
    draw(&mut picture, &shades, across, (2.0, 16.0), (WIDTH - 4.0, height));
    picture
}

fn sparse(array: &Array, dimensions: &[usize], monitor: &Monitor) -> Result<Option<Picture>> {
    let fragments = array.fragments()?;
    let sampled = sample(fragments);
    let schema = array.schema();
    let domains: Vec<&NdRange> = fragments.iter().filter_map(Fragment::non_empty_domain).collect();
    let workers = array.tile_workers(monitor);
    let mut sides: Vec<(Axis, Vec<f64>)> = Vec::new();
    let bounded = (CELLS / sampled.len().max(1)).max(1);
    for &dimension in dimensions.iter().take(2) {
        let Some(known) = schema.dimensions().get(dimension) else { continue };
        let mut coordinates: Vec<Vec<u8>> = Vec::new();
        let job = |(fragment, tile): (&Fragment, u64), reader: &mut TileReader<'_>| {
            let tiles = fragment.stored_tiles(FragmentField::Dimension(dimension))?;
            let cells = tiles.read(tile, reader)?;
            let step = cells.len().div_ceil(bounded).max(1);
            Ok((0..cells.len()).step_by(step).map(|cell| cells.cell(cell).to_vec()).collect::<Vec<_>>())
        };
        workers.map(0, sampled.clone(), job)?.into_iter().for_each(|some| coordinates.extend(some));
        let strings: Vec<DimRange> = match known.is_var() {
            true => coordinates.iter().map(|text| DimRange::strings(text.as_slice(), text.as_slice())).collect(),
            false => Vec::new(),
        };
        let ranges = domains.iter().filter_map(|domain| domain.0.get(dimension)).chain(&strings);
        let axis = Axis::of(known, ranges);
        let places = coordinates.iter().map(|bytes| axis.place(bytes)).collect();
        sides.push((axis, places));
    }
    let all: u64 = fragments.iter().map(Fragment::cell_count).sum();
    Ok(match &sides[..] {
        [(x, across)] => {
            let mut counts = vec![0_u64; 60];
            across.iter().for_each(|place| counts[bin(*place, 60)] += 1);
            let text = format!("positions of {} of {all} stored cells, from {} to {}", across.len(), x.low, x.high);
            let mut picture = Picture::new(112.0, format!("Cells along {}", x.name), text);
            columns(&mut picture, &counts, (2.0, 4.0), (WIDTH - 4.0, 88.0));
            picture.ends(106.0, &x.low, &x.high);
            Some(picture)
        }
        [(x, across), (y, down)] => {
            let mut grid = Grid::new();
            across.iter().zip(down).for_each(|(x, y)| grid.add((*x, *x), (*y, *y)));
            let text = format!(
                "positions of {} of {all} stored cells, up to {} in one of {} parts",
                across.len(),
                grid.most(),
                grid.parts()
            );
            let mut picture = Picture::new(234.0, format!("Cells over {} and {}", x.name, y.name), text);
            corner(&mut picture, x, y, 229.0);
            grid.draw(&mut picture, (2.0, 16.0), (WIDTH - 4.0, 200.0));
            Some(picture)
        }
        _ => None,
    })
}

/// Returns a sample of tiles, evenly spread over all fragments.
fn sample(fragments: &[Fragment]) -> Vec<(&Fragment, u64)> {
    let all: u64 = fragments.iter().map(Fragment::tile_count).sum();
    let wanted = all.min(TILES);
    let mut sampled = Vec::new();
    let mut fragments = fragments.iter().peekable();
    let mut before = 0;
    for number in 0..wanted {
        let place = u64::try_from(u128::from(all) * u128::from(number) / u128::from(wanted)).unwrap_or(0);
        while fragments.peek().is_some_and(|fragment| before + fragment.tile_count() <= place) {
            before += fragments.next().map_or(0, Fragment::tile_count);
        }
        let Some(fragment) = fragments.peek() else { break };
        sampled.push((*fragment, place - before));
    }
    sampled
}
