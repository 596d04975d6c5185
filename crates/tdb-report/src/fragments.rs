//! Fragments: their position in the domain and in time.

use tdb_array::{Array, Fragment};
use tdb_job::{Bytes, Result};
use tdb_rtree::NdRange;
use tdb_types::datetime;

use crate::axis::{Axis, bin, ratio};
use crate::grid::Grid;
use crate::markup::Markup;
use crate::page::{Page, table};
use crate::picture::{Anchor, Picture, WIDTH};

/// Maximum number of fragments that are drawn individually.
const DRAWN: usize = 400;
/// Maximum number of fragments in the list.
const LISTED: usize = 50;
/// Maximum number of bars in a picture of times.
const BARS: usize = 60;

pub(crate) fn section(page: &mut Page, array: &Array, dimensions: &[usize]) -> Result<()> {
    let fragments = array.fragments()?;
    if fragments.is_empty() {
        return Ok(());
    }
    page.heading("Fragments");
    page.body.raw("<div class=\"row\">");
    place(page, array, fragments, dimensions);
    times(page, fragments);
    page.body.raw("</div>\n");
    list(&mut page.body, fragments);
    Ok(())
}

/// Draws the non-empty domains of the fragments, along the chosen dimensions.
fn place(page: &mut Page, array: &Array, fragments: &[Fragment], dimensions: &[usize]) {
    let schema = array.schema();
    let domains: Vec<(&Fragment, &NdRange)> =
        fragments.iter().filter_map(|fragment| Some((fragment, fragment.non_empty_domain()?))).collect();
    let axis = |dimension: usize| {
        let ranges = domains.iter().filter_map(|(_, domain)| domain.0.get(dimension));
        schema.dimensions().get(dimension).map(|known| Axis::of(known, ranges))
    };
    let side = |place: usize| dimensions.get(place).and_then(|dimension| Some((*dimension, axis(*dimension)?)));
    let Some((across, x)) = side(0) else { return };
    match side(1) {
        Some((down, y)) => page.picture(flat(&domains, (across, &x), (down, &y))),
        None => page.picture(bars(&domains, across, &x)),
    }
}

fn flat(domains: &[(&Fragment, &NdRange)], (across, x): (usize, &Axis), (down, y): (usize, &Axis)) -> Picture {
    let title = format!("{} fragments over {} and {}", domains.len(), x.name, y.name);
    let (left, top, width, height) = (2.0, 16.0, WIDTH - 4.0, 200.0);
    if domains.len() > DRAWN {
        let mut grid = Grid::new();
        for (_, domain) in domains {
            grid.add(x.span(&domain.0[across]), y.span(&domain.0[down]));
        }
        let text = format!(
            "{} across from {} to {}, {} down from {} to {}; number of fragments that overlap each of {} parts, up to {}",
            x.name,
            x.low,
            x.high,
            y.name,
            y.low,
            y.high,
            grid.parts(),
            grid.most()
        );
        let mut picture = Picture::new(height + 34.0, title, text);
        corner(&mut picture, x, y, top + height + 13.0);
        grid.draw(&mut picture, (left, top), (width, height));
        return picture;
    }
    let text = format!(
        "{} across from {} to {}, {} down from {} to {}; darker where several fragments overlap",
        x.name, x.low, x.high, y.name, y.low, y.high
    );
    let mut picture = Picture::new(height + 34.0, title, text);
    picture.rect("frame", left, top, width, height, "");
    for (fragment, domain) in domains {
        let (from, to) = x.span(&domain.0[across]);
        let (first, last) = y.span(&domain.0[down]);
        let tip = format!("{}: {} cells, {} tiles", fragment.name(), fragment.cell_count(), fragment.tile_count());
        picture.rect(
            "box",
            left + from * width,
            top + first * height,
            (to - from) * width,
            (last - first) * height,
            &tip,
        );
    }
    corner(&mut picture, x, y, top + height + 13.0);
    picture
}

/// Labels two axes: the vertical axis above the picture, the horizontal axis below.
pub(crate) fn corner(picture: &mut Picture, x: &Axis, y: &Axis, bottom: f64) {
    picture.label(2.0, 11.0, Anchor::Start, WIDTH - 4.0, &format!("{} \u{2193} {} \u{2026} {}", y.name, y.low, y.high));
    picture.label(
        2.0,
        bottom,
        Anchor::Start,
        WIDTH - 4.0,
        &format!("{} \u{2192} {} \u{2026} {}", x.name, x.low, x.high),
    );
}

fn bars(domains: &[(&Fragment, &NdRange)], dimension: usize, x: &Axis) -> Picture {
    let title = format!("{} fragments along {}", domains.len(), x.name);
    let (top, width) = (16.0, WIDTH - 4.0);
    let text = |rest: &str| format!("{} from {} to {}; {rest}", x.name, x.low, x.high);
    if domains.len() > DRAWN / 4 {
        let mut grid = Grid::flat();
        domains.iter().for_each(|(_, domain)| grid.add(x.span(&domain.0[dimension]), (0.0, 1.0)));
        let rest = format!("number of fragments that overlap each of {} parts, up to {}", grid.parts(), grid.most());
        let mut picture = Picture::new(90.0, title, text(&rest));
        picture.ends(11.0, &x.low, &x.high);
        grid.draw(&mut picture, (2.0, top), (width, 70.0));
        return picture;
    }
    let step = (200.0 / ratio(domains.len(), 1)).clamp(2.0, 14.0);
    let mut picture = Picture::new(top + 4.0 + step * ratio(domains.len(), 1), title, text("oldest first"));
    picture.ends(11.0, &x.low, &x.high);
    for (number, (fragment, domain)) in domains.iter().enumerate() {
        let (from, to) = x.span(&domain.0[dimension]);
        let tip = format!("{}: {} cells, {} tiles", fragment.name(), fragment.cell_count(), fragment.tile_count());
        let y = top + 2.0 + step * ratio(number, 1);
        picture.rect("bar", 2.0 + from * width, y, (to - from) * width, step * 0.8, &tip);
    }
    picture
}

/// Formats milliseconds since 1970 as a date and time.
pub(crate) fn moment(time: u64) -> String {
    datetime::timestamp(time).unwrap_or_else(|| time.to_string())
}

fn times(page: &mut Page, fragments: &[Fragment]) {
    let first = fragments.iter().map(|fragment| fragment.time().start).min().unwrap_or(0);
    let last = fragments.iter().map(|fragment| fragment.time().end).max().unwrap_or(0);
    #[allow(clippy::cast_precision_loss)] // for pictures
    let at = |time: u64| if last > first { (time - first) as f64 / (last - first) as f64 } else { 0.5 };
    let joined = fragments.iter().filter(|fragment| fragment.time().start < fragment.time().end).count();
    let text = format!("from {} to {}; {joined} of them contain cells of a time range", moment(first), moment(last));
    let (top, width) = (16.0, WIDTH - 4.0);
    let title = format!("{} fragments in time", fragments.len());
    if fragments.len() > DRAWN / 4 {
        let mut counts = vec![0_u64; BARS];
        for fragment in fragments {
            counts[bin(at(fragment.time().start), BARS)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let mut picture =
            Picture::new(104.0, title, format!("{text}; up to {most} in one of {BARS} equal parts of that time"));
        picture.ends(11.0, &moment(first), &moment(last));
        columns(&mut picture, &counts, (2.0, top), (width, 84.0));
        page.picture(picture);
        return;
    }
    let step = (200.0 / ratio(fragments.len(), 1)).clamp(2.0, 14.0);
    let mut picture = Picture::new(top + 4.0 + step * ratio(fragments.len(), 1), title, text);
    picture.ends(11.0, &moment(first), &moment(last));
    for (number, fragment) in fragments.iter().enumerate() {
        let time = fragment.time();
        let (from, to) = (at(time.start), at(time.end));
        let class = if time.start < time.end { "joined" } else { "bar" };
        let tip = format!("{}: {} to {}", fragment.name(), moment(time.start), moment(time.end));
        let span = ((to - from) * width).max(3.0);
        let x = (2.0 + from * width).min(WIDTH - 2.0 - span);
        picture.rect(class, x, top + 2.0 + step * ratio(number, 1), span, step * 0.8, &tip);
    }
    page.picture(picture);
}

/// Draws counts as adjacent columns.
pub(crate) fn columns(picture: &mut Picture, counts: &[u64], (left, top): (f64, f64), (width, height): (f64, f64)) {
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let step = width / ratio(counts.len(), 1);
    picture.line("axis", (left, top + height), (left + width, top + height));
    for (number, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        #[allow(clippy::cast_precision_loss)] // for pictures
        let tall = (*count as f64 / most as f64 * height).max(1.0);
        let tip = count.to_string();
        picture.rect("bar", left + step * ratio(number, 1), top + height - tall, step * 0.9, tall, &tip);
    }
}

fn list(out: &mut Markup, fragments: &[Fragment]) {
    let shown = fragments.len().min(LISTED);
    let rows = fragments[fragments.len() - shown..].iter().rev().map(|fragment| {
        let stored = fragment.footer().slots().iter().flat_map(|field| fragment.files_of(field));
        vec![
            fragment.name().to_string(),
            moment(fragment.time().start),
            fragment.version().to_string(),
            fragment.cell_count().to_string(),
            fragment.tile_count().to_string(),
            Bytes(stored.fold(0, |sum: u64, (_, _, size)| sum.saturating_add(size))).to_string(),
        ]
    });
    let title = format!("The {shown} newest of {} fragments", fragments.len());
    table(out, &title, &["name", "written", "format", "cells", "tiles", "data"], 3, rows.collect());
}
